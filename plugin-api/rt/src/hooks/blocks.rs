//! Hooks of functions by which the C library makes blocks of its heap for its caller to free: the platform makes them, and the
//! host is told, so that it counts and frees them as those of `malloc`.
#![expect(unsafe_code, reason = "C functions, handed over to the platform and told to the host")]

use core::ffi::{c_char, c_int, c_void};

use super::platform;
use crate::outside::hook_context;

/// The platform has made this block for the module, unless it is null. A sanitizer keeps its own books, and the host does not
/// hear of what is freed.
pub(super) fn made<T>(block: *mut T) -> *mut T {
    if !cfg!(feature = "pass-through")
        && let Some(context) = hook_context().filter(|_| !block.is_null())
    {
        // SAFETY: the image is that of the same context, and the block was made just now.
        unsafe { (context.table.block_made)(context.image, block.cast()) };
    }
    block
}

/// The platform is about to move this block, or to free it. Whether the host knows it as one of a module's.
fn lent(block: *mut c_char) -> bool {
    hook_context().is_some_and(|context| {
        // SAFETY: the image is that of the same context; any address will do.
        unsafe { (context.table.block_lent)(context.image, block.cast()) != 0 }
    })
}

macro_rules! makers {
    ($($name:ident($($arg:ident: $ty:ty),*) $(if $condition:expr)?;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of this module.")]
        ///
        /// # Safety
        /// As the C function says.
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> *mut c_char {
            // SAFETY: our caller keeps to the C function's contract.
            let block = unsafe { platform::$name($($arg),*) };
            $(if !$condition {
                return block;
            })?
            made(block)
        }
    )*};
}

makers! {
    strdup(text: *const c_char);
    strndup(text: *const c_char, most: usize);
    realpath(path: *const c_char, place: *mut c_char) if place.is_null();
    canonicalize_file_name(path: *const c_char);
    getcwd(place: *mut c_char, room: usize) if place.is_null();
    get_current_dir_name();
}

/// The text of a `printf`, which is there unless the result is an error.
///
/// # Safety
/// After a result that is no error, `text` is a place with a block.
unsafe fn printed(result: c_int, text: *mut *mut c_char) -> c_int {
    if result >= 0 {
        // SAFETY: promised by our caller.
        made(unsafe { *text });
    }
    result
}

/// `vasprintf` of this module; its last argument is a `va_list`, which is passed as an address.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn vasprintf(text: *mut *mut c_char, format: *const c_char, arguments: *mut c_void) -> c_int {
    // SAFETY: our caller keeps to the C function's contract.
    let result = unsafe { platform::vasprintf(text, format, arguments) };
    // SAFETY: the C function has written it.
    unsafe { printed(result, text) }
}

/// `__vasprintf_chk` of this module, which C code calls that is compiled with checks.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn __vasprintf_chk(
    text: *mut *mut c_char,
    flag: c_int,
    format: *const c_char,
    arguments: *mut c_void,
) -> c_int {
    // SAFETY: our caller keeps to the C function's contract.
    let result = unsafe { platform::__vasprintf_chk(text, flag, format, arguments) };
    // SAFETY: the C function has written it.
    unsafe { printed(result, text) }
}

/// A C function with `...` cannot be written in Rust: this makes a `va_list` of the arguments behind the first ones, as
/// the platform's calling convention lays it out, and calls the function that takes one.
#[cfg(target_arch = "x86_64")]
macro_rules! with_list {
    ($($name:ident($($arg:ident: $ty:ty),*) as $function:ident, $fixed:literal, $list:literal;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of this module.")]
        ///
        /// # Safety
        /// As the C function says.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> c_int {
            core::arch::naked_asm!(
                "sub rsp, 0xd8",
                // Where the registers go; `va_list` itself is in the first 24 bytes.
                "mov [rsp + 0x30], rdx",
                "mov [rsp + 0x38], rcx",
                "mov [rsp + 0x40], r8",
                "mov [rsp + 0x48], r9",
                "test al, al",
                "jz 2f",
                "movaps [rsp + 0x50], xmm0",
                "movaps [rsp + 0x60], xmm1",
                "movaps [rsp + 0x70], xmm2",
                "movaps [rsp + 0x80], xmm3",
                "movaps [rsp + 0x90], xmm4",
                "movaps [rsp + 0xa0], xmm5",
                "movaps [rsp + 0xb0], xmm6",
                "movaps [rsp + 0xc0], xmm7",
                "2:",
                "lea rax, [rsp + 0xe0]",
                concat!("mov dword ptr [rsp], ", $fixed),
                "mov dword ptr [rsp + 4], 48",
                "mov [rsp + 8], rax",
                "lea rax, [rsp + 0x20]",
                "mov [rsp + 16], rax",
                concat!("mov ", $list, ", rsp"),
                "call {function}",
                "add rsp, 0xd8",
                "ret",
                function = sym $function,
            )
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
with_list! {
    asprintf(text: *mut *mut c_char, format: *const c_char) as vasprintf, "16", "rdx";
    __asprintf_chk(text: *mut *mut c_char, flag: c_int, format: *const c_char) as __vasprintf_chk, "24", "rcx";
}

/// Reads into a block of the module's, which the C library may move, or into one that it makes.
///
/// # Safety
/// A place with such a block, or null.
unsafe fn into_block(line: *mut *mut c_char, read: impl FnOnce() -> isize) -> isize {
    // SAFETY: promised by our caller. What is no place is refused by the platform.
    let before = unsafe { line.as_ref() }.copied();
    // A block that somebody else has made stays that one's, wherever it moves.
    let is_ours = before.is_some_and(|block| block.is_null() || lent(block));
    let result = read();
    if is_ours {
        // SAFETY: promised by our caller; the C function has left a block there, or null.
        made(unsafe { *line });
    }
    result
}

/// `getline` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn getline(line: *mut *mut c_char, room: *mut usize, stream: *mut c_void) -> isize {
    // SAFETY: our caller keeps to the C function's contract.
    let read = || unsafe { platform::getline(line, room, stream) };
    // SAFETY: our caller gives a place with a block, or null.
    unsafe { into_block(line, read) }
}

/// `getdelim` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn getdelim(line: *mut *mut c_char, room: *mut usize, end: c_int, stream: *mut c_void) -> isize {
    // SAFETY: our caller keeps to the C function's contract.
    let read = || unsafe { platform::getdelim(line, room, end, stream) };
    // SAFETY: our caller gives a place with a block, or null.
    unsafe { into_block(line, read) }
}
