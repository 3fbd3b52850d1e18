//! Safe wrappers of the C library, its loader and the kernel. Functions without requirements are safe to call from outside of this
//! folder.

pub(super) mod callbacks;
pub(super) mod descriptors;
pub(super) mod kernel;
pub(super) mod library;
pub(super) mod loader;
pub(super) mod pages;
pub(super) mod peek;
pub(super) mod registers;
pub(super) mod signals;
