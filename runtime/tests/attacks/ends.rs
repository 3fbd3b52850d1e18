//! Order of an end: what a module left behind is dropped while what it looks at is there.
