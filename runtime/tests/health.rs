//! Tests health windows, the time after a reload in which the host watches new code. Healthy code remains loaded. The last healthy library
//! replaces unhealthy code. The status file reports both outcomes.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use alcedo_runtime::{
    Budget, Builder, ContextEventKind, Error, HealthWatch, HostStatus, ModuleState, ModuleStatus, RejectedBy, Runtime,
    WeakRuntime,
};
use tempfile::TempDir;

use crate::support::{self, tag};

const WINDOW: Duration = Duration::from_millis(300);

/// Host that watches one library in a folder of its own.
struct Host {
    runtime: Runtime,
    folder: TempDir,
}

impl Host {
    /// Starts a host with build 1. `check` receives the number of the running build.
    fn start(check: impl FnMut(u64) -> Result<(), String> + 'static) -> Self {
        Self::start_with(support::builder(), check)
    }

    fn start_with(builder: Builder, mut check: impl FnMut(u64) -> Result<(), String> + 'static) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::copy(support::tagged("magic-cube", &[], 1), folder.path().join("libmagic_cube.so"))
            .expect("the first build");
        let runtime = builder.build().expect("a host");
        runtime.create_master(&[folder.path().join("libmagic_cube.so")]).expect("the first build loads");
        let watch = HealthWatch::new(WINDOW, move |runtime: &Runtime| check(tag(runtime)));
        let host = Self { runtime, folder };
        host.runtime.watch_health(watch.status_file(host.status_file())).expect("a folder to watch");
        host
    }

    fn library(&self) -> PathBuf {
        self.folder.path().join("libmagic_cube.so")
    }

    fn status_file(&self) -> PathBuf {
        self.folder.path().join("status.json")
    }

    /// Replaces the library atomically.
    fn deliver(&self, bytes: &[u8]) {
        let part = self.folder.path().join("new");
        fs::write(&part, bytes).and_then(|()| fs::rename(&part, self.library())).expect("the folder is writable");
    }

    fn deliver_build(&self, number: u64) {
        self.deliver(&fs::read(support::tagged("magic-cube", &[], number)).expect("a build"));
    }

    /// Runs the host until its status file meets the condition `is_so`.
    fn until(&self, what: &str, is_so: impl Fn(&ModuleStatus) -> bool) -> ModuleStatus {
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut last = None;
        while Instant::now() < deadline {
            self.runtime.tick(Budget::frame());
            let status = HostStatus::read(&self.status_file()).expect("a complete file");
            last = status.and_then(|status| status.modules.into_iter().next());
            if let Some(status) = last.as_ref().filter(|status| is_so(status)) {
                return status.clone();
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        panic!("in vain: {what}: {last:?}");
    }

    /// Reloads the modules by a direct call, without the file watch.
    fn reload(&self, libraries: &[PathBuf]) {
        let report = self.runtime.reload(libraries).expect("a Master");
        assert!(report.is_committed(), "{report}");
    }

    fn modules(&self) -> Vec<String> {
        self.runtime.modules().iter().map(|module| module.name.clone()).collect()
    }

    fn until_running(&self) -> ModuleStatus {
        self.until("healthy code", |status| status.state == ModuleState::Running)
    }

    fn run_for(&self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.runtime.tick(Budget::frame());
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

#[test]
fn healthy_code_stays_and_the_status_names_its_digest() {
    let host = Host::start(|_| Ok(()));
    let first = host.until("an open window", |status| status.state == ModuleState::Checking);
    assert_eq!(host.until_running().digest, first.digest);
    host.deliver_build(2);
    let second = host.until("the second build", |status| status.digest != first.digest);
    assert_eq!((second.state, tag(&host.runtime)), (ModuleState::Checking, 2));
    assert_eq!(second.file, "libmagic_cube.so");
    assert!(second.digest.starts_with("sha256:") && second.digest.len() == 71, "{}", second.digest);
    let status = HostStatus::read(&host.status_file()).expect("a complete file").expect("the host has written it");
    let own = std::process::id();
    assert_eq!((status.process, Some(status.started)), (own, alcedo_sys::process::started(own)));
    assert_eq!(host.until_running().digest, second.digest);
}

#[test]
fn unhealthy_code_is_replaced_by_the_last_healthy_library() {
    let host = Host::start(|build| if build == 2 { Err("no lamp is lit".to_owned()) } else { Ok(()) });
    let first = host.until_running();
    let cube = host.runtime.objects().spawn("/Script/Game.MagicCube").expect("a cube");
    host.deliver_build(2);
    let after = host.until("a rejected build", |status| status.rejected.is_some());
    let rejected = after.rejected.expect("it is rejected");
    assert_eq!((rejected.by, rejected.reason.as_str()), (RejectedBy::Health, "no lamp is lit"));
    assert_eq!((after.digest, after.state, tag(&host.runtime)), (first.digest.clone(), ModuleState::Running, 1));
    assert_eq!(host.runtime.conjugates().color_of(cube).map(drop), Some(()), "the cube has its plugin part again");
    let reports = host.runtime.take_reloads();
    assert_eq!(reports.len(), 2, "{reports:?}");
    assert!(reports.iter().all(alcedo_runtime::ReloadReport::is_committed), "{reports:?}");
    let remarks = reports[1].remarks().join("\n");
    assert!(remarks.contains("libmagic_cube.so returned to the last healthy library: no lamp is lit"), "{remarks}");

    // The library file contains the rejected build again, but the host does not load this build again.
    host.deliver_build(2);
    host.run_for(Duration::from_millis(300));
    assert_eq!((host.runtime.take_reloads().len(), tag(&host.runtime)), (0, 1));
    // The host has continued to run the first build. If the file contains this build again, only the rejection in the status is removed.
    host.deliver_build(1);
    host.until("no rejection", |status| status.rejected.is_none());
    host.deliver_build(3);
    host.until("the third build", |status| status.digest != first.digest && status.state == ModuleState::Running);
    assert_eq!(tag(&host.runtime), 3);
}

#[test]
fn a_panic_or_an_error_at_the_end_of_the_window_is_unhealthy() {
    let mut calls = 0;
    let host = Host::start(move |build| {
        calls = if build == 2 { calls + 1 } else { 0 };
        assert!(calls < 5, "the lamp fell");
        Ok(())
    });
    host.until_running();
    host.deliver_build(2);
    let after = host.until("a rejected build", |status| status.rejected.is_some());
    let rejected = after.rejected.expect("it is rejected");
    assert_eq!(rejected.reason, "the health function panicked: the lamp fell");
    assert_eq!(tag(&host.runtime), 1);
}

#[test]
fn a_refused_library_is_reported_under_its_own_path() {
    let host = Host::start(|_| Ok(()));
    let first = host.until_running();
    host.deliver(b"no library");
    let after = host.until("a rejected file", |status| status.rejected.is_some());
    let rejected = after.rejected.expect("it is rejected");
    assert_eq!((rejected.by, &after.digest, after.state), (RejectedBy::Load, &first.digest, ModuleState::Running));
    let path = host.library().display().to_string();
    assert!(rejected.reason.contains(&path), "{} names {path}", rejected.reason);
    assert_eq!((host.runtime.generation(), tag(&host.runtime)), (1, 1));
}

#[test]
fn a_change_during_a_window_is_loaded_after_the_window() {
    let host = Host::start(|_| Ok(()));
    let first = host.until_running();
    host.deliver_build(2);
    let second = host.until("the second build", |status| status.digest != first.digest);
    host.deliver_build(3);
    let third = host.until("the third build", |status| ![&first.digest, &second.digest].contains(&&status.digest));
    assert_eq!(third.state, ModuleState::Checking);
    // The second build has passed its health window, and is now the last healthy build.
    assert_eq!(host.runtime.take_reloads().len(), 2);
    host.until_running();
}

#[test]
fn code_that_is_unhealthy_from_the_start_continues_and_is_marked() {
    let host = Host::start(|build| if build == 1 { Err("no lamp is lit".to_owned()) } else { Ok(()) });
    let marked = host.until("a mark", |status| matches!(status.state, ModuleState::Unhealthy { .. }));
    assert_eq!((marked.state, tag(&host.runtime)), (ModuleState::Unhealthy { reason: "no lamp is lit".to_owned() }, 1));
    host.deliver_build(2);
    host.until_running();
    assert_eq!(tag(&host.runtime), 2);
}

#[test]
fn a_health_watch_needs_a_master_and_ends_with_the_next_watch() {
    let watch = || HealthWatch::new(WINDOW, |_| Err("never called".to_owned()));
    let host = support::builder().build().expect("a host");
    let error = host.watch_health(watch()).expect_err("no Master");
    assert!(matches!(error, Error::Load(alcedo_runtime::LoadError::NoMaster)), "{error}");

    let host = Host::start(|build| if build == 2 { Err("unhealthy".to_owned()) } else { Ok(()) });
    host.until_running();
    host.runtime.watch().expect("a folder to watch");
    host.deliver_build(2);
    support::wait_for_build(&host.runtime, 2);
    host.run_for(WINDOW);
    assert_eq!(tag(&host.runtime), 2, "no health function is called");
    let gone = host.runtime.shutdown();
    gone.into_result().expect("it ends");
}

#[test]
fn the_next_watch_loads_a_change_that_waits_for_the_end_of_a_window() {
    let host = Host::start(|_| Ok(()));
    let first = host.until_running();
    host.deliver_build(2);
    host.until("the second build", |status| status.digest != first.digest);
    host.deliver_build(3);
    host.run_for(Duration::from_millis(50));
    host.runtime.watch().expect("a folder to watch");
    support::wait_for_build(&host.runtime, 3);
}

#[test]
fn a_health_function_may_start_the_next_watch() {
    let host = Host::start(|_| Ok(()));
    let first = host.until_running();
    let status_file = host.status_file();
    let watch = HealthWatch::new(WINDOW, move |runtime: &Runtime| {
        if tag(runtime) == 1 {
            return Ok(());
        }
        let next = HealthWatch::new(WINDOW, |_| Ok(())).status_file(&status_file);
        runtime.watch_health(next).expect("a folder to watch");
        Err("the next watch decides".to_owned())
    });
    host.runtime.watch_health(watch.status_file(host.status_file())).expect("a folder to watch");
    host.deliver_build(2);
    let second =
        host.until("the second build", |status| status.digest != first.digest && status.state == ModuleState::Running);
    assert_eq!((second.rejected, tag(&host.runtime)), (None, 2));
}

#[test]
fn a_watch_that_starts_during_a_reload_watches_the_delivered_file() {
    let runtime = Rc::new(RefCell::new(None::<WeakRuntime>));
    let own = Rc::clone(&runtime);
    let builder = support::builder().on_event(move |event| {
        let runtime = own.borrow().as_ref().and_then(WeakRuntime::upgrade);
        if let (ContextEventKind::Loaded(_), Some(runtime)) = (&event.event, runtime) {
            runtime.watch().expect("a folder to watch");
        }
    });
    let host = Host::start_with(builder, |_| Ok(()));
    host.until_running();
    *runtime.borrow_mut() = Some(host.runtime.downgrade());
    for build in [2, 3] {
        host.deliver_build(build);
        support::wait_for_build(&host.runtime, build);
    }
}

#[test]
fn a_module_that_the_host_has_added_by_hand_stays() {
    let host = Host::start(|_| Ok(()));
    let first = host.until_running();
    host.reload(&[host.library(), support::tagged("glue-base", &[], 1)]);
    host.run_for(Duration::from_millis(50));
    host.deliver_build(2);
    host.until("the second build", |status| status.digest != first.digest && status.state == ModuleState::Running);
    assert_eq!(tag(&host.runtime), 2);
    assert!(host.modules().contains(&"glue_base".to_owned()), "{:?}", host.modules());
}

#[test]
fn a_library_that_the_host_has_taken_out_is_absent_and_not_loaded() {
    let host = Host::start(|_| Ok(()));
    host.until_running();
    host.runtime.unload_master().expect("a Master");
    let absent = host.until("no Master", |status| status.state == ModuleState::Absent);
    assert_eq!(absent.digest, "");
    host.runtime.create_master(&[support::tagged("glue-base", &[], 1)]).expect("it loads");
    let generation = host.runtime.generation();
    host.deliver_build(2);
    host.run_for(Duration::from_millis(300));
    assert_eq!((host.modules(), host.runtime.generation()), (vec!["glue_base".to_owned()], generation));
    host.until("another Master", |status| status.state == ModuleState::Absent);
    host.runtime.watch().expect("a folder to watch");
    assert!(!host.status_file().exists(), "the ended watch leaves no status");
}

#[test]
fn the_status_of_another_process_is_not_removed() {
    let host = Host::start(|_| Ok(()));
    host.until_running();
    let of_another = "{\"process\": 1, \"generation\": 1, \"modules\": []}";
    // Writes the status of another process with this id. A process in another container may have an equal id.
    let of_this_id =
        format!("{{\"process\": {}, \"started\": 1, \"generation\": 1, \"modules\": []}}", std::process::id());
    for status in [of_another, &of_this_id] {
        fs::write(host.status_file(), status).expect("it is writable");
        host.runtime.watch().expect("a folder to watch");
        assert!(host.status_file().exists(), "the next process of the host has written it");
        let watch = HealthWatch::new(WINDOW, |_| Ok(())).status_file(host.status_file());
        host.runtime.watch_health(watch).expect("a folder to watch");
        host.until("the status of this process", |_| {
            let status = HostStatus::read(&host.status_file()).expect("a complete file");
            status.is_some_and(|status| Some(status.started) == alcedo_sys::process::started(std::process::id()))
        });
    }
}

#[test]
fn a_watch_that_fails_to_start_keeps_the_health_watch() {
    let host = Host::start(|_| Ok(()));
    let first = host.until_running();
    host.runtime.unload_master().expect("a Master");
    host.until("no Master", |status| status.state == ModuleState::Absent);
    host.runtime.watch().expect_err("no Master");
    assert!(host.status_file().exists(), "the health watch continues");
    host.runtime.create_master(&[host.library()]).expect("it loads");
    assert_eq!(host.until_running().digest, first.digest);
}

#[test]
fn a_return_leads_to_the_library_that_was_loaded_by_hand() {
    let host = Host::start(|build| if build == 2 { Err("no lamp is lit".to_owned()) } else { Ok(()) });
    let first = host.until_running();
    let folder = tempfile::tempdir().expect("a folder");
    let other = folder.path().join("libmagic_cube.so");
    fs::copy(support::tagged("magic-cube", &[], 3), &other).expect("the third build");
    host.reload(std::slice::from_ref(&other));
    let third =
        host.until("the third build", |status| status.digest != first.digest && status.state == ModuleState::Running);
    let bytes = fs::read(&other).expect("the third build");
    assert_eq!(third.digest, alcedo_sys::plain_file::sha256(&bytes));
    fs::remove_file(&other).expect("it exists");
    host.deliver_build(2);
    let after = host.until("a rejected build", |status| status.rejected.is_some());
    assert_eq!((after.digest, after.state, tag(&host.runtime)), (third.digest, ModuleState::Running, 3));
}

#[test]
fn parked_images_do_not_prevent_the_return() {
    let builder = support::builder().unloads(|policy| policy.grace = Duration::ZERO);
    let mut calls = 0;
    let host = Host::start_with(builder.park_after(Duration::ZERO).parked_budget(0), move |build| {
        calls = if build == 2 { calls + 1 } else { 0 };
        if calls < 5 { Ok(()) } else { Err("no lamp is lit".to_owned()) }
    });
    let first = host.until_running();
    let _lease = host.runtime.unloads().lease_master("a test").expect("a Master");
    host.deliver_build(2);
    let after = host.until("a rejected build", |status| status.rejected.is_some());
    assert_eq!((after.digest, after.state, tag(&host.runtime)), (first.digest, ModuleState::Running, 1));
    let reports = host.runtime.take_reloads();
    let remarks = reports.last().expect("a return").remarks().join("\n");
    assert!(remarks.contains("`parked_budget` does not limit the return"), "{remarks}");
}

#[test]
fn a_failed_return_is_reported_as_failed() {
    let copies: Rc<RefCell<PathBuf>> = Rc::default();
    let folder = Rc::clone(&copies);
    let host = Host::start(move |build| {
        if build == 1 {
            return Ok(());
        }
        for entry in fs::read_dir(&*folder.borrow()).expect("the folder of copies").flatten() {
            if entry.file_name().to_string_lossy().starts_with("watched-") {
                fs::write(entry.path(), "no library").expect("the copy is writable");
            }
        }
        Err("no lamp is lit".to_owned())
    });
    *copies.borrow_mut() = host.runtime.stage_dir();
    host.until_running();
    host.deliver_build(2);
    host.until("unhealthy code", |status| matches!(status.state, ModuleState::Unhealthy { .. }));
    let reports = host.runtime.take_reloads();
    let report = reports.last().expect("a failed return");
    let remarks = report.remarks().join("\n");
    assert!(!report.is_committed() && remarks.contains("did not return to the last healthy library"), "{remarks}");
    assert!(!remarks.contains("returned to"), "{remarks}");
    assert_eq!(tag(&host.runtime), 2);
}

#[test]
fn a_removed_folder_of_copies_does_not_prevent_the_return() {
    let copies: Rc<RefCell<PathBuf>> = Rc::default();
    let folder = Rc::clone(&copies);
    let host = Host::start(move |build| {
        if build == 1 {
            return Ok(());
        }
        fs::remove_dir_all(&*folder.borrow()).expect("the folder of copies");
        Err("no lamp is lit".to_owned())
    });
    *copies.borrow_mut() = host.runtime.stage_dir();
    let first = host.until_running();
    host.deliver_build(2);
    let after = host.until("a rejected build", |status| status.rejected.is_some());
    assert_eq!((after.digest, after.state, tag(&host.runtime)), (first.digest, ModuleState::Running, 1));
}

/// Starts a host whose second build is unhealthy. The first reload back to the first build fails. Later attempts can succeed.
fn host_with_a_failed_return() -> Host {
    let copies: Rc<RefCell<PathBuf>> = Rc::default();
    let folder = Rc::clone(&copies);
    let host = Host::start(move |build| {
        if build == 1 {
            return Ok(());
        }
        // While a file has the name of the folder for copies, the host cannot make a copy.
        let folder = folder.borrow();
        fs::rename(&*folder, folder.with_extension("aside")).expect("it is writable");
        fs::write(&*folder, "").expect("it is writable");
        Err("no lamp is lit".to_owned())
    });
    *copies.borrow_mut() = host.runtime.stage_dir();
    host.until_running();
    host.deliver_build(2);
    host.until("unhealthy code", |status| matches!(status.state, ModuleState::Unhealthy { .. }));
    let folder = host.runtime.stage_dir();
    fs::remove_file(&folder).and_then(|()| fs::rename(folder.with_extension("aside"), &folder)).expect("writable");
    host
}

#[test]
fn a_failed_return_is_tried_again() {
    let host = host_with_a_failed_return();
    let after = host.until("a rejected build", |status| status.rejected.is_some());
    assert_eq!((after.state, tag(&host.runtime)), (ModuleState::Running, 1));
}

#[test]
fn a_failed_return_is_tried_again_after_a_reload_by_hand() {
    let host = host_with_a_failed_return();
    host.reload(&[host.library(), support::tagged("glue-base", &[], 1)]);
    let after = host.until("a rejected build", |status| status.rejected.is_some());
    assert_eq!((after.state, tag(&host.runtime)), (ModuleState::Running, 1));
    assert!(host.modules().contains(&"glue_base".to_owned()), "{:?}", host.modules());
}

#[cfg(unix)]
#[test]
fn a_library_that_could_not_be_opened_is_loaded_later() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    const ALONE: &str = "HEALTH_ALONE";
    let newer = support::tagged("magic-cube", &[], 2);
    // The limit of open files applies to the whole process.
    if std::env::var_os(ALONE).is_none() {
        let mut this = support::alone::only(module_path!(), "a_library_that_could_not_be_opened_is_loaded_later");
        support::alone::passes(this.env(ALONE, "1"));
        return;
    }
    let host = Host::start(|_| Ok(()));
    let first = host.until_running();
    let part = host.folder.path().join("new");
    fs::copy(newer, &part).expect("the folder is writable");
    let limits = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..limits }).expect("a lower limit");
    fs::rename(&part, host.library()).expect("the folder is writable");
    host.run_for(Duration::from_millis(200));
    setrlimit(Resource::Nofile, limits).expect("the earlier limit");
    host.until("the second build", |status| status.digest != first.digest);
}

#[test]
fn a_permanently_unreadable_library_is_logged_once() {
    let record = support::record("alcedo_runtime::runtime::health::watching");
    let host = Host::start(|_| Ok(()));
    host.until_running();
    fs::remove_file(host.library()).expect("it exists");
    for _ in 0..3 {
        fs::create_dir(host.library()).expect("the folder is writable");
        host.run_for(Duration::from_millis(300));
        fs::remove_dir(host.library()).expect("it exists");
    }
    let (lines, problem) = (record.take(), format!("{} cannot be read", host.library().display()));
    assert_eq!(lines.matches(&problem).count(), 1, "{lines}");
}

#[test]
fn a_watched_library_is_refused_as_a_status_file() {
    let host = Host::start(|_| Ok(()));
    let watch = HealthWatch::new(WINDOW, |_| Ok(())).status_file(host.library());
    let error = host.runtime.watch_health(watch).expect_err("the library would be overwritten").to_string();
    assert!(error.contains("it is the watched library"), "{error}");
    host.run_for(Duration::from_millis(50));
    assert_eq!(tag(&host.runtime), 1);
}
