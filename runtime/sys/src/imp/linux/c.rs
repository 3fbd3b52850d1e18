//! Safe wrappers for the C library, its loader and the kernel. Code outside of this folder may call all safe functions without further
//! conditions.

pub(super) mod callbacks;
pub(super) mod descriptors;
pub(super) mod kernel;
pub(super) mod library;
pub(super) mod loader;
pub(super) mod pages;
pub(super) mod peek;
pub(super) mod signals;
