//! Values that are changed while somebody holds a part of them.
