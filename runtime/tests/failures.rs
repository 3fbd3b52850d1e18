//! Tests faults of plugins. The host must return a typed error that names the location, and must continue. Features of the plugin `broken`
//! select the faults of a build. A build without these features panics only on request.

use crate::support;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use alcedo_build::{BuildError, Variants};
use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::{
    Budget, CallError, ConstructionStep, Error, LoadError, ObjectHandle, Outcome, Phase, Runtime, Value,
};
use alcedo_runtime::{ContextEvent, process};
use expect_test::{Expect, expect};
use support::line_of;

const FRAGILE: &str = "/Script/Game.Fragile";

fn broken(features: &[&str]) -> PathBuf {
    support::plugin("broken", features)
}

fn healthy_host() -> Runtime {
    support::host(&[broken(&[])])
}

/// Returns the location at which the hook calls `misbehave`, in the format of panics.
fn location_of(hook: &str) -> String {
    format!("{}:9", line_of("broken", &format!("\"{hook}\")")))
}

/// Makes `hook` panic at its next call. All other calls of the plugin succeed.
fn panic_next_in(host: &Runtime, hook: &str) {
    host.calls().call("nm:/broken:Fragile:panic_next_in", &[Value::Text(hook.to_owned())]).expect("the call succeeds");
}

fn state(host: &Runtime, fragile: ObjectHandle) -> String {
    match host.objects().call(fragile, "state", &[]) {
        Ok(Some(Value::Text(state))) => state,
        other => panic!("`state` returns a string, not {other:?}"),
    }
}

/// Returns the number of all objects, including class default objects.
fn all_objects(host: &Runtime) -> usize {
    host.world().object_count()
}

fn assert_no_mapping(host: &Runtime) {
    assert_eq!(process::stale_mappings(&host.stage_dir()).expect("the process map"), Vec::<PathBuf>::new());
    assert_eq!(host.unloads().parked(), Vec::<String>::new());
}

fn create_fails(feature: &str, expected: &str) {
    let host = support::builder().build().expect("a host");
    let before = all_objects(&host);
    let error = host.create_master(&[broken(&[feature])]).expect_err("it panics");
    assert_eq!(error.to_string(), expected);
    assert_eq!((host.generation(), all_objects(&host)), (0, before));
    assert_eq!(host.types().dynamic_classes(), Vec::<String>::new());
    assert_no_mapping(&host);
    host.create_master(&[broken(&[])]).expect("the next one is healthy");
    host.objects().spawn(FRAGILE).expect("and works");
}

#[test]
fn a_panic_in_main_leaves_no_master() {
    let location = location_of("main").replace(":9", ":5");
    create_fails("panic-in-main", &format!("main of broken panicked: \"broken on purpose: main\" at {location}"));
}

#[test]
fn a_panic_in_a_default_object_hook_leaves_no_master() {
    for (feature, hook, step) in [
        ("panic-in-red-constructor", "red constructor", "red constructor"),
        ("panic-in-class-constructor", "class constructor", "class constructor"),
        ("panic-in-post-init", "PostInitProperties", "PostInitProperties"),
    ] {
        let location = location_of(hook);
        let failure = format!("{step} of Game.Fragile (Default__Fragile): \"broken on purpose: {hook}\" at {location}");
        create_fails(feature, &format!("Game.Fragile was not created: {failure}"));
    }
}

#[test]
fn a_reload_that_panics_is_rolled_back_with_all_state_in_place() {
    for (feature, hook, phase) in [
        ("panic-in-main", "main", Phase::Start),
        ("panic-in-red-constructor", "red constructor", Phase::Classes),
        ("panic-in-class-constructor", "class constructor", Phase::Classes),
        ("panic-in-post-init", "PostInitProperties", Phase::Classes),
        ("panic-in-rebuild", "rebuild", Phase::Rebuild),
    ] {
        let host = healthy_host();
        let fragile = host.objects().spawn(FRAGILE).expect("spawned");
        host.objects().set(fragile, "toughness", &Value::I32(77)).expect("a number");
        host.objects().call(fragile, "poke", &[]).expect("it counts");
        host.objects().call(fragile, "poke", &[]).expect("it counts");
        let before = all_objects(&host);

        let report = host.reload(&[broken(&[feature])]).expect("a Master");

        let Outcome::RolledBack { phase: failed, error } = &report.outcome else { panic!("{feature}: {report}") };
        assert_eq!(*failed, phase, "{feature}");
        let at = line_of("broken", &format!("\"{hook}\")"));
        assert!(error.contains(&format!("\"broken on purpose: {hook}\" at {at}")), "{feature}: {error}");
        assert_eq!((report.generation, host.generation(), report.conjugates_rebuilt), (1, 1, 0), "{feature}");
        assert_eq!(all_objects(&host), before, "{feature}");
        assert_eq!(state(&host, fragile), "pokes=2 nerves=2", "{feature}: the very plugin part, not a rebuilt one");
        assert_eq!(host.objects().get(fragile, "toughness").expect("a number"), Value::I32(77), "{feature}");
        assert_eq!(host.counters().rollbacks, 1, "{feature}");
        host.objects().spawn(FRAGILE).expect("the old code still spawns objects");
        let report = host.reload(&[broken(&[])]).expect("a Master").into_result().expect("mended");
        assert_eq!((report.objects_kept, report.conjugates_rebuilt), (4, 2), "{feature}");
        assert_eq!(state(&host, fragile), "pokes=2 nerves=0", "{feature}: kept, and not kept");
    }
}

#[test]
fn a_panicking_construction_leaves_nothing_and_reports_its_location() {
    let host = healthy_host();
    let (objects, all) = (host.counters().objects, all_objects(&host));
    for (hook, step) in [
        ("red constructor", ConstructionStep::RedConstructor(FRAGILE.to_owned())),
        ("class constructor", ConstructionStep::ClassConstructor(FRAGILE.to_owned())),
        ("PostInitProperties", ConstructionStep::PluginPostInit(FRAGILE.to_owned())),
    ] {
        panic_next_in(&host, hook);
        let error = host.objects().spawn(FRAGILE).expect_err("it panics");
        let Error::Construction(failed) = &error else { panic!("{error}") };
        assert_eq!((failed.class.as_str(), &failed.step), (FRAGILE, &step));
        assert_eq!(failed.message, format!("broken on purpose: {hook}"));
        assert_eq!(failed.place.as_ref().map(ToString::to_string), Some(location_of(hook)));
        assert_eq!((host.counters().objects, all_objects(&host)), (objects, all), "{hook}");
        let spawned = host.objects().spawn(FRAGILE).expect("the next one is healthy");
        host.objects().destroy(spawned);
        assert_eq!((host.counters().objects, all_objects(&host)), (objects, all), "{hook}");
    }
}

/// Features of a build whose hooks panic only after the creation of the Master.
const LATE: [&str; 4] = ["panic-in-event", "panic-in-method", "panic-in-exit", "panic-in-finalizer"];

#[test]
fn a_method_panic_is_the_callers_error_and_the_object_keeps_working() {
    let host = support::host(&[broken(&LATE)]);
    let fragile = host.objects().spawn(FRAGILE).expect("spawned");
    for times in 1..=2 {
        let error = host.objects().call(fragile, "poke", &[]).expect_err("it panics");
        assert_eq!(error.to_string(), format!("panicked: \"broken on purpose: method\" at {}", location_of("method")));
        assert_eq!(state(&host, fragile), format!("pokes={times} nerves={times}"), "and its borrow has ended");
    }
}

#[test]
fn panics_in_event_finalizer_and_exit_hook_are_reported_without_aborting() {
    let record = support::record("alcedo_runtime::runtime::failures");
    let host = support::host(&[broken(&LATE)]);
    let fragile = host.objects().spawn(FRAGILE).expect("spawned");
    host.tick(Budget::frame());
    let log = record.take();
    assert!(log.starts_with("an event of Game.Fragile (Fragile_"), "{log}");
    assert!(log.contains(&format!("\"broken on purpose: event\" at {}", location_of("event"))), "{log}");
    assert!(host.objects().is_alive(fragile));
    (2..=100).for_each(|_| host.tick(Budget::frame()));
    let repeats = record.take();
    let counts: Vec<_> = repeats.lines().filter_map(|line| line.split_once(" (1")?.1.split(' ').next()).collect();
    assert_eq!((counts, repeats.lines().count()), (vec!["0", "00"], 2), "{repeats}");

    // When the finalizer and the exit hook of this build panic, the next build is already live.
    drop(record);
    let record = support::record("alcedo_runtime::load::master::generation");
    let report = host.reload(&[broken(&[])]).expect("a Master").into_result().expect("a reload");
    assert_eq!((report.generation, report.parked), (2, vec![]));
    let log = record.take();
    let exit = location_of("exit").replace(":9", ":5");
    assert!(log.contains(&format!("\"broken on purpose: exit\" at {exit}")), "{log}");
    let mapped = process::stale_mappings(&host.stage_dir()).expect("the process map");
    assert_eq!(mapped.len(), 1, "only the living generation: {mapped:?}");
    host.tick(Budget::frame());
    host.objects().call(fragile, "poke", &[]).expect("the new code is healthy");
}

#[test]
fn a_panicking_finalizer_is_reported_with_its_location() {
    let record = support::record("alcedo_runtime::conjugate::finalizer::worker");
    let host = healthy_host();
    let fragile = host.objects().spawn(FRAGILE).expect("spawned");
    panic_next_in(&host, "finalizer");
    host.objects().destroy(fragile);
    let unload = host.unload_master().expect("a Master");
    assert_eq!(unload.parked, Vec::<String>::new());
    assert_no_mapping(&host);
    let log = record.take();
    assert!(log.contains(&format!("\"broken on purpose: finalizer\" at {}", location_of("finalizer"))), "{log}");
}

#[test]
fn a_panic_whose_payload_panics_when_dropped_is_one_error() {
    let host = support::host(&[broken(&["payload-bomb"])]);
    let fragile = host.objects().spawn(FRAGILE).expect("spawned");
    for _ in 0..2 {
        let error = host.objects().call(fragile, "poke", &[]).expect_err("it panics");
        let Error::Call(CallError::Panicked { message, place: Some(place) }) = &error else { panic!("{error}") };
        let line = line_of("broken", "panic_any(Bomb)");
        assert_eq!((message.as_str(), format!("{}:{}", place.file, place.line)), ("a panic without a message", line));
    }
    assert_eq!(host.unload_master().expect("a Master").parked, Vec::<String>::new());
    assert_no_mapping(&host);
}

#[test]
fn a_reentrant_method_call_names_the_holder_of_the_plugin_part() {
    let host = support::host(&[broken(&["reentrant"])]);
    let fragile = host.objects().spawn(FRAGILE).expect("spawned");
    let error = host.objects().call(fragile, "poke", &[]).expect_err("it is borrowed");
    let Error::Call(CallError::ReentrantBorrow { object, held, requested_by }) = &error else { panic!("{error}") };
    assert_eq!((*object, held.as_str(), requested_by.as_str()), (fragile, "poke", "poke_back"));
    let hint = "in `poke`, with `&mut self`, write `this.lend(self, |this| this.poke_back(…))`";
    assert!(error.to_string().ends_with(hint), "{error}");
    assert_eq!(state(&host, fragile), "pokes=1 nerves=1", "the borrow has ended with the error");
}

#[test]
fn a_method_that_lends_itself_is_called_back() {
    let host = support::host(&[broken(&["lent"])]);
    let fragile = host.objects().spawn(FRAGILE).expect("spawned");
    assert_eq!(host.objects().call(fragile, "poke", &[]).expect("the call succeeds"), Some(Value::U32(11)));
}

#[test]
fn a_foreign_thread_can_log_and_every_engine_call_is_refused() {
    let record = support::record("broken");
    let host = support::host(&[broken(&["off-thread-call", "off-thread-log"])]);
    assert!(record.take().contains("\na thread of the module's own can log\n"));
    let answer = host.calls().call("nm:/broken:Fragile:call_off_thread", &[]).expect("the call succeeds");
    let Some(Value::Text(answer)) = answer else { panic!("{answer:?}") };
    expect![[r#"
        zcall_resolve: refused, wrong thread for resolving a ZCall
        zcall: refused, wrong thread for a ZCall
        object_resolve: refused, wrong thread for following an object
        object_part: refused, wrong thread for reaching a plugin part
        may_write: refused, wrong thread for writing a property
        spawn: refused, wrong thread for spawning an object
        destroy: refused, wrong thread for destroying an object
        object_name: refused, no reason
        object_class: refused, no reason
        text_assign: refused, no reason
        name_intern: refused, no reason
        name_text: refused, no reason"#]]
    .assert_eq(&answer);
    host.objects().spawn(FRAGILE).expect("the host keeps working");
}

#[test]
fn a_red_constructor_may_change_only_its_own_object_during_a_rebuild() {
    let record = support::record("meddling");
    let host = healthy_host();
    let fragile = host.objects().spawn(FRAGILE).expect("spawned");
    let objects = host.counters().objects;
    host.reload(&[broken(&["meddles-in-rebuild"])]).expect("a Master").into_result().expect("a reload");
    expect![[r#"
        writing to Engine.SceneComponent (hull) is refused before the commit: until then new code may read all values, write only the object that it builds, and call only its own functions and pure functions; pass the rest to `task::post`, which runs it after the commit
        spawning an object is refused before the commit: until then new code may read all values, write only the object that it builds, and call only its own functions and pure functions; pass the rest to `task::post`, which runs it after the commit
    "#]].assert_eq(&record.take());
    assert_eq!(host.objects().get(fragile, "toughness").expect("a number"), Value::I32(4), "its own it may write");
    assert_eq!(host.counters().objects, objects);
}

#[test]
fn kept_fields_survive_an_ignored_failure_of_an_early_rebuild() {
    let racks = || [support::plugin("parcels", &["racks"])];
    let host = support::host(&racks());
    let huge = host.objects().spawn("/Script/Game.HugeCrate").expect("spawned");
    let Ok(Value::Object(rack)) = host.objects().get(huge, "rack") else { panic!("it has a rack") };
    host.objects().call(rack, "use_once", &[]).expect("it counts");
    for kind in [FaultKind::Error, FaultKind::Panic] {
        // The object `huge` is rebuilt first. Its red constructor calls the rack, whose kept fields are then the first to be restored.
        let armed = faults::arm(Fault { step: ReloadStep::LoadKept, nth: 0, kind });
        let report = host.reload(&racks()).expect("a Master").into_result().expect("the crate ignores the error");
        assert!(armed.has_fired());
        drop(armed);
        assert_eq!((report.conjugates_rebuilt, report.fields_kept, report.fields_lost), (5, 1, vec![]));
        assert_eq!(host.objects().call(rack, "uses", &[]).expect("it counts"), Some(Value::U32(1)));
    }
    // A load builds the parts in the order of a rebuild, and restores the fields of the file.
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("racks.world");
    let path = host.objects().path_of(rack).expect("it has a path");
    host.worlds().save(&file).expect("it is saved");
    for kind in [FaultKind::Error, FaultKind::Panic] {
        let armed = faults::arm(Fault { step: ReloadStep::LoadKept, nth: 0, kind });
        let report = host.worlds().load(&file).unwrap_or_else(|error| panic!("{error}"));
        assert!(armed.has_fired());
        drop(armed);
        assert_eq!((report.conjugates_built, report.fields_kept, report.fields_lost), (5, 1, vec![]));
        let rack = host.objects().at_path(&path).expect("it is loaded");
        assert_eq!(host.objects().call(rack, "uses", &[]).expect("it counts"), Some(Value::U32(1)));
    }
}

#[test]
fn a_compile_error_is_reported_once_and_old_code_keeps_running() {
    let host = healthy_host();
    let fragile = host.objects().spawn(FRAGILE).expect("spawned");
    host.objects().call(fragile, "poke", &[]).expect("it counts");
    let variants = Variants::new(support::test_dir().join("variants"));
    let error = variants.get(&support::request("broken", &["does-not-compile"]), "broken-not").expect_err("refused");
    let BuildError::DoesNotCompile { rendered, .. } = &error else { panic!("{error}") };
    assert_eq!(rendered.matches("error[E0308]: mismatched types").count(), 1, "{rendered}");
    assert!(rendered.contains(&line_of("broken", "const PIECES: u32 = \"none\"")), "{rendered}");
    assert_eq!(error.to_string().matches("error[E0308]").count(), 1, "{error}");
    assert_eq!(state(&host, fragile), "pokes=1 nerves=1");
}

#[test]
fn a_declaration_the_host_cannot_accept_is_refused_with_what_is_wrong() {
    let refused = |feature: &str, expected: Expect| {
        let host = support::builder().build().expect("a host");
        let error = host.create_master(&[broken(&[feature])]).expect_err("it cannot be declared");
        assert!(matches!(error, Error::Load(_)));
        expected.assert_eq(&error.to_string());
        assert_eq!(host.types().dynamic_classes(), Vec::<String>::new());
        assert_no_mapping(&host);
    };
    refused(
        "unknown-package",
        expect![
            "the types of broken cannot be declared: /Script/Nowhere.Homeless is declared in the package Nowhere, which the host does not know: declare the package in the host, or use one of its own (Attributes, Broken, Core, Engine, Game)"
        ],
    );
    refused(
        "unknown-base",
        expect![
            "the types of broken cannot be declared: /Script/Game.Baseless is derived from /Script/Engine.Missing, which is not declared: declare it or load its module first; delete a library that is left from an earlier build"
        ],
    );
    refused(
        "wrong-signature",
        expect![
            "broken uses /Script/Engine.Actor:add_rotation, which has the signature (/Script/Engine.Rotator) here and (f64) in the module: the glue or the host is older: write the glue again with `alcedo glue`, and rebuild the module; or build the host again and restart it"
        ],
    );
    refused(
        "stale-property",
        expect![
            "broken uses /Script/Engine.Actor:seed, which is u32 here and f32 in the module: the glue or the host is older: write the glue again with `alcedo glue`, and rebuild the module; or build the host again and restart it"
        ],
    );
    refused(
        "stale-field",
        expect![
            "broken uses /Script/Engine.Rotator, whose field `yaw` is f64 here and f32 in the module: the glue or the host is older: write the glue again with `alcedo glue`, and rebuild the module; or build the host again and restart it"
        ],
    );
    refused(
        "stale-base",
        expect![
            "broken uses /Script/Engine.SceneComponent, which extends /Script/Engine.ActorComponent here and /Script/Engine.World in the module: the glue or the host is older: write the glue again with `alcedo glue`, and rebuild the module; or build the host again and restart it"
        ],
    );
    refused(
        "stale-function",
        expect![
            "broken uses /Script/Engine.Actor:receive_storm, which does not exist: the host is older than the glue, which also has `receive_storm`: build the host again and restart it; or `receive_storm` was removed: write the glue again with `alcedo glue`, and rebuild the module"
        ],
    );
}

#[test]
fn a_property_redirected_to_another_class_is_refused() {
    let host = support::builder().build().expect("a host");
    host.types().redirect("/Script/Engine.Actor:warmth", "/Script/Engine.World:time").expect("a valid redirect");
    let error = host.create_master(&[broken(&["stale-owner"])]).expect_err("its offset is one in another class");
    let refusal = "broken uses /Script/Engine.Actor:warmth, which is a member of /Script/Engine.World here: ";
    assert!(error.to_string().starts_with(refusal), "{error}");
}

#[test]
fn a_reload_with_a_bad_declaration_fails_while_staging() {
    let events = Rc::new(RefCell::new(Vec::new()));
    let inner = Rc::clone(&events);
    let listening = support::builder().on_event(move |event: &ContextEvent| inner.borrow_mut().push(event.to_string()));
    let host = listening.build().expect("a host");
    host.create_master(&[broken(&[])]).expect("healthy");
    let fragile = host.objects().spawn(FRAGILE).expect("spawned");
    events.borrow_mut().clear();
    for feature in ["unknown-package", "unknown-base", "wrong-signature"] {
        let report = host.reload(&[broken(&[feature])]).expect("a Master");
        assert!(matches!(report.outcome, Outcome::RolledBack { phase: Phase::Stage, .. }), "{feature}: {report}");
        assert_eq!(report.warnings, Vec::<String>::new(), "no main has run");
    }
    assert_eq!(*events.borrow(), Vec::<String>::new());
    assert_eq!(state(&host, fragile), "pokes=0 nerves=0");
    let absent = host.reload(&[Path::new("/nowhere/libabsent.so")]).expect("a Master");
    assert!(matches!(absent.outcome, Outcome::RolledBack { phase: Phase::Stage, .. }), "{absent}");
}

#[test]
fn a_class_with_living_objects_may_disappear_and_they_become_dormant() {
    let host = healthy_host();
    let fragile = host.objects().spawn(FRAGILE).expect("spawned");
    host.objects().call(fragile, "poke", &[]).expect("it counts");
    host.reload(&[support::plugin("switchboard", &[])])
        .expect("a Master")
        .into_result()
        .expect("the reload is possible");
    assert_eq!(host.objects().dormant_class(fragile).as_deref(), Some(FRAGILE));
    host.reload(&[broken(&[])]).expect("a Master").into_result().expect("a reload");
    assert_eq!(state(&host, fragile), "pokes=1 nerves=0");
}

#[test]
fn without_a_master_there_is_nothing_to_reload_or_unload() {
    let host = support::builder().build().expect("a host");
    for error in [
        host.reload(&[broken(&[])]).map(drop).expect_err("no Master"),
        host.unload_master().map(drop).expect_err("no Master"),
        host.watch().expect_err("no Master"),
    ] {
        assert!(matches!(error, Error::Load(LoadError::NoMaster)), "{error}");
    }
    assert_eq!(
        host.objects().spawn(FRAGILE).expect_err("no such class").to_string(),
        format!("class {FRAGILE} not found: it is `/Script/<package>.<class>` of a native class or of a loaded module")
    );
}

#[test]
fn there_is_one_master_at_a_time() {
    let host = healthy_host();
    let error = host.create_master(&[broken(&[])]).expect_err("there is one");
    expect!["the Master load context is alive with generation 1: reload it, or unload it first"]
        .assert_eq(&error.to_string());
    assert_eq!(host.generation(), 1);
}

#[test]
fn a_reload_inside_a_call_is_refused_and_requests_wait() {
    let host = healthy_host();
    let text = || " -> String".parse().expect("a signature");
    let library = broken(&[]);
    let again = library.clone();
    let now = move |host: &Runtime, _: &[Value]| {
        let refusals = [
            host.reload(std::slice::from_ref(&again)).map(drop),
            host.unload_master().map(drop),
            host.create_master(std::slice::from_ref(&again)),
            host.collection().collect().map(drop),
        ];
        let messages = refusals.map(|refused| match refused {
            Err(error @ Error::NotASafePoint { .. }) => error.to_string(),
            other => format!("{other:?}"),
        });
        Ok(Some(Value::Text(messages.join("\n"))))
    };
    host.calls().register("host.reload_now", text(), now).expect("a free name");
    let later = move |host: &Runtime, _: &[Value]| {
        host.request_reload(vec![library.clone()]);
        host.safe_point();
        Ok(Some(Value::Text(format!("generation {} still", host.generation()))))
    };
    host.calls().register("host.reload_later", text(), later).expect("a free name");
    let fragile = host.objects().spawn(FRAGILE).expect("spawned");
    let relay = |name: &str| match host.objects().call(fragile, "relay", &[Value::Text(name.to_owned())]) {
        Ok(Some(Value::Text(text))) => text,
        other => panic!("`relay` returns a string, not {other:?}"),
    };
    let loose = host.objects().spawn(FRAGILE).expect("spawned");
    assert!(host.objects().remove_root(loose));

    expect![[r#"
        a reload is for a safe point, and `Game.Fragile:relay` has not returned: do it between ticks, or use `request_reload`
        unloading the Master is for a safe point, and `Game.Fragile:relay` has not returned: do it between ticks, or use `request_unload`
        creating the Master is for a safe point, and `Game.Fragile:relay` has not returned: do it between ticks
        a collection is for a safe point, and `Game.Fragile:relay` has not returned: it is done at the next safe point"#]].assert_eq(&relay("ex:/host.reload_now"));
    assert!(host.objects().is_alive(loose) && host.collection().take_done().is_empty());
    host.safe_point();
    assert!(!host.objects().is_alive(loose) && host.collection().take_done().len() == 1);
    assert_eq!(host.generation(), 1);

    assert_eq!(relay("ex:/host.reload_later"), "generation 1 still");
    assert_eq!(host.take_reloads(), vec![]);
    host.safe_point();
    let reports = host.take_reloads();
    assert_eq!(
        reports.iter().map(|report| (report.is_committed(), report.generation)).collect::<Vec<_>>(),
        [(true, 2)]
    );
    assert_eq!(host.generation(), 2);
    assert_eq!(state(&host, fragile), "pokes=0 nerves=0");
}

#[test]
fn a_host_function_that_panics_is_an_error_of_the_plugins_call() {
    let host = healthy_host();
    host.calls()
        .register("host.panic", " -> String".parse().expect("a signature"), |_, _| panic!("the host slipped"))
        .expect("a free name");
    let fragile = host.objects().spawn(FRAGILE).expect("spawned");
    let answer = host
        .objects()
        .call(fragile, "relay", &[Value::Text("ex:/host.panic".to_owned())])
        .expect("the plugin catches it");
    assert_eq!(answer, Some(Value::Text("refused: panicked: \"the host slipped\"".to_owned())));
    host.objects().spawn(FRAGILE).expect("and it does");
}

#[test]
fn a_listener_cannot_interrupt_a_running_operation() {
    use std::cell::RefCell;
    use std::rc::Rc;
    type Shared = Rc<RefCell<(Option<Runtime>, Vec<String>)>>;
    let shared = Shared::default();
    let listener = Rc::clone(&shared);
    let host = support::builder()
        .on_event(move |event| {
            let host = listener.borrow().0.clone();
            let Some(host) = host else { return };
            let refused = [
                host.unload_master().err(),
                host.reload(&[PathBuf::new()]).err(),
                host.objects().spawn("/Script/Game.Fragile").err(),
            ];
            host.safe_point();
            let lines = refused.into_iter().flatten().map(|error| format!("{event}: {error}"));
            listener.borrow_mut().1.extend(lines);
        })
        .build()
        .expect("a host");
    let library = support::plugin("broken", &[]);
    host.create_master(std::slice::from_ref(&library)).expect("a Master");
    let object = host.objects().spawn("/Script/Game.Fragile").expect("an actor");
    shared.borrow_mut().0 = Some(host.clone());
    host.reload(&[library]).expect("a Master").into_result().expect("a reload");
    shared.borrow_mut().0 = None;
    assert!(host.objects().is_alive(object));
    let lines = std::mem::take(&mut shared.borrow_mut().1);
    // Listeners for the end of the old generation may create objects. The old code still runs at that time, and the new objects survive.
    let spawns = lines.iter().filter(|line| line.contains("spawning an object"));
    assert!(spawns.clone().all(|line| !line.starts_with("Unloading")), "{lines:#?}");
    assert_eq!((lines.len(), spawns.count()), (7 * 2 + 6, 6), "{lines:#?}");
    assert_eq!(
        lines[0],
        "Unloading Master 1: unloading the Master is for a safe point, and `a reload` has not returned: \
         do it between ticks, or use `request_unload`"
    );
}

#[test]
fn after_an_unload_its_classes_are_unknown() {
    let host = support::host(&[support::plugin("broken", &[])]);
    host.unload_master().expect("a Master");
    assert_eq!(host.types().dynamic_classes(), Vec::<String>::new());
    let error = host.objects().spawn("/Script/Game.Fragile").expect_err("no such class");
    assert!(matches!(error, Error::UnknownClass { .. }), "{error}");
}
