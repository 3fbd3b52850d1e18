//! Host processes, each with its own folder. A host is this test program, which runs only the test `registry::host_process`.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use alcedo_runtime::development::plain_file::sha256;
use alcedo_runtime::{Budget, Canary, HealthWatch, HostStatus, ModuleState, PublicKey, Runtime};
use serde_json::Value;
use tempfile::TempDir;

/// Environment variables of a host: its folder, the key that it trusts, and a flag that lets build 1.3.0 abort.
const FOLDER: &str = "ALCEDO_FOLLOWED";
const KEY: &str = "ALCEDO_FOLLOWED_KEY";
const CRASH: &str = "ALCEDO_FOLLOWED_CRASH";

/// Library of each host.
const LIBRARY: &str = "libmagic_cube.so";

const WINDOW: Duration = Duration::from_secs(1);

/// Version that becomes unhealthy within its window, and the time until then.
const SICK: (&str, Duration) = ("1.2.0", Duration::from_millis(300));

/// Runs a host until the process is killed. Returns at once in an ordinary run of the tests.
pub(super) fn run_host() {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else { return };
    let key: PublicKey = env::var(KEY).unwrap().parse().unwrap();
    let builder = Runtime::builder().package("Game").natives(alcedo_engine::natives()).trust(key);
    // Eight canaries may run at a time.
    let builder = builder.canary(Canary::Program(env!("CARGO_BIN_EXE_alcedo").into()));
    let runtime = builder.canary_deadline(Duration::from_secs(60)).build().unwrap();
    runtime.create_master(&[folder.join("plugins").join(LIBRARY)]).unwrap();
    runtime.objects().spawn("/Script/Game.MagicCube").unwrap();
    let mut sick_since = None;
    let check = move |runtime: &Runtime| {
        let version = runtime.modules().first().map(|module| module.version.to_string()).unwrap_or_default();
        if version != SICK.0 {
            sick_since = None;
            return Ok(());
        }
        let since = *sick_since.get_or_insert_with(Instant::now);
        if since.elapsed() < SICK.1 { Ok(()) } else { Err(format!("{version} has lost its lamp")) }
    };
    runtime.watch_health(HealthWatch::new(WINDOW, check).status_file(folder.join("status.json"))).unwrap();
    loop {
        runtime.tick(Budget::frame());
        thread::sleep(Duration::from_millis(5));
    }
}

/// Host and its supervisor.
struct Host {
    folder: PathBuf,
    process: Child,
    crashes: bool,
    restarts: u32,
}

impl Host {
    fn start(folder: &Path, key: PublicKey, crashes: bool) -> Child {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["registry::host_process", "--exact", "--ignored", "--nocapture"]);
        // The variable of the harness selects the tests of one file, so that the process runs its test itself.
        command.env("ALCEDO_TEST_PART", "registry").env(FOLDER, folder).env(KEY, key.to_string());
        if crashes {
            command.env(CRASH, "1");
        }
        let log = fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
    }

    fn status(&self) -> Option<HostStatus> {
        HostStatus::read(&self.folder.join("status.json")).unwrap()
    }
}

/// Hosts with a supervisor that starts dead hosts again.
pub(super) struct Fleet {
    pub(super) dir: TempDir,
    hosts: Vec<Host>,
    key: PublicKey,
}

impl Fleet {
    /// Starts hosts with a library, and waits until their first health windows are over. The host at `crashing` aborts in build 1.3.0.
    pub(super) fn start(count: usize, library: &Path, key: PublicKey, crashing: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let start = |at: usize| {
            let folder = dir.path().join(format!("host-{at}"));
            fs::create_dir_all(folder.join("plugins")).unwrap();
            fs::copy(library, folder.join("plugins").join(LIBRARY)).unwrap();
            let crashes = at == crashing;
            Host { process: Host::start(&folder, key, crashes), folder, crashes, restarts: 0 }
        };
        let hosts = (0..count).map(start).collect();
        let mut fleet = Self { dir, hosts, key };
        fleet.wait_until_running(&sha256(&fs::read(library).unwrap()));
        fleet
    }

    /// Waits until all hosts report healthy code of this file, with no rejected file.
    pub(super) fn wait_until_running(&mut self, digest: &str) {
        let end = Instant::now() + Duration::from_secs(120);
        loop {
            self.tend();
            let runs = |host: &Host| {
                host.status().is_some_and(|status| {
                    let module = &status.modules[0];
                    (&*module.digest, &module.state, &module.rejected) == (digest, &ModuleState::Running, &None)
                        && status.process == host.process.id()
                })
            };
            if self.hosts.iter().all(runs) {
                return;
            }
            assert!(Instant::now() < end, "the hosts do not run {digest}: {}", self.report());
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Starts dead hosts again, as a supervisor of services would.
    fn tend(&mut self) {
        for host in &mut self.hosts {
            if host.process.try_wait().unwrap().is_some() {
                assert!(host.crashes, "a host has ended: {}", log(&host.folder));
                host.restarts += 1;
                thread::sleep(Duration::from_millis(500));
                host.process = Host::start(&host.folder, self.key, host.crashes);
            }
        }
    }

    /// Returns the number of restarts of each host.
    pub(super) fn restarts(&self) -> Vec<u32> {
        self.hosts.iter().map(|host| host.restarts).collect()
    }

    /// Returns the digests of the files of all hosts.
    pub(super) fn files(&self) -> Vec<String> {
        let file = |host: &Host| sha256(&fs::read(host.folder.join("plugins").join(LIBRARY)).unwrap());
        self.hosts.iter().map(file).collect()
    }

    fn report(&self) -> String {
        let line = |host: &Host| format!("\n{:?}\n{}", host.status(), log(&host.folder));
        self.hosts.iter().map(line).collect()
    }

    /// Writes a document that names this content for all hosts. Another name begins without saved state.
    pub(super) fn document(&self, name: &str, reference: &str, patience: u64) -> PathBuf {
        let mut text = format!("step = 3\npatience = {patience}\n\n[modules]\nmagic_cube = \"{reference}\"\n");
        for host in &self.hosts {
            let (plugins, status) = (host.folder.join("plugins"), host.folder.join("status.json"));
            text += &format!("\n[[hosts]]\nplugins = {plugins:?}\nstatus = {status:?}\n");
        }
        let path = self.dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs `alcedo follow --once`, and calls `on_event` for each event. Returns the events as words such as `written host-0`, and whether the
    /// command succeeded.
    pub(super) fn follow(
        &mut self,
        document: &Path,
        key: &Path,
        more: &[&str],
        mut on_event: impl FnMut(&str),
    ) -> (bool, Vec<String>) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
        command.args(["follow", "--once", "--json"]).args(more).arg("--trust").arg(key).arg(document);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut events = Vec::new();
        loop {
            match lines.recv_timeout(Duration::from_millis(50)) {
                Ok(line) => {
                    let event = words(&serde_json::from_str(&line).unwrap());
                    on_event(&event);
                    events.push(event);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.tend();
        }
        (child.wait().unwrap().success(), events)
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for host in &mut self.hosts {
            let _ = host.process.kill();
            let _ = host.process.wait();
        }
    }
}

/// Formats an event: its name, the name of the host's folder, and the reason or error.
fn words(event: &Value) -> String {
    let text = |field: &str| event[field].as_str().unwrap_or_default();
    let host = text("host").rsplit('/').nth(1).unwrap_or_default();
    let words = [text("event"), host, text("version"), text("reason"), text("error")];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn log(folder: &Path) -> String {
    fs::read_to_string(folder.join("log")).unwrap_or_default()
}
