//! Watches the library of a Slim. After a build has written a new library, the watch replaces the Slim. Because no thread owns a Slim, each
//! watch runs on a thread of its own.

use std::fmt;
use std::path::PathBuf;

use alcedo_sys::checkpoint;
use crossbeam_channel::{Receiver, Sender, bounded};

use crate::error::Error;
use crate::load::context::handle::LoadContext;
use crate::load::context_id::ContextKind;
use crate::load::error::context::ContextError;
use crate::load::paths::ensure_absolute;
use crate::panic_guard;
use crate::reload::watch::FileWatch;
use crate::sync::thread::{self, JoinHandle};
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;

/// Replaces a Slim after each change of its library file, until this value is dropped. Keeps the Slim alive, as every handle of the Slim
/// does. Can be used on any thread.
///
/// # Examples
/// ```rust,no_run
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// # let runtime = alcedo_runtime::Runtime::builder().build()?;
/// use alcedo_runtime::SlimWatch;
///
/// let library = "/srv/plugins/libreports.so";
/// let reports = runtime.contexts().create_slim("reports")?;
/// reports.load_path(library)?;
/// let watch = SlimWatch::start(&reports, library, |replaced| match replaced {
///     Ok(old) => println!("replaced {}", old.subject()),
///     Err(error) => eprintln!("the old build continues: {error}"),
/// })?;
/// # Ok(())
/// # }
/// ```
#[must_use = "the watch ends when this is dropped"]
pub struct SlimWatch {
    /// Dropping this sender stops the watch.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    title: String,
}

impl SlimWatch {
    /// Watches the library `path`. Calls [`LoadContext::replace`] with this path after a write, as soon as the file has been unchanged for
    /// some milliseconds. Also replaces a module that was loaded from this path if the file has changed since the load. `callback` receives
    /// the outcome of each replacement: the ticket of the replaced generation, or an error. After an error, the old generation continues.
    /// The callback and the mains of the new code run on the thread of the watch, `alcedo-slim-watch`. The watch ends when the Slim
    /// unloads.
    ///
    /// # Errors
    /// Fails if the context is not a Slim, the path is not absolute, the folder cannot be watched, or no thread can be started.
    pub fn start(
        slim: &LoadContext,
        path: impl Into<PathBuf>,
        callback: impl Fn(Result<UnloadTicket, ContextError>) + Send + 'static,
    ) -> Result<Self, Error> {
        if slim.kind() != ContextKind::Slim {
            return Err(ContextError::NotCollectible { context: slim.to_string() }.into());
        }
        let path = path.into();
        ensure_absolute(&path, |path| ContextError::PathNotAbsolute { path })?;
        let mut watch = FileWatch::new(std::slice::from_ref(&path))?;
        if slim.has_changed_file(&path) {
            watch.note_change();
        }
        let (stop, stopped) = bounded(0);
        let (title, slim) = (slim.to_string(), slim.clone());
        let watching = Watching { slim, path, watch, stopped };
        let thread = thread::Builder::new().name("alcedo-slim-watch".into()).spawn(move || watching.run(&callback));
        let failed = |source| Error::System { doing: format!("starting the thread that watches {title}"), source };
        let thread = thread.map_err(failed)?;
        Ok(Self { stop: Some(stop), thread: Some(thread), title })
    }
}

struct Watching {
    slim: LoadContext,
    path: PathBuf,
    watch: FileWatch,
    stopped: Receiver<()>,
}

impl Watching {
    fn run(mut self, callback: &dyn Fn(Result<UnloadTicket, ContextError>)) {
        loop {
            // Catches a panic of the callback or of a listener.
            match panic_guard::caught(|| self.replace_once(callback)) {
                Ok(true) => {}
                Ok(false) => return,
                Err(message) => log!(ERROR, slim = %self.slim, message, "the watch panicked; the watch continues"),
            }
        }
    }

    /// Waits for a change, and then replaces the Slim. Returns false if the watch is over.
    fn replace_once(&mut self, callback: &dyn Fn(Result<UnloadTicket, ContextError>)) -> bool {
        let is_over = || {
            // Mains of replaced code and the callback may have created thread-locals of modules, which only this thread can drop.
            checkpoint();
            self.slim.state() != ContextState::Alive
        };
        if !self.watch.wait(&self.stopped, is_over) {
            return false;
        }
        let replaced = self.slim.replace(&self.path);
        let is_over = matches!(replaced, Err(ContextError::ContextUnloading { .. }));
        callback(replaced);
        !is_over
    }
}

impl Drop for SlimWatch {
    /// Stops the watch, and waits for a replacement in progress. Does not wait if the current thread is the thread of the watch.
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != thread::current().id()) {
            // Cannot fail, because the thread catches all panics.
            let _ended = thread.join();
        }
    }
}

impl fmt::Debug for SlimWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a watch of {}", self.title)
    }
}
