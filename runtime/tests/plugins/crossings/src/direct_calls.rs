//! Makes direct calls to host code, in states that allow them and in states that do not. Returns their outcomes as lines for tests.

use std::cell::RefCell;

use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::{ZFunction, ZMethod, ZProperty};

use crate::Adder;

/// Handles of a function and a property of the host.
type Found = (ZFunction<(i32, i32), i32>, ZProperty<i32>);

thread_local! {
    /// Cached handles.
    static FOUND: RefCell<Option<Found>> = const { RefCell::new(None) };
}

/// Formats the outcome of a call.
fn format_outcome<T: std::fmt::Debug>(call: &str, ended: Result<T, CallError>) -> String {
    match ended {
        Ok(returned) => format!("{call}: {returned:?}"),
        Err(error) => format!("{call}: {} {error}", kind(&error)),
    }
}

fn kind(error: &CallError) -> &'static str {
    match error.kind() {
        FailureKind::PANIC => "PANIC",
        FailureKind::RETURNED => "RETURNED",
        FailureKind::REENTRANT_BORROW => "REENTRANT_BORROW",
        FailureKind::STALE => "STALE",
        FailureKind::DURING_REBUILD => "DURING_REBUILD",
        FailureKind::BORROWED => "BORROWED",
        _ => "OTHER",
    }
}

/// Makes each kind of call that may call the host directly.
pub(crate) fn all(this: This<'_, Adder>) -> Vec<String> {
    FOUND.with_borrow_mut(|found| {
        let (function, property) = found.get_or_insert_with(|| {
            let function = ZFunction::find("ex:/host.add").expect("declared by the host");
            (function, ZProperty::find("up:/Script/Test.Adder:total").expect("declared by the host"))
        });
        vec![
            format_outcome("function", function.call((1, 2))),
            format_outcome("method", this.count(1)),
            format_outcome("event", this.try_sum_up(1, 2)),
            format_outcome("read", property.read(this.as_obj())),
            format_outcome("write", property.write(this.as_obj(), 5)),
        ]
    })
}

/// Object whose red constructor makes all direct calls and records their outcomes.
#[uclass(package = "Game", base = Adder)]
pub struct Witness {
    /// Container for borrowed slices.
    #[uproperty]
    numbers: UArray<f64>,
    received: String,
}

#[uclass]
impl Witness {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        Self { received: all(this.as_base()).join("\n") }
    }

    /// Returns the recorded outcomes.
    #[ufunction]
    fn received(&self) -> String {
        self.received.clone()
    }

    /// Makes all calls and returns the outcomes.
    #[ufunction]
    fn call_all(&self, this: This<Self>) -> String {
        all(this.as_base()).join("\n")
    }

    /// Makes all calls once, and then again while a host slice is borrowed.
    #[ufunction]
    fn call_all_while_borrowed(&self, this: This<Self>) -> String {
        let _before = all(this.as_base());
        this.numbers().push(1.0);
        this.numbers().with_slice(|_numbers| all(this.as_base())).join("\n")
    }

    /// Makes all calls while a slice is borrowed, and after an inner borrow has ended.
    #[ufunction]
    fn call_all_after_inner_slice(&self, this: This<Self>) -> String {
        let _before = all(this.as_base());
        this.numbers().push(1.0);
        let borrowed = this.numbers().with_slice(|_outer| {
            this.numbers().with_slice(|_inner| ());
            all(this.as_base())
        });
        borrowed.join("\n")
    }

    /// Calls a leaf function of the host by its pointer. This call is allowed while a slice is borrowed.
    #[ufunction]
    fn call_leaf_while_borrowed(&self, this: This<Self>, left: i32) -> String {
        let leaf = ZFunction::<(i32, i32), i32>::find("ex:/host.leaf").expect("declared by the host");
        let called =
            leaf.hot(|leaf| this.numbers().with_slice(|_numbers| format_outcome("leaf", leaf.call((left, 1)))));
        called.expect("the function has a pointer")
    }

    /// Makes all calls after the destruction of this object.
    #[ufunction]
    fn call_all_after_the_end(&self, this: This<Self>) -> String {
        this.destroy().expect("alive");
        all(this.as_base()).join("\n")
    }

    /// Calls the host's function `count`, which may fail.
    #[ufunction]
    fn count_what(&self, this: This<Self>, number: i32) -> String {
        format_outcome("count", this.count(number))
    }

    /// Calls the event `sum_up` of several adders in one batch. Some adders may be destroyed, and some calls may fail.
    #[ufunction]
    fn sum_of_each(&self, first: Obj<Adder>, second: Obj<Adder>, third: Obj<Adder>, left: i32) -> String {
        let sum_up = ZMethod::<(i32, i32), i32>::find("uf:/Script/Test.Adder:sum_up").expect("declared by the host");
        match sum_up.call_each(&[first, second, third], (left, 1)) {
            Ok(each) => {
                let failed = each.failed().map(|(object, error)| format!("{object:?} {} {error}", kind(error)));
                let sums = each.results().map(|sum| format!("{sum:?}"));
                sums.chain(failed).collect::<Vec<_>>().join("\n")
            }
            Err(error) => error.to_string(),
        }
    }

    /// Calls a method without parameters on several adders in one batch, by name. Returns the results and the error kinds.
    #[ufunction]
    fn each(&self, name: String, first: Obj<Adder>, second: Obj<Adder>, third: Obj<Adder>) -> String {
        let function = match ZMethod::<(), i32>::find(&name) {
            Ok(function) => function,
            Err(error) => return error.to_string(),
        };
        match function.call_each(&[first, second, third], ()) {
            Ok(each) => {
                let returned = each
                    .results()
                    .map(|returned| returned.map_or_else(|| "-".to_owned(), |returned| returned.to_string()));
                let failed = each.failed().map(|(_, error)| kind(error).to_owned());
                returned.chain(failed).collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.to_string(),
        }
    }

    /// Calls a method without parameters on an object of any class, by name.
    #[ufunction]
    fn query(&self, name: String, other: Obj<Object>) -> String {
        format_outcome("asked", ZMethod::<(), u32>::find(&name).and_then(|function| function.call(other, ())))
    }

    /// Calls `end` of another adder.
    #[ufunction]
    fn end_of(&self, this: This<Self>, other: Obj<Adder>) -> String {
        format_outcome("end", this.get(other).and_then(|other| other.try_end()))
    }

    /// Calls `end_badly` of another adder.
    #[ufunction]
    fn bad_end_of(&self, this: This<Self>, other: Obj<Adder>) -> String {
        format_outcome("bad end", this.get(other).and_then(|other| other.end_badly()))
    }

    /// Calls `count` of another adder with the argument zero, which must fail.
    #[ufunction]
    fn count_of(&self, this: This<Self>, other: Obj<Adder>) -> String {
        format_outcome("count", this.get(other).and_then(|other| other.count(0)))
    }

    /// Calls the event `sum_up` of another adder.
    #[ufunction]
    fn sum_of(&self, this: This<Self>, other: Obj<Adder>) -> String {
        format_outcome("sum", this.get(other).and_then(|other| other.try_sum_up(1, 2)))
    }

    /// Calls the event `sum_up` of another adder in a loop. The override panics at the second sum.
    #[ufunction]
    fn sums_of(&self, this: This<Self>, other: Obj<Adder>) -> String {
        let other = this.get(other).expect("alive");
        let sums = [10, 11, 10].map(|left| format_outcome("sum", other.try_sum_up(left, 1)));
        sums.join("\n")
    }
}
