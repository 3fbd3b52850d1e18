//! Provides stubs of other crates and modules, with only the items that the runtime files compiled into this crate use.

pub(crate) use shuttle::sync::mpsc::{Receiver, SyncSender as Sender};

/// Returns a channel. Replaces a capacity of zero by one, which has no effect, because the compiled files send no messages.
pub(crate) fn bounded<T>(room: usize) -> (Sender<T>, Receiver<T>) {
    shuttle::sync::mpsc::sync_channel(room.max(1))
}

/// Stub of `alcedo-sys`. The compiled files create no thread-locals of images.
pub(crate) fn checkpoint() -> u64 {
    0
}

/// Stub of `alcedo-sys`.
pub(crate) mod process {
    pub(crate) fn coarse_clock() -> std::time::Duration {
        std::time::Duration::ZERO
    }

    pub(crate) fn thread_number() -> Option<i32> {
        None
    }

    pub(crate) fn describe_thread(name: Option<&str>, _number: Option<i32>) -> String {
        name.unwrap_or("unknown").to_owned()
    }
}

/// Stub of `alcedo-abi`.
pub(crate) mod stack {
    #[derive(Clone, Copy)]
    pub(crate) struct StackSpan;

    impl StackSpan {
        pub(crate) fn is_here(self) -> bool {
            true
        }

        pub(crate) fn above(self, _bytes: usize) -> Self {
            self
        }
    }
}

pub(crate) mod thread_stack {
    pub(crate) fn span() -> super::stack::StackSpan {
        super::stack::StackSpan
    }

    pub(crate) fn is_exhausted(_reserve: usize) -> bool {
        false
    }
}

/// Stub of `alcedo-base`.
pub(crate) mod panic_guard {
    /// Runs the code without catching panics, because a panic is a failure of the check.
    pub(crate) fn caught<T>(code: impl FnOnce() -> T) -> Result<T, String> {
        Ok(code())
    }
}

pub(crate) mod bridge {
    pub(crate) mod tasks {
        use serde::{Deserialize, Serialize};

        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub struct JobCount;

        impl std::fmt::Display for JobCount {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("jobs")
            }
        }
    }
}

pub(crate) mod blockers {
    use crate::lease::Blocker;

    pub(crate) fn hints(_blockers: &[Blocker]) -> Vec<&'static str> {
        Vec::new()
    }
}

pub(crate) mod error {
    #[derive(Debug, thiserror::Error)]
    pub enum Error {
        #[error(transparent)]
        Context(#[from] super::context_error::ContextError),
        #[error("{doing}: {source}")]
        System { doing: String, source: std::io::Error },
    }
}

pub(crate) mod context_error {
    use std::path::PathBuf;

    #[derive(Debug, thiserror::Error)]
    pub enum ContextError {
        #[error("{context} cannot be unloaded")]
        NotCollectible { context: String },
        #[error("{} is not absolute", path.display())]
        PathNotAbsolute { path: PathBuf },
        #[error("{context} is unloading")]
        ContextUnloading { context: String },
        #[error("the library does not come up")]
        Library,
    }
}

pub(crate) mod id {
    #[derive(PartialEq, Eq)]
    pub enum ContextKind {
        Slim,
    }
}

pub(crate) mod paths {
    use std::path::{Path, PathBuf};

    use super::context_error::ContextError;

    pub(crate) fn ensure_absolute(
        path: &Path,
        error: impl FnOnce(PathBuf) -> ContextError,
    ) -> Result<(), ContextError> {
        if path.is_absolute() { Ok(()) } else { Err(error(path.to_owned())) }
    }
}

pub(crate) mod handle {
    use std::fmt;
    use std::path::Path;
    use std::sync::Arc;

    use shuttle::sync::atomic::{AtomicBool, Ordering};

    use super::context_error::ContextError;
    use super::id::ContextKind;
    use crate::unload::state::ContextState;
    use crate::unload::ticket::UnloadTicket;

    /// Slim whose replacements always fail. The error changes when the Slim unloads.
    #[derive(Clone, Default)]
    pub struct LoadContext {
        is_unloading: Arc<AtomicBool>,
    }

    impl LoadContext {
        pub(crate) fn kind(&self) -> ContextKind {
            ContextKind::Slim
        }

        pub(crate) fn state(&self) -> ContextState {
            match self.is_unloading.load(Ordering::SeqCst) {
                true => ContextState::Unloading,
                false => ContextState::Alive,
            }
        }

        pub(crate) fn has_changed_file(&self, _path: &Path) -> bool {
            false
        }

        pub(crate) fn replace(&self, _path: &Path) -> Result<UnloadTicket, ContextError> {
            match self.state() {
                ContextState::Alive => Err(ContextError::Library),
                _ => Err(ContextError::ContextUnloading { context: self.to_string() }),
            }
        }

        pub(crate) fn begin_unload(&self) {
            self.is_unloading.store(true, Ordering::SeqCst);
        }
    }

    impl fmt::Display for LoadContext {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Slim \"s\"")
        }
    }
}

pub(crate) mod reload {
    pub(crate) mod watch {
        use std::path::PathBuf;

        use shuttle::rand::{Rng as _, thread_rng};
        use shuttle::sync::mpsc::{Receiver, TryRecvError};
        use shuttle::thread::yield_now;

        use crate::error::Error;

        /// Watch of a file. The file may change at any time.
        pub(crate) struct FileWatch;

        impl FileWatch {
            pub(crate) fn new(_files: &[PathBuf]) -> Result<Self, Error> {
                Ok(Self)
            }

            pub(crate) fn note_change(&mut self) {}

            pub(crate) fn wait(&mut self, stop: &Receiver<()>, is_over: impl Fn() -> bool) -> bool {
                loop {
                    if !matches!(stop.try_recv(), Err(TryRecvError::Empty)) || is_over() {
                        return false;
                    }
                    yield_now();
                    if thread_rng().gen_bool(0.5) {
                        return true;
                    }
                }
            }
        }
    }
}
