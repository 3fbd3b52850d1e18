//! Sends requests over sockets, and replaces the code that answers them. No request may fail, and the guest book must count every request.

#[path = "../../../tests/support/builds.rs"]
#[expect(dead_code, reason = "these tests use a part of it")]
mod builds;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use alcedo::{LoadContext, Runtime, Value};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use web_server::{Handlers, run_game_thread};

const REQUESTS: u64 = 20_000;
const RELOADS: u64 = 20;
/// Number of concurrent clients.
const CLIENTS: u64 = 8;
/// Interval between checks of the progress.
const NAP: Duration = Duration::from_micros(200);
/// Timeout that only a hanging server reaches.
const LONG: Duration = Duration::from_secs(60);

fn library(package: &str, build: u64) -> PathBuf {
    builds::tagged(package, &[], build % 2 + 1)
}

/// Number of answers for each build.
type Counts = BTreeMap<String, u64>;

struct Client {
    connection: SendRequest<Empty<Bytes>>,
    address: SocketAddr,
}

impl Client {
    async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("the server listens");
        let (connection, work) = handshake(TokioIo::new(stream)).await.expect("it speaks HTTP");
        tokio::spawn(work);
        Self { connection, address }
    }

    /// Sends a request, and returns the line of the answer. An answer without this line, or with an error status, fails the test.
    async fn send(&mut self, method: Method, path: &str) -> String {
        let request = Request::builder().method(method).uri(path).header("host", self.address.to_string());
        let request = request.body(Empty::new()).expect("a request");
        let answer = async {
            let answer = self.connection.send_request(request).await.expect("an answer");
            let status = answer.status();
            let body = answer.into_body().collect().await.expect("a body").to_bytes();
            (status, String::from_utf8(body.to_vec()).expect("text"))
        };
        let (status, line) = tokio::time::timeout(LONG, answer).await.expect("every request is answered");
        assert!(status.is_success(), "{path}: {status} {line}");
        line
    }
}

/// Sends the requests of all clients. Counts the answered requests in `done`.
async fn request_all(address: SocketAddr, method: Method, path: &'static str, done: Arc<AtomicU64>) -> Counts {
    let clients = (0..CLIENTS).map(|_| {
        let (method, done) = (method.clone(), Arc::clone(&done));
        tokio::spawn(async move {
            let (mut client, mut counts) = (Client::connect(address).await, Counts::new());
            for _ in 0..REQUESTS / CLIENTS {
                let line = client.send(method.clone(), path).await;
                let (_, build) = line.rsplit_once("build ").unwrap_or_else(|| panic!("{line} names its build"));
                *counts.entry(build.to_owned()).or_default() += 1;
                done.fetch_add(1, Ordering::Release);
            }
            counts
        })
    });
    let mut all = Counts::new();
    for client in clients.collect::<Vec<_>>() {
        for (build, count) in client.await.expect("a client does not panic") {
            *all.entry(build).or_default() += count;
        }
    }
    all
}

/// Starts a new thread that runs a server with `handlers` and all its clients. The thread returns the number of answers for each build.
fn serve(handlers: Handlers, method: Method, path: &'static str, done: Arc<AtomicU64>) -> thread::JoinHandle<Counts> {
    thread::spawn(move || {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a tokio runtime");
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let address = listener.local_addr().expect("it is bound");
            let (end, ends) = oneshot::channel::<()>();
            let server = tokio::spawn(handlers.serve(listener, async { drop(ends.await) }));
            let counts = request_all(address, method, path, done).await;
            drop(end);
            server.await.expect("it does not panic").expect("it served");
            counts
        })
    })
}

fn slim(host: &Runtime) -> LoadContext {
    let slim = host.contexts().create_slim("reports").unwrap_or_else(|error| panic!("{error}"));
    slim.load_path(library("reports", 0)).unwrap_or_else(|error| panic!("{error}"));
    slim
}

fn handlers(host: &Runtime, slim: &LoadContext) -> Handlers {
    let render = slim.function("Report", "render", "String, u32 -> String").unwrap_or_else(|error| panic!("{error}"));
    Handlers::new(render, host.post_handle())
}

fn assert_all_answered(counts: &Counts) {
    assert_eq!(counts.values().sum::<u64>(), REQUESTS);
    assert!(counts.len() == 2 && counts.values().all(|count| *count > 0), "both builds answered: {counts:?}");
}

/// Waits until enough requests for this reload are answered. The reloads are spread evenly over the requests, at any speed of the machine.
fn wait_for_share(reload: u64, done: &AtomicU64, server: &thread::JoinHandle<Counts>) {
    while done.load(Ordering::Acquire) < reload * REQUESTS / (RELOADS + 1) && !server.is_finished() {
        thread::sleep(NAP);
    }
}

#[test]
fn through_a_slim_no_request_fails_while_its_code_is_replaced() {
    let host = Runtime::builder().package("Game").build().unwrap_or_else(|error| panic!("{error}"));
    let slim = slim(&host);
    // Builds both libraries before the first request, so that no request waits for a build.
    let builds = [0, 1].map(|build| library("reports", build));
    let done = Arc::new(AtomicU64::new(0));
    let server = serve(handlers(&host, &slim), Method::GET, "/report/somebody", Arc::clone(&done));
    for reload in 1..=RELOADS {
        wait_for_share(reload, &done, &server);
        let old = slim.replace(&builds[reload as usize % 2]).unwrap_or_else(|error| panic!("{error}"));
        old.wait(LONG).unwrap_or_else(|report| panic!("{report}"));
    }
    assert_all_answered(&server.join().expect("every request is answered"));
}

#[test]
fn through_the_game_thread_no_request_fails_and_counts_survive_reloads() {
    let host = Runtime::builder().package("Game").build().unwrap_or_else(|error| panic!("{error}"));
    let builds = [0, 1].map(|build| library("server-handler", build));
    host.create_master(&builds[..1]).unwrap_or_else(|error| panic!("{error}"));
    let slim = slim(&host);
    let done = Arc::new(AtomicU64::new(0));
    let is_over = Arc::new(AtomicBool::new(false));
    let server = serve(handlers(&host, &slim), Method::POST, "/guests/somebody", Arc::clone(&done));
    // A second thread requests the reloads, like a build tool. The game thread sleeps until a closure is posted.
    let (poster, finished) = (host.post_handle(), Arc::clone(&is_over));
    let reloads = Arc::new(AtomicU64::new(0));
    let reloaded = Arc::clone(&reloads);
    let counts = thread::spawn(move || {
        for reload in 1..=RELOADS {
            wait_for_share(reload, &done, &server);
            // Waits for the previous reload. Two reload requests at one safe point would cause only one reload.
            while reloaded.load(Ordering::Acquire) + 1 < reload && !server.is_finished() {
                thread::sleep(NAP);
            }
            let next = builds[reload as usize % 2].clone();
            assert!(poster.post(move |host| host.request_reload(vec![next])));
        }
        let counts = server.join();
        finished.store(true, Ordering::Release);
        counts.expect("every request is answered")
    });
    run_game_thread(
        &host,
        || is_over.load(Ordering::Acquire),
        |report| {
            assert!(report.is_committed(), "{report}");
            reloads.fetch_add(1, Ordering::Release);
        },
    );
    assert_all_answered(&counts.join().expect("no reload was refused"));
    assert_eq!(reloads.load(Ordering::Acquire), RELOADS);
    let book = host.objects().find_in(alcedo::ObjectHandle::NONE, "book").expect("it lives");
    assert_eq!(host.objects().get(book, "guests").expect("a property"), Value::U64(REQUESTS));
}
