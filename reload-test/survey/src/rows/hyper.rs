//! Runs a client and a server on this machine. Their connection stays open between calls. The connection is closed when the module ends. In
//! the row `hyper-leaked`, the connection is left in a static with the runtime.

use std::convert::Infallible;
use std::error::Error;
use std::net::Ipv4Addr;

use crate::local::Kept;

use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

type Failed = Box<dyn Error + Send + Sync>;

static CONNECTION: Kept<(Runtime, SendRequest<Empty<Bytes>>)> = Kept::new();

async fn answer(_request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::new(Bytes::from_static(b"hello"))))
}

fn connect() -> Result<(Runtime, SendRequest<Empty<Bytes>>), Failed> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let sender = runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await?;
            http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)).await?;
            Ok::<_, Failed>(())
        });
        let (sender, connection) = handshake(TokioIo::new(TcpStream::connect(address).await?)).await?;
        tokio::spawn(connection);
        Ok::<_, Failed>(sender)
    })?;
    Ok((runtime, sender))
}

pub(crate) fn begin() {
    CONNECTION.keep(connect());
}

pub(crate) fn work() -> String {
    CONNECTION.work(|(runtime, sender)| {
        runtime.block_on(async {
            sender.ready().await?;
            let request = Request::get("/").header("host", "localhost").body(Empty::new())?;
            let body = sender.send_request(request).await?.into_body().collect().await?;
            Ok::<_, Failed>(body.to_bytes() == "hello")
        })
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "hyper-leaked")) {
        drop(CONNECTION.take());
    }
}
