//! What a panic of a scenario said and where, without the noise of ten thousand runs on the terminal.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// `Some` while panics of this thread are caught: what the last one said.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Runs `body`; a panic in it comes back as text.
pub(crate) fn caught<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let quiet = LAST.with_borrow_mut(|last| match last {
                Some(last) => {
                    let text = info.payload_as_str().unwrap_or("a panic without a text");
                    let place = info.location().map(ToString::to_string).unwrap_or_default();
                    *last = format!("{text} ({place})");
                    true
                }
                None => false,
            });
            if !quiet {
                before(info);
            }
        }));
    });
    let outer = LAST.replace(Some(String::new()));
    let ended = panic::catch_unwind(AssertUnwindSafe(body));
    let text = LAST.replace(outer).unwrap_or_default();
    ended.map_err(|_| text)
}
