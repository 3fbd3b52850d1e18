//! Tests the order of hooks for an object and for a generation, from creation to end. The hooks of the fuses in `lamps` and `lamps-plus`
//! log lines. A listener adds the events of the Master. Each test compares all lines.

use crate::support;

use std::path::PathBuf;

use alcedo_runtime::{Budget, Outcome, Phase, Runtime, Value};
use expect_test::{Expect, expect};
use support::Record;

const SAFE_FUSE: &str = "/Script/Game.SafeFuse";
const FUSE_BOX: &str = "/Script/Game.FuseBox";

/// Lines that the construction of a generation's class default objects logs. Base classes precede derived classes.
const DEFAULTS: &str = "\
red Game.Fuse  object=Default__Fuse
class Game.Fuse  object=Default__Fuse
post_init Game.Fuse  object=Default__Fuse
red Game.Fuse  object=Default__SlowFuse
red Game.SlowFuse  object=Default__SlowFuse
class Game.Fuse  object=Default__SlowFuse
class Game.SlowFuse  object=Default__SlowFuse
post_init Game.SlowFuse  object=Default__SlowFuse
red Game.Fuse  object=Default__SafeFuse
red Game.SlowFuse  object=Default__SafeFuse
red Game.SafeFuse  object=Default__SafeFuse
class Game.Fuse  object=Default__SafeFuse
class Game.SlowFuse  object=Default__SafeFuse
class Game.SafeFuse  object=Default__SafeFuse
post_init Game.SafeFuse  object=Default__SafeFuse
post_init Game.SlowFuse  object=Default__SafeFuse
red Game.FuseBox  object=Default__FuseBox
red Game.Fuse  object=fuse
red Game.SlowFuse  object=fuse
red Game.SafeFuse  object=fuse
class Game.Fuse  object=fuse
class Game.SlowFuse  object=fuse
class Game.SafeFuse  object=fuse
class Game.FuseBox  object=Default__FuseBox
post_init Game.SafeFuse  object=fuse
post_init Game.SlowFuse  object=fuse
post_init Game.FuseBox  object=Default__FuseBox
";

/// Returns the libraries with the base module last. The load order follows the dependencies and not this list.
fn libraries(plus_features: &[&str]) -> [PathBuf; 2] {
    [support::plugin("lamps-plus", plus_features), support::plugin("lamps", &[])]
}

fn silent_host() -> Runtime {
    let listening = support::builder().on_event(|event| Record::line("order", format!("-- {event}")));
    listening.build().unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a host with a Master. Discards the lines recorded so far.
fn host(record: &Record) -> Runtime {
    let host = silent_host();
    host.create_master(&libraries(&[])).unwrap_or_else(|error| panic!("{error}"));
    record.take();
    host
}

/// Compares the lines of the game thread and the lines of the finalizer thread separately, because the threads run concurrently. A single
/// line replaces the lines of [`DEFAULTS`]. No finalizer may run after its generation has ended.
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
fn a_master_runs_mains_base_first_then_creates_class_default_objects() {
    let record = support::record("order");
    let host = silent_host();
    host.create_master(&libraries(&[])).unwrap_or_else(|error| panic!("{error}"));
    check(
        &record,
        expect![[r#"
        -- PreStartup Master 1
        main lamps
        -- Startup Master 1 lamps
        main lamps_plus
        -- Startup Master 1 lamps_plus
        -- PostStartup Master 1
        (class default objects)
        -- Loaded Master 1 lamps, lamps_plus
    "#]],
        expect![[r#""#]],
    );
}

#[test]
fn an_object_spanning_two_modules_is_constructed_base_first() {
    let record = support::record("order");
    let host = host(&record);
    host.objects().spawn(SAFE_FUSE).expect("a fuse");
    check(
        &record,
        expect![[r#"
        red Game.Fuse  object=SafeFuse_1
        red Game.SlowFuse  object=SafeFuse_1
        red Game.SafeFuse  object=SafeFuse_1
        class Game.Fuse  object=SafeFuse_1
        class Game.SlowFuse  object=SafeFuse_1
        class Game.SafeFuse  object=SafeFuse_1
        post_init Game.SafeFuse  object=SafeFuse_1
        post_init Game.SlowFuse  object=SafeFuse_1
    "#]],
        expect![[r#""#]],
    );
}

#[test]
fn a_subobject_is_created_inside_its_owner_and_initialized_first() {
    let record = support::record("order");
    let host = host(&record);
    host.objects().spawn(FUSE_BOX).expect("a box");
    check(
        &record,
        expect![[r#"
        red Game.FuseBox  object=FuseBox_1
        red Game.Fuse  object=fuse
        red Game.SlowFuse  object=fuse
        red Game.SafeFuse  object=fuse
        class Game.Fuse  object=fuse
        class Game.SlowFuse  object=fuse
        class Game.SafeFuse  object=fuse
        class Game.FuseBox  object=FuseBox_1
        post_init Game.SafeFuse  object=fuse
        post_init Game.SlowFuse  object=fuse
        post_init Game.FuseBox  object=FuseBox_1
    "#]],
        expect![[r#""#]],
    );
}

#[test]
fn an_event_calls_the_other_modules_override_and_then_its_base() {
    let record = support::record("order");
    let host = host(&record);
    let fuse = host.objects().spawn(SAFE_FUSE).expect("a fuse");
    record.take();
    let health = host.objects().call(fuse, "add_current", &[Value::F64(-60.0)]).expect("it changes");
    assert_eq!(health, Some(Value::F64(90.0)), "the reserve took 50 of 60");
    assert_eq!(host.objects().get(fuse, "reserve").expect("it has one"), Value::F64(0.0));
    check(
        &record,
        expect![[r#"
        event Game.SafeFuse  object=SafeFuse_1
        event Game.Fuse  object=SafeFuse_1
    "#]],
        expect![[r#""#]],
    );
}

#[test]
fn a_reload_reruns_red_constructors_and_retires_old_code_last() {
    let record = support::record("order");
    let host = host(&record);
    host.objects().spawn(SAFE_FUSE).expect("a fuse");
    host.objects().spawn(FUSE_BOX).expect("a box");
    record.take();
    let report = host.reload(&libraries(&[])).expect("a Master").into_result().expect("a reload");
    assert_eq!(
        (report.conjugates_rebuilt, report.class_constructors_rerun),
        (3, 0),
        "fuse, box, and the fuse of the box"
    );
    check(
        &record,
        expect![[r#"
        -- Unloading Master 1
        -- PreStartup Master 2
        main lamps
        -- Startup Master 2 lamps
        main lamps_plus
        -- Startup Master 2 lamps_plus
        -- PostStartup Master 2
        (class default objects)
        red Game.Fuse  object=SafeFuse_1
        red Game.SlowFuse  object=SafeFuse_1
        red Game.SafeFuse  object=SafeFuse_1
        red Game.FuseBox  object=FuseBox_1
        red Game.Fuse  object=fuse
        red Game.SlowFuse  object=fuse
        red Game.SafeFuse  object=fuse
        -- Loaded Master 2 lamps, lamps_plus
        exit lamps_plus
        exit lamps
        -- Unloaded Master 1
        -- Dead Master 1
    "#]],
        expect![[r#"
            finalize Game.Fuse
            finalize Game.SlowFuse
            finalize Game.Fuse
            finalize Game.SafeFuse
            finalize Game.SlowFuse
            finalize Game.Fuse
            finalize Game.FuseBox
            finalize Game.SafeFuse
            finalize Game.SlowFuse
            finalize Game.Fuse
            finalize Game.SafeFuse
            finalize Game.SlowFuse
            finalize Game.Fuse
            finalize Game.FuseBox
            finalize Game.SafeFuse
            finalize Game.SlowFuse
            finalize Game.Fuse
        "#]],
    );
}

#[test]
fn a_reload_that_panics_drops_the_new_and_resumes_the_old() {
    let record = support::record("order");
    let host = host(&record);
    let fuse = host.objects().spawn(SAFE_FUSE).expect("a fuse");
    host.objects().call(fuse, "add_current", &[Value::F64(-20.0)]).expect("it changes");
    record.take();

    let report = host.reload(&libraries(&["panics-when-rebuilt"])).expect("a Master");

    let Outcome::RolledBack { phase: Phase::Rebuild, error } = &report.outcome else { panic!("{report}") };
    let line = support::line_of("lamps-plus", "panics-when-rebuilt\")");
    let expected = "red constructor of Game.SafeFuse (SafeFuse_1) panicked: \"no fuse for SafeFuse_1\"";
    assert_eq!(*error, format!("{expected} at {line}:9"));
    check(
        &record,
        expect![[r#"
        -- Unloading Master 1
        -- PreStartup Master 2
        main lamps
        -- Startup Master 2 lamps
        main lamps_plus
        -- Startup Master 2 lamps_plus
        -- PostStartup Master 2
        (class default objects)
        red Game.Fuse  object=SafeFuse_1
        red Game.SlowFuse  object=SafeFuse_1
        red Game.SafeFuse  object=SafeFuse_1
        exit lamps_plus
        exit lamps
        -- Unloaded Master 2
        -- Dead Master 2
        -- Resumed Master 1
    "#]],
        expect![[r#"
        finalize Game.SlowFuse
        finalize Game.Fuse
        finalize Game.SafeFuse
        finalize Game.SlowFuse
        finalize Game.Fuse
        finalize Game.FuseBox
        finalize Game.SafeFuse
        finalize Game.SlowFuse
        finalize Game.Fuse
        finalize Game.SlowFuse
        finalize Game.Fuse
        finalize Game.Fuse
    "#]],
    );
    assert_eq!(host.objects().call(fuse, "absorbed", &[]).expect("the old code answers"), Some(Value::F64(20.0)));
    assert_eq!(host.objects().call(fuse, "changes", &[]).expect("the old code answers"), Some(Value::U32(1)));
    host.tick(Budget::frame());
    assert_eq!(host.generation(), 1);
}

#[test]
fn an_unload_ends_objects_then_modules_dependents_first_and_waits_for_finalizers() {
    let record = support::record("order");
    let host = host(&record);
    host.objects().spawn(SAFE_FUSE).expect("a fuse");
    host.objects().spawn(FUSE_BOX).expect("a box");
    record.take();
    let unload = host.unload_master().expect("a Master");
    assert_eq!((unload.objects_ended, unload.parked), (3, vec![]));
    check(
        &record,
        expect![[r#"
        -- Unloading Master 1
        exit lamps_plus
        exit lamps
        -- Unloaded Master 1
        -- Dead Master 1
    "#]],
        expect![[r#"
        finalize Game.Fuse
        finalize Game.SlowFuse
        finalize Game.Fuse
        finalize Game.SafeFuse
        finalize Game.SlowFuse
        finalize Game.Fuse
        finalize Game.SafeFuse
        finalize Game.SlowFuse
        finalize Game.Fuse
        finalize Game.FuseBox
        finalize Game.SafeFuse
        finalize Game.SlowFuse
        finalize Game.Fuse
        finalize Game.SafeFuse
        finalize Game.SlowFuse
        finalize Game.Fuse
        finalize Game.FuseBox
    "#]],
    );
}
