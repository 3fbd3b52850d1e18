//! Values whose parts are held while they change.
