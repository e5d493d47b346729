//! What the macros accept, and what they say about the rest.
//!
//! After a change of wording: `TRYBUILD=overwrite cargo test -p volary --test ui`, then read the
//! difference as a user would.

#[test]
fn macros_accept_what_they_should() {
    trybuild::TestCases::new().pass("tests/ui/pass/*.rs");
}

#[test]
fn macros_explain_what_they_reject() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}
