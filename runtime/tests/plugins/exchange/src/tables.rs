// Declares both tables. The module and the host each include this file in a scope where `alcedo` is their crate.

alcedo::entry_table! {
    /// Entry table that the host implements.
    pub host struct Engine {
        /// Returns the sum.
        add: fn(i32, i32) -> i32,
        /// Counts its calls.
        count: fn(),
        /// Panics unless the number is zero.
        fail: fn(u32) -> bool,
        /// Returns the sum of all arguments.
        sum: fn(u8, u16, u32, u64, i8, i16, f32, f64) -> f64,
    }
}

alcedo::entry_table! {
    /// Entry table that the module implements.
    pub module struct Scores {
        /// Returns the sum that the host computes, or zero if the call fails.
        add: fn(i32, i32) -> i32,
        /// Returns the sum. The module computes it.
        add_here: fn(i32, i32) -> i32,
        /// Returns the number of the build.
        build: fn() -> u32,
        /// Panics unless the number is zero.
        fail: fn(u32) -> bool,
        /// Panics on a thread that the module starts, unless the number is zero. Returns `true` after a panic.
        fail_apart: fn(u32) -> bool,
        /// Calls `fail` of the host. Returns the kind of the error.
        host_fails: fn(u32) -> u32,
        /// Calls `count` of the host. Returns the kind of the error.
        count: fn() -> u32,
        /// Adds one repeatedly, by calls of the host's `add`.
        add_often: fn(u64) -> i32,
        /// Adds one repeatedly, by the function pointer of the host's `add`. Returns -1 without a pointer.
        add_often_hot: fn(u64) -> i32,
        /// Adds through the host, on a thread that the module starts. Returns the negated error kind if the call fails.
        add_elsewhere: fn(i32, i32) -> i32,
        /// Adds numbers of all sizes through the host.
        sum: fn() -> f64,
        /// Returns the error kind of the `count` call in `main`.
        counted_in_main: fn() -> u32,
    }
}
