//! What the Alcedo runtime needs of the system beneath it: look at a library file, keep a private copy of it, map it,
//! and unmap it in a way that can be believed.
//!
//! The order of use is [`ImageFile::read`], [`StageDir::stage_with`], [`Image::map`] and [`Image::begin_end`]. What a
//! library has put into the process meanwhile stands in its [`Ledger`], to which its hooks report. A library of somebody
//! else's, which is looked up by name and closed only where its caller vouches for it, is a [`NativeLibrary`]. This
//! crate knows nothing of what a library means to its owner. Everything that depends on the platform lives behind one
//! private module: Linux with glibc in full, elsewhere a portable one that leaves every image mapped and says so.

pub mod crash;
mod demands;
mod elf;
mod end_report;
mod ending;
mod fenced;
mod folder;
mod image;
mod image_error;
mod imp;
mod ledger;
mod map;
mod native;
mod notes;
mod own_folder;
mod panic_places;
pub mod panics;
pub mod plain_file;
mod private;
pub mod process;
mod reference;
mod seal;
mod signature;
mod source;
mod stage;
mod stamp;
mod user_library;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use demands::Demands;
pub use elf::{Constants, StaticTls};
pub use end_report::{EndPolicy, EndReport, ReferenceSearch};
pub use ending::{EndState, Ending};
pub use fenced::{FENCE, Fenced};
pub use image::{Digest, ImageFile, Patch};
pub use image_error::ImageError;
pub use ledger::{Holder, HolderKind, Ledger, LedgerCounts};
pub use map::{Image, MapError, Unmapped};
pub use native::{NativeError, NativeFailure, NativeLibrary, NativePlace};
pub use own_folder::OwnFolder;
pub use reference::{Look, Reference, Target};
pub use seal::{seal_file, sign_file};
pub use signature::{KeyError, PublicKey, SecretKey, SignatureFound};
pub use stage::{StageDir, StageError, StagedFile};
pub use user_library::{UserLibrary, UserLibraryError};

/// From now on `handler` is called when the process ends by `exit` or because `main` returns, on the thread that ends it,
/// before handlers that were registered earlier. Destructors of that thread's thread-locals have run by then.
///
/// # Errors
///
/// Where the platform has no such handlers, or takes no more.
pub fn at_exit(handler: extern "C" fn()) -> std::io::Result<()> {
    imp::at_exit(handler)
}

/// Runs, on this thread, the thread-local destructors of images that are about to go, last registered first; returns
/// how many ran.
///
/// Only a thread itself can run its destructors. A host calls this now and then on the threads of its worker pools,
/// outside any call into a module; it costs one load while no image is going.
pub fn checkpoint() -> u64 {
    imp::checkpoint(ledger::is_any_ending())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The functions that the hooks of an image call, where images can be unmapped at all.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub mod hooks {
    pub use crate::imp::hooks::*;
}
