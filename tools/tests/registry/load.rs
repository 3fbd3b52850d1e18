//! Load on hosts. Clients send requests over TCP, and hosts respond. A request is a line with a number. The response contains this number,
//! and the tag of the running build.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use alcedo_runtime::{Runtime, Value};

/// Time limit for a response. A request waits while its host reloads, or while a supervisor restarts the host.
const PATIENCE: Duration = Duration::from_secs(30);

/// Pause of a client between a response and its next request.
const PAUSE: Duration = Duration::from_millis(20);

/// Clients, one for each host. Each client sends requests until `stop` is called.
pub(super) struct Load {
    is_over: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Requests>>,
}

/// Requests that clients have sent.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pub(super) sent: u64,
    /// Errors of the requests without a correct response.
    pub(super) lost: Vec<String>,
    /// Tags of the builds that have responded.
    pub(super) tags: BTreeSet<u64>,
    /// Longest response time.
    pub(super) longest: Duration,
}

impl Load {
    pub(super) fn start(hosts: Vec<SocketAddr>) -> Self {
        let is_over = Arc::<AtomicBool>::default();
        let start = |host: SocketAddr| {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || send_until(&is_over, host))
        };
        let clients = hosts.into_iter().map(start).collect();
        Self { is_over, clients }
    }

    /// Waits for the last responses. Returns all requests.
    pub(super) fn stop(mut self) -> Requests {
        self.is_over.store(true, Ordering::Relaxed);
        let mut all = Requests::default();
        for client in self.clients.drain(..) {
            let Requests { sent, lost, tags, longest } = client.join().unwrap();
            all.sent += sent;
            all.lost.extend(lost);
            all.tags.extend(tags);
            all.longest = all.longest.max(longest);
        }
        all
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn send_until(is_over: &AtomicBool, host: SocketAddr) -> Requests {
    let mut requests = Requests::default();
    while !is_over.load(Ordering::Relaxed) {
        requests.sent += 1;
        let begun = Instant::now();
        match request(host, requests.sent) {
            Ok(tag) => {
                requests.tags.insert(tag);
            }
            Err(error) => requests.lost.push(format!("request {} to {host}: {error}", requests.sent)),
        }
        requests.longest = requests.longest.max(begun.elapsed());
        thread::sleep(PAUSE);
    }
    requests
}

/// Sends a request. Returns the tag in the response.
///
/// # Errors
/// Fails if the host does not respond in time, or if its response has a wrong number or no tag.
pub(super) fn request(host: SocketAddr, number: u64) -> io::Result<u64> {
    let mut stream = TcpStream::connect_timeout(&host, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{number}\n").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let tag = answer.strip_prefix(&format!("{number} ")).and_then(|tag| tag.strip_suffix('\n')?.parse().ok());
    tag.ok_or_else(|| io::Error::other(format!("the answer is {answer:?}")))
}

/// Responds to all waiting requests. Runs on the game thread, so a crash during a reload interrupts no response.
pub(super) fn answer_all(socket: &TcpListener, runtime: &Runtime) {
    while let Ok((client, _)) = socket.accept() {
        // Ignores the error, because the client counts a missing response.
        let _ = answer(client, runtime);
    }
}

/// Responds to one request. Calls the plugin for this purpose.
///
/// # Errors
/// Fails if the client has closed the connection.
fn answer(mut client: TcpStream, runtime: &Runtime) -> io::Result<()> {
    client.set_nonblocking(false)?;
    client.set_read_timeout(Some(PATIENCE))?;
    let mut number = String::new();
    BufReader::new(&client).read_line(&mut number)?;
    let tag = match runtime.calls().call("nm:/magic_cube:MagicCube:build_tag", &[]) {
        Ok(Some(Value::U64(tag))) => tag.to_string(),
        other => format!("{other:?}"),
    };
    client.write_all(format!("{} {tag}\n", number.trim_end()).as_bytes())
}
