//! Hooks of `dlsym` and `dlvsym`. Many libraries look functions of the C library up at run time, and what they found that
//! way would pass by every hook of the module. Where the answer is the platform's function of a hooked name, they get the
//! module's own; any other answer, a library's own function of the same name above all, stays what it is.
//!
//! What `RTLD_NEXT` and `RTLD_DEFAULT` mean depends on the library from which the loader is called. The platform's function
//! is called from here, and so from the same library as before.
#![expect(unsafe_code, reason = "C functions, handed over to the platform, and a table that the assembler has made")]

use core::arch::naked_asm;
use core::ffi::{CStr, c_char, c_void};
use core::mem::MaybeUninit;

use super::notes;
use crate::slot::context;

/// One hooked name, in the section `alcedo_hooked`, which [`__alcedo_name`](crate::__alcedo_name) writes: the distances from
/// each of the two words to what it is about, so that the loader has nothing to write there.
#[repr(C)]
#[derive(Debug)]
pub struct HookedName {
    /// To the name, a C string.
    name: i32,
    /// To the module's own function.
    hook: i32,
}

/// The names of a module.
#[derive(Clone, Copy)]
struct HookedNames {
    begin: *const HookedName,
    end: *const HookedName,
}

/// `dlsym` of this module. The C name brings the table along, behind the arguments of either function.
///
/// # Safety
/// As the C function says; `begin` and `end` are those of the section `alcedo_hooked` of this module.
pub unsafe extern "C" fn dlsym(
    handle: *mut c_void,
    name: *const c_char,
    _of_dlvsym: usize,
    begin: *const HookedName,
    end: *const HookedName,
) -> *mut c_void {
    // SAFETY: our caller keeps to the C function's contract, and promises the table; what was found has a name.
    unsafe { own(platform_dlsym(handle, name), name, HookedNames { begin, end }) }
}

/// `dlvsym` of this module, likewise. An older version of a function than the one that the module would be linked to is no
/// hooked one: it may take other arguments.
///
/// # Safety
/// As [`dlsym`].
pub unsafe extern "C" fn dlvsym(
    handle: *mut c_void,
    name: *const c_char,
    version: *const c_char,
    begin: *const HookedName,
    end: *const HookedName,
) -> *mut c_void {
    // SAFETY: our caller keeps to the C function's contract, and promises the table; what was found has a name.
    unsafe { own(platform_dlvsym(handle, name, version), name, HookedNames { begin, end }) }
}

/// The platform's answer in the default scope, for those who are about to call the platform.
pub(super) fn in_platform(name: &CStr) -> *mut c_void {
    // SAFETY: the name is a C string, and the default scope never holds what this module hides.
    unsafe { platform_dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

/// What the module gets for what was found.
///
/// # Safety
/// The table is this module's. If something was found, the name is a C string.
unsafe fn own(found: *mut c_void, name: *const c_char, names: HookedNames) -> *mut c_void {
    if context().is_none() || found.is_null() {
        return found;
    }
    notes::looked_up(found);
    // SAFETY: our caller promises a C string, and the table of this module.
    let (name, hook) = unsafe {
        let name = CStr::from_ptr(name);
        (name, names.hook(name))
    };
    match hook {
        Some(hook) if is_platforms(found, name) => hook,
        _ => found,
    }
}

/// Whether it is the function of that name that the module would get if it had none of its own, or that of the C library
/// where the process has put another before it.
fn is_platforms(found: *mut c_void, name: &CStr) -> bool {
    let default = in_platform(name);
    if found == default {
        return true;
    }
    // SAFETY: the name is a C string; whatever the answer is, it is compared only.
    let next = unsafe {
        let next = platform_dlsym(libc::RTLD_NEXT, name.as_ptr());
        if default.is_null() || next.is_null() {
            // The module's lookup has been answered, so that it must not find an error.
            libc::dlerror();
        }
        next
    };
    found == next && is_of_c_library(found)
}

fn is_of_c_library(function: *const c_void) -> bool {
    let of_c_library = libc::gnu_get_libc_version as *const c_void;
    library_at(function).is_some_and(|library| library_at(of_c_library) == Some(library))
}

/// Where the library begins in which an address lies.
fn library_at(address: *const c_void) -> Option<usize> {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: the loader only compares the address, and fills the record if it finds it.
    let info = unsafe { (libc::dladdr(address, info.as_mut_ptr()) != 0).then(|| info.assume_init()) };
    info.map(|info| info.dli_fbase.addr())
}

impl HookedNames {
    /// The module's own function of that name.
    ///
    /// # Safety
    /// Both ends are of the section `alcedo_hooked`.
    unsafe fn hook(self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: our caller promises the section, which holds nothing but entries and is not written. The assembler has written
        // into each how far it is to the name, a C string.
        let entry = unsafe {
            let len = usize::try_from(self.end.offset_from(self.begin)).ok()?;
            let entries = core::slice::from_raw_parts(self.begin, len);
            entries.iter().find(|entry| CStr::from_ptr(behind(&entry.name).cast()) == name)?
        };
        Some(behind(&entry.hook).cast_mut())
    }
}

/// What a word is about that says how far away that is.
fn behind(distance: &i32) -> *const c_void {
    // The table, the names and the functions are parts of one mapping of one file.
    core::ptr::from_ref(distance).cast::<c_void>().wrapping_byte_offset(*distance as isize)
}

/// The platform's two functions. The hooks have their plain names in this module, so they are asked for by their first
/// version, which every C library of the platform has.
macro_rules! platform {
    ($($name:ident($($arg:ident: $ty:ty),*) is $symbol:literal, $x86_64:literal, $aarch64:literal;)*) => {$(
        /// The platform's function.
        ///
        /// # Safety
        /// As the C function says.
        #[cfg(target_arch = "x86_64")]
        #[unsafe(naked)]
        unsafe extern "C" fn $name($($arg: $ty),*) -> *mut c_void {
            naked_asm!(
                concat!(".symver ", $symbol, ", ", $x86_64),
                concat!("jmp qword ptr [rip + ", $symbol, "@GOTPCREL]"),
            )
        }

        /// The platform's function.
        ///
        /// # Safety
        /// As the C function says.
        #[cfg(target_arch = "aarch64")]
        #[unsafe(naked)]
        unsafe extern "C" fn $name($($arg: $ty),*) -> *mut c_void {
            naked_asm!(
                concat!(".symver ", $symbol, ", ", $aarch64),
                concat!("adrp x16, :got:", $symbol),
                concat!("ldr x16, [x16, :got_lo12:", $symbol, "]"),
                "br x16",
            )
        }
    )*};
}

platform! {
    platform_dlsym(handle: *mut c_void, name: *const c_char)
        is "alcedo_platform_dlsym", "dlsym@GLIBC_2.2.5", "dlsym@GLIBC_2.17";
    platform_dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char)
        is "alcedo_platform_dlvsym", "dlvsym@GLIBC_2.2.5", "dlvsym@GLIBC_2.17";
}
