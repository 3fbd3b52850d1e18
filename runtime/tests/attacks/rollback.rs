//! Tests that a failed reload leaves only the traces that its report names.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use alcedo_runtime::faults::{self, Armed, Fault, FaultKind, ReloadStep};
use alcedo_runtime::{Budget, Builder, ObjectHandle, ReloadReport, Runtime, Value};
use expect_test::expect;

use super::{attacker, support};

/// Host with three objects. The first object has the class `Game.Greedy`, whose constructors try every operation in a build with the switch
/// `grabs`. The second object has the class `Game.MagicCube`, whose module `reload_changed` does not replace. The third object has the
/// native class `Engine.Actor`.
struct Scene {
    host: Runtime,
    greedy: ObjectHandle,
    cube: ObjectHandle,
    actor: ObjectHandle,
    /// Number of calls to the host's function.
    call_count: Rc<Cell<u64>>,
}

fn libraries(features: &[&str]) -> Vec<PathBuf> {
    vec![attacker(features), support::plugin("magic-cube", &[])]
}

impl Scene {
    fn new() -> Self {
        Self::with(support::builder())
    }

    fn with(builder: Builder) -> Self {
        let host = builder.build().unwrap_or_else(|error| panic!("{error}"));
        host.create_master(&libraries(&[])).unwrap_or_else(|error| panic!("{error}"));
        let spawn = |class: &str| host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"));
        let [greedy, cube, actor] =
            ["/Script/Game.Greedy", "/Script/Game.MagicCube", "/Script/Engine.Actor"].map(spawn);
        let call_count = Rc::new(Cell::new(0));
        let scene = Self { host, greedy, cube, actor, call_count };
        scene.offer();
        scene.call(scene.cube, "say_hello");
        scene.call(scene.greedy, "count");
        scene
    }

    fn offer(&self) {
        let signature = |text: &str| text.parse().expect("a signature");
        let call_count = Rc::clone(&self.call_count);
        let count = move |_: &Runtime, _: &[Value]| {
            call_count.set(call_count.get() + 1);
            Ok(None)
        };
        self.host.calls().register("host.tally", signature("u64"), count).expect("a free name");
        let now = |_: &Runtime, _: &[Value]| Ok(Some(Value::U64(7)));
        self.host.calls().register_pure("host.now", signature("-> u64"), now).expect("a free name");
        for (name, object) in [("host.victim", self.actor), ("host.other", self.cube)] {
            let return_object = move |_: &Runtime, _: &[Value]| Ok(Some(Value::Object(object)));
            let signature = signature("-> Object(/Script/Engine.Actor)");
            self.host.calls().register_pure(name, signature, return_object).expect("a free name");
        }
    }

    fn call(&self, object: ObjectHandle, function: &str) -> Option<Value> {
        self.host.objects().call(object, function, &[]).unwrap_or_else(|error| panic!("{function}: {error}"))
    }

    /// Returns two counters: one is stored only in a plugin part, the other only in the host.
    fn known(&self) -> (Option<Value>, u64) {
        (self.call(self.cube, "greeting_count"), self.call_count.get())
    }
}

fn fails_at(step: ReloadStep) -> Armed {
    faults::arm(Fault { step, nth: 0, kind: FaultKind::Error })
}

/// Reloads a build with these features. Reloads all modules if `is_whole` is true, otherwise only the changed modules. The reload fails at
/// its last step.
fn roll_back(scene: &Scene, features: &[&str], is_whole: bool) -> ReloadReport {
    let armed = fails_at(ReloadStep::BeforeCommit);
    let next = libraries(features);
    let report = if is_whole { scene.host.reload(&next) } else { scene.host.reload_changed(&next) };
    assert!(armed.has_fired());
    let report = report.expect("a Master");
    assert!(!report.is_committed(), "{report}");
    report
}

/// Returns the report without the lines about leftovers of the attacker. These lines differ between builds.
fn without_leftovers(report: &ReloadReport) -> String {
    let text = report.to_string();
    text.lines().filter(|line| !line.starts_with("  attacker left ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn new_code_using_every_entry_point_leaves_only_reported_effects() {
    let record = support::record("greedy");
    let scene = Scene::new();
    // State before the reload, for the comparison afterwards.
    let (before, known) = (scene.host.worlds().digest(), scene.known());
    let report = roll_back(&scene, &["grabs"], false);
    expect![[r#"
        a black of the main: done
        post of the main: done
        class constructor: a host function: refused
        class constructor: a birth: refused
        post of the class constructor: done
        PostInitProperties: a host function: refused
        a read of the host: done
        a host function: refused
        a host function, by dynamic call: refused
        a pure function of the host's: done
        a function of the host's: refused
        the same on itself: refused
        a method of a module that stays: refused
        the same, final: refused
        the same, as a method: refused
        a pure one of it: done
        a static one of it: refused
        a property of another: refused
        the same, by name: refused
        the same, by dynamic call: refused
        a text of another: refused
        a delegate of its own, bound: done
        the same, called: refused
        the name of another: refused
        its own name: refused
        a birth: refused
        a birth of a class that stays: refused
        the end of another: refused
        its own end: refused
        a collection: refused
        its own property: done
        an id of another: done
        its own method: the plugin part of Game.Greedy (Greedy_1) that `Game.Greedy:count_on` needs is not available: it does not exist yet, is being built or replaced, or has ended
        a black: done
        post of the red constructor: done
        the exit hook ran
    "#]]
    .assert_eq(&record.take().replace(&scene.greedy.to_string(), "the object"));
    assert_eq!(scene.known(), known);
    let differences = before.differences(&scene.host.worlds().digest());
    let is_named = |line: &String| report.remainder.names_resolved.iter().any(|name| line.contains(&**name));
    assert_eq!(differences.iter().filter(|line| !is_named(line)).collect::<Vec<_>>(), Vec::<&String>::new());
    expect![[r#"
        attacker  generation 1 stays   the reload failed
          commit: the step BeforeCommit was made to fail by a test: disarm the fault and reload again
          everything is as it was
          main ran in attacker: effects outside of the host's world are not undone
          exit hook ran in attacker
          created and destroyed again: /Script/Game.Announcer, /Script/Game.Breaker, /Script/Game.Bystander, /Script/Game.Greedy, /Script/Game.Hoarder, /Script/Game.Holder, /Script/Game.Notched
          called as pure: /Script/Engine.Actor:describe, /Script/Game.MagicCube:greeting_count, ex:/host.now, ex:/host.other, ex:/host.victim
          refused to new code: /Script/Engine.Actor:add_location (2 times), /Script/Game.MagicCube:say_hello (4 times), ex:/host.tally (4 times), nm:/magic_cube:/Script/Game.MagicCube:build_tag
          looked up, and still resolved: ex:/host.now, ex:/host.other, ex:/host.tally, ex:/host.victim, nm:/magic_cube:MagicCube:build_tag, nm:/magic_cube:MagicCube:say_hello, uf!:/Script/Game.MagicCube:say_hello, up:/Script/Engine.Actor:can_tick"#]].assert_eq(&without_leftovers(&report));
    scene.host.tick(Budget::frame());
    scene.host.tick(Budget::frame());
    assert_eq!((scene.known(), record.take()), (known, String::new()), "no deferred work ran");
    assert_eq!(scene.call(scene.greedy, "count"), Some(Value::U64(2)), "the old plugin part keeps its state");
}

#[test]
fn work_deferred_by_new_code_runs_after_the_commit() {
    let record = support::record("greedy");
    let scene = Scene::new();
    scene
        .host
        .reload_changed(&libraries(&["grabs"]))
        .expect("a Master")
        .into_result()
        .expect("refusals do not stop the load");
    scene.host.tick(Budget::frame());
    scene.host.tick(Budget::frame());
    let log = record.take();
    for whose in ["main", "class constructor", "red constructor"] {
        for what in ["post", "timer", "task", "post of a thread"] {
            let line = format!("{what} of the {whose} ran\n");
            assert_eq!(log.matches(&line).count(), 1, "{line}{log}");
        }
    }
    assert_eq!(scene.call_count.get(), 0, "what was refused does not run later either");
}

#[test]
fn a_listener_cannot_run_deferred_work_before_the_commit() {
    let record = support::record("greedy");
    let slot = Rc::new(RefCell::new(None::<Runtime>));
    let inner = Rc::clone(&slot);
    let scene = Scene::with(support::builder().on_event(move |event| {
        support::Record::line("greedy", format!("{event}"));
        let host = inner.borrow().clone();
        if let Some(host) = host {
            host.tick(Budget::frame());
            host.safe_point();
            let waited = host.unloads().wait(Duration::ZERO);
            support::Record::line("greedy", format!("waited: {}", waited.is_ok()));
        }
    }));
    slot.replace(Some(scene.host.clone()));
    let report = roll_back(&scene, &["grabs"], false);
    slot.replace(None);
    let log = record.take();
    let left: Vec<_> = log.lines().filter(|line| line.ends_with(" ran") || line.starts_with("waited: true")).collect();
    assert_eq!(left, ["the exit hook ran"], "{log}");
    expect![[r#"
        Unloading 1
        Kept 2: magic_cube of generation 1
        PreStartup 2
        Startup 2 attacker
        PostStartup 2
        Unloaded 2
        Dead 2
        Resumed 1"#]]
    .assert_eq(&report.remainder.events.join("\n"));
}

#[test]
fn a_rollback_report_names_root_set_changes_of_listeners() {
    let _alone = support::record("greedy");
    let slot = Rc::new(RefCell::new(None::<(Runtime, ObjectHandle, ObjectHandle)>));
    let inner = Rc::clone(&slot);
    let scene = Scene::with(support::builder().on_event(move |event| {
        if let Some((host, root, loose)) = &*inner.borrow()
            && format!("{event}").starts_with("PreStartup")
        {
            assert!(host.objects().remove_root(*root) && host.objects().add_root(*loose));
        }
    }));
    let (host, loose) =
        (&scene.host, scene.host.objects().spawn_in("/Script/Engine.Actor", scene.actor).expect("an object"));
    // Removes and adds a root before the reload. The report about the reload must not list these changes.
    assert!(host.objects().remove_root(scene.greedy) && host.objects().add_root(scene.greedy));
    for is_whole in [false, true] {
        slot.replace(Some((host.clone(), scene.cube, loose)));
        let report = roll_back(&scene, &["grabs"], is_whole);
        slot.replace(None);
        let named = (report.remainder.roots_added, report.remainder.roots_removed);
        assert_eq!(named, (vec![loose.to_string()], vec![scene.cube.to_string()]));
        assert!(host.objects().is_root(loose) && !host.objects().is_root(scene.cube));
        assert!(host.objects().remove_root(loose) && host.objects().add_root(scene.cube));
    }
}

#[test]
fn a_failed_create_restricts_its_code_as_a_reload_does() {
    let record = support::record("greedy");
    let host = support::builder().build().expect("a host");
    let before = host.worlds().digest();
    let armed = fails_at(ReloadStep::ClassDefault);
    let error = host.create_master(&libraries(&["grabs"])).expect_err("it fails").to_string();
    assert!(armed.has_fired(), "{error}");
    drop(armed);
    host.tick(Budget::frame());
    assert_eq!(before.differences(&host.worlds().digest()), Vec::<String>::new());
    let log = record.take();
    assert!(log.contains("post of the main: done") && !log.contains(" of the main ran"), "{log}");
    host.create_master(&libraries(&["grabs"])).expect("refusals do not stop the load");
    let log = record.take();
    assert!(log.contains("class constructor: a host function: "), "{log}");
    assert!(log.contains("class constructor: a birth: refused"), "{log}");
    host.tick(Budget::frame());
    host.tick(Budget::frame());
    assert!(record.take().contains("post of the main ran"));
}

/// Code that creates an object during an unloading callback.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Maker {
    /// The old plugin code, which a listener calls.
    OldCode,
    Host,
}

#[test]
fn objects_created_in_unloading_callbacks_survive_the_reload() {
    let _alone = support::record("greedy");
    let makers = [Maker::OldCode, Maker::Host];
    for (maker, is_committed) in makers.into_iter().flat_map(|maker| [(maker, false), (maker, true)]) {
        let scene = Scene::new();
        let greedy = scene.greedy;
        let spawned = Rc::new(Cell::new(ObjectHandle::NONE));
        let kept = Rc::clone(&spawned);
        scene.host.unloads().on_unloading(0, move |host, _generation| {
            let nested = match maker {
                Maker::OldCode => host.objects().call(greedy, "nest", &[]).expect("the old code still answers"),
                Maker::Host => {
                    Some(Value::Object(host.objects().spawn("/Script/Game.Greedy").expect("the old class is there")))
                }
            };
            let Some(Value::Object(nested)) = nested else { panic!("{nested:?}") };
            for _ in 0..3 {
                host.objects().call(nested, "count", &[]).expect("its object answers too");
            }
            host.objects().set(nested, "loot", &Value::U64(90)).expect("a property");
            kept.set(nested);
        });
        match is_committed {
            false => drop(roll_back(&scene, &["grabs"], true)),
            true => drop(scene.host.reload(&libraries(&["grabs"])).expect("a Master").into_result().expect("a reload")),
        }
        let spawned = spawned.get();
        assert!(scene.host.objects().is_alive(spawned), "{maker:?}, committed: {is_committed}");
        assert_eq!(scene.host.objects().class_of(spawned).as_deref(), Some("/Script/Game.Greedy"));
        // A commit replaces the plugin part, so the count in it restarts.
        let count = if is_committed { 1 } else { 4 };
        assert_eq!(
            scene.host.objects().get(spawned, "loot").ok(),
            Some(Value::U64(90)),
            "{maker:?}, committed: {is_committed}"
        );
        assert_eq!(scene.call(spawned, "count"), Some(Value::U64(count)), "{maker:?}, committed: {is_committed}");
        let rolled_back = scene.host.reload(&libraries(&[])).expect("a Master").into_result();
        rolled_back.expect("it is migrated like all others");
        assert!(scene.host.objects().is_alive(spawned));
    }
}

#[test]
fn unloading_callbacks_cannot_reach_the_new_code() {
    let _alone = support::record("greedy");
    let host = support::host(&[attacker(&[])]);
    let outcomes_seen = Rc::new(RefCell::new(Vec::new()));
    let lines = Rc::clone(&outcomes_seen);
    host.unloads().on_unloading(0, move |host, _generation| {
        let two = [Value::I32(1), Value::I32(2)];
        let outcomes =
            [host.calls().call("ex:/switchboard.add", &two), host.calls().call("nm:/switchboard:Line:office", &[])];
        let refused = outcomes.map(|outcome| outcome.is_err());
        let classes = ["/Script/Game.Line", "/Script/Game.Greedy"].map(|class| host.types().class(class).is_ok());
        lines.borrow_mut().push((refused, classes));
    });
    let next = [attacker(&[]), support::plugin("switchboard", &[])];
    host.reload(&next).expect("a Master").into_result().expect("a reload");
    assert_eq!(*outcomes_seen.borrow(), [([true, true], [false, true])]);
    let two = [Value::I32(1), Value::I32(2)];
    assert_eq!(host.calls().call("ex:/switchboard.add", &two).ok(), Some(Some(Value::I32(3))));
}

#[test]
fn work_deferred_during_a_world_load_runs_afterward_or_never() {
    let record = support::record("greedy");
    let host = support::host(&libraries(&[]));
    host.objects().spawn("/Script/Game.Announcer").unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("world");
    host.worlds().save(&path).expect("it is saved");
    host.tick(Budget::frame());
    assert_eq!(record.take(), "an announcement: done\nit is announced\n");

    let armed = fails_at(ReloadStep::BeforeCommit);
    let failed = host.worlds().load(&path).expect_err("it fails").to_string();
    assert!(armed.has_fired(), "{failed}");
    drop(armed);
    host.tick(Budget::frame());
    assert_eq!(record.take(), "an announcement: done\n", "deferred work of the failed load does not run");

    host.worlds().load(&path).expect("it is loaded");
    host.tick(Budget::frame());
    assert_eq!(record.take(), "an announcement: done\nit is announced\n");
}
