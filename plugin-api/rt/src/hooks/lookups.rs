//! Hooks of `dlsym` and `dlvsym`. Many libraries look up functions of the C library at run time, which would bypass the hooks of the
//! module. If a lookup of a hooked name finds the platform's function, the hook returns the module's hook instead. Other results are
//! unchanged, for example a function with this name from an unrelated library.
//!
//! The results for `RTLD_NEXT` and `RTLD_DEFAULT` depend on the library that calls the loader. The hook is code of the module, so the
//! loader finds the module as the caller with and without the hook.

use core::ffi::{CStr, c_void};

use super::notes;
use super::platform::{Scope, find, forget_error, library_at};

/// Returns the module's hook if `found` is the platform's function of a hooked name; otherwise returns `found`. `names` lists the
/// hooks of the module.
pub(super) fn own<'a>(
    found: *mut c_void,
    name: &CStr,
    mut names: impl Iterator<Item = (&'a CStr, *mut c_void)>,
) -> *mut c_void {
    notes::looked_up(found);
    match names.find(|(hooked, _)| *hooked == name) {
        Some((_, hook)) if is_platforms(found, name) => hook,
        _ => found,
    }
}

/// Returns true if `found` is the function that the module would find without hooks. If the process overrides this function, the function
/// of the C library also counts.
fn is_platforms(found: *mut c_void, name: &CStr) -> bool {
    let default = find(Scope::Default, name);
    if found == default {
        return true;
    }
    let next = find(Scope::Next, name);
    if default.is_null() || next.is_null() {
        // The lookup by the module has succeeded, so the next `dlerror` of the module must return no error.
        forget_error();
    }
    found == next && is_of_c_library(found)
}

fn is_of_c_library(function: *const c_void) -> bool {
    let of_c_library = libc::gnu_get_libc_version as *const c_void;
    library_at(function.addr()).is_some_and(|library| library_at(of_c_library.addr()) == Some(library))
}
