//! Tests incremental collections with real plugins. A collection destroys objects in several ticks, and the world runs between the ticks.

use crate::support;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{Budget, Collected, ObjectHandle, Runtime, Value};

const CUBE: &str = "/Script/Game.MagicCube";

/// Native class with one reference. The reference accepts any object.
const HOLDER: &str = "/Script/Graph.Holder";

const LONG: Duration = Duration::from_secs(60);

/// Host with the plugin `magic-cube`. Each cube has a subobject.
struct Stage {
    host: Runtime,
    /// Cubes for which the host has called the destruction listener, in order.
    ended: Rc<RefCell<Vec<ObjectHandle>>>,
    /// Number of subobjects for which the host has called the destruction listener.
    parts_ended: Rc<Cell<usize>>,
}

impl Stage {
    /// Creates a stage. Each call to the destruction listener for a cube takes `time`.
    fn new(time: Duration) -> Self {
        let (ended, parts_ended) = (Rc::<RefCell<Vec<ObjectHandle>>>::default(), Rc::<Cell<usize>>::default());
        let (noted, count) = (Rc::clone(&ended), Rc::clone(&parts_ended));
        let holder = NativeClass::new("Graph", "Holder", "/Script/Core.Object").property(
            "next",
            (PropertyKind::OBJECT, "/Script/Core.Object"),
            0,
            "",
        );
        let natives = Natives::in_package("Graph").class(holder).before_destroy(move |host, object| {
            assert!(host.objects().is_alive(object), "the object is still alive");
            if host.objects().class_of(object).as_deref() == Some(CUBE) {
                std::thread::sleep(time);
                noted.borrow_mut().push(object);
                return;
            }
            let owner = host.objects().outer_of(object);
            assert_eq!(owner, noted.borrow().last().copied(), "the listener is first called for the owner");
            count.set(count.get() + 1);
        });
        let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
        host.create_master(&[support::plugin("magic-cube", &[])]).unwrap_or_else(|error| panic!("{error}"));
        Self { host, ended, parts_ended }
    }

    fn spawn(&self, class: &str) -> ObjectHandle {
        self.host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Creates unreachable cubes.
    fn loose(&self, count: usize) -> Vec<ObjectHandle> {
        let cubes: Vec<_> = (0..count).map(|_| self.spawn(CUBE)).collect();
        cubes.iter().for_each(|cube| assert!(self.host.objects().remove_root(*cube)));
        cubes
    }

    fn link(&self, from: ObjectHandle, to: ObjectHandle) {
        self.host.objects().set(from, "next", &Value::Object(to)).expect("it may be written");
    }

    /// Returns the number of living objects.
    fn count(&self) -> usize {
        self.host.objects().iter().len()
    }

    /// Returns the number of objects for which the destruction listener was called.
    fn ended(&self) -> usize {
        self.ended.borrow().len()
    }

    /// Runs a tick whose budget allows only one step.
    fn tick(&self) {
        self.host.tick(Budget::frame().with_collection(Duration::ZERO));
    }

    /// Begins an incremental collection of the cubes, and ticks until some are destroyed. Returns the number of destroyed cubes.
    fn begin_sweep(&self, cubes: &[ObjectHandle]) -> usize {
        self.host.collection().begin_in_slices();
        support::until("a cube is destroyed", || {
            self.tick();
            self.ended() > 0
        });
        assert!(self.host.collection().is_in_progress());
        assert!(self.ended() < cubes.len() / 2, "one tick destroys few objects");
        assert_eq!(*self.ended.borrow(), cubes[..self.ended()]);
        self.ended()
    }

    /// Ticks until the collection is complete. Returns the collection's result and the number of ticks.
    fn finish(&self) -> (Collected, usize) {
        let done = RefCell::new((None, 0));
        support::until("the collection is done", || {
            self.tick();
            let mut done = done.borrow_mut();
            *done = (self.host.collection().take_done().pop(), done.1 + 1);
            done.0.is_some()
        });
        assert_eq!(self.parts_ended.get(), self.ended(), "the listener is called for each subobject");
        let (collected, ticks) = done.into_inner();
        (collected.expect("it is done"), ticks)
    }
}

#[test]
fn a_collection_in_slices_ends_objects_like_a_whole_collection() {
    let outcome = |in_slices: bool| {
        let stage = Stage::new(Duration::ZERO);
        let kept = stage.spawn(CUBE);
        let cubes = stage.loose(200);
        let objects = if in_slices {
            stage.host.collection().begin_in_slices();
            let (collected, ticks) = stage.finish();
            assert!(ticks > 10 && collected.slices < 10, "{ticks} ticks, {collected:?}");
            collected.objects
        } else {
            stage.host.collection().collect().expect("a safe point")
        };
        assert_eq!(*stage.ended.borrow(), cubes, "in order of creation");
        assert_eq!(stage.parts_ended.get(), cubes.len());
        assert!(stage.host.objects().is_alive(kept) && !stage.host.collection().is_in_progress());
        let drained = stage.host.drain_finalizers(LONG).expect("a safe point");
        assert!(drained.is_complete && drained.pending == 0 && drained.failures.is_empty(), "{drained}");
        (objects, stage.host.counters())
    };
    assert_eq!(outcome(true), outcome(false));
}

#[test]
fn a_tick_exceeds_its_budget_by_the_end_of_one_object() {
    let stage = Stage::new(Duration::from_millis(10));
    let cubes = stage.loose(20);
    stage.host.collection().begin_in_slices();
    let mut ends = Vec::new();
    while stage.ended() < cubes.len() {
        let before = stage.ended();
        stage.host.tick(Budget::frame().with_collection(Duration::from_millis(5)));
        ends.push(stage.ended() - before);
        assert!(ends.len() < 1_000, "the collection destroys the cubes: {ends:?}");
    }
    // A busy machine may suspend the thread for a long time. One tick may then destroy a second object.
    assert!(ends.iter().all(|count| *count <= 2) && ends.contains(&1), "{ends:?}");
}

#[test]
fn an_object_that_is_referenced_again_during_a_sweep_is_kept() {
    let stage = Stage::new(Duration::ZERO);
    let holder = stage.spawn(HOLDER);
    let cubes = stage.loose(300);
    stage.begin_sweep(&cubes);
    let (dead, kept) = cubes.split_at(296);
    // Between two slices, code stores references to cubes that were found unreachable: in an object, in the root set, and in new objects.
    stage.link(holder, kept[0]);
    assert!(stage.host.objects().add_root(kept[1]));
    stage.link(stage.spawn(HOLDER), kept[2]);
    let inside = stage.host.objects().spawn_in(HOLDER, kept[3]).expect("the cube is alive");
    assert!(stage.host.objects().add_root(inside));
    stage.finish();
    assert_eq!(*stage.ended.borrow(), dead);
    assert!(kept.iter().all(|cube| stage.host.objects().is_alive(*cube)));
    assert_eq!(stage.count(), 3 + 2 * kept.len());
    stage.link(holder, ObjectHandle::NONE);
    assert_eq!(stage.host.collection().collect().expect("a safe point"), 2, "a cube and its subobject");
}

#[test]
fn only_a_collection_in_slices_keeps_an_object_that_a_listener_makes_a_root() {
    let is_kept = |in_slices: bool| {
        let rescued = Rc::new(Cell::new(ObjectHandle::NONE));
        let inner = Rc::clone(&rescued);
        let natives = Natives::default().before_destroy(move |host, object| {
            let second = inner.get();
            if object != second && !second.is_none() {
                assert!(host.objects().add_root(second), "the object is still alive");
            }
        });
        let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
        let [_first, second] = [(); 2].map(|()| {
            let object = host.objects().spawn("/Script/Core.Object").unwrap_or_else(|error| panic!("{error}"));
            assert!(host.objects().remove_root(object));
            object
        });
        rescued.set(second);
        if in_slices {
            host.collection().begin_in_slices();
            support::until("the collection is done", || {
                host.tick(Budget::frame().with_collection(LONG));
                host.collection().take_done().pop().is_some()
            });
        } else {
            host.collection().collect().expect("a safe point");
        }
        rescued.set(ObjectHandle::NONE);
        host.objects().is_alive(second)
    };
    assert_eq!((is_kept(true), is_kept(false)), (true, false));
}

#[test]
fn a_whole_collection_destroys_what_a_sweep_has_left() {
    let stage = Stage::new(Duration::ZERO);
    let cubes = stage.loose(200);
    let half = stage.begin_sweep(&cubes);
    let left = stage.count();
    assert_eq!(stage.host.collection().collect().expect("a safe point"), left);
    assert_eq!((stage.count(), &*stage.ended.borrow()), (0, &cubes));
    let (collected, _) = stage.finish();
    assert!(collected.objects >= half, "the report includes the objects of the interrupted sweep: {collected:?}");
}

#[test]
fn a_reload_interrupts_a_sweep_which_then_restarts() {
    let stage = Stage::new(Duration::ZERO);
    let kept = stage.spawn(CUBE);
    let cubes = stage.loose(200);
    let half = stage.begin_sweep(&cubes);
    let before = stage.count() as u64;
    let report = stage.host.reload(&[support::tagged("magic-cube", &[], 2)]).expect("a Master");
    let report = report.into_result().expect("a reload");
    assert_eq!((report.objects_kept, stage.ended()), (before, half), "a reload destroys nothing: {report}");
    assert!(!stage.host.collection().is_in_progress());
    let (collected, _) = stage.finish();
    assert_eq!(*stage.ended.borrow(), cubes);
    assert!(collected.objects >= cubes.len(), "{collected:?}");
    assert!(stage.host.objects().is_alive(kept) && stage.count() == 2);
}

#[test]
fn a_world_is_saved_and_loaded_during_a_sweep() {
    let stage = Stage::new(Duration::ZERO);
    let cubes = stage.loose(200);
    let half = stage.begin_sweep(&cubes);
    let before = stage.count() as u64;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("saved.world");
    assert_eq!(stage.host.worlds().save(&file).expect("a safe point"), before);
    assert!(stage.host.collection().is_in_progress() && stage.ended() == half, "a save changes nothing");
    let report = stage.host.worlds().load(&file).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((report.objects, report.replaced), (before, before));
    assert_eq!(*stage.ended.borrow(), cubes, "each cube ends once");
    // The loaded cubes are also unreachable, so the restarted collection destroys them.
    stage.finish();
    assert_eq!((stage.count(), stage.ended()), (0, 2 * cubes.len() - half));
}

#[test]
fn a_shutdown_during_a_sweep_ends_each_object_once() {
    let stage = Stage::new(Duration::ZERO);
    let cubes = stage.loose(200);
    stage.begin_sweep(&cubes);
    let Stage { host, ended, parts_ended } = stage;
    let report = host.shutdown();
    assert_eq!((report.objects, report.plugin_parts), (0, 0), "{report}");
    report.into_result().expect("all is ended");
    assert_eq!((&*ended.borrow(), parts_ended.get()), (&cubes, cubes.len()));
}
