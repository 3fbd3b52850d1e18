//! Hooks of `dlsym` and `dlvsym`. Many libraries look up functions of the C library at run time, and would bypass the hooks of
//! the module. If the result is the platform's function of a hooked name, the hook returns the module's function; any other
//! result is unchanged, in particular a library's own function of the same name.
//!
//! The meaning of `RTLD_NEXT` and `RTLD_DEFAULT` depends on the library that calls the loader. The platform's function is
//! called from this file, and so from the same library as without hooks.

use core::ffi::{CStr, c_void};

use super::notes;
use super::platform::{Scope, find, forget_error, library_at};

/// Returns the hook for a function found under a hooked name, and other results unchanged; `names` lists the hooks of the module.
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

/// Returns true if the function is the one that the module would find without hooks, or that of the C library if the process
/// overrides it.
fn is_platforms(found: *mut c_void, name: &CStr) -> bool {
    let default = find(Scope::Default, name);
    if found == default {
        return true;
    }
    let next = find(Scope::Next, name);
    if default.is_null() || next.is_null() {
        // The module's lookup has succeeded, so the module must not find an error.
        forget_error();
    }
    found == next && is_of_c_library(found)
}

fn is_of_c_library(function: *const c_void) -> bool {
    let of_c_library = libc::gnu_get_libc_version as *const c_void;
    library_at(function.addr()).is_some_and(|library| library_at(of_c_library.addr()) == Some(library))
}
