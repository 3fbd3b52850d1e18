//! Tests that Rust fields of a native object exist exactly as long as the object, for any behavior of their constructor or the destruction
//! hook.

use crate::support;

use std::cell::{Cell, RefCell};

use alcedo_runtime::native::{This, uclass};
use alcedo_runtime::{CallError, Error, Runtime, Value, WeakRuntime, natives};

thread_local! {
    static WRONG: Cell<Wrong> = const { Cell::new(Wrong::Nothing) };
    /// Number of existing fields.
    static FIELDS: Cell<i32> = const { Cell::new(0) };
    /// Host, for code that destroys its own object.
    static HOST: RefCell<Option<WeakRuntime>> = const { RefCell::new(None) };
}

#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    Nothing,
    EndsEarly,
    Panics,
    PanicsAtTheEnd,
}

struct Counted;

impl Counted {
    fn new() -> Self {
        FIELDS.set(FIELDS.get() + 1);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        FIELDS.set(FIELDS.get() - 1);
    }
}

#[uclass(package = "Test", blueprintable)]
struct Fuse {
    counted: Counted,
    calls: i32,
}

#[uclass]
impl Fuse {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        let counted = Counted::new();
        match WRONG.get() {
            Wrong::EndsEarly => {
                let host = HOST.with_borrow(|host| host.as_ref().and_then(WeakRuntime::upgrade)).expect("a host");
                host.objects().destroy(this.handle());
            }
            Wrong::Panics => panic!("it blows"),
            _ => {}
        }
        Self { counted, calls: 0 }
    }

    /// Number of calls so far.
    #[ufunction]
    fn count(&mut self) -> i32 {
        let Self { counted: Counted, calls } = self;
        *calls += 1;
        *calls
    }

    #[begin_destroy]
    fn ends(&mut self) {
        assert!(WRONG.get() != Wrong::PanicsAtTheEnd, "it blows at the end");
    }
}

const FUSE: &str = "/Script/Test.Fuse";

fn host() -> Runtime {
    let host = support::builder().natives(natives![Fuse]).build().unwrap_or_else(|error| panic!("{error}"));
    HOST.set(Some(host.downgrade()));
    host
}

#[test]
fn an_object_that_ends_during_field_construction_has_no_fields() {
    let host = host();
    // Counts the fields of the class default object.
    let before = FIELDS.get();
    for wrong in [Wrong::EndsEarly, Wrong::Panics] {
        WRONG.set(wrong);
        let error = host.objects().spawn(FUSE).expect_err("it is gone, or was never whole").to_string();
        assert!(error.contains(if wrong == Wrong::Panics { "it blows" } else { "gone" }), "{error}");
        WRONG.set(Wrong::Nothing);
        host.safe_point();
        assert_eq!(FIELDS.get(), before, "no fields are left");
        let fuse = host.objects().spawn(FUSE).expect("spawned");
        assert_eq!(host.objects().call(fuse, "count", &[]).expect("it looks"), Some(Value::I32(1)));
        host.objects().destroy(fuse);
        assert_eq!(FIELDS.get(), before);
    }
}

#[test]
fn fields_are_dropped_even_if_a_destruction_callback_panics() {
    let host = host();
    let before = FIELDS.get();
    let fuse = host.objects().spawn(FUSE).expect("spawned");
    assert_eq!(FIELDS.get(), before + 1);
    WRONG.set(Wrong::PanicsAtTheEnd);
    host.objects().destroy(fuse);
    WRONG.set(Wrong::Nothing);
    assert_eq!(FIELDS.get(), before, "the fields were dropped with the object");
    let error = host.objects().call(fuse, "count", &[]).expect_err("it is gone");
    assert!(matches!(error, Error::Call(CallError::Stale { handle }) if handle == fuse), "{error}");
}
