//! Tests script packages in a running host. The packages are loaded together with libraries, and are called by the host, by plugins and by
//! scripts. Edits are reloaded while objects are alive. Some edits break a package, and later edits repair it.

mod package;

pub(crate) use package::{
    FANCY, FANCY_TEXT, HERO, HERO_TEXT, LAMP_TEXT, Package, builder, call, get, host, host_of, modules, reload,
    reload_of, spawn,
};

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::{Budget, HealthWatch, ObjectHandle, Outcome, Runtime, Value};
use corosensei::{Coroutine, Yielder};

#[test]
fn a_loaded_packages_objects_have_its_defaults_and_functions() {
    let package = Package::tale();
    let host = host(&package);
    let hero = spawn(&host, HERO);
    assert_eq!(get(&host, hero, "Health"), Value::I32(100));
    assert_eq!(get(&host, hero, "Title"), Value::Text("Hero".into()));
    assert_eq!(get(&host, hero, "can_tick"), Value::Bool(true), "a default of an inherited property");
    assert_eq!(call(&host, hero, "Hurt", &[Value::I32(30)]), Some(Value::I32(70)));
    assert_eq!(get(&host, hero, "Health"), Value::I32(70));
    assert_eq!(get(&host, spawn(&host, HERO), "Health"), Value::I32(100));
    assert!(host.types().dynamic_classes().iter().any(|class| class == HERO));
}

#[test]
fn a_script_overrides_host_and_plugin_events_and_calls_super() {
    let package = Package::tale();
    let host = host(&package);
    let (hero, fancy) = (spawn(&host, HERO), spawn(&host, FANCY));
    host.tick(Budget::seconds(0.1));
    host.tick(Budget::seconds(0.1));
    let Value::I32(ticks) = get(&host, hero, "Ticks") else { panic!("a number") };
    assert!(ticks >= 2, "the engine calls the event of the script: {ticks}");
    call(&host, fancy, "say_hello", &[]);
    call(&host, fancy, "say_hello", &[]);
    assert_eq!(get(&host, fancy, "Hellos"), Value::I32(2));
    assert_eq!(call(&host, fancy, "greeting_count", &[]), Some(Value::U32(2)), "the plugin's own body ran");
    assert_eq!(call(&host, fancy, "Greeted", &[]), Some(Value::I32(2)), "a script calls the plugin");
    assert_eq!(get(&host, fancy, "label"), Value::Text("fancy".into()));
}

#[test]
fn a_script_edit_keeps_own_values_and_updates_defaults() {
    let package = Package::tale();
    let host = host(&package);
    let (hurt, whole) = (spawn(&host, HERO), spawn(&host, HERO));
    call(&host, hurt, "Hurt", &[Value::I32(30)]);
    package.edit("Hero.uc", "Health=100", "Health=150\n    Luck=7");
    package.edit("Hero.uc", "var int Ticks;", "var int Ticks;\nvar int Luck;");
    package.edit("Hero.uc", "Health -= Amount;", "Health -= 2 * Amount;");

    let report = reload(&host, &package);

    assert_eq!((report.generation, report.modules.len()), (2, 2));
    assert_eq!(get(&host, hurt, "Health"), Value::I32(70), "a changed value is kept");
    assert_eq!(get(&host, whole, "Health"), Value::I32(150), "a default follows");
    assert_eq!(get(&host, hurt, "Luck"), Value::I32(7), "a new property has its default");
    assert_eq!(call(&host, hurt, "Hurt", &[Value::I32(10)]), Some(Value::I32(50)), "the new code runs");
    assert!(report.to_string().contains("Hero.Health"), "{report}");
}

#[test]
fn a_broken_file_keeps_the_old_class_and_reports_the_location() {
    let package = Package::tale();
    let host = host(&package);
    let hero = spawn(&host, HERO);
    let before = host.worlds().digest();
    for (from, to, expected) in [
        ("Health -= Amount;", "Health -= Amnt;", "Amnt"),
        ("Health -= Amount;", "Health -= (;", "Hero.uc"),
        ("extends Actor", "extends Actr", "Actr"),
    ] {
        package.edit("Hero.uc", from, to);
        let report = host.reload(&modules(&package)).expect("a Master");
        assert!(matches!(report.outcome, Outcome::RolledBack { .. }), "{report}");
        let text = report.to_string();
        assert!(text.contains("Tale/Hero.uc:") && text.contains(expected), "{text}");
        assert_eq!(before.differences(&host.worlds().digest()), Vec::<String>::new());
        assert_eq!(call(&host, hero, "Hurt", &[Value::I32(0)]), Some(Value::I32(100)), "the old code runs");
        package.edit("Hero.uc", to, from);
    }
    let report = reload(&host, &package);
    assert_eq!(call(&host, hero, "Hurt", &[Value::I32(1)]), Some(Value::I32(99)), "{report}");
}

#[test]
fn a_reload_failing_at_any_step_leaves_scripts_unchanged() {
    let package = Package::tale();
    let host = host(&package);
    let hero = spawn(&host, HERO);
    call(&host, hero, "Hurt", &[Value::I32(30)]);
    package.edit("Hero.uc", "Health=100", "Health=150");
    package.edit("Hero.uc", "Health -= Amount;", "Health -= 2 * Amount;");
    let before = host.worlds().digest();
    for step in [
        ReloadStep::Read,
        ReloadStep::Shadow,
        ReloadStep::Declare,
        ReloadStep::FillCells,
        ReloadStep::ShutGates,
        ReloadStep::Main,
        ReloadStep::ClassDefault,
        ReloadStep::BeforeCommit,
    ] {
        let armed = faults::arm(Fault { step, nth: 0, kind: FaultKind::Error });
        let report = host.reload(&modules(&package)).expect("a Master");
        drop(armed);
        assert!(matches!(report.outcome, Outcome::RolledBack { .. }), "{step:?}: {report}");
        assert_eq!(before.differences(&host.worlds().digest()), Vec::<String>::new(), "{step:?}");
        assert_eq!(call(&host, hero, "Hurt", &[Value::I32(0)]), Some(Value::I32(70)), "{step:?}");
    }
    reload(&host, &package);
    assert_eq!(call(&host, hero, "Hurt", &[Value::I32(10)]), Some(Value::I32(50)));
}

#[test]
fn objects_of_a_removed_class_become_dormant_and_wake_with_values() {
    let package = Package::tale();
    let host = host(&package);
    let (hero, fancy) = (spawn(&host, HERO), spawn(&host, FANCY));
    call(&host, hero, "Hurt", &[Value::I32(30)]);
    call(&host, fancy, "say_hello", &[]);
    package.remove("FancyCube.uc");
    let report = reload(&host, &package);
    assert!(report.classes.iter().any(|entry| entry.class == "Tale.FancyCube"), "{report}");
    assert!(host.objects().call(fancy, "Greeted", &[]).is_err(), "it has no code");
    assert_eq!(
        get(&host, fancy, "label"),
        Value::Text(String::new()),
        "it is read as its nearest base and follows that default"
    );
    assert_eq!(get(&host, hero, "Health"), Value::I32(70));
    package.write("FancyCube.uc", FANCY_TEXT);
    reload(&host, &package);
    assert_eq!((get(&host, fancy, "Hellos"), get(&host, fancy, "label")), (Value::I32(1), Value::Text("fancy".into())));
    call(&host, fancy, "say_hello", &[]);
    assert_eq!(get(&host, fancy, "Hellos"), Value::I32(2));
}

#[test]
fn only_changed_modules_and_their_dependents_are_replaced() {
    let package = Package::tale();
    let cube = |tag| vec![package.folder.clone(), support::tagged("magic-cube", &[], tag)];
    let host = builder().build().expect("a host");
    host.create_master(&cube(1)).unwrap_or_else(|error| panic!("{error}"));
    let fancy = spawn(&host, FANCY);
    let changed = |libraries: &[PathBuf]| {
        let report = host.reload_changed(libraries).expect("a Master");
        report.into_result().unwrap_or_else(|report| panic!("{report}"))
    };
    assert!(changed(&cube(1)).to_string().contains("no library has changed"));
    package.edit("FancyCube.uc", "Hellos++;", "Hellos += 10;");
    let report = changed(&cube(1));
    assert_eq!(
        (&*report.modules, &*report.kept_modules),
        (&["Tale".to_owned()][..], &["magic_cube of generation 1".to_owned()][..])
    );
    call(&host, fancy, "say_hello", &[]);
    assert_eq!(get(&host, fancy, "Hellos"), Value::I32(10));
    let report = changed(&cube(2));
    assert_eq!(report.replaced_because, ["Tale: it uses magic_cube", "magic_cube: its library has changed"]);
    call(&host, fancy, "say_hello", &[]);
    assert_eq!(get(&host, fancy, "Hellos"), Value::I32(20));
}

#[test]
fn plugin_parts_of_script_objects_end_although_a_reload_keeps_their_module() {
    let record = support::record("hoard");
    let package = Package::new("Tale", &[("Den.uc", "class Den extends Cave;\n\nvar int Size;\n")]);
    let modules = [package.folder.clone(), support::plugin("hoard", &[])];
    let host = support::host_of(builder(), &modules);
    let _den = spawn(&host, "/Script/Tale.Den");
    for (from, added) in [("Size;", "\nvar int Depth;"), ("Depth;", "\n\nfunction int Dig()\n{\n    return 1;\n}")] {
        package.edit("Den.uc", from, &format!("{from}{added}"));
        for fails in [true, false] {
            let fault = Fault { step: ReloadStep::BeforeCommit, nth: 0, kind: FaultKind::Error };
            let armed = fails.then(|| faults::arm(fault));
            let report = host.reload_changed(&modules).expect("a Master");
            drop(armed);
            assert_eq!((report.is_committed(), report.kept_modules.len()), (!fails, usize::from(!fails)), "{report}");
            assert!(host.drain_finalizers(Duration::from_secs(60)).expect("a safe point").is_complete);
            assert_eq!(record.take(), "the cave ends\n".repeat(2), "the object and its class default object: {report}");
        }
    }
}

#[test]
fn an_unload_ends_the_objects_of_scripts_and_their_classes() {
    let package = Package::tale();
    let host = host(&package);
    let (hero, fancy) = (spawn(&host, HERO), spawn(&host, FANCY));
    let unload = host.unload_master().expect("a Master");
    assert_eq!(unload.objects_ended, 2, "{unload}");
    assert!(!host.objects().is_alive(hero) && !host.objects().is_alive(fancy));
    assert!(host.objects().spawn(HERO).is_err());
    let ended = unload.ticket.wait(Duration::from_secs(30));
    ended.unwrap_or_else(|blocked| panic!("{blocked}"));
    host.create_master(&modules(&package)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(get(&host, spawn(&host, HERO), "Health"), Value::I32(100));
}

/// Ticks until an edit that sets the default `Health` to this number is live.
fn until_live(host: &Runtime, hero: ObjectHandle, health: i32) {
    support::until(&format!("a health of {health} is live"), || {
        host.tick(Budget::frame());
        get(host, hero, "Health") == Value::I32(health)
    });
}

#[test]
fn a_watched_package_is_reloaded_when_a_file_of_it_is_saved() {
    let package = Package::tale();
    let host = host(&package);
    let hero = spawn(&host, HERO);
    host.watch().expect("it is watched");
    package.edit("Hero.uc", "Health=100", "Health=150");
    until_live(&host, hero, 150);
    let reports = host.take_reloads();
    assert!(reports.iter().all(|report| report.is_committed()), "{reports:?}");
}

#[test]
fn a_health_watch_loads_a_change_that_the_earlier_watch_has_not_loaded() {
    for is_health in [false, true] {
        let package = Package::new("Tale", &[("Hero.uc", HERO_TEXT)]);
        let host = host_of(builder(), &package);
        let hero = spawn(&host, HERO);
        let watch = |window| host.watch_health(HealthWatch::new(window, |_| Ok(()))).expect("it is watched");
        if is_health {
            watch(Duration::from_secs(3600));
        } else {
            host.watch().expect("it is watched");
        }
        package.edit("Hero.uc", "Health=100", "Health=150");
        std::thread::sleep(Duration::from_millis(200));
        watch(Duration::ZERO);
        until_live(&host, hero, 150);
    }
}

#[test]
fn a_package_remains_watched_after_its_folder_is_recreated() {
    let package = Package::new("Tale", &[("Hero.uc", HERO_TEXT)]);
    let host = host_of(builder(), &package);
    let hero = spawn(&host, HERO);
    host.watch().expect("it is watched");
    for health in [150, 160] {
        fs::remove_dir_all(&package.folder).expect("it is there");
        fs::create_dir(&package.folder).expect("nothing is there");
        package.write("Hero.uc", &HERO_TEXT.replace("Health=100", &format!("Health={health}")));
        until_live(&host, hero, health);
        package.edit("Hero.uc", &format!("Health={health}"), &format!("Health={}", health + 1));
        until_live(&host, hero, health + 1);
    }
}

#[test]
fn a_class_default_object_cannot_be_destroyed_and_reloads_work() {
    let package = Package::new("Tale", &[("Hero.uc", HERO_TEXT)]);
    let host = host_of(builder(), &package);
    let hero = spawn(&host, HERO);
    let output = host.console("destroy Default__Hero");
    assert!(output.contains("class default object") && output.contains("destroy an object of the class"), "{output}");
    let default = host.objects().at_path("/World/Default__Hero").expect("it is there still");
    host.objects().destroy(default);
    assert!(host.objects().is_alive(default));
    package.edit("Hero.uc", "Health=100", "Health=150");
    reload_of(&host, &package);
    assert_eq!(get(&host, hero, "Health"), Value::I32(150));
    let output = host.console(&format!("destroy {hero}"));
    assert!(output.ends_with("is gone") && !host.objects().is_alive(hero), "{output}");
}

#[test]
fn a_builder_loads_its_packages_with_any_other_modules() {
    let package = Package::new("Tale", &[("Hero.uc", HERO_TEXT)]);
    let host = support::builder().scripts(&[&package.folder]).build().expect("a host");
    host.create_master(&[] as &[&Path]).unwrap_or_else(|error| panic!("{error}"));
    let hero = spawn(&host, HERO);
    package.edit("Hero.uc", "Health=100", "Health=150");
    host.reload(&[] as &[&Path]).expect("a Master").into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(get(&host, hero, "Health"), Value::I32(150));
}

#[test]
fn interdependent_packages_and_plugins_load_in_order_and_reload_together() {
    let tale = Package::tale();
    let saga = Package::new(
        "Saga",
        &[(
            "Elder.uc",
            "class Elder extends Hero;\n\nfunction int Hurt(int Amount)\n{\n    return super.Hurt(Amount / 2);\n}\n",
        )],
    );
    let modules = [saga.folder.clone(), tale.folder.clone(), support::plugin("magic-cube", &[])];
    let host = builder().package("Saga").build().expect("a host");
    host.create_master(&modules).unwrap_or_else(|error| panic!("{error}"));
    let elder = spawn(&host, "/Script/Saga.Elder");
    assert_eq!(call(&host, elder, "Hurt", &[Value::I32(30)]), Some(Value::I32(85)));
    tale.edit("Hero.uc", "Health -= Amount;", "Health -= 3 * Amount;");
    let report = host.reload_changed(&modules).expect("a Master");
    let report = report.into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(report.replaced_because, ["Saga: it uses Tale", "Tale: its text has changed"]);
    assert_eq!(call(&host, elder, "Hurt", &[Value::I32(10)]), Some(Value::I32(70)));
    saga.edit("Elder.uc", "Amount / 2", "Amount / ");
    let report = host.reload_changed(&modules).expect("a Master");
    assert!(matches!(report.outcome, Outcome::RolledBack { .. }), "{report}");
    assert_eq!(call(&host, elder, "Hurt", &[Value::I32(2)]), Some(Value::I32(67)));
}

/// Returns the lines of the world digest that contain the number of known classes, and the number of packages with code.
fn kept(host: &Runtime) -> Vec<String> {
    let digest = host.worlds().digest();
    let counts =
        digest.part("types").iter().filter(|line| line.contains("known by number") || line.contains("have code"));
    counts.cloned().collect()
}

#[test]
fn no_data_of_a_generation_is_kept_after_its_unload() {
    let package = Package::tale();
    let host = host(&package);
    let fancy = spawn(&host, FANCY);
    let before = kept(&host);
    assert!(before.iter().any(|line| line == "1 packages of scripts have code"), "{before:?}");
    for _ in 0..3 {
        reload(&host, &package);
        call(&host, fancy, "say_hello", &[]);
        host.tick(Budget::frame());
    }
    assert_eq!(kept(&host), before);
    host.console("eval 1 + 1");
    assert_eq!(kept(&host), before);
    package.edit("Hero.uc", "Health -= Amount;", "Health -= Amnt;");
    host.reload(&modules(&package)).expect("a Master");
    assert_eq!(kept(&host), before);
}

#[test]
fn a_saved_world_brings_objects_of_scripts_back() {
    let package = Package::tale();
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("world");
    {
        let host = host(&package);
        let (hero, fancy) = (spawn(&host, HERO), spawn(&host, FANCY));
        call(&host, hero, "Hurt", &[Value::I32(30)]);
        call(&host, fancy, "say_hello", &[]);
        host.worlds().save(&file).unwrap_or_else(|error| panic!("{error}"));
    }
    let host = host(&package);
    host.worlds().load(&file).unwrap_or_else(|error| panic!("{error}"));
    let one = |class: &str| {
        let of = |object: &ObjectHandle| host.objects().class_of(*object).as_deref() == Some(class);
        host.objects().iter().find(of).expect("it is back")
    };
    assert_eq!(get(&host, one(HERO), "Health"), Value::I32(70));
    assert_eq!(get(&host, one(FANCY), "Hellos"), Value::I32(1));
    assert_eq!(call(&host, one(FANCY), "greeting_count", &[]), Some(Value::U32(1)), "a kept field of the plugin");
    assert_eq!(call(&host, one(HERO), "Hurt", &[Value::I32(1)]), Some(Value::I32(69)));
}

#[test]
fn a_script_error_lists_its_call_stack_and_later_calls_work() {
    let package = Package::new("Tale", &[("Hero.uc", HERO_TEXT), ("Fool.uc", FOOL_TEXT)]);
    let limits = alcedo_runtime::ScriptLimits { rounds: 10_000, ..Default::default() };
    let host = host_of(builder().script_limits(limits), &package);
    let fool = spawn(&host, "/Script/Tale.Fool");
    for (function, expected) in [("Forever", "Fool.uc:"), ("Deeper", "Fool.uc:"), ("Outside", "Fool.uc:")] {
        let error = host.objects().call(fool, function, &[]).expect_err("it must fail").to_string();
        assert!(error.contains(expected) && error.contains(function), "{function}: {error}");
        assert_eq!(call(&host, fool, "Fine", &[]), Some(Value::I32(3)), "{function}");
    }
    reload_of(&host, &package);
}

const FOOL_TEXT: &str = r#"
class Fool extends Object;

var int Few[2];

function int Forever()
{
    while (true)
    {
        Few[0]++;
    }
    return 1;
}

function int Deeper()
{
    return Deeper() + 1;
}

function int Outside()
{
    local int I;

    I = 5;
    return Few[I];
}

function int Fine()
{
    return 3;
}
"#;

#[test]
fn subobjects_and_own_values_are_declared_in_script_text() {
    let text = "class Lamp extends Actor;

var SceneComponent Shade;

defaultproperties
{
    Begin Object Class=SceneComponent \
                Name=Bulb
        CanTick=true
    End Object
    Shade=Bulb
}
";
    let package = Package::new("Tale", &[("Lamp.uc", text)]);
    let host = host_of(builder(), &package);
    let [one, other] = [(); 2].map(|()| spawn(&host, "/Script/Tale.Lamp"));
    let shade = |lamp| match get(&host, lamp, "Shade") {
        Value::Object(shade) => shade,
        other => panic!("{other:?}"),
    };
    assert_ne!(shade(one), shade(other), "each has its own");
    assert_eq!(host.objects().outer_of(shade(one)), Some(one));
    assert_eq!(get(&host, shade(one), "can_tick"), Value::Bool(true));
    host.objects().set(shade(one), "can_tick", &Value::Bool(false)).expect("a switch");
    reload_of(&host, &package);
    assert_eq!(get(&host, shade(one), "can_tick"), Value::Bool(false), "its values are kept");
    assert_eq!(get(&host, shade(other), "can_tick"), Value::Bool(true));
}

#[test]
fn the_example_package_behaves_as_documented() {
    let folder = support::folder("scripts").join("Tale");
    let modules = [folder, support::plugin("magic-cube", &[])];
    let host = builder().build().expect("a host");
    host.create_master(&modules).unwrap_or_else(|error| panic!("{error}"));
    let (hero, cube) = (spawn(&host, HERO), spawn(&host, FANCY));
    let strike = |from: &str, amount| call(&host, hero, "Strike", &[Value::Text(from.into()), Value::I32(amount)]);
    assert_eq!((strike("wolf", 10), strike("bear", 30)), (Some(Value::I32(90)), Some(Value::I32(60))));
    assert_eq!(call(&host, hero, "AverageBlow", &[]), Some(Value::F32(20.0)));
    for _ in 0..20 {
        host.tick(Budget::seconds(0.1));
    }
    let Value::I32(health) = get(&host, hero, "Health") else { panic!("a number") };
    assert!(health > 60, "it heals: {health}");
    let Value::F64(before) = get(&host, cube, "rotation_speed") else { panic!("a number") };
    call(&host, cube, "say_hello", &[]);
    assert_eq!(get(&host, cube, "rotation_speed"), Value::F64(before + 15.0));
}

#[test]
fn a_host_accepting_only_signed_modules_refuses_scripts() {
    let package = Package::new("Tale", &[("Hero.uc", HERO_TEXT)]);
    let key = alcedo_runtime::SecretKey::generate().expect("a key").public();
    let host = builder().trust(key).build().expect("a host");
    let refused = host.create_master(std::slice::from_ref(&package.folder)).expect_err("it is not signed");
    assert!(refused.to_string().contains("cannot be signed"), "{refused}");
}

#[test]
fn an_invalid_package_is_refused_before_anything_is_loaded() {
    let host = support::builder().build().expect("a host");
    let refused = |package: &Package| {
        let refused = host.create_master(std::slice::from_ref(&package.folder)).expect_err("it is refused").to_string();
        assert_eq!((host.generation(), host.modules().len()), (0, 0), "{refused}");
        refused
    };
    let unknown = refused(&Package::new("Tale", &[("Hero.uc", HERO_TEXT)]));
    assert!(unknown.contains("package Tale"), "{unknown}");
    assert!(refused(&Package::new("Tale", &[])).contains("with no `.uc` files"));
    assert!(refused(&Package::new("no-name", &[("Hero.uc", HERO_TEXT)])).contains("rename the folder"));
    let text = "class Lost extends Nowhere;\n";
    let lost = refused(&Package::new("Game", &[("Lost.uc", text)]));
    assert!(lost.contains("Nowhere") && lost.contains("Game/Lost.uc:1"), "{lost}");
    // Loads a package without the mistake.
    let good = Package::new("Game", &[("Hero.uc", HERO_TEXT)]);
    host.create_master(std::slice::from_ref(&good.folder)).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_plugin_uses_package_classes_by_type_and_reloads_with_it() {
    let package = Package::new("Ballad", &[]);
    let source = support::folder("scripts").join("Ballad/Singer.uc");
    fs::copy(source, package.folder.join("Singer.uc")).expect("the example is there");
    let modules = [support::plugin("listener", &[]), package.folder.clone()];
    let host = support::builder().package("Ballad").build().expect("a host");
    host.create_master(&modules).unwrap_or_else(|error| panic!("{error}"));
    let (singer, listener) = (spawn(&host, "/Script/Ballad.Singer"), spawn(&host, "/Script/Game.Listener"));
    let listen = || call(&host, listener, "listen", &[]);
    assert_eq!(listen(), Some(Value::Text("no singer".into())));
    host.objects().set(listener, "favorite", &Value::Object(singer)).expect("a singer");
    assert_eq!(listen(), Some(Value::Text("2 2".into())));
    package.edit("Singer.uc", "songs += times;", "songs += 10 * times;");
    let report = host.reload_changed(&modules).expect("a Master");
    let report = report.into_result().unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(report.replaced_because, ["Ballad: its text has changed", "listener: it uses Ballad"]);
    assert_eq!(listen(), Some(Value::Text("22 22".into())));
    // The function that the plugin was built to call no longer exists. Therefore neither module is replaced.
    package.edit("Singer.uc", "function int sing(int times)", "function int sing(float times)");
    let report = host.reload_changed(&modules).expect("a Master");
    assert!(matches!(report.outcome, Outcome::RolledBack { .. }), "{report}");
    assert!(report.to_string().contains("sing"), "{report}");
    assert_eq!(listen(), Some(Value::Text("42 42".into())));
}

#[test]
fn an_actor_begins_play_after_a_tick_of_a_coroutine_was_refused() {
    let text = "class Foo extends Actor;\nevent receive_begin_play() { label = label $ \"begun\"; }";
    let package = Package::new("Tale", &[("Foo.uc", text)]);
    let host = host_of(builder(), &package);
    host.tick(Budget::frame());
    let foo = spawn(&host, "/Script/Tale.Foo");
    let inside = host.clone();
    let mut coroutine: Coroutine<(), (), ()> =
        Coroutine::new(move |_yielder: &Yielder<(), ()>, ()| inside.tick(Budget::frame()));
    coroutine.resume(());
    assert_eq!(get(&host, foo, "label"), Value::Text("".into()));
    for _ in 0..2 {
        host.tick(Budget::frame());
        assert_eq!(get(&host, foo, "label"), Value::Text("begun".into()));
    }
}
