//! Folder of user libraries, and the libraries in this folder. A library that a class names may be missing.
#![expect(unsafe_code, reason = "the host vouches for its folder")]

use std::any::Any;
use std::cell::OnceCell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use alcedo_base::cells::RefCell;
use alcedo_base::log;
use alcedo_sys::{Digest, ImageError, OwnFolder, Stamp, UserLibrary, UserLibraryError};

use crate::shape::Layouts;

/// Folder of libraries that a host may call. Game thread only.
///
/// # Examples
/// ```
/// use alcedo_dll_bind::UserCode;
///
/// fn describe(folder: &UserCode) -> String {
///     let library = folder.open("MathDLL");
///     let state = if library.is_open() { "bound" } else { "missing" };
///     format!("{} in {} is {state}", library.name(), folder.folder().display())
/// }
/// ```
#[derive(Clone)]
pub struct UserCode(Rc<Folder>);

struct Folder {
    path: PathBuf,
    calls: Calls,
    layouts: Layouts,
    /// Thread that runs calls with the folder as working directory. The first such call starts the thread.
    thread: OnceCell<OwnFolder>,
}

#[derive(Clone, Copy)]
struct Calls {
    has_trampolines: bool,
    has_fences: bool,
}

/// Library in the folder. Clones and [`Imported`](crate::Imported) functions share the open library. The library is closed when the last of
/// them is dropped. Game thread only.
///
/// # Examples
/// ```
/// use alcedo_dll_bind::{Library, UserCode};
///
/// fn open_first(folder: &UserCode, names: &[&str]) -> Option<Library> {
///     names.iter().map(|name| folder.open(name)).find(Library::is_open)
/// }
/// ```
#[derive(Clone)]
pub struct Library(pub(crate) Rc<Opened>);

pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) folder: UserCode,
    pub(crate) layouts: Layouts,
    /// `None` if the library is missing. Calls of its functions then have no effect.
    pub(crate) library: Option<UserLibrary>,
    /// Set if the library is missing because its file was being written or could not be copied.
    may_open_later: bool,
    retained: RefCell<Vec<Box<dyn Any>>>,
}

impl UserCode {
    /// Returns the folder of libraries at this path. Does not create the folder, which need not exist yet.
    ///
    /// # Safety
    /// Every library that is ever in the folder must fulfill these conditions. Its functions match the declarations with which they are
    /// bound, and accept all values of the declared types. Its initializers and finalizers are sound. After the library is closed, no
    /// thread or handler of the library remains. The checks after each call detect many, but not all, accesses beyond the buffers that a
    /// function received.
    #[must_use]
    pub unsafe fn at(folder: &Path) -> Self {
        Self::new(folder, Calls { has_trampolines: true, has_fences: false }, Layouts::default())
    }

    /// Returns a [`UserCode`] for this folder that executes all calls with `libffi`.
    #[must_use]
    pub fn by_libffi(&self) -> Self {
        self.called(Calls { has_trampolines: false, ..self.0.calls })
    }

    /// Returns a [`UserCode`] for this folder that helps to debug C code. Each buffer ends at an inaccessible page, so that an access
    /// beyond the end of the buffer faults immediately. Under a supervisor (`alcedo guard`, `alcedo dev`), the crash report contains the
    /// function and the parameter. Each buffer requires additional system calls.
    #[must_use]
    pub fn with_fences(&self) -> Self {
        self.called(Calls { has_fences: true, ..self.0.calls })
    }

    /// Returns a [`UserCode`] for this folder with additional C layouts of structs. Libraries that the result opens use these layouts.
    #[must_use]
    pub fn layouts(&self, layouts: Layouts) -> Self {
        Self::new(&self.0.path, self.0.calls, self.0.layouts.clone().and(layouts))
    }

    fn called(&self, calls: Calls) -> Self {
        Self::new(&self.0.path, calls, self.0.layouts.clone())
    }

    fn new(path: &Path, calls: Calls, layouts: Layouts) -> Self {
        Self(Rc::new(Folder { path: path.to_owned(), calls, layouts, thread: OnceCell::new() }))
    }

    /// Returns the C layouts of structs that apply to all libraries of the folder.
    #[must_use]
    pub fn stated_layouts(&self) -> &Layouts {
        &self.0.layouts
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.0.path
    }

    /// Opens the library with this name (without path and extension), and runs its initializers. If the library is missing, logs a warning,
    /// and calls of its functions have no effect.
    #[must_use]
    pub fn open(&self, name: &str) -> Library {
        self.open_with(name, Layouts::default())
    }

    /// Opens a library with its own C layouts of structs. In case of a conflict, these layouts override the layouts of the folder.
    #[must_use]
    pub fn open_with(&self, name: &str, layouts: Layouts) -> Library {
        // SAFETY: the creator of this value vouches for the folder.
        let (library, may_open_later) = match unsafe { UserLibrary::open(&self.0.path, name) } {
            Ok(library) => (Some(library), false),
            Err(error) => {
                log!(WARN, library = name, %error, "a library was not bound: calls of its functions do nothing");
                (None, is_temporary(&error))
            }
        };
        Library(Rc::new(Opened {
            name: name.to_owned(),
            folder: self.clone(),
            layouts: self.0.layouts.clone().and(layouts),
            library,
            may_open_later,
            retained: RefCell::default(),
        }))
    }

    /// Returns the stamp of the library with this name. Returns `None` if the library is missing.
    #[doc(hidden)]
    #[must_use]
    pub fn stamp(&self, name: &str) -> Option<Stamp> {
        UserLibrary::stamp(&self.0.path, name)
    }

    /// Returns the digest of the library with this name. Returns `None` if the library is missing or is being written.
    #[doc(hidden)]
    #[must_use]
    pub fn digest(&self, name: &str) -> Option<Digest> {
        UserLibrary::digest_in(&self.0.path, name)
    }

    pub(crate) fn has_trampolines(&self) -> bool {
        self.0.calls.has_trampolines
    }

    pub(crate) fn has_fences(&self) -> bool {
        self.0.calls.has_fences
    }

    pub(crate) fn thread(&self) -> Result<&OwnFolder, String> {
        if let Some(thread) = self.0.thread.get() {
            return Ok(thread);
        }
        // Does not store the error, because the folder may exist in a later call.
        let thread = OwnFolder::start(&self.0.path).map_err(|error| error.to_string())?;
        Ok(self.0.thread.get_or_init(|| thread))
    }
}

impl Library {
    /// Returns the name of the library.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns `true` if the library was found and opened.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.library.is_some()
    }

    /// Returns `true` if the library is not open because its file was being written, or because it could not be copied.
    #[doc(hidden)]
    #[must_use]
    pub fn may_open_later(&self) -> bool {
        self.0.may_open_later
    }

    /// Returns the digest of the open library. Returns `None` if the library is not open.
    #[doc(hidden)]
    #[must_use]
    pub fn digest(&self) -> Option<Digest> {
        self.0.library.as_ref().map(UserLibrary::digest)
    }

    /// Stores a value until the library is closed, and drops the value directly after the finalizers of the library have run.
    pub fn keep(&self, value: impl Any) {
        self.0.retained.borrow_mut().push(Box::new(value));
    }

    /// Returns the path of the mapped file, which is a private copy of the library.
    #[must_use]
    pub fn mapped(&self) -> Option<&Path> {
        self.0.library.as_ref().map(UserLibrary::mapped)
    }
}

/// Checks if a later call may open the library although its file has not changed.
fn is_temporary(error: &UserLibraryError) -> bool {
    matches!(error, UserLibraryError::Image(ImageError::StillWritten { .. } | ImageError::Copy { .. }))
}

impl fmt::Debug for UserCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "user code in {}", self.0.path.display())
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "library {} of {:?}", self.0.name, self.0.folder)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;

    use alcedo_sys::{ImageError, UserLibraryError};

    use super::is_temporary;

    #[test]
    fn a_library_that_could_not_be_copied_may_open_later() {
        let path = || PathBuf::from("libTestDLL.so");
        let source = io::Error::from(io::ErrorKind::StorageFull);
        let not_copied = ImageError::Copy { path: path(), folder: PathBuf::from("/tmp"), source };
        let still_written = ImageError::StillWritten { path: path(), how: "it changed".to_owned() };
        assert!([not_copied, still_written].into_iter().all(|error| is_temporary(&error.into())));
        assert!(!is_temporary(&ImageError::Empty { path: path() }.into()));
        assert!(!is_temporary(&UserLibraryError::NoExec { folder: path() }));
    }
}
