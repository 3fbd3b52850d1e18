//! The folder that libraries are taken from, and one of them, be it there or not.
#![expect(unsafe_code, reason = "the host vouches for its folder")]

use std::cell::OnceCell;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use alcedo_sys::{OwnFolder, UserLibrary};

use crate::call;
use crate::shape::Extents;

/// The folder of libraries that a host may call. Game thread only.
#[derive(Clone)]
pub struct UserCode(Rc<Folder>);

struct Folder {
    path: PathBuf,
    manner: Calls,
    /// Started when the first function needs it.
    thread: OnceCell<Result<OwnFolder, io::Error>>,
}

/// How functions of a folder are called.
#[derive(Clone, Copy)]
struct Calls {
    has_shells: bool,
    has_fences: bool,
}

/// A library of that folder. A clone is the same one; it is closed with the last. Functions that were imported from it keep it
/// open. Game thread only.
#[derive(Clone)]
pub struct Library(pub(crate) Rc<Opened>);

pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) folder: UserCode,
    pub(crate) extents: Extents,
    /// None where there is none: calls do nothing then.
    pub(crate) library: Option<UserLibrary>,
}

impl UserCode {
    /// The libraries in that folder. It need not be there yet.
    ///
    /// # Safety
    /// The caller vouches for every library that will lie there: its functions are what they are declared as when they are
    /// imported, its initializers and finalizers do what its author meant, and when it is closed it has no thread or
    /// handler left. What they do wrong with their buffers is looked for in each call, and found where it can be.
    #[must_use]
    pub unsafe fn at(folder: &Path) -> Self {
        Self::new(folder, Calls { has_shells: true, has_fences: false })
    }

    /// The same folder, with `libffi` for all calls.
    #[must_use]
    pub fn by_libffi(&self) -> Self {
        Self::new(&self.0.path, Calls { has_shells: false, ..self.0.manner })
    }

    /// The same folder, for the search for a mistake: each buffer of a call ends at pages without rights, so a function that goes
    /// beyond it, however far, is stopped by a fault at the very access. Under a supervisor (`alcedo guard`, `alcedo dev`) the
    /// report of the crash names function and parameter. Calls with buffers cost some system calls more each.
    #[must_use]
    pub fn with_fences(&self) -> Self {
        Self::new(&self.0.path, Calls { has_fences: true, ..self.0.manner })
    }

    fn new(path: &Path, manner: Calls) -> Self {
        Self(Rc::new(Folder { path: path.to_owned(), manner, thread: OnceCell::new() }))
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.0.path
    }

    /// Opens the library of that name, written without path and extension; its initializers run. Where there is none, one
    /// warning says so, and its functions do nothing.
    #[must_use]
    pub fn open(&self, name: &str) -> Library {
        self.open_with(name, Extents::default())
    }

    /// The same, with what is to be known of structs.
    #[must_use]
    pub fn open_with(&self, name: &str, extents: Extents) -> Library {
        // SAFETY: who made this vouches for the folder.
        let library = match unsafe { call::open(&self.0.path, name) } {
            Ok(library) => Some(library),
            Err(error) => {
                tracing::warn!(library = name, %error, "a library was not bound: calls of its functions do nothing");
                None
            }
        };
        Library(Rc::new(Opened { name: name.to_owned(), folder: self.clone(), extents, library }))
    }

    pub(crate) fn has_shells(&self) -> bool {
        self.0.manner.has_shells
    }

    pub(crate) fn has_fences(&self) -> bool {
        self.0.manner.has_fences
    }

    /// The thread whose working directory is the folder.
    pub(crate) fn thread(&self) -> Result<&OwnFolder, String> {
        self.0.thread.get_or_init(|| OwnFolder::start(&self.0.path)).as_ref().map_err(ToString::to_string)
    }
}

impl Library {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether it was found and opened.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.library.is_some()
    }

    /// The file that is mapped: a private copy.
    #[must_use]
    pub fn mapped(&self) -> Option<&Path> {
        self.0.library.as_ref().map(UserLibrary::mapped)
    }
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
