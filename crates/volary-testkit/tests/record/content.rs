//! What is written of a message.

use super::*;

#[test]
fn t7_a_message_without_a_codec_is_recorded_without_its_content() {
    let file = TestFile::new();
    let password = "a very good password".to_owned();
    recorded(1, &file, recorder(), async |_, account| {
        account.tell(Deposit { cents: 5 }).unwrap();
        account.ask(Sign { password }).await.unwrap();
    });
    let text = file.text();
    assert!(!text.contains("password\t") && !text.contains("very good"), "{text}");
    assert!(!text.contains(&hex("a very good password")), "{text}");
    let line = text.lines().find(|line| line.contains("::Sign")).unwrap();
    let fields: Vec<&str> = line.split('\t').collect();
    assert_eq!(fields[7], size_of::<Sign>().to_string());
    assert_eq!(fields[8], "redacted");
    let error = Replay::open(&file)
        .unwrap()
        .run(codecs(), Account::open, async |_| ())
        .unwrap_err();
    let ReplayError::Redacted { turn: 1, message } = &error else {
        panic!("{error}");
    };
    assert!(message.ends_with("::Sign"), "{message}");
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn t7_an_encoder_that_panics_costs_the_content_and_nothing_else() {
    let file = TestFile::new();
    let codecs = codecs().message(
        |deposit: &Deposit| match deposit.cents {
            13 => panic!("on purpose"),
            cents => cents.to_string().into_bytes(),
        },
        |bytes| Ok(Deposit { cents: number(bytes)? }),
    );
    let ledger = recorded(1, &file, Recorder::new(codecs), async |_, account| {
        for cents in 12..15 {
            account.ask(Deposit { cents }).await.unwrap();
        }
    });
    assert_eq!(
        ledger.lines,
        [("deposit", 12), ("deposit", 13), ("deposit", 14)],
        "not restarted"
    );
    let text = file.text();
    let payloads: Vec<&str> = text.lines().filter_map(|line| line.split('\t').nth(8)).collect();
    assert_eq!(payloads, ["+3132", "failed", "+3134"]);
}
