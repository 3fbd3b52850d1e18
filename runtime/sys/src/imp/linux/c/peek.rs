//! Reads of memory that other code may unmap at any time. The kernel copies the memory. An unmapped page causes an error instead of a
//! fault.
#![expect(unsafe_code, reason = "copies memory of this process through the kernel")]

use std::ffi::c_int;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::ptr;
use std::sync::OnceLock;

use super::kernel;

/// Copies memory at `address` to `into`. Returns the number of bytes before the first unmapped page.
pub(crate) fn read(address: usize, into: &mut [u8]) -> usize {
    if into.is_empty() {
        return 0;
    }
    match copy(address, into) {
        Ok(copied) => copied,
        // Only this error means an unmapped page. A sandbox that forbids the system call may return another error.
        Err(libc::EFAULT) => 0,
        Err(_) => through_the_file(address, into),
    }
}

/// Copies memory by `process_vm_readv`. The error is the error of the kernel.
pub(in crate::imp::linux) fn copy(address: usize, into: &mut [u8]) -> Result<usize, c_int> {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec { iov_base: ptr::without_provenance_mut(address), iov_len: into.len() };
    // SAFETY: the kernel writes at most `local`, which is `into`, and checks the memory that it reads.
    let copied =
        unsafe { libc::process_vm_readv(std::process::id() as i32, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(copied).map_err(|_| kernel::errno())
}

/// Copies memory where `process_vm_readv` is forbidden.
fn through_the_file(address: usize, into: &mut [u8]) -> usize {
    static MEMORY: OnceLock<Option<File>> = OnceLock::new();
    let memory = MEMORY.get_or_init(|| File::open("/proc/self/mem").ok());
    memory.as_ref().and_then(|memory| memory.read_at(into, address as u64).ok()).unwrap_or(0)
}

pub(in crate::imp::linux) fn word(address: usize) -> Option<usize> {
    let mut bytes = [0; size_of::<usize>()];
    (read(address, &mut bytes) == bytes.len()).then(|| usize::from_ne_bytes(bytes))
}

/// Returns the zero-terminated string of at most `most` bytes, without the zero.
pub(in crate::imp::linux) fn string(address: usize, most: usize) -> Option<Vec<u8>> {
    let mut string = Vec::new();
    while string.len() < most {
        // Reads up to the end of a page, because the next page may be unmapped.
        let at = address.checked_add(string.len())?;
        let mut piece = [0; 256];
        let room = piece.len().min(4096 - at % 4096).min(most - string.len());
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

pub(in crate::imp::linux) fn words(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let (words, _) = bytes.as_chunks::<{ size_of::<usize>() }>();
    words.iter().map(|word| usize::from_ne_bytes(*word))
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::{read, string, through_the_file, word};

    #[test]
    fn mapped_memory_is_read_and_unmapped_memory_causes_no_fault() {
        let value = 0x1234_5678_9abc_usize;
        assert_eq!(word(ptr::from_ref(&value).addr()), Some(value));
        assert_eq!(string(c"a text".as_ptr().addr(), 100), Some(b"a text".to_vec()));
        assert_eq!(string(c"a text".as_ptr().addr(), 6), None);
        for nothing in [0, 8, usize::MAX - 7] {
            assert_eq!((word(nothing), string(nothing, 100)), (None, None), "{nothing:#x}");
        }
    }

    #[test]
    fn a_read_stops_at_a_page_that_is_not_there() {
        // SAFETY: the kernel maps two new pages at a free address, and no other code has the address of the second page.
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
        assert_eq!(string(pages.addr() + 4095, 100), Some(Vec::new()));
        // SAFETY: this test has mapped the page, and no other code has its address.
        unsafe { libc::munmap(pages, 4096) };
    }
}
