//! Tests references by name, path or id: delegates and every kind of reference, across reloads and in saved worlds. The references belong
//! to objects of native classes, so these tests cover the host. Other tests cover references in plugins.

use crate::support;

use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::rc::Rc;

use alcedo_runtime::host::DelegateOf;
use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{
    Binding, CallError, Error, Frame, MulticastDelegate, ObjectHandle, RenameError, Runtime, SparseDelegate, Value,
    World,
};
use expect_test::{Expect, expect};

const HUB: &str = "/Script/Test.Hub";
const EAR: &str = "/Script/Test.Ear";
const ACTOR: &str = "/Script/Engine.Actor";
const SHAPESHIFTER: &str = "/Script/Game.Shapeshifter";

type OnCall = Rc<dyn Fn(&Runtime, ObjectHandle)>;

thread_local! {
    /// Received calls, each with the name of the object that received the call.
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// Closure that a receiver runs during a call.
    static DOES: RefCell<Option<(Runtime, OnCall)>> = const { RefCell::new(None) };
}

fn hear(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let message: String = frame.take()?;
    frame.finish()?;
    let name = world.name_of(frame.object()).unwrap_or_default();
    LOG.with_borrow_mut(|log| log.push(format!("{name}: {message}")));
    if let Some((host, does)) = DOES.with_borrow(Clone::clone) {
        does(&host, frame.object());
    }
    Ok(())
}

fn complain(_: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let message: String = frame.take()?;
    frame.finish()?;
    Err(CallError::other(format!("{message} is too loud")))
}

fn natives() -> Natives {
    let text = (PropertyKind::STRING, "");
    let hub = NativeClass::new("Test", "Hub", "/Script/Core.Object")
        .property("single", (PropertyKind::DELEGATE, "String -> String"), 0, "")
        .property("shift", (PropertyKind::DELEGATE, "-> String"), 0, "")
        .property("reported", (PropertyKind::MULTICAST_DELEGATE, "String"), 0, "")
        .property("rarely", (PropertyKind::SPARSE_DELEGATE, "String"), 0, "")
        .property("all", (PropertyKind::ARRAY, "Delegate(-> String)"), 0, "")
        .property("soft", (PropertyKind::SOFT_OBJECT, ACTOR), 0, "")
        .property("lazy", (PropertyKind::LAZY_OBJECT, ACTOR), 0, "")
        .property("weak", (PropertyKind::WEAK_OBJECT, ACTOR), 0, "")
        .property("listener", (PropertyKind::SCRIPT_INTERFACE, "/Script/Test.Listens"), 0, "")
        .property("kind", (PropertyKind::SUBCLASS_OF, ACTOR), 0, "")
        .property("later", (PropertyKind::SOFT_CLASS, ACTOR), 0, "")
        .property("field", (PropertyKind::FIELD_PATH, ""), 0, "");
    let ear = NativeClass::new("Test", "Ear", "/Script/Core.Object")
        .implements("/Script/Test.Listens")
        .function("hear", &[("words", text)], None, 0, hear)
        .function("complain", &[("words", text)], None, 0, complain);
    Natives::in_package("Test").class(hub).class(ear)
}

/// Returns a host with these plugin builds. If the list is empty, the host has no Master.
fn host(plugins: &[&str]) -> Runtime {
    let host = support::builder().natives(natives()).build().unwrap_or_else(|error| panic!("{error}"));
    let libraries: Vec<_> = plugins.iter().map(|plugin| support::plugin(plugin, &[])).collect();
    if !libraries.is_empty() {
        host.create_master(&libraries).unwrap_or_else(|error| panic!("{error}"));
    }
    host
}

fn spawn(host: &Runtime, class: &str) -> ObjectHandle {
    host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
}

fn hub_and_ears(host: &Runtime, property: &str) -> (ObjectHandle, [ObjectHandle; 3]) {
    let (hub, ears) = (spawn(host, HUB), [(); 3].map(|()| spawn(host, EAR)));
    for ear in ears {
        host.links().bind(hub, property, ear, "hear").expect("it fits");
    }
    (hub, ears)
}

/// Broadcasts a message, and returns the objects that received it.
fn broadcast(host: &Runtime, hub: ObjectHandle, property: &str, message: &str) -> String {
    LOG.take();
    let outcome = host.links().broadcast(hub, property, &[Value::Text(message.to_owned())]);
    let mut log = LOG.take();
    log.extend(outcome.err().map(|error| format!("! {error}")));
    log.join(", ")
}

/// Sets the closure that objects run when they receive one of the next calls.
fn does(host: &Runtime, does: impl Fn(&Runtime, ObjectHandle) + 'static) {
    DOES.replace(Some((host.clone(), Rc::new(does))));
}

#[test]
fn listeners_are_called_once_each_last_bound_first() {
    let host = host(&[]);
    for property in ["reported", "rarely"] {
        let (hub, [one, two, three]) = hub_and_ears(&host, property);
        host.links().bind(hub, property, one, "hear").expect("it is bound already");
        let names = [three, two, one].map(|ear| host.objects().name_of(ear).expect("a name"));
        let expected = names.map(|name| format!("{name}: hi")).join(", ");
        assert_eq!(broadcast(&host, hub, property, "hi"), expected);
        assert_eq!(host.links().unbind(hub, property, two, "hear").expect("a delegate"), 1);
        assert_eq!(host.links().unbind(hub, property, two, "").expect("a delegate"), 0);
        assert_eq!(broadcast(&host, hub, property, "hi").matches("hi").count(), 2);
        assert_eq!(host.links().unbind(hub, property, ObjectHandle::NONE, "").expect("a delegate"), 2);
        assert_eq!(broadcast(&host, hub, property, "hi"), "");
    }
}

#[test]
fn a_destroyed_object_is_skipped_and_unbound() {
    let host = host(&[]);
    let (hub, [one, two, three]) = hub_and_ears(&host, "reported");
    host.objects().destroy(two);
    assert_eq!(broadcast(&host, hub, "reported", "hi").matches("hi").count(), 2);
    let Value::Multicast(left) = host.objects().get(hub, "reported").expect("a value") else { panic!("several") };
    assert_eq!(left.iter().map(|binding| binding.object).collect::<Vec<_>>(), [one, three]);
}

#[test]
fn a_broadcast_skips_removed_listeners_and_defers_added_ones() {
    let host = host(&[]);
    let (hub, [one, two, _three]) = hub_and_ears(&host, "reported");
    let late = spawn(&host, EAR);
    does(&host, move |host, _| {
        host.links().unbind(hub, "reported", two, "hear").expect("a delegate");
        host.objects().destroy(one);
        host.links().bind(hub, "reported", late, "hear").expect("it fits");
    });
    expect!["Ear_3: hi"].assert_eq(&broadcast(&host, hub, "reported", "hi"));
    DOES.take();
    expect!["Ear_4: again, Ear_3: again"].assert_eq(&broadcast(&host, hub, "reported", "again"));
}

#[test]
fn emptying_a_sparse_delegate_during_its_broadcast_stops_it() {
    let host = host(&[]);
    let (hub, [one, two, three]) = hub_and_ears(&host, "rarely");
    does(&host, move |host, _| {
        for ear in [three, two, one] {
            host.links().unbind(hub, "rarely", ear, "hear").expect("a delegate");
        }
    });
    assert_eq!(broadcast(&host, hub, "rarely", "hi"), "Ear_3: hi");
    DOES.take();
}

#[test]
fn bindings_that_a_write_removes_during_a_broadcast_are_not_called() {
    let host = host(&[]);
    type Write = fn(&Runtime, ObjectHandle, &str, &Value) -> Result<(), Error>;
    let writes: [Write; 4] = [
        |host, hub, property, value| host.objects().set(hub, property, value),
        |host, hub, property, value| Ok(host.world().write(hub, property, value)?),
        |host, hub, property, value| match value.clone() {
            Value::Multicast(bindings) => Ok(host.world().set(hub, property, MulticastDelegate(bindings))?),
            Value::Sparse(bindings) => Ok(host.world().set(hub, property, SparseDelegate(bindings))?),
            other => panic!("{other:?} is not a list of bindings"),
        },
        |host, hub, property, value| {
            let name = format!("up:{HUB}:{property}");
            host.calls().call(&name, &[Value::Object(hub), value.clone()]).map(drop)
        },
    ];
    for (property, empty) in [("reported", Value::Multicast(Vec::new())), ("rarely", Value::Sparse(Vec::new()))] {
        for write in writes {
            let ((hub, [.., last]), empty) = (hub_and_ears(&host, property), empty.clone());
            does(&host, move |host, _| write(host, hub, property, &empty).expect("a delegate"));
            let name = host.objects().name_of(last).expect("a name");
            assert_eq!(broadcast(&host, hub, property, "hi"), format!("{name}: hi"));
            DOES.take();
        }
    }
}

#[test]
fn a_delegate_destroyed_during_its_broadcast_still_calls_its_listeners() {
    let host = host(&[]);
    let (hub, _) = hub_and_ears(&host, "rarely");
    does(&host, move |host, _| host.objects().destroy(hub));
    expect!["Ear_3: hi, Ear_2: hi, Ear_1: hi"].assert_eq(&broadcast(&host, hub, "rarely", "hi"));
    DOES.take();
}

#[test]
fn nested_broadcasts_end_with_an_error_before_a_stack_overflow() {
    let host = host(&[]);
    let hub = spawn(&host, HUB);
    host.links().bind(hub, "reported", spawn(&host, EAR), "hear").expect("it fits");
    let deepest = Rc::new(RefCell::new(None));
    let inner = Rc::clone(&deepest);
    does(&host, move |host, _| {
        if let Err(Error::Call(error)) = host.links().broadcast(hub, "reported", &[Value::Text("deeper".to_owned())]) {
            inner.replace(Some(error));
        }
    });
    let receivers = broadcast(&host, hub, "reported", "hi");
    DOES.take();
    assert_eq!(receivers.split(", ").count(), 64);
    let error = deepest.take().expect("one call was refused");
    assert!(matches!(error, CallError::TooDeep { limit: 64, .. }), "{error}");
    assert_eq!(broadcast(&host, hub, "reported", "hi"), "Ear_1: hi", "later broadcasts work");
}

#[inline(never)]
fn in_large_frame<R>(code: impl FnOnce() -> R) -> R {
    let frame = [0_u8; 1 << 15];
    black_box(&frame);
    let result = code();
    black_box(&frame);
    result
}

#[test]
fn listeners_that_repeat_a_broadcast_end_after_few_calls() {
    // With large frames, the stack is exhausted before the depth limit is reached.
    for (ignores_errors, has_large_frames) in [(false, false), (true, false), (true, true)] {
        let host = host(&[]);
        let reported = DelegateOf::<(String,), ()>::new(HUB, "reported", spawn(&host, HUB));
        let count = Rc::new(Cell::new(0));
        let listen = || {
            let count = Rc::clone(&count);
            let repeat = move |host: &Runtime, (words,): (String,)| {
                count.set(count.get() + 1);
                if count.get() > 1000 {
                    return Ok(());
                }
                let call = || reported.call(host, (words,));
                let called = if has_large_frames { in_large_frame(call) } else { call() };
                match called {
                    Err(Error::Call(error)) if !ignores_errors => Err(error),
                    _ => Ok(()),
                }
            };
            reported.listen(&host, repeat).expect("it fits")
        };
        let _listeners = [listen(), listen()];
        let outcome = reported.call(&host, ("hi".to_owned(),));
        let is_too_deep = matches!(outcome, Err(Error::Call(CallError::TooDeep { .. })));
        assert_eq!(is_too_deep, !ignores_errors, "{outcome:?}");
        assert!(count.get() <= 128, "{} calls", count.get());
    }
}

#[test]
fn a_failing_listener_does_not_stop_the_broadcast() {
    let host = host(&[]);
    let (hub, [one, ..]) = hub_and_ears(&host, "reported");
    host.links().bind(hub, "reported", one, "complain").expect("it fits");
    expect!["Ear_3: hi, Ear_2: hi, Ear_1: hi, ! hi is too loud"].assert_eq(&broadcast(&host, hub, "reported", "hi"));
}

#[test]
fn a_value_with_a_binding_to_an_unknown_function_is_not_set() {
    let host = host(&[]);
    let (hub, ear) = (spawn(&host, HUB), spawn(&host, EAR));
    let bound = |function: &str| Binding { object: ear, function: host.intern(function) };
    let check = |property: &str, value: Value, expected: Expect| {
        let before = host.objects().get(hub, property).expect("a delegate");
        let refused = host.objects().set(hub, property, &value).expect_err("it does not suit");
        expected.assert_eq(&refused.to_string());
        assert_eq!(host.objects().get(hub, property).expect("a delegate"), before);
    };
    let reported = Value::Multicast(vec![bound("hear"), bound("nowhere")]);
    let unknown = || expect!["/Script/Test.Ear has no function nowhere to bind: check the declarations of the class"];
    check("reported", reported, unknown());
    check("all", Value::Array(vec![Value::Delegate(bound("nowhere"))]), unknown());
    let single = host.objects().set(hub, "single", &Value::Delegate(bound("hear"))).expect_err("it has no result");
    assert!(matches!(single, Error::Call(CallError::Signature { .. })), "{single}");
    host.objects().set(hub, "reported", &Value::Multicast(vec![bound("hear")])).expect("it suits");
    host.objects().set(hub, "single", &Value::Delegate(Binding::default())).expect("none is bound");
    host.objects().destroy(ear);
    host.objects().set(hub, "reported", &Value::Multicast(vec![bound("nowhere")])).expect("it is never called");
}

#[test]
fn no_object_is_created_in_a_class_default_object() {
    let host = host(&[]);
    let ear = spawn(&host, EAR);
    let default = host.objects().at_path("/World/Default__Ear").expect("it exists");
    let refused = host.objects().spawn_in(EAR, default).expect_err("it is a template");
    expect![
        "a Test.Ear cannot be created in Test.Ear (Default__Ear), a class default object or a part of one, which contains only default subobjects: create it in an object of the class, or declare a default subobject"
    ]
    .assert_eq(&refused.to_string());
    let inside = host.objects().spawn_in(EAR, ear).expect("it is an object");
    let refused = host.objects().rename(inside, "inner", default).expect_err("it is a template");
    assert!(matches!(refused, RenameError::Template { object, outer } if (object, outer) == (inside, default)));
}

#[test]
fn only_matching_functions_are_bound() {
    let host = host(&["switchboard"]);
    let (hub, ear, line) = (spawn(&host, HUB), spawn(&host, EAR), spawn(&host, "/Script/Game.Line"));
    let check = |property: &str, target: ObjectHandle, function: &str, expected: Expect| {
        let outcome = host.links().bind(hub, property, target, function);
        expected.assert_eq(&outcome.map_or_else(|error| error.to_string(), |()| "bound".to_owned()));
    };
    check("reported", ear, "hear", expect!["bound"]);
    check("single", line, "answer", expect!["bound"]);
    check(
        "single",
        ear,
        "hear",
        expect![
            "/Script/Test.Ear:hear has the signature (String), the caller was built for (String -> String): rebuild or correct the caller"
        ],
    );
    check(
        "reported",
        ear,
        "see",
        expect!["/Script/Test.Ear has no function see to bind: check the declarations of the class"],
    );
    check(
        "soft",
        ear,
        "hear",
        expect![
            "the value has the signature (SoftObject(/Script/Engine.Actor)), the caller was built for (a delegate): rebuild or correct the caller"
        ],
    );
    host.objects().destroy(ear);
    let gone = host.links().bind(hub, "reported", ear, "hear").expect_err("it is gone");
    assert!(matches!(gone, Error::Call(CallError::Stale { handle }) if handle == ear), "{gone}");
}

#[test]
fn a_single_delegate_returns_its_result_from_the_override() {
    let host = host(&["switchboard"]);
    let hub = spawn(&host, HUB);
    let query = || match host.links().broadcast(hub, "single", &[Value::Text("me".to_owned())]) {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => error.to_string(),
    };
    expect!["a delegate (String -> String) is bound to nothing: bind it first"].assert_eq(&query());
    let line = spawn(&host, "/Script/Game.DirectLine");
    host.links().bind(hub, "single", line, "answer").expect("it fits");
    expect![[r#"Some(Text("directly: line 7 answers me"))"#]].assert_eq(&query());
    host.objects().destroy(line);
    expect!["a delegate (String -> String) is bound to a destroyed object: bind it first"].assert_eq(&query());
}

#[test]
fn bindings_survive_a_reload_by_name_and_broken_ones_are_listed() {
    let host = host(&["migration"]);
    let (hub, shape) = (spawn(&host, HUB), spawn(&host, SHAPESHIFTER));
    let ghost = spawn(&host, "/Script/Game.Ghost");
    host.links().bind(hub, "shift", shape, "own").expect("it fits");
    let name = |function: &str| host.intern(function);
    let bound = |object, function: &str| {
        let binding = Binding { object, function: name(function) };
        Value::Delegate(binding)
    };
    host.objects()
        .set(hub, "all", &Value::Array(vec![bound(shape, "own"), bound(shape, "shift"), bound(ghost, "own")]))
        .expect("delegates");
    let call = || host.links().broadcast(hub, "shift", &[]).map(|own| format!("{own:?}"));
    expect![[r#"Some(Text("v1 shifts=0 mood=calm regrets=0 breath=0"))"#]].assert_eq(&call().expect("it answers"));
    let report = host.reload(&[support::plugin("migration", &["v2"])]).expect("a Master");
    let report = report.into_result().unwrap_or_else(|report| panic!("{report}"));
    expect![[r#"Some(Text("v2 shifts=0 mood=1 breath=0"))"#]].assert_eq(&call().expect("it answers"));
    let lines: Vec<_> = report.structure.iter().filter(|line| line.starts_with("Test.Hub")).cloned().collect();
    expect!["Test.Hub.all: Game.Shapeshifter no longer has a function shift: 1 unbound"].assert_eq(&lines.join("\n"));
    let left = Value::Array(vec![bound(shape, "own"), Value::Delegate(Binding::default()), bound(ghost, "own")]);
    assert_eq!(host.objects().get(hub, "all").expect("delegates"), left, "bindings to dormant objects are kept");
}

fn targets_of(host: &Runtime, hub: ObjectHandle) -> String {
    let path = |object: ObjectHandle| host.objects().path_of(object).unwrap_or_else(|| "none".to_owned());
    let object =
        |property: &str| format!("{property} {}", path(host.links().resolve(hub, property).expect("a reference")));
    let class =
        |property: &str| format!("{property} {:?}", host.links().resolve_class(hub, property).expect("a class"));
    let field = format!("field {:?}", host.links().resolve_field(hub, "field").expect("a field"));
    let objects = ["soft", "lazy", "weak", "listener"].map(object);
    let classes = ["kind", "later"].map(class);
    objects.into_iter().chain(classes).chain([field]).collect::<Vec<_>>().join("\n")
}

fn hub_of_references(host: &Runtime) -> (ObjectHandle, ObjectHandle) {
    let (hub, shape, ear) = (spawn(host, HUB), spawn(host, SHAPESHIFTER), spawn(host, EAR));
    for property in ["soft", "lazy", "weak"] {
        host.links().point(hub, property, shape).expect("the types match");
    }
    host.links().point(hub, "listener", ear).expect("the types match");
    host.links().point_at_class(hub, "kind", SHAPESHIFTER).expect("the types match");
    host.links().point_at_class(hub, "later", "/Script/Game.NotYet").expect("it may be loaded later");
    host.links().point_at_field(hub, "field", "/Script/Game.Shapeshifter:speed").expect("it is there");
    (hub, shape)
}

const ALL_TARGETS: &str = "soft /World/Shapeshifter_1\nlazy /World/Shapeshifter_1\nweak /World/Shapeshifter_1\n\
    listener /World/Ear_1\nkind Some(\"/Script/Game.Shapeshifter\")\nlater None\n\
    field Some(\"/Script/Game.Shapeshifter:speed\")";

#[test]
fn the_module_uses_the_interface_by_glue() {
    let natives = Natives::in_package("Test").interface("Test", "Listens", "Receives a sound.");
    support::glue_is_written(natives, "Test", "values", "listens.rs");
}

#[test]
fn a_modules_class_implements_an_interface_of_the_host_by_name() {
    let listening = support::plugin("values", &["listens"]);
    let stranger = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let refused = stranger.create_master(&[&listening]).expect_err("the interface is not declared").to_string();
    expect!["the types of values cannot be declared: /Script/Game.Bell implements /Script/Test.Listens, which is not declared: declare it or load its module first"].assert_eq(&refused);
    assert!(!stranger.types().has("/Script/Game.Rings"), "none of its types was declared");

    let host = host(&[]);
    host.create_master(&[&listening]).unwrap_or_else(|error| panic!("{error}"));
    let (hub, bell) = (spawn(&host, HUB), spawn(&host, "/Script/Game.Bell"));
    host.links().point(hub, "listener", bell).expect("the types match");
    let reload = |features: &[&'static str]| {
        let report = host.reload(&[support::plugin("values", features)]).expect("a Master");
        report.into_result().unwrap_or_else(|report| panic!("{report}"));
        host.links().resolve(hub, "listener").expect("a reference")
    };
    assert_eq!(reload(&[]), ObjectHandle::NONE, "its bells do not listen");
    let error = host.links().point(hub, "listener", bell).expect_err("it does not suit");
    let Error::Call(CallError::WrongClass { found, expected, .. }) = &error else { panic!("{error}") };
    assert_eq!((&**found, &**expected), ("/Script/Game.Bell", "class that implements /Script/Test.Listens"));
    assert_eq!(reload(&["listens"]), bell);
    host.unload_master().expect("a Master");
    assert!(!host.types().has("/Script/Game.Rings"), "the interface is unloaded with its module");
    assert!(host.types().has("/Script/Test.Listens"), "a native class declares it");
}

#[test]
fn references_resolve_to_equal_objects_after_a_reload() {
    let host = host(&["migration"]);
    let (hub, _) = hub_of_references(&host);
    assert_eq!(targets_of(&host, hub), ALL_TARGETS);
    let report = host.reload(&[support::plugin("migration", &["v2"])]).expect("a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(targets_of(&host, hub), ALL_TARGETS);
}

#[test]
fn references_resolve_to_equal_objects_after_saving_and_loading() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("saved.world");
    let first = host(&["migration"]);
    let (hub, shape) = hub_of_references(&first);
    first.links().bind(hub, "shift", shape, "own").expect("it fits");
    let id = first.links().lazy_id_of(shape).expect("a reference was resolved");
    first.worlds().save(&path).expect("it is saved");
    let second = host(&["migration"]);
    // Creates an object first, so that handles in the second host differ from those in the first host.
    spawn(&second, ACTOR);
    let report = second.worlds().load(&path).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.unresolved, Vec::<String>::new());
    let hub = second.objects().at_path("/World/Hub_1").expect("it is there");
    assert_eq!(targets_of(&second, hub), ALL_TARGETS);
    let shape = second.objects().at_path("/World/Shapeshifter_1").expect("it is there");
    assert_eq!((second.links().lazy_id_of(shape), second.links().object_of_lazy_id(id)), (Some(id), Some(shape)));
    let own = second.links().broadcast(hub, "shift", &[]).expect("it is bound");
    assert_eq!(own, second.objects().call(shape, "own", &[]).expect("it answers"));
}

#[test]
fn weak_and_soft_references_keep_nothing_alive_and_become_none() {
    let host = host(&["migration"]);
    let (hub, shape) = hub_of_references(&host);
    host.objects().remove_root(shape);
    host.collection().collect().expect("a safe point");
    assert!(!host.objects().is_alive(shape));
    expect![[r#"
        soft none
        lazy none
        weak none
        listener /World/Ear_1
        kind Some("/Script/Game.Shapeshifter")
        later None
        field Some("/Script/Game.Shapeshifter:speed")"#]]
    .assert_eq(&targets_of(&host, hub));
    let wrong = host.links().point(hub, "soft", spawn(&host, EAR)).expect_err("an ear is not an actor");
    assert!(matches!(wrong, Error::Call(CallError::WrongClass { .. })), "{wrong}");
}
