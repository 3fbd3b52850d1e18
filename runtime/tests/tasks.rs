//! Tests tasks, timers and posted closures of a real plugin: their order, their clock and their end. A reload suspends these jobs. If the
//! reload fails, the jobs continue. No job of an old generation runs in a new generation.

use crate::support;

use std::cell::Cell;
use std::hint::black_box;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use alcedo_runtime::{Budget, ContextState, LeaseKind, ObjectHandle, Runtime, Value, process};
use corosensei::{Coroutine, Yielder};
use expect_test::{Expect, expect};

pub(crate) const ROBOT: &str = "/Script/Game.Robot";

pub(crate) fn chores(features: &[&str]) -> PathBuf {
    support::plugin("chores", features)
}

/// Returns a record of the lines under `target`, and a host with one robot. The record outlives the host, so that other tests do not
/// receive the last lines from this host.
pub(crate) fn playing(target: &'static str) -> (support::Record, Runtime, ObjectHandle) {
    let record = support::record(target);
    let host = support::hasty_host(&[chores(&[])]);
    let robot = host.objects().spawn(ROBOT).expect("spawned");
    (record, host, robot)
}

fn call(host: &Runtime, robot: ObjectHandle, function: &str, arguments: &[Value]) -> Option<Value> {
    host.objects().call(robot, function, arguments).unwrap_or_else(|error| panic!("{function}: {error}"))
}

pub(crate) fn tick(host: &Runtime, milliseconds: u32) {
    host.tick(Budget::seconds(milliseconds as f32 / 1_000.0));
}

pub(crate) fn assert_log(record: &support::Record, expected: &Expect) {
    expected.assert_eq(&record.take());
}

fn beats(host: &Runtime, robot: ObjectHandle) -> i32 {
    match host.objects().get(robot, "beats") {
        Ok(Value::I32(beats)) => beats,
        other => panic!("`beats` is a number: {other:?}"),
    }
}

#[test]
fn timers_run_first_then_tasks_then_posted_closures() {
    let (record, host, robot) = playing("chores");
    call(&host, robot, "line_up", &[]);
    assert_log(&record, &expect![[""]]);
    tick(&host, 20);
    assert_log(
        &record,
        &expect![[r#"
            due first (build 0)
            due second (build 0)
            due second too (build 0)
            task (build 0)
            posted first (build 0)
            posted second (build 0)
        "#]],
    );
    tick(&host, 0);
    assert_log(
        &record,
        &expect![[r#"
            timer of the task, a tick later (build 0)
            task of the task, a tick later (build 0)
        "#]],
    );
    assert_eq!(host.jobs(), []);
}

#[test]
fn a_timer_keeps_the_rhythm_of_game_time_until_it_is_cancelled() {
    let (record, host, robot) = playing("chores");
    tick(&host, 1_000);
    call(&host, robot, "beat", &[Value::U32(100)]);
    for milliseconds in [50, 300, 40, 20, 30, 0, 60] {
        record.note(format!("a tick of {milliseconds} ms"));
        tick(&host, milliseconds);
    }
    assert_eq!(host.game_time().as_millis(), 1_500);
    assert_eq!(call(&host, robot, "rest", &[]), Some(Value::Bool(true)));
    assert_eq!(call(&host, robot, "rest", &[]), Some(Value::Bool(false)), "it rests already");
    tick(&host, 1_000);
    assert_log(
        &record,
        &expect![[r#"
            a tick of 50 ms
            a tick of 300 ms
            Robot_1 beats for the 1. time at 1350 ms (build 0)
            a tick of 40 ms
            a tick of 20 ms
            Robot_1 beats for the 2. time at 1410 ms (build 0)
            a tick of 30 ms
            a tick of 0 ms
            a tick of 60 ms
            Robot_1 beats for the 3. time at 1500 ms (build 0)
            the beating timer is dropped (build 0)
        "#]],
    );
}

#[test]
fn a_tick_on_the_stack_of_a_coroutine_ends_no_job() {
    let (_record, host, robot) = playing("chores");
    call(&host, robot, "beat", &[Value::U32(100)]);
    let inside = host.clone();
    let mut coroutine: Coroutine<(), (), ()> =
        Coroutine::new(move |_yielder: &Yielder<(), ()>, ()| tick(&inside, 1_000));
    coroutine.resume(());
    assert_eq!((host.game_time(), host.jobs().len()), (Duration::from_secs(1), 1));
    tick(&host, 150);
    assert_eq!(beats(&host, robot), 1);
}

#[test]
fn tickers_run_on_the_stack_of_a_coroutine() {
    let ticks = Rc::new(Cell::new(0));
    let counter = Rc::clone(&ticks);
    let host = support::builder().ticker(move |_, _| counter.set(counter.get() + 1)).build().expect("a host");
    let inside = host.clone();
    let mut coroutine: Coroutine<(), (), ()> =
        Coroutine::new(move |_yielder: &Yielder<(), ()>, ()| tick(&inside, 1_000));
    coroutine.resume(());
    assert_eq!((ticks.get(), host.game_time()), (1, Duration::from_secs(1)));
}

#[test]
fn a_last_handle_dropped_on_a_coroutine_drops_the_captures_of_jobs_later() {
    let (record, host, robot) = playing("chores");
    call(&host, robot, "beat", &[Value::U32(100)]);
    let mut coroutine: Coroutine<(), (), ()> = Coroutine::new(move |_yielder: &Yielder<(), ()>, ()| drop(host));
    coroutine.resume(());
    assert_log(&record, &expect![[""]]);
    let next = support::builder().build().expect("a host");
    assert_log(
        &record,
        &expect![[r#"
            the beating timer is dropped (build 0)
            exit: the module of a posted closure is not available: it does not exist yet, is being built or replaced, or has ended (build 0)
        "#]],
    );
    drop(next);
}

#[test]
fn a_safe_point_ends_a_host_whose_last_handle_a_coroutine_dropped() {
    let (record, host, robot) = playing("chores");
    let other = support::builder().build().expect("a host");
    call(&host, robot, "beat", &[Value::U32(100)]);
    let weak = host.downgrade();
    let mut coroutine: Coroutine<(), (), ()> = Coroutine::new(move |_yielder: &Yielder<(), ()>, ()| drop(host));
    coroutine.resume(());
    assert_log(&record, &expect![[""]]);
    assert!(weak.upgrade().is_some());
    other.safe_point();
    assert!(record.take().starts_with("the beating timer is dropped (build 0)\n"));
    assert!(weak.upgrade().is_none());
}

/// Runs a tick in each of many nested frames. Returns after `left` frames in which the stack was too small for a call of the robot.
fn tick_deeper(host: &Runtime, robot: ObjectHandle, left: u32) {
    let frame = black_box([0_u8; 256]);
    tick(host, 200);
    let has_room = host.objects().call(robot, "steps", &[]).is_ok();
    if has_room || left > 0 {
        tick_deeper(host, robot, if has_room { left } else { left - 1 });
    }
    black_box(&frame);
}

#[test]
fn a_job_that_has_no_room_on_the_stack_stays_due() {
    let _record = support::record("chores");
    let run = || {
        let host = support::hasty_host(&[chores(&[])]);
        let robot = host.objects().spawn(ROBOT).expect("spawned");
        call(&host, robot, "beat", &[Value::U32(100)]);
        tick_deeper(&host, robot, 100);
        assert_eq!(host.jobs().len(), 1);
        let before = beats(&host, robot);
        tick(&host, 200);
        assert_eq!(beats(&host, robot), before + 1);
    };
    let thread = std::thread::Builder::new().stack_size(1536 << 10).spawn(run).expect("a thread");
    thread.join().expect("it does not panic");
}

#[test]
fn a_task_waits_for_ticks_and_for_game_time() {
    let (record, host, robot) = playing("chores");
    call(&host, robot, "walk", &[]);
    for _ in 0..8 {
        tick(&host, 250);
    }
    assert_log(
        &record,
        &expect![[r#"
            Robot_1 takes step 1 at 250 ms (build 0)
            Robot_1 takes step 2 at 500 ms (build 0)
            Robot_1 takes step 3 at 1000 ms (build 0)
            Robot_1 takes step 4 at 1250 ms (build 0)
            Robot_1 takes step 5 at 1750 ms (build 0)
            Robot_1 takes step 6 at 2000 ms (build 0)
        "#]],
    );
}

#[test]
fn a_delay_wakes_its_last_poller() {
    let (record, host, robot) = playing("chores");
    call(&host, robot, "combine", &[]);
    (0..6).for_each(|_| tick(&host, 10));
    assert_log(
        &record,
        &expect![[r#"
            polled at 10 ms (build 0)
            polled at 40 ms (build 0)
            combined at 40 ms (build 0)
        "#]],
    );
}

#[test]
fn tasks_that_wake_each_other_have_one_turn_in_each_tick() {
    let (record, host, robot) = playing("chores");
    call(&host, robot, "play_ball", &[Value::U32(2)]);
    for _ in 0..4 {
        record.note("a tick");
        tick(&host, 10);
    }
    assert_log(
        &record,
        &expect![[r#"
            a tick
            ping 0 (build 0)
            pong 0 (build 0)
            a tick
            ping 1 (build 0)
            pong 1 (build 0)
            a tick
            a tick
        "#]],
    );
    assert_eq!(host.jobs(), []);
}

#[test]
fn tasks_and_timers_of_an_object_end_with_it() {
    let (record, host, robot) = playing("chores");
    let other = host.objects().spawn(ROBOT).expect("spawned");
    for robot in [robot, other] {
        call(&host, robot, "walk", &[]);
        call(&host, robot, "beat", &[Value::U32(10)]);
    }
    tick(&host, 0);
    record.take();
    host.objects().destroy(robot);
    record.note("destroyed");
    tick(&host, 10);
    assert_log(
        &record,
        &expect![[r#"
            destroyed
            the walking task is dropped (build 0)
            the beating timer is dropped (build 0)
            Robot_2 beats for the 1. time at 10 ms (build 0)
            Robot_2 takes step 2 at 10 ms (build 0)
        "#]],
    );
    let left: Vec<_> = host.jobs().into_iter().map(|job| (job.kind, job.object)).collect();
    assert_eq!(
        left,
        [
            (LeaseKind::Task, Some(other)),
            (LeaseKind::Timer, Some(other)),
            (LeaseKind::Timer, None), // the `delay` of the walking task, which belongs to no object
        ]
    );
}

#[test]
fn a_timer_may_end_its_own_object() {
    let (record, host, robot) = playing("chores");
    call(&host, robot, "end_in_timer", &[]);
    tick(&host, 10);
    tick(&host, 10);
    assert!(!host.objects().is_alive(robot));
    assert_eq!(host.jobs(), []);
    let name = robot.to_string();
    let lines = record.take().replace(&name, "the robot");
    expect![[r#"
        the robot has ended itself (build 0)
        the timer that ends its object is dropped (build 0)
    "#]]
    .assert_eq(&lines);
}

#[test]
fn a_failed_reload_suspends_tasks_and_then_continues_them() {
    let (record, host, robot) = playing("chores");
    call(&host, robot, "walk", &[]);
    call(&host, robot, "beat", &[Value::U32(100)]);
    tick(&host, 10);
    call(&host, robot, "line_up", &[]);
    let before = host.jobs();
    assert_eq!(before.len(), 7, "the posted ones are not counted before the safe point: {before:#?}");
    let world = host.worlds().digest();
    record.take();

    let report = host.reload(&[chores(&["panic-in-main"])]).expect("a Master");

    assert!(!report.is_committed(), "{report}");
    // Posts run at the next safe point.
    let mut posted = Vec::new();
    let mut others = |lines: String| {
        let (posts, others): (Vec<_>, Vec<_>) = lines.lines().partition(|line| line.starts_with("posted"));
        posted.extend(posts.into_iter().map(str::to_owned));
        others.join("\n")
    };
    assert_eq!(others(record.take()), "main of the failing build (build 0)");
    assert_eq!(world.differences(&host.worlds().digest()), Vec::<String>::new());
    let after: Vec<_> = host.jobs().into_iter().filter(|job| job.kind != LeaseKind::Posted).collect();
    assert_eq!(after, before, "the jobs and their due times are unchanged");
    tick(&host, 90);
    tick(&host, 10);
    expect![[r#"
        due first (build 0)
        due second (build 0)
        due second too (build 0)
        Robot_1 beats for the 1. time at 100 ms (build 0)
        task (build 0)
        Robot_1 takes step 2 at 100 ms (build 0)
        timer of the task, a tick later (build 0)
        task of the task, a tick later (build 0)"#]]
    .assert_eq(&others(record.take()));
    assert_eq!(posted, ["posted first (build 0)", "posted second (build 0)"], "once, by the code that posted it");
    assert_eq!(call(&host, robot, "steps", &[]), Some(Value::U32(2)), "the original plugin part of the task");
}

#[test]
fn a_reload_ends_tasks_and_none_runs_in_the_new_generation() {
    let (record, host, robot) = playing("chores");
    call(&host, robot, "walk", &[]);
    call(&host, robot, "beat", &[Value::U32(10)]);
    call(&host, robot, "line_up", &[]);
    call(&host, robot, "cling", &[]);
    let next = support::tagged("chores", &["starts-anew"], 2);

    host.reload(&[next]).expect("a Master").into_result().expect("it is committed");

    assert_log(
        &record,
        &expect![[r#"
            the timer of a red constructor is dropped (build 2)
            the walking task is dropped (build 0)
            the beating timer is dropped (build 0)
            refused: the module of a task is not available: it does not exist yet, is being built or replaced, or has ended (build 0)
            refused: `Obj::with` can be used only in a task, a timer or a posted closure: in a method, call `this.get(obj)`; a destructor cannot access objects (build 0)
            exit: the module of a posted closure is not available: it does not exist yet, is being built or replaced, or has ended (build 0)
        "#]],
    );
    for _ in 0..3 {
        tick(&host, 1_000);
    }
    assert_eq!((beats(&host, robot), record.take()), (3, String::new()), "only what the red constructor started runs");
    assert_eq!(host.jobs().iter().map(|job| job.generation).collect::<Vec<_>>(), [2]);
    assert_eq!(host.unloads().parked(), Vec::<String>::new());
}

#[test]
fn a_timer_of_an_object_outlives_the_replaced_module_of_the_object() {
    let _record = support::record("chores");
    let libraries = |tag| [chores(&[]), support::tagged("magic-cube", &[], tag)];
    let host = support::hasty_host(&libraries(1));
    let [robot, cube] = [ROBOT, "/Script/Game.MagicCube"].map(|class| host.objects().spawn(class).expect("spawned"));
    call(&host, robot, "accompany", &[Value::Object(cube)]);
    tick(&host, 10);
    let report = host.reload_changed(&libraries(2)).expect("a Master").into_result().expect("it is committed");
    assert_eq!(report.modules, ["magic_cube"]);
    tick(&host, 10);
    assert_eq!(beats(&host, robot), 2);
    host.objects().destroy(cube);
    tick(&host, 10);
    assert_eq!((beats(&host, robot), host.jobs()), (2, vec![]));
}

#[test]
fn a_closure_posted_to_a_class_default_object_is_dropped() {
    let _record = support::record("chores");
    let host = support::hasty_host(&[chores(&["posts-anew"])]);
    let robot = host.objects().spawn(ROBOT).expect("spawned");
    tick(&host, 10);
    let template = host.objects().at_path("/World/Default__Robot").expect("it exists");
    assert_eq!((beats(&host, robot), beats(&host, template)), (1, 0));
    assert_eq!(host.jobs(), []);
}

#[test]
fn an_unload_ends_tasks_before_the_exit_hook() {
    let (record, host, robot) = playing("chores");
    call(&host, robot, "walk", &[]);
    call(&host, robot, "cling", &[]);
    tick(&host, 10);
    record.take();
    let unload = host.unload_master().expect("there is one");
    assert_log(
        &record,
        &expect![[r#"
            the walking task is dropped (build 0)
            refused: the module of a task is not available: it does not exist yet, is being built or replaced, or has ended (build 0)
            refused: `Obj::with` can be used only in a task, a timer or a posted closure: in a method, call `this.get(obj)`; a destructor cannot access objects (build 0)
            exit: the module of a posted closure is not available: it does not exist yet, is being built or replaced, or has ended (build 0)
        "#]],
    );
    assert_eq!((host.jobs(), unload.parked), (vec![], vec![]));
    tick(&host, 1_000);
    assert_eq!(record.take(), "");
}

#[test]
fn work_canceled_by_an_unload_is_counted_by_kind_module_and_location() {
    let (_record, host, robot) = playing("chores");
    let other = host.objects().spawn(ROBOT).expect("spawned");
    call(&host, robot, "line_up", &[]);
    call(&host, other, "line_up", &[]);
    let ticket = host.unload_master().expect("there is one").ticket;
    let report = ticket.wait(Duration::from_secs(60)).unwrap_or_else(|report| panic!("{report}"));
    let first = support::line_of("chores", "post(|| log_line(\"posted first\"))");
    let (file, line) = first.rsplit_once(':').expect("a place");
    let line: u32 = line.parse().expect("a line");
    let expected = [(2, "posted closures", 0), (2, "posted closures", 9), (2, "tasks", 1), (6, "timers", 7)];
    let expected = expected
        .map(|(count, kind, below)| format!("{count} {kind} of chores cut short, from {file}:{}", line + below));
    let mut lines: Vec<_> = report.jobs.iter().map(ToString::to_string).collect();
    lines.sort_by_key(|line| line.split_once(' ').map(|(_, rest)| rest.to_owned()));
    assert_eq!(lines, expected);
    assert!(lines.iter().all(|line| report.to_string().contains(line.as_str())), "{report}");
}

#[test]
fn a_panic_ends_its_job_and_is_logged_with_module_and_location() {
    let (record, host, robot) = playing("alcedo_runtime::bridge::tasks");
    call(&host, robot, "stumble", &[]);
    tick(&host, 10);
    let location = |text: &str| support::line_of("chores", text);
    let (task, timer) = (location("broken on purpose: task"), location("broken on purpose: timer"));
    let (closure, drop) = (location("broken on purpose: closure"), location("broken on purpose: drop"));
    let lines = record.take();
    for (kind, message, location) in [
        ("task", "task", task),
        ("timer", "timer", timer),
        ("posted closure", "closure", closure),
        ("timer", "drop", drop),
    ] {
        let found = lines.lines().any(|line| {
            line.starts_with(&format!("a {kind} of chores from chores/src/lib.rs:"))
                && line.contains(&format!("panicked: \"broken on purpose: {message}\" at {location}:"))
        });
        assert!(found, "{kind}, {message}, {location}:\n{lines}");
    }
    assert!(lines.contains("failed and ends  error=it has no legs"), "{lines}");
    assert_eq!(lines.lines().count(), 5, "{lines}");
    assert_eq!(host.jobs(), []);
    tick(&host, 10);
    assert_eq!(record.take(), "");
}

#[test]
fn jobs_that_fail_alike_are_logged_at_powers_of_ten() {
    let (record, host, robot) = playing("alcedo_runtime::bridge::tasks");
    for turn in 1..=11 {
        call(&host, robot, "stumble", &[]);
        tick(&host, 10);
        let lines = record.take();
        let counted: Vec<_> = lines.lines().filter(|line| line.contains("failed and ends")).collect();
        // Expects one line for each call site. The call sites are two tasks, two timers and a closure.
        assert_eq!(counted.len(), if turn == 1 || turn == 10 { 5 } else { 0 }, "{turn}: {lines}");
        assert!(counted.iter().all(|line| line.contains("(10 times by now)") == (turn == 10)), "{lines}");
        assert_eq!(lines.lines().count(), counted.len(), "{turn}: {lines}");
    }
}

#[test]
fn threads_of_a_module_post_to_the_game_thread() {
    let (record, host, robot) = playing("alcedo_runtime::bridge::tasks");
    call(&host, robot, "post_from_threads", &[Value::U32(4), Value::U32(250)]);
    assert_eq!(beats(&host, robot), 0, "nothing runs before the safe point");
    host.safe_point();
    assert_eq!(beats(&host, robot), 1_000);
    call(&host, robot, "post_from_threads", &[Value::U32(1), Value::U32(10)]);
    let counted = beats(&host, robot);
    host.objects().destroy(robot);
    host.safe_point();
    assert_eq!((host.jobs(), counted), (vec![], 1_000), "closures of a destroyed object are dropped");
    assert_eq!(record.take(), "", "a closure of a destroyed object is not a failure");
}

#[test]
fn threads_of_the_host_post_too_in_one_order_with_modules() {
    let (record, host, robot) = playing("chores");
    let poster = host.post_handle();
    let note = |line: &'static str| move |_: &Runtime| support::Record::line("chores", line.to_owned());
    assert!(poster.post(note("the host's first")));
    call(&host, robot, "line_up", &[]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(poster.post(|_| panic!("a closure of the host's")));
            assert!(
                poster.post(move |host| support::Record::line(
                    "chores",
                    format!("{} objects", host.objects().iter().len())
                ))
            );
        });
    });
    host.safe_point();
    assert_log(
        &record,
        &expect![[r#"
            the host's first
            posted first (build 0)
            posted second (build 0)
            1 objects
        "#]],
    );
    drop(host);
    assert!(!poster.post(note("too late")), "the runtime is gone");
}

#[test]
fn closures_posted_before_a_reload_run_after_it() {
    let (_record, host, _robot) = playing("chores");
    for (next, is_committed) in [(chores(&["panic-in-main"]), false), (chores(&[]), true)] {
        let (sender, results) = mpsc::channel();
        let spawn = move |host: &Runtime| host.objects().spawn(ROBOT).map(drop).map_err(|error| error.to_string());
        assert!(host.post_handle().post(move |host| drop(sender.send(spawn(host)))));
        assert_eq!(host.reload(&[next]).expect("a Master").is_committed(), is_committed);
        assert!(results.try_recv().is_err(), "the closure waits for the next safe point");
        host.safe_point();
        assert_eq!(results.try_recv(), Ok(Ok(())));
    }
}

#[test]
fn closures_that_run_while_the_host_waits_may_create_objects() {
    let (_record, host, _robot) = playing("chores");
    let lease = host.unloads().lease("chores", "a test").expect("it lives");
    host.unload_master().expect("there is one");
    let (sender, results) = mpsc::channel();
    let spawn =
        |host: &Runtime| host.objects().spawn("/Script/Engine.Actor").map(drop).map_err(|error| error.to_string());
    let spawn_and_release = move |host: &Runtime| {
        drop(sender.send(spawn(host)));
        drop(lease);
    };
    assert!(host.post_handle().post(spawn_and_release));
    assert!(host.unloads().wait(Duration::from_secs(60)).expect("a safe point"), "the closure drops the lease");
    assert_eq!(results.try_recv(), Ok(Ok(())));
}

#[test]
fn closures_that_a_thread_posts_during_a_failed_reload_are_kept() {
    let (_record, host, robot) = playing("chores");
    call(&host, robot, "keep_posting", &[]);
    let report = host.reload(&[chores(&["panic-in-main"])]).expect("a Master");
    assert!(!report.is_committed(), "{report}");
    let Some(Value::U32(accepted)) = call(&host, robot, "stop_posting", &[]) else { panic!("not a number") };
    host.safe_point();
    assert_eq!(beats(&host, robot), i32::try_from(accepted).expect("few posts"), "a closure for each accepted post");
}

#[test]
fn a_shutdown_reports_closures_that_no_safe_point_has_received() {
    let (_record, host, robot) = playing("chores");
    call(&host, robot, "post_from_threads", &[Value::U32(1), Value::U32(3)]);
    let jobs = host.shutdown().jobs;
    assert_eq!(jobs.iter().map(|job| job.kind).collect::<Vec<_>>(), [LeaseKind::Posted; 3], "{jobs:?}");
}

#[test]
fn a_closure_of_a_loaded_world_outlives_a_failed_reload() {
    let _record = support::record("chores");
    let host = support::hasty_host(&[chores(&["posts-anew"])]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("world");
    host.objects().spawn(ROBOT).expect("spawned");
    host.worlds().save(&file).expect("saved");
    host.worlds().load(&file).expect("loaded");
    let robot = host.objects().iter().next().expect("the loaded robot");
    let report = host.reload(&[chores(&["panic-in-main"])]).expect("a Master");
    assert!(!report.is_committed(), "{report}");
    host.safe_point();
    assert_eq!(beats(&host, robot), 1, "the closure of the red constructor has run");
}

#[test]
fn a_safe_point_ends_although_a_thread_posts_continuously() {
    let (_record, host, _robot) = playing("chores");
    let (poster, is_over, is_stuck) = (host.post_handle(), AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let until = Instant::now() + Duration::from_secs(60);
            while !is_over.load(Ordering::Relaxed) && poster.post(|_| {}) {
                if Instant::now() > until {
                    is_stuck.store(true, Ordering::Relaxed);
                    break;
                }
            }
        });
        assert!(host.wait(Duration::from_secs(60)), "the thread posts");
        host.safe_point();
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(!is_stuck.load(Ordering::Relaxed), "the safe point ended only because the thread stopped");
}

#[test]
fn off_the_game_thread_only_posting_is_allowed() {
    let (_record, host, robot) = playing("chores");
    let Some(Value::Text(refusals)) = call(&host, robot, "refusals", &[]) else { panic!("not a string") };
    expect![[r#"
        starting a task or a timer is for the game thread only: on other threads a module can finalize, post and log
        starting a task or a timer is for the game thread only: on other threads a module can finalize, post and log
        `Obj::with` can be used only in a task, a timer or a posted closure: in a method, call `this.get(obj)`; a destructor cannot access objects
        `Obj::with` can be used only in a task, a timer or a posted closure: in a method, call `this.get(obj)`; a destructor cannot access objects
        none: Ok(false)"#]]
    .assert_eq(&refusals);
}

#[test]
fn a_thread_wakes_a_task_and_its_waker_keeps_the_module() {
    let (record, host, robot) = playing("chores");
    let dir = tempfile::tempdir().expect("a folder");
    let release = dir.path().join("let go");
    call(&host, robot, "wait_for_thread", &[Value::Text(release.display().to_string())]);
    let mut lines = String::new();
    wait(&host, "the task is woken", || {
        lines += &record.take();
        lines.contains("woken by a thread")
    });
    assert_eq!(host.jobs(), [], "the task is done, its waker is not");

    let unload = host.unload_master().expect("there is one");
    wait(&host, "it is blocked", || unload.ticket.state() == ContextState::Blocked);
    let report = unload.ticket.report();
    let kinds: Vec<_> = report.blockers.iter().map(|blocker| blocker.kind).collect();
    assert!(kinds.contains(&LeaseKind::Task) && kinds.contains(&LeaseKind::Thread), "{report}");
    let waker = report.blockers.iter().find(|blocker| blocker.kind == LeaseKind::Task).expect("looked at just now");
    let spawned = support::line_of("chores", "task::spawn(this, waiting)");
    assert_eq!(waker.place.as_deref(), Some(spawned.as_str()), "{report}");

    std::fs::write(&release, "").expect("the folder is writable");
    wait(&host, "the images are gone", || unload.ticket.state() == ContextState::Dead);
    assert_eq!(process::stale_mappings(&host.stage_dir()).expect("the process map"), Vec::<PathBuf>::new());
}

#[test]
fn posted_closures_run_while_the_host_waits_for_an_unload() {
    let (record, host, robot) = playing("chores");
    let dir = tempfile::tempdir().expect("a folder");
    let release = dir.path().join("let go");
    call(&host, robot, "wait_for_thread", &[Value::Text(release.display().to_string())]);
    wait(&host, "the task is woken", || record.take().contains("woken by a thread"));
    // The thread ends only after this post has run, and no further tick follows. The shutdown must therefore run the post.
    assert!(host.post_handle().post(move |_| std::fs::write(&release, "").expect("the folder is writable")));
    assert_eq!(host.shutdown().left, Vec::<String>::new());
}

/// Ticks until the condition is true, for at most a minute.
fn wait(host: &Runtime, what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < until, "not within a minute: {what}");
        tick(host, 10);
        std::thread::sleep(Duration::from_millis(1));
    }
}
