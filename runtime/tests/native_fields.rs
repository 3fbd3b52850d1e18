//! Tests that the Rust fields of a native object exist exactly as long as the object. The constructor or the destruction hook of the object
//! may fail in any way.

use crate::scripts::{LAMP_TEXT, Package, builder, host_of, reload_of};
use crate::support;

use std::cell::{Cell, RefCell};

use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::native::{This, uclass};
use alcedo_runtime::{CallError, Error, ObjectHandle, Runtime, Value, WeakRuntime, natives};

thread_local! {
    static WRONG: Cell<Wrong> = const { Cell::new(Wrong::Nothing) };
    /// Number of `Counted` fields that exist.
    static FIELDS: Cell<i32> = const { Cell::new(0) };
    /// Call counts that the destruction hooks have read from the fields of their objects.
    static ENDS: RefCell<Vec<i32>> = const { RefCell::new(Vec::new()) };
    /// Host on which constructors, methods and hooks destroy objects.
    static HOST: RefCell<Option<WeakRuntime>> = const { RefCell::new(None) };
    /// Objects that the next destruction hook destroys. The hook skips its own object.
    static PARTNERS: RefCell<Vec<ObjectHandle>> = const { RefCell::new(Vec::new()) };
}

#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    Nothing,
    EndsEarly,
    Panics,
    PanicsInside,
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

fn destroy(object: ObjectHandle) {
    let host = HOST.with_borrow(|host| host.as_ref().and_then(WeakRuntime::upgrade)).expect("a host");
    host.objects().destroy(object);
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
            Wrong::EndsEarly => destroy(this.handle()),
            Wrong::Panics => panic!("it blows"),
            _ => {}
        }
        Self { counted, calls: 0 }
    }

    /// Counts this call, and returns the number of calls so far.
    #[ufunction]
    fn count(&mut self) -> i32 {
        let Self { counted: Counted, calls } = self;
        *calls += 1;
        *calls
    }

    /// Destroys its own object, and then adds ten to the number of calls.
    #[ufunction]
    fn end_inside(&mut self, this: This<Self>) -> i32 {
        destroy(this.handle());
        assert!(ENDS.with_borrow(Vec::is_empty), "the fields are borrowed");
        self.calls += 10;
        assert!(WRONG.get() != Wrong::PanicsInside, "it blows inside");
        self.calls
    }

    /// Destroys the object while its fields are lent.
    #[ufunction]
    fn end_while_lent(&mut self, this: This<Self>) -> i32 {
        this.lend(self, |this| destroy(this.handle()));
        self.calls += 1;
        ENDS.with_borrow(|ends| ends.len() as i32)
    }

    #[begin_destroy]
    fn ends(&mut self, this: This<Self>) {
        ENDS.with_borrow_mut(|ends| ends.push(self.calls));
        PARTNERS.take().into_iter().filter(|partner| *partner != this.handle()).for_each(destroy);
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
    // Counts the fields of the class default object, which exist before the first spawn.
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

#[test]
fn the_hook_of_an_object_that_its_own_method_destroys_runs_once_after_the_method() {
    let host = host();
    let before = FIELDS.get();
    for wrong in [Wrong::Nothing, Wrong::PanicsInside, Wrong::PanicsAtTheEnd] {
        let fuse = host.objects().spawn(FUSE).expect("spawned");
        ENDS.take();
        WRONG.set(wrong);
        let called = host.objects().call(fuse, "end_inside", &[]);
        WRONG.set(Wrong::Nothing);
        assert_eq!(called.is_ok(), wrong != Wrong::PanicsInside, "{called:?}");
        assert_eq!(ENDS.take(), [10], "the hook has the fields as the method left them");
        assert_eq!(FIELDS.get(), before, "the fields are dropped after the hook");
        host.safe_point();
        assert!(ENDS.take().is_empty(), "the hook runs once");
    }
}

#[test]
fn the_hook_of_an_object_that_is_destroyed_while_its_fields_are_lent_runs_immediately() {
    let host = host();
    let before = FIELDS.get();
    let fuse = host.objects().spawn(FUSE).expect("spawned");
    ENDS.take();
    assert_eq!(host.objects().call(fuse, "end_while_lent", &[]).expect("called"), Some(Value::I32(1)));
    assert_eq!((ENDS.take(), FIELDS.get()), (vec![0], before));
}

#[test]
fn the_fields_end_when_a_reload_moves_the_object_to_another_native_class() {
    let package = Package::new("Tale", &[("Spark.uc", "class Spark extends Fuse;\n")]);
    let host = host_of(builder().natives(natives![Fuse]), &package);
    let spark = host.objects().spawn("/Script/Tale.Spark").expect("spawned");
    let count = || host.objects().call(spark, "count", &[]);
    assert_eq!([count(), count()].map(|count| count.expect("it counts")), [1, 2].map(|count| Some(Value::I32(count))));
    let before = FIELDS.get();
    ENDS.take();
    package.edit("Spark.uc", "extends Fuse", "extends Actor");
    reload_of(&host, &package);
    assert!(count().is_err());
    assert!(ENDS.take().contains(&2), "the hook has the fields of the object");
    assert_eq!(FIELDS.get(), before - 2, "the fields of the object and of the old class default object are dropped");
    package.edit("Spark.uc", "extends Actor", "extends Fuse");
    let armed = faults::arm(Fault { step: ReloadStep::BeforeCommit, nth: 0, kind: FaultKind::Error });
    let report = host.reload(std::slice::from_ref(&package.folder)).expect("a Master");
    assert!(armed.has_fired() && !report.is_committed());
    drop(armed);
    assert_eq!(FIELDS.get(), before - 2, "a rollback drops the new fields");
    reload_of(&host, &package);
    assert_eq!(count().expect("it counts"), Some(Value::I32(1)), "the fields are new");
    assert_eq!(FIELDS.get(), before);
    host.objects().destroy(spark);
    assert_eq!(FIELDS.get(), before - 1);
}

#[test]
fn the_fields_of_a_left_class_end_if_a_hook_of_the_reload_destroys_their_object() {
    let package = Package::new("Tale", &[("Spark.uc", "class Spark extends Fuse;\n")]);
    let host = builder().natives(natives![Fuse]).build().unwrap_or_else(|error| panic!("{error}"));
    HOST.set(Some(host.downgrade()));
    host.create_master(std::slice::from_ref(&package.folder)).unwrap_or_else(|error| panic!("{error}"));
    let sparks = [(); 2].map(|()| host.objects().spawn("/Script/Tale.Spark").expect("spawned"));
    for spark in sparks {
        host.objects().call(spark, "count", &[]).expect("it counts");
    }
    let before = FIELDS.get();
    ENDS.take();
    PARTNERS.set(sparks.to_vec());
    package.edit("Spark.uc", "extends Fuse", "extends Actor");
    reload_of(&host, &package);
    assert_eq!(sparks.iter().filter(|spark| host.objects().is_alive(**spark)).count(), 1);
    assert_eq!(ENDS.take().iter().filter(|calls| **calls == 1).count(), 2, "each object has one hook");
    assert_eq!(FIELDS.get(), before - 3, "the fields of both objects and of the old class default object are dropped");
}

#[test]
fn left_fields_end_with_a_subobject_that_the_returned_owner_lacks() {
    let package = Package::new("Tale", &[("Spark.uc", "class Spark extends Fuse;\n"), ("Lamp.uc", LAMP_TEXT)]);
    let host = host_of(builder().natives(natives![Fuse]), &package);
    let lamp = host.objects().spawn("/Script/Tale.Lamp").expect("spawned");
    let Value::Object(shade) = host.objects().get(lamp, "Shade").expect("a property") else { panic!("a reference") };
    assert_eq!(host.objects().call(shade, "count", &[]).expect("it counts"), Some(Value::I32(1)));
    package.remove("Lamp.uc");
    reload_of(&host, &package);
    assert!(host.objects().is_alive(shade), "the dormant owner keeps the subobject");
    let before = FIELDS.get();
    ENDS.take();
    package.edit("Spark.uc", "extends Fuse", "extends Actor");
    package.write("Lamp.uc", "class Lamp extends Actor;\n");
    reload_of(&host, &package);
    assert!(!host.objects().is_alive(shade));
    assert_eq!(ENDS.take().iter().filter(|calls| **calls == 1).count(), 1, "the hook has the fields of the subobject");
    assert_eq!(FIELDS.get(), before - 2, "the fields of the subobject and of the old class default object are dropped");
}
