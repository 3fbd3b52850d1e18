//! Tests of a session with a host from sources. Each test saves files of the host or of plugins.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use alcedo_build::{BuildError, PluginFolder, SourceCrate, SourceEvent};
use alcedo_runtime::development::link::{FromHost, Status, ToHost};
use crossbeam_channel::{Receiver, Sender, never, unbounded};

use super::{HostSources, Killing, Session};
use crate::error::Error;
use crate::guard::End;
use crate::modules::BuildOptions;
use crate::session::job::Job;
use crate::session::targets::Kind;
use crate::session::{Mode, Sources, Step};
use crate::world::{HostProgram, Printed, Shutdown, World, WorldEvent};

/// Accepts each load, and counts the loads.
struct Accepting {
    loads: usize,
    has_ended: bool,
    /// Program that the session has set.
    program: Option<PathBuf>,
    events: (Sender<WorldEvent>, Receiver<WorldEvent>),
    printed: Receiver<Printed>,
}

impl World for Accepting {
    fn request(&mut self, request: ToHost) {
        if matches!(request, ToHost::Load { .. }) {
            self.loads += 1;
            let started = FromHost::Started { generation: 1, builds: BTreeMap::default() };
            self.events.0.send(WorldEvent::Host(started, Instant::now())).unwrap();
        }
    }

    fn events(&self) -> &Receiver<WorldEvent> {
        &self.events.1
    }

    fn printed(&self) -> &Receiver<Printed> {
        &self.printed
    }

    fn rest(&self) -> Duration {
        Duration::MAX
    }

    fn attend(&mut self) {}

    fn status(&mut self) -> Status {
        Status::default()
    }

    fn kill(&mut self) -> bool {
        !self.has_ended
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn restart(&mut self, _saved: bool) -> Result<(), Error> {
        self.has_ended = false;
        Ok(())
    }

    fn set_program(&mut self, program: &Path) {
        self.program = Some(program.to_owned());
    }

    fn shutdown(self, _print: &mut dyn FnMut(&Printed)) -> Shutdown {
        Shutdown::default()
    }
}

fn accepting() -> Accepting {
    Accepting { loads: 0, has_ended: false, program: None, events: unbounded(), printed: never() }
}

/// Writes the sources of the host `rig`. `more` is the end of the host's manifest.
fn write_rig(dir: &Path, more: &str) {
    let rig = dir.join("rig");
    fs::create_dir_all(rig.join("src")).unwrap();
    let manifest = format!("[package]\nname = \"rig\"\nedition = \"2024\"\n[workspace]\n{more}");
    fs::write(rig.join("Cargo.toml"), manifest).unwrap();
    fs::write(rig.join("src/main.rs"), "fn main() {}").unwrap();
}

/// Opens a session of a package of scripts in `dir`, and of the host `rig`. Returns after the package was loaded. The build of the host
/// fails if its manifest is missing.
fn session(dir: &Path) -> Session<Accepting> {
    let (tale, rig) = (dir.join("Tale"), dir.join("rig"));
    fs::create_dir(&tale).unwrap();
    fs::create_dir_all(&rig).unwrap();
    fs::write(tale.join("Hero.uc"), "class Hero extends Object;").unwrap();
    let manifest = rig.join("Cargo.toml");
    let package = SourceCrate { name: "rig".into(), manifest, source_dirs: vec![rig], default_run: None };
    let sources = Sources::watch(vec![tale], Some(&package)).unwrap();
    let program = HostProgram { program: "/bin/false".into(), args: Vec::new() };
    let host = HostSources::new(package, program, false);
    let mut session = Session::open(sources, BuildOptions::default(), accepting(), Some(host)).unwrap();
    wait(&mut session, 1, "Started");
    session
}

/// Writes an empty plugin. `more` is the end of its manifest.
fn write_plugin(dir: &Path, more: &str) {
    fs::create_dir_all(dir.join("src")).unwrap();
    let name = dir.file_name().unwrap();
    let manifest = format!("[package]\nname = {name:?}\n[lib]\ncrate-type = [\"cdylib\"]\n{more}");
    fs::write(dir.join("Cargo.toml"), manifest).unwrap();
    fs::write(dir.join("src/lib.rs"), "").unwrap();
}

/// Opens a session of the plugins in `dirs`, without a host.
fn session_of_plugins(dirs: Vec<PathBuf>, target_dir: PathBuf) -> Session<Accepting> {
    let sources = Sources::watch(dirs, None).unwrap();
    let options = BuildOptions { target_dir: Some(target_dir), ..BuildOptions::default() };
    Session::open(sources, options, accepting(), None).unwrap()
}

/// Runs the session until the world has loaded `loads` builds and the event `last` has occurred.
fn wait(session: &mut Session<Accepting>, loads: usize, last: &str) {
    let (_sender, commands) = unbounded();
    let (end, mut seen) = (Instant::now() + Duration::from_secs(60), Vec::new());
    while session.world.loads < loads || seen.last().is_none_or(|event: &String| !event.starts_with(last)) {
        assert!(Instant::now() < end, "{} loads: {seen:?}", session.world.loads);
        if let Step::Event(event) = session.wait(&commands) {
            seen.push(format!("{event:?}"));
        }
    }
    assert_eq!(session.world.loads, loads, "{seen:?}");
}

#[test]
fn edits_are_loaded_although_the_new_host_does_not_build() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = session(dir.path());
    session.host.as_mut().unwrap().is_stale = true;
    session.restart_world();
    wait(&mut session, 1, "NotBuilt");
    fs::write(dir.path().join("Tale/Hero.uc"), "class Hero extends Object; var int Health;").unwrap();
    wait(&mut session, 2, "Started");
    assert!(session.host.is_some_and(|host| host.is_due), "the next edit of the host builds it");
}

#[test]
fn a_host_is_up_to_date_although_the_next_build_does_not_start() {
    let dir = tempfile::tempdir().unwrap();
    write_rig(dir.path(), "");
    let mut session = session(dir.path());
    // No program starts with a NUL in an argument.
    let manifest = "\0/Cargo.toml".into();
    let plugins = PluginFolder { manifest, plugins: Vec::new(), left_out: Vec::new() };
    let mut target = session.targets[1].clone();
    target.kind = Kind::Plugins(plugins);
    session.targets.push(target);
    session.options.target_dir = Some(dir.path().join("target"));
    session.stale.insert(2);
    session.host.as_mut().unwrap().is_stale = true;
    session.restart_world();
    wait(&mut session, 1, "NotBuilt(CargoNotRun");
    let host = session.host.unwrap();
    assert!(host.is_due && !host.is_stale && !host.has_failed, "{host:?}");
    assert_eq!(session.stale, [2].into());
}

#[test]
fn a_host_that_changed_during_a_pause_is_built_after_the_pause() {
    let dir = tempfile::tempdir().unwrap();
    write_rig(dir.path(), "");
    let mut session = session(dir.path());
    session.options.target_dir = Some(dir.path().join("target"));
    session.host.as_mut().unwrap().restarts = true;
    session.set_mode(Mode::Paused);
    fs::write(dir.path().join("rig/src/main.rs"), "fn main() { }").unwrap();
    wait(&mut session, 1, "HostChanged");
    session.set_mode(Mode::Automatic);
    wait(&mut session, 1, "Built");
    assert!(!session.host.unwrap().is_stale);
}

#[test]
fn a_deleted_library_is_built_with_the_next_edit_of_another_folder() {
    let dir = tempfile::tempdir().unwrap();
    let folder = |name: &str| dir.path().join(name);
    for name in ["one", "two"] {
        write_plugin(&folder(name), "[workspace]\n");
    }
    let mut session = session_of_plugins(vec![folder("one"), folder("two")], folder("target"));
    wait(&mut session, 1, "Started");
    fs::remove_file(&session.targets[1].artifacts[0].path).unwrap();
    fs::write(folder("one").join("src/lib.rs"), "pub fn turn() {}").unwrap();
    wait(&mut session, 2, "Started");
    assert!(session.targets[1].artifacts[0].path.exists());
}

#[test]
fn a_deleted_program_of_the_host_is_built_with_the_next_edit_or_restart() {
    let dir = tempfile::tempdir().unwrap();
    write_rig(dir.path(), "");
    let mut session = session(dir.path());
    session.options.target_dir = Some(dir.path().join("target"));
    let program = dir.path().join("target/debug/rig");
    session.host.as_mut().unwrap().program.program = program.clone();
    fs::write(dir.path().join("Tale/Hero.uc"), "class Hero extends Object; var int Health;").unwrap();
    wait(&mut session, 2, "Started");
    assert!(program.exists() && session.leaving.is_none());
    fs::remove_file(&program).unwrap();
    session.restart_world();
    wait(&mut session, 2, "Built");
    assert!(program.exists() && session.leaving.is_some());
}

#[test]
fn a_plugin_that_becomes_a_default_member_is_loaded_once() {
    let dir = tempfile::tempdir().unwrap();
    let folder = |name: &str| dir.path().join(name);
    for name in ["one", "two"] {
        write_plugin(&folder(name), "");
    }
    let write_root = |defaults: &str| {
        let manifest =
            format!("[workspace]\nresolver = \"3\"\nmembers = [\"one\", \"two\"]\ndefault-members = {defaults}\n");
        fs::write(folder("Cargo.toml"), manifest).unwrap();
    };
    write_root("[\"one\"]");
    let mut session = session_of_plugins(vec![folder(""), folder("two")], folder("target"));
    wait(&mut session, 1, "Started");
    write_root("[\"one\", \"two\"]");
    fs::write(folder("one").join("src/lib.rs"), "pub fn turn() {}").unwrap();
    wait(&mut session, 2, "Started");
    assert_eq!(session.loaded.len(), 2);
}

#[test]
fn a_lock_file_is_a_change_unless_the_build_may_write_it() {
    let dir = tempfile::tempdir().unwrap();
    let one = dir.path().canonicalize().unwrap().join("one");
    write_plugin(&one, "[workspace]\n");
    let mut session = session_of_plugins(vec![one.clone()], dir.path().join("target"));
    let (lock, manifest) = (one.join("Cargo.lock"), fs::read_to_string(one.join("Cargo.toml")).unwrap() + "# changed");
    for (loads, file, text, expected) in
        [(1, "src/lib.rs", "pub fn turn() {}", true), (2, "Cargo.toml", manifest.as_str(), false)]
    {
        wait(&mut session, loads, "Started");
        fs::write(one.join(file), text).unwrap();
        wait(&mut session, loads, "Building");
        session.source_event(SourceEvent { at: Instant::now(), path: lock.clone() });
        assert_eq!(session.debounce.take().contains(&lock), expected, "{file}");
    }
}

#[test]
fn a_renamed_program_of_the_host_runs_after_the_restart() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = session(dir.path());
    session.options.target_dir = Some(dir.path().join("target"));
    let mut restart = |more: &str, last: &str| {
        write_rig(dir.path(), more);
        session.host.as_mut().unwrap().is_stale = true;
        session.restart_world();
        wait(&mut session, 1, last);
        session.leaving = None;
        let host = session.host.as_ref().unwrap();
        assert_eq!(session.world.program.as_ref(), Some(&host.program.program));
        (host.program.program.file_stem().unwrap().to_owned(), host.is_stale)
    };
    let program = |name: &str| format!("[[bin]]\nname = {name:?}\npath = \"src/main.rs\"\n");
    assert_eq!(restart("", "Built"), ("rig".into(), false));
    assert_eq!(restart(&program("renamed"), "Built"), ("renamed".into(), false));
    // Keeps the older program if several new programs may be the host.
    let several = program("one") + &program("two");
    assert_eq!(restart(&several, "Failed"), ("renamed".into(), true));
}

#[test]
fn a_program_of_the_host_is_watched_in_another_folder() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut session = session(dir.path());
    let main = other.path().canonicalize().unwrap().join("rig/src/main.rs");
    let manifest = dir.path().canonicalize().unwrap().join("rig/Cargo.toml");
    let changed = |path: &Path| format!("HostChanged {{ changed: [{path:?}]");
    write_rig(other.path(), &format!("[[bin]]\nname = \"rig\"\npath = {main:?}\n"));
    fs::rename(other.path().join("rig/Cargo.toml"), &manifest).unwrap();
    wait(&mut session, 1, &changed(&manifest));
    fs::write(&main, "fn main() { }").unwrap();
    wait(&mut session, 1, &changed(&main));
    // The manifest is watched although no source is below its folder.
    fs::write(&manifest, fs::read(&manifest).unwrap()).unwrap();
    wait(&mut session, 1, &changed(&manifest));
}

#[test]
fn a_host_whose_build_never_ran_has_not_failed() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = session(dir.path());
    let job = Job::start(None, &[], &[0].into(), &session.targets, &session.options).unwrap().unwrap();
    let source = std::io::ErrorKind::NotFound.into();
    session.not_built(job, BuildError::CargoNotRun { program: "cargo".into(), source });
    assert!(!session.host.unwrap().has_failed);
    assert_eq!(session.stale, [0].into());
}

#[test]
fn a_build_during_a_restart_waits_for_the_new_process() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = session(dir.path());
    session.leaving = Some(Duration::MAX);
    let save = |health: &str| {
        let text = format!("class Hero extends Object; var int {health};");
        fs::write(dir.path().join("Tale/Hero.uc"), text).unwrap();
    };
    save("Health");
    wait(&mut session, 1, "Built");
    let killed = || WorldEvent::Ended(End::Ordered(ExitStatus::from_raw(9)));
    for event in [WorldEvent::Host(FromHost::Saved, Instant::now()), killed()] {
        session.world.events.0.send(event).unwrap();
    }
    wait(&mut session, 2, "Started");
    // The killed process has not ended yet.
    session.kill(Killing::Requested);
    save("Strength");
    wait(&mut session, 2, "Built");
    // A second kill comes after the end, and before the event.
    session.world.has_ended = true;
    session.kill(Killing::Hang);
    session.world.events.0.send(killed()).unwrap();
    wait(&mut session, 3, "Stopped");
    wait(&mut session, 3, "Started");
}

#[test]
fn a_build_after_a_crash_is_not_to_blame_for_the_crash() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = session(dir.path());
    // The crash is reported later, because the report contains a backtrace.
    session.world.has_ended = true;
    fs::write(dir.path().join("Tale/Hero.uc"), "class Hero extends Object; var int Health;").unwrap();
    wait(&mut session, 1, "Built");
    let crash = WorldEvent::Ended(End::Ordered(ExitStatus::from_raw(101 << 8)));
    session.world.events.0.send(crash).unwrap();
    wait(&mut session, 2, "Started");
}

#[test]
fn a_new_host_is_suspected_before_the_build_of_the_plugins() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = session(dir.path());
    let host = session.host.as_mut().unwrap();
    host.is_due = true;
    assert!(host.begin_restart());
    let panic = || WorldEvent::Ended(End::Ordered(ExitStatus::from_raw(101 << 8)));
    session.world.events.0.send(panic()).unwrap();
    wait(&mut session, 2, "HostSuspected");
    wait(&mut session, 2, "Restarted { generation: Some(1) }");
    session.world.events.0.send(panic()).unwrap();
    wait(&mut session, 2, "Restarted { generation: None }");
}

#[test]
fn plugins_that_were_built_with_older_glue_are_built_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = session(dir.path());
    let job = Job::start(None, &[], &[1].into(), &session.targets, &session.options).unwrap().unwrap();
    session.rewritten.push(dir.path().join("Tale/glue.rs"));
    let (rendered, command, inputs) = (String::new(), String::new(), Vec::new());
    session.not_built(job, BuildError::DoesNotCompile { rendered, command, inputs });
    assert!(session.job.is_some() && session.stale.is_empty());
}
