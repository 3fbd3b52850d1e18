//! Provides a running host and a candidate file. Each scene runs in a separate process, so a crash of the host fails only one test.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use alcedo_runtime::{
    Error, FoundModule, LoadError, ObjectHandle, Outcome, Phase, Runtime, Value, VersionReq, process, seal_file,
};
use tempfile::TempDir;

use crate::support;

/// Environment variable with the path of the file that the witness writes. Only child processes have this variable.
const WITNESS: &str = "ALCEDO_WITNESS";
/// Environment variables with the paths of the healthy plugin of the old generation, and of the witness that is to replace it.
pub(super) const OLD: &str = "CORRUPTION_OLD";
const NEW: &str = "CORRUPTION_NEW";

/// Timeout for a busy machine. A successful test ends much earlier.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// Size of the seal that is appended to a library: magic and digest.
pub(super) const SEAL: usize = 24;

/// Running host with a candidate file, which is to replace the host's plugin.
pub(super) struct Scene {
    pub(super) host: Runtime,
    pub(super) object: ObjectHandle,
    pub(super) pokes: u32,
    /// The witness as built: a complete library with its seal.
    pub(super) whole: Vec<u8>,
    pub(super) file: PathBuf,
    pub(super) witness: PathBuf,
    pub(super) dir: TempDir,
}

/// Runs `body` in a child process with the unchanged witness as the candidate.
pub(super) fn scene(test: &str, body: fn(&mut Scene)) {
    scene_of(test, || support::plugin("broken", &["witness"]), body);
}

/// Runs the scene with the candidate that `new` returns. The parent process builds all libraries, so that the environment of the child does
/// not affect the builds.
pub(super) fn scene_of(test: &str, new: fn() -> PathBuf, body: fn(&mut Scene)) {
    if let Some(witness) = env::var_os(WITNESS) {
        return body(&mut Scene::new(witness.into()));
    }
    let dir = TempDir::new().expect("a temporary directory");
    let mut child = Command::new(env::current_exe().expect("this program"));
    child
        .args([&*support::full_name(super::MODULE, test), "--exact", "--nocapture"])
        .env(WITNESS, dir.path().join("witness"));
    let child = child.env(OLD, support::plugin("broken", &[])).env(NEW, new()).output().expect("this program runs");
    let output = format!("{}{}", String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
    let passed = child.status.success() && output.contains("1 passed");
    assert!(passed, "{test}, in a process of its own, ended with {}:\n{output}", child.status);
}

impl Scene {
    fn new(witness: PathBuf) -> Self {
        let path = |name| PathBuf::from(env::var_os(name).expect("set by the parent process"));
        let host = support::host(&[path(OLD)]);
        let object = host.objects().spawn("/Script/Game.Fragile").expect("an object");
        let dir = TempDir::new().expect("a temporary directory");
        let whole = fs::read(path(NEW)).expect("the parent built it");
        assert!(whole[whole.len() - SEAL..].starts_with(b"ALCSEAL"), "what `alcedo build` makes is sealed");
        Self { host, object, pokes: 0, whole, file: dir.path().join("libbroken.so"), witness, dir }
    }

    /// Returns the witness without its seal. The result is still a complete library.
    pub(super) fn body(&self) -> &[u8] {
        &self.whole[..self.whole.len() - SEAL]
    }

    pub(super) fn put(&self, bytes: &[u8]) {
        fs::write(&self.file, bytes).expect("the test directory is writable");
    }

    /// Writes the bytes with a valid seal, like a correct tool that has received a bad library.
    pub(super) fn put_sealed(&self, bytes: &[u8]) {
        self.put(bytes);
        seal_file(&self.file).expect("the test directory is writable");
    }

    /// Reloads from the current file. The host must refuse the file with this message, and the old generation must continue.
    pub(super) fn is_refused(&mut self, what: &str, expected: &str) {
        self.path_is_refused(&self.file.clone(), what, expected);
    }

    pub(super) fn path_is_refused(&mut self, path: &Path, what: &str, expected: &str) {
        let before = (self.host.generation(), self.host.objects().iter().collect::<Vec<_>>());
        let report = self.host.reload(&[path]).expect("there is a Master, and it may be reloaded");
        match &report.outcome {
            Outcome::RolledBack { phase: Phase::Stage, error } => assert!(error.contains(expected), "{what}: {error}"),
            _ => panic!("{what}: {report}"),
        }
        assert!(!self.witness.exists(), "{what}: its initializer ran");
        assert_eq!((self.host.generation(), self.host.objects().iter().collect::<Vec<_>>()), before, "{what}");
        self.old_generation_answers(what);
    }

    /// Checks that the counter of the old generation continues. A lost or new plugin part would restart the counter.
    pub(super) fn old_generation_answers(&mut self, what: &str) {
        self.pokes += 1;
        let answer =
            self.host.objects().call(self.object, "poke", &[]).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(answer, Some(Value::U32(self.pokes)), "{what}");
    }

    /// Checks the refusal like `is_refused`. Also checks the error type on a second host, which has no loaded modules.
    pub(super) fn is_refused_as(&mut self, what: &str, expected: &str, is: fn(&LoadError) -> bool) {
        self.is_refused(what, expected);
        let file = &self.file;
        let create = || {
            let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
            match host.create_master(&[file]) {
                Err(Error::Load(error)) => assert!(is(&error), "{what}: {error:?}"),
                other => panic!("{what}: {other:?}"),
            }
        };
        // Each host needs a separate thread.
        thread::scope(|scope| scope.spawn(create).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        assert!(!self.witness.exists(), "{what}: its initializer ran");
    }

    /// Checks that a second host refuses the file with this message in every kind of context. No code in the file may run.
    pub(super) fn is_refused_by(&self, host: &(dyn Fn() -> Runtime + Sync), what: &str, expected: &str) {
        let file = &self.file;
        let refusals = || {
            let (host, bytes) = (host(), fs::read(file).expect("it is there"));
            let (contexts, named) = (host.contexts(), file.clone());
            let (slim, default) = (contexts.create_slim("slim").expect("a new name"), contexts.default_context());
            slim.set_resolver(move |_| Ok(Some(FoundModule::File(named.clone()))));
            vec![
                host.create_master(&[file]).map(drop).map_err(|error| error.to_string()),
                slim.load_path(file).map(drop).map_err(|error| error.to_string()),
                slim.load_bytes(&file.to_string_lossy(), &bytes, None).map(drop).map_err(|error| error.to_string()),
                slim.load_name("broken", &VersionReq::STAR).map(drop).map_err(|error| error.to_string()),
                slim.replace(file).map(drop).map_err(|error| error.to_string()),
                default.load_path(file).map(drop).map_err(|error| error.to_string()),
            ]
        };
        let results = thread::scope(|scope| scope.spawn(refusals).join()).expect("no panic");
        for (entry_point, result) in results.into_iter().enumerate() {
            let error = result.expect_err(what);
            assert!(error.contains("libbroken.so") && error.contains(expected), "{what}, door {entry_point}: {error}");
        }
        assert!(!self.witness.exists(), "{what}: its initializer ran");
    }

    /// Ends a scene. Checks that only the old generation is mapped. Then loads the unchanged file and calls the witness, which proves that
    /// only the damage caused the refusals.
    pub(super) fn assert_unchanged_file_loads(&mut self) {
        let mapped = process::stale_mappings(&self.host.stage_dir()).expect("the process map");
        assert_eq!(
            (mapped.len(), self.host.unloads().parked()),
            (1, vec![]),
            "only the old generation is mapped: {mapped:?}"
        );
        self.put(&self.whole);
        self.assert_loads();
    }

    pub(super) fn assert_loads(&mut self) {
        self.host.reload(&[&self.file]).expect("a Master").into_result().unwrap_or_else(|report| panic!("{report}"));
        assert!(self.witness.exists(), "the witness did not testify");
        self.old_generation_answers("the new generation, with the count of the old");
    }
}
