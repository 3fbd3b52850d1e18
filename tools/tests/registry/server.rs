//! Debian's `docker-registry` on a port of this machine, plain requests to this registry, and a proxy that returns wrong content.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use alcedo_runtime::development::plain_file::sha256;

/// Running registry. After a kill, its content still exists.
pub(super) struct Registry {
    pub(super) address: SocketAddr,
    folder: tempfile::TempDir,
    process: Option<Child>,
}

impl Registry {
    pub(super) fn start() -> Self {
        // The port becomes free when the listener is dropped.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut registry = Self { address, folder: tempfile::tempdir().unwrap(), process: None };
        registry.restart();
        registry
    }

    pub(super) fn restart(&mut self) {
        self.kill();
        let config = self.folder.path().join("config.yml");
        let content = self.folder.path().join("content");
        let text = format!(
            "version: 0.1\nlog:\n  level: error\nstorage:\n  filesystem:\n    rootdirectory: {}\nhttp:\n  addr: {}\n",
            content.display(),
            self.address
        );
        fs::write(&config, text).unwrap();
        let mut command = Command::new("docker-registry");
        command.arg("serve").arg(config).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let started = command.spawn();
        self.process = Some(started.unwrap_or_else(|error| panic!("docker-registry: {error}; install the package")));
        let end = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(self.address).is_err() {
            assert!(Instant::now() < end, "the registry does not listen on {}", self.address);
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(super) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Returns a repository of the registry.
    pub(super) fn repository(&self) -> String {
        format!("{}/plugins/magic-cube", self.address)
    }

    /// Uploads an artifact without any check. The artifact consists of `manifest` and a different library. Returns its digest.
    pub(super) fn forge(&self, manifest: &str, library: &[u8]) -> String {
        let base = "/v2/plugins/magic-cube";
        let (head, _) = request(self.address, "POST", &format!("{base}/blobs/uploads/"), "", b"");
        let location = head.lines().find_map(|line| line.strip_prefix("Location: ")).expect("a location").trim();
        let location = location.strip_prefix(&format!("http://{}", self.address)).unwrap_or(location);
        let digest = sha256(library);
        let (head, _) = request(self.address, "PUT", &format!("{location}&digest={digest}"), "", library);
        assert!(head.starts_with("HTTP/1.1 201"), "{head}");
        let accept = "Accept: application/vnd.oci.image.manifest.v1+json\r\n";
        let (_, found) = request(self.address, "GET", &format!("{base}/manifests/{manifest}"), accept, b"");
        let mut forged: serde_json::Value = serde_json::from_slice(&found).unwrap();
        forged["layers"][0]["digest"] = digest.into();
        forged["layers"][0]["size"] = library.len().into();
        let forged = serde_json::to_vec(&forged).unwrap();
        let digest = sha256(&forged);
        let kind = "Content-Type: application/vnd.oci.image.manifest.v1+json\r\n";
        let (head, _) = request(self.address, "PUT", &format!("{base}/manifests/{digest}"), kind, &forged);
        assert!(head.starts_with("HTTP/1.1 201"), "{head}");
        digest
    }

    /// Returns the digest of the only artifact in an index.
    pub(super) fn artifact_of(&self, index: &str) -> String {
        let accept = "Accept: application/vnd.oci.image.index.v1+json\r\n";
        let path = format!("/v2/plugins/magic-cube/manifests/{index}");
        let (_, found) = request(self.address, "GET", &path, accept, b"");
        let index: serde_json::Value = serde_json::from_slice(&found).unwrap();
        index["manifests"][0]["digest"].as_str().expect("an artifact").to_owned()
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends a request, and returns the head and the body of the response.
fn request(to: SocketAddr, method: &str, path: &str, headers: &str, body: &[u8]) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(to).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    split(&answer(&mut stream))
}

fn answer(stream: &mut TcpStream) -> Vec<u8> {
    let mut whole = Vec::new();
    stream.read_to_end(&mut whole).unwrap();
    whole
}

fn split(whole: &[u8]) -> (String, Vec<u8>) {
    let end = whole.windows(4).position(|part| part == b"\r\n\r\n").expect("a head");
    (String::from_utf8_lossy(&whole[..end]).into_owned(), whole[end + 4..].to_vec())
}

/// Wrong content that a proxy returns.
#[derive(Clone, Debug)]
pub(super) enum Lie {
    /// Returns each response unchanged.
    None,
    /// Responds to requests for the first digest with the manifest of the second digest, and with the headers of the first manifest.
    OtherDigest(String, String),
    /// Changes the last byte of each library.
    OtherLibrary,
    /// Closes the connection in the middle of each library.
    HalfLibrary,
}

/// Proxy of a registry. The proxy runs as long as the process.
pub(super) struct Proxy {
    pub(super) address: SocketAddr,
    lie: Arc<Mutex<Lie>>,
    /// Number of bytes of all responses.
    sent: Arc<AtomicU64>,
}

impl Proxy {
    pub(super) fn start(registry: SocketAddr, lie: Lie) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let proxy = Self { address, lie: Arc::new(Mutex::new(lie)), sent: Arc::default() };
        let (lie, sent) = (Arc::clone(&proxy.lie), Arc::clone(&proxy.sent));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (lie, sent) = (lie.lock().unwrap().clone(), Arc::clone(&sent));
                thread::spawn(move || serve(client, registry, &lie, &sent));
            }
        });
        proxy
    }

    /// Sets the wrong content of later responses.
    pub(super) fn set(&self, lie: Lie) {
        *self.lie.lock().unwrap() = lie;
    }

    /// Returns the number of bytes that clients have received.
    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

/// Forwards one request without a body.
fn serve(mut client: TcpStream, registry: SocketAddr, lie: &Lie, sent: &AtomicU64) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        match client.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let mut head = String::from_utf8(head).unwrap().replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    if let Lie::OtherDigest(requested, served) = lie {
        head = head.replace(requested, served);
    }
    let is_library = head.contains("/blobs/");
    let Ok(mut upstream) = TcpStream::connect(registry) else { return };
    upstream.write_all(head.as_bytes()).unwrap();
    let (mut head, mut body) = split(&answer(&mut upstream));
    match lie {
        Lie::OtherDigest(requested, served) => head = head.replace(served, requested),
        Lie::OtherLibrary if is_library => body.last_mut().into_iter().for_each(|byte| *byte ^= 1),
        Lie::HalfLibrary if is_library => body.truncate(body.len() / 2),
        Lie::None | Lie::OtherLibrary | Lie::HalfLibrary => {}
    }
    let whole = [head.as_bytes(), b"\r\n\r\n".as_slice(), body.as_slice()].concat();
    // The client may have closed the connection.
    if client.write_all(&whole).is_ok() {
        sent.fetch_add(whole.len() as u64, Ordering::Relaxed);
    }
}

/// Starts a registry that responds to each request with `head`, followed by an endless repetition of `part`. The registry runs as long as
/// the process.
pub(super) fn endless_registry(head: &'static str, part: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || {
                let _request = client.read(&mut [0; 4096]);
                let _ = client.write_all(head.as_bytes());
                // The client closes the connection.
                let body = part.repeat(1000);
                while client.write_all(body.as_bytes()).is_ok() {}
            });
        }
    });
    address
}

/// Starts a registry that responds to each request with the result of `answer`. The arguments of `answer` are the head of the request, and
/// the address of the registry. The registry runs as long as the process.
pub(super) fn answering_registry(answer: impl Fn(&str, SocketAddr) -> String + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && matches!(client.read(&mut byte), Ok(1)) {
                head.push(byte[0]);
            }
            let head = String::from_utf8_lossy(&head);
            // Reads the whole request first. Closing a connection with unread bytes may discard the response.
            let lower = head.to_lowercase();
            let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<u64>().ok());
            let _ = std::io::copy(&mut (&client).take(length.unwrap_or_default()), &mut std::io::sink());
            let _ = client.write_all(answer(&head, address).as_bytes());
        }
    });
    address
}

/// Checks if `docker-registry` is installed.
pub(super) fn is_installed() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("docker-registry").is_file())
}
