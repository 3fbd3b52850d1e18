//! Watches the library of a Slim, so that a server answers with new code as soon as a build has written it. A Slim belongs
//! to no thread, so its watch has a thread of its own.

use std::fmt;
use std::path::PathBuf;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::error::Error;
use crate::load::context::handle::LoadContext;
use crate::load::context_id::ContextKind;
use crate::load::error::context::ContextError;
use crate::load::paths::ensure_absolute;
use crate::reload::watch::FileWatch;
use crate::sync::thread::{self, JoinHandle};
use crate::trap;
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;

/// Replaces a Slim by what its library file becomes, until this is dropped. It holds the Slim as any handle does. Any
/// thread.
#[must_use = "the watch ends when this is dropped"]
pub struct SlimWatch {
    /// The watch ends when this goes.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    title: String,
}

impl SlimWatch {
    /// Watches the library `path`, and calls [`LoadContext::replace`] with it whenever it was written and has been quiet for
    /// some milliseconds. `told` is called with the outcome of each replacement: the ticket of the generation that
    /// goes, or why the old one stays. Mains of the new code and `told` run on the watch's own thread,
    /// `alcedo-slim-watch`. The watch ends by itself when the Slim unloads.
    ///
    /// # Errors
    /// When the context is no Slim, the path is not absolute, the file's folder cannot be watched, or the system gives no thread.
    pub fn start(
        slim: &LoadContext,
        path: impl Into<PathBuf>,
        told: impl Fn(Result<UnloadTicket, ContextError>) + Send + 'static,
    ) -> Result<Self, Error> {
        if slim.kind() != ContextKind::Slim {
            return Err(ContextError::NotCollectible { context: slim.to_string() }.into());
        }
        let path = path.into();
        ensure_absolute(&path, |path| ContextError::PathNotAbsolute { path })?;
        let watch = FileWatch::new(std::slice::from_ref(&path))?;
        let (stop, stopped) = bounded(0);
        let (title, slim) = (slim.to_string(), slim.clone());
        let watching = Watching { slim, path, watch, stopped };
        let thread = thread::Builder::new().name("alcedo-slim-watch".into()).spawn(move || watching.run(&told));
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
    fn run(mut self, told: &dyn Fn(Result<UnloadTicket, ContextError>)) {
        while self.watch.wait(&self.stopped, || self.slim.state() != ContextState::Alive) {
            let replaced = self.slim.replace(&self.path);
            let is_over = matches!(replaced, Err(ContextError::ContextUnloading { .. }));
            if let Err(message) = trap::caught(|| told(replaced)) {
                tracing::error!(slim = %self.slim, message, "the callback of the watch panicked; the watch goes on");
            }
            if is_over {
                return;
            }
        }
    }
}

impl Drop for SlimWatch {
    /// Waits for a replacement that is under way, but where it is that one's own thread that drops this.
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != thread::current().id()) {
            // It catches the panics of others.
            let _ended = thread.join();
        }
    }
}

impl fmt::Debug for SlimWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a watch of {}", self.title)
    }
}
