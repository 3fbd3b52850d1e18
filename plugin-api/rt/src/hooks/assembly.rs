//! Functions that cannot be written in Rust: variadic functions, a function that returns twice, and jumps to versioned
//! symbols.
#![expect(unsafe_code, reason = "naked functions are `unsafe`, like the C functions that they replace")]

use core::arch::naked_asm;
#[cfg(target_arch = "x86_64")]
use core::ffi::c_int;
use core::ffi::{c_char, c_void};

#[cfg(target_arch = "x86_64")]
use super::functions::{__vasprintf_chk, vasprintf};
#[cfg(target_arch = "x86_64")]
use super::signals::{child, refused};

/// Defines variadic C functions. Each function stores its variadic arguments in a `va_list`, in the layout of the platform's calling
/// convention, and passes this `va_list` to a hook.
#[cfg(target_arch = "x86_64")]
macro_rules! with_list {
    ($($name:ident($($arg:ident: $ty:ty),*) as $function:ident, $fixed:literal, $list:literal;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of this module.")]
        ///
        /// # Safety
        /// The caller fulfills the contract of the C function.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> c_int {
            naked_asm!(
                "sub rsp, 0xd8",
                // Fills the register save area at `rsp + 0x20`. The `va_list` occupies the first 24 bytes of the frame.
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

/// Hook of `vfork`. The child overwrites the stack of the waiting parent, so the return address is stored in a register. The parent
/// notifies the host after the child has exited or executed a program.
///
/// # Safety
/// The caller fulfills the contract of the C function.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub unsafe extern "C" fn vfork() -> c_int {
    naked_asm!(
        "pop rdi",
        "mov eax, {number}",
        "syscall",
        "push rdi",
        "test eax, eax",
        "jz 2f",
        "push rax",
        "mov edi, eax",
        "call {child}",
        "pop rdi",
        "test edi, edi",
        "jns 2f",
        "neg edi",
        "sub rsp, 8",
        "call {refused}",
        "add rsp, 8",
        "2:",
        "ret",
        number = const libc::SYS_vfork,
        child = sym child,
        refused = sym refused,
    )
}

/// Defines functions that jump to the platform's `dlsym` and `dlvsym`. The unversioned names are the hooks of this module. The jumps
/// therefore use the first symbol version, which every C library of the platform defines.
macro_rules! versioned {
    ($($name:ident($($arg:ident: $ty:ty),*) is $symbol:literal, $x86_64:literal, $aarch64:literal;)*) => {$(
        /// Jumps to the platform's function.
        ///
        /// # Safety
        /// The caller fulfills the contract of the C function.
        #[cfg(target_arch = "x86_64")]
        #[unsafe(naked)]
        pub(super) unsafe extern "C" fn $name($($arg: $ty),*) -> *mut c_void {
            naked_asm!(
                concat!(".symver ", $symbol, ", ", $x86_64),
                concat!("jmp qword ptr [rip + ", $symbol, "@GOTPCREL]"),
            )
        }

        /// Jumps to the platform's function.
        ///
        /// # Safety
        /// The caller fulfills the contract of the C function.
        #[cfg(target_arch = "aarch64")]
        #[unsafe(naked)]
        pub(super) unsafe extern "C" fn $name($($arg: $ty),*) -> *mut c_void {
            naked_asm!(
                concat!(".symver ", $symbol, ", ", $aarch64),
                concat!("adrp x16, :got:", $symbol),
                concat!("ldr x16, [x16, :got_lo12:", $symbol, "]"),
                "br x16",
            )
        }
    )*};
}

versioned! {
    dlsym(handle: *mut c_void, name: *const c_char)
        is "alcedo_platform_dlsym", "dlsym@GLIBC_2.2.5", "dlsym@GLIBC_2.17";
    dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char)
        is "alcedo_platform_dlvsym", "dlvsym@GLIBC_2.2.5", "dlvsym@GLIBC_2.17";
}
