//! Tests reloads that fail at every step, by an error and by a panic in the host's own code. After each failure the world, including the
//! plugin parts, must be unchanged. The next reload must work. `alcedo_runtime::faults` lists all steps. In every second reload the new
//! code also calls all entry points (feature `grabs` of the attacker). Such calls could change the host's own counter, plugin parts in
//! modules that are not replaced, or a registry.

use crate::support;

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;

use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::{
    Error, Named, ObjectHandle, Outcome, ReloadReport, ReloadScope, Remainder, Runtime, Value, ZCallHandle, process,
};

/// Returns one of two sets of libraries, which differ in some classes. A reload in either direction adds a subobject, removes a subobject,
/// converts values, removes a class, restores a class, and changes the native base class of a class.
fn libraries(turn: usize) -> Vec<PathBuf> {
    let (form, greed): (&[&str], &[&str]) = if turn.is_multiple_of(2) { (&[], &[]) } else { (&["v2"], &["grabs"]) };
    let same = ["glue-derived", "glue-base", "magic-cube", "switchboard", "broken"];
    let mut libraries: Vec<_> = same.iter().map(|package| support::plugin(package, &[])).collect();
    libraries.push(support::plugin("migration", form));
    // Each of the two declarations converts values from the other declaration.
    let declaration: &[&str] = if turn.is_multiple_of(2) { &[] } else { &["later"] };
    libraries.push(support::plugin("conversions", declaration));
    libraries.push(support::plugin("attacker", greed));
    // Adds a module that can be suspended and resumed, in one of two builds. Also adds a module that depends on this module.
    let tag = 1 + turn as u64 % 2;
    libraries.extend([support::tagged("harbor", &[], tag), support::tagged("harbor", &["needs-harbor"], tag)]);
    libraries
}

/// Host with objects from every module. Each object has state that is stored only in its plugin part.
struct Scene {
    host: Runtime,
    turn: usize,
    objects: Vec<(&'static str, ObjectHandle)>,
    /// Handle of a host function. The function outlives every plugin generation.
    greeting: ZCallHandle,
    /// Number of calls from new code to the host's function. The reload must refuse these calls.
    call_count: Rc<Cell<u64>>,
    scope: ReloadScope,
}

/// Classes, each with functions that read the state of its plugin part.
const QUESTIONS: [(&str, &[&str]); 7] = [
    // Objects of this class are created first, so their red constructor makes the first writes to existing objects. If such a write fails,
    // the red constructor fails.
    ("Game.Notched", &[]),
    ("Game.Hero", &[]),
    ("Game.ShieldedSet", &["absorbed", "change_count"]),
    ("Game.MagicCube", &["greeting_count"]),
    ("Game.Fragile", &["state"]),
    ("Game.Line", &["rings"]),
    ("Game.Greedy", &["counted"]),
];

impl Scene {
    fn new(scope: ReloadScope) -> Self {
        let host = support::host(&libraries(0));
        let signature = "String -> String".parse().expect("a signature");
        let greet = |_: &Runtime, values: &[Value]| Ok(Some(Value::Text(format!("the host greets {values:?}"))));
        host.calls().register("host.greet", signature, greet).expect("a free name");
        let greeting = host.calls().resolve("ex:/host.greet").expect("it is registered");
        let mut objects = Vec::new();
        for (class, _) in QUESTIONS {
            for _ in 0..2 {
                objects.push((
                    class,
                    host.objects().spawn(&format!("/Script/{class}")).unwrap_or_else(|error| panic!("{error}")),
                ));
            }
        }
        for class in ["Game.Shapeshifter", "Game.Ghost", "Game.Diver"] {
            for _ in 0..2 {
                objects.push((
                    class,
                    host.objects().spawn(&format!("/Script/{class}")).unwrap_or_else(|error| panic!("{error}")),
                ));
            }
        }
        let call_count = Rc::new(Cell::new(0));
        let count = Rc::clone(&call_count);
        let count = move |_: &Runtime, _: &[Value]| {
            count.set(count.get() + 1);
            Ok(None)
        };
        host.calls().register("host.tally", "u64".parse().expect("a signature"), count).expect("a free name");
        let cube = objects.iter().find(|(class, _)| *class == "Game.MagicCube").expect("there are two").1;
        let actor = host.objects().spawn("/Script/Engine.Actor").expect("a native actor");
        objects.push(("Engine.Actor", actor));
        for (name, object) in [("host.victim", actor), ("host.other", cube)] {
            let return_object = move |_: &Runtime, _: &[Value]| Ok(Some(Value::Object(object)));
            let signature = "-> Object(/Script/Engine.Actor)".parse().expect("a signature");
            host.calls().register_pure(name, signature, return_object).expect("a free name");
        }
        // After this reload, some objects are dormant in every generation: ghosts in one, wisps in the next.
        host.reload(&libraries(1)).expect("a Master").into_result().unwrap_or_else(|report| panic!("{report}"));
        for _ in 0..2 {
            let class = "Game.Wisp";
            objects.push((
                class,
                host.objects().spawn(&format!("/Script/{class}")).unwrap_or_else(|error| panic!("{error}")),
            ));
        }
        for filling in [0.25, 0.75] {
            let gauge = host.objects().spawn("/Script/Game.Gauge").unwrap_or_else(|error| panic!("{error}"));
            host.objects().set(gauge, "heat", &Value::I32(7)).expect("a number");
            host.objects().set(gauge, "filling", &Value::F64(filling)).expect("a number");
            objects.push(("Game.Gauge", gauge));
        }
        let scene = Self { host, turn: 1, objects, greeting, call_count, scope };
        let [cube, shape] = ["Game.MagicCube", "Game.Shapeshifter"].map(|class| scene.of(class)[0]);
        scene.host.objects().set(cube, "rotation_speed", &Value::F64(77.0)).expect("a number");
        scene.host.objects().set(shape, "speed", &Value::F64(90.0)).expect("a number");
        scene.host.objects().set(shape, "friend", &Value::Object(shape)).expect("a reference");
        scene
    }

    fn of(&self, class: &str) -> Vec<ObjectHandle> {
        self.objects.iter().filter(|(known, _)| *known == class).map(|(_, object)| *object).collect()
    }

    /// Calls functions that change fields of plugin parts. A committed reload would lose these changes.
    fn stir(&self) {
        let call = |class: &str, function: &str, arguments: &[Value]| {
            for object in self.of(class) {
                self.host
                    .objects()
                    .call(object, function, arguments)
                    .unwrap_or_else(|error| panic!("{class}:{function}: {error}"));
            }
        };
        call("Game.MagicCube", "say_hello", &[]);
        call("Game.Fragile", "poke", &[]);
        call("Game.ShieldedSet", "change_health", &[Value::F64(-1.0)]);
        call("Game.Line", "answer", &[Value::Text("a test".to_owned())]);
        call("Game.Greedy", "count", &[]);
    }

    fn reload(&self, libraries: &[PathBuf]) -> ReloadReport {
        let report = match self.scope {
            ReloadScope::All => self.host.reload(libraries),
            ReloadScope::Changed => self.host.reload_changed(libraries),
        };
        report.expect("a Master")
    }

    /// Returns the results of calls that read plugin parts, by name and by handle.
    fn observations(&self, handles: &[(&str, ZCallHandle)]) -> Vec<String> {
        let mut observations = Vec::new();
        for (class, questions) in QUESTIONS {
            for object in self.of(class) {
                let answers = questions.iter().map(|question| self.host.objects().call(object, question, &[]));
                observations.push(format!("{class} {object}: {:?}", answers.map(answer).collect::<Vec<_>>()));
            }
        }
        for class in ["Game.Shapeshifter", "Game.Ghost", "Game.Diver", "Game.Wisp"] {
            for object in self.of(class) {
                let waits = self.host.objects().dormant_class(object);
                observations.push(format!(
                    "{class} {object}: {} {waits:?}",
                    answer(self.host.objects().call(object, "own", &[]))
                ));
            }
        }
        let two = [Value::I32(20), Value::I32(22)];
        observations.push(answer(self.host.calls().call("ex:/switchboard.add", &two)));
        observations.push(answer(self.host.calls().call_handle(self.greeting, &[Value::Text("Ana".to_owned())])));
        for (name, handle) in handles {
            let arguments = if name.starts_with("ex:") { &two[..] } else { &[] };
            observations.push(format!(
                "{name} {}: {}",
                handle.0,
                answer(self.host.calls().call_handle(*handle, arguments))
            ));
        }
        observations
    }

    fn mapped(&self) -> usize {
        process::stale_mappings(&self.host.stage_dir()).expect("the process map").len()
    }

    /// Makes the next reload fail, and checks that the state is unchanged. Then reloads without a fault.
    fn check(&mut self, fault: Fault) {
        self.stir();
        let names = ["ex:/switchboard.add", "nm:/magic_cube:MagicCube:build_tag", "nm:/switchboard:Line:office"];
        let handles = names.map(|name| (name, self.host.calls().resolve(name).expect("it is offered")));
        let (generation, mapped) = (self.host.generation(), self.mapped());
        let next = libraries(self.turn + 1);
        let before = (self.host.worlds().digest(), self.observations(&handles));
        let call_count = self.call_count.get();

        let armed = faults::arm(fault);
        let report = self.reload(&next);
        assert!(armed.has_fired(), "{fault:?} was not reached: {report}");
        drop(armed);

        let Outcome::RolledBack { error, .. } = &report.outcome else { panic!("{fault:?}: {report}") };
        assert!(error.contains(&fault.step.to_string()), "{fault:?}: {error}");
        let is_named = |line: &String| report.remainder.names_resolved.iter().any(|name| line.contains(&**name));
        let mut differences = before.0.differences(&self.host.worlds().digest());
        differences.retain(|line| !is_named(line));
        assert_eq!(differences, Vec::<String>::new(), "{fault:?}: {report}");
        assert_eq!(self.observations(&handles), before.1, "{fault:?}");
        assert_eq!(self.call_count.get(), call_count, "{fault:?}: the host's function was not reached");
        assert_eq!((self.host.generation(), self.mapped()), (generation, mapped), "{fault:?}");
        assert_eq!((report.generation, report.parked), (generation, vec![]), "{fault:?}");
        for (_, object) in &self.objects {
            assert!(self.host.objects().is_alive(*object), "{fault:?}");
        }

        let report = self.reload(&next);
        let report = report.into_result().unwrap_or_else(|report| panic!("{fault:?}, and then: {report}"));
        self.turn += 1;
        assert_eq!(report.remainder, Remainder::default(), "{fault:?}: only a rollback leaves something");
        let unloads: Vec<_> = self.host.unloads().tickets().iter().map(|ticket| ticket.report().to_string()).collect();
        assert_eq!((report.parked, self.mapped()), (vec![], mapped), "{fault:?}: {unloads:?}");
        assert_eq!(report.class_constructors_rerun, 0, "{fault:?}");
        for (name, handle) in handles.into_iter().filter(|_| self.scope == ReloadScope::All) {
            assert!(self.host.calls().call_handle(handle, &[]).is_err(), "{name} expired with its generation");
        }
    }
}

fn answer(result: Result<Option<Value>, Error>) -> String {
    result.map_or_else(|error| format!("refused: {error}"), |value| format!("{value:?}"))
}

/// Returns true if the step runs several times in one reload of this scene.
fn repeats(step: ReloadStep) -> bool {
    match step {
        ReloadStep::Canary
        | ReloadStep::Shadow
        | ReloadStep::Declare
        | ReloadStep::Survivors
        | ReloadStep::Callbacks
        | ReloadStep::ShutGates
        | ReloadStep::PreStartup
        | ReloadStep::PostStartup
        | ReloadStep::BeforeCommit => false,
        ReloadStep::Read
        | ReloadStep::Check
        | ReloadStep::Copy
        | ReloadStep::Map
        | ReloadStep::LayoutCheck
        | ReloadStep::Attach
        | ReloadStep::Enroll
        | ReloadStep::FillCells
        | ReloadStep::Suspend
        | ReloadStep::SaveKept
        | ReloadStep::Main
        | ReloadStep::ClassDefault
        | ReloadStep::PlanClass
        | ReloadStep::CarryObject
        | ReloadStep::Sleep
        | ReloadStep::Wake
        | ReloadStep::Conversion
        | ReloadStep::Reconstruction
        | ReloadStep::AddSubobject
        | ReloadStep::RebuildObject
        | ReloadStep::UndoCopy
        | ReloadStep::LoadKept => true,
    }
}

fn check_every_step(kind: FaultKind, scope: ReloadScope) {
    let mut scene = Scene::new(scope);
    for step in ReloadStep::ALL {
        scene.check(Fault { step, nth: 0, kind });
        if repeats(step) {
            scene.check(Fault { step, nth: 1, kind });
        }
    }
    let stage_dir = scene.host.stage_dir();
    assert_eq!(scene.host.unload_master().expect("a Master").parked, Vec::<String>::new());
    assert_eq!(process::stale_mappings(&stage_dir).expect("the process map"), Vec::<PathBuf>::new());
}

#[test]
fn an_error_at_any_step_leaves_the_world_unchanged() {
    check_every_step(FaultKind::Error, ReloadScope::All);
}

#[test]
fn a_host_panic_at_any_step_leaves_the_world_unchanged() {
    check_every_step(FaultKind::Panic, ReloadScope::All);
}

#[test]
fn a_failure_at_any_step_leaves_kept_modules_unchanged() {
    check_every_step(FaultKind::Error, ReloadScope::Changed);
}

#[test]
fn a_digest_detects_changed_values_names_and_plugin_parts() {
    let scene = Scene::new(ReloadScope::All);
    let before = scene.host.worlds().digest();
    let cube = scene.of("Game.MagicCube")[0];
    scene.host.objects().set(cube, "rotation_speed", &Value::F64(1.0)).expect("a number");
    let differences = before.differences(&scene.host.worlds().digest());
    assert_eq!(
        differences,
        [format!("values - {cube}.rotation_speed = 77"), format!("values + {cube}.rotation_speed = 1")]
    );
    scene.host.objects().set(cube, "rotation_speed", &Value::F64(77.0)).expect("a number");
    assert_eq!(before.differences(&scene.host.worlds().digest()), Vec::<String>::new());
    scene.host.reload(&libraries(1)).expect("a Master").into_result().expect("a reload");
    let differences = before.differences(&scene.host.worlds().digest());
    let parts: std::collections::BTreeSet<_> = differences.iter().map(|line| line.split(' ').next()).collect();
    // The list contains `values`, because the reload has replaced the class default objects.
    let all = ["calls", "files", "jobs", "leases", "modules", "numbers", "objects", "plugin-parts", "types", "values"];
    assert_eq!(parts.into_iter().flatten().collect::<Vec<_>>(), all);
}

#[test]
fn a_failed_create_leaves_no_trace_of_its_modules() {
    for kind in [FaultKind::Error, FaultKind::Panic] {
        for step in [
            ReloadStep::Read,
            ReloadStep::Check,
            ReloadStep::Copy,
            ReloadStep::Canary,
            ReloadStep::Map,
            ReloadStep::LayoutCheck,
            ReloadStep::Attach,
            ReloadStep::Declare,
            ReloadStep::Enroll,
            ReloadStep::FillCells,
            ReloadStep::PreStartup,
            ReloadStep::Main,
            ReloadStep::PostStartup,
            ReloadStep::ClassDefault,
        ] {
            let host = support::builder().build().expect("a host");
            let actor = host.objects().spawn("/Script/Engine.Actor").expect("a native actor");
            let before = host.worlds().digest();
            let armed = faults::arm(Fault { step, nth: 0, kind });
            let error = host.create_master(&libraries(0)).expect_err("it fails").to_string();
            assert!(armed.has_fired() && error.contains(&step.to_string()), "{step} {kind:?}: {error}");
            drop(armed);
            assert_eq!(before.differences(&host.worlds().digest()), Vec::<String>::new(), "{step} {kind:?}");
            assert_eq!(process::stale_mappings(&host.stage_dir()).expect("the process map"), Vec::<PathBuf>::new());
            assert!(host.objects().is_alive(actor));
        }
    }
}

/// Uses a plugin that bypasses the hooks, whose image stays mapped.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn the_image_that_a_failed_create_leaves_is_listed() {
    for step in [ReloadStep::LayoutCheck, ReloadStep::Attach] {
        let host = support::builder().build().expect("a host");
        let armed = faults::arm(Fault { step, nth: 0, kind: FaultKind::Error });
        let error = host.create_master(&[support::plugin("leftovers", &["bypass"])]).expect_err("it fails").to_string();
        assert!(armed.has_fired(), "{error}");
        drop(armed);
        host.unloads().wait(std::time::Duration::from_secs(60)).expect("a safe point");
        let parked = host.unloads().parked();
        assert!(parked.len() == 1 && parked[0].contains("sigset"), "{step}: {parked:?}");
        assert_eq!(host.shutdown().left, parked);
    }
}

#[test]
fn code_of_new_modules_cannot_write_to_existing_objects() {
    let record = support::record("meddling");
    let host = support::host(&[support::plugin("broken", &[])]);
    let actor = host.objects().spawn("/Script/Engine.Actor").expect("a native actor");
    let victim = move |_: &Runtime, _: &[Value]| Ok(Some(Value::Object(actor)));
    host.calls()
        .register_pure("host.victim", " -> Object(/Script/Engine.Actor)".parse().expect("a signature"), victim)
        .expect("a free name");
    let before = host.worlds().digest();
    let meddling = support::plugin("broken", &["meddles-in-class-constructor"]);

    let armed = faults::arm(Fault { step: ReloadStep::BeforeCommit, nth: 0, kind: FaultKind::Error });
    let report = host.reload(std::slice::from_ref(&meddling)).expect("a Master");
    drop(armed);
    assert!(!report.is_committed(), "{report}");
    assert_eq!(before.differences(&host.worlds().digest()), Vec::<String>::new());
    let log = record.take();
    let lines: Vec<_> = log.lines().map(|line| line.split_once(" is refused before the commit")).collect();
    let [Some((write, _)), Some((call, _)), None] = lines[..] else { panic!("{log}") };
    assert_eq!(
        (write, call),
        (&*format!("writing to {}", host.objects().describe(actor)), "calling /Script/Engine.Actor:add_location")
    );
    assert!(log.ends_with("its own is written\n"), "{log}");
    let named = |name: &str| Named { name: name.to_owned(), times: 1 };
    assert_eq!(report.remainder.pure_calls, [named("ex:/host.victim")]);
    assert_eq!(report.remainder.refused_calls, [named("/Script/Engine.Actor:add_location")]);

    host.reload(&[meddling]).expect("a Master").into_result().expect("only its writes are refused");
    assert_eq!(host.objects().get(actor, "can_tick").expect("a property"), Value::Bool(false));
}

#[test]
fn a_rollback_undoes_registrations_of_a_new_module() {
    let host = support::host(&[support::plugin("broken", &[])]);
    let signature = || " -> i32".parse().expect("a signature");
    let armed = faults::arm(Fault { step: ReloadStep::BeforeCommit, nth: 0, kind: FaultKind::Error });
    let next = [support::plugin("broken", &[]), support::plugin("switchboard", &[])];
    let report = host.reload(&next).expect("a Master");
    drop(armed);
    assert!(!report.is_committed(), "{report}");
    assert!(host.calls().resolve("ex:/switchboard.add").is_err(), "the name is not registered");
    assert!(host.calls().resolve("nm:/switchboard:Line:office").is_err());
    assert!(host.objects().spawn("/Script/Game.Line").is_err());
    host.calls()
        .register("switchboard.add", signature(), |_, _| Ok(Some(Value::I32(1))))
        .expect("the name is free again");
}
