//! Host processes, each with its own folder. A host is a process of this test program that runs only the test `registry::host_process`.

use std::env;
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use alcedo_runtime::development::plain_file::sha256;
use alcedo_runtime::{Budget, Canary, HealthWatch, HostStatus, ModuleState, PublicKey, Runtime};
use serde_json::Value;
use tempfile::TempDir;

use super::load;

/// Environment variables of a host: its folder, the key that it trusts, and a flag. If the flag is set, builds with a crash abort.
const FOLDER: &str = "ALCEDO_FOLLOWED";
const KEY: &str = "ALCEDO_FOLLOWED_KEY";
pub(super) const CRASH: &str = "ALCEDO_FOLLOWED_CRASH";

/// Library of each host.
const LIBRARY: &str = "libmagic_cube.so";

const WINDOW: Duration = Duration::from_millis(2500);

/// Time after which a build with a dark lamp is unhealthy, for the reason [`IS_DARK`]. This time is shorter than the health window.
const DARK_FOR: Duration = Duration::from_secs(2);
pub(super) const IS_DARK: &str = "the lamp is dark";

/// Runs a host while the process exists. Returns immediately in an ordinary run of the tests.
pub(super) fn run_host() {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else { return };
    let key: PublicKey = env::var(KEY).unwrap().parse().unwrap();
    let socket = TcpListener::from(io::stdin().as_fd().try_clone_to_owned().unwrap());
    socket.set_nonblocking(true).unwrap();
    let builder = Runtime::builder().package("Game").natives(alcedo_engine::natives()).trust(key);
    // Extends the time limit of canaries, because eight canaries may run at the same time.
    let builder = builder.canary(Canary::Program(env!("CARGO_BIN_EXE_alcedo").into()));
    let runtime = builder.canary_deadline(Duration::from_secs(60)).build().unwrap();
    runtime.create_master(&[folder.join("plugins").join(LIBRARY)]).unwrap();
    runtime.objects().spawn("/Script/Game.MagicCube").unwrap();
    let mut dark_since: Option<Instant> = None;
    let check = move |runtime: &Runtime| -> Result<(), String> {
        let lit = runtime.calls().call("nm:/magic_cube:MagicCube:lamp_is_lit", &[]);
        if lit.map_err(|error| error.to_string())? == Some(alcedo_runtime::Value::Bool(true)) {
            dark_since = None;
        } else if dark_since.get_or_insert_with(Instant::now).elapsed() >= DARK_FOR {
            dark_since = None;
            return Err(IS_DARK.to_owned());
        }
        Ok(())
    };
    runtime.watch_health(HealthWatch::new(WINDOW, check).status_file(folder.join("status.json"))).unwrap();
    loop {
        runtime.tick(Budget::frame());
        load::answer_all(&socket, &runtime);
        thread::sleep(Duration::from_millis(5));
    }
}

/// A host and its supervisor.
struct Host {
    folder: PathBuf,
    /// Socket that each process of the host receives as its standard input. While no process runs, requests wait in the socket.
    socket: TcpListener,
    process: Child,
    crashes: bool,
    restarts: u32,
}

impl Host {
    fn start(folder: &Path, socket: &TcpListener, key: PublicKey, crashes: bool) -> Child {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["registry::host_process", "--exact", "--ignored", "--nocapture"]);
        // Runs only the tests of this file. With this variable, the test harness runs these tests in this process and not in a child
        // process.
        command.env("ALCEDO_TEST_PART", "registry").env(FOLDER, folder).env(KEY, key.to_string());
        if crashes {
            command.env(CRASH, "1");
        }
        let log = fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
        let socket = OwnedFd::from(socket.try_clone().unwrap());
        command.stdin(Stdio::from(socket)).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
    }

    fn status(&self) -> Option<HostStatus> {
        HostStatus::read(&self.folder.join("status.json")).unwrap()
    }
}

/// Hosts, with a supervisor that restarts hosts after a crash.
pub(super) struct Fleet {
    pub(super) dir: TempDir,
    /// Number of hosts that receive a library at once, after the first host.
    pub(super) step: usize,
    hosts: Vec<Host>,
    key: PublicKey,
}

impl Fleet {
    /// Starts hosts with a library. Waits for the end of their first health windows. Builds with a crash abort the host at the index
    /// `crashing`.
    pub(super) fn start(count: usize, library: &Path, key: PublicKey, crashing: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let start = |at: usize| {
            let folder = dir.path().join(format!("host-{at}"));
            fs::create_dir_all(folder.join("plugins")).unwrap();
            fs::copy(library, folder.join("plugins").join(LIBRARY)).unwrap();
            let (crashes, socket) = (at == crashing, TcpListener::bind("127.0.0.1:0").unwrap());
            Host { process: Host::start(&folder, &socket, key, crashes), folder, socket, crashes, restarts: 0 }
        };
        let hosts = (0..count).map(start).collect();
        let mut fleet = Self { dir, step: 3, hosts, key };
        fleet.wait_until_running(&sha256(&fs::read(library).unwrap()));
        fleet
    }

    /// Waits for all hosts to report that the code of this file is healthy, and that no file is rejected.
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

    /// Restarts hosts that have crashed, as a supervisor of services does.
    fn tend(&mut self) {
        for host in &mut self.hosts {
            if host.process.try_wait().unwrap().is_some() {
                assert!(host.crashes, "a host has ended: {}", log(&host.folder));
                host.restarts += 1;
                thread::sleep(Duration::from_millis(500));
                host.process = Host::start(&host.folder, &host.socket, self.key, host.crashes);
            }
        }
    }

    /// Returns the addresses at which the hosts answer requests.
    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        self.hosts.iter().map(|host| host.socket.local_addr().unwrap()).collect()
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

    /// Writes a document that specifies this content for all hosts. A document with a new name starts without saved state.
    pub(super) fn document(&self, name: &str, reference: &str, patience: u64) -> PathBuf {
        let step = self.step;
        let mut text = format!("step = {step}\npatience = {patience}\n\n[modules]\nmagic_cube = \"{reference}\"\n");
        for host in &self.hosts {
            let (plugins, status) = (host.folder.join("plugins"), host.folder.join("status.json"));
            text += &format!("\n[[hosts]]\nplugins = {plugins:?}\nstatus = {status:?}\n");
        }
        let path = self.dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs `alcedo follow --once`, and calls `on_event` for each event. Returns the events as words such as `written host-0`. The flag is
    /// true if the command succeeded.
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
