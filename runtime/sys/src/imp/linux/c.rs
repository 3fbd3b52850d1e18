//! The C library, its loader and the kernel, each asked in one place and in a form that is safe to use. Whatever may be
//! asked by anybody has no unsafe code above this folder.

pub(super) mod callbacks;
pub(super) mod descriptors;
pub(super) mod kernel;
pub(super) mod keys;
pub(super) mod library;
pub(super) mod loader;
pub(super) mod pages;
pub(super) mod peek;
pub(super) mod registers;
pub(super) mod signals;
