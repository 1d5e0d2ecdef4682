//! The border to Python, which no panic crosses.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A message that has these bytes panics in a kernel that is built for tests.
pub const PANIC_ON: &[u8] = b"changewire-native panics here";

/// Return what a function returns; none if it panics.
///
/// The caller clears whatever the function left behind.
pub fn guarded<T>(function: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(function)).ok()
}

/// Panic on the bytes that ask for it, in a kernel that is built for tests.
pub fn panic_on_demand(bytes: &[u8]) {
    let is_asked = || bytes.windows(PANIC_ON.len()).any(|window| window == PANIC_ON);
    assert!(!(cfg!(feature = "panics") && is_asked()), "a test asked for it");
}
