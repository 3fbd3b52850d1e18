//! Hooks of two functions that the platform does alone, where a host has to know more than it could see afterwards: a name
//! before the system has cut it, and a ring that the kernel will write for.
#![expect(unsafe_code, reason = "C functions, handed over to the platform and told to the host")]

use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::panic::catch_unwind;
use std::thread;

use super::{functions, notes, platform, signals};

/// How many bytes of a name the system keeps.
const KEPT: usize = 15;

/// `pthread_setname_np` of this module. The standard library cuts a name off before it gets here, and still has all of it.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn pthread_setname_np(thread: usize, name: *const c_char) -> c_int {
    // SAFETY: our caller keeps to the C function's contract, which takes the name for a C string.
    let short = unsafe {
        let result = platform::pthread_setname_np(thread, name);
        if result != 0 || thread != libc::pthread_self() as usize {
            return result;
        }
        CStr::from_ptr(name).to_bytes()
    };
    let full = in_full(short);
    notes::thread_named(full.as_deref().map_or(short, str::as_bytes));
    0
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
    use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

    let address = with_exposed_provenance_mut::<c_void>(first);
    // Memory is on record whichever way it is asked for.
    let is_kept_apart = !cfg!(feature = "pass-through");
    // SAFETY: our caller keeps to the contract of the call, which is that of the function of the same name.
    let result = unsafe {
        match number {
            libc::SYS_sigaltstack => signals::sigaltstack(address, with_exposed_provenance_mut(second)).into(),
            libc::SYS_mmap if is_kept_apart => {
                let (protection, flags, fd) = (third as c_int, fourth as c_int, fifth as c_int);
                functions::mmap(address, second, protection, flags, fd, sixth as i64).expose_provenance() as c_long
            }
            libc::SYS_munmap if is_kept_apart => functions::munmap(address, second).into(),
            libc::SYS_mremap if is_kept_apart => {
                let to = with_exposed_provenance_mut(fifth);
                functions::mremap(address, second, third, fourth as c_int, to).expose_provenance() as c_long
            }
            libc::SYS_shmat if is_kept_apart => {
                let place = with_exposed_provenance(second);
                functions::shmat(first as c_int, place, third as c_int).expose_provenance() as c_long
            }
            libc::SYS_shmdt if is_kept_apart => functions::shmdt(address).into(),
            _ => platform::syscall(number, first, second, third, fourth, fifth, sixth),
        }
    };
    if number == libc::SYS_io_uring_setup
        && let Ok(fd) = c_int::try_from(result)
    {
        notes::opened(fd);
    }
    result
}
