//! Runs a server on a separate thread, with an actix system and a worker. The server is stopped when the module ends. In the row
//! `actix-web-leaked`, the server is left running.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use crate::local::Kept;

use actix_web::dev::ServerHandle;
use actix_web::{App, HttpServer, web};

struct Served {
    address: SocketAddr,
    handle: ServerHandle,
    thread: JoinHandle<io::Result<()>>,
}

static SERVED: Kept<Served> = Kept::new();

pub(crate) fn begin() {
    let (sender, started) = mpsc::channel();
    let thread = thread::Builder::new().name("server".to_owned()).spawn(move || {
        actix_rt::System::new().block_on(async move {
            let app = || App::new().route("/", web::get().to(async || "ok"));
            let server = HttpServer::new(app).workers(1).bind((Ipv4Addr::LOCALHOST, 0))?;
            let address = server.addrs()[0];
            let server = server.run();
            let _sent = sender.send((address, server.handle()));
            server.await
        })
    });
    SERVED.keep(thread.and_then(|thread| {
        let (address, handle) = started.recv().map_err(io::Error::other)?;
        Ok(Served { address, handle, thread })
    }));
}

pub(crate) fn work() -> String {
    SERVED.work(|served| {
        let mut client = TcpStream::connect(served.address)?;
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        client.read_to_string(&mut answer)?;
        Ok::<_, io::Error>(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"))
    })
}

pub(crate) fn end() {
    if cfg!(feature = "actix-web")
        && let Some(served) = SERVED.take()
    {
        drop(served.handle.stop(true));
        let _ended = served.thread.join();
    }
}
