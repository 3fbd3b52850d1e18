//! Rejects relative paths, because the current folder may change before the load. A watch, a request or a resolver may load later or on a
//! different thread.

use std::path::{Path, PathBuf};

/// Rejects a relative path with the error that `refuse` creates.
pub(crate) fn ensure_absolute<E>(path: &Path, refuse: impl FnOnce(PathBuf) -> E) -> Result<(), E> {
    if path.is_absolute() { Ok(()) } else { Err(refuse(path.to_owned())) }
}

/// Returns the error message for a relative path.
pub(crate) fn not_absolute(path: &Path) -> String {
    format!(
        "the path {} is not absolute, and a context does not use the current folder: make it absolute, with \
         `std::path::absolute` for one in the current folder",
        path.display()
    )
}
