//! A server on a fixed port, which only one can have at a time. The next generation is to have it from its main on, so the
//! old one gives it up in `suspend`, and takes it again in `resume` when the reload is rolled back.
//!
//! Where it lies and what goes wrong with it stands in the arguments and in a file that they name, for the tests.

#![forbid(unsafe_code)]

use std::fs;
use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use alcedo_plugin_api::{prelude::*, zcall as call};
use fixture::BUILD;

#[cfg(not(any(feature = "stubborn", feature = "tug")))]
module! { name: "harbor", main: started, exit: ended, suspend: suspended, resume: resumed }

#[cfg(feature = "stubborn")]
module! { name: "harbor", main: started, exit: ended }

#[cfg(all(feature = "tug", not(feature = "needs-harbor")))]
module! { name: "tug", main: started, exit: ended, suspend: suspended, resume: resumed }

#[cfg(feature = "needs-harbor")]
module! {
    name: "tug", main: started, exit: ended, suspend: suspended, resume: resumed, dependencies: [("harbor", "^0.1")]
}

const NAME: &str = if cfg!(feature = "tug") { "tug" } else { "harbor" };

/// Serves until it is dropped: whoever connects is told the build.
struct Server {
    address: SocketAddr,
    is_closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn open(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let is_closing = Arc::new(AtomicBool::new(false));
        let closing = Arc::clone(&is_closing);
        let thread = std::thread::Builder::new().name(format!("{NAME} {BUILD}")).spawn(move || {
            for client in listener.incoming() {
                if closing.load(Ordering::Acquire) {
                    return;
                }
                // Who has gone away hears nothing.
                let _told = client.and_then(|mut client| client.write_all(BUILD.to_string().as_bytes()));
            }
        })?;
        Ok(Self { address, is_closing, thread: Some(thread) })
    }
}

/// The port is free then.
impl Drop for Server {
    fn drop(&mut self) {
        self.is_closing.store(true, Ordering::Release);
        // Whom the thread waits for.
        let _woken = TcpStream::connect(self.address);
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

static SERVER: Mutex<Option<Server>> = Mutex::new(None);

fn server() -> MutexGuard<'static, Option<Server>> {
    SERVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `harbor=127.0.0.1:4000` and `orders=/a/file`.
static ARGUMENTS: OnceLock<Vec<String>> = OnceLock::new();

fn argument(name: &str) -> Option<&'static str> {
    let arguments = ARGUMENTS.get()?;
    arguments.iter().find_map(|argument| argument.strip_prefix(name)?.strip_prefix('='))
}

fn open() -> Result<Option<Server>, String> {
    let Some(address) = argument(NAME) else { return Ok(None) };
    let address: SocketAddr = address.parse().map_err(|error| format!("{address}: {error}"))?;
    Server::open(address).map(Some).map_err(|error| format!("{address}: {error}"))
}

fn close() {
    let server = server().take();
    drop(server);
}

fn started(args: &[&str]) {
    let _first = ARGUMENTS.set(args.iter().map(|arg| (*arg).to_owned()).collect());
    tracing::info!(target: "harbor", "{NAME} {BUILD} main");
    let opened = open().unwrap_or_else(|error| panic!("{error}"));
    obey("main").unwrap_or_else(|error| panic!("{error}"));
    // Last: a main that panics has no exit hook, but what it has in its hands is dropped.
    *server() = opened;
}

/// After a `suspend` there is nothing left to close.
fn ended() {
    tracing::info!(target: "harbor", "{NAME} {BUILD} exit");
    close();
}

#[cfg_attr(feature = "stubborn", expect(dead_code, reason = "it has no such hook"))]
fn suspended() -> Result<(), String> {
    tracing::info!(target: "harbor", "{NAME} {BUILD} suspend");
    close();
    obey("suspend")
}

/// After a `suspend` that has failed the port may be open still.
#[cfg_attr(feature = "stubborn", expect(dead_code, reason = "it has no such hook"))]
fn resumed() -> Result<(), String> {
    tracing::info!(target: "harbor", "{NAME} {BUILD} resume");
    let mut server = server();
    if server.is_none() {
        *server = open()?;
    }
    drop(server);
    obey("resume")
}

/// A payload whose drop panics.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("and once more");
    }
}

/// Does what the file of orders says for this module, build and moment: `harbor 1 suspend panic`.
fn obey(moment: &str) -> Result<(), String> {
    let orders = argument("orders").map(fs::read_to_string).and_then(Result::ok).unwrap_or_default();
    let ours = format!("{NAME} {BUILD} {moment} ");
    for order in orders.lines().filter_map(|line| line.strip_prefix(&*ours)) {
        match order {
            "panic" => panic!("{moment} panics"),
            "bomb" => std::panic::panic_any(Bomb),
            "error" => return Err(format!("{moment} does not want to")),
            "post" => {
                task::post(|| tracing::info!(target: "harbor", "{NAME} {BUILD} posted")).map_err(|e| e.to_string())?
            }
            "hang" => {
                let end = format!("{}.end", argument("orders").unwrap_or_default());
                while !Path::new(&end).exists() {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            "deed" => {
                let told: Result<String, _> = call("ex:/host.deed", (moment.to_owned(),));
                tracing::info!(target: "harbor", "{NAME} {BUILD} {moment} did {}", told.map_err(|e| e.to_string())?);
            }
            other => return Err(format!("nobody knows `{other}`")),
        }
    }
    Ok(())
}

/// The build that answers when it is called.
#[cfg(not(feature = "tug"))]
#[zcall(ex = "harbor.build")]
fn build() -> String {
    BUILD.to_string()
}

/// The same, as modules of a Slim offer it.
pub struct Harbor;

#[zmethods]
impl Harbor {
    /// The build that answers when it is called.
    #[zmethod]
    pub fn build_tag() -> String {
        BUILD.to_string()
    }
}
