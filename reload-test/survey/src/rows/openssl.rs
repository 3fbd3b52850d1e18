//! Opens TLS connections between two ends in this process, with a statically linked OpenSSL or with the OpenSSL of the system. One
//! connection stays open: this connection is dropped with its connector when the module ends, or left in a static in the rows
//! `openssl-system-leaked` and `openssl-vendored-leaked`.

use std::error::Error;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::thread;

use crate::local::Kept;

use openssl::asn1::Asn1Time;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::ssl::{SslAcceptor, SslConnector, SslMethod, SslStream};
use openssl::x509::{X509, X509NameBuilder};

type Failure = Box<dyn Error + Send + Sync>;
type Stream = SslStream<UnixStream>;

struct Ends {
    acceptor: SslAcceptor,
    connector: SslConnector,
    open: (Stream, Stream),
}

static ENDS: Kept<Ends> = Kept::new();

pub(crate) fn begin() {
    ENDS.keep(ends());
}

fn ends() -> Result<Ends, Failure> {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?;
    let key = PKey::from_ec_key(EcKey::generate(&group)?)?;
    let certificate = certificate(&key)?;
    let mut acceptor = SslAcceptor::mozilla_intermediate(SslMethod::tls())?;
    acceptor.set_private_key(&key)?;
    acceptor.set_certificate(&certificate)?;
    let mut connector = SslConnector::builder(SslMethod::tls())?;
    connector.cert_store_mut().add_cert(certificate)?;
    let (acceptor, connector) = (acceptor.build(), connector.build());
    let open = connection(&acceptor, &connector)?;
    Ok(Ends { acceptor, connector, open })
}

/// Returns a self-signed certificate for this machine.
fn certificate(key: &PKey<Private>) -> Result<X509, Failure> {
    let mut name = X509NameBuilder::new()?;
    name.append_entry_by_text("CN", "localhost")?;
    let name = name.build();
    let mut certificate = X509::builder()?;
    certificate.set_subject_name(&name)?;
    certificate.set_issuer_name(&name)?;
    certificate.set_not_before(&*Asn1Time::days_from_now(0)?)?;
    certificate.set_not_after(&*Asn1Time::days_from_now(1)?)?;
    certificate.set_pubkey(key)?;
    certificate.sign(key, MessageDigest::sha256())?;
    Ok(certificate.build())
}

/// Performs the handshake. The accepting end runs in a thread.
fn connection(acceptor: &SslAcceptor, connector: &SslConnector) -> Result<(Stream, Stream), Failure> {
    let (client, server) = UnixStream::pair()?;
    thread::scope(|scope| {
        let server = scope.spawn(|| acceptor.accept(server).map_err(|error| error.to_string()));
        let client = connector.connect("localhost", client).map_err(|error| error.to_string());
        let server = server.join().map_err(|_panic| "the thread panicked")?;
        Ok((client?, server?))
    })
}

/// Sends a string to the other end, and receives it back.
fn is_echoed((client, server): &mut (Stream, Stream)) -> io::Result<bool> {
    let mut text = [0; 5];
    client.write_all(b"hello")?;
    server.read_exact(&mut text)?;
    server.write_all(&text)?;
    client.read_exact(&mut text)?;
    Ok(&text == b"hello")
}

pub(crate) fn work() -> String {
    ENDS.work(|Ends { acceptor, connector, open }| {
        let mut another = connection(acceptor, connector)?;
        let is_right = is_echoed(open)? && is_echoed(&mut another)?;
        another.0.shutdown()?;
        Ok::<_, Failure>(is_right)
    })
}

pub(crate) fn end() {
    if cfg!(not(any(feature = "openssl-vendored-leaked", feature = "openssl-system-leaked"))) {
        drop(ENDS.take());
    }
}
