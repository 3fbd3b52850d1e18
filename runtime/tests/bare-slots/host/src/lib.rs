//! Empty library: this package consists of its tests.
