//! Panics of the crates that decode, as damage of the file.

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Once,
};

/// The name of this file within its crate.
const HERE: &str = "src/read/guard.rs";

thread_local! {
    /// Whether a decoder is at work on this thread, and whether a panic since then was one of this crate.
    static STATE: Cell<(bool, bool)> = const { Cell::new((false, false)) };
}

/// Runs something that calls a decoder; `None` if the decoder falls over. It checks what it reads; should a check be missing there,
/// it is no reason to fall over here, nor to print what the user cannot act on.
///
/// A mistake of this crate is no damage: its text is printed, and where there are debug assertions, as in tests and in fuzzing,
/// it stays a panic.
pub(super) fn guarded<T>(run: impl FnOnce() -> T) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            let (decoding, _) = STATE.get();
            let own = about.location().is_none_or(|place| place.file().starts_with(root()));
            STATE.set((decoding, own));
            if own || !decoding {
                before(about);
            }
        }));
    });
    STATE.set((true, false));
    let ran = catch_unwind(AssertUnwindSafe(run));
    let (_, own) = STATE.replace((false, false));
    match ran {
        Ok(answer) => Some(answer),
        Err(panic) if own && cfg!(debug_assertions) => resume_unwind(panic),
        Err(_) => None,
    }
}

/// The folder of this crate, as panics name it.
fn root() -> &'static str {
    &file!()[..file!().len() - HERE.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_of_others_are_none_and_our_own_stay() {
        assert!(file!().ends_with("guard.rs") && root().ends_with("banach-io/"), "{}", root());
        assert_eq!(guarded(|| 7), Some(7));
        // A panic of another crate.
        assert_eq!(guarded(|| bytes::Bytes::from_static(b"ab").slice(1..9)), None);
        assert!(catch_unwind(|| guarded(|| panic!("a mistake of ours"))).is_err());
        assert_eq!(guarded(|| 8), Some(8));
    }
}
