// Both tables, for the module and its host: each includes this file where `alcedo` is its crate.

alcedo::entry_table! {
    /// Implemented by the host.
    pub host struct Engine {
        /// Returns the sum.
        add: fn(i32, i32) -> i32,
        /// Counts its calls.
        count: fn(),
        /// Panics unless the number is zero.
        fail: fn(u32) -> bool,
        /// Returns all that it received, added up.
        sum: fn(u8, u16, u32, u64, i8, i16, f32, f64) -> f64,
    }
}

alcedo::entry_table! {
    /// Implemented by the module.
    pub module struct Scores {
        /// Returns the sum, which the host computes; zero where that fails.
        add: fn(i32, i32) -> i32,
        /// Returns the sum, which the module computes.
        add_here: fn(i32, i32) -> i32,
        /// Returns the number of the build.
        build: fn() -> u32,
        /// Panics unless the number is zero.
        fail: fn(u32) -> bool,
        /// Panics on a thread of the module unless the number is zero; `true` when it has panicked.
        fail_apart: fn(u32) -> bool,
        /// Calls `fail` of the host; the kind of its error.
        host_fails: fn(u32) -> u32,
        /// Calls `count` of the host; the kind of its error.
        count: fn() -> u32,
        /// Adds one so many times by the host.
        add_often: fn(u64) -> i32,
        /// Adds one so many times by the pointer of the function; -1 without a pointer.
        add_often_hot: fn(u64) -> i32,
        /// Has the host add on a thread of the module; the kind of its error is below zero.
        add_elsewhere: fn(i32, i32) -> i32,
        /// Has the host add numbers of all sizes.
        sum: fn() -> f64,
        /// Calls `count` in the main; the kind of its error.
        counted_in_main: fn() -> u32,
    }
}
