//! Tests actions during a fast call: other fast calls, a reload, and the destruction of the object or the host.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use alcedo_runtime::host::TypedFunction;
use alcedo_runtime::{Budget, ObjectHandle, Runtime};

use super::{HORSE, Kept, host, libraries, obj, of_build, spawn};

#[test]
fn nested_calls_use_the_fast_path_and_delay_reloads() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    let inner = Rc::clone(&kept);
    let query = move |host: &Runtime, (depth,): (i32,)| {
        assert_eq!(inner.answers(horse), of_build(1));
        assert!(
            host.reload(&libraries(2)).is_err() && host.unload_master().is_err(),
            "code of the plugin is on the stack"
        );
        host.request_reload(libraries(2));
        host.safe_point();
        host.tick(Budget::frame());
        assert_eq!(inner.answers(horse), of_build(1), "the reload waits");
        match depth {
            0 => 0,
            _ => 1 + inner.query.call((depth - 1,)).expect("deeper"),
        }
    };
    host.calls().register_typed("host.query", query).expect("the name is free");
    // This call nests more calls than the number of call slots in the host.
    assert_eq!(kept.query.call((80,)).expect("the call succeeds"), 80);
    assert_eq!(kept.answers(horse), of_build(1));
    host.tick(Budget::frame());
    assert_eq!(kept.answers(horse), of_build(2), "now it was done");
}

#[test]
fn a_refused_safe_point_names_the_running_fast_call() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    kept.mood.set(horse, 4).expect("written");
    let log: Rc<RefCell<Vec<String>>> = Rc::default();
    let lines = Rc::clone(&log);
    let query = move |host: &Runtime, (number,): (i32,)| {
        let refused = host.reload(&libraries(2)).expect_err("code of the plugin is on the stack");
        lines.borrow_mut().push(refused.to_string());
        number
    };
    host.calls().register_typed("host.query", query).expect("the name is free");
    for _ in 0..2 {
        assert_eq!(kept.round.call((obj(horse),)).expect("it turns"), 104);
        assert_eq!(kept.query.call((1,)).expect("the call succeeds"), 1);
        let report = kept.rounds.call(&[horse], ()).expect("called");
        assert_eq!((report.called, report.failed.len()), (1, 0));
    }
    let log = log.borrow();
    let names = ["`Game.Horse:round`", "`carousel:/Script/Game.Horse:query`", "`Game.Horse:round`"];
    for (line, name) in log.iter().zip(names.iter().cycle()) {
        assert!(line.contains(name), "{line}, wanted {name}");
    }
    assert_eq!(log.len(), 6);
}

#[test]
fn a_host_losing_its_last_handle_in_a_call_ends_afterward() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    let host_slot: Rc<RefCell<Option<Runtime>>> = Rc::default();
    let (to_clear, inner) = (Rc::clone(&host_slot), Rc::clone(&kept));
    let query = move |_: &Runtime, (number,): (i32,)| {
        drop(to_clear.borrow_mut().take());
        assert_eq!(inner.answers(horse), of_build(1), "it has not ended yet");
        number
    };
    host.calls().register_typed("host.query", query).expect("the name is free");
    assert_eq!(kept.answers(horse), of_build(1));
    let weak = host.downgrade();
    *host_slot.borrow_mut() = Some(host);
    assert_eq!(kept.query.call((3,)).expect("the call succeeds"), 3);
    assert!(weak.upgrade().is_none(), "it has ended now");
    assert!(kept.answers(horse)[0].contains("runtime of"));
}

#[test]
fn a_failing_call_without_host_handles_reports_its_reason() {
    type Call = fn(&Kept, &TypedFunction<(i32,), i32>, ObjectHandle) -> Result<i32, alcedo_runtime::Error>;
    let calls: [(Call, &str); 3] = [
        (|_, fails, _| fails.call((0,)), "an error, reply 0"),
        (|_, fails, _| fails.call((1,)), "a panic, reply 1"),
        (|kept, _, horse| kept.round.call((obj(horse),)), "bolts, reply 5"),
    ];
    for (call, expected) in calls {
        let host = host();
        let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
        let fails: TypedFunction<(i32,), i32> =
            host.function("nm:/carousel:Horse:query_and_fail").expect("it is there");
        let host_slot: Rc<RefCell<Option<Runtime>>> = Rc::default();
        let to_clear = Rc::clone(&host_slot);
        let query = move |_: &Runtime, (number,): (i32,)| {
            drop(to_clear.borrow_mut().take());
            number
        };
        host.calls().register_typed("host.query", query).expect("the name is free");
        // Fills the call cache, so that the next call uses the fast path.
        assert_eq!(kept.round.call((obj(horse),)).expect("it turns"), 100);
        kept.mood.set(horse, 5).expect("written");
        let weak = host.downgrade();
        *host_slot.borrow_mut() = Some(host);
        let error = call(&kept, &fails, horse).expect_err("it fails").to_string();
        assert!(error.contains(expected), "{error}, wanted {expected}");
        assert!(weak.upgrade().is_none(), "it has ended in the call");
    }
}

#[test]
fn an_object_destroyed_while_saving_kept_fields_is_finalized_afterward() {
    let folder = tempfile::tempdir().expect("a folder");
    for by_reload in [false, true] {
        let host = host();
        let mare = spawn(&host, "/Script/Game.Mare");
        let kill = move |host: &Runtime, (when,): (i32,)| {
            if when == 1 {
                host.objects().destroy(mare);
            }
            when
        };
        host.calls().register_typed("host.kill", kill).expect("the name is free");
        let message = match by_reload {
            true => host.reload(&libraries(2)).map(|report| format!("{report:?}")),
            false => host.worlds().save(folder.path().join("saved.world")).map(|count| count.to_string()),
        };
        let message = message.unwrap_or_else(|error| error.to_string());
        assert!(!message.contains("it was dropped while it was saved"), "{message}");
        // While a reload saves kept fields, it refuses calls of host functions. The object therefore stays alive.
        assert_eq!(host.objects().is_alive(mare), by_reload, "{message}");
        host.safe_point();
        if !by_reload {
            let is_dropped = host.function::<(), bool>("nm:/carousel:Mare:is_foal_dropped").expect("it is there");
            let begun = Instant::now();
            while !is_dropped.call(()).expect("the call succeeds") {
                assert!(begun.elapsed() < Duration::from_secs(30), "it is never dropped");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        host.unload_master().expect("there is one");
    }
}
