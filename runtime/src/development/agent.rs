//! Host part of `alcedo dev`. A thread reads the requests from `alcedo dev`, and the game thread executes these requests at its safe
//! points.

use std::cell::Cell;
use std::io;
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::autosave::{Autosave, Due};
use super::builds::running_builds;
use super::link::{FromHost, HangOf, SOCKET, Status, ToHost, VERSION, receive, send};
use super::stream::{Stream, connect};
use crate::cells::RefCell;
use crate::error::Error;
use crate::load::context::event::{ContextEvent, ContextEventKind};
use crate::poster::Poster;
use crate::reload::requests::ReloadScope;
use crate::runtime::Runtime;
use crate::sync::lock;
use crate::watchdog::{GAME_THREAD, Hang};
use crate::world::WorldLoadReport;

const GLANCE: Duration = Duration::from_millis(200);
/// Timeout for the greeting. A running `alcedo dev` always answers earlier. If `alcedo dev` has exited, the timeout limits the time for
/// which the host waits.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time that the host has for an orderly shutdown after `alcedo dev` has ended. When the time has passed, the process exits.
const GRACE: Duration = Duration::from_secs(3);

/// Maximum length of a text in a message in bytes. A message that exceeds the limit of the protocol would end the session.
const LONGEST_TEXT: usize = 1 << 20;

/// Connection to `alcedo dev` after both sides have exchanged greetings. An environment variable specifies the socket.
pub(crate) struct Invitation {
    voice: Voice,
    from: Stream,
    autosave: Option<PathBuf>,
    live: Rc<Cell<Option<Instant>>>,
}

/// Sends messages to `alcedo dev`. Usable on any thread.
#[derive(Clone)]
struct Voice(Arc<Mutex<Stream>>);

impl Voice {
    /// Sends a message to `alcedo dev`. If sending fails, closes the connection. The reading thread then detects the closed connection, and
    /// ends.
    fn send(&self, message: &FromHost) {
        let mut stream = lock(&self.0);
        if send(&mut *stream, message).is_err() {
            let _ended = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Invitation {
    /// Connects to `alcedo dev` and exchanges greetings. Returns `None` if the environment specifies no socket. Returns an error if `alcedo
    /// dev` cannot be reached, or if its protocol version differs.
    pub(crate) fn from_environment() -> Result<Option<Self>, Error> {
        let Some(socket) = std::env::var_os(SOCKET) else { return Ok(None) };
        let socket = PathBuf::from(socket);
        let failed = |source| Error::System { doing: format!("joining `alcedo dev` at {}", socket.display()), source };
        Self::greet(&socket).map(Some).map_err(failed)
    }

    fn greet(socket: &Path) -> io::Result<Self> {
        let mut from = connect(socket).map_err(|error| match error.kind() {
            // `alcedo dev` removes the socket when its host has connected, and the child processes of the host inherit the variable.
            io::ErrorKind::NotFound => io::Error::other(format!(
                "its only host has joined, or it has ended: remove {SOCKET} from the environment of this process"
            )),
            _ => error,
        })?;
        let voice = Voice(Arc::new(Mutex::new(from.try_clone()?)));
        from.set_read_timeout(Some(PATIENCE))?;
        from.set_write_timeout(Some(PATIENCE))?;
        voice.send(&FromHost::Hello { version: VERSION, runtime: env!("CARGO_PKG_VERSION").to_owned() });
        let autosave = match receive(&mut from)? {
            Some(ToHost::Settings { autosave }) => autosave,
            _ => {
                return Err(io::Error::other(
                    "the tool did not send the session settings: build both from one checkout",
                ));
            }
        };
        from.set_read_timeout(None)?;
        Ok(Self { voice, from, autosave, live: Rc::default() })
    }

    /// Returns the callback that reports a hang to `alcedo dev`, on the watchdog's thread.
    pub(crate) fn on_hang(&self) -> impl Fn(&Hang) + Send + Sync + 'static {
        let voice = self.voice.clone();
        move |hang| {
            let of = match hang.thread == GAME_THREAD {
                true if hang.function.is_empty() => HangOf::Work,
                true => HangOf::Call,
                false => HangOf::Finalizer,
            };
            voice.send(&FromHost::Hang { text: hang.to_string(), of });
        }
    }

    /// Returns an event callback that records the time at which a new generation starts to run.
    pub(crate) fn on_event(&self) -> impl Fn(&ContextEvent) + 'static {
        let live = Rc::clone(&self.live);
        move |event| {
            if matches!(event.event, ContextEventKind::Loaded(_)) {
                live.set(Some(Instant::now()));
            }
        }
    }

    /// Starts a thread that reads requests from `alcedo dev`. Returns an error if the thread cannot be started.
    pub(crate) fn accept(self, poster: Poster) -> io::Result<Agent> {
        let Self { voice, mut from, autosave, live } = self;
        let (sender, orders) = unbounded();
        std::thread::Builder::new()
            .name("alcedo-dev".into())
            .spawn(move || read_requests(&mut from, &sender, &poster))?;
        Ok(Agent {
            voice,
            orders,
            live,
            begun: Instant::now(),
            autosave: autosave.map(|file| (file, RefCell::default())),
            last_status: Cell::new(Duration::ZERO),
            ticks: RefCell::default(),
            writing: Cell::default(),
            cannot_save: Cell::new(false),
            loaded: RefCell::default(),
            restoring: RefCell::default(),
            has_sent_end: Cell::new(false),
            shutdown_requested: Cell::new(false),
        })
    }
}

/// Forwards the requests from `alcedo dev` to the game thread. When `alcedo dev` has exited, requests the shutdown of the host, because the
/// user could not stop the host otherwise. If the host does not end in time, exits the process, even after an earlier request to end.
fn read_requests(from: &mut Stream, orders: &Sender<ToHost>, poster: &Poster) {
    loop {
        let order = match receive(from) {
            Ok(Some(order)) => order,
            Ok(None) => break,
            Err(error) => {
                log!(ERROR, %error, "`alcedo dev` sent an unreadable message: the link and this host are ended");
                let _ended = from.shutdown(Shutdown::Both);
                break;
            }
        };
        if orders.send(order).is_err() {
            return;
        }
        // Wakes a sleeping game thread.
        let _woken = poster.post(|_runtime| {});
    }
    if orders.send(ToHost::End).is_ok() && poster.post(|_runtime| {}) {
        std::thread::sleep(GRACE);
        if poster.post(|_runtime| {}) {
            log!(ERROR, "`alcedo dev` has ended and this host has not: ending it");
            std::process::exit(1);
        }
    }
}

/// Connection of a running host to `alcedo dev`. Game thread only.
pub(crate) struct Agent {
    voice: Voice,
    orders: Receiver<ToHost>,
    /// Time at which the last generation started to run.
    live: Rc<Cell<Option<Instant>>>,
    begun: Instant,
    autosave: Option<(PathBuf, RefCell<Autosave>)>,
    last_status: Cell<Duration>,
    /// Times of the ticks in the last second.
    ticks: RefCell<std::collections::VecDeque<Duration>>,
    /// Thread that writes the latest autosave. If the write fails, the thread returns the error message.
    writing: Cell<Option<JoinHandle<Result<(), String>>>>,
    cannot_save: Cell<bool>,
    /// Libraries of the last load request that succeeded.
    loaded: RefCell<Vec<PathBuf>>,
    /// World to restore when the first load request has succeeded.
    restoring: RefCell<Option<PathBuf>>,
    has_sent_end: Cell<bool>,
    shutdown_requested: Cell<bool>,
}

impl Agent {
    pub(crate) fn shutdown_requested(&self) -> bool {
        self.shutdown_requested.get()
    }

    /// The first call executes requests from `alcedo dev` until the plugins of the first build are loaded. Later calls load the libraries
    /// of these plugins again.
    ///
    /// # Errors
    /// Returns [`Error::Ended`] if `alcedo dev` requests the shutdown of the host before any plugin is loaded.
    pub(crate) fn create(&self, runtime: &Runtime) -> Result<(), Error> {
        let loaded = self.loaded.borrow().clone();
        if !loaded.is_empty() {
            return runtime.create_master_of(&loaded);
        }
        while !self.shutdown_requested() {
            self.obey(runtime, self.orders.recv().unwrap_or(ToHost::End));
            if runtime.generation() != 0 {
                return Ok(());
            }
        }
        Err(Error::Ended)
    }

    pub(crate) fn ticked(&self) {
        let now = self.begun.elapsed();
        let mut ticks = self.ticks.borrow_mut();
        ticks.push_back(now);
        while ticks.front().is_some_and(|tick| now.saturating_sub(*tick) > Duration::from_secs(1)) {
            ticks.pop_front();
        }
    }

    /// Executes the requests from `alcedo dev` and sends the status. After the first load, the other requests wait for the next safe point,
    /// because the host first creates its objects. Must be called at a safe point.
    pub(crate) fn attend(&self, runtime: &Runtime) {
        let mut has_started = false;
        loop {
            // Restores the world before the next request, because this request may replace the file of the world.
            let world = self.restoring.borrow_mut().take_if(|_| runtime.generation() != 0);
            if let Some(world) = world {
                self.wait_for_write();
                self.voice.send(&restore(runtime, &world));
            }
            if has_started {
                // Wakes a host that waits for closures, because further requests may have arrived.
                let _woken = runtime.post_handle().post(|_runtime| {});
                break;
            }
            let Ok(order) = self.orders.try_recv() else { break };
            let had_plugins = runtime.generation() != 0;
            self.obey(runtime, order);
            has_started = !had_plugins && runtime.generation() != 0;
        }
        let now = self.begun.elapsed();
        if now.saturating_sub(self.last_status.get()) >= GLANCE {
            self.last_status.set(now);
            self.voice.send(&FromHost::Status(Status {
                generation: runtime.generation(),
                objects: runtime.core().world.objects.count_living() as u64,
                ticks: self.ticks.borrow().len() as u64,
            }));
        }
        let is_writing = self.is_writing();
        if let Some((file, autosave)) = self.autosave.as_ref().filter(|_| runtime.generation() != 0) {
            let due = autosave.borrow().due(now);
            match due {
                Some(Due::Now) => self.save(runtime, file, autosave),
                Some(Due::Later) if !is_writing => self.save_later(runtime, file, autosave),
                _ => {}
            }
        }
    }

    /// Reports the shutdown of the runtime to `alcedo dev`, at most once. `left` describes the contexts and images that could not be
    /// unloaded. A process that exits without a shutdown of the runtime does not send this message.
    pub(crate) fn send_end(&self, left: Vec<String>) {
        if self.has_sent_end.replace(true) {
            return;
        }
        self.wait_for_write();
        self.voice.send(&FromHost::Ended { left });
    }

    fn obey(&self, runtime: &Runtime, order: ToHost) {
        match order {
            // `greet` has already processed the settings.
            ToHost::Settings { .. } => {}
            ToHost::Load { libraries } => self.load(runtime, &libraries),
            ToHost::Restore { world } => *self.restoring.borrow_mut() = Some(world),
            ToHost::Save => {
                if let Some((file, autosave)) = self.autosave.as_ref().filter(|_| runtime.generation() != 0) {
                    self.save(runtime, file, autosave);
                }
                self.voice.send(&FromHost::Saved);
            }
            ToHost::Line { line } => self.voice.send(&FromHost::Answer { text: cut(runtime.console(&line)) }),
            ToHost::Complete { line } => {
                let lines = runtime.complete(&line);
                self.voice.send(&FromHost::Completions { line, lines });
            }
            ToHost::End => self.shutdown_requested.set(true),
        }
    }

    fn load(&self, runtime: &Runtime, libraries: &[PathBuf]) {
        self.live.set(None);
        let loaded = match runtime.generation() {
            0 => runtime
                .create_master_of(libraries)
                .map(|()| FromHost::Started { generation: runtime.generation(), builds: running_builds(runtime) }),
            _ => runtime.reload_for(libraries, ReloadScope::Changed, 0).map(|report| {
                let since_live = self.live.get().map_or(Duration::ZERO, |at| at.elapsed());
                FromHost::Reloaded { report: Box::new(report), since_live, builds: running_builds(runtime) }
            }),
        };
        if let Some((_, autosave)) = &self.autosave {
            autosave.borrow_mut().forget();
        }
        let is_live = match &loaded {
            Ok(FromHost::Reloaded { report, .. }) => report.is_committed(),
            Ok(_) => true,
            Err(_) => false,
        };
        if is_live {
            *self.loaded.borrow_mut() = libraries.to_vec();
        }
        self.voice.send(&loaded.unwrap_or_else(|error| FromHost::Refused {
            lacks_type: matches!(&error, Error::Load(error) if error.lacks_type()),
            error: cut(error.to_string()),
        }));
    }

    /// Saves the world. The file is complete when the function returns.
    fn save(&self, runtime: &Runtime, file: &Path, autosave: &RefCell<Autosave>) {
        self.wait_for_write();
        let begun = self.begun.elapsed();
        let saved = runtime.worlds().save(file);
        self.note_save(begun, autosave);
        self.report_save(saved.map(|_objects| ()).map_err(|error| error.to_string()));
    }

    /// Copies the state of the world, and starts a thread that writes the file.
    fn save_later(&self, runtime: &Runtime, file: &Path, autosave: &RefCell<Autosave>) {
        let begun = self.begun.elapsed();
        let started = runtime.worlds().snapshot(file).map_err(|error| error.to_string()).and_then(|snapshot| {
            let write = move || snapshot.write().map_err(|error| error.to_string());
            let thread = std::thread::Builder::new().name("alcedo-autosave".into()).spawn(write);
            thread.map_err(|error| format!("starting the thread that writes the world: {error}"))
        });
        self.note_save(begun, autosave);
        match started {
            Ok(thread) => self.writing.set(Some(thread)),
            Err(error) => self.report_save(Err(error)),
        }
    }

    /// Checks if a thread is writing an autosave. If the thread has finished, reports its result.
    fn is_writing(&self) -> bool {
        let thread = self.writing.take();
        let is_writing = thread.as_ref().is_some_and(|thread| !thread.is_finished());
        self.writing.set(thread);
        if !is_writing {
            self.wait_for_write();
        }
        is_writing
    }

    fn wait_for_write(&self) {
        if let Some(thread) = self.writing.take() {
            let panicked = |_| Err("the thread that writes the world panicked".to_owned());
            self.report_save(thread.join().unwrap_or_else(panicked));
        }
    }

    /// Records the time that a save took on the game thread.
    fn note_save(&self, begun: Duration, autosave: &RefCell<Autosave>) {
        let now = self.begun.elapsed();
        autosave.borrow_mut().note(now, now.saturating_sub(begun));
    }

    /// Reports a failed save to `alcedo dev`, unless the previous save has also failed.
    fn report_save(&self, saved: Result<(), String>) {
        let has_failed = self.cannot_save.replace(saved.is_err());
        if let Err(error) = saved
            && !has_failed
        {
            self.voice.send(&FromHost::NotSaved { error });
        }
    }
}

/// Truncates a long text, for example the answer of the console for a large array, or a report with many lost references.
fn cut(mut text: String) -> String {
    let length = text.len();
    if length > LONGEST_TEXT {
        text.truncate(text.floor_char_boundary(LONGEST_TEXT));
        text.push_str(&format!("… ({length} bytes)"));
    }
    text
}

fn restore(runtime: &Runtime, world: &Path) -> FromHost {
    let written = std::fs::metadata(world).and_then(|file| file.modified());
    let age = written.ok().and_then(|at| at.elapsed().ok()).unwrap_or_default();
    match runtime.worlds().load(world) {
        // Omits the number of replaced objects, because these are only the objects that the host has created during its startup.
        Ok(loaded) => {
            let report = WorldLoadReport { replaced: 0, ..loaded };
            FromHost::Restored { objects: report.objects, age, text: cut(report.to_string()) }
        }
        Err(error) => {
            // Renames the file of the world, because the next save would replace this file.
            let error = match leave_out(world) {
                // The session deletes the folder of its files when it ends.
                Ok(left_out) => {
                    format!("{error} · until the session ends, the saved world is in {}", left_out.display())
                }
                Err(_) => error.to_string(),
            };
            FromHost::NotRestored { error: cut(error) }
        }
    }
}

/// Renames the file of a saved world that could not be restored, so that the next save does not replace this file. Returns the new path:
/// `world.left-out`, or `world.left-out-2` and so on if earlier files exist. Can be called on any thread.
///
/// # Errors
/// Fails if the file cannot be renamed.
///
/// ```
/// use alcedo_runtime::development::leave_out;
///
/// let folder = tempfile::tempdir()?;
/// let world = folder.path().join("world");
/// for name in ["world.left-out", "world.left-out-2"] {
///     std::fs::write(&world, "saved")?;
///     assert_eq!(leave_out(&world)?, folder.path().join(name));
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn leave_out(world: &Path) -> io::Result<PathBuf> {
    let numbered = (2..).map(|number| world.with_extension(format!("left-out-{number}")));
    let mut names = std::iter::once(world.with_extension("left-out")).chain(numbered);
    let left_out = names.find(|path| !path.exists()).ok_or(io::ErrorKind::AlreadyExists)?;
    std::fs::rename(world, &left_out)?;
    Ok(left_out)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::io::{Read as _, Write as _};
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;
    #[cfg(feature = "script")]
    use std::path::PathBuf;
    use std::rc::Rc;
    use std::sync::{Arc, Mutex};
    #[cfg(feature = "script")]
    use std::time::Duration;

    use alcedo_abi::kinds::PropertyKind;
    use alcedo_sys::plain_file;

    use super::{Agent, Invitation, LONGEST_TEXT, Voice, read_requests, restore};
    use crate::cells::RefCell;
    use crate::development::link::{FromHost, ToHost, receive, send};
    use crate::native::{NativeClass, Natives};
    use crate::object::value::Value;
    use crate::runtime::Runtime;

    /// Returns an agent of this host, and the end of the connection that belongs to `alcedo dev`.
    fn agent(runtime: &Runtime) -> (Agent, UnixStream) {
        let (host, tool) = UnixStream::pair().expect("a pair");
        let voice = Voice(Arc::new(Mutex::new(host.try_clone().expect("a descriptor"))));
        let invitation = Invitation { voice, from: host, autosave: None, live: Rc::default() };
        (invitation.accept(runtime.post_handle()).expect("a thread"), tool)
    }

    #[test]
    fn a_world_that_cannot_be_saved_is_reported_once_until_it_can() {
        let runtime = Runtime::builder().build().expect("a host without natives");
        let (agent, mut tool) = agent(&runtime);
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join("worlds");
        let save = || agent.save(&runtime, &folder.join("world"), &RefCell::default());
        save();
        save();
        fs::create_dir(&folder).expect("it is free");
        save();
        fs::remove_dir_all(&folder).expect("it is there");
        save();
        drop(agent);
        tool.shutdown(Shutdown::Write).expect("it is open");
        let messages: Vec<FromHost> = std::iter::from_fn(|| receive(&mut tool).expect("whole messages")).collect();
        let is_it =
            |message: &FromHost| matches!(message, FromHost::NotSaved { error } if error.contains("worlds/world"));
        assert!(messages.len() == 2 && messages.iter().all(is_it), "{messages:?}");
    }

    #[test]
    fn a_world_is_written_by_another_thread_and_a_failure_is_reported() {
        let runtime = Runtime::builder().build().expect("a host without natives");
        runtime.objects().spawn("/Script/Core.Object").expect("an object");
        let (agent, mut tool) = agent(&runtime);
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("world");
        let save = |file: &std::path::Path| {
            agent.save_later(&runtime, file, &RefCell::default());
            agent.wait_for_write();
            assert!(!agent.is_writing());
        };
        save(&file);
        assert_eq!(runtime.worlds().load(&file).expect("a whole world").objects, 1);
        save(&dir.path().join("none/world"));
        drop(agent);
        tool.shutdown(Shutdown::Write).expect("it is open");
        let messages: Vec<FromHost> = std::iter::from_fn(|| receive(&mut tool).expect("whole messages")).collect();
        let [FromHost::NotSaved { error }] = &messages[..] else { panic!("{messages:?}") };
        assert!(error.contains("none/world"), "{error}");
    }

    #[test]
    fn a_long_answer_of_the_console_is_cut_and_keeps_the_link() {
        let door = NativeClass::new("Game", "Door", "/Script/Core.Object");
        let natives = Natives::in_package("Game").class(door.property("sign", (PropertyKind::STRING, ""), 0, ""));
        let runtime = Runtime::builder().natives(natives).build().expect("a host with a class");
        let object = runtime.objects().spawn("/Script/Game.Door").expect("an object");
        let sign = Value::Text("ü".repeat(LONGEST_TEXT));
        runtime.objects().set(object, "sign", &sign).expect("it fits");
        let (agent, mut tool) = agent(&runtime);
        let reader = std::thread::spawn(move || (receive::<FromHost>(&mut tool), tool));
        agent.obey(&runtime, ToHost::Line { line: format!("get {object} sign") });
        let (message, _tool) = reader.join().expect("it ends");
        // Without the agent, the end of the connection does not end this process.
        drop(agent);
        let Ok(Some(FromHost::Answer { text })) = message else { panic!("no answer") };
        assert!(text.len() < LONGEST_TEXT + 50 && text.ends_with(" bytes)"), "{} bytes", text.len());
    }

    #[test]
    fn a_world_that_cannot_be_restored_is_kept() {
        let runtime = Runtime::builder().build().expect("a host without natives");
        let dir = tempfile::tempdir().expect("a folder");
        let world = dir.path().join("world");
        for left_out in ["world.left-out", "world.left-out-2"] {
            fs::write(&world, left_out).expect("there is room");
            let FromHost::NotRestored { error } = restore(&runtime, &world) else {
                panic!("the file contains only text")
            };
            assert!(error.contains("until the session ends") && error.ends_with(left_out), "{error}");
            assert!(!world.exists());
            let kept = plain_file::read_text(&dir.path().join(left_out), 100);
            assert_eq!(kept.expect("the file is kept"), left_out);
        }
    }

    /// Sends requests to the agent, and waits until the agent has received them.
    #[cfg(feature = "script")]
    fn deliver(tool: &mut UnixStream, agent: &Agent, orders: &[ToHost]) {
        for order in orders {
            send(tool, order).expect("the socket takes it");
        }
        while agent.orders.len() < orders.len() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Creates a package of scripts in the folder. Returns its path.
    #[cfg(feature = "script")]
    fn package_in(dir: &tempfile::TempDir) -> PathBuf {
        let package = dir.path().join("Tale");
        fs::create_dir(&package).expect("it is free");
        fs::write(package.join("Hero.uc"), "class Hero extends Object;").expect("there is room");
        package
    }

    #[cfg(feature = "script")]
    #[test]
    fn a_line_after_the_first_load_waits_until_the_host_can_create_objects() {
        let runtime = Runtime::builder().package("Tale").build().expect("a host without natives");
        let (agent, mut tool) = agent(&runtime);
        let dir = tempfile::tempdir().expect("a folder");
        let load = ToHost::Load { libraries: vec![package_in(&dir)] };
        deliver(&mut tool, &agent, &[load, ToHost::Line { line: "objects".into() }]);
        // Runs the closures of the reading thread.
        while runtime.wait(Duration::from_millis(100)) {
            runtime.safe_point();
        }
        agent.attend(&runtime);
        assert_eq!((runtime.generation(), agent.orders.len()), (1, 1));
        assert!(runtime.wait(Duration::ZERO), "the next safe point is due");
        agent.attend(&runtime);
        assert!(agent.orders.is_empty());
        drop(agent);
    }

    #[cfg(feature = "script")]
    #[test]
    fn libraries_of_a_failed_reload_are_not_those_to_load_again() {
        let runtime = Runtime::builder().package("Tale").build().expect("a host without natives");
        let (agent, _tool) = agent(&runtime);
        let dir = tempfile::tempdir().expect("a folder");
        let package = package_in(&dir);
        agent.load(&runtime, std::slice::from_ref(&package));
        assert_eq!(runtime.generation(), 1);
        agent.load(&runtime, &[dir.path().join("none")]);
        assert_eq!(*agent.loaded.borrow(), [package]);
        // The reading thread ends with the runtime.
        drop(agent);
    }

    #[cfg(feature = "script")]
    #[test]
    fn a_world_is_restored_after_the_first_load_that_succeeds() {
        let runtime = Runtime::builder().package("Tale").build().expect("a host without natives");
        let (agent, mut tool) = agent(&runtime);
        let dir = tempfile::tempdir().expect("a folder");
        let (package, world) = (package_in(&dir), dir.path().join("world"));
        runtime.worlds().save(&world).expect("a whole file");
        agent.load(&runtime, &[dir.path().join("none")]);
        agent.obey(&runtime, ToHost::Restore { world });
        agent.attend(&runtime);
        deliver(&mut tool, &agent, &[ToHost::Load { libraries: vec![package] }, ToHost::Save]);
        // The first call restores the world, and the second one saves it.
        agent.attend(&runtime);
        agent.attend(&runtime);
        drop(agent);
        tool.shutdown(Shutdown::Write).expect("it is open");
        let messages = std::iter::from_fn(|| receive(&mut tool).expect("whole messages"));
        let messages: Vec<FromHost> = messages.filter(|message| !matches!(message, FromHost::Status(_))).collect();
        let is_expected = matches!(
            &messages[..],
            [FromHost::Refused { .. }, FromHost::Started { .. }, FromHost::Restored { .. }, FromHost::Saved]
        );
        assert!(is_expected, "{messages:?}");
    }

    #[test]
    fn an_unreadable_message_ends_the_link_and_requests_shutdown() {
        let poster = Runtime::builder().build().expect("a host without natives").post_handle();
        let frame = |body: &[u8]| [&u32::try_from(body.len()).expect("short").to_le_bytes(), body].concat();
        let mut half = Vec::new();
        send(&mut half, &ToHost::End).expect("memory");
        half.pop();
        let deep = frame(&[0x81; 100_000]);
        let another = frame(b"\x66Reboot");
        for bytes in [&[0xff; 4][..], &frame(&[0xff; 3]), &half, &deep, &another] {
            let (mut tool, host) = UnixStream::pair().expect("a pair");
            tool.write_all(bytes).expect("the socket takes it");
            tool.shutdown(Shutdown::Write).expect("it is open");
            let (sender, orders) = crossbeam_channel::unbounded();
            read_requests(&mut { host }, &sender, &poster);
            assert_eq!(orders.try_iter().collect::<Vec<_>>(), [ToHost::End]);
            assert_eq!(tool.read(&mut [0]).ok(), Some(0), "the link has ended");
        }
    }

    #[test]
    fn a_second_host_is_refused_with_a_hint() {
        let dir = tempfile::tempdir().expect("a folder");
        let error =
            Invitation::greet(&dir.path().join("dev-1")).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("its only host has joined") && error.contains("ALCEDO_DEV_SOCKET"), "{error}");
    }

    #[test]
    fn the_end_of_the_tool_is_detected_after_a_request_to_end() {
        let poster = Runtime::builder().build().expect("a host without natives").post_handle();
        let (mut tool, host) = UnixStream::pair().expect("a pair");
        send(&mut tool, &ToHost::End).expect("the socket takes it");
        drop(tool);
        let (sender, orders) = crossbeam_channel::unbounded();
        read_requests(&mut { host }, &sender, &poster);
        assert_eq!(orders.try_iter().collect::<Vec<_>>(), [ToHost::End, ToHost::End]);
    }
}
