//! What the C library keeps for everybody: blocks of its heap, its streams, and the variables that programs may write.
#![expect(unsafe_code, reason = "takes and gives back in C, and writes variables of C")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::loader;
use crate::ledger::repair::Gone;

/// A block of the C heap, freed on drop.
pub(in crate::imp::linux) struct Block(*mut c_void);

impl Block {
    /// `None` when there is no memory.
    pub(in crate::imp::linux) fn new(size: usize) -> Option<Self> {
        // SAFETY: the C library takes any size.
        let block = unsafe { libc::malloc(size) };
        (!block.is_null()).then(|| Self(block))
    }

    /// Makes a block of zeroes; `None` when there is no memory.
    #[cfg(test)]
    pub(in crate::imp::linux) fn zeroed(size: usize) -> Option<Self> {
        // SAFETY: the C library takes any size.
        let block = unsafe { libc::calloc(1, size) };
        (!block.is_null()).then(|| Self(block))
    }

    pub(in crate::imp::linux) fn address(&self) -> usize {
        self.0.addr()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the C library gave the block to this value, which frees it once.
        unsafe { libc::free(self.0) };
    }
}

/// Frees a block of an image that is gone.
///
/// # Safety
/// The block was taken by that image, lives, and nothing else frees it.
pub(in crate::imp::linux) unsafe fn free(_gone: &Gone<'_>, block: *mut c_void) {
    // SAFETY: promised by the caller; the maker of `Gone` has promised that the image is gone, and the setter of its policy that the
    // image gives none away.
    unsafe { libc::free(block) };
}

/// What closes a descriptor, or the stream that has it.
#[derive(Clone, Copy)]
pub(in crate::imp::linux) enum Closes {
    Descriptor(c_int),
    Stream(usize),
    Folder(usize),
    /// Waits for a process.
    Pipe(usize),
}

/// Closes what an image that is gone has left open.
///
/// # Safety
/// The image has opened it, it is open, and the policy closes descriptors. Nothing else closes it until this has run.
pub(in crate::imp::linux) unsafe fn closing(_gone: &Gone<'_>, what: Closes) -> impl FnOnce() + Send + use<> {
    // SAFETY: promised by the caller; the maker of `Gone` has promised that the image is gone, and the setter of its policy that
    // no other code has it. Each sort is closed by the function for it.
    move || unsafe {
        match what {
            Closes::Descriptor(fd) => libc::close(fd),
            Closes::Stream(at) => libc::fclose(ptr::with_exposed_provenance_mut(at)),
            Closes::Folder(at) => libc::closedir(ptr::with_exposed_provenance_mut(at)),
            Closes::Pipe(at) => libc::pclose(ptr::with_exposed_provenance_mut(at)),
        };
    }
}

/// Variables of the C library that hold an address and that programs may write.
const VARIABLES: [&CStr; 10] = [
    c"argp_program_bug_address",
    c"argp_program_version",
    c"argp_program_version_hook",
    c"error_print_progname",
    c"obstack_alloc_failed_handler",
    c"program_invocation_name",
    c"program_invocation_short_name",
    c"stderr",
    c"stdin",
    c"stdout",
];

/// One of them.
#[derive(Clone, Copy)]
pub(in crate::imp::linux) struct Variable(usize);

impl Variable {
    /// All that are there.
    pub(in crate::imp::linux) fn all() -> impl Iterator<Item = Self> {
        VARIABLES.iter().filter_map(|name| Some(Self(loader::address_of(name)?.expose_provenance())))
    }

    /// Where it is.
    pub(in crate::imp::linux) fn place(self) -> usize {
        self.0
    }

    /// Has it hold an address that it has held before.
    pub(in crate::imp::linux) fn put_back(self, address: usize) {
        // SAFETY: the C library, or the program, has a variable of one word there for as long as the process.
        let place = unsafe { &*ptr::with_exposed_provenance::<AtomicUsize>(self.0) };
        place.store(address, Ordering::SeqCst);
    }
}

/// Where the variable is that leads to the environment.
pub(in crate::imp::linux) fn environment() -> usize {
    (&raw const environ).addr()
}

/// Has the environment be a row of texts, the last of them null, that is there for ever.
pub(in crate::imp::linux) fn set_environment(row: &'static mut [*mut c_char]) {
    let place = &raw mut environ;
    let first = row.as_mut_ptr();
    // SAFETY: the C library has a variable there, which code that sets the environment may write.
    unsafe { place.write_volatile(first) };
}

/// Sets a variable of the environment. The C library replaces the entry, and does not look into the text of the old value.
pub(in crate::imp::linux) fn set_variable(name: &CStr, value: &CStr) {
    // SAFETY: the C library reads two C strings, under a lock of its own.
    unsafe { setenv(name.as_ptr(), value.as_ptr(), 1) };
}

/// Where the variable is that leads to the first of all open streams.
pub(in crate::imp::linux) fn first_stream() -> usize {
    (&raw const _IO_list_all).addr()
}

/// A stream that writes nothing anywhere, with this buffer, until `see` has seen its address.
#[cfg(test)]
pub(in crate::imp::linux) fn with_stream(buffer: &mut [u8], see: impl FnOnce(usize)) -> usize {
    // SAFETY: the strings are C strings; the buffer is borrowed longer than the stream is open, and that is closed once.
    unsafe {
        let stream = libc::fopen(c"/dev/null".as_ptr(), c"w".as_ptr());
        assert!(!stream.is_null());
        assert_eq!(libc::setvbuf(stream, buffer.as_mut_ptr().cast(), libc::_IOFBF, buffer.len()), 0);
        see(stream.addr());
        libc::fclose(stream);
        stream.addr()
    }
}

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
    static _IO_list_all: *const u8;
    fn setenv(name: *const c_char, value: *const c_char, overwrite: c_int) -> c_int;
}
