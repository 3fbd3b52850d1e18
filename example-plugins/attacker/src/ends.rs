//! Whatever is dropped late looks at what it holds: closures, thread-locals, statics, exit hooks.
