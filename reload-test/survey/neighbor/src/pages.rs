//! Maps pages at freed addresses, and fills them with words that encode the address of the word.

use std::ptr;

/// Number of bytes that are mapped at each end of a longer range.
const MOST_AT_AN_END: usize = 4 << 20;
/// Maximum total number of mapped bytes.
const MOST: usize = 64 << 20;

/// Consecutive pages at addresses that an unloaded plugin has freed.
pub(crate) struct Pages {
    start: *mut u64,
    words: usize,
    was: String,
}

// SAFETY: the mapping belongs to this value only, and may be unmapped on any thread.
unsafe impl Send for Pages {}

impl Pages {
    /// Maps exactly these addresses and fills the pages. Returns `None` if the addresses are already mapped.
    fn at(start: usize, len: usize, was: &str) -> Option<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let expected = ptr::without_provenance_mut(start);
        // SAFETY: with MAP_FIXED_NOREPLACE the kernel replaces no existing mapping.
        let found = unsafe { libc::mmap(expected, len, access, flags, -1, 0) };
        if found == libc::MAP_FAILED {
            return None;
        }
        let pages = Self { start: found.cast(), words: len / 8, was: was.to_owned() };
        // Checks the address, because older kernels ignore the flag and treat the address as a hint.
        if found != expected {
            return None;
        }
        for word in 0..pages.words {
            // SAFETY: `words` words from `start` on are mapped, writable and owned by this value.
            let address = unsafe { pages.start.add(word) };
            // SAFETY: as above, and pages are aligned to eight bytes.
            unsafe { address.write_volatile(pattern(address)) };
        }
        Some(pages)
    }

    fn len(&self) -> usize {
        self.words * 8
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let mut wrong = None;
        let mut count = 0;
        for word in 0..self.words {
            // SAFETY: `words` words from `start` on are mapped.
            let address = unsafe { self.start.add(word) };
            // SAFETY: `at` has initialized the word. The read is volatile, because other code may have overwritten the word.
            let found = unsafe { address.read_volatile() };
            if found != pattern(address) {
                count += 1;
                wrong.get_or_insert((address, found));
            }
        }
        match wrong {
            None => Ok(()),
            Some((address, found)) => Err(format!(
                "its memory was overwritten, {count} words from {address:p} on ({found:#x}), where {} was before",
                self.was
            )),
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: `at` has mapped the pages, and no reference to them is left.
        unsafe { libc::munmap(self.start.cast(), self.len()) };
    }
}

/// Returns the word to store at an address. The word differs at each address, and is not a valid address itself.
fn pattern(address: *mut u64) -> u64 {
    (0xA1CE << 48) | (address.addr() as u64 & 0xffff_ffff_ffff)
}

/// Maps the freed ranges in a list.
pub(crate) fn take(free: &str) -> Vec<Pages> {
    let mut left = MOST;
    let mut taken = Vec::new();
    for (start, end, was) in free.lines().filter_map(range) {
        for (start, len) in ends(start, end) {
            if len <= left
                && let Some(pages) = Pages::at(start, len, was)
            {
                left -= len;
                taken.push(pages);
            }
        }
    }
    taken
}

/// Parses a line such as `7f0000000000-7f0000001000 former content`.
fn range(line: &str) -> Option<(usize, usize, &str)> {
    let (range, was) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?, was))
}

/// Returns the range as a pair of start and length. For a long range, returns a pair for each end.
fn ends(start: usize, end: usize) -> Vec<(usize, usize)> {
    match end.saturating_sub(start) {
        0 => Vec::new(),
        len if len <= 2 * MOST_AT_AN_END => vec![(start, len)],
        _ => vec![(start, MOST_AT_AN_END), (end - MOST_AT_AN_END, MOST_AT_AN_END)],
    }
}
