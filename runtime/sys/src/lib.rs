//! What the Alcedo runtime asks of the system beneath it: look at a library file, keep a private copy of it, map it,
//! and unmap it in a way that can be believed.
//!
//! The order of use is [`ImageFile::read`], [`StageDir::stage`], [`Image::map`] and [`Image::unmap`]. This crate knows
//! nothing of what a library means to its owner. Everything that depends on the platform lives behind one private
//! module: Linux with glibc in full, elsewhere a portable one that leaves every image mapped and says so.

mod elf;
mod image;
mod imp;
mod map;
pub mod process;
mod seal;
mod stage;

pub use image::{Digest, ImageError, ImageFile};
pub use map::{Image, MapError, Unmapped};
pub use seal::seal_file;
pub use stage::{StageDir, StageError, StagedFile};
