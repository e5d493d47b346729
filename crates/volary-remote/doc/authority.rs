// Certificates for the examples in the documentation of this crate, in lines that are not shown there.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

/// The certificate of a node for this host, its key, and the certificate of the authority, all PEM.
fn certificates(host: &str) -> Result<[String; 3], rcgen::Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let key = KeyPair::generate()?;
    let node = CertificateParams::new(vec![host.to_owned()])?.signed_by(&key, &authority)?;
    Ok([node.pem(), key.serialize_pem(), authority.pem()])
}

/// A folder of its own with the files of a node, which is where the program is from now on; gone in the end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn with_certificates(host: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let folder = Folder(std::env::temp_dir().join(format!("volary-doc-{}", std::process::id())));
        std::fs::create_dir_all(&folder.0)?;
        std::env::set_current_dir(&folder.0)?;
        for (name, pem) in ["node.pem", "node.key", "authorities.pem"].into_iter().zip(certificates(host)?) {
            std::fs::write(name, pem)?;
        }
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
