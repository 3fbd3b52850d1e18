//! Sends frames over a connection on this machine, and uses a cancellation token. The runtime exists for the duration of a call.

use std::error::Error;
use std::net::Ipv4Addr;

use crate::local::report;

use bytes::Bytes;
use futures::{SinkExt as _, StreamExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio_util::codec::{Framed, LengthDelimitedCodec};
use tokio_util::sync::CancellationToken;

async fn talk() -> Result<bool, Box<dyn Error + Send + Sync>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let token = CancellationToken::new();
    let child = token.child_token();
    let echo = tokio::spawn(async move {
        let (stream, _) = listener.accept().await?;
        let mut frames = Framed::new(stream, LengthDelimitedCodec::new());
        while let Some(frame) = child.run_until_cancelled(frames.next()).await.flatten() {
            frames.send(frame?.freeze()).await?;
        }
        Ok::<_, std::io::Error>(())
    });
    let mut frames = Framed::new(TcpStream::connect(address).await?, LengthDelimitedCodec::new());
    frames.send(Bytes::from_static(b"hello")).await?;
    let answer = frames.next().await.transpose()?;
    token.cancel();
    echo.await??;
    Ok(answer.is_some_and(|answer| answer == "hello"))
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let runtime = Builder::new_current_thread().enable_all().build();
    report(runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(talk())))
}

pub(crate) fn end() {}
