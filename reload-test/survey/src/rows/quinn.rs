//! Connects two QUIC endpoints on this machine, with TLS by rustls. When the module ends, both endpoints are closed and awaited. In the row
//! `quinn-leaked`, the endpoints are left in a static with their runtime.

use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Arc;

use crate::local::Kept;

use quinn::{ClientConfig, Endpoint, ServerConfig};
use rustls::RootCertStore;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::runtime::{Builder, Runtime};

type Failed = Box<dyn Error + Send + Sync>;

static ENDS: Kept<(Runtime, Endpoint, Endpoint)> = Kept::new();

fn ends() -> Result<(Runtime, Endpoint, Endpoint), Failed> {
    let _again = rustls::crypto::ring::default_provider().install_default();
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let signed = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signed.signing_key.serialize_der()));
    let certificate = signed.cert.der().clone();
    let server = ServerConfig::with_single_cert(vec![certificate.clone()], key)?;
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    let client = ClientConfig::with_root_certificates(Arc::new(roots))?;
    let (server, client) = runtime.block_on(async {
        let server = Endpoint::server(server, (Ipv4Addr::LOCALHOST, 0).into())?;
        let mut ours = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into())?;
        ours.set_default_client_config(client);
        Ok::<_, Failed>((server, ours))
    })?;
    Ok((runtime, server, client))
}

pub(crate) fn begin() {
    ENDS.keep(ends());
}

pub(crate) fn work() -> String {
    ENDS.work(|(runtime, server, client)| {
        let echo = server.clone();
        runtime.spawn(async move {
            let connection = echo.accept().await.ok_or("nobody came")?.await?;
            let (mut answer, mut question) = connection.accept_bi().await?;
            answer.write_all(&question.read_to_end(100).await?).await?;
            answer.finish()?;
            connection.closed().await;
            Ok::<_, Failed>(())
        });
        let address = server.local_addr()?;
        runtime.block_on(async {
            let connection = client.connect(address, "localhost")?.await?;
            let (mut question, mut answer) = connection.open_bi().await?;
            question.write_all(b"hello").await?;
            question.finish()?;
            let is_right = answer.read_to_end(100).await? == b"hello";
            connection.close(0_u32.into(), b"done");
            Ok::<_, Failed>(is_right)
        })
    })
}

pub(crate) fn end() {
    let Some((runtime, server, client)) = (if cfg!(feature = "quinn-leaked") { None } else { ENDS.take() }) else {
        return;
    };
    client.close(0_u32.into(), b"done");
    server.close(0_u32.into(), b"done");
    runtime.block_on(async {
        client.wait_idle().await;
        server.wait_idle().await;
    });
    // Drops the runtime last. This drop waits for the threads of the runtime.
    drop((client, server));
    drop(runtime);
}
