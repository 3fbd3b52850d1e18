//! Tests `push`, `pull` and `follow` with Debian's `docker-registry`, host processes and signed plugins. The tests cover rollouts over
//! eight hosts, requests during rollouts, and unhealthy and crashing builds. The tests also cover a registry that is killed, returns wrong
//! content, or has foreign, unsigned and older modules.

#[path = "registry/fleet.rs"]
mod fleet;
#[path = "registry/follow.rs"]
mod follow;
#[path = "registry/load.rs"]
mod load;
#[path = "registry/server.rs"]
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::mpsc::channel;
use std::time::Instant;

use alcedo_build::{Switches, Variants};
use alcedo_reflect::testing::Dice;
use alcedo_runtime::development::plain_file::sha256;
use alcedo_runtime::{SecretKey, sign_file};

use crate::support::Scratch;
use fleet::{CRASH, Fleet};
use load::{Load, Requests};
use server::{Lie, Proxy, Registry, answering_registry, endless_registry, is_installed};

/// Number of hosts.
const HOSTS: usize = 8;
/// Index of the host that aborts in builds with a crash. This host is in the second step.
const CRASHING: usize = 2;

/// Switches in the source of the plugin. With `DARK`, the plugin turns the lamp off, so the build is unhealthy. The remaining switches
/// cause crashes.
const DARK: &str = "dark";
const INITIALIZER: &str = "abort-in-initializer";
const CONSTRUCTOR: &str = "abort-in-constructor";

/// Environment variables with the number and the seed of random rollouts.
const ROLLOUTS: &str = "ALCEDO_ROLLOUTS";
const SEED: &str = "ALCEDO_ROLLOUTS_SEED";

/// Signed builds of a plugin, with the keys.
struct Builds {
    scratch: Scratch,
    key: SecretKey,
}

impl Builds {
    fn new() -> Self {
        let (scratch, key) = (Scratch::new(), SecretKey::generate().unwrap());
        let crash = |switch: &str| {
            let condition = format!("fixture::on!({switch:?}) && std::env::var_os({CRASH:?}).is_some()");
            format!("    if {condition} {{\n        std::process::abort();\n    }}\n")
        };
        // Permits unsafe code, because the function in `.init_array` requires an unsafe attribute.
        scratch.edit("#![forbid(unsafe_code)]\n", "");
        let main = "fn started(args: &[&str]) {\n";
        let section =
            "#[used]\n#[unsafe(link_section = \".init_array\")]\nstatic INITIALIZE: extern \"C\" fn() = initialize;\n";
        scratch.edit(main, &format!("extern \"C\" fn initialize() {{\n{}}}\n\n{section}\n{main}", crash(INITIALIZER)));
        let constructor = "fn new(_this: This<Self>) -> Self {\n";
        scratch.edit(constructor, &format!("{constructor}{}", crash(CONSTRUCTOR)));
        let tag = "    /// Returns the number of this build.\n";
        let lamp = format!("#[zmethod]\n    fn lamp_is_lit() -> bool {{\n        !fixture::on!({DARK:?})\n    }}\n");
        scratch.edit(tag, &format!("    /// Checks the lamp.\n    {lamp}\n{tag}"));
        fs::write(scratch.root().join("release.pub"), key.public().to_pem()).unwrap();
        Self { scratch, key }
    }

    fn public_key(&self) -> PathBuf {
        self.scratch.root().join("release.pub")
    }

    /// Builds a version. Returns a copy without a signature.
    fn unsigned(&self, version: &str) -> PathBuf {
        let manifest = self.scratch.plugin().join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        let new = format!("version = \"{version}\"");
        let lines: Vec<_> =
            text.lines().map(|line| if line.starts_with("version") { new.as_str() } else { line }).collect();
        fs::write(&manifest, lines.join("\n") + "\n").unwrap();
        let copy = self.scratch.root().join(format!("unsigned-{version}.so"));
        fs::copy(self.scratch.build("magic-cube"), &copy).unwrap();
        copy
    }

    /// Copies an unsigned library with these switches to a folder of this name.
    fn copy(&self, library: &Path, name: &str, switches: &Switches<'_>) -> PathBuf {
        Variants::new(self.scratch.root().join("copies")).switched(library, name, switches).unwrap()
    }

    fn sign(&self, library: &Path) -> PathBuf {
        signed_by(library, &self.key, "signed")
    }
}

fn signed_by(library: &Path, key: &SecretKey, name: &str) -> PathBuf {
    let copy = library.with_extension(format!("{name}.so"));
    fs::copy(library, &copy).unwrap();
    sign_file(&copy, key).unwrap();
    copy
}

fn digest_of(path: &Path) -> String {
    sha256(&fs::read(path).unwrap())
}

fn alcedo(arguments: &[&str], key: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_alcedo")).args(arguments).arg("--trust").arg(key).output().unwrap()
}

/// Pushes a library. Returns its reference with the digest.
fn push(registry: &Registry, library: &Path, tag: &str, key: &Path) -> String {
    let reference = format!("{}:{tag}", registry.repository());
    let output = alcedo(&["push", library.to_str().unwrap(), &reference], key);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line = String::from_utf8(output.stdout).unwrap();
    line.split_whitespace().find(|word| word.contains("@sha256:")).expect("a reference").to_owned()
}

fn error_of(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the digest in a reference.
fn pinned(reference: &str) -> &str {
    reference.split_once('@').expect("a digest").1
}

#[test]
#[ignore = "a host of the other tests in this file, which start it as a process"]
fn host_process() {
    fleet::run_host();
}

/// Writes a new public key to a folder.
fn key_in(folder: &Path) -> PathBuf {
    let path = folder.join("release.pub");
    fs::write(&path, SecretKey::generate().unwrap().public().to_pem()).unwrap();
    path
}

#[test]
#[ignore = "needs the certificates of the system: `.ci/registry` runs it"]
fn an_endless_answer_of_a_registry_is_cut_and_escaped() {
    let dir = tempfile::tempdir().unwrap();
    let key = key_in(dir.path());
    for (head, expected) in [
        ("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", "the answer is longer than 4194304 bytes"),
        ("HTTP/1.1 500 Wrong\r\nConnection: close\r\n\r\n", "status 500: \\u{1b}[2Jx"),
        ("HTTP/1.1 429 Slow\r\nConnection: close\r\n\r\n", "the registry limits the requests: try later"),
    ] {
        let address = endless_registry(head, "\u{1b}[2Jx\n");
        let reference = format!("{address}/plugins/lamp:1.0.0");
        let error = error_of(&alcedo(&["pull", &reference, "--out", dir.path().to_str().unwrap()], &key));
        assert!(error.starts_with(&format!("alcedo: could not read {reference}: ")), "{error}");
        assert!(error.contains(expected) && !error.contains('\u{1b}') && error.len() < 2000, "{error}");
    }
}

#[test]
#[ignore = "needs the certificates of the system: `.ci/registry` runs it"]
fn a_registry_may_request_a_token() {
    let dir = tempfile::tempdir().unwrap();
    let key = key_in(dir.path());
    let address = answering_registry(|request, address| {
        let request = request.to_lowercase();
        let (status, body) = if request.starts_with("get /token?") {
            ("200 OK", "{\"token\": \"secret\", \"access_token\": \"secret\"}")
        } else if request.contains("authorization: bearer secret") {
            ("404 Not Found", "{}")
        } else {
            ("401 Unauthorized", "{}")
        };
        let realm = format!("WWW-Authenticate: Bearer realm=\"http://{address}/token\",service=\"lamps\"");
        format!("HTTP/1.1 {status}\r\nConnection: close\r\n{realm}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    });
    let reference = format!("{address}/plugins/lamp:1.0.0");
    let error = error_of(&alcedo(&["pull", &reference, "--out", dir.path().to_str().unwrap()], &key));
    assert!(error.contains("status 404: {}; check the name and the digest"), "{error}");
}

#[test]
#[ignore = "needs the certificates of the system: `.ci/registry` runs it"]
fn an_address_behind_a_redirect_receives_no_password() {
    let dir = tempfile::tempdir().unwrap();
    let (sender, heads) = channel();
    let other = answering_registry(move |head, address| {
        sender.send(head.to_lowercase()).unwrap();
        let realm = format!("WWW-Authenticate: Bearer realm=\"http://{address}/token\"");
        format!("HTTP/1.1 401 Unauthorized\r\n{realm}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    });
    let address = answering_registry(move |_, _| {
        let location = format!("Location: http://{other}/blob");
        format!("HTTP/1.1 307 Temporary Redirect\r\n{location}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    });
    let mut pull = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    pull.arg("pull").arg(format!("{address}/plugins/lamp:1.0.0")).arg("--out").arg(dir.path());
    pull.arg("--trust").arg(key_in(dir.path()));
    pull.envs([("ALCEDO_REGISTRY_USER", "me"), ("ALCEDO_REGISTRY_PASSWORD", "secret")]);
    let error = error_of(&pull.output().unwrap());
    assert!(error.contains("the registry answered with status 401"), "{error}");
    let heads: Vec<_> = heads.try_iter().collect();
    assert!(!heads.is_empty() && heads.iter().all(|head| !head.contains("authorization")), "{heads:?}");
}

#[test]
#[ignore = "needs the certificates of the system: `.ci/registry` runs it"]
fn a_registry_on_this_machine_is_accessed_without_a_proxy() {
    let dir = tempfile::tempdir().unwrap();
    let (sender, heads) = channel();
    let proxy = answering_registry(move |head, _| {
        sender.send(head.to_owned()).unwrap();
        "HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_owned()
    });
    let address = answering_registry(|_, _| {
        "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_owned()
    });
    let mut pull = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    pull.arg("pull").arg(format!("{address}/plugins/lamp:1.0.0")).arg("--out").arg(dir.path());
    pull.arg("--trust").arg(key_in(dir.path()));
    pull.envs(["HTTP_PROXY", "http_proxy"].map(|name| (name, format!("http://{proxy}"))));
    let error = error_of(&pull.env_remove("NO_PROXY").env_remove("no_proxy").output().unwrap());
    assert!(error.contains("the registry answered with status 404"), "{error}");
    assert_eq!(heads.try_iter().count(), 0);
}

#[test]
#[ignore = "builds a plugin, and needs the certificates of the system: `.ci/registry` runs it"]
fn an_upload_sends_the_password_only_to_its_registry() {
    let builds = Builds::new();
    let library = builds.sign(&builds.unsigned("1.0.0"));
    let (sender, heads) = channel();
    let other = answering_registry(move |head, _| {
        sender.send(head.to_lowercase()).unwrap();
        "HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_owned()
    });
    let address = answering_registry(move |head, _| {
        let is_known = head.to_lowercase().contains("authorization: basic");
        let status = match head.split(' ').next() {
            _ if !is_known => "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"lamps\"".to_owned(),
            Some("POST") => format!("202 Accepted\r\nLocation: http://{other}/upload"),
            _ => "404 Not Found".to_owned(),
        };
        format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    });
    let mut push = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    push.arg("push").arg(library).arg(format!("{address}/plugins/lamp:1.0.0")).arg("--trust").arg(builds.public_key());
    push.envs([("ALCEDO_REGISTRY_USER", "me"), ("ALCEDO_REGISTRY_PASSWORD", "secret")]);
    error_of(&push.output().unwrap());
    let heads: Vec<_> = heads.try_iter().collect();
    assert!(heads.iter().any(|head| head.starts_with("put /upload?digest=sha256%3a")), "{heads:?}");
    assert!(heads.iter().all(|head| !head.contains("authorization")), "{heads:?}");
}

#[test]
#[ignore = "builds a plugin, and needs the certificates of the system: `.ci/registry` runs it"]
fn an_upload_that_was_redirected_to_a_page_has_failed() {
    let builds = Builds::new();
    let library = builds.sign(&builds.unsigned("1.0.0"));
    // Simulates a registry that has all blobs, so only a manifest is uploaded.
    let address = answering_registry(|head, address| {
        let status = match head.split(' ').next() {
            Some("PUT") => format!("303 See Other\r\nLocation: http://{address}/login"),
            Some("GET") if !head.starts_with("GET /login ") => "404 Not Found".to_owned(),
            _ => "200 OK".to_owned(),
        };
        format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    });
    let reference = format!("{address}/plugins/lamp:1.0.0");
    let error = error_of(&alcedo(&["push", library.to_str().unwrap(), &reference], &builds.public_key()));
    assert!(error.contains("the registry answered with status 303"), "{error}");
}

#[test]
#[ignore = "builds a plugin, and needs the certificates of the system: `.ci/registry` runs it"]
fn an_unreachable_storage_does_not_prevent_an_upload() {
    let builds = Builds::new();
    let library = builds.sign(&builds.unsigned("1.0.0"));
    let address = answering_registry(|head, _| {
        let status = match head.split(' ').next() {
            Some("HEAD") => "307 Temporary Redirect\r\nLocation: http://localhost:1/blob",
            Some("POST") => "202 Accepted\r\nLocation: /upload",
            Some("PUT") => "201 Created",
            _ => "404 Not Found",
        };
        format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    });
    let reference = format!("{address}/plugins/lamp:1.0.0");
    let output = alcedo(&["push", library.to_str().unwrap(), &reference], &builds.public_key());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "builds a plugin, and needs the certificates of the system: `.ci/registry` runs it"]
fn an_endless_answer_to_an_upload_is_cut() {
    let builds = Builds::new();
    let library = builds.sign(&builds.unsigned("1.0.0"));
    let endless = endless_registry("HTTP/1.1 500 Wrong\r\nConnection: close\r\n\r\n", "x\n");
    let address = answering_registry(move |head, _| {
        let status = match head.split(' ').next() {
            Some("POST") => format!("307 Temporary Redirect\r\nLocation: http://{endless}/"),
            _ => "404 Not Found".to_owned(),
        };
        format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    });
    let reference = format!("{address}/plugins/lamp:1.0.0");
    let error = error_of(&alcedo(&["push", library.to_str().unwrap(), &reference], &builds.public_key()));
    assert!(error.contains("the registry answered with status 500: x\\nx") && error.len() < 2000, "{error}");
}

#[test]
#[ignore = "needs Debian's `docker-registry`, about a minute: `.ci/registry` runs it"]
fn a_pushed_module_is_pulled_by_digest_and_target() {
    assert!(is_installed(), "install the package `docker-registry`");
    let (registry, builds) = (Registry::start(), Builds::new());
    let (unsigned, key) = (builds.unsigned("1.0.0"), builds.public_key());
    let signed = builds.sign(&unsigned);
    let tag = format!("{}:1.0.0", registry.repository());

    let refused = error_of(&alcedo(&["push", unsigned.to_str().unwrap(), &tag], &key));
    assert!(refused.contains("has no signature"), "{refused}");
    let reference = push(&registry, &signed, "1.0.0", &key);
    let out = builds.scratch.root().join("pulled");
    let pull = |reference: &str, more: &[&str]| {
        let out = out.to_str().unwrap();
        alcedo(&[&["pull", reference, "--out", out][..], more].concat(), &key)
    };
    let pulled = || digest_of(&out.join("libmagic_cube.so"));
    let output = pull(&reference, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(pulled(), digest_of(&signed));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("magic_cube 1.0.0  sha256:"), "{output:?}");

    // A second target is listed under this tag. Each target has its own library.
    let other_key = SecretKey::generate().unwrap();
    let other = "riscv64gc-unknown-linux-gnu";
    let missing = error_of(&pull(&reference, &["--target", other]));
    assert!(missing.contains("it has no library for riscv64gc-unknown-linux-gnu, only for "), "{missing}");
    let output = alcedo(&["push", signed.to_str().unwrap(), &tag, "--target", other], &key);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for target in [&["--target", other][..], &[]] {
        let output = pull(&tag, target);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    // A pull with a different key leaves the file unchanged.
    fs::write(builds.scratch.root().join("other.pub"), other_key.public().to_pem()).unwrap();
    let out_folder = out.to_str().unwrap();
    let refused =
        error_of(&alcedo(&["pull", &reference, "--out", out_folder], &builds.scratch.root().join("other.pub")));
    assert!(refused.contains("is signed by the unknown key"), "{refused}");
    assert_eq!(pulled(), digest_of(&signed));
    let unknown = reference.replace(pinned(&reference), &sha256(b"nothing"));
    let missing = error_of(&pull(&unknown, &[]));
    assert!(missing.contains(&format!("could not read {unknown}")), "{missing}");
}

#[test]
#[ignore = "needs Debian's `docker-registry` and eight hosts, about five minutes: `.ci/registry` runs it"]
fn eight_hosts_follow_a_document_and_load_nothing_else() {
    assert!(is_installed(), "install the package `docker-registry`");
    let (mut registry, builds) = (Registry::start(), Builds::new());
    let key = builds.public_key();
    let older = builds.sign(&builds.unsigned("1.0.0"));
    let good_unsigned = builds.unsigned("1.1.0");
    let good = builds.sign(&good_unsigned);
    let copy = |switch| builds.sign(&builds.copy(&good_unsigned, switch, &Switches { on: &[switch], tag: None }));
    let (sick, crashing) = (copy(DARK), copy(CONSTRUCTOR));
    let mut fleet = Fleet::start(HOSTS, &older, builds.key.public(), CRASHING);

    // Writes to one host first, then to three at a time.
    let good_reference = push(&registry, &good, "1.1.0", &key);
    let document = fleet.document("plugins.toml", &good_reference, 60);
    let (is_done, events) = fleet.follow(&document, &key, &[], |_| ());
    assert!(is_done, "{events:#?}");
    let healthy_before = |host: &str| {
        let at = events.iter().position(|event| *event == format!("written {host}")).expect(host);
        events[..at].iter().filter(|event| event.starts_with("healthy")).count()
    };
    let waves: Vec<_> = (0..HOSTS).map(|at| healthy_before(&format!("host-{at}"))).collect();
    assert_eq!(waves, [0, 1, 1, 1, 4, 4, 4, 7], "{events:#?}");
    fleet.wait_until_running(&digest_of(&good));

    // A build that becomes unhealthy reaches only one host. The registry is killed before the return, because the return needs no registry.
    let sick_reference = push(&registry, &sick, DARK, &key);
    fleet.document("plugins.toml", &sick_reference, 60);
    let (is_done, events) = fleet.follow(&document, &key, &[], |event| {
        if event.starts_with("written") {
            registry.kill();
        }
    });
    let reason = format!("libmagic_cube.so: {}", fleet::IS_DARK);
    let expected = [
        "fetched 1.1.0".to_owned(),
        "written host-0".to_owned(),
        format!("unhealthy host-0 {reason}"),
        "returned host-0".to_owned(),
        format!("failed host-0 {reason}"),
    ];
    assert_eq!((is_done, &events[..]), (false, &expected[..]), "{events:#?}");
    fleet.wait_until_running(&digest_of(&good));
    // The document is not tried again, even without a registry.
    let (is_done, events) = fleet.follow(&document, &key, &[], |_| ());
    assert_eq!((is_done, &events[..]), (false, &expected[4..]), "{events:#?}");
    registry.restart();

    // A build aborts on one host. The second step stops, and all hosts return.
    let crashing_reference = push(&registry, &crashing, CONSTRUCTOR, &key);
    fleet.document("plugins.toml", &crashing_reference, 30);
    let (is_done, events) = fleet.follow(&document, &key, &[], |_| ());
    assert!(!is_done, "{events:#?}");
    let count = |word: &str| events.iter().filter(|event| event.starts_with(word)).count();
    assert_eq!((count("written"), count("failed host-2")), (4, 1), "{events:#?}");
    fleet.wait_until_running(&digest_of(&good));
    let restarts = fleet.restarts();
    assert!(restarts.iter().enumerate().all(|(at, restarts)| (at == CRASHING) == (*restarts != 0)), "{restarts:?}");

    // Each of these libraries is rejected before a file of a host is written.
    let other_key = SecretKey::generate().unwrap();
    let foreign = signed_by(&good_unsigned, &other_key, "foreign");
    let artifact = registry.artifact_of(pinned(&good_reference));
    let forge = |library: &Path| {
        format!("{}@{}", registry.repository(), registry.forge(&artifact, &fs::read(library).unwrap()))
    };
    let older_reference = push(&registry, &older, "1.0.0", &key);
    let through = |lie: Lie| {
        let proxy = Proxy::start(registry.address, lie);
        sick_reference.replace(&registry.address.to_string(), &proxy.address.to_string())
    };
    let other_digest = Lie::OtherDigest(pinned(&sick_reference).to_owned(), pinned(&good_reference).to_owned());
    let refusals = [
        (forge(&foreign), "is signed by the unknown key"),
        (forge(&good_unsigned), "has no signature"),
        (forge(&sick), "its annotation vnd.alcedo."),
        (older_reference, "magic_cube 1.0.0 is older than 1.1.0"),
        (through(other_digest), "the registry returned another content"),
        (through(Lie::OtherLibrary), "the registry returned another content"),
        (through(Lie::HalfLibrary), "could not read the library of"),
        (sick_reference.replace("magic-cube@", "magic-cubes@"), "could not read"),
    ];
    for (at, (reference, expected)) in refusals.into_iter().enumerate() {
        let document = fleet.document(&format!("refused-{at}.toml"), &reference, 60);
        let (is_done, events) = fleet.follow(&document, &key, &[], |_| ());
        let last = events.last().map(String::as_str).unwrap_or_default();
        assert!(!is_done && last.starts_with("refused ") && last.contains(expected), "{expected}: {events:#?}");
        assert!(events.iter().all(|event| !event.starts_with("written")), "{events:#?}");
    }
    registry.kill();
    let document = fleet.document("killed.toml", &sick_reference, 60);
    let (is_done, events) = fleet.follow(&document, &key, &[], |_| ());
    assert!(!is_done && events[0].contains("is the registry running"), "{events:#?}");

    let good = digest_of(&good);
    assert_eq!(fleet.files(), vec![good.clone(); HOSTS]);
    fleet.wait_until_running(&good);
    assert_eq!(fleet.restarts(), restarts, "no host has ended since");
}

/// Fault that a rollout contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    None,
    /// The registry is killed before the command starts.
    KilledBefore,
    /// The registry is killed after the library was downloaded.
    KilledAfter,
    /// The registry returns the manifest of the running build.
    OtherDigest,
    OtherLibrary,
    HalfLibrary,
    /// The registry has a library that another key has signed.
    OtherKey,
    /// The build is unhealthy after two seconds.
    Dark,
    /// Aborts a host in an initializer of the library. The canary rejects the build, and the host continues.
    CrashInInitializer,
    /// Aborts a host in a red constructor. A canary does not run this constructor. The supervisor starts the host again.
    CrashInConstructor,
}

impl Fault {
    const ALL: [Self; 10] = [
        Self::None,
        Self::KilledBefore,
        Self::KilledAfter,
        Self::OtherDigest,
        Self::OtherLibrary,
        Self::HalfLibrary,
        Self::OtherKey,
        Self::Dark,
        Self::CrashInInitializer,
        Self::CrashInConstructor,
    ];

    /// Returns the switches of the build, the beginning of the last event, and a part of this event.
    fn expected(self) -> (&'static [&'static str], &'static str, &'static str) {
        match self {
            Self::None | Self::KilledAfter => (&[], "done", ""),
            Self::KilledBefore => (&[], "refused", "is the registry running"),
            Self::OtherDigest | Self::OtherLibrary => (&[], "refused", "the registry returned another content"),
            Self::HalfLibrary => (&[], "refused", "could not read the library of"),
            Self::OtherKey => (&[], "refused", "is signed by the unknown key"),
            Self::Dark => (&[DARK], "failed host-0", fleet::IS_DARK),
            Self::CrashInInitializer => (&[INITIALIZER], "failed host-2", "ended the canary"),
            Self::CrashInConstructor => (&[CONSTRUCTOR], "failed host-2", "the host ended before its health window"),
        }
    }
}

#[test]
#[ignore = "needs Debian's `docker-registry` and eight hosts, about a minute: `.ci/registry` runs it"]
fn random_rollouts_end_on_the_newest_healthy_build_and_lose_no_request() {
    assert!(is_installed(), "install the package `docker-registry`");
    let number = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (rollouts, seed): (u64, u64) = (number(ROLLOUTS, Fault::ALL.len() as u64), number(SEED, 1));
    let mut dice = Dice(seed);
    let (mut registry, builds) = (Registry::start(), Builds::new());
    let (key, other_key) = (builds.public_key(), SecretKey::generate().unwrap());
    let base = builds.unsigned("1.0.0");
    let first = builds.sign(&base);
    let proxy = Proxy::start(registry.address, Lie::None);
    let mut fleet = Fleet::start(HOSTS, &first, builds.key.public(), CRASHING);
    fleet.step = HOSTS - 1;
    let load = Load::start(fleet.addresses());

    let (mut tag, mut digest, mut refused) = (0, digest_of(&first), BTreeSet::new());
    let mut newest = push(&registry, &first, "0", &key);
    let (mut remaining, mut planted) = (Vec::<Fault>::new(), BTreeMap::<Fault, u32>::new());
    let begun = Instant::now();
    for round in 1..=rollouts {
        // Each fault is used once before a fault is repeated.
        if remaining.is_empty() {
            remaining.extend(Fault::ALL);
        }
        let fault = remaining.swap_remove(dice.roll(remaining.len()));
        *planted.entry(fault).or_insert(0) += 1;
        let (on, end, part) = fault.expected();
        let unsigned = builds.copy(&base, &round.to_string(), &Switches { on, tag: Some(round) });
        let library = builds.sign(&unsigned);
        let pushed = push(&registry, &library, &round.to_string(), &key);
        let direct = if fault == Fault::OtherKey {
            let other = fs::read(signed_by(&unsigned, &other_key, "other")).unwrap();
            format!("{}@{}", registry.repository(), registry.forge(&registry.artifact_of(pinned(&pushed)), &other))
        } else {
            pushed
        };
        proxy.set(match fault {
            Fault::OtherDigest => Lie::OtherDigest(pinned(&direct).to_owned(), pinned(&newest).to_owned()),
            Fault::OtherLibrary => Lie::OtherLibrary,
            Fault::HalfLibrary => Lie::HalfLibrary,
            _ => Lie::None,
        });
        let reference = direct.replace(&registry.address.to_string(), &proxy.address.to_string());
        let document = fleet.document("plugins.toml", &reference, 30);
        let restarts = fleet.restarts();
        if fault == Fault::KilledBefore {
            registry.kill();
        }
        let (is_done, events) = fleet.follow(&document, &key, &[], |event| {
            if fault == Fault::KilledAfter && event.starts_with("fetched") {
                registry.kill();
            }
        });

        let what = format!("{SEED}={seed}, rollout {round}: {fault:?}: {events:#?}");
        let last = events.last().map(String::as_str).unwrap_or_default();
        assert!(last.starts_with(end) && last.contains(part), "{what}");
        let is_written = events.iter().any(|event| event.starts_with("written"));
        assert_eq!((is_done, is_written), (end == "done", end != "refused"), "{what}");
        if is_done {
            (tag, digest, newest) = (round, digest_of(&library), direct);
        } else if !is_written {
            refused.insert(round);
        }
        fleet.wait_until_running(&digest);
        assert_eq!(fleet.files(), vec![digest.clone(); HOSTS], "{what}");
        let tags: Vec<_> = fleet.addresses().into_iter().map(|host| load::request(host, round).unwrap()).collect();
        assert_eq!(tags, [tag; HOSTS], "{what}");
        let now = fleet.restarts();
        let ended: Vec<_> = (0..HOSTS).filter(|&at| now[at] != restarts[at]).collect();
        let crashed: &[usize] = if fault == Fault::CrashInConstructor { &[CRASHING] } else { &[] };
        assert_eq!(ended, crashed, "{what}");
        if matches!(fault, Fault::KilledBefore | Fault::KilledAfter) {
            registry.restart();
        }
        fs::remove_dir_all(unsigned.parent().unwrap()).unwrap();
    }

    let (requests, seconds) = (load.stop(), begun.elapsed().as_secs_f64());
    let Requests { sent, lost, tags, longest } = &requests;
    eprintln!("rollouts        {rollouts} over {HOSTS} hosts in {seconds:.0} s, {SEED}={seed}");
    for (fault, count) in &planted {
        eprintln!("                {count} {fault:?}");
    }
    eprintln!("newest healthy  {digest}");
    for (at, file) in fleet.files().iter().enumerate() {
        eprintln!("host {at}          {file}, {} restarts", fleet.restarts()[at]);
    }
    let answered = sent - lost.len() as u64;
    eprintln!("requests        {sent} sent, {answered} answered, {} lost, {longest:.1?} at most", lost.len());
    eprintln!("downloaded      {} bytes", proxy.sent());
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(tags.is_disjoint(&refused), "hosts have run refused builds: {tags:?}, {refused:?}");
}
