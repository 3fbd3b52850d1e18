//! Tests garbage collections in a host, in one step and in slices, with hooks of native classes.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{Budget, Collected, ObjectHandle, RenameError, Runtime, Value, World};

const NODE: &str = "/Script/Graph.Node";

const NONE: ObjectHandle = ObjectHandle::NONE;

thread_local! {
    /// Objects for which a native hook was called. Stored in a static, because hooks are plain functions.
    static ENDED: RefCell<Vec<ObjectHandle>> = const { RefCell::new(Vec::new()) };
    /// References that `add_references` reports for every object of the class `Keeper`.
    static KEPT: RefCell<Vec<ObjectHandle>> = const { RefCell::new(Vec::new()) };
}

fn host() -> Runtime {
    fn ends(world: &World, object: ObjectHandle) {
        assert!(world.is_alive(object), "the object is still alive");
        ENDED.with_borrow_mut(|ended| ended.push(object));
    }
    fn keeps(world: &World, object: ObjectHandle, visit: &mut dyn FnMut(ObjectHandle)) {
        // Excludes the class default object, which is also a keeper and a root.
        if !world.is_template(object) {
            KEPT.with_borrow(|kept| kept.iter().copied().for_each(visit));
        }
    }
    let node = NativeClass::new("Graph", "Node", "/Script/Core.Object")
        .property("next", (PropertyKind::OBJECT, NODE), 0, "")
        .begin_destroy(ends);
    let holder_class = NativeClass::new("Graph", "Keeper", NODE).add_references(keeps);
    let natives = Natives::in_package("Graph").class(node).class(holder_class);
    ENDED.take();
    KEPT.take();
    Runtime::builder().natives(natives).build().expect("right declarations")
}

type Meddle = Box<dyn FnOnce(&mut dyn FnMut(ObjectHandle))>;

thread_local! {
    /// Closure that a meddler's `add_references` runs once.
    static MEDDLES: RefCell<Option<Meddle>> = const { RefCell::new(None) };
}

/// Returns a host whose hook `add_references` changes the world, although the documentation of the hook forbids it.
fn meddling_host() -> Runtime {
    fn meddles(world: &World, object: ObjectHandle, visit: &mut dyn FnMut(ObjectHandle)) {
        if !world.is_template(object)
            && let Some(meddle) = MEDDLES.take()
        {
            meddle(visit);
        }
    }
    let node =
        NativeClass::new("Graph", "Node", "/Script/Core.Object").property("next", (PropertyKind::OBJECT, NODE), 0, "");
    let meddler = NativeClass::new("Graph", "Meddler", NODE).add_references(meddles);
    MEDDLES.take();
    let natives = Natives::in_package("Graph").class(node).class(meddler);
    Runtime::builder().natives(natives).build().expect("right declarations")
}

fn meddle(does: impl FnOnce(&mut dyn FnMut(ObjectHandle)) + 'static) {
    MEDDLES.set(Some(Box::new(does)));
}

/// Creates an object that no other object references.
fn loose(host: &Runtime) -> ObjectHandle {
    let object = host.objects().spawn(NODE).expect("an object");
    assert!(host.objects().remove_root(object));
    object
}

fn link(host: &Runtime, from: ObjectHandle, to: ObjectHandle) {
    host.objects().set(from, "next", &Value::Object(to)).expect("it may be written");
}

/// Creates a root that references a chain of `count` objects.
fn row(host: &Runtime, count: usize) -> Vec<ObjectHandle> {
    let mut row = vec![host.objects().spawn(NODE).expect("an object")];
    for at in 0..count {
        let object = loose(host);
        link(host, row[at], object);
        row.push(object);
    }
    row
}

fn tick_until_collected(host: &Runtime) -> Collected {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        host.tick(Budget::frame().with_collection(Duration::ZERO));
        if let Some(collected) = host.collection().take_done().pop() {
            return collected;
        }
        assert!(host.collection().is_in_progress(), "the collection is done or in progress");
        assert!(Instant::now() < deadline, "the mark phase completes");
    }
}

#[test]
fn a_sliced_collection_keeps_references_moved_during_it() {
    let host = host();
    let row = row(&host, 20_000);
    let dead: Vec<_> = (0..100).map(|_| loose(&host)).collect();
    host.collection().begin_in_slices();
    host.tick(Budget::frame().with_collection(Duration::ZERO));
    assert!(
        host.collection().is_in_progress() && host.collection().take_done().is_empty(),
        "the row is longer than a slice"
    );
    // Links the root, which is already marked, directly to the end of the chain. The next collection collects the middle of the chain.
    link(&host, row[0], row[19_000]);
    link(&host, row[18_999], NONE);
    let created = loose(&host);
    link(&host, row[20_000], created);
    let collected = tick_until_collected(&host);
    assert!(collected.slices > 2 && collected.objects >= dead.len(), "{collected:?}");
    assert!(dead.iter().all(|object| !host.objects().is_alive(*object)));
    assert!(row[19_000..].iter().chain([&row[0], &created]).all(|object| host.objects().is_alive(*object)));
    host.collection().collect().expect("a safe point");
    assert!(row[1..19_000].iter().all(|object| !host.objects().is_alive(*object)));
    assert_eq!(host.objects().iter().len(), 1_003);
}

#[test]
fn a_sliced_collection_keeps_references_moved_to_a_native_during_it() {
    let host = host();
    let row = row(&host, 20_000);
    host.objects().spawn("/Script/Graph.Keeper").expect("an object");
    host.collection().begin_in_slices();
    // The keeper is a root, so the first slice has already visited the references of the keeper.
    host.tick(Budget::frame().with_collection(Duration::ZERO));
    assert!(
        host.collection().is_in_progress() && host.collection().take_done().is_empty(),
        "the row is longer than a slice"
    );
    link(&host, row[18_999], NONE);
    KEPT.with_borrow_mut(|list| list.push(row[19_000]));
    tick_until_collected(&host);
    assert!(row.iter().all(|object| host.objects().is_alive(*object)));
    KEPT.take();
    assert_eq!(host.collection().collect().expect("a safe point"), 1_001);
}

#[test]
fn a_full_collection_replaces_a_sliced_one() {
    let host = host();
    let row = row(&host, 5_000);
    host.collection().begin_in_slices();
    host.tick(Budget::frame().with_collection(Duration::ZERO));
    link(&host, row[10], NONE);
    assert_eq!(host.collection().collect().expect("a safe point"), 4_990);
    // The sliced collection restarts, but finds no more unreachable objects.
    assert_eq!(tick_until_collected(&host).objects, 0);
}

#[test]
fn natives_are_notified_of_destruction_and_can_keep_other_objects_alive() {
    let host = host();
    let holder = host.objects().spawn("/Script/Graph.Keeper").expect("an object");
    let (kept, dead) = (loose(&host), loose(&host));
    KEPT.with_borrow_mut(|list| list.push(kept));
    assert_eq!(host.collection().collect().expect("a safe point"), 1);
    assert_eq!(ENDED.take(), [dead]);
    host.objects().destroy(holder);
    assert_eq!(host.collection().collect().expect("a safe point"), 1);
    assert_eq!(ENDED.take(), [holder, kept]);
}

#[test]
fn arguments_of_a_running_call_are_kept_until_it_returns() {
    let host = host();
    let signature = "Object(/Script/Core.Object) -> bool".parse().expect("a signature");
    let collect = |host: &Runtime, _: &[Value]| {
        host.collection().collect().expect("no plugin code is on the stack");
        Ok(Some(Value::Bool(true)))
    };
    host.calls().register("collect", signature, collect).expect("the name is free");
    let object = loose(&host);
    host.calls().call("ex:/collect", &[Value::Object(object)]).expect("it answers");
    assert!(host.objects().is_alive(object));
    assert_eq!(host.collection().collect().expect("a safe point"), 1);
    assert!(!host.objects().is_alive(object));
}

#[test]
fn an_object_changes_its_name_and_its_outer() {
    let host = host();
    let (house, chair) =
        (host.objects().spawn(NODE).expect("an object"), host.objects().spawn(NODE).expect("an object"));
    host.objects().rename(chair, "chair", house).expect("the name is free in there");
    assert_eq!((host.objects().find_in(house, "chair"), host.objects().find_in(NONE, "chair")), (Some(chair), None));
    assert_eq!(
        (host.objects().outer_of(chair), host.objects().name_of(chair).as_deref()),
        (Some(house), Some("chair"))
    );
    let other = host.objects().spawn_in(NODE, house).expect("an object");
    let refused = host.objects().rename(other, "chair", house).expect_err("the name is taken");
    assert!(matches!(refused, RenameError::InUse { holder, .. } if holder == chair), "{refused}");
    let refused = host.objects().rename(house, "house", chair).expect_err("it would contain itself");
    assert!(matches!(refused, RenameError::Circle { .. }), "{refused}");
}

#[test]
fn an_add_references_that_panics_is_an_error_and_nothing_is_collected() {
    let host = meddling_host();
    let meddler = host.objects().spawn("/Script/Graph.Meddler").expect("an object");
    let dead = loose(&host);
    meddle(|_| panic!("it was lost"));
    let error = host.collection().collect().expect_err("a reference of the meddler is unknown").to_string();
    for part in [
        "add_references of /Script/Graph.Meddler",
        &host.objects().describe(meddler),
        "it was lost",
        "nothing is collected",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(host.objects().is_alive(dead) && !host.collection().is_in_progress());
    meddle(|_| panic!("it was lost"));
    // The answer of the console promises no later collection.
    let answer = host.console("collect");
    assert!(answer.contains("it was lost") && !answer.contains("next safe point"), "{answer}");
    meddle(|_| panic!("it was lost again"));
    host.collection().begin_in_slices();
    host.tick(Budget::frame());
    assert!(
        host.objects().is_alive(dead)
            && !host.collection().is_in_progress()
            && host.collection().take_done().is_empty()
    );
    // The mark phase is over. Writes, constructions and the next collection work as usual.
    link(&host, meddler, loose(&host));
    assert_eq!(host.collection().collect().expect("no hook panics"), 1);
    assert!(!host.objects().is_alive(dead));
}

#[test]
fn add_references_may_change_the_world_during_a_collection() {
    for in_slices in [false, true] {
        let host = meddling_host();
        let meddler = host.objects().spawn("/Script/Graph.Meddler").expect("an object");
        let [moved, rooted, ended, visited, dead] = [(); 5].map(|()| loose(&host));
        let (inner, in_last) = (host.clone(), host.clone());
        meddle(move |visit| {
            visit(visited);
            link(&inner, meddler, moved);
            assert!(inner.objects().add_root(rooted));
            inner.objects().destroy(ended);
            assert!(inner.collection().collect().is_err(), "one is under way");
            assert!(inner.objects().spawn(NODE).is_err(), "one is under way");
            // At the end of the mark phase, the collector calls `add_references` a second time.
            meddle(move |visit| {
                visit(visited);
                assert!(in_last.objects().is_root(rooted));
            });
        });
        let collected = if in_slices {
            host.collection().begin_in_slices();
            tick_until_collected(&host).objects
        } else {
            host.collection().collect().expect("a safe point")
        };
        assert!([moved, rooted, visited, meddler].iter().all(|object| host.objects().is_alive(*object)));
        assert!([ended, dead].iter().all(|object| !host.objects().is_alive(*object)));
        assert_eq!(collected, 1);
    }
}
