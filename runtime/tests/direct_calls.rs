//! Tests direct calls of a plugin, which use no call slots. Covers actions that are permitted during such a call, and observers of calls.

use crate::crossings::{Adder, DROPPED, ENDED, direct_host, query, witness};
use crate::support;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::mpsc::channel;
use std::time::Duration;

use alcedo_runtime::zcall::Observed;
use alcedo_runtime::{ObjectHandle, Runtime, Value, natives};

const END: &str = "uf:/Script/Test.Adder:end";
const END_BADLY: &str = "uf:/Script/Test.Adder:end_badly";
const COUNT_SUM: &str = "uf:/Script/Test.Adder:count_sum";

fn host() -> Runtime {
    direct_host(&[support::plugin("crossings", &[])])
}

fn adder(host: &Runtime) -> ObjectHandle {
    host.objects().spawn("/Script/Test.Adder").expect("spawned")
}

/// Makes the plugin call a function without parameters on three objects in one crossing of the ABI boundary. Returns the results.
fn each(host: &Runtime, name: &str, objects: [ObjectHandle; 3]) -> String {
    let [first, second, third] = objects.map(Value::Object);
    query(host, witness(host), "each", &[Value::Text(name.into()), first, second, third])
}

/// Sets a flag when it is dropped.
struct SetOnDrop(Rc<Cell<bool>>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

#[test]
fn the_last_runtime_handle_may_be_dropped_in_a_direct_call() {
    let host = host();
    let (host_slot, dropped): (Rc<RefCell<Option<Runtime>>>, Rc<Cell<bool>>) = Default::default();
    let (to_clear, seen, set_on_drop) = (Rc::clone(&host_slot), Rc::clone(&dropped), SetOnDrop(Rc::clone(&dropped)));
    let kept = adder(&host);
    let body = move |runtime: &Runtime, (left, right): (i32, i32)| {
        let _owned = &set_on_drop;
        drop(to_clear.take());
        // Creates and drops further handles of the host. The last handle of the host remains.
        let others = [runtime.clone(), runtime.clone()];
        drop(runtime.downgrade().upgrade());
        drop(others);
        assert!(!seen.get() && runtime.objects().is_alive(kept), "nothing has ended yet");
        left + right
    };
    host.calls().register_typed("host.query", body).expect("the name is free");
    let often = host.function::<(i32,), i32>("nm:/crossings:Sums:query_often").expect("it is there");
    assert_eq!(often.call((3,)).expect("the call succeeds"), 3);
    let weak = host.downgrade();
    *host_slot.borrow_mut() = Some(host);
    assert!(weak.upgrade().is_some() && !dropped.get());
    assert_eq!(often.call((3,)).expect("the call succeeds"), 3);
    assert!(weak.upgrade().is_none() && dropped.get(), "now all has ended");
}

#[test]
fn a_host_function_panic_reaches_the_caller_and_leaves_counts_unchanged() {
    let host = host();
    let calls = Rc::new(Cell::new(0));
    let (weak, seen) = (host.downgrade(), Rc::clone(&calls));
    let body = move |runtime: &Runtime, (left, right): (i32, i32)| {
        let _clone = runtime.clone();
        seen.set(seen.get() + 1);
        assert!(seen.get() % 3 != 0, "each third call");
        left + right
    };
    host.calls().register_typed("host.query", body).expect("the name is free");
    let often = host.function::<(i32,), i32>("nm:/crossings:Sums:query_often").expect("it is there");
    for _ in 0..4 {
        assert_eq!(often.call((2,)).expect("the call succeeds"), 2);
        let error = often.call((1,)).expect_err("it panics").to_string();
        assert!(error.contains("each third call"), "{error}");
    }
    drop(host);
    assert!(weak.upgrade().is_none(), "no handle is left over");
}

#[test]
fn a_batch_call_continues_after_failures_and_destroyed_objects() {
    let host = host();
    let [first, second, third] = [(); 3].map(|()| adder(&host));
    let (before, ended) = (DROPPED.get(), ENDED.get());
    // The first object destroys itself in its first call, so the second call on this object fails.
    assert_eq!(each(&host, END, [first, first, second]), "7 - 7 STALE");
    assert_eq!(each(&host, END_BADLY, [third, second, third]), "- - - RETURNED STALE STALE");
    assert_eq!(DROPPED.get(), before + 3, "the fields of each are dropped, once");
    assert_eq!(ENDED.get(), ended + 3, "the hook of each has run, once");
    // `count_sum` borrows the fields of its object. `Echo` and the plain adder borrow these fields again, so both calls fail.
    let [echo, turn] =
        ["Echo", "Turn"].map(|class| host.objects().spawn(&format!("/Script/Game.{class}")).expect("spawned"));
    assert_eq!(each(&host, COUNT_SUM, [turn, echo, turn]), "2 - 4 PANIC");
    let plain = adder(&host);
    assert_eq!(each(&host, COUNT_SUM, [plain, turn, echo]), "- 6 - REENTRANT_BORROW PANIC");
}

#[test]
fn an_object_reusing_a_freed_slot_is_not_called_for_it() {
    let host = host();
    let gone = adder(&host);
    host.objects().destroy(gone);
    host.safe_point();
    let others = [(); 8].map(|()| adder(&host));
    let heir = others.into_iter().find(|other| other.index() == gone.index()).expect("slots are reused");
    assert_eq!(each(&host, END, [gone, heir, gone]), "- 7 - STALE STALE");
}

#[test]
fn calls_on_several_objects_are_each_counted_while_calls_are_observed() {
    let host = host();
    let turn = host.objects().spawn("/Script/Game.Turn").expect("spawned");
    // The first call looks up the function. Without an observer, the next calls would be direct calls.
    assert_eq!(each(&host, COUNT_SUM, [turn; 3]), "2 4 6");
    host.calls().observe(Observed { counts: true, spans: false });
    assert_eq!(each(&host, COUNT_SUM, [turn; 3]), "8 10 12");
    let times = host.calls().times();
    let counted = times.iter().find(|times| times.name == COUNT_SUM).map(|times| times.calls);
    assert_eq!(counted, Some(3), "{times:?}");
    host.calls().observe(Observed { counts: false, spans: false });
    assert_eq!(each(&host, COUNT_SUM, [turn; 3]), "14 16 18");
}

#[test]
fn a_watchdog_observes_calls_between_modules() {
    let folder = tempfile::tempdir().expect("a folder");
    let (sender, hangs) = channel();
    let flag = folder.path().join("go on");
    let go_on = flag.clone();
    let builder = support::hasty_builder().natives(natives![Adder]).watchdog(Duration::from_millis(700));
    let builder = builder.on_hang(move |hang| {
        if !hang.function.is_empty() {
            std::fs::write(&go_on, "").expect("the folder is writable");
            // The receiver is dropped if the test has failed.
            let _sent = sender.send(hang.clone());
        }
    });
    let host = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let add = |_: &Runtime, (left, right): (i32, i32)| left + right;
    host.calls().register_typed("host.add", add).expect("the name is free");
    let libraries = [support::plugin("crossings", &[]), support::plugin("broken", &[])];
    host.create_master(&libraries).unwrap_or_else(|error| panic!("{error}"));
    let (witness, fragile) = (witness(&host), host.objects().spawn("/Script/Game.Fragile").expect("spawned"));
    let poke = || {
        let name = Value::Text("uf:/Script/Game.Fragile:poke".into());
        query(&host, witness, "query", &[name, Value::Object(fragile)])
    };
    assert_eq!(poke(), "asked: 1");
    let wait = ["method", flag.to_str().expect("UTF-8")].map(|text| Value::Text(text.to_owned()));
    host.calls().call("nm:/broken:Fragile:wait_next_in", &wait).expect("the call succeeds");
    assert_eq!(poke(), "asked: 2");
    let hang = hangs.recv_timeout(Duration::from_secs(60)).expect("a hang is reported");
    assert_eq!((hang.module.as_str(), hang.function.as_str()), ("broken", "Game.Fragile:poke"));
}
