//! A connector and a connection of TLS in memory, with OpenSSL built into the plugin or with the system's; dropped when the
//! module ends, or left in a static.

use crate::local::Kept;

use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::ssl::{Ssl, SslConnector, SslMethod};

static CONNECTOR: Kept<(SslConnector, Ssl)> = Kept::new();

pub(crate) fn begin() {
    CONNECTOR.keep(SslConnector::builder(SslMethod::tls()).and_then(|builder| {
        let connector = builder.build();
        let session = connector.configure()?.into_ssl("localhost")?;
        Ok((connector, session))
    }));
}

pub(crate) fn work() -> String {
    CONNECTOR.work(|(connector, _session)| {
        let again = connector.configure()?.into_ssl("localhost")?;
        let digest = openssl::hash::hash(MessageDigest::sha256(), b"hello")?;
        let mut random = [0; 16];
        openssl::rand::rand_bytes(&mut random)?;
        Ok::<_, ErrorStack>(digest[..2] == [0x2c, 0xf2] && again.version_str() != "unknown")
    })
}

pub(crate) fn end() {
    if cfg!(not(any(feature = "openssl-vendored-leaked", feature = "openssl-system-leaked"))) {
        drop(CONNECTOR.take());
    }
}
