//! Tests the conjugate functions. Calls the functions of the table with raw ABI values, as a module does.
#![expect(unsafe_code, reason = "calls the functions of the table, as a module does")]

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use alcedo_abi::call::{Failure, FailureKind, Status};
use alcedo_abi::handles::{BlackHandle, ConjugateHandle, TypeNumber};
use alcedo_abi::host::mode;
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::TextView;
use alcedo_abi::values::{ConjugateState, RawLocation, Site, color};
use alcedo_abi::zcall::{Slot, SlotType, ZCallBuffer, ZCallStatus};

use super::values;
use crate::boundary::CallError;
use crate::bridge::core::Core;
use crate::bridge::dynamic_call::{self, Effect};
use crate::conjugate::gate::{Gate, ModuleTag};
use crate::handles::{Generation, ModuleId, ObjectHandle, ZCallHandle};
use crate::host_api::HostContext;
use crate::lease::Leases;
use crate::object::decl::{ClassDecl, PropertyDecl};
use crate::object::origin::Origin;
use crate::object::testing::{declare, dynamic};
use crate::object::value::Value;

const MODULE: ModuleId = ModuleId(7);

/// A host with an object and a module. The object has a property `scores: Array(f64)`, and the module consists only of a gate.
struct Host {
    core: Rc<Core>,
    host_context: Box<HostContext>,
    gate: Rc<Gate>,
    object: ObjectHandle,
}

/// Fields that these tests check in a failure.
#[derive(PartialEq, Debug)]
struct Failed {
    kind: FailureKind,
    message: String,
    held: String,
    expected: String,
}

type Called<T> = Result<T, Failed>;

fn site() -> Site {
    Site { file: TextView::of("src/lib.rs"), line: 7 }
}

fn called<T>(value: T, call_host: impl FnOnce(&mut T, &mut Failure) -> Status) -> Called<T> {
    let (mut value, mut failure) = (value, Failure::none());
    match call_host(&mut value, &mut failure) {
        Status::OK => Ok(value),
        _ => {
            let Failure { kind, message, held, expected, .. } = failure;
            Err(Failed { kind, message: message.to_string(), held: held.to_string(), expected: expected.to_string() })
        }
    }
}

impl Host {
    fn new() -> Self {
        let core = Core::new().expect("a finalizer thread");
        let gate = Gate::new(ModuleTag { id: MODULE, name: "m".into(), generation: Generation(1) });
        core.owned_values.admit(&gate, Leases::new("m"));
        for package in ["Engine", "Game"] {
            core.world.types.declare_package(package);
        }
        declare(&core.world, [ClassDecl::new("Engine", "Object", "", Origin::Native)]);
        let scores = [PropertyDecl::new("scores", PropertyKind::ARRAY).of_type("f64")];
        let class = declare(&core.world, [dynamic("Board", "/Script/Engine.Object", &scores)]).remove(0);
        let object = core.world.objects.allocate(&class, None, ObjectHandle::NONE, 0);
        // SAFETY: no module is attached with this host context.
        let host_context = unsafe { HostContext::new(&core) };
        Self { core, host_context, gate, object }
    }

    fn ty(&self, words: &str) -> TypeNumber {
        self.core.value_types.number(&self.core.world.types, MODULE, words).expect("a type")
    }

    /// Returns the location of the property `scores` in the form that a view in a module stores.
    fn scores(&self) -> RawLocation {
        let class = self.core.world.objects.class(self.object).expect("it lives");
        let offset = class.find_property("scores").expect("a property").offset as usize;
        let at = self.core.world.objects.memory(self.object).expect("it lives").wrapping_add(offset);
        RawLocation { owner: self.object, at, ty: self.ty("Array(f64)") }
    }

    fn set_scores(&self, scores: &[f64]) {
        self.core.world.write(self.object, "scores", &array(scores)).expect("an array");
    }

    fn make(&self, words: &str, from: *const u8) -> Called<BlackHandle> {
        let (ty, none) = (self.ty(words), BlackHandle::NONE);
        called(none, |out, failure| {
            // SAFETY: this host created the host context. The tests pass null, or the address of a value of the type.
            unsafe { values().black_new()(self.host_context.to_ref(), MODULE.0, ty, from, &site(), out, failure) }
        })
    }

    fn drop_black(&self, black: BlackHandle) {
        // SAFETY: this host created the host context.
        unsafe { values().black_drop()(self.host_context.to_ref(), black) };
    }

    fn borrow_red(&self, location: RawLocation) -> Called<ConjugateHandle> {
        called(ConjugateHandle::NONE, |out, failure| {
            // SAFETY: this host created the host context. The tests pass values that outlive the frame, or expect an error.
            unsafe { values().conjugate_borrow()(self.host_context.to_ref(), &location, out, failure) }
        })
    }

    fn state(&self, conjugate: ConjugateHandle) -> Called<ConjugateState> {
        let none = ConjugateState { color: 0, expired: 0, kind: PropertyKind(0), older: 0, age: 0 };
        called(none, |out, failure| {
            // SAFETY: this host created the host context.
            unsafe { values().conjugate_state()(self.host_context.to_ref(), conjugate, out, failure) }
        })
    }

    fn open(&self, conjugate: ConjugateHandle) -> Called<RawLocation> {
        let none = RawLocation { owner: ObjectHandle::NONE, at: std::ptr::null_mut(), ty: TypeNumber::NONE };
        called(none, |out, failure| {
            // SAFETY: this host created the host context.
            unsafe { values().conjugate_open()(self.host_context.to_ref(), conjugate, out, failure) }
        })
    }

    fn open_as(&self, conjugate: ConjugateHandle, words: &str) -> Called<RawLocation> {
        let (ty, none) = (self.ty(words), TypeNumber::NONE);
        called(RawLocation { owner: ObjectHandle::NONE, at: std::ptr::null_mut(), ty: none }, |out, failure| {
            // SAFETY: this host created the host context.
            unsafe { values().conjugate_open_as()(self.host_context.to_ref(), conjugate, ty, out, failure) }
        })
    }

    /// Returns the name of the result kind of the call `name`.
    fn result_of(&self, name: &str) -> Result<&'static str, String> {
        let handle = self.core.zcalls.resolve(&self.core.chain, name, 0).expect("it leads somewhere");
        let kind = called(PropertyKind(0), |out, failure| {
            // SAFETY: this host created the host context.
            unsafe { values().zcall_result()(self.host_context.to_ref(), handle, out, failure) }
        });
        kind.map(|kind| kind.text().unwrap_or("nothing")).map_err(|failed| failed.message)
    }

    fn clone_of(&self, conjugate: ConjugateHandle) -> Called<BlackHandle> {
        called(BlackHandle::NONE, |out, failure| {
            // SAFETY: this host created the host context.
            unsafe {
                values().conjugate_clone()(self.host_context.to_ref(), MODULE.0, conjugate, &site(), out, failure)
            }
        })
    }

    fn read(&self, conjugate: ConjugateHandle) -> Value {
        crate::bridge::conjugates::copy(&self.core, conjugate).expect("it has not expired").0.read()
    }

    fn in_a_call<T>(&self, call: impl FnOnce() -> T) -> T {
        self.core.red.enter("m", &"a call".into(), || Ok::<_, CallError>(call())).expect("a frame may be opened")
    }
}

fn array(values: &[f64]) -> Value {
    Value::Array(values.iter().copied().map(Value::F64).collect())
}

#[test]
fn an_owned_value_is_an_independent_copy() {
    let host = Host::new();
    host.set_scores(&[1.0, 2.0]);
    let copy = host.make("Array(f64)", host.scores().at).expect("an array");
    let empty = host.make("Array(f64)", std::ptr::null()).expect("an array");
    host.set_scores(&[9.0]);
    assert_eq!(host.read(copy.into()), array(&[1.0, 2.0]));
    assert_eq!(host.read(empty.into()), array(&[]));
    assert!(host.open(copy.into()).is_ok_and(|location| location.at != host.scores().at));
    host.drop_black(copy);
    host.drop_black(empty);
    assert_eq!(host.core.owned_values.report().count(), 0);
    let refused = host.make("f64", std::ptr::null()).expect_err("a number has no conjugate");
    assert_eq!(refused.message, "f64 has no black conjugate: keep the value itself");
}

fn failed<T: std::fmt::Debug>(called: Called<T>) -> Failed {
    called.expect_err("it is refused")
}

#[test]
fn a_thread_may_drop_a_black_and_nothing_else() {
    let host = Host::new();
    let owned_values: Vec<_> = (0..800).map(|_| host.make("Utf8String", std::ptr::null()).expect("a text")).collect();
    let (host_context, ty) = (host.host_context.to_ref(), host.ty("Utf8String"));
    std::thread::scope(|scope| {
        for share in owned_values.chunks(100) {
            scope.spawn(move || {
                // SAFETY: the host created the host context, and outlives this thread.
                share.iter().for_each(|black| unsafe { values().black_drop()(host_context, *black) });
                let refused = called(BlackHandle::NONE, |out, failure| {
                    // SAFETY: the host context outlives this thread. A null pointer requests the initial value of the type.
                    unsafe { values().black_new()(host_context, MODULE.0, ty, std::ptr::null(), &site(), out, failure) }
                });
                assert_eq!(refused.expect_err("only the game thread makes one").kind, FailureKind::WRONG_THREAD);
            });
        }
    });
    assert_eq!(host.core.owned_values.report().count(), 800);
    host.core.owned_values.flush(&mut || Duration::ZERO);
    assert_eq!((host.core.owned_values.report().count(), host.core.owned_values.report().queued), (0, 0));
}

#[test]
fn a_red_ends_with_its_call_and_its_clone_does_not() {
    let host = Host::new();
    host.set_scores(&[4.0]);
    assert!(host.borrow_red(host.scores()).is_err(), "no call is open that could borrow it");
    let (red, black) = host.in_a_call(|| {
        let red = host.borrow_red(host.scores()).expect("a property");
        let state = host.state(red).expect("it was given out");
        assert_eq!((state.color, state.expired, state.kind), (color::RED, 0, PropertyKind::ARRAY));
        assert_eq!(host.open(red).map(|location| (location.owner, location.at)), Ok((host.object, host.scores().at)));
        (red, host.clone_of(red).expect("it is there"))
    });
    host.set_scores(&[]);
    let state = host.state(red).expect("it was given out");
    assert_eq!((state.color, state.expired, state.kind), (color::RED, 1, PropertyKind::ARRAY));
    let refused = failed(host.open(red));
    assert_eq!((refused.kind, refused.held.as_str()), (FailureKind::EXPIRED, "red Array"));
    assert!(refused.expected.ends_with(" s"), "{}", refused.expected);
    assert_eq!(failed(host.clone_of(red)).kind, FailureKind::EXPIRED);
    assert_eq!(host.read(black.into()), array(&[4.0]));
    let state = host.state(black.into()).expect("it was given out");
    assert_eq!((state.color, state.expired), (color::BLACK, 0));
    assert_eq!(failed(host.state(ConjugateHandle(12_345))).kind, FailureKind::NOT_FOUND);
}

#[test]
fn a_borrow_of_a_destroyed_object_expires_before_its_memory_is_freed() {
    let host = Host::new();
    host.in_a_call(|| {
        let red = host.borrow_red(host.scores()).expect("a property");
        assert!(host.open(red).is_ok());
        host.core.end_object(host.object).expect("it lives");
        assert_eq!(failed(host.open(red)).kind, FailureKind::EXPIRED);
        assert_eq!(host.state(red).map(|state| state.expired), Ok(1));
    });
}

#[test]
fn only_a_property_of_its_owner_is_borrowed() {
    let host = Host::new();
    host.in_a_call(|| {
        let scores = host.scores();
        let inside = RawLocation { at: scores.at.wrapping_add(8), ..scores };
        let other_type = RawLocation { ty: host.ty("Array(i32)"), ..scores };
        let far_off = RawLocation { at: std::ptr::without_provenance_mut(8), ..scores };
        for location in [inside, other_type, far_off] {
            assert_eq!(failed(host.borrow_red(location)).kind, FailureKind::NOT_FOUND, "{location:?}");
        }
        assert!(host.borrow_red(scores).is_ok());
    });
}

#[test]
fn set_aside_a_black_has_expired_and_taken_back_it_has_not() {
    let host = Host::new();
    let black = host.make("Set(Name)", std::ptr::null()).expect("a set");
    let state = |expired| Ok((color::BLACK, expired, PropertyKind::SET));
    let observed = || host.state(black.into()).map(|state| (state.color, state.expired, state.kind));
    assert_eq!(observed(), state(0));
    host.gate.close();
    assert_eq!(observed(), state(1));
    assert_eq!(failed(host.open(black.into())).held, "black Set");
    host.gate.reopen();
    assert_eq!(observed(), state(0));
    host.core.owned_values.end_modules(&BTreeSet::from([MODULE]));
    assert_eq!(observed(), state(1));
    host.drop_black(black);
    assert_eq!(failed(host.make("Set(Name)", std::ptr::null())).kind, FailureKind::UNAVAILABLE);
}

fn slot(conjugate: ConjugateHandle) -> Slot {
    Slot::from_bits(SlotType::CONJUGATE, conjugate.0)
}

fn call(host: &Host, name: &str, slots: &mut [Slot]) -> (ZCallStatus, Failure) {
    let handle = host.core.zcalls.resolve(&host.core.chain, name, 0).expect("it is registered");
    let (mut failure, mut buffer) = (Failure::none(), ZCallBuffer { slots: slots.as_mut_ptr(), len: slots.len() });
    // SAFETY: this host created the host context, and the buffer borrows the slots for the call.
    let status =
        unsafe { values().conjugate_zcall()(host.host_context.to_ref(), MODULE.0, handle, &mut buffer, &mut failure) };
    (status, failure)
}

#[test]
fn an_untyped_call_passes_conjugates_and_receives_owned_values() {
    let host = Host::new();
    host.set_scores(&[1.0, 2.0, 4.0]);
    let signature = "Array(f64), f64 -> Array(f64)".parse().expect("a signature");
    let body: dynamic_call::Body = Rc::new(|arguments| match arguments {
        [Value::Array(values), Value::F64(times)] => {
            let value =
                |value: &Value| if let Value::F64(value) = value { Value::F64(value * times) } else { value.clone() };
            Ok(Some(Value::Array(values.iter().map(value).collect())))
        }
        other => panic!("{other:?}"),
    });
    dynamic_call::register(&host.core, "scale", signature, Effect::Any, body).expect("the name is free");
    let three = Slot::from_bits(SlotType::F64, 3.0_f64.to_bits());
    let red = host.in_a_call(|| {
        let red = host.borrow_red(host.scores()).expect("a property");
        let mut slots = [slot(red), three, Slot::EMPTY];
        let (status, failure) = call(&host, "ex:/scale", &mut slots);
        assert_eq!((status, failure.message.as_str()), (ZCallStatus::SUCCESS, ""));
        let returned = ConjugateHandle(slots[2].bits());
        assert_eq!(host.state(returned).map(|state| state.color), Ok(color::BLACK));
        assert_eq!(host.read(returned), array(&[3.0, 6.0, 12.0]));
        // Passes the result of the first call as an argument of the next call.
        let mut slots = [slot(returned), three, Slot::EMPTY];
        assert_eq!(call(&host, "ex:/scale", &mut slots).0, ZCallStatus::SUCCESS);
        assert_eq!(host.read(ConjugateHandle(slots[2].bits())), array(&[9.0, 18.0, 36.0]));
        red
    });
    let mut slots = [slot(red), three, Slot::EMPTY];
    let (status, failure) = call(&host, "ex:/scale", &mut slots);
    assert_eq!((status, failure.kind), (ZCallStatus::DISPATCHER_ERROR, FailureKind::EXPIRED));
    assert_eq!(failure.held.as_str(), "red Array");
    let text = host.make("String", std::ptr::null()).expect("a text");
    let mut slots = [slot(text.into()), three, Slot::EMPTY];
    let (status, failure) = call(&host, "ex:/scale", &mut slots);
    assert_eq!(status, ZCallStatus::BUFFER_ERROR);
    assert_eq!(
        failure.message.as_str(),
        "`ex:/scale`: slot 0 holds a conjugate of String, the call expects Array(f64)"
    );
    let mut slots = [three];
    assert_eq!(call(&host, "ex:/scale", &mut slots).0, ZCallStatus::BUFFER_ERROR);
    assert_eq!(host.core.owned_values.report().count(), 3);
}

#[test]
fn a_conjugate_is_opened_as_what_it_is_and_as_nothing_else() {
    let host = Host::new();
    let black = ConjugateHandle::from(host.make("Array(f64)", std::ptr::null()).expect("an array"));
    let opened = host.open_as(black, "Array(f64)").expect("it is one");
    assert_eq!((opened.at, opened.ty), (host.open(black).expect("it is there").at, host.ty("Array(f64)")));
    let refused = failed(host.open_as(black, "Array(i64)"));
    assert_eq!(refused.kind, FailureKind::SIGNATURE);
    assert_eq!((&*refused.held, &*refused.expected), ("Array(f64)", "Array(i64)"));
    assert_eq!(failed(host.open_as(ConjugateHandle(u64::MAX), "Array(f64)")).kind, FailureKind::NOT_FOUND);
    host.gate.close();
    let refused = host.open_as(black, "Array(f64)");
    host.gate.reopen();
    assert_eq!(failed(refused).kind, FailureKind::EXPIRED);
}

#[test]
fn the_result_type_is_known_before_the_call() {
    let host = Host::new();
    for (name, signature) in [("give", "f64 -> Array(f64)"), ("count", "Array(f64) -> u32"), ("hear", "String")] {
        let body: dynamic_call::Body = Rc::new(|_| panic!("never called"));
        dynamic_call::register(&host.core, name, signature.parse().expect("a signature"), Effect::Any, body)
            .expect("a free name");
    }
    let results = ["ex:/give", "ex:/count", "ex:/hear"].map(|name| host.result_of(name));
    assert_eq!(results, [Ok("Array"), Ok("u32"), Ok("nothing")]);
    assert!(host.result_of("nd:/").is_err(), "only the delegate knows");
    let dead = called(PropertyKind(0), |out, failure| {
        // SAFETY: this host created the host context.
        unsafe { values().zcall_result()(host.host_context.to_ref(), ZCallHandle::NONE, out, failure) }
    });
    assert_ne!(failed(dead).kind, FailureKind::NONE);
}

#[test]
fn a_module_without_objects_has_no_conjugates() {
    let host = Host::new();
    let host_context = crate::host_api::SharedHostContext::without_core(&host.core);
    let refused = called(ConjugateHandle::NONE, |out, failure| {
        // SAFETY: this host created the host context.
        unsafe { values().conjugate_borrow()(host_context.to_ref(), &host.scores(), out, failure) }
    });
    assert!(refused.expect_err("it has no core").message.contains("a Slim has no objects"));
    assert_eq!(Arc::strong_count(&host_context), 1);
}

#[test]
fn a_mapped_module_finds_no_object_and_no_value_after_the_end_of_its_host() {
    let host = Host::new();
    host.make("Utf8String", std::ptr::null()).expect("a text");
    let (context, _) = host.host_context.lasting(&host.core, MODULE, Generation(1)).into_parts();
    let counts = || {
        // SAFETY: the host context owns the head and exists, and no code writes the head during the read.
        let objects = unsafe { context.directory.read() };
        // SAFETY: the host context owns the head and exists, and no code writes the head during the read.
        let values = unsafe { context.owned_values.read() };
        (objects.len, values.len)
    };
    let (objects, values) = counts();
    assert!(objects > 0 && values > 0);
    let Host { core, host_context, .. } = host;
    let fast_paths = Rc::clone(&core.fast_paths);
    drop(core);
    assert_eq!(counts(), (0, 0));
    // SAFETY: the host context owns the word.
    let word = unsafe { &*context.mode };
    assert_eq!(word.load(Ordering::Relaxed), mode::NORMAL);
    drop((fast_paths, host_context));
}
