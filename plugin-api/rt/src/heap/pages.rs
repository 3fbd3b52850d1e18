//! Stock of unused pages. The stock retains freed pages, because a growing vector soon requests pages again.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::classes::SLAB;
use super::memory::{Free, FreeList, Pages, Whole};

/// Number of bytes requested from the host when the stock has no slab.
const CHUNK: usize = 16 * SLAB;

/// Maximum number of page ranges in the stock. `KEPT_BYTES` is the maximum of their total size.
const KEPT: usize = 32;
const KEPT_BYTES: usize = 4 * 1024 * 1024;

/// Unused pages. The module owns these pages until the image is unmapped.
struct Stock {
    slabs: FreeList<Whole>,
    chunk: Option<Pages>,
    kept: [Option<Pages>; KEPT],
    kept_bytes: usize,
}

/// Global stock. No thread holds the lock while code of the plugin author runs. The host's `heap_grow` may run under this lock, because it
/// does not call the module.
static STOCK: Mutex<Stock> =
    Mutex::new(Stock { slabs: FreeList::new(), chunk: None, kept: [const { None }; KEPT], kept_bytes: 0 });

fn stock() -> MutexGuard<'static, Stock> {
    // No code panics while it holds this lock.
    STOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn take_slab() -> Option<Free<Whole>> {
    let mut stock = stock();
    if let Some(slab) = stock.slabs.pop() {
        return Some(slab);
    }
    let chunk = match stock.chunk.take() {
        Some(chunk) => chunk,
        None => Pages::grow(CHUNK)?,
    };
    let (slab, rest) = chunk.split();
    stock.chunk = rest;
    Some(slab)
}

/// Returns the memory of a slab to the stock.
pub(super) fn give_slab(memory: Free<Whole>) {
    stock().slabs.push(memory);
}

/// Returns pages of length `len`, and `true` if the pages are fresh and therefore contain only zeros.
pub(super) fn take_pages(len: usize) -> Option<(Pages, bool)> {
    let mut stock = stock();
    let fits = |pages: &Option<Pages>| pages.as_ref().is_some_and(|pages| pages.len() == len);
    if let Some(kept) = stock.kept.iter_mut().find(|pages| fits(pages))
        && let Some(pages) = kept.take()
    {
        stock.kept_bytes -= len;
        return Some((pages, false));
    }
    drop(stock);
    Pages::grow(len).map(|pages| (pages, true))
}

pub(super) fn give_pages(pages: Pages) {
    let mut stock = stock();
    let len = pages.len();
    if stock.kept_bytes + len <= KEPT_BYTES
        && let Some(empty) = stock.kept.iter_mut().find(|pages| pages.is_none())
    {
        *empty = Some(pages);
        stock.kept_bytes += len;
        return;
    }
    drop(stock);
    pages.shrink();
}
