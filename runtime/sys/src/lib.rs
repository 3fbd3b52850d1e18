//! System layer of the Alcedo runtime: inspects a library file, makes a private copy, maps the copy, and unmaps the copy with verification.
//!
//! Functions are used in the order [`ImageFile::read`], [`StageDir::stage_with`], [`Image::map`], [`Image::begin_end`]. The [`Ledger`] of a
//! library records the resources that the library has created in the process, as reported by its hooks. A [`NativeLibrary`] is a foreign
//! library that is opened by name, and closed only if the caller guarantees that closing is safe. This crate does not interpret the content
//! of libraries. A single private module contains all platform-specific code. Linux with glibc is fully supported. On other platforms, a
//! portable fallback leaves every image mapped and reports each image as parked.

#![cfg_attr(
    not(all(target_os = "linux", target_env = "gnu")),
    allow(dead_code, reason = "code that only platforms with hooks and unmapped images use")
)]

/// Logs a line like `log!` of `alcedo-base`, which this crate cannot use. Leaks the payload of a panic of the log subscriber, because the
/// drop of the payload may panic again.
macro_rules! log {
    (target: $target:expr, $level:ident, $($line:tt)+) => {{
        let log = || tracing::event!(target: $target, tracing::Level::$level, { $($line)+ });
        let _lost = std::panic::catch_unwind(std::panic::AssertUnwindSafe(log)).map_err(std::mem::forget);
    }};
    ($level:ident, $($line:tt)+) => {
        log!(target: module_path!(), $level, $($line)+)
    };
}

pub mod crash;
mod demands;
mod elf;
mod end_report;
mod ending;
mod facts;
mod fenced;
mod folder;
#[cfg(feature = "watch")]
mod folder_watch;
mod format;
mod image;
mod image_error;
mod imp;
mod ledger;
mod map;
mod native;
mod notes;
mod own_folder;
mod panic_locations;
pub mod panics;
mod pe;
pub mod plain_file;
pub mod process;
mod reference;
mod seal;
mod signature;
mod source;
mod stage;
mod stamp;
mod stat;
mod user_library;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use demands::Demands;
pub use elf::StaticTls;
pub use end_report::{EndPolicy, EndReport, ReferenceSearch};
pub use ending::{EndState, Ending};
pub use fenced::{FENCE, Fenced};
pub use folder::PrivateFolder;
#[cfg(feature = "watch")]
pub use folder_watch::FolderWatch;
pub use format::Constants;
pub use image::{Digest, ImageFile, Patch};
pub use image_error::{ImageError, NativeError};
pub use imp::{at_exit, start_writing};
pub use ledger::uses::{Use, UseKind, UseSnapshot, uses_noted};
pub use ledger::{Holder, HolderKind, Ledger, LedgerCounts};
pub use map::{Image, MapError, Unmapped};
pub use native::{NativeFailure, NativeLibrary, NativeLocation, UserLibrary};
pub use own_folder::OwnFolder;
pub use reference::{Reference, SearchResult, Target};
pub use seal::{seal_file, sign_file};
pub use signature::{KeyError, PublicKey, SecretKey, SignatureFound};
pub use stage::{StageDir, StageError, StagedFile};
pub use stamp::Stamp;
pub use user_library::UserLibraryError;

/// Returns the reason why every image stays mapped on this platform. Returns `None` on platforms that unmap images.
#[must_use]
pub fn keeps_images() -> Option<&'static str> {
    imp::KEEPS_IMAGES
}

/// Runs the pending thread-local destructors on this thread, for all images that are ending, except the image that has started this thread.
/// The destructor that was registered last runs first. Returns the number of destructors that ran. Runs no destructor while a destructor of
/// an image runs on this thread.
///
/// The destructors of a thread can run only on this thread. Hosts should therefore call this function regularly on worker threads, outside
/// of calls into modules. While no image is ending, a call only reads one variable.
pub fn checkpoint() -> u64 {
    imp::checkpoint(ledger::is_any_ending())
}

/// Interval between the checkpoints of a waiting thread that has thread-locals of images.
const CHECKPOINT_INTERVAL: Duration = Duration::from_millis(20);

/// Returns the interval at which a waiting thread must call [`checkpoint`]. Returns `None` if this thread has no thread-locals of images.
#[must_use]
pub fn checkpoint_interval() -> Option<Duration> {
    imp::has_thread_locals_here().then_some(CHECKPOINT_INTERVAL)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Functions that the hooks of an image call, on platforms that can unmap images.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub mod hooks {
    pub use crate::imp::hooks::*;
}
