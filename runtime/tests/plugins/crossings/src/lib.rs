//! Adds two numbers through every kind of call, from the host and to the host. Benchmarks measure the cost of calls. Tests check calls
//! through handles from an old generation. In the measured loops, `black_box` hides the callee from the compiler. Each sum depends on the
//! previous sum.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::hint::black_box;

use alcedo_plugin_api::prelude::*;

use alcedo_plugin_api::{ZFunction, ZMethod, ZProperty};

use crate::adder::Adder;

// Host types, written by `alcedo glue`.
mod adder;
mod direct_calls;

module! { name: "crossings" }

/// Adder with benchmark functions.
#[uclass(package = "Game", base = Adder)]
#[derive(Default)]
pub struct Crossing {
    /// Property to read and write.
    #[uproperty]
    number: i32,
    /// Adders for batch calls.
    crowd: Vec<Obj<Adder>>,
    /// Adder that overrides the event `sum_up`.
    turn: Obj<Turn>,
}

#[uclass]
impl Crossing {
    /// Returns the sum. This module computes it.
    #[ufunction]
    fn add(&self, left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }

    /// Calls the host's method `times` times. Used by a benchmark.
    #[ufunction]
    fn method_often(&self, this: This<Self>, times: u64) -> i32 {
        (0..times).fold(0, |sum, _| this.add_inside(sum, 1))
    }

    /// Calls the host's function by dynamic call `times` times. Used by a benchmark.
    #[ufunction]
    fn values_often(&self, this: This<Self>, times: u64) -> i32 {
        let add = |sum| this.zcall_any::<_, i32>("ex:/host.add", (black_box(sum), 1)).expect("a sum");
        (0..times).fold(0, |sum, _| add(sum))
    }

    /// Calls the host's method on a thousand adders per batch, `times` times in total. Used by a benchmark.
    #[ufunction]
    fn method_on_each_often(&mut self, this: This<Self>, times: u64) -> i32 {
        let add = ZMethod::<(i32, i32), i32>::find("uf:/Script/Test.Adder:add_inside").expect("declared by the host");
        if self.crowd.is_empty() {
            self.crowd = (0..1_000).map(|_| this.spawn::<Adder>(Obj::none()).expect("spawned")).collect();
        }
        let mut sum = 0_i32;
        for _ in 0..times / 1_000 {
            let each = add.call_each(black_box(&self.crowd), (black_box(1), 0)).expect("the batch is called");
            sum = each.results().flatten().fold(sum, i32::wrapping_add);
        }
        sum
    }

    /// Calls the host's event `sum_up` `times` times. Used by a benchmark.
    #[ufunction]
    fn event_often(&self, this: This<Self>, times: u64) -> i32 {
        (0..times).fold(0, |sum, _| this.sum_up(sum, 1))
    }

    /// Calls an override of the host's event `times` times. Used by a benchmark.
    #[ufunction]
    fn override_often(&mut self, this: This<Self>, times: u64) -> i32 {
        if self.turn.is_none() {
            self.turn = this.spawn(Obj::none()).expect("spawned");
        }
        let turn = this.get(self.turn).expect("alive").as_base();
        (0..times).fold(0, |sum, _| turn.sum_up(sum, 1))
    }

    /// Reads and writes the host's property `times` times by a cached handle. Used by a benchmark.
    #[ufunction]
    fn property_often(&self, this: This<Self>, times: u64) -> i32 {
        let total = ZProperty::<i32>::find("up:/Script/Test.Adder:total").expect("declared by the host");
        let this = this.as_obj();
        total.write(this, 0).expect("writable");
        (0..times).for_each(|_| {
            let read = black_box(&total).read(black_box(this)).expect("declared by the host");
            total.write(black_box(this), read.wrapping_add(1)).expect("writable");
        });
        total.read(this).expect("declared by the host")
    }
}

/// Adder that overrides the event `sum_up`.
#[uclass(package = "Game", base = Adder)]
#[derive(Default)]
pub struct Turn {}

#[uclass]
impl Turn {
    /// Returns the sum. This module computes it.
    #[overrides(Adder)]
    fn sum_up(&self, left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }
}

/// Adder whose override of `sum_up` calls the host's `count`. The host calls this override.
#[uclass(package = "Game", base = Adder)]
#[derive(Default)]
pub struct Echo {}

#[uclass]
impl Echo {
    /// Returns the reply of the host's `count`.
    #[overrides(Adder)]
    fn sum_up(&self, this: This<Self>, _left: i32, _right: i32) -> i32 {
        this.count(1).expect("the fields are not borrowed")
    }
}

#[zcall(ex = "crossings.add")]
fn add(left: i32, right: i32) -> i32 {
    left.wrapping_add(right)
}

/// Returns the sum. Panics if the sum is odd.
#[zcall(ex = "crossings.even")]
fn even(left: i32, right: i32) -> i32 {
    let sum = left.wrapping_add(right);
    assert!(sum % 2 == 0, "{sum} is odd");
    sum
}

extern "C" fn add_plain(left: i32, right: i32) -> i32 {
    left.wrapping_add(right)
}

trait Add {
    fn add(&self, left: i32, right: i32) -> i32;
}

struct Plain;

impl Add for Plain {
    fn add(&self, left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }
}

type TwoToOne = ZFunction<(i32, i32), i32>;

thread_local! {
    /// Handle of the function that `keep` has found.
    static KEPT: RefCell<Option<ZFunction<(), u64>>> = const { RefCell::new(None) };
    /// Handle of the property that `keep_property` has found.
    static KEPT_PROPERTY: RefCell<Option<ZProperty<i32>>> = const { RefCell::new(None) };
}

/// Functions without an object.
pub struct Sums;

#[zmethods]
impl Sums {
    /// Returns the sum.
    #[zmethod]
    fn add(left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }

    /// Calls the named function `times` times by a handle. Used by a benchmark.
    #[zmethod]
    fn call_often(name: String, times: u64) -> i32 {
        let function = black_box(TwoToOne::find(&name).expect("declared by the host"));
        (0..times).fold(0, |sum, _| function.call((sum, 1)).expect("a sum"))
    }

    /// Calls the test's `ex:/host.query` `times` times.
    #[zmethod]
    fn query_often(times: i32) -> i32 {
        let query = TwoToOne::find("ex:/host.query").expect("declared by the host");
        (0..times).fold(0, |sum, _| query.call((sum, 1)).expect("a sum"))
    }

    /// If the named function is a leaf, calls it by its function pointer, `times` times. Used by a benchmark.
    #[zmethod]
    fn call_often_hot(name: String, times: u64) -> i32 {
        let function = black_box(TwoToOne::find(&name).expect("declared by the host"));
        let sum = function.hot(|add| (0..times).fold(0, |sum, _| add.call((sum, 1)).expect("a sum")));
        sum.expect("the function has a pointer")
    }

    /// Calls the named function once by its function pointer. Returns the sum or the error.
    #[zmethod]
    fn call_hot_with(name: String, left: i32) -> String {
        let ended = TwoToOne::find(&name).and_then(|function| function.hot(|add| add.call((left, 1)))?);
        ended.map_or_else(|error| error.to_string(), |sum| sum.to_string())
    }

    /// Looks up a method by this name, and returns the name of the found method. If the look-up fails, returns the error.
    #[zmethod]
    fn find_method(name: String) -> String {
        match ZMethod::<(i32, i32), i32>::find(&name) {
            Ok(found) => found.name().to_owned(),
            Err(error) => error.to_string(),
        }
    }

    /// Calls the named function `times` times by name. Used by a benchmark.
    #[zmethod]
    fn call_by_name_often(name: String, times: u64) -> i32 {
        (0..times).fold(0, |sum, _| zcall(black_box(&name), (black_box(sum), 1)).expect("a sum"))
    }

    /// Calls a C function `times` times by pointer. Used by a benchmark.
    #[zmethod]
    fn call_often_plain(times: u64) -> i32 {
        let add = black_box(add_plain as extern "C" fn(i32, i32) -> i32);
        (0..times).fold(0, |sum, _| add(sum, 1))
    }

    /// Calls a trait object `times` times. Used by a benchmark.
    #[zmethod]
    fn call_often_dyn(times: u64) -> i32 {
        let add: Box<dyn Add> = black_box(Box::new(Plain));
        (0..times).fold(0, |sum, _| add.add(sum, 1))
    }

    /// Calls the named function once. Returns the sum or the error.
    #[zmethod]
    fn call_with(name: String, left: i32) -> String {
        let ended = TwoToOne::find(&name).and_then(|function| function.call((left, 1)));
        ended.map_or_else(|error| error.to_string(), |sum| sum.to_string())
    }

    /// Looks up a property, and stores its handle. Returns an empty string or the error.
    #[zmethod]
    fn keep_property(name: String) -> String {
        match ZProperty::find(&name) {
            Ok(found) => {
                KEPT_PROPERTY.set(Some(found));
                String::new()
            }
            Err(error) => error.to_string(),
        }
    }

    /// Reads the property through the stored handle. Returns the number or the error.
    #[zmethod]
    fn read_kept(object: Obj<Object>) -> String {
        KEPT_PROPERTY.with_borrow(|kept| match kept.as_ref().map(|kept| kept.read(object)) {
            Some(Ok(number)) => number.to_string(),
            Some(Err(error)) => error.to_string(),
            None => "no value was kept".to_owned(),
        })
    }

    /// Looks up a function, and stores its handle. Returns an empty string or the error.
    #[zmethod]
    fn keep(name: String) -> String {
        match ZFunction::find(&name) {
            Ok(found) => {
                KEPT.set(Some(found));
                String::new()
            }
            Err(error) => error.to_string(),
        }
    }

    /// Calls the function through the stored handle. Returns the number or the error.
    #[zmethod]
    fn call_kept() -> String {
        KEPT.with_borrow(|kept| match kept.as_ref().map(|kept| kept.call(())) {
            Some(Ok(number)) => number.to_string(),
            Some(Err(error)) => error.to_string(),
            None => "no value was kept".to_owned(),
        })
    }
}
