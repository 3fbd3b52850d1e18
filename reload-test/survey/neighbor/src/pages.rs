//! Pages at addresses that have become free, filled with words that tell where they stand.

use std::ptr;

/// Of a range that is longer than this, only so much at both ends is taken.
const MOST_AT_AN_END: usize = 4 << 20;
/// No more than this is taken of all ranges together.
const MOST: usize = 64 << 20;

/// A run of pages that was somebody else's.
pub(crate) struct Pages {
    start: *mut u64,
    words: usize,
    was: String,
}

// SAFETY: the mapping is this value's alone, and goes with it, on whatever thread.
unsafe impl Send for Pages {}

impl Pages {
    /// Maps exactly these addresses, unless somebody else has been quicker, and fills them.
    fn at(start: usize, len: usize, was: &str) -> Option<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let wanted = ptr::without_provenance_mut(start);
        // SAFETY: with MAP_FIXED_NOREPLACE the kernel replaces no mapping that is there.
        let found = unsafe { libc::mmap(wanted, len, access, flags, -1, 0) };
        if found == libc::MAP_FAILED {
            return None;
        }
        let pages = Self { start: found.cast(), words: len / 8, was: was.to_owned() };
        // A kernel that does not know the flag takes the address as a wish.
        if found != wanted {
            return None;
        }
        for word in 0..pages.words {
            // SAFETY: `words` words from `start` on are mapped, writable and this value's alone.
            let place = unsafe { pages.start.add(word) };
            // SAFETY: as above, and pages begin at a multiple of eight.
            unsafe { place.write_volatile(pattern(place)) };
        }
        Some(pages)
    }

    fn len(&self) -> usize {
        self.words * 8
    }

    /// Looks at every word.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut wrong = None;
        let mut count = 0;
        for word in 0..self.words {
            // SAFETY: `words` words from `start` on are mapped.
            let place = unsafe { self.start.add(word) };
            // SAFETY: `at` has written it. That somebody else may write it, too, is why it is read as volatile.
            let found = unsafe { place.read_volatile() };
            if found != pattern(place) {
                count += 1;
                wrong.get_or_insert((place, found));
            }
        }
        match wrong {
            None => Ok(()),
            Some((place, found)) => Err(format!(
                "somebody wrote into its memory, {count} words from {place:p} on ({found:#x}), where {} was before",
                self.was
            )),
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: `at` has mapped them, and nobody else knows of them.
        unsafe { libc::munmap(self.start.cast(), self.len()) };
    }
}

/// What stands at an address: no address that a processor would follow, and at no other place the same.
fn pattern(place: *mut u64) -> u64 {
    (0xA1CE << 48) | (place.addr() as u64 & 0xffff_ffff_ffff)
}

/// Takes what a text says has become free.
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

/// `7f0000000000-7f0000001000 what was there`.
fn range(line: &str) -> Option<(usize, usize, &str)> {
    let (range, was) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?, was))
}

/// The whole of a range, or both ends of a long one, as start and length.
fn ends(start: usize, end: usize) -> Vec<(usize, usize)> {
    match end.saturating_sub(start) {
        0 => Vec::new(),
        len if len <= 2 * MOST_AT_AN_END => vec![(start, len)],
        _ => vec![(start, MOST_AT_AN_END), (end - MOST_AT_AN_END, MOST_AT_AN_END)],
    }
}
