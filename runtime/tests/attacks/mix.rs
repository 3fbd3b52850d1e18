//! Tests combinations of features in safe hosts: failing callbacks, a host in a thread-local, many values, invalid declarations,
//! and two hosts on one thread.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use alcedo_runtime::kinds::{PropertyKind, function_flags};
use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{Budget, Builder, Name, ObjectHandle, Runtime, Signature, Value, World};

use super::{another_attacker, assert_works, attacker, host, query, spawn, support};

const OBJECT: &str = "/Script/Core.Object";

thread_local! {
    /// Name of the callback that panics at its next call.
    static FICKLE: Cell<&'static str> = const { Cell::new("") };
}

/// Panics once if `which` is the selected callback.
fn fickle(which: &'static str) {
    if FICKLE.get() == which {
        FICKLE.set("");
        panic!("on purpose: {which}");
    }
}

const CALLBACKS: [&str; 13] = [
    "ticker",
    "native ticker",
    "before_destroy",
    "event",
    "unloading",
    "function",
    "constructor",
    "post_init",
    "body",
    "begin_destroy",
    "references",
    "posted",
    "notice",
];

fn natives() -> Natives {
    let class = NativeClass::new("Fickle", "Fickle", OBJECT)
        .property("friend", (PropertyKind::OBJECT, OBJECT), 0, "")
        .property("number", (PropertyKind::U64, ""), 0, "")
        .constructor(|_world: &World, _object| {
            fickle("constructor");
            Ok(())
        })
        .post_init_properties(|_world: &World, _object| {
            fickle("post_init");
            Ok(())
        })
        .begin_destroy(|_world, _object| fickle("begin_destroy"))
        .add_references(|_world, _object, _visit| fickle("references"))
        .function("body", &[], None, function_flags::CALLABLE, |_world, frame| {
            frame.finish()?;
            fickle("body");
            Ok(())
        });
    Natives::in_package("Fickle")
        .class(class)
        .ticker(|_host, _seconds| fickle("native ticker"))
        .before_destroy(|_host, _object| fickle("before_destroy"))
}

fn fickle_host() -> Builder {
    let builder = support::builder().natives(natives()).ticker(|_host, _seconds| fickle("ticker"));
    builder.on_event(|_event| fickle("event"))
}

/// Runs every operation that calls a callback.
fn life(host: &Runtime, library: &[std::path::PathBuf]) {
    let signature: Signature = "-> u64".parse().expect("a signature");
    let _known = host.calls().register("mix.function", signature, |_host, _arguments| {
        fickle("function");
        Ok(Some(Value::U64(1)))
    });
    host.unloads().on_unloading(0, |_host, _generation| fickle("unloading"));
    host.contexts().on_event(|_notice| fickle("notice"));
    if let Ok(slim) = host.contexts().create_slim("fickle") {
        let _ticket = slim.begin_unload().map(|ticket| ticket.wait(std::time::Duration::from_secs(60)));
    }
    let _called = host.calls().call("ex:/mix.function", &[]);
    let Ok(object) = host.objects().spawn("/Script/Fickle.Fickle") else { return };
    let _other = host.objects().spawn_in("/Script/Fickle.Fickle", object);
    let _called = host.objects().call(object, "body", &[]);
    host.post_handle().post(|_host| fickle("posted"));
    host.tick(Budget::frame());
    host.safe_point();
    host.collection().begin_in_slices();
    host.tick(Budget::frame());
    let _collected = host.collection().collect();
    let _reloaded = host.reload(library);
    host.objects().destroy(object);
    let _unloaded = host.unload_master();
    let _created = host.create_master(library);
}

#[test]
fn the_host_keeps_working_after_a_panicking_callback() {
    let library = [attacker(&[])];
    for which in CALLBACKS {
        let host = fickle_host().build().expect("a host");
        host.create_master(&library).expect("a Master");
        FICKLE.set(which);
        let outcome = catch_unwind(AssertUnwindSafe(|| life(&host, &library)));
        let has_fired = FICKLE.replace("").is_empty();
        assert!(has_fired, "{which} was called");
        // Panics in these callbacks propagate to the host code that called the runtime. The runtime catches all other panics.
        let comes_out = ["ticker", "native ticker"].contains(&which);
        assert_eq!(outcome.is_err(), comes_out, "{which}");
        // A second run without panics completes every step.
        let again = catch_unwind(AssertUnwindSafe(|| life(&host, &library)));
        assert!(again.is_ok(), "after {which}");
        if host.modules().is_empty() {
            host.create_master(&library).unwrap_or_else(|error| panic!("after {which}: {error}"));
        }
        assert_works(&host);
        host.reload(&library).unwrap_or_else(|error| panic!("after {which}: {error}"));
        assert_works(&host);
        let left = host.shutdown();
        assert!(left.left.is_empty(), "after {which}: {:?}", left.left);
    }
}

#[test]
fn an_object_is_destroyed_although_a_destruction_listener_panics() {
    let calls = Rc::new(Cell::new(0));
    let count = Rc::clone(&calls);
    let natives = Natives::default().before_destroy(|_host, _object| panic!("on purpose"));
    let natives = natives.before_destroy(move |_host, _object| count.set(count.get() + 1));
    let host = support::builder().natives(natives).build().expect("a host");
    let object = host.objects().spawn("/Script/Core.Object").expect("an object");
    host.objects().destroy(object);
    assert_eq!((host.objects().is_alive(object), calls.get()), (false, 1));
}

#[test]
fn an_unload_completes_although_each_destruction_listener_panics() {
    let library = [attacker(&[])];
    let natives = Natives::default().before_destroy(|_host, _object| panic!("on purpose"));
    let host = support::builder().natives(natives).build().expect("a host");
    host.create_master(&library).expect("a Master");
    let objects = [(); 2].map(|()| spawn(&host, "Bystander"));
    let unload = host.unload_master().expect("a Master");
    assert!(!objects.iter().any(|object| host.objects().is_alive(*object)));
    let problems = unload.ticket.report().problems;
    assert!(problems.len() == 2 && problems.iter().all(|problem| problem.contains("on purpose")), "{problems:#?}");
    host.create_master(&library).expect("the classes are no longer declared");
    assert!(host.shutdown().left.is_empty());
}

#[test]
fn a_host_that_is_dropped_with_its_thread_ends_like_another() {
    thread_local! {
        static HOST: RefCell<Option<(Runtime, ObjectHandle)>> = const { RefCell::new(None) };
    }
    let library = attacker(&[]);
    let ended = std::thread::spawn(move || {
        // Initializes this slot before any thread-local of the host. The slot is then dropped last.
        HOST.with(|slot| assert!(slot.borrow().is_none()));
        let host = support::host(&[library]);
        let holder = spawn(&host, "Holder");
        query(&host, holder, "fill");
        host.links().bind(holder, "listeners", holder, "fill").expect("bound");
        host.post_handle().post(|host| host.safe_point());
        let _black = host
            .conjugates()
            .make("Array(String)", &Value::Array(vec![Value::Text("kept".into())]))
            .expect("an owned value");
        HOST.with(|slot| *slot.borrow_mut() = Some((host, holder)));
    });
    ended.join().expect("no panic");
}

#[test]
fn objects_nested_100_000_deep_overflow_no_stack() {
    let host = host();
    let mut outer = ObjectHandle::NONE;
    let mut all = Vec::new();
    for _ in 0..100_000 {
        outer = host.objects().spawn_in("/Script/Game.Bystander", outer).expect("spawned");
        all.push(outer);
    }
    let path = host.objects().path_of(outer);
    assert_eq!(path.and_then(|path| host.objects().at_path(&path)), Some(outer));
    let _renamed = host.objects().rename(all[50_000], "Middle", all[0]);
    let _cycle = host.objects().rename(all[0], "Ring", outer).expect_err("it would contain itself");
    drop(host.worlds().digest());
    let folder = tempfile::tempdir().expect("a folder");
    let world = folder.path().join("deep.world");
    host.worlds().save(&world).expect("saved");
    host.worlds().load(&world).expect("loaded");
    host.reload(&[another_attacker()]).expect("reloaded");
    host.collection().collect().expect("collected");
    let root =
        host.objects().iter().find(|object| host.objects().outer_of(*object).is_none_or(|outer| outer.is_none()));
    host.objects().destroy(root.expect("there is one"));
    assert_works(&host);
    drop(host.shutdown());
}

#[test]
fn names_and_handles_of_another_host_are_harmless() {
    let (one, other) = (host(), host());
    let name = (0..5000).fold(Name::default(), |_, at| one.intern(&format!("name {at}")));
    let foreign = (0..100).fold(ObjectHandle::NONE, |_, _| spawn(&one, "Holder"));
    let holder = spawn(&other, "Holder");
    let black = one.conjugates().make("Array(u64)", &Value::Array(vec![Value::U64(7)])).expect("an owned value");
    assert_eq!(other.text(name), "");
    assert!(other.objects().get(foreign, "numbers").is_err() && !other.objects().is_alive(foreign));
    for property in other.objects().properties_of(holder) {
        for value in [
            Value::Name(name),
            Value::Object(foreign),
            Value::SubclassOf(name),
            Value::SoftClass(name),
            Value::SoftObject(name),
            Value::Array(vec![Value::Name(name)]),
            Value::Array(vec![Value::Object(foreign)]),
        ] {
            let _set = other.objects().set(holder, &property, &value);
            let _got = other.objects().get(holder, &property);
        }
    }
    assert!(other.conjugates().read(black).is_err());
    assert!(other.conjugates().write(black, &Value::Array(Vec::new())).is_err());
    other.conjugates().give_back(black);
    assert_eq!(one.conjugates().read(black).expect("it is there"), Value::Array(vec![Value::U64(7)]));
    let named = other.conjugates().make("Array(Name)", &Value::Array(vec![Value::Name(name)]));
    assert!(named.is_ok_and(|black| other.conjugates().read(black).is_ok()));
    drop(other.worlds().digest());
    let folder = tempfile::tempdir().expect("a folder");
    other.worlds().save(folder.path().join("world")).expect("saved");
    let class = one.types().class("/Script/Game.Holder").expect("a class");
    drop(one.shutdown());
    assert!(other.objects().spawn(&class).is_ok());
    assert_works(&other);
}

#[test]
fn meaningless_flags_are_refused_or_harmless() {
    let kinds = [
        (PropertyKind::U64, ""),
        (PropertyKind::OBJECT, OBJECT),
        (PropertyKind::STRING, ""),
        (PropertyKind::ARRAY, "Array(String)"),
        (PropertyKind::OBJECT, "/Script/Odd.Odd"),
    ];
    for bits in (0..64).map(|bit| 1_u64 << bit).chain([u64::MAX, u64::MAX - 1, !0 >> 1]) {
        let mut class = NativeClass::new("Odd", "Odd", OBJECT).flags(bits);
        for (at, kind) in kinds.iter().enumerate() {
            class = class.property(&format!("p{at}"), *kind, bits, "");
        }
        let class = class.function("body", &[("a", kinds[2])], Some(kinds[0]), bits, |_world, frame| frame.finish());
        let natives =
            Natives::in_package("Odd").class(class).class(NativeClass::new("Odd", "Child", "/Script/Odd.Odd"));
        let built = catch_unwind(AssertUnwindSafe(|| support::builder().natives(natives).build()));
        let host = match built.unwrap_or_else(|_| panic!("{bits:#x} panics while it is built")) {
            Ok(host) => host,
            // The error names the invalid class.
            Err(error) if error.to_string().contains("/Script/Odd.Odd") => continue,
            Err(error) => panic!("{bits:#x}: {error}"),
        };
        let used = catch_unwind(AssertUnwindSafe(|| {
            let objects: Vec<_> = ["/Script/Odd.Odd", "/Script/Odd.Child"]
                .into_iter()
                .filter_map(|class| host.objects().spawn(class).ok())
                .collect();
            for object in &objects {
                let _inner = host.objects().spawn_in("/Script/Odd.Child", *object);
                for at in 0..kinds.len() {
                    let name = format!("p{at}");
                    let _got =
                        host.objects().get(*object, &name).and_then(|value| host.objects().set(*object, &name, &value));
                    let _set = host.objects().set(*object, &name, &Value::Object(*object));
                }
                let _called = host.objects().call(*object, "body", &[Value::Text("x".into())]);
                let _called =
                    host.calls().call("uf:/Script/Odd.Odd:body", &[Value::Object(*object), Value::Text("x".into())]);
            }
            host.create_master(&[attacker(&[])]).expect("a Master");
            let folder = tempfile::tempdir().expect("a folder");
            let world = folder.path().join("world");
            if host.worlds().save(&world).is_ok() {
                let _loaded = host.worlds().load(&world);
            }
            let _reloaded = host.reload(&[another_attacker()]);
            let _collected = host.collection().collect();
            drop(host.worlds().digest());
            assert_works(&host);
        }));
        assert!(used.is_ok(), "{bits:#x} panics in use");
    }
}

#[test]
fn a_post_to_a_host_that_is_gone_is_dropped() {
    let handle = host().post_handle();
    let held = Arc::new(());
    let dropped = Arc::downgrade(&held);
    assert!(!handle.post(move |_host| drop(held)));
    assert!(dropped.upgrade().is_none());
}

thread_local! {
    /// Host that collects during each construction.
    static COLLECTING: RefCell<Option<Runtime>> = const { RefCell::new(None) };
}

#[test]
fn a_collection_during_construction_keeps_the_object_under_construction() {
    let collect = |_world: &World, _object: ObjectHandle| {
        // The class default object is created while the host is built.
        let Some(host) = COLLECTING.with_borrow(Clone::clone) else { return Ok(()) };
        host.collection().begin_in_slices();
        host.tick(Budget::frame());
        host.collection().collect().map(drop).map_err(|error| error.to_string())
    };
    let class = NativeClass::new("Fickle", "Collector", OBJECT).constructor(collect).post_init_properties(collect);
    let host = support::builder().natives(Natives::in_package("Fickle").class(class)).build().expect("a host");
    COLLECTING.set(Some(host.clone()));
    let root = host.objects().spawn("/Script/Fickle.Collector").unwrap_or_else(|error| panic!("{error}"));
    let inner = host.objects().spawn_in("/Script/Fickle.Collector", root).unwrap_or_else(|error| panic!("{error}"));
    COLLECTING.set(None);
    assert!(host.objects().is_alive(root) && host.objects().is_alive(inner));
    assert_eq!(host.collection().collect().expect("a safe point"), 1, "the construction holds no object after its end");
    assert!(host.objects().is_alive(root) && !host.objects().is_alive(inner));
}
