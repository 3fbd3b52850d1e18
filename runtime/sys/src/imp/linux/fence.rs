//! Buffers between inaccessible pages (fences), and a table of these buffers for the handler of fatal signals.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::c::pages::GuardedPages;
use crate::imp::FENCE;

const MOST: usize = 64;

const LONGEST: usize = 240;

/// Table of fences. A signal handler may read the table at any time, because the table is never reallocated.
static ROW: [Entry; MOST] = [const { Entry::new() }; MOST];

/// Entry of a fence. The entry is in use while `behind` is nonzero.
#[derive(Debug)]
struct Entry {
    before: AtomicUsize,
    behind: AtomicUsize,
    label: [AtomicUsize; LONGEST / 8],
}

/// Memory that ends at the end of a page. The pages before and after the memory are inaccessible. Any thread may use the memory.
#[derive(Debug)]
pub struct Fence {
    memory: GuardedPages,
    size: usize,
    entry: Option<&'static Entry>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Before,
    Behind,
}

impl Entry {
    const fn new() -> Self {
        Self {
            before: AtomicUsize::new(0),
            behind: AtomicUsize::new(0),
            label: [const { AtomicUsize::new(0) }; LONGEST / 8],
        }
    }
}

impl Fence {
    /// Allocates `size` zeroed bytes. If an access exceeds these bytes, the crash report of this process contains `label`. Long labels are
    /// truncated.
    ///
    /// # Errors
    /// The memory cannot be allocated, or the platform has no inaccessible pages.
    pub fn new(size: usize, label: &str) -> io::Result<Self> {
        let memory = GuardedPages::new(size, FENCE)?;
        let whole = memory.whole();
        let entry = enter(whole.start - FENCE, whole.end, label.as_bytes());
        Ok(Self { memory, size, entry })
    }

    /// Returns the bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        let pages = self.memory.bytes();
        let before = pages.len() - self.size;
        &mut pages[before..]
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        // Clears the entry before the memory is unmapped.
        if let Some(entry) = self.entry {
            entry.behind.store(0, Ordering::Release);
        }
    }
}

fn enter(before: usize, behind: usize, label: &[u8]) -> Option<&'static Entry> {
    const IN_USE: usize = 1;
    let free = |entry: &&Entry| entry.behind.compare_exchange(0, IN_USE, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    let entry = ROW.iter().find(free)?;
    entry.before.store(before, Ordering::Relaxed);
    let mut pieces = label.chunks(8);
    for word in &entry.label {
        let mut bytes = [0; 8];
        let piece = pieces.next().unwrap_or_default();
        bytes[..piece.len()].copy_from_slice(piece);
        word.store(usize::from_ne_bytes(bytes), Ordering::Relaxed);
    }
    entry.behind.store(behind, Ordering::Release);
    Some(entry)
}

/// Returns the zero-padded label of the fence that contains the address, and the side of the buffer on which the address is.
/// Async-signal-safe.
pub(super) fn at(address: usize) -> Option<(Side, [u8; LONGEST])> {
    ROW.iter().find_map(|entry| {
        let behind = entry.behind.load(Ordering::Acquire);
        let before = entry.before.load(Ordering::Relaxed);
        let side = match address {
            _ if behind < FENCE => return None,
            _ if (behind..behind + FENCE).contains(&address) => Side::Behind,
            _ if (before..before + FENCE).contains(&address) => Side::Before,
            _ => return None,
        };
        let mut label = [0; LONGEST];
        for (bytes, word) in label.chunks_mut(8).zip(&entry.label) {
            bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
        }
        Some((side, label))
    })
}

#[cfg(test)]
mod tests {
    use super::{Fence, Side, at};

    #[test]
    fn addresses_beyond_a_buffer_resolve_to_its_label_while_it_lives() {
        let mut fence = Fence::new(10, "the buffer of a test").expect("memory");
        let end = fence.bytes().as_ptr().addr() + 10;
        let label = |address: usize| {
            let (side, label) = at(address)?;
            let text = String::from_utf8_lossy(&label).trim_end_matches('\0').to_owned();
            Some((side, text))
        };
        let is = |side: Side| Some((side, "the buffer of a test".to_owned()));
        assert_eq!((label(end), label(end + 65_535)), (is(Side::Behind), is(Side::Behind)));
        assert_eq!((label(end - 1), label(end - 4097)), (None, is(Side::Before)));
        drop(fence);
        assert_eq!(label(end), None);
    }
}
