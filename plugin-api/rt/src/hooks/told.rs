//! Hooks of two functions that the platform does alone, where a host has to know more than it could see afterwards: a name
//! before the system has cut it, and a ring that the kernel will write for.
#![expect(unsafe_code, reason = "C functions, handed over to the platform and told to the host")]

use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::panic::catch_unwind;
use std::thread;

use super::{functions, platform, signals};
use crate::outside::hook_context;

/// How many bytes of a name the system keeps.
const KEPT: usize = 15;

/// `pthread_setname_np` of this module. The standard library cuts a name off before it gets here, and still has all of it.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn pthread_setname_np(thread: usize, name: *const c_char) -> c_int {
    // SAFETY: our caller keeps to the C function's contract.
    let result = unsafe { platform::pthread_setname_np(thread, name) };
    // SAFETY: asking for one's own handle has no conditions.
    let is_own = thread == unsafe { libc::pthread_self() } as usize;
    if result == 0
        && is_own
        && let Some(context) = hook_context()
    {
        // SAFETY: the C function has taken it for a C string.
        let short = unsafe { CStr::from_ptr(name) }.to_bytes();
        let full = in_full(short);
        let name = full.as_deref().map_or(short, str::as_bytes);
        // SAFETY: the image is that of the same context, and the name lives until the function returns.
        unsafe { (context.table.thread_named)(context.image, name.as_ptr(), name.len()) };
    }
    result
}

/// The name that the standard library has for this thread, if it begins like that and may have been cut off. A thread that it
/// did not start has none, and one that has given up its thread-locals cannot be asked.
fn in_full(short: &[u8]) -> Option<String> {
    if short.len() < KEPT {
        return None;
    }
    let name = catch_unwind(|| thread::current().name().map(str::to_owned)).ok()??;
    name.as_bytes().starts_with(short).then_some(name)
}

/// `syscall` of this module. Where C says `...`, all six arguments are handed on, as the C function does.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn syscall(
    number: c_long,
    first: usize,
    second: usize,
    third: usize,
    fourth: usize,
    fifth: usize,
    sixth: usize,
) -> c_long {
    let address = std::ptr::with_exposed_provenance_mut::<c_void>(first);
    // Memory is on record whichever way it is asked for.
    match number {
        libc::SYS_sigaltstack => {
            let (new, old) = (address.cast_const(), std::ptr::with_exposed_provenance_mut(second));
            // SAFETY: our caller keeps to the contract of the call, which is that of the function.
            return unsafe { signals::sigaltstack(new, old) }.into();
        }
        _ if cfg!(feature = "pass-through") => {}
        libc::SYS_mmap => {
            let (protection, flags, fd) = (third as c_int, fourth as c_int, fifth as c_int);
            // SAFETY: our caller keeps to the contract of the call, which is that of the function.
            let start = unsafe { functions::mmap(address, second, protection, flags, fd, sixth as i64) };
            return start.expose_provenance() as c_long;
        }
        // SAFETY: as above.
        libc::SYS_munmap => return unsafe { functions::munmap(address, second) }.into(),
        libc::SYS_mremap => {
            let to = std::ptr::with_exposed_provenance_mut(fifth);
            // SAFETY: as above.
            let start = unsafe { functions::mremap(address, second, third, fourth as c_int, to) };
            return start.expose_provenance() as c_long;
        }
        libc::SYS_shmat => {
            let place = std::ptr::with_exposed_provenance(second);
            // SAFETY: our caller keeps to the contract of the call, which is that of the function.
            let start = unsafe { functions::shmat(first as c_int, place, third as c_int) };
            return start.expose_provenance() as c_long;
        }
        // SAFETY: our caller keeps to the contract of the call, which is that of the function.
        libc::SYS_shmdt => return unsafe { functions::shmdt(address) }.into(),
        _ => {}
    }
    // SAFETY: our caller keeps to the C function's contract.
    let result = unsafe { platform::syscall(number, first, second, third, fourth, fifth, sixth) };
    if number == libc::SYS_io_uring_setup
        && let Ok(fd @ 0..) = c_int::try_from(result)
        && let Some(context) = hook_context()
    {
        // SAFETY: the image is that of the same context, and the descriptor was made just now.
        unsafe { (context.table.fd_opened)(context.image, fd) };
    }
    result
}
