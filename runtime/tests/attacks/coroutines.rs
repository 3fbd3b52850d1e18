//! Tests stackful coroutines with a safe API, in plugins and hosts. The runtime refuses to open a borrow, view, loan, slice or
//! frame on a coroutine stack. A suspended coroutine therefore holds none of these, and the host continues.

use std::cell::RefCell;
use std::rc::Rc;

use alcedo_runtime::{ObjectHandle, Runtime, Signature, Value};
use corosensei::{Coroutine, Yielder};

use crate::support;

type Co = Coroutine<(), (), ()>;

const REFUSED: &str = "is refused on the stack of a coroutine";

fn library() -> std::path::PathBuf {
    support::plugin("coro", if std::env::var_os("CHURN_PASS_THROUGH").is_some() { &["pass-through"] } else { &[] })
}

fn start() -> (Runtime, ObjectHandle) {
    let host = support::host(&[library()]);
    let sleeper = super::spawn(&host, "Sleeper");
    (host, sleeper)
}

/// Calls a function, runs the closures that the function posted, and returns the lines that the plugin recorded.
fn lines_of(host: &Runtime, function: &str, sleeper: ObjectHandle) -> String {
    let path = format!("uf:/Script/Game.Sleeper:{function}");
    host.calls().call(&path, &[Value::Object(sleeper)]).unwrap_or_else(|error| panic!("{function}: {error}"));
    host.safe_point();
    super::query(host, sleeper, "take_notes")
}

/// Collects, reloads and shuts down. Suspended coroutines must not affect these operations.
fn assert_works(host: Runtime, sleeper: ObjectHandle) {
    host.collection().collect().expect("a safe point");
    let assert_nap = || assert_eq!(host.objects().call(sleeper, "nap", &[]).expect("it returns"), Some(Value::U64(64)));
    assert_nap();
    assert_eq!(host.objects().get(sleeper, "count").expect("it is there"), Value::U64(0x4242));
    assert!(host.reload(&[library()]).expect("a safe point").is_committed());
    assert_nap();
    host.objects().destroy(sleeper);
    host.unload_master().expect("a safe point");
    host.shutdown();
}

#[test]
fn a_coroutine_of_a_plugin_borrows_no_part_and_enters_no_object() {
    let (host, sleeper) = start();
    let lines = lines_of(&host, "two_muts", sleeper);
    assert!(lines.starts_with("with_part: entering an object ") && lines.contains(REFUSED), "{lines}");
    assert!(lines.ends_with("outside: 7"), "{lines}");
    let lines = lines_of(&host, "sleep", sleeper);
    assert!(lines.starts_with("with: entering an object ") && lines.contains(REFUSED), "{lines}");
    assert!(lines.ends_with("on the parent stack: 77"), "{lines}");
    assert_works(host, sleeper);
}

#[test]
fn a_coroutine_inside_a_frame_reads_its_object_and_opens_no_scope() {
    let (host, sleeper) = start();
    host.objects().call(sleeper, "inside", &[]).expect("it returns");
    let lines = super::query(&host, sleeper, "take_notes");
    let [property, slice, slice_to_write, call, loan, part] = *lines.lines().collect::<Vec<_>>() else {
        panic!("{lines}")
    };
    assert_eq!((property, loan, part), ("a property: 77", "a loan: refused", "the part: Some(7)"));
    for (line, action) in [(slice, "lending a slice"), (slice_to_write, "lending a slice"), (call, "nap")] {
        assert!(line.contains(action) && line.contains(REFUSED), "{line}");
    }
    assert_works(host, sleeper);
}

#[test]
fn a_plugin_generator_never_suspends_below_a_host_frame() {
    let (host, sleeper) = start();
    let lines = lines_of(&host, "deep_sleep", sleeper);
    assert_eq!(lines.matches(REFUSED).count(), 2, "{lines}");
    assert!(lines.ends_with("the generator: Some(0)"), "{lines}");
    assert_works(host, sleeper);
}

#[test]
fn a_coroutine_of_a_host_opens_no_frame_and_no_safe_point() {
    let (host, sleeper) = start();
    let add = Rc::new(host.function::<(u64, u64), u64>("uf:/Script/Game.Sleeper:add").expect("found"));
    assert_eq!(add.call((1, 2)).expect("it returns"), 3);
    let (asleep, outcomes) = (Rc::new(RefCell::new(Vec::new())), Rc::new(RefCell::new(Vec::new())));
    // Tries a hot call, a typed call, a call by name, a construction, a reload and a collection on a coroutine stack.
    let begin: Rc<dyn Fn(&Runtime)> = {
        let (add, asleep, outcomes) = (Rc::clone(&add), Rc::clone(&asleep), Rc::clone(&outcomes));
        Rc::new(move |host: &Runtime| {
            let (host, add, outcomes) = (host.clone(), Rc::clone(&add), Rc::clone(&outcomes));
            let mut co: Co = Coroutine::new(move |y: &Yielder<(), ()>, ()| {
                let note = |what: &str, error: Option<String>| {
                    outcomes.borrow_mut().push(format!("{what}: {}", error.unwrap_or_else(|| "done".to_owned())));
                };
                note("hot", add.hot(|_hot| y.suspend(())).err().map(|error| error.to_string()));
                note("call", add.call((1, 2)).err().map(|error| error.to_string()));
                note("name", host.objects().call(sleeper, "nap", &[]).err().map(|error| error.to_string()));
                note("spawn", host.objects().spawn("/Script/Game.Sleeper").err().map(|error| error.to_string()));
                note("reload", host.reload(&[library()]).err().map(|error| error.to_string()));
                note("collect", host.collection().collect().err().map(|error| error.to_string()));
                host.safe_point();
                y.suspend(());
            });
            co.resume(());
            asleep.borrow_mut().push(co);
        })
    };
    begin(&host);
    let outside = outcomes.take();
    let in_call = Rc::clone(&begin);
    let act = host.calls().register("host.act", Signature::default(), move |host, _values| {
        in_call(host);
        Ok(None)
    });
    act.expect("the name is free");
    host.objects().call(sleeper, "call_host", &[]).expect("it returns");
    let inside = outcomes.take();
    for lines in [&outside, &inside] {
        assert_eq!(lines.len(), 6, "{lines:?}");
        let refused = |line: &&String| line.contains(REFUSED) || line.starts_with("hot: a pointer to");
        assert!(lines.iter().all(|line| refused(&line)), "{lines:?}");
    }
    assert_eq!(super::query(&host, sleeper, "take_notes"), "the host: ()");
    drop((begin, asleep.take()));
    assert_works(host, sleeper);
}

#[test]
fn jobs_that_a_coroutine_cancels_are_dropped_at_the_next_safe_point() {
    let (host, sleeper) = start();
    host.objects().call(sleeper, "cancel_asleep", &[]).expect("it returns");
    host.tick(alcedo_runtime::Budget::frame());
    assert_eq!(super::query(&host, sleeper, "take_notes"), "canceled\nthe timer is dropped\nthe task is dropped");
    assert_eq!(host.jobs(), []);
    assert_works(host, sleeper);
}

#[test]
fn a_generator_of_a_host_builds_no_host() {
    let built = generator::Gn::<()>::new_scoped_local(|_scope| -> String {
        Runtime::builder().build().map_or_else(|error| error.to_string(), |_host| "built".to_owned())
    })
    .resume();
    assert!(built.as_deref().is_some_and(|error| error.contains("on the stack of its thread")), "{built:?}");
}

#[test]
fn a_thread_with_a_stack_below_the_minimum_builds_no_host() {
    let build_on = |kib: usize| {
        let build = || Runtime::builder().build().map_or_else(|error| error.to_string(), |_host| "built".to_owned());
        let thread = std::thread::Builder::new().stack_size(kib << 10).spawn(build).expect("a thread");
        thread.join().expect("it does not panic")
    };
    let refused = build_on(128);
    assert!(refused.contains("has 128 KiB") && refused.contains("larger `stack_size`"), "{refused}");
    assert_eq!(build_on(1024), "built");
}

#[test]
fn host_plugin_recursion_fails_with_an_error_naming_depth_function_and_object() {
    // Recurses until the stack limit of this thread, and returns the depth.
    let run = || {
        let (host, sleeper) = start();
        let depth = match host.objects().call(sleeper, "recurse", &[]) {
            Ok(Some(Value::U64(depth))) => depth,
            other => panic!("{other:?}"),
        };
        let error = super::query(&host, sleeper, "take_notes");
        assert!(error.contains("Sleeper:recurse of #") && error.contains(&format!(", {depth} deep")), "{error}");
        // A class constructor that spawns an object of its own class also recurses endlessly.
        host.calls().call("uf:/Script/Game.Sleeper:run_away", &[Value::Bool(true)]).expect("it returns");
        let _outermost = host.objects().spawn("/Script/Game.Sleeper");
        host.calls().call("uf:/Script/Game.Sleeper:run_away", &[Value::Bool(false)]).expect("it returns");
        assert_works(host, sleeper);
        depth
    };
    let on_a_stack_of = |kib: usize| {
        let thread = std::thread::Builder::new().stack_size(kib << 10).spawn(run).expect("a thread");
        thread.join().expect("it does not panic")
    };
    let (small, large) = (on_a_stack_of(1536), on_a_stack_of(6144));
    assert!(small > 2 && small < large, "{small} {large}");
}

#[test]
fn the_reserve_of_the_stack_is_a_setting_of_the_host() {
    let depth_with = |reserve: usize| {
        let host = Runtime::builder().package("Game").stack_reserve(reserve).build().expect("a host");
        host.create_master(&[library()]).expect("it loads");
        let sleeper = super::spawn(&host, "Sleeper");
        let deepest = host.objects().call(sleeper, "recurse", &[]);
        host.shutdown();
        deepest
    };
    let (Ok(Some(Value::U64(more))), Ok(Some(Value::U64(less)))) = (depth_with(256 << 10), depth_with(1024 << 10))
    else {
        panic!("it returns")
    };
    assert!(less < more, "{less} {more}");
}
