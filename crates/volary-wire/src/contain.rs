//! Codecs run user code; a panic in it must not take the connection with it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs user code, and returns the text of a panic instead of unwinding.
#[inline(always)]
pub(crate) fn contain<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(text)
}

#[cold]
fn text(panic: Box<dyn Any + Send>) -> String {
    let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "a panic without a text".to_owned(),
    };
    // What was thrown may itself panic when it is dropped.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(panic)));
    text
}
