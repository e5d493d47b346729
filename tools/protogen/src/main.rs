//! Writes the Rust code of the protobuf schemas, with protox in the place of protoc. With `--check` it writes nothing,
//! and fails if the committed code is not what it would write.
//!
//! The code is committed, so that no build needs this program; it is run by `cargo xtask proto`.
#![forbid(unsafe_code)]

#[allow(dead_code, reason = "the parts that read are for xtask")]
#[path = "../../../xtask/src/stamp.rs"]
mod stamp;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use prost_build::{Config, Module};
use stamp::stamp;

/// A schema and the code that is made of it. Paths are seen from the root of the workspace.
struct Target {
    /// The directory that the names of its imports begin at.
    folder: &'static str,
    schema: &'static str,
    code: &'static str,
    options: fn(&mut Config) -> &mut Config,
}

const WIRE: &str = "crates/volary-wire/proto";

const TARGETS: &[Target] = &[
    Target {
        folder: WIRE,
        schema: "volary/wire/v1/ref.proto",
        code: "crates/volary-wire/tests/generated/reference.rs",
        options: |config| config,
    },
    Target {
        folder: "crates/volary-remote/proto",
        schema: "volary/remote/v1/operations.proto",
        code: "crates/volary-remote/src/operations/generated.rs",
        options: |config| config.bytes(["."]),
    },
    Target {
        folder: "crates/volary/tests/proto",
        schema: "bank/v1/bank.proto",
        code: "crates/volary/tests/generated/bank.rs",
        options: |config| {
            config
                .enable_type_names()
                .extern_path(".volary.wire.v1.Ref", "::volary::wire::Ref")
                .message_attribute(".bank.v1.Deposit", message("reply = i64, remote"))
                .message_attribute(".bank.v1.GetBalance", message("reply = Balance, remote"))
                .message_attribute(".bank.v1.Balance", message("remote"))
                .message_attribute(".bank.v1.SendBalance", message("remote"))
        },
    },
];

/// What makes a generated type a message of Volary.
fn message(options: &str) -> String {
    format!("#[derive(::volary::Message)] #[message({options})]")
}

fn main() -> ExitCode {
    let check = match env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [word] if word == "--check" => true,
        _ => {
            eprintln!("usage: protogen [--check]");
            return ExitCode::from(2);
        }
    };
    let mut outdated = 0;
    for target in TARGETS {
        match target.bring_up_to_date(check) {
            Ok(Found::Current) => eprintln!("    {}: is current", target.code),
            Ok(Found::Written) => eprintln!("    {}: written", target.code),
            Ok(Found::Outdated) => {
                eprintln!("    {}: is not what `cargo xtask proto` writes", target.code);
                outdated += 1;
            }
            Err(error) => {
                eprintln!("    {}: {error}", target.schema);
                return ExitCode::FAILURE;
            }
        }
    }
    if outdated == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

enum Found {
    Current,
    Written,
    Outdated,
}

impl Target {
    fn bring_up_to_date(&self, check: bool) -> Result<Found, Box<dyn Error>> {
        let wanted = self.generate()?;
        let path = root().join(self.code);
        if fs::read_to_string(&path).is_ok_and(|there| there.replace('\r', "") == wanted) {
            return Ok(Found::Current);
        }
        if check {
            return Ok(Found::Outdated);
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, wanted)?;
        Ok(Found::Written)
    }

    fn generate(&self) -> Result<String, Box<dyn Error>> {
        let folders = [self.folder, WIRE].map(|folder| root().join(folder));
        let compiled = protox::compile([self.schema], folders)?;
        let own = compiled.file.iter().find(|file| file.name() == self.schema);
        let module = own.map(|own| Module::from_protobuf_package_name(own.package()));
        let module = module.ok_or("the schema is not in what was compiled")?;
        // The imports are read for what is derived; their code belongs to others.
        let files = compiled.file.into_iter();
        let files = files.map(|file| (Module::from_protobuf_package_name(file.package()), file));
        let mut config = Config::new();
        let mut modules = (self.options)(&mut config).generate(files.collect())?;
        let code = modules.remove(&module).ok_or("the schema has no messages")?;
        let path = format!("{}/{}", self.folder, self.schema);
        let schema = fs::read_to_string(root().join(&path))?;
        Ok(stamp(&path, &schema, &code) + &code)
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
