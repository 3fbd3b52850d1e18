//! Opens the folder of C libraries that the command line specifies for the sample engine.
#![expect(unsafe_code, reason = "the user of the command line trusts the folder")]

use std::path::Path;

use alcedo_runtime::dll_bind::UserCode;

/// Returns the C libraries in a folder.
pub(super) fn user_code(folder: &Path) -> UserCode {
    // SAFETY: the help of `--user-code` states that functions there run with all rights of the process; the user
    // who passes the option vouches for the libraries.
    unsafe { UserCode::at(folder) }
}
