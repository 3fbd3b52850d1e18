//! Resources of the C library that the whole process shares: blocks of its heap, its streams, writable variables, and the state of
//! `random`.
#![expect(unsafe_code, reason = "allocates and frees in C, and writes variables of C")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{loader, peek};
use crate::ledger::repair::Gone;
use crate::lock;

/// Block of the C heap, freed on drop.
pub(in crate::imp::linux) struct Block(*mut c_void);

impl Block {
    /// Allocates a block. Returns `None` if no memory is available.
    pub(in crate::imp::linux) fn new(size: usize) -> Option<Self> {
        let block = malloc(size);
        (!block.is_null()).then(|| Self(block))
    }

    pub(in crate::imp::linux) fn address(&self) -> usize {
        self.0.addr()
    }
}

#[cfg(test)]
impl Block {
    /// Allocates a zeroed block. Returns `None` if no memory is available.
    pub(in crate::imp::linux) fn zeroed(size: usize) -> Option<Self> {
        // SAFETY: the C library accepts any size.
        let block = unsafe { libc::calloc(1, size) };
        (!block.is_null()).then(|| Self(block))
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the block belongs to this value, which frees it once.
        unsafe { libc::free(self.0) };
    }
}

/// Frees a block of an unmapped image.
///
/// # Safety
/// The image allocated the block. The block is live, and no other code frees the block.
pub(in crate::imp::linux) unsafe fn free(_gone: &Gone<'_>, block: *mut c_void) {
    // SAFETY: promised by our caller; the creator of `Gone` has promised that the image is unmapped, and the creator of its policy
    // that the image transfers no blocks.
    unsafe { libc::free(block) };
}

/// Descriptor or stream to close, with one variant per function that closes it.
#[derive(Clone, Copy)]
pub(in crate::imp::linux) enum Closes {
    Descriptor(c_int),
    Stream(usize),
    Folder(usize),
    Pipe(usize),
}

/// Returns a closure that closes a resource that an unmapped image left open.
///
/// # Safety
/// The image opened the resource, which is still open, and the policy allows closing it. No other code closes the resource first.
pub(in crate::imp::linux) unsafe fn closing(_gone: &Gone<'_>, what: Closes) -> impl FnOnce() + Send + use<> {
    // SAFETY: promised by our caller; the creator of `Gone` has promised that the image is unmapped, and the creator of its policy
    // that no other code has the resource. Each kind is closed by its own function.
    move || unsafe {
        match what {
            Closes::Descriptor(fd) => libc::close(fd),
            Closes::Stream(at) => libc::fclose(ptr::with_exposed_provenance_mut(at)),
            Closes::Folder(at) => libc::closedir(ptr::with_exposed_provenance_mut(at)),
            Closes::Pipe(at) => libc::pclose(ptr::with_exposed_provenance_mut(at)),
        };
    }
}

/// Variables of the C library that contain addresses and that programs may set.
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

#[derive(Clone, Copy)]
pub(in crate::imp::linux) struct Variable(usize);

impl Variable {
    pub(in crate::imp::linux) fn all() -> impl Iterator<Item = Self> {
        VARIABLES.iter().filter_map(|name| Some(Self(loader::address_of(name)?.expose_provenance())))
    }

    pub(in crate::imp::linux) fn address(self) -> usize {
        self.0
    }

    pub(in crate::imp::linux) fn restore(self, address: usize) {
        // SAFETY: the C library or the program has a variable of one word at this address for the lifetime of the process.
        let variable = unsafe { &*ptr::with_exposed_provenance::<AtomicUsize>(self.0) };
        variable.store(address, Ordering::SeqCst);
    }
}

pub(in crate::imp::linux) fn environment() -> usize {
    (&raw const environ).addr()
}

/// Sets the environment to a permanent array of strings that ends with null.
pub(in crate::imp::linux) fn set_environment(array: &'static mut [*mut c_char]) {
    let variable = &raw mut environ;
    let first = array.as_mut_ptr();
    // SAFETY: the C library declares this variable, and permits programs to replace its value.
    unsafe { variable.write_volatile(first) };
}

/// Sets an environment variable. The C library replaces the entry without reading the old value, which may be in freed memory.
pub(in crate::imp::linux) fn set_variable(name: &CStr, value: &CStr) {
    // SAFETY: the C library reads two C strings, under its own lock.
    unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 1) };
}

/// Returns the address of the pointer to the first open stream.
pub(in crate::imp::linux) fn first_stream() -> usize {
    (&raw const _IO_list_all).addr()
}

/// Returns the word with which the C library encodes the addresses that it stores. Returns `None` if the encoding is unknown.
pub(in crate::imp::linux) fn pointer_guard() -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    {
        let guard: usize;
        // SAFETY: this word of every thread's control block is the guard according to the platform's ABI.
        unsafe { std::arch::asm!("mov {}, fs:0x30", out(reg) guard, options(nostack, readonly, preserves_flags)) };
        Some(guard)
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// Size of the largest state of `random`, in bytes.
const LARGEST_STATE: usize = 256;

/// Two buffers that alternately hold the state of `random`, and a third buffer. The third buffer is installed temporarily to query the
/// state.
static mut STATES: [[u64; LARGEST_STATE / 8]; 3] = [[0; LARGEST_STATE / 8]; 3];

/// Index of the buffer to which the state was last moved. `None` before the first move. The mutex is locked during a move.
static LAST_STATE: Mutex<Option<usize>> = Mutex::new(None);

/// Moves the state of `random` out of memory that is about to be freed. Returns `false` if the state is in other memory.
pub(in crate::imp::linux) fn move_random_state(is_ours: impl Fn(usize) -> bool) -> bool {
    let mut last = lock(&LAST_STATE);
    // The address of the state can only be queried by installing another state.
    let waiting = state_buffer(2);
    let next = last.map_or(0, |last| 1 - last);
    let mut bytes = [0; LARGEST_STATE];
    // SAFETY: the buffers have the size of the largest state and are exclusive, because the lock is held. The restored state was in use
    // just now and was left consistent. The target buffer is not in use, since the last move was to the other buffer; the copied bytes are
    // those of a consistent state, whose first word specifies its size.
    unsafe {
        let was = initstate(1, waiting, 8);
        if !is_ours(was.addr()) {
            setstate(was);
            return false;
        }
        let there = peek::read(was.addr(), &mut bytes);
        ptr::copy_nonoverlapping(bytes.as_ptr().cast(), state_buffer(next), there);
        if setstate(state_buffer(next)).is_null() {
            // Uses a new state, because the module has overwritten its own state.
            initstate(1, state_buffer(next), 128);
        }
    }
    *last = Some(next);
    true
}

fn state_buffer(at: usize) -> *mut c_char {
    (&raw mut STATES).cast::<c_char>().wrapping_add(at * LARGEST_STATE)
}

/// Opens a stream to `/dev/null` with this buffer, calls `see` with the address of the stream, and closes the stream.
#[cfg(test)]
pub(in crate::imp::linux) fn with_stream(buffer: &mut [u8], see: impl FnOnce(usize)) -> usize {
    // SAFETY: the strings are C strings; the borrow of the buffer outlives the stream, which is closed once.
    unsafe {
        let stream = libc::fopen(c"/dev/null".as_ptr(), c"w".as_ptr());
        assert!(!stream.is_null());
        assert_eq!(libc::setvbuf(stream, buffer.as_mut_ptr().cast(), libc::_IOFBF, buffer.len()), 0);
        see(stream.addr());
        libc::fclose(stream);
        stream.addr()
    }
}

/// Makes the C library load its time zone table.
#[cfg(test)]
pub(in crate::imp::linux) fn read_time_zone() {
    let mut parts = std::mem::MaybeUninit::uninit();
    // SAFETY: the time is a local, and there is room for its parts.
    unsafe { libc::localtime_r(&0, parts.as_mut_ptr()) };
}

// SAFETY: the C library accepts any size.
unsafe extern "C" {
    safe fn malloc(size: usize) -> *mut c_void;
}

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
    static _IO_list_all: *const u8;
    pub(in crate::imp::linux) fn initstate(seed: c_uint, state: *mut c_char, size: usize) -> *mut c_char;
    pub(in crate::imp::linux) fn setstate(state: *mut c_char) -> *mut c_char;
}
