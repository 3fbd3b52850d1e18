//! Tests kept lookups across reloads. After a reload they call the new build. After a failed reload they call the old build. During a
//! reload they behave like the slow path.

use std::cell::RefCell;
use std::rc::Rc;

use alcedo_runtime::{ObjectHandle, Runtime, Value};

use super::{HORSE, Kept, host, libraries, of_build, reload, spawn};
use crate::support;

#[test]
fn calls_reach_the_new_build_and_fail_after_an_unload() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    assert_eq!(kept.answers(horse), of_build(1));
    for build in [2, 1, 2] {
        reload(&host, build);
        assert_eq!(kept.answers(horse), of_build(build as i32), "build {build}");
    }
    host.unload_master().expect("there is one");
    for line in kept.answers(horse) {
        assert!(line.parse::<f64>().is_err() && !line.contains("Some"), "no call succeeds: {line}");
    }
    drop(host.shutdown());
    for line in kept.answers(horse) {
        assert!(line.contains("runtime of"), "{line}");
    }
}

#[test]
fn the_old_build_answers_after_a_reload_that_fails() {
    let host = host();
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    assert_eq!(kept.answers(horse), of_build(1));
    for _ in 0..2 {
        let report = host.reload(&libraries(13)).expect("a Master");
        let failed = report.into_result().expect_err("the thirteenth does not start").to_string();
        assert!(failed.contains("the carousel does not start"), "{failed}");
        assert_eq!(kept.answers(horse), of_build(1));
    }
    reload(&host, 2);
    assert_eq!(kept.answers(horse), of_build(2));
}

/// Context of a listener: the host, its kept lookups, and an object.
type ListenerContext = (Runtime, Rc<Kept>, ObjectHandle);

#[test]
fn fast_and_slow_calls_agree_in_each_reload_step() {
    let slot: Rc<RefCell<Option<ListenerContext>>> = Rc::default();
    let log: Rc<RefCell<Vec<String>>> = Rc::default();
    let (seen, lines) = (Rc::clone(&slot), Rc::clone(&log));
    let host = support::builder()
        .on_event(move |event| {
            let Some((host, kept, horse)) = seen.borrow().as_ref().map(|(a, b, c)| (a.clone(), Rc::clone(b), *c))
            else {
                return;
            };
            let long = |name: &str, arguments: &[Value]| match host.calls().call(name, arguments) {
                Ok(Some(Value::I32(number))) => number.to_string(),
                Ok(other) => format!("{other:?}"),
                Err(error) => error.to_string(),
            };
            let of_horse = |name: &str| format!("uf:/Script/Game.Horse:{name}");
            let expected = [
                long("nm:/carousel:Horse:build_tag", &[]),
                long(&of_horse("answer"), &[Value::Object(horse), Value::I32(7)]),
                long(&of_horse("add"), &[Value::Object(horse), Value::I32(20), Value::I32(22)]),
            ];
            let answers = kept.answers(horse);
            lines.borrow_mut().push(format!("{event:?}"));
            assert_eq!(answers[..3], expected, "at {event:?}");
        })
        .build()
        .expect("a runtime");
    host.create_master(&libraries(1)).expect("it loads");
    let (kept, horse) = (Kept::of(&host), spawn(&host, HORSE));
    assert_eq!(kept.answers(horse), of_build(1));
    *slot.borrow_mut() = Some((host.clone(), Rc::clone(&kept), horse));
    reload(&host, 2);
    assert_eq!(kept.answers(horse), of_build(2));
    let _failed = host.reload(&libraries(13)).expect("a Master");
    assert_eq!(kept.answers(horse), of_build(2));
    assert!(log.borrow().len() > 6, "{:?}", log.borrow());
    drop(slot.borrow_mut().take());
}
