//! Reads memory that other code may unmap at any time. The kernel copies the memory, so that an unmapped page causes an error instead of a
//! fault.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::OnceLock;

use super::kernel;

/// Smallest page size of any supported host.
pub(in crate::imp::linux) const PAGE: usize = 4096;

pub(in crate::imp::linux) const WORD: usize = size_of::<usize>();

/// Reads memory of this process at `address` into `into`. Returns the number of bytes before the first unmapped page. An invalid address
/// causes no fault. On platforms without support, returns zero.
#[must_use]
pub fn read(address: usize, into: &mut [u8]) -> usize {
    if into.is_empty() {
        return 0;
    }
    match kernel::copy_memory(address, into) {
        Ok(copied) => copied,
        // Only this error indicates an unmapped page. All other errors may be caused by a sandbox that forbids the system call.
        Err(libc::EFAULT) => 0,
        Err(_) => through_the_file(address, into),
    }
}

/// Copies memory in a sandbox that forbids `process_vm_readv`.
fn through_the_file(address: usize, into: &mut [u8]) -> usize {
    static MEMORY: OnceLock<Option<File>> = OnceLock::new();
    let memory = MEMORY.get_or_init(|| File::open("/proc/self/mem").ok());
    memory.as_ref().and_then(|memory| memory.read_at(into, address as u64).ok()).unwrap_or(0)
}

pub(in crate::imp::linux) fn word(address: usize) -> Option<usize> {
    let mut bytes = [0; WORD];
    (read(address, &mut bytes) == bytes.len()).then(|| usize::from_ne_bytes(bytes))
}

/// Returns the zero-terminated string at `address`, without the zero. Returns `None` if the first `most` bytes contain no zero.
pub(in crate::imp::linux) fn string(address: usize, most: usize) -> Option<Vec<u8>> {
    let mut string = Vec::new();
    while string.len() < most {
        // Reads up to the end of a page, because the next page may be unmapped.
        let at = address.checked_add(string.len())?;
        let mut piece = [0; 256];
        let room = piece.len().min(PAGE - at % PAGE).min(most - string.len());
        let read = read(at, &mut piece[..room]);
        if read == 0 {
            return None;
        }
        match piece[..read].iter().position(|byte| *byte == 0) {
            Some(end) => {
                string.extend_from_slice(&piece[..end]);
                return Some(string);
            }
            None => string.extend_from_slice(&piece[..read]),
        }
    }
    None
}

/// Calls `see` with the readable pieces of a range, each with its address. Skips unreadable pages.
pub(in crate::imp::linux) fn each_piece(range: Range<usize>, mut see: impl FnMut(usize, &[u8])) {
    let mut bytes = vec![0; 64 * 1024];
    let mut at = range.start;
    while at < range.end {
        let room = bytes.len().min(range.end - at);
        let there = read(at, &mut bytes[..room]);
        see(at, &bytes[..there]);
        at += if there == 0 { PAGE - at % PAGE } else { there.next_multiple_of(WORD) };
    }
}

pub(in crate::imp::linux) fn words(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let (words, _) = bytes.as_chunks::<WORD>();
    words.iter().map(|word| usize::from_ne_bytes(*word))
}

#[cfg(test)]
mod tests;
