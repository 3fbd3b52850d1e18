//! Tests the threads on which a Slim has left thread-locals. The checkpoints of these threads drop the thread-locals.

use std::sync::mpsc::{TryRecvError, channel};
use std::thread;
use std::time::Duration;

use alcedo_runtime::checkpoint;

use super::{LONG, lingering_slim, render_arguments, runtime, support};

#[test]
fn slim_thread_locals_of_a_worker_drop_at_its_checkpoint() {
    // Keeps the log lines of this test out of the records of other tests.
    let _record = support::record("reports");
    let contexts = runtime().contexts();
    let (slim, render) = lingering_slim(&contexts, "checkpoint");
    let (done, wait) = channel::<()>();
    let (called, answers) = channel();
    let worker = thread::spawn(move || {
        called.send(render.call(&render_arguments()).is_ok()).expect("the test waits");
        while wait.try_recv() == Err(TryRecvError::Empty) {
            checkpoint();
            thread::sleep(Duration::from_millis(1));
        }
    });
    assert_eq!(answers.recv(), Ok(true));
    let ticket = slim.begin_unload().expect("it is collectible");
    let end = ticket.wait(LONG).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(end.modules[0].thread_locals_run, 1, "{end}");
    drop(done);
    worker.join().expect("it does not panic");
}

#[test]
fn slim_thread_locals_drop_on_the_waiting_game_thread() {
    // Keeps the log lines of this test out of the records of other tests.
    let _record = support::record("reports");
    let runtime = runtime();
    let contexts = runtime.contexts();
    for name in ["unloads", "jobs"] {
        let (slim, render) = lingering_slim(&contexts, name);
        assert!(render.call(&render_arguments()).is_ok());
        // Unloads on another thread, because a poll also drops the thread-locals of its thread.
        let unload = thread::spawn(move || slim.begin_unload().expect("it is collectible").wait(LONG));
        while !unload.is_finished() {
            let _is_over = match name {
                "unloads" => runtime.unloads().wait(Duration::ZERO).expect("a safe point"),
                _ => runtime.wait(Duration::from_millis(1)),
            };
            thread::sleep(Duration::from_millis(1));
        }
        let end = unload.join().expect("it does not panic").unwrap_or_else(|report| panic!("{name}: {report}"));
        assert_eq!(end.modules[0].thread_locals_run, 1, "{end}");
    }
}
