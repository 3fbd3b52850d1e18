//! The folder that libraries are taken from, and one of them, be it there or not.
#![expect(unsafe_code, reason = "the host vouches for its folder")]

use std::any::Any;
use std::cell::OnceCell;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use alcedo_base::cells::RefCell;
use alcedo_sys::{OwnFolder, UserLibrary};

use crate::call;
use crate::shape::Layouts;

/// The folder of libraries that a host may call. Game thread only.
#[derive(Clone)]
pub struct UserCode(Rc<Folder>);

struct Folder {
    path: PathBuf,
    manner: Calls,
    layouts: Layouts,
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
    pub(crate) layouts: Layouts,
    /// None where there is none: calls do nothing then.
    pub(crate) library: Option<UserLibrary>,
    /// Dropped when the library is closed.
    kept: RefCell<Vec<Box<dyn Any>>>,
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
        Self::new(folder, Calls { has_shells: true, has_fences: false }, Layouts::default())
    }

    /// The same folder, with `libffi` for all calls.
    #[must_use]
    pub fn by_libffi(&self) -> Self {
        self.called(Calls { has_shells: false, ..self.0.manner })
    }

    /// The same folder, for the search for a mistake: each buffer of a call ends at pages without rights, so a function that goes
    /// beyond it, however far, is stopped by a fault at the very access. Under a supervisor (`alcedo guard`, `alcedo dev`) the
    /// report of the crash names function and parameter. Calls with buffers cost some system calls more each.
    #[must_use]
    pub fn with_fences(&self) -> Self {
        self.called(Calls { has_fences: true, ..self.0.manner })
    }

    /// Returns the folder with more C layouts of structs, which hold for all of its libraries.
    #[must_use]
    pub fn layouts(&self, layouts: Layouts) -> Self {
        Self::new(&self.0.path, self.0.manner, self.0.layouts.clone().and(layouts))
    }

    fn called(&self, manner: Calls) -> Self {
        Self::new(&self.0.path, manner, self.0.layouts.clone())
    }

    fn new(path: &Path, manner: Calls, layouts: Layouts) -> Self {
        Self(Rc::new(Folder { path: path.to_owned(), manner, layouts, thread: OnceCell::new() }))
    }

    /// The layouts that hold for all libraries of the folder.
    #[must_use]
    pub fn stated_layouts(&self) -> &Layouts {
        &self.0.layouts
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
        self.open_with(name, Layouts::default())
    }

    /// Opens a library with C layouts of structs of its own, which override those of the folder.
    #[must_use]
    pub fn open_with(&self, name: &str, layouts: Layouts) -> Library {
        // SAFETY: who made this vouches for the folder.
        let library = match unsafe { call::open(&self.0.path, name) } {
            Ok(library) => Some(library),
            Err(error) => {
                tracing::warn!(library = name, %error, "a library was not bound: calls of its functions do nothing");
                None
            }
        };
        Library(Rc::new(Opened {
            name: name.to_owned(),
            folder: self.clone(),
            layouts: self.0.layouts.clone().and(layouts),
            library,
            kept: RefCell::default(),
        }))
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

    /// Keeps a value as long as the library is open; it is dropped right after its finalizers have run.
    pub fn keep(&self, value: impl Any) {
        self.0.kept.borrow_mut().push(Box::new(value));
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
