//! Hooks of functions by which the C library makes blocks of its heap for its caller to free: the platform makes them, and the
//! host is told, so that it counts and frees them as those of `malloc`.
#![expect(unsafe_code, reason = "C functions, handed over to the platform and told to the host")]

use core::ffi::{c_char, c_int, c_void};

use super::notes::{Made, block_lent, block_made};
use super::platform;

makers! {
    strdup(text: *const c_char) -> *mut c_char, then |block| block_made(block);
    strndup(text: *const c_char, most: usize) -> *mut c_char, then |block| block_made(block);
    realpath(path: *const c_char, place: *mut c_char) -> *mut c_char,
        then |block| if place.is_null() { block_made(block) };
    canonicalize_file_name(path: *const c_char) -> *mut c_char, then |block| block_made(block);
    getcwd(place: *mut c_char, room: usize) -> *mut c_char, then |block| if place.is_null() { block_made(block) };
    get_current_dir_name() -> *mut c_char, then |block| block_made(block);
}

macro_rules! printers {
    ($($name:ident($text:ident: *mut *mut c_char $(, $arg:ident: $ty:ty)*);)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of this module; its last argument is a `va_list`, which is passed as an address.")]
        ///
        /// # Safety
        /// As the C function says.
        pub unsafe extern "C" fn $name($text: *mut *mut c_char $(, $arg: $ty)*) -> c_int {
            // SAFETY: our caller keeps to the C function's contract, which writes a block's address unless the result is an error.
            unsafe {
                let result = platform::$name($text $(, $arg)*);
                if result >= 0 {
                    block_made(Made::new(*$text));
                }
                result
            }
        }
    )*};
}

printers! {
    vasprintf(text: *mut *mut c_char, format: *const c_char, arguments: *mut c_void);
    __vasprintf_chk(text: *mut *mut c_char, flag: c_int, format: *const c_char, arguments: *mut c_void);
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

macro_rules! readers {
    ($($name:ident($line:ident: *mut *mut c_char $(, $arg:ident: $ty:ty)*);)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of this module. It reads into a block, which it may move, or makes one.")]
        ///
        /// # Safety
        /// As the C function says.
        pub unsafe extern "C" fn $name($line: *mut *mut c_char $(, $arg: $ty)*) -> isize {
            // SAFETY: our caller keeps to the C function's contract and gives a place with a block or null, or no place, which the
            // platform refuses. The C function leaves a block there, or null.
            unsafe {
                // A block of another module stays that module's, wherever it moves.
                let is_ours = $line.as_ref().is_some_and(|block| block.is_null() || block_lent(*block));
                let result = platform::$name($line $(, $arg)*);
                if is_ours {
                    block_made(Made::new(*$line));
                }
                result
            }
        }
    )*};
}

readers! {
    getline(line: *mut *mut c_char, room: *mut usize, stream: *mut c_void);
    getdelim(line: *mut *mut c_char, room: *mut usize, end: c_int, stream: *mut c_void);
}
