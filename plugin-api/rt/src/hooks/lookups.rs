//! Hooks of `dlsym` and `dlvsym`. Many libraries look functions of the C library up at run time, and what they found that
//! way would pass by every hook of the module. Where the answer is the platform's function of a hooked name, they get the
//! module's own; any other answer, a library's own function of the same name above all, stays what it is.
//!
//! What `RTLD_NEXT` and `RTLD_DEFAULT` mean depends on the library from which the loader is called. The platform's function
//! is called from here, and so from the same library as before.

use core::ffi::{CStr, c_void};

use super::notes;
use super::platform::{Scope, find, forget_error, library_at};

/// What the module gets for what was found under a name; `names` are those of its hooks, each with the module's own function.
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

/// Whether it is the function of that name that the module would get if it had none of its own, or that of the C library
/// where the process has put another before it.
fn is_platforms(found: *mut c_void, name: &CStr) -> bool {
    let default = find(Scope::Default, name);
    if found == default {
        return true;
    }
    let next = find(Scope::Next, name);
    if default.is_null() || next.is_null() {
        // The module's lookup has been answered, so that it must not find an error.
        forget_error();
    }
    found == next && is_of_c_library(found)
}

fn is_of_c_library(function: *const c_void) -> bool {
    let of_c_library = libc::gnu_get_libc_version as *const c_void;
    library_at(function.addr()).is_some_and(|library| library_at(of_c_library.addr()) == Some(library))
}
