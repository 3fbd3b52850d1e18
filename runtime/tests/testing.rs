//! Tests the worlds of `alcedo::testing` with the example plugins: results, logs, failures and edits. Authors of plugins use these worlds
//! in their tests.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use alcedo::build::BuildError;
use alcedo::engine::Rotator;
use alcedo::native::{Obj, Object};
use alcedo::testing::{Level, TestWorld, TestWorldBuilder};
use alcedo::{Canary, Runtime, Value};

use crate::support::{folder, line_of, test_dir, until};

fn builder(plugin: &str) -> TestWorldBuilder {
    let builder = TestWorld::builder(folder(plugin), plugin);
    builder.build_dir(test_dir().join("plugins")).release(!cfg!(debug_assertions))
}

fn world(plugin: &str) -> TestWorld {
    builder(plugin).build()
}

/// Runs `action`, which must panic, and returns the panic message.
fn panic_of(action: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(action)).expect_err("the action panics");
    *panic.downcast::<String>().expect("a formatted message")
}

#[test]
fn a_world_ticks_calls_and_records_the_log() {
    let world = world("magic-cube");
    let cube = world.spawn("MagicCube");
    world.set(cube, "rotation_speed", 90.0);
    world.tick(0.5);
    assert_eq!(world.get::<Rotator>(cube, "rotation").yaw, 45.0);
    assert!(matches!(world.value(cube, "rotation"), Value::Struct(_)));
    world.call::<()>(cube, "say_hello", ());
    assert_eq!(world.call::<u32>(cube, "greeting_count", ()), 1);

    let log = world.log();
    let hello = log.lines().iter().find(|line| line.message.contains("hello for the")).expect("it is logged");
    assert_eq!((hello.level, hello.target.as_str()), (Level::INFO, "magic_cube"));
    assert_eq!(hello.module, Some(("magic_cube".to_owned(), 1)));
    // The log also contains the line from the finalizer thread, although that thread has no log subscriber.
    world.runtime().objects().destroy(cube.handle());
    world.tick(0.0);
    until("the line of a destructor", || world.log().contains("a cube's plugin part ends  greetings=1"));
    world.finish();
}

#[test]
fn a_line_of_the_host_keeps_its_fields() {
    let host =
        Runtime::builder().ticker(|_, _| tracing::info!(module = "pack", generation = 7_u64, number = 3, "read"));
    let world =
        builder("magic-cube").host(host.package("Game").natives(alcedo::engine::natives()).canary(Canary::Off)).build();
    world.tick(0.0);
    let log = world.log();
    let line = log.lines().iter().find(|line| line.message.starts_with("read")).expect("it is logged");
    assert_eq!(line.message, "read  module=\"pack\"  generation=7  number=3");
    assert_eq!(line.module, None);
    world.finish();
}

#[test]
fn an_object_is_an_argument_and_a_result() {
    let world = world("delegates");
    let [player, first, second] = ["Player", "Game.Listener", "/Script/Game.Listener"].map(|class| world.spawn(class));
    world.call::<()>(first, "follow", (player,));
    assert_eq!(world.call::<i32>(player, "earn", (7,)), 7);
    assert_eq!(world.get::<Vec<String>>(first, "received"), ["received 7 of 7"]);
    world.set(first, "next", second);
    assert_eq!(world.get::<Obj<Object>>(first, "next"), second);
}

#[test]
fn a_panic_in_a_plugin_fails_a_test_with_its_line() {
    let world = world("delegates");
    let (player, listener) = (world.spawn("Player"), world.spawn("Listener"));
    let place = line_of("delegates", "points are too much");
    let failure = panic_of(|| world.call(listener, "burst", (7, player)));
    assert!(failure.contains("7 points are too much") && failure.contains(&place), "{failure}");
    let error = world.try_call::<()>(listener, "burst", (8, player)).expect_err("it panics").to_string();
    assert!(error.contains("8 points are too much") && error.contains(&place), "{error}");
}

#[test]
fn a_wrong_name_or_type_fails_a_test() {
    let world = world("delegates");
    let player = world.spawn("Player");
    let check = |failure: String, expected: &str| assert!(failure.contains(expected), "{failure}");
    let ghost = panic_of(|| assert!(world.spawn("Ghost").is_none()));
    check(ghost, "no plugin declares the class `Ghost`, but Game.");
    let actor = panic_of(|| assert!(world.spawn("Engine.Actor").is_none()));
    check(actor, "a class of the host needs its path: `/Script/Engine.Actor`");
    check(panic_of(|| world.call(player, "fly", ())), "has no function fly");
    check(panic_of(|| world.call(player, "earn", (7, 8))), "calling `earn`");
    check(panic_of(|| world.set(player, "score", "many".to_owned())), "writing `score`");
    check(panic_of(|| world.set(player, "speed", 1)), "writing `speed`");
    check(panic_of(|| assert_eq!(world.get::<f64>(player, "score"), 0.0)), "reading `score`");
    check(panic_of(|| world.assert_logged("a cheer")), "`a cheer` was not logged");
}

#[test]
fn a_wrong_name_fails_a_test_of_a_plugin_without_classes() {
    let world = world("figures");
    let ghost = panic_of(|| assert!(world.spawn("Ghost").is_none()));
    let expected = "no plugin declares the class `Ghost` or any other class; a class of the host needs its path";
    assert!(ghost.contains(expected), "{ghost}");
}

#[test]
fn an_edit_reloads_objects_and_leaves_the_sources_unchanged() {
    let file = folder("magic-cube").join("src/lib.rs");
    let source = fs::read_to_string(&file).expect("the source of the plugin");
    let world = world("magic-cube");
    let cube = world.spawn("MagicCube");
    world.set(cube, "rotation_speed", 90.0);
    world.call::<()>(cube, "say_hello", ());
    let report = world.edit("src/lib.rs", |text| text.replace("hello for the", "good morning for the"));
    assert_eq!((report.from, report.generation, report.conjugates_rebuilt), (1, 2, 1));
    assert_eq!(world.get::<f64>(cube, "rotation_speed"), 90.0);
    world.call::<()>(cube, "say_hello", ());
    world.assert_logged("good morning for the 2. time");
    let report = world.reload();
    assert_eq!((report.from, report.generation), (2, 3));

    // Each edit of a source file is added to the earlier edits.
    let too_fast = "assert!(_this.rotation_speed() != 90.0, \"too fast\");\n        Self { elapsed";
    let report = world.expect_rollback("src/lib.rs", |text| text.replace("Self { elapsed", too_fast));
    assert!(report.to_string().contains("too fast"), "{report}");
    assert_eq!(world.call::<u32>(cube, "greeting_count", ()), 2);
    let report = world.edit("src/lib.rs", |text| text.replace("!= 90.0", "!= 91.0"));
    assert_eq!(report.conjugates_rebuilt, 1);
    world.call::<()>(cube, "say_hello", ());
    world.assert_logged("good morning for the 3. time");
    assert_eq!(fs::read_to_string(&file).expect("the source of the plugin"), source);
    world.finish();
}

#[cfg(unix)]
#[test]
fn libraries_of_edits_remain_while_a_process_uses_them() {
    let label = if cfg!(debug_assertions) { "glue-base" } else { "glue-base+release" };
    let old = test_dir().join("plugins/alcedo-tests/edits").join(label).join("old");
    let make_old = || {
        fs::create_dir_all(&old).expect("the test folder is writable");
        let folder = fs::File::open(&old).expect("it was created");
        folder.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("it belongs to this user");
    };
    make_old();
    drop(builder("glue-base").build());
    assert!(!old.exists(), "it is older than the library of the plugin");
    // This process now holds the lock, like every process that uses the libraries.
    make_old();
    drop(builder("glue-base").and("../magic-cube").build());
    assert!(old.exists());
}

#[test]
fn a_panic_in_a_tick_fails_a_test_with_its_line() {
    let world = world("magic-cube");
    let cube = world.spawn("MagicCube");
    let too_many = "assert!(self.greetings == 0, \"too many greetings\");\n        self.elapsed += delta;";
    world.edit("src/lib.rs", |text| text.replace("self.elapsed += delta;", too_many));
    world.tick(0.5);
    world.call::<()>(cube, "say_hello", ());
    let failure = panic_of(|| world.tick(0.5));
    assert!(failure.contains("too many greetings"), "{failure}");
    assert!(failure.contains(&line_of("magic-cube", "self.elapsed += delta;")), "{failure}");
}

#[test]
fn an_edit_that_does_not_compile_fails_with_the_compilers_errors() {
    let world = world("delegates");
    let error = world.try_edit("src/lib.rs", |text| text.replace("points < 100", "points < hundred"));
    match error {
        Err(BuildError::DoesNotCompile { rendered, .. }) => {
            assert!(rendered.contains("cannot find value `hundred`"), "{rendered}");
        }
        other => panic!("{other:?}"),
    }
    let failure = panic_of(|| drop(world.edit("src/lib.rs", |text| text.replace("hundred", "thousand"))));
    assert!(failure.contains("cannot find value `thousand`"), "{failure}");
    let failure = panic_of(|| drop(world.edit("src/lib.rs", str::to_owned)));
    assert!(failure.contains("changes nothing"), "{failure}");
    let failure = panic_of(|| drop(world.edit("src/gone.rs", str::to_owned)));
    assert!(failure.contains("reading `src/gone.rs`"), "{failure}");
    assert_eq!(world.runtime().generation(), 1);
    world.edit("src/lib.rs", |text| text.replace("thousand", "1000"));
    assert!(world.call::<bool>(world.spawn("Listener"), "allow", (200,)));
}

#[test]
fn worlds_of_two_threads_have_logs_of_their_own() {
    let hellos = |count: usize| {
        let world = world("magic-cube");
        let cube = world.spawn("MagicCube");
        (0..count).for_each(|_| world.call(cube, "say_hello", ()));
        let hellos = world.log().lines().iter().filter(|line| line.message.contains("hello for the")).count();
        world.finish();
        hellos
    };
    let counts = thread::scope(|scope| {
        let threads = [30, 50].map(|count| scope.spawn(move || hellos(count)));
        threads.map(|thread| thread.join().expect("no test panics"))
    });
    assert_eq!(counts, [30, 50]);
}

#[test]
fn a_world_loads_the_plugins_that_a_plugin_needs() {
    let world = builder("glue-derived").and("../glue-base").build();
    let hero = world.spawn("Hero");
    let attributes: Obj<Object> = world.get(hero, "attributes");
    assert_eq!(world.get::<f64>(attributes, "shield"), 50.0);
    assert_eq!(world.call::<f64>(attributes, "absorbed", ()), 0.0);
    world.finish();
}
