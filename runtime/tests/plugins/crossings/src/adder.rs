// Declarations of the host `a test` in package `Test` for plugins, written by `alcedo glue`.
// Run it again after a change of the host. Each load of a plugin compares every type, member and signature here with the host.

use alcedo_plugin_api::prelude::*;

/// The host's own adder.
#[uclass(imported, package = "Test", base = Object)]
pub struct Adder {
    /// Sum of all additions.
    #[uproperty]
    total: i32,
}

#[uclass(imported)]
impl Adder {
    /// Returns the sum, computed by the host.
    #[ufunction]
    fn add_inside(&self, left: i32, right: i32) -> i32;
    /// Returns the sum, computed by a static function.
    #[ufunction]
    fn add_apart(left: i32, right: i32) -> i32;
    /// Adds to the count, a Rust field of the host; fails for zero, and panics for negative numbers.
    #[ufunction]
    fn count(&self, number: i32) -> Result<i32, CallError>;
    /// Destroys the object, and increments its count afterwards.
    #[ufunction]
    fn end(&self) -> i32;
    /// Destroys the object, and returns an error.
    #[ufunction]
    fn end_badly(&self) -> Result<i32, CallError>;
    /// Adds the result of `sum_up` to the count while the Rust fields are borrowed.
    #[ufunction]
    fn count_sum(&self) -> Result<i32, CallError>;
    /// Returns the sum, computed by the host or by an override.
    #[ufunction(blueprint_native_event)]
    fn sum_up(&self, left: i32, right: i32) -> i32;
}
