//! In which order things happen in an object's and a generation's life. The plugins themselves say so: each hook of
//! `glue_base` and `glue-derived` writes a line when it runs, and a listener adds the events of the Master. What
//! the design prescribes is written out below.

use crate::support;

use std::path::PathBuf;

use alcedo_runtime::{Budget, Outcome, Phase, Runtime, Value};
use expect_test::{Expect, expect};
use support::Record;

const SHIELDED: &str = "/Script/Game.ShieldedSet";
const HERO: &str = "/Script/Game.Hero";

/// Recorded while the class default objects of a generation are made, base class first.
const DEFAULTS: &str = "\
red Game.AttributeSet  object=Default__AttributeSet
class Game.AttributeSet  object=Default__AttributeSet
post_init Game.AttributeSet  object=Default__AttributeSet
red Game.AttributeSet  object=Default__RegeneratingSet
red Game.RegeneratingSet  object=Default__RegeneratingSet
class Game.AttributeSet  object=Default__RegeneratingSet
class Game.RegeneratingSet  object=Default__RegeneratingSet
post_init Game.RegeneratingSet  object=Default__RegeneratingSet
red Game.AttributeSet  object=Default__ShieldedSet
red Game.RegeneratingSet  object=Default__ShieldedSet
red Game.ShieldedSet  object=Default__ShieldedSet
class Game.AttributeSet  object=Default__ShieldedSet
class Game.RegeneratingSet  object=Default__ShieldedSet
class Game.ShieldedSet  object=Default__ShieldedSet
post_init Game.ShieldedSet  object=Default__ShieldedSet
red Game.Hero  object=Default__Hero
red Game.AttributeSet  object=attributes
red Game.RegeneratingSet  object=attributes
red Game.ShieldedSet  object=attributes
class Game.AttributeSet  object=attributes
class Game.RegeneratingSet  object=attributes
class Game.ShieldedSet  object=attributes
class Game.Hero  object=Default__Hero
post_init Game.ShieldedSet  object=attributes
post_init Game.Hero  object=Default__Hero
";

/// The base module is named last: the order is that of the dependencies.
fn libraries(plus_features: &[&str]) -> [PathBuf; 2] {
    [support::plugin("glue-derived", plus_features), support::plugin("glue-base", &[])]
}

/// A host that records, and no Master yet.
fn silent_host() -> Runtime {
    let listening = support::builder().on_event(|event| Record::line("order", format!("-- {event}")));
    listening.build().unwrap_or_else(|error| panic!("{error}"))
}

/// A host that records, with its Master; what it recorded until then is dropped.
fn host(record: &Record) -> Runtime {
    let host = silent_host();
    host.create_master(&libraries(&[])).unwrap_or_else(|error| panic!("{error}"));
    record.take();
    host
}

/// Compares the lines of the game thread, with one line for [`DEFAULTS`], and those of the finalizer thread, which run side by side.
/// No finalizer runs past the end of its generation.
fn check(record: &Record, game_thread: Expect, finalizers: Expect) {
    let lines = record.take();
    let (finalized, rest): (Vec<_>, Vec<_>) = lines.lines().partition(|line| line.starts_with("finalize"));
    if let Some(last) = lines.lines().collect::<Vec<_>>().iter().rposition(|line| line.starts_with("finalize")) {
        let unloaded = lines.lines().position(|line| line.starts_with("-- Unloaded"));
        assert!(unloaded.is_some_and(|unloaded| last < unloaded), "a finalizer ran after `Unloaded`:\n{lines}");
    }
    let text = |lines: Vec<&str>| lines.into_iter().map(|line| format!("{line}\n")).collect::<String>();
    game_thread.assert_eq(&text(rest).replace(DEFAULTS, "(class default objects)\n"));
    finalizers.assert_eq(&text(finalized));
}

#[test]
fn a_master_starts_its_mains_base_module_first_and_then_makes_class_default_objects() {
    let record = support::record("order");
    let host = silent_host();
    host.create_master(&libraries(&[])).unwrap_or_else(|error| panic!("{error}"));
    check(
        &record,
        expect![[r#"
        -- PreStartup 1
        main glue_base
        -- Startup 1 glue_base
        main glue_derived
        -- Startup 1 glue_derived
        -- PostStartup 1
        (class default objects)
        -- Loaded 1
    "#]],
        expect![[r#""#]],
    );
}

#[test]
fn an_object_of_a_chain_over_two_modules_is_born_base_to_derived() {
    let record = support::record("order");
    let host = host(&record);
    host.objects().spawn(SHIELDED).expect("a set");
    check(
        &record,
        expect![[r#"
        red Game.AttributeSet  object=ShieldedSet_1
        red Game.RegeneratingSet  object=ShieldedSet_1
        red Game.ShieldedSet  object=ShieldedSet_1
        class Game.AttributeSet  object=ShieldedSet_1
        class Game.RegeneratingSet  object=ShieldedSet_1
        class Game.ShieldedSet  object=ShieldedSet_1
        post_init Game.ShieldedSet  object=ShieldedSet_1
    "#]],
        expect![[r#""#]],
    );
}

#[test]
fn a_subobject_is_born_inside_its_owner_and_initialized_before_it() {
    let record = support::record("order");
    let host = host(&record);
    host.objects().spawn(HERO).expect("a hero");
    check(
        &record,
        expect![[r#"
        red Game.Hero  object=Hero_1
        red Game.AttributeSet  object=attributes
        red Game.RegeneratingSet  object=attributes
        red Game.ShieldedSet  object=attributes
        class Game.AttributeSet  object=attributes
        class Game.RegeneratingSet  object=attributes
        class Game.ShieldedSet  object=attributes
        class Game.Hero  object=Hero_1
        post_init Game.ShieldedSet  object=attributes
        post_init Game.Hero  object=Hero_1
    "#]],
        expect![[r#""#]],
    );
}

#[test]
fn an_event_goes_to_the_override_of_the_other_module_and_from_there_to_its_base() {
    let record = support::record("order");
    let host = host(&record);
    let set = host.objects().spawn(SHIELDED).expect("a set");
    record.take();
    let health = host.objects().call(set, "change_health", &[Value::F64(-60.0)]).expect("it changes");
    assert_eq!(health, Some(Value::F64(90.0)), "the shield took 50 of 60");
    assert_eq!(host.objects().get(set, "shield").expect("it has one"), Value::F64(0.0));
    check(
        &record,
        expect![[r#"
        event Game.ShieldedSet  object=ShieldedSet_1
        event Game.AttributeSet  object=ShieldedSet_1
    "#]],
        expect![[r#""#]],
    );
}

#[test]
fn a_reload_rebuilds_red_constructors_only_and_retires_the_old_when_the_new_is_live() {
    let record = support::record("order");
    let host = host(&record);
    host.objects().spawn(SHIELDED).expect("a set");
    host.objects().spawn(HERO).expect("a hero");
    record.take();
    let report = host.reload(&libraries(&[])).expect("a Master").into_result().expect("a reload");
    assert_eq!((report.conjugates_rebuilt, report.class_constructors_rerun), (3, 0), "set, hero, and the hero's set");
    check(
        &record,
        expect![[r#"
        -- Unloading 1
        -- PreStartup 2
        main glue_base
        -- Startup 2 glue_base
        main glue_derived
        -- Startup 2 glue_derived
        -- PostStartup 2
        (class default objects)
        red Game.AttributeSet  object=ShieldedSet_1
        red Game.RegeneratingSet  object=ShieldedSet_1
        red Game.ShieldedSet  object=ShieldedSet_1
        red Game.Hero  object=Hero_1
        red Game.AttributeSet  object=attributes
        red Game.RegeneratingSet  object=attributes
        red Game.ShieldedSet  object=attributes
        -- Loaded 2
        exit glue_derived
        exit glue_base
        -- Unloaded 1
        -- Dead 1
    "#]],
        expect![[r#"
            finalize Game.AttributeSet
            finalize Game.RegeneratingSet
            finalize Game.AttributeSet
            finalize Game.ShieldedSet
            finalize Game.RegeneratingSet
            finalize Game.AttributeSet
            finalize Game.Hero
            finalize Game.ShieldedSet
            finalize Game.RegeneratingSet
            finalize Game.AttributeSet
            finalize Game.ShieldedSet
            finalize Game.RegeneratingSet
            finalize Game.AttributeSet
            finalize Game.Hero
            finalize Game.ShieldedSet
            finalize Game.RegeneratingSet
            finalize Game.AttributeSet
        "#]],
    );
}

#[test]
fn a_reload_that_panics_drops_the_new_and_resumes_the_old() {
    let record = support::record("order");
    let host = host(&record);
    let set = host.objects().spawn(SHIELDED).expect("a set");
    host.objects().call(set, "change_health", &[Value::F64(-20.0)]).expect("it changes");
    record.take();

    let report = host.reload(&libraries(&["panics-when-rebuilt"])).expect("a Master");

    let Outcome::RolledBack { phase: Phase::Rebuild, error } = &report.outcome else { panic!("{report}") };
    let line = support::line_of("glue-derived", "panics-when-rebuilt\")");
    let told = "red constructor of Game.ShieldedSet (ShieldedSet_1) panicked: \"no shield for ShieldedSet_1\"";
    assert_eq!(*error, format!("{told} at {line}:9"));
    check(
        &record,
        expect![[r#"
        -- Unloading 1
        -- PreStartup 2
        main glue_base
        -- Startup 2 glue_base
        main glue_derived
        -- Startup 2 glue_derived
        -- PostStartup 2
        (class default objects)
        red Game.AttributeSet  object=ShieldedSet_1
        red Game.RegeneratingSet  object=ShieldedSet_1
        red Game.ShieldedSet  object=ShieldedSet_1
        exit glue_derived
        exit glue_base
        -- Unloaded 2
        -- Dead 2
        -- Resumed 1
    "#]],
        expect![[r#"
        finalize Game.RegeneratingSet
        finalize Game.AttributeSet
        finalize Game.ShieldedSet
        finalize Game.RegeneratingSet
        finalize Game.AttributeSet
        finalize Game.Hero
        finalize Game.ShieldedSet
        finalize Game.RegeneratingSet
        finalize Game.AttributeSet
        finalize Game.RegeneratingSet
        finalize Game.AttributeSet
        finalize Game.AttributeSet
    "#]],
    );
    assert_eq!(host.objects().call(set, "absorbed", &[]).expect("the old code answers"), Some(Value::F64(20.0)));
    assert_eq!(host.objects().call(set, "change_count", &[]).expect("the old code answers"), Some(Value::U32(1)));
    host.tick(Budget::frame());
    assert_eq!(host.generation(), 1);
}

#[test]
fn an_unload_ends_objects_then_modules_dependents_first_and_waits_for_finalizers() {
    let record = support::record("order");
    let host = host(&record);
    host.objects().spawn(SHIELDED).expect("a set");
    host.objects().spawn(HERO).expect("a hero");
    record.take();
    let unload = host.unload_master().expect("a Master");
    assert_eq!((unload.objects_ended, unload.parked), (3, vec![]));
    check(
        &record,
        expect![[r#"
        -- Unloading 1
        exit glue_derived
        exit glue_base
        -- Unloaded 1
        -- Dead 1
    "#]],
        expect![[r#"
        finalize Game.AttributeSet
        finalize Game.RegeneratingSet
        finalize Game.AttributeSet
        finalize Game.ShieldedSet
        finalize Game.RegeneratingSet
        finalize Game.AttributeSet
        finalize Game.ShieldedSet
        finalize Game.RegeneratingSet
        finalize Game.AttributeSet
        finalize Game.Hero
        finalize Game.ShieldedSet
        finalize Game.RegeneratingSet
        finalize Game.AttributeSet
        finalize Game.ShieldedSet
        finalize Game.RegeneratingSet
        finalize Game.AttributeSet
        finalize Game.Hero
    "#]],
    );
}
