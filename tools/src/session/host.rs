//! Handles a host that the session builds from sources: its source changes, its glue, and its restart.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use alcedo_build::{Artifact, BuildError, SourceCrate};
use alcedo_runtime::development::link::ToHost;

use super::job::Job;
use super::{Event, Killing, Mode, Session, file_version, targets};
use crate::error::Error;
use crate::glue;
use crate::host_program::program_of;
use crate::world::{HostProgram, World};

/// Time limit for saving the world before a restart.
const SAVES: Duration = Duration::from_secs(3);

/// The host and the state of its program.
#[derive(Debug)]
pub(crate) struct HostSources {
    pub(super) package: SourceCrate,
    program: HostProgram,
    /// Set if the user has requested that changes to the host's sources restart the host.
    restarts: bool,
    /// Set if the sources have changed since the program was built.
    pub(super) is_stale: bool,
    /// Set if the host must be restarted after all stale targets were built.
    pub(super) is_due: bool,
    /// Set if the last build of the host has failed, and no source of the host has changed since. Plugins are built for the running host.
    pub(super) has_failed: bool,
    /// Set after a build has replaced the program, until a plugin is reloaded or the world crashes.
    pub(super) is_new: bool,
    /// Set if the last queried build of the host has answered. `None` before the first query.
    answers: Option<bool>,
}

impl HostSources {
    pub(crate) fn new(package: SourceCrate, program: HostProgram, restarts: bool) -> Self {
        Self {
            package,
            program,
            restarts,
            is_stale: false,
            is_due: false,
            has_failed: false,
            is_new: false,
            answers: None,
        }
    }

    /// Returns the host's program in the form of a build result.
    pub(super) fn artifact(&self) -> Artifact {
        Artifact { package: self.package.name.clone(), path: self.program.program.clone(), fresh: true }
    }

    /// Updates the package, because a changed manifest may specify another name, or programs in other folders.
    ///
    /// # Errors
    /// Fails if cargo cannot read the manifest. The package is then unchanged.
    pub(super) fn find_again(&mut self) -> Result<(), BuildError> {
        if let Some(package) = SourceCrate::host(&self.package.manifest)? {
            self.package = package;
        }
        Ok(())
    }

    /// Requests a restart after the next build. Queries the program first, because the build replaces the program.
    fn restart_after_build(&mut self) {
        let program = &self.program;
        self.answers.get_or_insert_with(|| glue::host_types(program).is_ok());
        (self.is_due, self.has_failed) = (true, false);
    }

    /// Returns true if a restart is due. The restarted process runs the new program.
    pub(super) fn begin_restart(&mut self) -> bool {
        let restarts = !self.has_failed && std::mem::take(&mut self.is_due);
        self.is_new |= restarts;
        restarts
    }
}

impl<W: World> Session<W> {
    /// Restarts the world's process with the last good build. If sources of the host have changed, builds the host and its plugins before
    /// the restart.
    pub(crate) fn restart_world(&mut self) {
        match &mut self.host {
            Some(host) if host.is_stale && self.hang.is_none() => {
                host.restart_after_build();
                self.stale.extend(self.host_target());
                self.build(None, Vec::new());
            }
            _ if self.hang.is_some() => self.kill(Killing::Hang),
            _ => self.leave(),
        }
    }

    /// At the end of a pause, requests a build and a restart of a host that has changed, if changes restart the host.
    pub(super) fn resume_host(&mut self) {
        let is_stale = |host: &&mut HostSources| host.restarts && host.is_stale && !host.is_due;
        if self.mode == Mode::Automatic
            && let Some(host) = self.host.as_mut().filter(is_stale)
        {
            host.restart_after_build();
            self.stale.extend(self.host_target());
        }
    }

    /// Requests a save of the world. After the save, kills the process of the world. A second call or a timeout kills the process without
    /// waiting for the save.
    pub(super) fn leave(&mut self) {
        match self.leaving.take() {
            Some(_) => self.kill(Killing::Requested),
            None => {
                self.leaving = Some(self.now() + SAVES);
                self.world.request(ToHost::Save);
            }
        }
    }

    /// Kills the world's process if the save before a restart is complete or has exceeded its time limit.
    pub(super) fn left(&mut self, is_saved: bool) {
        let now = self.now();
        if self.leaving.take_if(|until| is_saved || *until <= now).is_some() {
            self.kill(Killing::Requested);
        }
    }

    /// Records a change to the host's sources if the host is among the `affected` targets. Removes the host from `affected` if the host
    /// need not be built now.
    pub(super) fn note_host(&mut self, affected: &mut BTreeSet<usize>, changed: &[PathBuf]) {
        let Some(target) = self.host_target().filter(|target| affected.contains(target)) else { return };
        let Some(host) = &mut self.host else { return };
        (host.is_stale, host.has_failed) = (true, false);
        if host.restarts && self.mode == Mode::Automatic {
            host.restart_after_build();
        }
        if !host.is_due {
            affected.remove(&target);
            self.events.push_back(Event::HostChanged { changed: changed.to_vec() });
        }
    }

    fn host_target(&self) -> Option<usize> {
        self.targets.iter().position(|target| target.is_host())
    }

    /// Returns the indices of all targets except the host's.
    pub(super) fn plugin_targets(&self) -> BTreeSet<usize> {
        (0..self.targets.len()).filter(|at| !self.targets[*at].is_host()).collect()
    }

    /// Updates the glue for types of the host if these types have changed.
    pub(super) fn rewrite_glue(&mut self) {
        let Some(host) = &mut self.host else { return };
        let origin = glue::host_origin(&host.program);
        let glue = glue::glue_of(&targets::sources(&self.targets), &origin);
        let has_answered = host.answers == Some(true);
        // Queries a build that will replace the running host even if no glue exists.
        if glue.is_empty() && !(has_answered && host.is_due) {
            return;
        }
        let types = glue::host_types(&host.program);
        if has_answered && types.is_err() {
            // Keeps the running host, because the new build ended without an answer, although an earlier build answered.
            (host.is_due, host.is_stale) = (false, true);
        } else {
            host.answers = Some(types.is_ok());
        }
        let written = types.and_then(|types| glue::write_again(&glue, &origin, &types));
        self.note_glue(written);
    }

    /// Updates the glue for the modules of a target if their types have changed since the last build. The watch then reports the glue as
    /// changed.
    pub(super) fn rewrite_module_glue(&mut self, target: usize) {
        for artifact in self.targets[target].artifacts.clone() {
            // Compares file versions instead of using `fresh`, because a failed or canceled build may have written the library.
            let version = file_version(&artifact.path);
            let known = self.declared.get(&artifact.path);
            if !artifact.path.is_file() || known.is_some_and(|(known, _)| *known == version) {
                continue;
            }
            // Skips a library that cannot be read, because the host rejects this library when it is loaded.
            let Ok((origin, declared)) = glue::of_module(&artifact.path) else { continue };
            let before = self.declared.insert(artifact.path, (version, declared.clone()));
            if before.is_some_and(|(_, before)| before != declared) {
                let written = glue::rewrite(&targets::sources(&self.targets), &origin, &declared);
                self.note_glue(written);
            }
        }
    }

    fn note_glue(&mut self, written: Result<Vec<PathBuf>, Error>) {
        match written {
            Ok(written) if written.is_empty() => {}
            Ok(written) => {
                self.events.push_back(Event::GlueWritten { files: written.clone() });
                self.written.extend(written.iter().map(|path| (path.clone(), file_version(path))));
                let mut affected = targets::affected(&self.targets, &written);
                self.note_host(&mut affected, &written);
                if !affected.is_empty() {
                    self.rewritten.extend(written);
                }
                // Builds the affected targets after the running job, which may have used the older glue.
                self.stale.extend(affected);
            }
            Err(error) => self.events.push_back(Event::Failed { error: error.to_string() }),
        }
    }

    /// Records the host's program, whose name may have changed. Also records if the program is up to date. If the types of the host have
    /// changed, updates the glue and builds all plugins.
    pub(super) fn host_built(&mut self, target: usize) {
        if let Some(host) = &mut self.host {
            host.is_stale = self.stale.contains(&target);
            match program_of(&host.package, &self.targets[target].artifacts) {
                Ok(program) => {
                    self.world.set_program(&program);
                    host.program.program = program;
                }
                Err(error) => {
                    // Keeps the running host. The key k builds the host again.
                    (host.is_due, host.is_stale) = (false, true);
                    self.events.push_back(Event::Failed { error: error.to_string() });
                }
            }
        }
        self.rewrite_glue();
        if !self.rewritten.is_empty() {
            self.stale.extend(self.plugin_targets());
            self.build(None, Vec::new());
        }
    }

    /// Reports that the first unbuilt target of the job was not built. If this target is the host, builds the stale plugins for the running
    /// host. The next change of the host's sources then builds the host. A host whose build never ran remains due.
    pub(super) fn not_built(&mut self, job: Job, error: BuildError) {
        let has_run = !matches!(error, BuildError::CargoNotRun { .. });
        let failed = job.unbuilt.first().copied().filter(|target| has_run && self.targets[*target].is_host());
        self.stale.extend(job.unbuilt);
        self.debounce.build_ended();
        if let BuildError::DoesNotCompile { inputs, .. } = &error {
            self.watch.add_inputs(inputs.iter().cloned());
        }
        self.events.push_back(Event::NotBuilt(error));
        let Some(target) = failed else { return };
        self.host.iter_mut().for_each(|host| host.has_failed = true);
        self.stale.remove(&target);
        self.build(job.edited, Vec::new());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::process::ExitStatusExt as _;
    use std::path::{Path, PathBuf};
    use std::process::ExitStatus;
    use std::time::{Duration, Instant};

    use alcedo_build::{BuildError, PluginFolder, SourceCrate};
    use alcedo_runtime::development::link::{FromHost, Status, ToHost};
    use crossbeam_channel::{Receiver, Sender, never, unbounded};

    use super::{HostSources, Session};
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

        fn kill(&mut self) {}

        fn restart(&mut self, _saved: bool) -> Result<(), Error> {
            Ok(())
        }

        fn set_program(&mut self, program: &Path) {
            self.program = Some(program.to_owned());
        }

        fn shutdown(self, _print: &mut dyn FnMut(&Printed)) -> Shutdown {
            Shutdown::default()
        }
    }

    /// Writes the sources of the host `rig`. `more` is the end of the host's manifest.
    fn write_rig(dir: &Path, more: &str) {
        let rig = dir.join("rig");
        fs::create_dir_all(rig.join("src")).unwrap();
        let manifest = format!("[package]\nname = \"rig\"\nedition = \"2024\"\n[workspace]\n{more}");
        fs::write(rig.join("Cargo.toml"), manifest).unwrap();
        fs::write(rig.join("src/main.rs"), "fn main() {}").unwrap();
    }

    /// Opens a session of a package of scripts in `dir`, and of the host `rig`. The build of the host fails if its manifest is missing.
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
        let world = Accepting { loads: 0, program: None, events: unbounded(), printed: never() };
        Session::open(sources, BuildOptions::default(), world, Some(host)).unwrap()
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
        wait(&mut session, 1, "Started");
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
        wait(&mut session, 1, "Started");
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
        wait(&mut session, 1, "Started");
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
            fs::create_dir_all(folder(name).join("src")).unwrap();
            let manifest = format!("[package]\nname = {name:?}\n[lib]\ncrate-type = [\"cdylib\"]\n[workspace]\n");
            fs::write(folder(name).join("Cargo.toml"), manifest).unwrap();
            fs::write(folder(name).join("src/lib.rs"), "").unwrap();
        }
        let sources = Sources::watch(vec![folder("one"), folder("two")], None).unwrap();
        let options = BuildOptions { target_dir: Some(folder("target")), ..BuildOptions::default() };
        let world = Accepting { loads: 0, program: None, events: unbounded(), printed: never() };
        let mut session = Session::open(sources, options, world, None).unwrap();
        wait(&mut session, 1, "Started");
        fs::remove_file(&session.targets[1].artifacts[0].path).unwrap();
        fs::write(folder("one").join("src/lib.rs"), "pub fn turn() {}").unwrap();
        wait(&mut session, 2, "Started");
        assert!(session.targets[1].artifacts[0].path.exists());
    }

    #[test]
    fn a_renamed_program_of_the_host_runs_after_the_restart() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = session(dir.path());
        wait(&mut session, 1, "Started");
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
        wait(&mut session, 1, "Started");
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
        wait(&mut session, 1, "Started");
        let job = Job::start(None, &[0].into(), &session.targets, &session.options).unwrap().unwrap();
        let source = std::io::ErrorKind::NotFound.into();
        session.not_built(job, BuildError::CargoNotRun { program: "cargo".into(), source });
        assert!(!session.host.unwrap().has_failed);
        assert_eq!(session.stale, [0].into());
    }

    #[test]
    fn a_build_during_a_restart_waits_for_the_new_process() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = session(dir.path());
        wait(&mut session, 1, "Started");
        session.leaving = Some(Duration::MAX);
        fs::write(dir.path().join("Tale/Hero.uc"), "class Hero extends Object; var int Health;").unwrap();
        wait(&mut session, 1, "Built");
        let killed = WorldEvent::Ended(End::Ordered(ExitStatus::from_raw(9)));
        for event in [WorldEvent::Host(FromHost::Saved, Instant::now()), killed] {
            session.world.events.0.send(event).unwrap();
        }
        wait(&mut session, 2, "Started");
    }

    #[test]
    fn a_new_host_is_suspected_before_the_build_of_the_plugins() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = session(dir.path());
        wait(&mut session, 1, "Started");
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
}
