//! Tests foreign Rust types as arguments and results. Some types refuse a value, declare another type, or run code during their conversion.
//! Also tests that kept functions cannot move to another thread.

use std::cell::RefCell;
use std::rc::Rc;

use alcedo_runtime::CallError;
use alcedo_runtime::host::{
    BatchFunction, HostValue, HotFunction, NativeValue, ObjectList, TypedFunction, TypedProperty,
};
use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{Obj, Object};

use super::{HORSE, Kept, host, obj, reload, spawn};

/// Foreign number type that refuses numbers of 100 or more.
#[derive(Debug)]
struct Picky(i32);

impl HostValue for Picky {
    type Raw = i32;

    fn from_raw(raw: i32) -> Self {
        if raw >= 100 {
            alcedo_runtime::native::__private::fail(CallError::other(format!("{raw} is too much")));
        }
        Self(raw)
    }

    fn into_raw(self) -> i32 {
        self.0
    }
}

#[test]
fn a_value_rejected_by_its_type_is_a_read_error() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    let mood: TypedProperty<Picky> = host.property("up:/Script/Game.Horse:mood").expect("it is there");
    for _ in 0..3 {
        mood.set(horse, Picky(7)).expect("written");
        assert_eq!(mood.get(horse).expect("read").0, 7);
        kept.mood.set(horse, 100).expect("written");
        let error = mood.get(horse).expect_err("too much").to_string();
        assert!(error.contains("100 is too much"), "{error}");
    }
}

/// `i32` that declares itself as `f64`.
#[derive(Debug)]
struct Liar(i32);

impl NativeValue for Liar {
    type Literal = i32;
    const KIND: PropertyKind = PropertyKind::F64;
    const TYPE_PATH: &'static str = "";
}

impl HostValue for Liar {
    type Raw = i32;

    fn from_raw(raw: i32) -> Self {
        Self(raw)
    }

    fn into_raw(self) -> i32 {
        self.0
    }
}

#[test]
fn a_type_with_a_false_declaration_receives_no_foreign_slots() {
    let host = host();
    let horse = spawn(&host, HORSE);
    let name = "uf:/Script/Game.Horse:degrees";
    let refused = host.batch::<(), Liar>(name).expect_err("it is not an `f64`").to_string();
    assert!(refused.contains("degrees"), "{refused}");
    let degrees: TypedFunction<(Obj<Object>,), Liar> = host.function(name).expect("it says so");
    for _ in 0..3 {
        assert!(degrees.call((obj(horse),)).is_err(), "it is no `f64`");
    }
}

thread_local! {
    /// Callback that runs while an argument is converted.
    static AS_ARGUMENT: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
}

/// Number that runs an action when it is converted.
struct Busy(i32);

impl NativeValue for Busy {
    type Literal = i32;
    const KIND: PropertyKind = PropertyKind::I32;
    const TYPE_PATH: &'static str = "";
}

impl HostValue for Busy {
    type Raw = i32;

    fn from_raw(raw: i32) -> Self {
        Self(raw)
    }

    fn into_raw(self) -> i32 {
        if let Some(code) = AS_ARGUMENT.take() {
            code();
        }
        self.0
    }
}

#[test]
fn a_call_notices_objects_destroyed_or_reloaded_while_converting_arguments() {
    let host = host();
    let horses: Vec<_> = (0..4).map(|_| spawn(&host, HORSE)).collect();
    let (kept, list) = (Kept::of(&host), ObjectList::from(horses.clone()));
    let answers = host.batch::<(Busy,), i32>("uf:/Script/Game.Horse:answer").expect("it is there");
    assert_eq!(answers.call_list(&list, (Busy(7),)).expect("called").called, 4);
    for (gone, build) in [(1, 2), (2, 1), (3, 2)] {
        let (inner, victim) = (host.downgrade(), horses[gone]);
        AS_ARGUMENT.set(Some(Rc::new(move || {
            let host = inner.upgrade().expect("it is there");
            host.objects().destroy(victim);
            reload(&host, build);
        })));
        let report = if gone == 2 {
            answers.call_list(&list, (Busy(7),)).expect("called")
        } else {
            let (results, report) = answers.collect(&horses, (Busy(7),)).expect("called");
            assert_eq!(results[0], Some(build as i32 * 1000 + 7));
            report
        };
        assert_eq!((report.called, report.ended, report.failed.len()), (4 - gone, gone, 0), "{report:?}");
    }
    // The second write destroys the object while the value is converted. The write locates the property after the conversion, so it fails.
    let mood: TypedProperty<Busy> = host.property("up:/Script/Game.Horse:mood").expect("it is there");
    mood.set(horses[0], Busy(3)).expect("written");
    let (inner, horse) = (host.downgrade(), horses[0]);
    AS_ARGUMENT.set(Some(Rc::new(move || {
        let host = inner.upgrade().expect("it is there");
        host.objects().destroy(horse);
        host.safe_point();
    })));
    let refused = mood.set(horse, Busy(4)).expect_err("it is gone").to_string();
    assert!(refused.contains("is gone"), "{refused}");
    drop(kept);
}

/// Fails to compile if the type is `Send`, because then both implementations of the trait apply.
macro_rules! assert_thread_bound {
    ($($ty:ty),* $(,)?) => {$({
        trait IsSent<Marker> {
            fn found() {}
        }
        impl<T: ?Sized> IsSent<()> for T {}
        struct IsImplemented;
        impl<T: ?Sized + Send> IsSent<IsImplemented> for T {}
        <$ty as IsSent<_>>::found();
        trait IsShared<Marker> {
            fn found() {}
        }
        impl<T: ?Sized> IsShared<()> for T {}
        impl<T: ?Sized + Sync> IsShared<IsImplemented> for T {}
        <$ty as IsShared<_>>::found();
    })*};
}

#[test]
fn cached_host_handles_do_not_compile_on_another_thread() {
    assert_thread_bound!(
        TypedFunction<(i32,), i32>,
        HotFunction<'static, (i32,), i32>,
        TypedProperty<i32>,
        BatchFunction<(i32,), i32>,
    );
}
