//! One rule for every path by which something is loaded, wherever it comes from: it is absolute. Loads happen on any
//! thread and at any later time (a watch, a request, a resolver), when the current folder may be another one.

use std::path::{Path, PathBuf};

/// Lets only absolute paths through; `refuse` makes the error.
///
/// # Errors
/// When it is relative.
pub(crate) fn ensure_absolute<E>(path: &Path, refuse: impl FnOnce(PathBuf) -> E) -> Result<(), E> {
    if path.is_absolute() { Ok(()) } else { Err(refuse(path.to_owned())) }
}

/// Why a path is refused, and the way out.
pub(crate) fn not_absolute(path: &Path) -> String {
    format!(
        "the path {} is not absolute, and the current folder is not the context's to choose: make it absolute, with \
         `std::path::absolute` for one in the current folder",
        path.display()
    )
}
