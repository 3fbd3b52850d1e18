//! Tests hosts that misuse a single operation: posts, console input, a removed staging folder, a crash guard.

use std::cell::{Cell, RefCell};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::rc::Rc;

use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{
    Budget, CallError, Declined, ObjectHandle, Runtime, Signature, Unload, Value, WeakRuntime, ZCallFunction,
    crash_guard,
};

use super::support::{self, alone};
use super::{attacker, query, spawn};

const CHILD: &str = "ALCEDO_TEST_POSTS";

/// Each posted closure runs a safe point, which runs the next closure. The test runs in a separate process, because a stack overflow would
/// abort the process.
#[test]
fn posts_that_run_a_safe_point_nest_no_deeper_than_a_limit() {
    if std::env::var_os(CHILD).is_some() {
        let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
        let poster = host.post_handle();
        for at in 0..100_000 {
            let post = move |host: &Runtime| if at % 2 == 0 { host.safe_point() } else { host.tick(Budget::frame()) };
            assert!(poster.post(post));
        }
        host.tick(Budget::frame());
        drop(host.shutdown());
        return;
    }
    let name = "posts_that_run_a_safe_point_nest_no_deeper_than_a_limit";
    let output = alone::only(module_path!(), name).env(CHILD, "1").output().expect("this program starts");
    assert!(output.status.success(), "{}", alone::output_text(&output));
}

/// Models a dialog: a post that ticks the host until the dialog is closed.
#[test]
fn a_post_that_ticks_in_a_loop_runs_nested_posts() {
    thread_local! {
        static ANSWERS: Cell<u32> = const { Cell::new(0) };
    }
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    assert!(host.post_handle().post(|host| {
        assert!(host.post_handle().post(|_host| ANSWERS.set(1)));
        (0..10).for_each(|_| host.tick(Budget::frame()));
        assert_eq!(ANSWERS.replace(2), 1);
    }));
    host.safe_point();
    assert_eq!(ANSWERS.get(), 2);
}

/// Each listener destroys all objects, including its own.
#[test]
fn listeners_that_destroy_objects_run_once_for_each_object() {
    let (ended, dead) = (Rc::new(RefCell::new(Vec::new())), Rc::new(Cell::new(0)));
    let (noted, count) = (Rc::clone(&ended), Rc::clone(&dead));
    let natives = Natives::default().before_destroy(move |host, object| {
        noted.borrow_mut().push(object);
        host.objects().iter().for_each(|other| host.objects().destroy(other));
        // Counts instead of a panic, because a panic of a listener does not fail the test.
        count.set(count.get() + u32::from(!host.objects().is_alive(object)));
    });
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    let objects = [(); 3].map(|()| host.objects().spawn("/Script/Core.Object").expect("a class of every host"));
    host.objects().destroy(objects[0]);
    assert_eq!((&**ended.borrow(), dead.get()), (&objects[..], 0), "each object is intact during its listener");
    assert_eq!(host.objects().iter().len(), 0);
}

/// The listener of a subobject destroys the owner, whose destruction includes the subobject.
#[test]
fn listeners_that_destroy_owners_run_once_for_each_object() {
    let ended = Rc::new(RefCell::new(Vec::new()));
    let noted = Rc::clone(&ended);
    let natives = Natives::default().before_destroy(move |host, object| {
        noted.borrow_mut().push(object);
        host.objects().outer_of(object).into_iter().for_each(|owner| host.objects().destroy(owner));
    });
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[support::plugin("magic-cube", &[])]).unwrap_or_else(|error| panic!("{error}"));
    for first in ["cube", "subobject"] {
        let cube = spawn(&host, "MagicCube");
        let Ok(Value::Object(mesh)) = host.objects().get(cube, "mesh") else { panic!("a subobject") };
        let expected = if first == "cube" { [cube, mesh] } else { [mesh, cube] };
        host.objects().destroy(expected[0]);
        assert_eq!((ended.take(), host.objects().iter().len()), (expected.to_vec(), 0), "{first}");
    }
}

/// The first listener of a subobject destroys the owner. The second listener of the subobject runs before the owner is destroyed.
#[test]
fn every_listener_receives_a_live_object_although_the_first_destroys_the_owner() {
    let ended = Rc::new(RefCell::new(Vec::new()));
    let noted = Rc::clone(&ended);
    let natives = Natives::default()
        .before_destroy(|host, object| {
            host.objects().outer_of(object).into_iter().for_each(|owner| host.objects().destroy(owner));
        })
        .before_destroy(move |host, object| noted.borrow_mut().push((object, host.objects().is_alive(object))));
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[support::plugin("magic-cube", &[])]).unwrap_or_else(|error| panic!("{error}"));
    let cube = spawn(&host, "MagicCube");
    let Ok(Value::Object(mesh)) = host.objects().get(cube, "mesh") else { panic!("a subobject") };
    host.objects().destroy(mesh);
    assert_eq!(ended.take(), [(cube, true), (mesh, true)]);
    assert_eq!(host.objects().iter().len(), 0);
}

#[test]
fn a_listener_is_not_called_for_an_object_that_an_earlier_listener_has_unloaded() {
    let ended = Rc::new(Cell::new(0));
    let count = Rc::clone(&ended);
    let natives = Natives::default().before_destroy(|host, _object| drop(host.unload_master()));
    let natives = natives.before_destroy(move |_host, _object| count.set(count.get() + 1));
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[attacker(&[])]).unwrap_or_else(|error| panic!("{error}"));
    let objects = [(); 2].map(|()| spawn(&host, "Bystander"));
    host.objects().destroy(objects[0]);
    assert!(host.modules().is_empty() && host.objects().iter().len() == 0);
    assert_eq!(ended.get(), 1, "the unload has called the listeners of the other object");
}

/// The listener of the second object destroys the first object, whose listener has already run.
#[test]
fn an_unload_calls_each_destruction_listener_once() {
    let ended = Rc::new(RefCell::new(Vec::new()));
    let noted = Rc::clone(&ended);
    let natives = Natives::default().before_destroy(move |host, object| {
        noted.borrow_mut().push(object);
        host.objects().iter().take(1).for_each(|first| host.objects().destroy(first));
    });
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[attacker(&[])]).unwrap_or_else(|error| panic!("{error}"));
    let objects = [(); 2].map(|()| spawn(&host, "Bystander"));
    let unload = host.unload_master().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((unload.objects_ended, &**ended.borrow()), (2, &objects[..]));
}

/// Unloads a Master with one object. Each listener calls the plugin, which creates an object, until `most` objects exist. Returns the
/// unload and the number of listener calls.
fn unload_while_listeners_create(most: usize) -> (Unload, usize) {
    let ended = Rc::new(Cell::new(0));
    let count = Rc::clone(&ended);
    let natives = Natives::default().before_destroy(move |host, object| {
        count.set(count.get() + 1);
        if host.objects().iter().len() < most {
            query(host, object, "breed");
        }
    });
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[attacker(&[])]).unwrap_or_else(|error| panic!("{error}"));
    spawn(&host, "Hoarder");
    let unload = host.unload_master().unwrap_or_else(|error| panic!("{error}"));
    (unload, ended.get())
}

#[test]
fn an_unload_calls_the_listeners_of_objects_that_listeners_create() {
    let (unload, ended) = unload_while_listeners_create(3);
    assert_eq!((unload.objects_ended, ended), (3, 3));
}

#[test]
fn listeners_that_create_objects_endlessly_do_not_prevent_an_unload() {
    let (unload, ended) = unload_while_listeners_create(usize::MAX);
    assert_eq!((unload.objects_ended, ended), (17, 16));
    let problems = unload.ticket.report().problems;
    assert!(problems.iter().any(|problem| problem.contains("have created objects 16 times")), "{problems:?}");
}

/// Each listener creates 8 objects, whose listeners also create 8 objects.
#[test]
fn an_unload_limits_the_number_of_objects_that_listeners_create() {
    let ended = Rc::new(Cell::new(0));
    let count = Rc::clone(&ended);
    let natives = Natives::default().before_destroy(move |host, object| {
        count.set(count.get() + 1);
        // Ends the test if the unload has no limit.
        if count.get() < 2000 {
            (0..8).for_each(|_| drop(query(host, object, "breed")));
        }
    });
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[attacker(&[])]).unwrap_or_else(|error| panic!("{error}"));
    spawn(&host, "Hoarder");
    let unload = host.unload_master().unwrap_or_else(|error| panic!("{error}"));
    assert!(ended.get() < 2000, "{} listeners were called", ended.get());
    let problems = unload.ticket.report().problems;
    let is_named = |problem: &String| problem.contains("objects, most recently an object of Game.Hoarder");
    assert!(problems.iter().any(is_named), "{problems:?}");
    assert_eq!(host.objects().iter().len(), 0);
}

/// The listener of the first object creates more objects than the listeners of created objects may create.
#[test]
fn an_unload_calls_the_listeners_of_all_existing_objects() {
    let ended = Rc::new(Cell::new(0));
    let count = Rc::clone(&ended);
    let natives = Natives::default().before_destroy(move |host, object| {
        count.set(count.get() + 1);
        if count.get() == 1 {
            (0..5000).for_each(|_| drop(query(host, object, "breed")));
        }
    });
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[attacker(&[])]).unwrap_or_else(|error| panic!("{error}"));
    let _existing = [(); 2].map(|()| spawn(&host, "Hoarder"));
    let unload = host.unload_master().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((ended.get(), host.objects().iter().len()), (5002, 0));
    let problems = unload.ticket.report().problems;
    assert!(!problems.iter().any(|problem| problem.contains("have created")), "{problems:?}");
}

#[test]
fn a_host_whose_folder_of_copies_was_removed_reloads() {
    let library = support::plugin("glue-base", &[]);
    let host = support::host(std::slice::from_ref(&library));
    fs::remove_dir_all(host.stage_dir()).expect("it is a folder");
    let report = host.reload(&[library]).expect("a Master");
    assert!(report.is_committed(), "{report}");
}

#[test]
fn a_string_printed_by_the_console_is_read_back_by_it() {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let actor = host.objects().spawn("/Script/Engine.Actor").unwrap_or_else(|error| panic!("{error}"));
    let name = host.objects().name_of(actor).expect("it has one");
    let get = || host.objects().get(actor, "label").unwrap_or_else(|error| panic!("{error}"));
    for text in ["plain", "\"", "\\", "\n\r\t", "a\0b", "a\u{7f}b", "\u{feff}", "a\u{202e}b"] {
        host.objects().set(actor, "label", &Value::Text(text.to_owned())).unwrap_or_else(|error| panic!("{error}"));
        let printed = host.console(&format!("get {name} label"));
        host.objects().set(actor, "label", &Value::Text("other".to_owned())).unwrap_or_else(|error| panic!("{error}"));
        let answer = host.console(&format!("set {name} label {printed}"));
        assert_eq!(get(), Value::Text(text.to_owned()), "{printed}: {answer}");
    }
}

#[test]
fn a_reference_printed_by_the_console_is_read_back_by_it() {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let [actor, component] = ["/Script/Engine.Actor", "/Script/Engine.SceneComponent"]
        .map(|class| host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}")));
    let set = |value: &str| host.console(&format!("set {actor} root_component {value}"));
    assert_eq!(set("none"), "none");
    let printed = set(&component.to_string());
    assert_eq!((set("none"), set(&printed)), ("none".to_owned(), printed));
    let found = host.objects().get(actor, "root_component").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found, Value::Object(component));
}

/// A host with a crash guard starts a process of its own program, which crashes.
#[test]
fn a_crash_of_a_process_that_a_host_starts_is_not_a_crash_of_the_host() {
    const PART: &str = "ALCEDO_TEST_GUARDED";
    let name = "a_crash_of_a_process_that_a_host_starts_is_not_a_crash_of_the_host";
    let start = |part: &str| {
        let mut process = alone::only(module_path!(), name);
        process.env(PART, part);
        process
    };
    match std::env::var(PART).as_deref() {
        Ok("host") => {
            assert!(crash_guard::arm_if_supervised().expect("the folder exists"));
            let ended = start("child").output().expect("this program starts");
            assert_eq!(ended.status.signal(), Some(6), "{}", alone::output_text(&ended));
        }
        Ok(_) => {
            // The second call returns the same result, because the first call has kept no files.
            let armed = [(); 2].map(|()| crash_guard::arm_if_supervised().expect("the folder exists"));
            assert_eq!(armed, [false; 2]);
            std::process::abort();
        }
        Err(_) => {
            let folder = support::test_dir().join("guarded");
            let _stale = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).expect("a folder");
            alone::passes(start("host").env(crash_guard::FOLDER, &folder));
            assert_eq!(fs::read_to_string(folder.join("crash")).expect("the host has created it"), "");
        }
    }
}

/// Runs host code that calls itself endlessly through the operation `how`.
fn recurse(how: &str) {
    thread_local! {
        static HOST: RefCell<Option<(WeakRuntime, ObjectHandle)>> = const { RefCell::new(None) };
    }
    let again = |verb: fn(&Runtime, ObjectHandle)| {
        let known = HOST.with_borrow(|host| host.as_ref().and_then(|(host, object)| Some((host.upgrade()?, *object))));
        known.into_iter().for_each(|(host, object)| verb(&host, object));
    };
    let class = NativeClass::new("Test", "Again", "/Script/Core.Object")
        .constructor(move |_world, _object| {
            again(|host, _object| drop(host.objects().spawn("/Script/Test.Again")));
            Ok(())
        })
        .function("again", &[], None, 0, move |_world, frame| {
            frame.finish()?;
            again(|host, object| drop(host.objects().call(object, "again", &[])));
            Ok(())
        });
    // Each object of the attack is inside the object that its listener destroys.
    let ends = |host: &Runtime, object| {
        host.objects().outer_of(object).into_iter().for_each(|outer| host.objects().destroy(outer));
    };
    let natives = Natives::in_package("Test").class(class).before_destroy(ends);
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    let object = host.objects().spawn("/Script/Test.Again").expect("its constructor does not recurse yet");
    HOST.set(Some((host.downgrade(), object)));
    let plain = |host: &Runtime, _: &[Value]| {
        let again = host.calls().call("ex:/host.again", &[]);
        again.map_err(|error| CallError::other(error.to_string()))
    };
    let typed = |host: &Runtime, (number,): (u64,)| -> u64 {
        let again = host.function::<(u64,), u64>("ex:/host.typed");
        again.and_then(|again| again.call((number + 1,))).unwrap_or(number)
    };
    let resolved = |_: &Runtime, name: &str| match name {
        "again" => Ok(ZCallFunction::new(Signature::default(), |host, _| {
            let again = host.calls().call("db:/again", &[]);
            again.map_err(|error| CallError::other(error.to_string()))
        })),
        other => Err(Declined::from(other)),
    };
    let resolves = |host: &Runtime, name: &str| match host.calls().resolve(&format!("ring:/{name}s")) {
        Ok(_) => panic!("the name must not resolve"),
        Err(error) => Err(Declined::from(error.to_string())),
    };
    host.calls().register("host.again", Signature::default(), plain).expect("a free name");
    host.calls().register_typed("host.typed", typed).expect("a free name");
    host.calls().add_value_resolver("db", resolved).expect("a free protocol");
    host.calls().add_value_resolver("ring", resolves).expect("a free protocol");
    let refused = match how {
        "a call by name" => host.calls().call("ex:/host.again", &[]).map(drop),
        "a function of a resolver" => host.calls().call("db:/again", &[]).map(drop),
        other => {
            match other {
                "a typed function" => drop(host.calls().call("ex:/host.typed", &[Value::U64(0)])),
                "a resolver" => drop(host.calls().resolve("ring:/again").expect_err("it is cyclic")),
                "a method" => drop(host.objects().call(object, "again", &[])),
                "a construction" => drop(host.objects().spawn("/Script/Test.Again")),
                _ => {
                    let spawn_in =
                        |outer, _| host.objects().spawn_in("/Script/Core.Object", outer).expect("a live outer");
                    let innermost = (0..50_000).fold(object, spawn_in);
                    host.objects().destroy(innermost);
                    assert!(!host.objects().is_alive(innermost));
                }
            }
            assert!(host.objects().is_alive(object));
            Err(CallError::other("it calls itself through other functions").into())
        }
    };
    let refused = refused.expect_err("it is cyclic").to_string();
    assert!(refused.contains("calls itself through other functions"), "{refused}");
    HOST.set(None);
    drop(host.shutdown());
}

#[test]
fn host_recursion_through_any_verb_is_refused_at_a_depth_limit() {
    if let Ok(how) = std::env::var(CHILD) {
        return recurse(&how);
    }
    let name = "host_recursion_through_any_verb_is_refused_at_a_depth_limit";
    for how in [
        "a call by name",
        "a typed function",
        "a function of a resolver",
        "a resolver",
        "a method",
        "a construction",
        "a destruction",
    ] {
        let output = alone::only(module_path!(), name).env(CHILD, how).output().expect("this program starts");
        assert!(output.status.success(), "{how}: {}", alone::output_text(&output));
    }
}
