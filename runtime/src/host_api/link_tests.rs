//! Tests references and delegates. Calls the functions of the table with raw ABI values, as a module does.
#![expect(unsafe_code, reason = "calls the functions of the table, as a module does")]

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use alcedo_abi::call::{Failure, FailureKind, Status};
use alcedo_abi::handles::{ConjugateHandle, TypeNumber};
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::{ArrayRaw, TextView};
use alcedo_abi::values::RawLocation;
use alcedo_abi::zcall::{Slot, SlotType, ZCallBuffer, ZCallStatus};

use super::values;
use crate::boundary::CallError;
use crate::bridge::conjugates;
use crate::bridge::core::Core;
use crate::conjugate::gate::{Gate, ModuleTag};
use crate::handles::{ClassId, Generation, ModuleId, Name, ObjectHandle};
use crate::host_api::HostContext;
use crate::lease::Leases;
use crate::object::World;
use crate::object::decl::{ClassDecl, FunctionDecl, PropertyDecl};
use crate::object::origin::Origin;
use crate::object::owned::OwnedValue;
use crate::object::property::PropertyType;
use crate::object::testing::{declare, native_thunk};
use crate::object::thunk::Frame;
use crate::object::value::Value;
use crate::object::values::ptr::Ptr;
use crate::zcall::buffer::BufferMut;

const MODULE: ModuleId = ModuleId(7);

thread_local! {
    static RECEIVED: RefCell<Vec<(ObjectHandle, i32)>> = const { RefCell::new(Vec::new()) };
    static DURING_CALL: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

fn hear(_: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let number = frame.take::<i32>()?;
    frame.finish()?;
    RECEIVED.with_borrow_mut(|received| received.push((frame.object(), number)));
    if let Some(during_call) = DURING_CALL.take() {
        during_call();
    }
    Ok(())
}

fn double(_: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let number = frame.take::<i32>()?;
    frame.finish()?;
    frame.set_result(number * 2)
}

/// A host with a module that consists only of a gate, and with two objects that record and double numbers.
struct Host {
    core: Rc<Core>,
    host_context: Box<HostContext>,
    _gate: Rc<Gate>,
    ears: [ObjectHandle; 2],
}

impl Host {
    fn new() -> Self {
        let core = Core::new().expect("a finalizer thread");
        let gate = Gate::new(ModuleTag { id: MODULE, name: "m".into(), generation: Generation(1) });
        core.owned_values.admit(&gate, Leases::new("m"));
        core.world.types.declare_package("Engine");
        let number = || PropertyDecl::new("number", PropertyKind::I32);
        let hearing = FunctionDecl { params: vec![number()], ..FunctionDecl::new("hear", native_thunk(hear)) };
        let result = PropertyDecl::result(PropertyKind::I32);
        let doubling =
            FunctionDecl { params: vec![number(), result], ..FunctionDecl::new("double", native_thunk(double)) };
        let ear =
            ClassDecl { functions: vec![hearing, doubling], ..ClassDecl::new("Engine", "Ear", "", Origin::Native) };
        let class = declare(&core.world, [ear]).remove(0);
        let ears = [(); 2].map(|()| core.world.objects.allocate(&class, None, ObjectHandle::NONE, 0));
        // SAFETY: no module is attached with this host context.
        let host_context = unsafe { HostContext::new(&core) };
        RECEIVED.take();
        Self { core, host_context, _gate: gate, ears }
    }

    fn ty(&self, words: &str) -> TypeNumber {
        self.core.value_types.number(&self.core.world.types, MODULE, words).expect("a type")
    }

    /// Creates a value of the type `words`. The module owns the value.
    fn black(&self, words: &str) -> (ConjugateHandle, RawLocation) {
        let ty = self.core.value_types.get(self.ty(words)).expect("a type");
        let made = self.core.owned_values.make(MODULE, self.ty(words), OwnedValue::zero(ty), None, Instant::now());
        let handle = made.expect("a black").into();
        let at = self.core.owned_values.open(handle).expect("it is there").at;
        (handle, RawLocation { owner: ObjectHandle::NONE, at, ty: self.ty(words) })
    }

    fn call_host(&self, call_host: impl FnOnce(&mut Failure) -> Status) -> Result<(), FailureKind> {
        let mut failure = Failure::none();
        match call_host(&mut failure) {
            Status::OK => Ok(()),
            _ => Err(failure.kind),
        }
    }

    fn bind(&self, location: &RawLocation, object: ObjectHandle, function: &str) -> Result<(), FailureKind> {
        self.call_host(|failure| {
            // SAFETY: this host created the host context, and the location refers to an existing value of the module.
            unsafe {
                values().delegate_bind()(self.host_context.to_ref(), location, object, TextView::of(function), failure)
            }
        })
    }

    fn unbind(&self, location: &RawLocation, object: ObjectHandle, function: &str) -> u32 {
        let mut count = 0;
        let called = self.call_host(|failure| {
            let function = TextView::of(function);
            // SAFETY: this host created the host context, and the location refers to an existing value of the module.
            unsafe {
                values().delegate_unbind()(self.host_context.to_ref(), location, object, function, &mut count, failure)
            }
        });
        called.expect("a delegate");
        count
    }

    /// Inserts `count` empty values at the front of an array.
    fn put_in_front(&self, array: &RawLocation, count: u32) {
        let called = self.call_host(|failure| {
            // SAFETY: this host created the host context, and the location refers to an existing value of the module.
            unsafe { values().array_splice()(self.host_context.to_ref(), array, 0, 0, count, failure) }
        });
        called.expect("there is room");
    }

    /// Returns the location of the array element at `index`; `words` is the element type.
    fn value_of(&self, array: &RawLocation, words: &str, index: usize) -> RawLocation {
        let ty = self.ty(words);
        let size = self.core.value_types.get(ty).expect("a type").size();
        // SAFETY: the location refers to an existing array.
        let data = unsafe { (*array.at.cast::<ArrayRaw>()).data };
        RawLocation { owner: ObjectHandle::NONE, at: data.wrapping_add(index * size), ty }
    }

    fn call(&self, location: &RawLocation, slots: &mut [Slot]) -> Result<(), FailureKind> {
        let mut buffer = ZCallBuffer { slots: slots.as_mut_ptr(), len: slots.len() };
        let mut failure = Failure::none();
        // SAFETY: this host created the host context, the location refers to an existing value of the module, and the slots outlive the
        // call.
        let status =
            unsafe { values().delegate_call()(self.host_context.to_ref(), location, &mut buffer, &mut failure) };
        if status == ZCallStatus::SUCCESS { Ok(()) } else { Err(failure.kind) }
    }
}

fn number(value: i32) -> Slot {
    Slot::from_bits(SlotType::I32, value as u32 as u64)
}

#[test]
fn a_module_binds_calls_and_unbinds() {
    let host = Host::new();
    let [one, two] = host.ears;
    let (_, location) = host.black("MulticastDelegate(i32)");
    assert_eq!(host.bind(&location, one, "hear"), Ok(()));
    assert_eq!(host.bind(&location, two, "hear"), Ok(()));
    assert_eq!(host.bind(&location, two, "double"), Err(FailureKind::SIGNATURE));
    assert_eq!(host.bind(&location, two, "see"), Err(FailureKind::NOT_FOUND));
    assert_eq!(host.call(&location, &mut [number(5)]), Ok(()));
    assert_eq!(RECEIVED.take(), [(two, 5), (one, 5)]);
    assert_eq!(host.call(&location, &mut []), Err(FailureKind::BUFFER));
    host.core.world.objects.release(two);
    assert_eq!(host.call(&location, &mut [number(6)]), Ok(()));
    assert_eq!(RECEIVED.take(), [(one, 6)]);
    assert_eq!(host.unbind(&location, ObjectHandle::NONE, ""), 1, "the other went with its object");
    assert_eq!(host.call(&location, &mut [number(7)]), Ok(()));
    assert_eq!(RECEIVED.take(), []);
}

/// Binds two objects to the first delegate of an array, and calls the delegate. The first called function runs `during_call`, which changes
/// the host and the array. `is_called` is `true` if the delegate must still call the second object.
fn check_while_called(kind: &str, during_call: fn(&Host, &RawLocation, &str), is_called: bool) {
    let host = Rc::new(Host::new());
    let [one, two] = host.ears;
    let (_, array) = host.black(&format!("Array({kind})"));
    host.put_in_front(&array, 1);
    let delegate = host.value_of(&array, kind, 0);
    host.bind(&delegate, one, "hear").expect("it fits");
    host.bind(&delegate, two, "hear").expect("it fits");
    let (inside, words) = (Rc::clone(&host), kind.to_owned());
    DURING_CALL.set(Some(Box::new(move || during_call(&inside, &array, &words))));
    assert_eq!(host.call(&delegate, &mut [number(5)]), Ok(()));
    let expected = if is_called { vec![(two, 5), (one, 5)] } else { vec![(two, 5)] };
    assert_eq!(RECEIVED.take(), expected, "{kind}");
}

#[test]
fn listeners_unbound_during_a_move_are_not_called() {
    for kind in ["MulticastDelegate(i32)", "SparseDelegate(i32)"] {
        let moves = |host: &Host, array: &RawLocation, kind: &str| {
            host.put_in_front(array, 99);
            assert_eq!(host.unbind(&host.value_of(array, kind, 99), host.ears[0], "hear"), 1);
        };
        check_while_called(kind, moves, false);
    }
}

#[test]
fn listeners_that_an_overwrite_removes_are_not_called() {
    for kind in ["MulticastDelegate(i32)", "SparseDelegate(i32)"] {
        let overwrites = |host: &Host, array: &RawLocation, kind: &str| {
            let ((_, unbound), called) = (host.black(kind), host.value_of(array, kind, 0));
            let copied = host.call_host(|failure| {
                // SAFETY: the location and the address are of delegates of the same type.
                unsafe { values().copy()(host.host_context.to_ref(), &called, unbound.at, failure) }
            });
            assert_eq!(copied, Ok(()));
        };
        check_while_called(kind, overwrites, false);
        let clears = |host: &Host, array: &RawLocation, kind: &str| {
            let called = host.value_of(array, kind, 0);
            let cleared = host.call_host(|failure| {
                // SAFETY: the location refers to a delegate in an existing array of the module.
                unsafe { values().clear()(host.host_context.to_ref(), &called, failure) }
            });
            assert_eq!(cleared, Ok(()));
        };
        check_while_called(kind, clears, false);
    }
}

#[test]
fn listeners_that_a_write_to_a_conjugate_removes_are_not_called() {
    let host = Rc::new(Host::new());
    let [one, two] = host.ears;
    let (handle, delegate) = host.black("MulticastDelegate(i32)");
    for ear in [one, two] {
        host.bind(&delegate, ear, "hear").expect("it fits");
    }
    let inside = Rc::clone(&host);
    DURING_CALL.set(Some(Box::new(move || {
        let none = Value::Multicast(Vec::new());
        conjugates::write(&inside.core, handle, &none).expect("it fits");
    })));
    assert_eq!(host.call(&delegate, &mut [number(5)]), Ok(()));
    assert_eq!(RECEIVED.take(), [(two, 5)]);
}

#[test]
fn listeners_unbound_from_another_delegate_are_called() {
    for kind in ["MulticastDelegate(i32)", "SparseDelegate(i32)"] {
        // A new delegate is stored at the address of the called delegate.
        let replaces_it = |host: &Host, array: &RawLocation, kind: &str| {
            host.put_in_front(array, 1);
            let other = host.value_of(array, kind, 0);
            host.bind(&other, host.ears[0], "hear").expect("it fits");
            assert_eq!(host.unbind(&other, host.ears[0], "hear"), 1);
        };
        check_while_called(kind, replaces_it, true);
        let is_a_copy = |host: &Host, array: &RawLocation, kind: &str| {
            host.put_in_front(array, 1);
            let (copy, called) = (host.value_of(array, kind, 0), host.value_of(array, kind, 1));
            let copied = host.call_host(|failure| {
                // SAFETY: both locations are of values in the array.
                unsafe { values().copy()(host.host_context.to_ref(), &copy, called.at, failure) }
            });
            assert_eq!((copied, host.unbind(&copy, host.ears[0], "hear")), (Ok(()), 1));
        };
        check_while_called(kind, is_a_copy, true);
    }
}

#[test]
fn a_single_delegate_writes_its_result_to_the_last_slot() {
    let host = Host::new();
    let (_, location) = host.black("Delegate(i32 -> i32)");
    let mut slots = [number(21), Slot::from_bits(SlotType::EMPTY, 0)];
    assert_eq!(host.call(&location, &mut slots), Err(FailureKind::NOT_FOUND));
    assert_eq!(host.bind(&location, host.ears[0], "double"), Ok(()));
    assert_eq!(host.call(&location, &mut slots), Ok(()));
    assert_eq!(slots[1].bits() as u32, 42);
}

#[test]
fn nd_calls_the_delegate_whose_conjugate_is_in_the_first_slot() {
    let host = Host::new();
    let (conjugate, location) = host.black("Delegate(i32 -> i32)");
    host.bind(&location, host.ears[0], "double").expect("it fits");
    let (core, empty) = (&host.core, Slot::from_bits(SlotType::EMPTY, 0));
    let handle = core.zcalls.resolve(&core.chain, "nd:/", 0).expect("a resolver for it");
    let call = |slots: &mut [Slot]| {
        let mut raw = ZCallBuffer { slots: slots.as_mut_ptr(), len: slots.len() };
        // SAFETY: the slots outlive the call, and `nd` dereferences no pointer in a slot.
        let buffer = unsafe { BufferMut::from_raw(&mut raw) };
        core.zcalls.dispatch(core.here(), handle, buffer).1
    };
    let first = |handle: ConjugateHandle| Slot::from_bits(SlotType::CONJUGATE, handle.0);
    let mut slots = [first(conjugate), number(8), empty];
    assert_eq!(call(&mut slots), Ok(()));
    assert_eq!(slots[2].bits() as u32, 16);
    assert!(
        matches!(call(&mut [first(conjugate), number(8)]), Err(CallError::Buffer { .. })),
        "no slot for the result"
    );
    assert!(call(&mut [first(ConjugateHandle(u64::MAX)), number(8), empty]).is_err(), "no such conjugate");
    core.world.objects.release(host.ears[0]);
    for _ in 0..2 {
        let error = call(&mut [first(conjugate), number(8), empty]).expect_err("its object is destroyed").to_string();
        assert!(error.contains("is bound to a destroyed object"), "{error}");
    }
    let (no_delegate, _) = host.black("Array(i32)");
    assert!(matches!(call(&mut [first(no_delegate), number(8), empty]), Err(CallError::Signature { .. })));
}

#[test]
fn references_classes_and_fields_are_assigned_and_resolved() {
    let host = Host::new();
    let ear = host.ears[0];
    for kind in ["SoftObject", "LazyObject", "WeakObject"] {
        let (_, location) = host.black(&format!("{kind}(/Script/Engine.Ear)"));
        let resolve = || {
            let mut found = ObjectHandle::NONE;
            let called = host.call_host(|failure| {
                // SAFETY: this host created the host context, and the location refers to an existing value of the module.
                unsafe {
                    values().reference_resolve()(
                        host.host_context.to_ref(),
                        location.ty,
                        location.at,
                        &mut found,
                        failure,
                    )
                }
            });
            called.map(|()| found)
        };
        assert_eq!(resolve(), Ok(ObjectHandle::NONE), "{kind}");
        let assigned = host.call_host(|failure| {
            // SAFETY: this host created the host context, and the location refers to an existing value of the module.
            unsafe { values().reference_assign()(host.host_context.to_ref(), &location, ear, failure) }
        });
        assert_eq!((assigned, resolve()), (Ok(()), Ok(ear)), "{kind}");
    }
    let (_, class) = host.black("SubclassOf(/Script/Engine.Ear)");
    let assign = |path: Name| {
        host.call_host(|failure| {
            // SAFETY: this host created the host context, and the location refers to an existing value of the module.
            unsafe { values().class_assign()(host.host_context.to_ref(), &class, path, failure) }
        })
    };
    let path = |text: &str| host.core.world.names.intern(text);
    assert_eq!(assign(path("/Script/Engine.Nose")), Err(FailureKind::NOT_FOUND));
    assert_eq!(assign(path("/Script/Engine.Ear")), Ok(()));
    let mut found = ClassId::NONE;
    let resolved = host.call_host(|failure| {
        // SAFETY: this host created the host context, and the location refers to an existing value of the module.
        unsafe { values().class_resolve()(host.host_context.to_ref(), class.ty, class.at, &mut found, failure) }
    });
    assert_eq!((resolved, found), (Ok(()), host.core.world.objects.class(ear).expect("it lives").id));
    let (_, field) = host.black("FieldPath");
    let none = host.call_host(|failure| {
        let path = TextView::of("/Script/Engine.Ear:size");
        // SAFETY: this host created the host context, and the location refers to an existing value of the module.
        unsafe { values().field_assign()(host.host_context.to_ref(), &field, path, failure) }
    });
    assert_eq!(none, Err(FailureKind::NOT_FOUND));
    // SAFETY: the location refers to an existing field path.
    let kept = unsafe { Ptr::new(field.at, &PropertyType::FieldPath) }.read();
    assert_eq!(kept, Value::FieldPath(Name(0)), "what was refused is not written");
}

#[test]
fn a_collection_inside_a_call_is_refused_and_done_later() {
    let host = Host::new();
    let refused = host.call_host(|failure| {
        // SAFETY: this host created the host context.
        unsafe { values().collect()(host.host_context.to_ref(), failure) }
    });
    assert_eq!(refused, Err(FailureKind::UNAVAILABLE));
    assert!(host.core.collection.take().is_some(), "the next safe point does it");
}
