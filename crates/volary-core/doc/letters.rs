// For examples that look at a letter: bob is told of a deposit of 5, and the body of the example sees it in his mailbox. Behind
// `bank.rs`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

struct Looked<F> {
    look: Arc<F>,
    letters: Mutex<Vec<Letter>>,
    /// The body came to its end.
    looked: Arc<AtomicBool>,
}

impl<F: Fn(&Letter) + Send + Sync + 'static> Mailbox for Looked<F> {
    fn push(&self, letter: Letter) -> Result<(), Letter> {
        (self.look)(&letter);
        self.looked.store(true, SeqCst);
        self.letters.lock().expect("nobody panics in it").push(letter);
        Ok(())
    }
    fn pop(&self) -> Option<Letter> {
        self.letters.lock().expect("nobody panics in it").pop()
    }
    fn len(&self) -> usize {
        self.letters.lock().expect("nobody panics in it").len()
    }
}

async fn posted(look: impl Fn(&Letter) + Send + Sync + 'static) -> Done {
    let (system, _) = bank().await?;
    let (look, looked) = (Arc::new(look), Arc::<AtomicBool>::default());
    let flag = looked.clone();
    let mailbox = move || Looked { look: look.clone(), letters: Mutex::default(), looked: flag.clone() };
    let bob = system.spawn(Account::default).mailbox(MailboxKind::custom(mailbox)).await?;
    bob.tell(Deposit(5))?;
    system.stop().await?;
    assert!(looked.load(SeqCst), "nobody looked, or the look failed");
    Ok(())
}
