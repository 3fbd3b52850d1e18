//! New code that leaves something behind before its reload fails.
