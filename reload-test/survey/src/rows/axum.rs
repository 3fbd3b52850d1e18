//! Runs a server with one route for a client on this machine. The server is shut down gracefully when the module ends. In the row
//! `axum-leaked`, the server is left running in a static.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use crate::local::Kept;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot::{self, Sender};
use tokio::task::JoinHandle;

struct Server {
    runtime: Runtime,
    address: SocketAddr,
    stop: Sender<()>,
    running: JoinHandle<io::Result<()>>,
}

static SERVER: Kept<Server> = Kept::new();

fn serve() -> io::Result<Server> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    let address = listener.local_addr()?;
    let (stop, stopped) = oneshot::channel();
    let answer = |State(answer): State<&'static str>| async move { answer };
    let router = Router::new().route("/", get(answer)).with_state("hello");
    let running = runtime.spawn(async move {
        let until = async { drop(stopped.await) };
        axum::serve(listener, router).with_graceful_shutdown(until).await
    });
    Ok(Server { runtime, address, stop, running })
}

pub(crate) fn begin() {
    SERVER.keep(serve());
}

pub(crate) fn work() -> String {
    SERVER.work(|server| {
        let mut client = TcpStream::connect(server.address)?;
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        client.read_to_string(&mut answer)?;
        Ok::<_, io::Error>(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("hello"))
    })
}

pub(crate) fn end() {
    let Some(server) = (if cfg!(feature = "axum-leaked") { None } else { SERVER.take() }) else { return };
    let _gone = server.stop.send(());
    if let Ok(Err(error)) = server.runtime.block_on(server.running) {
        eprintln!("{error}");
    }
    // Waits for the threads of the runtime.
    drop(server.runtime);
}
