//! Lists whose pages are told apart by their place only (section 2): `offset` and `limit`.
//!
//! An answer does not say where its page lies, so its length does: each page is asked for with a limit that is
//! one less than that of the page before. A page that has a successor is as long as its limit.

/// The most that the servers give at once.
pub(super) const LONGEST: u64 = 200;

/// Pages that are shorter than this are not those that were asked for.
const SHORTEST: u64 = 101;

/// Where a page begins, and its limit. Pages are numbered from 0 on; there are 100 of them.
pub(super) fn place(page: u64) -> Option<(u64, u64)> {
    let limit = LONGEST.checked_sub(page).filter(|limit| *limit >= SHORTEST)?;
    // The sum of the limits before.
    Some((page * (LONGEST + limit + 1) / 2, limit))
}

/// The number of the page after one of this length that is not the last.
pub(super) fn after(length: usize) -> Option<u64> {
    let page = LONGEST.checked_sub(u64::try_from(length).ok()?)? + 1;
    place(page).map(|_| page)
}
