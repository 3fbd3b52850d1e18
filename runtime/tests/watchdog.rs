//! Tests the watchdog with a real plugin whose hooks hang on request. During a hang, the watchdog reports the hanging function. After the
//! hang, the host continues.

use crate::support;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use alcedo_runtime::native::Natives;
use alcedo_runtime::{Budget, ContextFunction, Hang, ObjectHandle, Poster, Runtime, Value};
use tempfile::TempDir;

/// Duration that counts as a hang.
const LIMIT: Duration = Duration::from_millis(700);
const PATIENCE: Duration = Duration::from_secs(60);

/// Host with a watchdog and one object, and the hangs that the watchdog has reported.
struct Watched {
    host: Runtime,
    fragile: ObjectHandle,
    hangs: Receiver<Hang>,
    folder: TempDir,
}

impl Watched {
    fn new() -> Self {
        Self::with(|| ())
    }

    /// Variant of [`Watched::new`] whose listener calls `also` at each hang of a function.
    fn with(also: impl Fn() + Send + Sync + 'static) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (sender, hangs) = channel();
        let flag = folder.path().join("go on");
        let builder = support::hasty_builder().watchdog(LIMIT).on_hang(move |hang| {
            // On a slow machine, a phase of the host itself may also exceed the limit.
            if hang.function.is_empty() {
                return;
            }
            also();
            std::fs::write(&flag, "").expect("the folder is writable");
            // The receiver is dropped if the test has failed.
            let _sent = sender.send(hang.clone());
        });
        let host = builder.build().expect("a host");
        host.create_master(&[broken()]).expect("a healthy build");
        let fragile = host.objects().spawn("/Script/Game.Fragile").expect("spawned");
        Self { host, fragile, hangs, folder }
    }

    /// Makes the next run of the hook hang until the watchdog has reported the hang.
    fn hangs_in(&self, hook: &str) {
        let flag = self.folder.path().join("go on");
        assert!(!flag.exists(), "unexpected hang: {:?}", self.hangs.try_recv());
        let arguments = [hook, flag.to_str().expect("UTF-8")].map(|text| Value::Text(text.to_owned()));
        self.host.calls().call("nm:/broken:Fragile:wait_next_in", &arguments).expect("the call succeeds");
    }

    fn next_hang(&self) -> Hang {
        let hang = self.hangs.recv_timeout(PATIENCE).expect("a hang is reported");
        assert_eq!(self.hangs.try_iter().collect::<Vec<_>>(), [], "once");
        assert!(hang.since >= LIMIT, "{hang:?}");
        std::fs::remove_file(self.folder.path().join("go on")).expect("released");
        hang
    }
}

fn broken() -> PathBuf {
    support::plugin("broken", &[])
}

#[test]
fn a_hanging_function_is_named_with_its_module() {
    let watched = Watched::new();
    watched.hangs_in("method");
    assert_eq!(watched.host.objects().call(watched.fragile, "poke", &[]).expect("released"), Some(Value::U32(1)));
    let hang = watched.next_hang();
    assert_eq!(
        (hang.thread, hang.module.as_str(), hang.function.as_str()),
        ("game thread", "broken", "Game.Fragile:poke")
    );
    assert_eq!((hang.phase.len(), hang.calls), (0, vec!["Game.Fragile:poke".to_owned()]));
    // The plugin works normally after the hang.
    watched.hangs_in("event");
    watched.host.objects().set(watched.fragile, "can_tick", &Value::Bool(true)).expect("an actor can tick");
    watched.host.tick(Budget::frame());
    assert!(watched.next_hang().function.ends_with(":receive_tick"));
}

#[test]
fn the_watchdog_drops_thread_locals_of_an_unloading_slim() {
    // Keeps the log lines of this test out of the records of other tests.
    let _record = support::record("reports");
    let function = Arc::new(OnceLock::<ContextFunction>::new());
    let called = Arc::clone(&function);
    let watched = Watched::with(move || {
        if let Some(render) = called.get() {
            render.call(&[Value::Text("somebody".to_owned()), Value::U32(2)]).expect("it answers");
        }
    });
    let slim = watched.host.contexts().create_slim("reports").expect("the name is free");
    slim.load_path(support::plugin("reports", &["lingering"])).expect("it is loaded");
    let render = slim.function("Report", "render", "String, u32 -> String").expect("it is offered");
    assert!(function.set(render).is_ok());
    watched.hangs_in("method");
    watched.host.objects().call(watched.fragile, "poke", &[]).expect("released");
    watched.next_hang();
    let ticket = slim.begin_unload().expect("it is collectible");
    let end = ticket.wait(PATIENCE).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(end.modules[0].thread_locals_run, 1, "{end}");
}

#[test]
fn a_listener_that_waits_for_a_posted_closure_does_not_block_the_end_of_the_host() {
    let (release, released) = channel();
    let natives = Natives::default().before_destroy(move |_runtime, _object| {
        let _released = released.recv_timeout(PATIENCE);
    });
    let poster = Arc::new(OnceLock::<Poster>::new());
    let (used, (sender, outcomes)) = (Arc::clone(&poster), channel());
    let builder = Runtime::builder().natives(natives).watchdog(Duration::from_millis(50)).on_hang(move |_hang| {
        let Some(poster) = used.get() else { return };
        let (answer, answered) = channel();
        let reply = move |_runtime: &Runtime| {
            let _received = answer.send(());
        };
        assert!(poster.post(reply));
        release.send(()).expect("the hook waits");
        // The receiver is dropped if the test has failed.
        let _sent = sender.send(answered.recv_timeout(PATIENCE / 4));
    });
    let host = builder.build().expect("a host");
    let object = host.objects().spawn("/Script/Core.Object").expect("spawned");
    host.objects().remove_root(object);
    assert!(poster.set(host.post_handle()).is_ok());
    assert_eq!(host.collection().collect().expect("no plugin code runs"), 1);
    drop(host);
    assert_eq!(outcomes.recv(), Ok(Err(RecvTimeoutError::Disconnected)), "the closure was dropped with the host");
}

#[test]
fn a_log_subscriber_that_panics_does_not_end_the_watchdog() {
    let record = support::record("alcedo_runtime::watchdog");
    record.fail();
    let watched = Watched::new();
    for _ in 0..2 {
        watched.hangs_in("method");
        watched.host.objects().call(watched.fragile, "poke", &[]).expect("released");
        assert_eq!(watched.next_hang().function, "Game.Fragile:poke");
    }
}

#[test]
fn a_reload_that_does_not_end_is_named_with_its_phase() {
    let watched = Watched::new();
    watched.hangs_in("exit");
    watched.host.reload(&[broken()]).expect("a Master").into_result().expect("a reload");
    let hang = watched.next_hang();
    assert_eq!((hang.module.as_str(), hang.function.as_str()), ("broken", "exit hook of broken"));
    assert_eq!(hang.phase, ["a reload", "retire"]);
    let text = hang.to_string();
    assert!(text.starts_with("the game thread has been at exit hook of broken of module broken for "), "{text}");
    assert!(text.ends_with(" s, in a reload: retire"), "{text}");

    watched.hangs_in("exit");
    watched.host.unload_master().expect("a Master");
    assert_eq!(watched.next_hang().phase, ["unloading the Master"]);
}

#[test]
fn a_finalizer_that_does_not_return_is_named_with_its_class() {
    let watched = Watched::new();
    watched.hangs_in("finalizer");
    watched.host.objects().destroy(watched.fragile);
    watched.host.safe_point();
    let hang = watched.next_hang();
    assert_eq!((hang.thread, hang.module.as_str()), ("finalizer thread", "broken"));
    assert_eq!(hang.function, "Drop of Game.Fragile");
}
