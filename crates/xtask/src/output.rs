//! The output of tasks. A step that runs beside another prints to its own page, which is shown as a whole when the step
//! has ended.

use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The lines of one step.
pub(crate) type Page = Arc<Mutex<String>>;

thread_local! {
    /// The page that this thread prints to; without one its lines are shown at once.
    static CURRENT: RefCell<Option<Page>> = const { RefCell::new(None) };
}

/// The page of this thread, for threads that print on its behalf.
pub(crate) fn page() -> Option<Page> {
    CURRENT.with_borrow(Clone::clone)
}

/// Does something whose lines belong to this page.
pub(crate) fn onto<T>(page: Option<Page>, work: impl FnOnce() -> T) -> T {
    let before = CURRENT.replace(page);
    let result = work();
    CURRENT.set(before);
    result
}

/// Prints a line, or several.
pub(crate) fn say(text: &str) {
    match page() {
        Some(page) => {
            let mut page = page.lock().unwrap_or_else(PoisonError::into_inner);
            page.push_str(text);
            page.push('\n');
        }
        // The reader of the output may be gone.
        None => drop(writeln!(io::stdout().lock(), "{text}")),
    }
}

/// Shows the content of a page at once and in one piece.
pub(crate) fn show(page: &Page) {
    let mut page = page.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = io::stdout().lock().write_all(page.as_bytes());
    page.clear();
}

/// The content of a page, in one piece.
pub(crate) fn pass_on(page: &Page) {
    let text = std::mem::take(&mut *page.lock().unwrap_or_else(PoisonError::into_inner));
    say(text.trim_end_matches('\n'));
}

/// Whether the lines of this thread are shown as they come.
pub(crate) fn is_watched() -> bool {
    page().is_none() && io::stdout().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_onto_the_page_of_their_thread() {
        let own = Page::default();
        onto(Some(Arc::clone(&own)), || {
            say("one");
            let same = page();
            std::thread::scope(|scope| scope.spawn(|| onto(same, || say("two"))).join()).expect("it ends");
            let other = Page::default();
            onto(Some(Arc::clone(&other)), || say("elsewhere"));
            say("three");
        });
        assert_eq!(*own.lock().expect("nobody panicked"), "one\ntwo\nthree\n");
        assert!(page().is_none());
    }
}
