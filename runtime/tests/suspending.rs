//! Tests exclusive resources, such as a port or a database. The old generation releases these resources before the main of the new
//! generation runs. After a rollback, the old generation acquires them again.

use crate::support;

use std::fs;
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::{Outcome, Phase, ReloadReport, Runtime, Value};

fn harbor(tag: u64) -> PathBuf {
    support::tagged("harbor", &[], tag)
}

fn tug(tag: u64) -> PathBuf {
    support::tagged("harbor", &["needs-harbor"], tag)
}

/// Returns an address reserved for this test: a loopback address that no other process uses, with a port below the ephemeral range.
fn free_address() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let pid = std::process::id();
    loop {
        let port = 20_000 + (pid.wrapping_mul(31) + NEXT.fetch_add(1, Ordering::Relaxed)) % 10_000;
        let address = format!("127.{}.{}.17:{port}", 1 + pid % 254, (pid / 254) % 256);
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
}

/// Host with the address of its harbor, and the file that requests faults. Each scene holds a log record, so only one scene can exist at a
/// time.
struct Scene {
    host: Runtime,
    address: String,
    _folder: tempfile::TempDir,
    orders: PathBuf,
    /// Log record. This field is dropped last, so that other tests do not receive the last log lines from this host.
    record: support::Record,
}

impl Scene {
    fn new(libraries: &[PathBuf]) -> Self {
        Self::with(libraries, |address| vec![format!("harbor={address}")])
    }

    fn with(libraries: &[PathBuf], args: impl Fn(&str) -> Vec<String>) -> Self {
        let record = support::record("harbor");
        let (address, folder) = (free_address(), tempfile::tempdir().expect("a folder"));
        let orders = folder.path().join("orders");
        let mut args = args(&address);
        args.push(format!("orders={}", orders.display()));
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let host = support::builder().module_args(&args).build().expect("a host");
        if !libraries.is_empty() {
            host.create_master(libraries).unwrap_or_else(|error| panic!("{error}"));
        }
        Self { host, address, _folder: folder, orders, record }
    }

    fn order(&self, orders: &str) {
        fs::write(&self.orders, orders).expect("it can be written");
    }

    fn reload(&self, libraries: &[PathBuf]) -> ReloadReport {
        self.host.reload(libraries).expect("a Master")
    }

    /// Returns the build whose server responds on the port, or `None` if no server responds.
    fn serving(&self) -> Option<String> {
        let mut answer = String::new();
        TcpStream::connect(&self.address).ok()?.read_to_string(&mut answer).ok()?;
        Some(answer)
    }

    fn build(&self) -> String {
        match self.host.calls().call("ex:/harbor.build", &[]) {
            Ok(Some(Value::Text(build))) => build,
            other => panic!("a text: {other:?}"),
        }
    }

    fn assert_serves(&self, build: &str) {
        assert_eq!((self.serving().as_deref(), &*self.build()), (Some(build), build));
    }
}

fn committed(reload: ReloadReport) -> ReloadReport {
    reload.into_result().unwrap_or_else(|report| panic!("{report}"))
}

fn failure(reload: &ReloadReport) -> (Phase, String) {
    match &reload.outcome {
        Outcome::RolledBack { phase, error } => (*phase, error.clone()),
        Outcome::Committed => panic!("it is rolled back: {reload}"),
    }
}

#[test]
fn a_fixed_port_passes_from_generation_to_generation() {
    let scene = Scene::new(&[harbor(1)]);
    scene.assert_serves("1");
    let reload = committed(scene.reload(&[harbor(2)]));
    assert!(reload.remainder.suspended.is_empty(), "it was committed: {reload}");
    scene.assert_serves("2");
    assert_eq!(scene.record.take(), "harbor 1 main\nharbor 1 suspend\nharbor 2 main\nharbor 1 exit\n");
    let _unload = scene.host.unload_master().expect("there is one");
    assert_eq!(scene.record.take(), "harbor 2 exit\n", "an unload suspends no module");
    assert_eq!(scene.serving(), None);
}

#[test]
fn a_reload_that_fails_leaves_the_port_to_the_old_generation() {
    let scene = Scene::new(&[harbor(1)]);
    for how in ["panic", "bomb", "error"] {
        scene.order(&format!("harbor 2 main {how}"));
        let reload = scene.reload(&[harbor(2)]);
        let (phase, error) = failure(&reload);
        assert_eq!(phase, Phase::Start);
        assert!(!error.contains("suspend"), "the port was released: {error}");
        assert_eq!(
            (&reload.remainder.suspended, &reload.remainder.resumed),
            (&vec!["harbor".into()], &vec!["harbor".into()])
        );
        assert!(reload.to_string().contains("\n  suspended: harbor\n  and resumed: harbor"), "{reload}");
        scene.assert_serves("1");
    }
    let _before = scene.record.take();
    scene.order("");
    // When the new generation ends, it still holds the port. Its exit hook releases the port, and then the old generation acquires the port
    // again.
    let fault = faults::arm(Fault { step: ReloadStep::BeforeCommit, nth: 0, kind: FaultKind::Error });
    let reload = scene.reload(&[harbor(2)]);
    assert!(fault.has_fired() && !reload.is_committed());
    drop(fault);
    scene.assert_serves("1");
    assert_eq!(scene.record.take(), "harbor 1 suspend\nharbor 2 main\nharbor 2 exit\nharbor 1 resume\n");
    // A reload that is refused during staging has no effect on the running generation.
    assert!(!scene.reload(&[PathBuf::from("/nowhere/libharbor.so")]).is_committed());
    assert_eq!(scene.record.take(), "");
    committed(scene.reload(&[harbor(2)]));
    scene.assert_serves("2");
}

#[test]
fn a_main_failing_next_to_a_live_generation_suggests_suspend() {
    let stubborn = |tag| support::tagged("harbor", &["stubborn"], tag);
    let scene = Scene::new(&[stubborn(1)]);
    let (_, error) = failure(&scene.reload(&[harbor(2)]));
    assert!(error.contains("Address already in use"), "{error}");
    assert!(
        error.contains(
            "; generation 1 of it is live at the same time: if it holds a resource that the new one needs (a port,"
        ),
        "{error}"
    );
    scene.assert_serves("1");
    let _unload = scene.host.unload_master().expect("there is one");
    scene.order("harbor 1 main panic");
    let error = scene.host.create_master(&[stubborn(1)]).expect_err("its main panics").to_string();
    assert!(!error.contains("suspend"), "no old generation exists: {error}");
}

#[test]
fn a_failed_suspend_refuses_the_reload_and_suspended_modules_resume() {
    let addresses = |address: &str| vec![format!("harbor={address}"), format!("tug={}", free_address())];
    let scene = Scene::with(&[harbor(1), tug(1)], addresses);
    let (dependent_first, both) = ("tug 1 suspend\nharbor 1 suspend\n", "harbor 1 resume\ntug 1 resume\n");
    for (how, expected) in [
        (
            "panic",
            "suspend of harbor failed, so nothing was replaced: panicked: \"suspend panics\" at harbor/src/lib.rs",
        ),
        ("error", "suspend of harbor failed, so nothing was replaced: suspend does not want to"),
        (
            "bomb",
            "suspend of harbor failed, so nothing was replaced: panicked: \"a panic without a message\" at harbor",
        ),
    ] {
        let _before = scene.record.take();
        scene.order(&format!("harbor 1 suspend {how}"));
        let reload = scene.reload(&[harbor(2), tug(2)]);
        let (phase, error) = failure(&reload);
        assert_eq!(phase, Phase::Quiesce);
        assert!(error.starts_with(expected), "{error}");
        assert_eq!(scene.record.take(), format!("{dependent_first}{both}"), "no main has run");
        assert!(reload.remainder.mains.is_empty(), "{reload}");
        scene.assert_serves("1");
    }
    // A module is resumed only if its `suspend` was called.
    scene.order("tug 1 suspend error");
    assert!(!scene.reload(&[harbor(2), tug(2)]).is_committed());
    assert_eq!(scene.record.take(), "tug 1 suspend\ntug 1 resume\n");
    scene.order("");
    committed(scene.reload(&[harbor(2), tug(2)]));
    assert_eq!(
        scene.record.take(),
        format!("{dependent_first}harbor 2 main\ntug 2 main\ntug 1 exit\nharbor 1 exit\n"),
        "dependents first, as for exit hooks; mains in reverse order"
    );
    // Only replaced modules are suspended.
    committed(scene.host.reload_changed(&[harbor(2), tug(1)]).expect("a Master"));
    assert_eq!(scene.record.take(), "tug 2 suspend\ntug 1 main\ntug 2 exit\n");
    scene.assert_serves("2");
}

#[test]
fn a_failed_resume_is_reported_and_its_module_keeps_running() {
    for how in ["panic", "error", "bomb"] {
        let scene = Scene::new(&[harbor(1)]);
        scene.order(&format!("harbor 2 main panic\nharbor 1 resume {how}"));
        let reload = scene.reload(&[harbor(2)]);
        assert_eq!(failure(&reload).0, Phase::Start, "it is the main that has failed");
        let is_reported =
            reload.warnings.iter().any(|line| line.starts_with("resume of harbor failed, and harbor continues"));
        assert!(is_reported, "{reload}");
        scene.assert_serves("1");
        scene.order("");
        committed(scene.reload(&[harbor(2)]));
        scene.assert_serves("2");
    }
}

#[test]
fn a_failed_resume_is_reported_although_its_log_line_panics() {
    let Scene { host, _folder, orders, record, .. } = Scene::new(&[harbor(1)]);
    drop(record);
    let record = support::record("alcedo_runtime::load::master::start");
    record.fail();
    fs::write(&orders, "harbor 2 main panic\nharbor 1 resume error").expect("it can be written");
    let reload = host.reload(&[harbor(2)]).expect("a Master");
    let is_reported = reload.warnings.iter().any(|line| line.starts_with("resume of harbor failed"));
    assert!(is_reported, "{reload}");
    drop(host);
}

/// Checks that `suspend` and `resume` may use all operations of a live generation.
#[test]
fn suspend_and_resume_run_while_the_old_generation_is_alive() {
    let scene = Scene::new(&[harbor(1)]);
    let (library, text) = (harbor(2), |what: String| Ok(Some(Value::Text(what))));
    let attempt = move |host: &Runtime, arguments: &[Value]| {
        let [Value::Text(moment)] = arguments else { return text("nothing".to_owned()) };
        let before = host.counters().objects;
        let spawned = host.objects().spawn("/Script/Engine.Actor").map(|_| host.counters().objects - before);
        let answer = host.calls().call("ex:/harbor.build", &[]);
        let reload = host.reload(&[&library]).map(drop).map_err(|error| error.to_string());
        let shutdown = host.unload_master().map(drop).map_err(|error| error.to_string());
        host.request_reload(vec![library.clone()]);
        text(format!("in {moment}: {spawned:?} {answer:?} {reload:?} {shutdown:?}"))
    };
    scene
        .host
        .calls()
        .register("host.deed", "String -> String".parse().expect("a signature"), attempt)
        .expect("a free name");
    scene.order("harbor 2 main panic\nharbor 1 suspend deed\nharbor 1 resume deed\nharbor 1 resume post");
    let count = scene.host.counters().objects;
    assert_eq!(failure(&scene.reload(&[harbor(2)])).0, Phase::Start);
    assert_eq!(scene.host.counters().objects, count + 2, "its objects are kept");
    scene.assert_serves("1");
    let log = scene.record.take();
    let attempts: Vec<_> = log.lines().filter(|line| line.contains(" did ")).collect();
    assert_eq!(attempts.len(), 2, "{log}");
    for attempt in attempts {
        assert!(attempt.contains("Ok(1) Ok(Some(Text(\"1\")))"), "it makes objects and answers: {attempt}");
        assert_eq!(attempt.matches("Err(\"").count(), 2, "neither a reload nor an unload begins during it: {attempt}");
    }
    assert!(!log.contains("posted"), "{log}");
    scene.order("");
    scene.host.tick(alcedo_runtime::Budget::frame());
    // The old generation is alive again, and its posts run. The requested reload runs after these posts.
    assert_eq!(scene.host.take_reloads().len(), 1);
    assert!(scene.record.take().starts_with("harbor 1 posted\n"), "the old generation continues");
    scene.assert_serves("2");
}

#[test]
fn a_suspend_that_does_not_return_is_named_while_it_hangs() {
    let _alone = support::record("harbor");
    let folder = tempfile::tempdir().expect("a folder");
    let (orders, end) = (folder.path().join("orders"), folder.path().join("orders.end"));
    let (sender, hangs) = channel();
    let builder = support::builder().watchdog(Duration::from_millis(700)).on_hang(move |hang| {
        // On a slow machine, a phase of the host itself may also take longer than the limit.
        if !hang.function.is_empty() {
            fs::write(&end, "").expect("the folder is writable");
            let _sent = sender.send(hang.clone());
        }
    });
    let host = builder.module_args(&[&format!("orders={}", orders.display())]).build().expect("a host");
    host.create_master(&[harbor(1)]).unwrap_or_else(|error| panic!("{error}"));
    fs::write(&orders, "harbor 1 suspend hang").expect("it can be written");
    committed(host.reload(&[harbor(2)]).expect("a Master"));
    let hang = hangs.recv_timeout(Duration::from_secs(60)).expect("a hang is reported");
    assert_eq!((&*hang.module, &*hang.function), ("harbor", "suspend of harbor"));
    assert_eq!(hang.phase, ["a reload", "quiesce"]);
}

/// Checks that posts are rejected during `suspend`, as during every unload.
#[test]
fn a_suspend_may_not_post() {
    let scene = Scene::new(&[harbor(1)]);
    scene.order("harbor 1 suspend post");
    let (phase, error) = failure(&scene.reload(&[harbor(2)]));
    assert_eq!(phase, Phase::Quiesce);
    assert!(error.contains("a new posted closure of harbor of generation 1 is not available"), "{error}");
    scene.assert_serves("1");
}

#[test]
fn modules_of_different_names_take_turns_at_one_port() {
    let scene = Scene::with(&[harbor(1)], |address| vec![format!("harbor={address}"), format!("tug={address}")]);
    let tug = |tag| support::tagged("harbor", &["tug"], tag);
    for turn in 0..6 {
        let (library, build) = if turn % 2 == 0 { (tug(3), "3") } else { (harbor(1), "1") };
        committed(scene.reload(&[library]));
        assert_eq!(scene.serving().as_deref(), Some(build));
    }
    // Unloads the module by a reload without it, and loads the module again.
    committed(scene.reload(&[support::plugin("unruly", &[])]));
    assert_eq!(scene.serving(), None);
    committed(scene.reload(&[harbor(2)]));
    scene.assert_serves("2");
}

#[test]
fn two_hundred_reloads_with_rollbacks_in_between_lose_no_port() {
    let scene = Scene::new(&[harbor(1)]);
    let mut live = 1;
    for turn in 0..200 {
        let next = 3 - live;
        let fault = match turn % 4 {
            0 => {
                scene.order(&format!("harbor {next} main panic"));
                None
            }
            1 => Some(faults::arm(Fault { step: ReloadStep::BeforeCommit, nth: 0, kind: FaultKind::Panic })),
            2 => Some(faults::arm(Fault { step: ReloadStep::Suspend, nth: 0, kind: FaultKind::Panic })),
            _ => None,
        };
        let reload = scene.reload(&[harbor(next)]);
        scene.order("");
        drop(fault);
        assert_eq!(reload.is_committed(), turn % 4 == 3, "turn {turn}: {reload}");
        live = if reload.is_committed() { next } else { live };
        scene.assert_serves(&live.to_string());
    }
    let unload = scene.host.unload_master().expect("there is one");
    let _gone = unload.ticket.wait(Duration::from_secs(60)).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(scene.host.unloads().parked(), Vec::<String>::new());
}

#[test]
fn a_slim_passes_its_port_to_its_replacement_or_reopens_it() {
    let scene = Scene::new(&[]);
    let slim = scene.host.contexts().create_slim("harbor").expect("a free name");
    slim.load_path(harbor(1)).unwrap_or_else(|error| panic!("{error}"));
    let build = || match slim.function("Harbor", "build_tag", "-> String").expect("it is there").call(&[]) {
        Ok(Some(Value::Text(build))) => build,
        other => panic!("a text: {other:?}"),
    };
    let serves = |tag: &str| assert_eq!((scene.serving().as_deref(), &*build()), (Some(tag), tag));
    serves("1");
    for (orders, expected) in [
        ("harbor 2 main panic", "main of harbor panicked: \"main does not"),
        ("harbor 1 suspend panic", "suspend of harbor failed, so nothing was replaced: panicked"),
        ("harbor 2 main error\nharbor 1 resume panic", "main of harbor panicked"),
    ] {
        scene.order(orders);
        let error = slim.replace(harbor(2)).expect_err("it fails").to_string();
        let expected = expected.replace("main does not", "main panics");
        assert!(error.contains(&expected) && !error.contains("is live at the same time"), "{error}");
        serves("1");
    }
    scene.order("");
    let _before = scene.record.take();
    let gone = slim.replace(harbor(2)).unwrap_or_else(|error| panic!("{error}")).wait(Duration::from_secs(60));
    assert!(gone.is_ok(), "{gone:?}");
    serves("2");
    assert_eq!(scene.record.take(), "harbor 1 suspend\nharbor 2 main\nharbor 1 exit\n");
    let stubborn = scene.host.contexts().create_slim("stubborn").expect("a free name");
    let _gone = slim.begin_unload().expect("a Slim").wait(Duration::from_secs(60)).expect("no holder is left");
    stubborn.load_path(support::tagged("harbor", &["stubborn"], 1)).unwrap_or_else(|error| panic!("{error}"));
    let error = stubborn.replace(harbor(2)).expect_err("the port is taken").to_string();
    assert!(error.contains("generation 1 of it is live at the same time"), "{error}");
}

#[test]
fn an_exclusively_opened_database_passes_from_generation_to_generation() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("almanac.redb");
    let args = [path.to_str().expect("a plain name")];
    let host = support::builder().module_args(&args).build().expect("a host");
    host.create_master(&[support::tagged("almanac", &[], 1)]).unwrap_or_else(|error| panic!("{error}"));
    let starts = || host.calls().call("ex:/almanac.starts", &[]).expect("it is open");
    let mut count = 1;
    for turn in 0..10 {
        assert_eq!(starts(), Some(Value::U64(count)));
        let step = if turn % 2 == 0 { ReloadStep::PostStartup } else { ReloadStep::Attach };
        let fault = faults::arm(Fault { step, nth: 0, kind: FaultKind::Error });
        let library = support::tagged("almanac", &[], 2 - turn % 2);
        assert!(!host.reload(&[&library]).expect("a Master").is_committed());
        drop(fault);
        // Each main that has run has incremented the counter. A rollback does not undo effects outside the host's world.
        count += u64::from(step == ReloadStep::PostStartup);
        assert_eq!(starts(), Some(Value::U64(count)));
        let reload = committed(host.reload(&[&library]).expect("a Master"));
        count += 1;
        assert!(reload.parked.is_empty(), "{reload}");
    }
}
