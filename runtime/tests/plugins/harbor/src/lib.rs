//! Server on a fixed port that only one owner can open at a time. The next generation needs the port in its main, so the old generation
//! closes the port in `suspend`. After a failed reload, the old generation opens the port again in `resume`.
//!
//! The arguments contain the address, and the path of a file with faults to inject. Tests set both.

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

/// Server that sends the build tag to each client until the server is dropped.
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
                // A failed write means that the client has disconnected. Ignores this error.
                let _written = client.and_then(|mut client| client.write_all(BUILD.to_string().as_bytes()));
            }
        })?;
        Ok(Self { address, is_closing, thread: Some(thread) })
    }
}

/// Stops the thread and frees the port.
impl Drop for Server {
    fn drop(&mut self) {
        self.is_closing.store(true, Ordering::Release);
        // Unblocks the thread.
        let _woken = TcpStream::connect(self.address);
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

static SERVER: Mutex<Option<Server>> = Mutex::new(None);

fn server() -> MutexGuard<'static, Option<Server>> {
    SERVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Arguments of the form `harbor=127.0.0.1:4000` and `orders=/a/file`.
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
    // Stored last, because no exit hook runs after a panic in main. The panic drops local values, so the port is closed.
    *server() = opened;
}

/// Closes the port if `suspend` has not closed it.
fn ended() {
    tracing::info!(target: "harbor", "{NAME} {BUILD} exit");
    close();
}

#[cfg_attr(feature = "stubborn", expect(dead_code, reason = "this build has no such hook"))]
fn suspended() -> Result<(), String> {
    tracing::info!(target: "harbor", "{NAME} {BUILD} suspend");
    close();
    obey("suspend")
}

/// Opens the port. After a failed `suspend`, the port may still be open.
#[cfg_attr(feature = "stubborn", expect(dead_code, reason = "this build has no such hook"))]
fn resumed() -> Result<(), String> {
    tracing::info!(target: "harbor", "{NAME} {BUILD} resume");
    let mut server = server();
    if server.is_none() {
        *server = open()?;
    }
    drop(server);
    obey("resume")
}

/// Panic payload that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("and once more");
    }
}

/// Executes the orders in the file for this module, build and moment, such as `harbor 1 suspend panic`.
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
                let result: Result<String, _> = call("ex:/host.deed", (moment.to_owned(),));
                tracing::info!(target: "harbor", "{NAME} {BUILD} {moment} did {}", result.map_err(|e| e.to_string())?);
            }
            other => return Err(format!("unknown order `{other}`")),
        }
    }
    Ok(())
}

/// Returns the build that handles the call.
#[cfg(not(feature = "tug"))]
#[zcall(ex = "harbor.build")]
fn build() -> String {
    BUILD.to_string()
}

/// Functions for callers in a Slim.
pub struct Harbor;

#[zmethods]
impl Harbor {
    /// Returns the build that handles the call.
    #[zmethod]
    pub fn build_tag() -> String {
        BUILD.to_string()
    }
}
