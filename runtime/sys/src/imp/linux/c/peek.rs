//! Reads of memory that other code may unmap at any moment. The kernel does them, so a page that has gone is an answer
//! and not a fault.
#![expect(unsafe_code, reason = "asks the kernel to copy memory of this process")]

use std::ffi::c_int;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::ptr;
use std::sync::OnceLock;

use super::kernel;

/// Fills `into` with what stands at `address`; how many bytes there were before the first page that is not there.
pub(crate) fn read(address: usize, into: &mut [u8]) -> usize {
    if into.is_empty() {
        return 0;
    }
    match copy(address, into) {
        Ok(copied) => copied,
        // A page that is not there is said by this error as well; a sandbox may forbid the call as a whole.
        Err(libc::EFAULT) => 0,
        Err(_) => through_the_file(address, into),
    }
}

/// The same by the one system call that is meant for it; the error is the kernel's.
pub(in crate::imp::linux) fn copy(address: usize, into: &mut [u8]) -> Result<usize, c_int> {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec { iov_base: ptr::without_provenance_mut(address), iov_len: into.len() };
    // SAFETY: the kernel writes no more than `local` says, which is `into`; what it reads it looks for itself.
    let copied =
        unsafe { libc::process_vm_readv(std::process::id() as i32, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(copied).map_err(|_| kernel::errno())
}

/// The same where the call is forbidden.
fn through_the_file(address: usize, into: &mut [u8]) -> usize {
    static MEMORY: OnceLock<Option<File>> = OnceLock::new();
    let memory = MEMORY.get_or_init(|| File::open("/proc/self/mem").ok());
    memory.as_ref().and_then(|memory| memory.read_at(into, address as u64).ok()).unwrap_or(0)
}

/// The word at `address`; `None` where there is none.
pub(in crate::imp::linux) fn word(address: usize) -> Option<usize> {
    let mut bytes = [0; size_of::<usize>()];
    (read(address, &mut bytes) == bytes.len()).then(|| usize::from_ne_bytes(bytes))
}

/// The text that ends with a zero byte, of `most` bytes at most; without that byte.
pub(in crate::imp::linux) fn text(address: usize, most: usize) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    while text.len() < most {
        // Up to the end of a page: the next one need not be there.
        let at = address.checked_add(text.len())?;
        let mut piece = [0; 256];
        let room = piece.len().min(4096 - at % 4096).min(most - text.len());
        let read = read(at, &mut piece[..room]);
        if read == 0 {
            return None;
        }
        match piece[..read].iter().position(|byte| *byte == 0) {
            Some(end) => {
                text.extend_from_slice(&piece[..end]);
                return Some(text);
            }
            None => text.extend_from_slice(&piece[..read]),
        }
    }
    None
}

/// The words that bytes are.
pub(in crate::imp::linux) fn words(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let (words, _) = bytes.as_chunks::<{ size_of::<usize>() }>();
    words.iter().map(|word| usize::from_ne_bytes(*word))
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::{read, text, through_the_file, word};

    #[test]
    fn what_is_there_is_read_and_what_is_not_is_no_fault() {
        let value = 0x1234_5678_9abc_usize;
        assert_eq!(word(ptr::from_ref(&value).addr()), Some(value));
        assert_eq!(text(c"a text".as_ptr().addr(), 100), Some(b"a text".to_vec()));
        assert_eq!(text(c"a text".as_ptr().addr(), 6), None);
        for nothing in [0, 8, usize::MAX - 7] {
            assert_eq!((word(nothing), text(nothing, 100)), (None, None), "{nothing:#x}");
        }
    }

    #[test]
    fn a_read_stops_at_a_page_that_is_not_there() {
        // SAFETY: the kernel maps two fresh pages wherever there is room, and nothing has the address of the second.
        let pages = unsafe {
            let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let pages = libc::mmap(ptr::null_mut(), 8192, libc::PROT_READ, kind, -1, 0);
            assert_ne!(pages, libc::MAP_FAILED);
            assert_eq!(libc::munmap(pages.wrapping_byte_add(4096), 4096), 0);
            pages
        };
        let mut bytes = [1; 64];
        for read in [read, through_the_file] {
            assert_eq!(read(pages.addr() + 4096 - 16, &mut bytes), 16);
            assert_eq!(read(pages.addr() + 4096, &mut bytes), 0);
        }
        assert_eq!(text(pages.addr() + 4095, 100), Some(Vec::new()));
        // SAFETY: this test has mapped the page, and nothing else has its address.
        unsafe { libc::munmap(pages, 4096) };
    }
}
