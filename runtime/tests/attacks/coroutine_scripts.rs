//! Tests scripts on coroutine stacks. The interpreter stores the frames of all scripts in one buffer. The frame that was opened last must
//! therefore close first.

#![expect(deprecated, reason = "the body of a native function has no scope of the generator around it")]

use std::cell::RefCell;
use std::fs;

use alcedo_runtime::kinds::function_flags;
use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{ObjectHandle, Runtime, Value};
use generator::{Generator, Gn};

use super::support;

const KNOT: &str = "class Knot extends Rope;

function int Snooze(int Number)
{
    local int Kept;

    Kept = Number * 7;
    Nap();
    return Kept;
}
";

thread_local! {
    /// Host and script object for the generators. Stored in a thread-local, because a generator must be `Send` and a host is not.
    static HOST: RefCell<Option<(Runtime, ObjectHandle)>> = const { RefCell::new(None) };
}

/// Calls the script function `Snooze` on the stack of a generator. The native function `Nap` tries to suspend this generator.
fn snooze(number: i32) -> Generator<'static, (), String> {
    Gn::<()>::new(move || {
        let (host, knot) = HOST.with_borrow(Clone::clone).expect("a host");
        let slept = host.objects().call(knot, "Snooze", &[Value::I32(number)]);
        slept.map_or_else(|error| error.to_string(), |value| format!("{value:?}"))
    })
}

#[test]
fn a_script_on_a_coroutine_stack_is_refused_and_scripts_keep_working() {
    let folder = tempfile::tempdir().expect("a folder");
    let package = folder.path().join("Tale");
    fs::create_dir(&package).expect("made");
    fs::write(package.join("Knot.uc"), KNOT).expect("written");
    let rope = NativeClass::new("Ropes", "Rope", "/Script/Core.Object").function(
        "Nap",
        &[],
        None,
        function_flags::CALLABLE,
        |_world, frame| {
            frame.finish()?;
            if generator::is_generator() {
                generator::yield_with(String::new());
            }
            Ok(())
        },
    );
    let natives = Natives::in_package("Ropes").class(rope);
    let host = support::builder().package("Tale").natives(natives).build().expect("a host");
    host.create_master(&[package]).unwrap_or_else(|error| panic!("{error}"));
    let knot = host.objects().spawn("/Script/Tale.Knot").expect("it is loaded");
    HOST.set(Some((host.clone(), knot)));
    let (mut one, mut two) = (snooze(1), snooze(2));
    for slept in [one.resume(), two.resume()] {
        let refused = slept.as_deref().is_some_and(|slept| slept.contains("is refused on the stack of a coroutine"));
        assert!(refused, "{slept:?}");
    }
    HOST.set(None);
    assert_eq!(host.objects().call(knot, "Snooze", &[Value::I32(3)]).ok(), Some(Some(Value::I32(21))));
    host.collection().collect().expect("no script is suspended");
    host.shutdown();
}

/// Constructs an object of the native class `Rope` on the stack of a generator. Its constructor suspends this generator.
fn construct() -> Generator<'static, (), String> {
    Gn::<()>::new(move || {
        let (host, _knot) = HOST.with_borrow(Clone::clone).expect("a host");
        let made = host.objects().spawn("/Script/Ropes.Rope");
        made.map_or_else(|error| error.to_string(), |_rope| "constructed".to_owned())
    })
}

#[test]
fn a_suspended_native_constructor_leaves_class_defaults_and_reloads_alone() {
    thread_local! {
        static OUTCOMES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
        static ASLEEP: RefCell<Vec<Generator<'static, (), String>>> = const { RefCell::new(Vec::new()) };
    }
    let begin = || {
        let mut generator = construct();
        OUTCOMES.with_borrow_mut(|outcomes| outcomes.extend(generator.resume()));
        ASLEEP.with_borrow_mut(|asleep| asleep.push(generator));
    };
    let folder = tempfile::tempdir().expect("a folder");
    let package = folder.path().join("Tale");
    fs::create_dir(&package).expect("made");
    fs::write(package.join("Knot.uc"), "class Knot extends Rope;").expect("written");
    let rope = NativeClass::new("Ropes", "Rope", "/Script/Core.Object").constructor(move |world, object| {
        if generator::is_generator() {
            generator::yield_with("suspended".to_owned());
        } else if world.is_template(object) && HOST.with_borrow(Option::is_some) {
            begin();
        }
        Ok(())
    });
    let natives = Natives::in_package("Ropes").class(rope);
    let host = support::builder().package("Tale").natives(natives).build().expect("a host");
    HOST.set(Some((host.clone(), ObjectHandle::NONE)));
    begin();
    host.create_master(&[&package]).unwrap_or_else(|error| panic!("{error}"));
    assert!(host.reload(&[package]).expect("a safe point").is_committed());
    let outcomes = OUTCOMES.take();
    // `begin` ran once before the Master was created, and once for the class default object in each load.
    let [before, in_create, in_reload] = &outcomes[..] else { panic!("{outcomes:?}") };
    assert_eq!(before, "suspended");
    for outcome in [in_create, in_reload] {
        assert!(outcome.contains("spawning an object is for a safe point"), "{outcomes:?}");
    }
    let mut asleep = ASLEEP.take();
    assert_eq!(asleep[0].resume().as_deref(), Some("constructed"));
    assert!(asleep.iter().all(|generator| generator.is_done()), "no script is left on its stack");
    HOST.set(None);
    let knot = host.objects().spawn("/Script/Tale.Knot").expect("it is loaded");
    assert!(host.objects().is_alive(knot));
    host.collection().collect().expect("no constructor is suspended");
    host.shutdown();
}
