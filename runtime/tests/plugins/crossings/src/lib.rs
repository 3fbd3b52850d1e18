//! Adds two numbers in every way in which a host can have it done, and has the host do so: what calls cost is measured with it, and
//! what a call by a kept handle does when its generation is over. In the loops that are measured what is called stands behind a pointer that
//! the compiler does not see through, so the numbers are hidden from it nowhere else: each sum waits for the one before.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::hint::black_box;

use alcedo_plugin_api::prelude::*;

use alcedo_plugin_api::{ZFunction, ZMethod, ZProperty};

use crate::adder::Adder;

// The types of the host: what `alcedo glue` writes.
mod adder;
mod direct_calls;

module! { name: "crossings" }

/// Adds.
#[uclass(package = "Game", base = Adder)]
#[derive(Default)]
pub struct Crossing {
    /// A number to read and write.
    #[uproperty]
    number: i32,
    /// Adders to call all at once.
    crowd: Vec<Obj<Adder>>,
    /// One that overrides the event.
    turn: Obj<Turn>,
}

#[uclass]
impl Crossing {
    /// The sum, by code of this module.
    #[ufunction]
    fn add(&self, left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }

    /// Has the host's method add so often; for a benchmark.
    #[ufunction]
    fn method_often(&self, this: This<Self>, times: u64) -> i32 {
        (0..times).fold(0, |sum, _| this.add_inside(sum, 1))
    }

    /// Has the host's function of that name add so often, by values of types that are not known; for a benchmark.
    #[ufunction]
    fn values_often(&self, this: This<Self>, times: u64) -> i32 {
        let add = |sum| this.zcall_any::<_, i32>("ex:/host.add", (black_box(sum), 1)).expect("it adds");
        (0..times).fold(0, |sum, _| add(sum))
    }

    /// Has the host's method add so often, on a thousand adders in one call; for a benchmark.
    #[ufunction]
    fn method_on_each_often(&mut self, this: This<Self>, times: u64) -> i32 {
        let add = ZMethod::<(i32, i32), i32>::find("uf:/Script/Test.Adder:add_inside").expect("it is there");
        if self.crowd.is_empty() {
            self.crowd = (0..1_000).map(|_| this.spawn::<Adder>(Obj::none()).expect("born")).collect();
        }
        let mut sum = 0_i32;
        for _ in 0..times / 1_000 {
            let each = add.call_each(black_box(&self.crowd), (black_box(1), 0)).expect("they are called");
            sum = each.results().flatten().fold(sum, i32::wrapping_add);
        }
        sum
    }

    /// Has the host's event add so often; for a benchmark.
    #[ufunction]
    fn event_often(&self, this: This<Self>, times: u64) -> i32 {
        (0..times).fold(0, |sum, _| this.sum_up(sum, 1))
    }

    /// Has an override of the host's event add so often; for a benchmark.
    #[ufunction]
    fn override_often(&mut self, this: This<Self>, times: u64) -> i32 {
        if self.turn.is_none() {
            self.turn = this.spawn(Obj::none()).expect("born");
        }
        let turn = this.get(self.turn).expect("it lives").as_base();
        (0..times).fold(0, |sum, _| turn.sum_up(sum, 1))
    }

    /// Reads and writes the host's property so often by its name, which is looked up once; for a benchmark.
    #[ufunction]
    fn property_often(&self, this: This<Self>, times: u64) -> i32 {
        let total = ZProperty::<i32>::find("up:/Script/Test.Adder:total").expect("it is there");
        let this = this.as_obj();
        total.write(this, 0).expect("it may be written");
        (0..times).for_each(|_| {
            let read = black_box(&total).read(black_box(this)).expect("it is there");
            total.write(black_box(this), read.wrapping_add(1)).expect("it may be written");
        });
        total.read(this).expect("it is there")
    }
}

/// An adder that adds by itself.
#[uclass(package = "Game", base = Adder)]
#[derive(Default)]
pub struct Turn {}

#[uclass]
impl Turn {
    /// The sum, by code of this module.
    #[overrides(Adder)]
    fn sum_up(&self, left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }
}

/// An adder that asks the host to count while the host does.
#[uclass(package = "Game", base = Adder)]
#[derive(Default)]
pub struct Echo {}

#[uclass]
impl Echo {
    /// What the host has counted.
    #[overrides(Adder)]
    fn sum_up(&self, this: This<Self>, _left: i32, _right: i32) -> i32 {
        this.count(1).expect("the fields are free")
    }
}

#[zcall(ex = "crossings.add")]
fn add(left: i32, right: i32) -> i32 {
    left.wrapping_add(right)
}

/// Panics where the sum is odd.
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
    /// What `keep` has found.
    static KEPT: RefCell<Option<ZFunction<(), u64>>> = const { RefCell::new(None) };
    /// What `keep_property` has found.
    static KEPT_PROPERTY: RefCell<Option<ZProperty<i32>>> = const { RefCell::new(None) };
}

/// What stands under no object.
pub struct Sums;

#[zmethods]
impl Sums {
    /// The sum.
    #[zmethod]
    fn add(left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }

    /// Has the function of that name add so often, by a handle; for a benchmark.
    #[zmethod]
    fn call_often(name: String, times: u64) -> i32 {
        let function = black_box(TwoToOne::find(&name).expect("it is there"));
        (0..times).fold(0, |sum, _| function.call((sum, 1)).expect("it adds"))
    }

    /// Has a function of the host that a test registers add so often.
    #[zmethod]
    fn ask_often(times: i32) -> i32 {
        let ask = TwoToOne::find("ex:/host.ask").expect("it is there");
        (0..times).fold(0, |sum, _| ask.call((sum, 1)).expect("it adds"))
    }

    /// The same by its pointer, if it is a leaf.
    #[zmethod]
    fn call_often_hot(name: String, times: u64) -> i32 {
        let function = black_box(TwoToOne::find(&name).expect("it is there"));
        let sum = function.hot(|add| (0..times).fold(0, |sum, _| add.call((sum, 1)).expect("it adds")));
        sum.expect("there is a pointer")
    }

    /// Calls the function of that name once by its pointer; why it fails.
    #[zmethod]
    fn call_hot_with(name: String, left: i32) -> String {
        let ended = TwoToOne::find(&name).and_then(|function| function.hot(|add| add.call((left, 1)))?);
        ended.map_or_else(|error| error.to_string(), |sum| sum.to_string())
    }

    /// What comes of looking for a method of that name.
    #[zmethod]
    fn find_method(name: String) -> String {
        match ZMethod::<(i32, i32), i32>::find(&name) {
            Ok(found) => found.name().to_owned(),
            Err(error) => error.to_string(),
        }
    }

    /// The same by its name, each time.
    #[zmethod]
    fn call_by_name_often(name: String, times: u64) -> i32 {
        (0..times).fold(0, |sum, _| zcall(black_box(&name), (black_box(sum), 1)).expect("it adds"))
    }

    /// The same by a pointer to a C function.
    #[zmethod]
    fn call_often_plain(times: u64) -> i32 {
        let add = black_box(add_plain as extern "C" fn(i32, i32) -> i32);
        (0..times).fold(0, |sum, _| add(sum, 1))
    }

    /// The same by a trait object.
    #[zmethod]
    fn call_often_dyn(times: u64) -> i32 {
        let add: Box<dyn Add> = black_box(Box::new(Plain));
        (0..times).fold(0, |sum, _| add.add(sum, 1))
    }

    /// Calls the function of that name once; why it fails.
    #[zmethod]
    fn call_with(name: String, left: i32) -> String {
        let ended = TwoToOne::find(&name).and_then(|function| function.call((left, 1)));
        ended.map_or_else(|error| error.to_string(), |sum| sum.to_string())
    }

    /// Finds a property and keeps it; nothing, or why not.
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

    /// Reads the property that was kept: the number, or why there is none.
    #[zmethod]
    fn read_kept(object: Obj<Object>) -> String {
        KEPT_PROPERTY.with_borrow(|kept| match kept.as_ref().map(|kept| kept.read(object)) {
            Some(Ok(number)) => number.to_string(),
            Some(Err(error)) => error.to_string(),
            None => "nothing was kept".to_owned(),
        })
    }

    /// Finds a function and keeps it; nothing, or why not.
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

    /// Calls what was kept: the number, or why there is none.
    #[zmethod]
    fn call_kept() -> String {
        KEPT.with_borrow(|kept| match kept.as_ref().map(|kept| kept.call(())) {
            Some(Ok(number)) => number.to_string(),
            Some(Err(error)) => error.to_string(),
            None => "nothing was kept".to_owned(),
        })
    }
}
