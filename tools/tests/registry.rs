//! Tests `push`, `pull` and `follow` with Debian's `docker-registry`, host processes and signed plugins: rollouts over eight hosts, unhealthy
//! and crashing builds, and a registry that is killed, lies, or has foreign, unsigned and older modules.

#[path = "registry/fleet.rs"]
mod fleet;
#[path = "registry/server.rs"]
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use alcedo_reflect::testing::Dice;
use alcedo_runtime::development::plain_file::sha256;
use alcedo_runtime::{SecretKey, sign_file};

use crate::support::{Scratch, target};
use fleet::Fleet;
use server::{Lie, Registry, answering_registry, endless_registry, is_installed, lying_proxy};

/// Number of hosts.
const HOSTS: usize = 8;
/// Host that aborts in a red constructor of build 1.3.0. It is in the second step.
const CRASHING: usize = 2;

/// Environment variables with the number of random rollouts, and with their seed.
const ROLLOUTS: &str = "ALCEDO_ROLLOUTS";
const SEED: &str = "ALCEDO_ROLLOUTS_SEED";

/// Signed builds of a plugin, and the keys.
struct Builds {
    scratch: Scratch,
    key: SecretKey,
}

impl Builds {
    fn new() -> Self {
        let (scratch, key) = (Scratch::new(), SecretKey::generate().unwrap());
        fs::write(scratch.root().join("release.pub"), key.public().to_pem()).unwrap();
        Self { scratch, key }
    }

    fn public_key(&self) -> PathBuf {
        self.scratch.root().join("release.pub")
    }

    /// Builds a version, and returns a copy without a signature.
    fn unsigned(&self, version: &str) -> PathBuf {
        let manifest = self.scratch.plugin().join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        let new = format!("version = \"{version}\"");
        let lines: Vec<_> =
            text.lines().map(|line| if line.starts_with("version") { new.as_str() } else { line }).collect();
        fs::write(&manifest, lines.join("\n") + "\n").unwrap();
        let mut build = self.scratch.command(env!("CARGO_BIN_EXE_alcedo"));
        let output = build.arg("build").arg(self.scratch.plugin()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let copy = self.scratch.root().join(format!("unsigned-{version}.so"));
        fs::copy(target().join("debug/libmagic_cube.so"), &copy).unwrap();
        copy
    }

    /// Lets later builds abort in their red constructor on the host that is selected for it.
    fn crash(&self) {
        self.scratch.edit(
            "fn new(_this: This<Self>) -> Self {\n",
            "fn new(_this: This<Self>) -> Self {\n        if std::env::var_os(\"ALCEDO_FOLLOWED_CRASH\").is_some() {\n            \
             std::process::abort();\n        }\n",
        );
    }

    fn signed(&self, version: &str) -> PathBuf {
        signed_by(&self.unsigned(version), &self.key, "signed")
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

/// Pushes a library, and returns its reference with the digest.
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
fn an_invalid_document_makes_no_folder() {
    let dir = tempfile::tempdir().unwrap();
    let key = key_in(dir.path());
    fs::write(dir.path().join("empty.toml"), "").unwrap();
    for name in ["missing.toml", "empty.toml"] {
        let output = alcedo(&["follow", "--once", dir.path().join(name).to_str().unwrap()], &key);
        assert!(!output.status.success(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).starts_with("refused "), "{output:?}");
        assert!(!dir.path().join(format!("{name}.state")).exists(), "{name}");
    }
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
#[ignore = "needs Debian's `docker-registry`, about a minute: `.ci/registry` runs it"]
fn a_pushed_module_is_pulled_by_digest_and_target() {
    assert!(is_installed(), "install the package `docker-registry`");
    let (registry, builds) = (Registry::start(), Builds::new());
    let (unsigned, key) = (builds.unsigned("1.0.0"), builds.public_key());
    let signed = signed_by(&unsigned, &builds.key, "signed");
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

    // A second target is listed under the same tag, and each target has its own library.
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

    // A pull with another key leaves the file in place.
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
    let older = builds.signed("1.0.0");
    let good_unsigned = builds.unsigned("1.1.0");
    let good = signed_by(&good_unsigned, &builds.key, "signed");
    let sick = builds.signed("1.2.0");
    builds.crash();
    let crashing = builds.signed("1.3.0");
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

    // A build that becomes unhealthy reaches one host. The registry is killed before the return, which does not need it.
    let sick_reference = push(&registry, &sick, "1.2.0", &key);
    fleet.document("plugins.toml", &sick_reference, 60);
    let (is_done, events) = fleet.follow(&document, &key, &[], |event| {
        if event.starts_with("written") {
            registry.kill();
        }
    });
    let reason = "libmagic_cube.so: 1.2.0 has lost its lamp";
    let expected = [
        "fetched 1.2.0".to_owned(),
        "written host-0".to_owned(),
        format!("unhealthy host-0 {reason}"),
        "returned host-0".to_owned(),
        format!("failed host-0 {reason}"),
    ];
    assert_eq!((is_done, &events[..]), (false, &expected[..]), "{events:#?}");
    fleet.wait_until_running(&digest_of(&good));
    // The document is not tried again, also without a registry.
    let (is_done, events) = fleet.follow(&document, &key, &[], |_| ());
    assert_eq!((is_done, &events[..]), (false, &expected[4..]), "{events:#?}");
    registry.restart();

    // A build that aborts on one host: the second step is stopped, and all hosts return.
    let crashing_reference = push(&registry, &crashing, "1.3.0", &key);
    fleet.document("plugins.toml", &crashing_reference, 30);
    let (is_done, events) = fleet.follow(&document, &key, &[], |_| ());
    assert!(!is_done, "{events:#?}");
    let count = |word: &str| events.iter().filter(|event| event.starts_with(word)).count();
    assert_eq!((count("written"), count("failed host-2")), (4, 1), "{events:#?}");
    fleet.wait_until_running(&digest_of(&good));
    let restarts = fleet.restarts();
    assert!(restarts.iter().enumerate().all(|(at, restarts)| (at == CRASHING) == (*restarts != 0)), "{restarts:?}");

    // Each of these is refused before a file of a host is written.
    let other_key = SecretKey::generate().unwrap();
    let foreign = signed_by(&good_unsigned, &other_key, "foreign");
    let artifact = registry.artifact_of(pinned(&good_reference));
    let forge = |library: &Path| {
        format!("{}@{}", registry.repository(), registry.forge(&artifact, &fs::read(library).unwrap()))
    };
    let older_reference = push(&registry, &older, "1.0.0", &key);
    let through = |lie: Lie| {
        let proxy = lying_proxy(registry.address, lie);
        sick_reference.replace(&registry.address.to_string(), &proxy.to_string())
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

/// Fault during a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The registry is killed before the command starts.
    KilledBefore,
    /// The registry is killed when the library was downloaded.
    KilledAfter,
    OtherLibrary,
    HalfLibrary,
    OtherKey,
}

#[test]
#[ignore = "needs Debian's `docker-registry` and eight hosts, about two minutes: `.ci/registry` runs it"]
fn random_rollouts_end_on_the_newest_healthy_build() {
    assert!(is_installed(), "install the package `docker-registry`");
    let number = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (rollouts, seed): (u64, u64) = (number(ROLLOUTS, 16), number(SEED, 1));
    let mut dice = Dice(seed);
    let (mut registry, builds) = (Registry::start(), Builds::new());
    let key = builds.public_key();
    let other_key = builds.scratch.root().join("other.pub");
    fs::write(&other_key, SecretKey::generate().unwrap().public().to_pem()).unwrap();
    let mut libraries: Vec<_> = ["1.0.0", "1.1.0", "1.2.0"].map(|version| builds.signed(version)).into();
    builds.crash();
    libraries.push(builds.signed("1.3.0"));
    let digests: Vec<_> = libraries.iter().map(|library| digest_of(library)).collect();
    let references: Vec<_> = libraries
        .iter()
        .enumerate()
        .map(|(at, library)| push(&registry, library, &format!("1.{at}.0"), &key))
        .collect();
    let lying = [Lie::OtherLibrary, Lie::HalfLibrary].map(|lie| lying_proxy(registry.address, lie).to_string());
    let mut fleet = Fleet::start(HOSTS, &libraries[0], builds.key.public(), CRASHING);

    let (mut runs, mut done, mut returned, mut downloaded) = (0, 0, 0, 0);
    let begun = Instant::now();
    for round in 0..rollouts {
        use Fault::{HalfLibrary, KilledAfter, KilledBefore, None, OtherKey, OtherLibrary};
        let build = dice.roll(libraries.len());
        let fault = [None, None, None, KilledAfter, KilledBefore, OtherLibrary, HalfLibrary, OtherKey][dice.roll(8)];
        let through = |proxy: &str| references[build].replace(&registry.address.to_string(), proxy);
        let reference = match fault {
            OtherLibrary => through(&lying[0]),
            HalfLibrary => through(&lying[1]),
            _ => references[build].clone(),
        };
        let document = fleet.document(&format!("rollout-{round}.toml"), &reference, 30);
        if fault == KilledBefore {
            registry.kill();
        }
        let key = if fault == OtherKey { &other_key } else { &key };
        let (is_done, events) = fleet.follow(&document, key, &["--allow-older"], |event| {
            if fault == KilledAfter && event.starts_with("fetched") {
                registry.kill();
            }
        });
        let what = format!("{SEED}={seed}, rollout {round}: build 1.{build}.0, {fault:?}: {events:#?}");
        let is_refused = !matches!(fault, None | KilledAfter);
        let is_healthy = build < 2;
        assert_eq!(is_done, !is_refused && is_healthy, "{what}");
        assert_eq!(events.iter().any(|event| event.starts_with("refused")), is_refused, "{what}");
        if is_done {
            runs = build;
        }
        fleet.wait_until_running(&digests[runs]);
        assert_eq!(fleet.files(), vec![digests[runs].clone(); HOSTS], "{what}");
        done += u64::from(is_done);
        returned += u64::from(!is_done && !is_refused);
        let has_fetched = events.iter().any(|event| event.starts_with("fetched"));
        downloaded += if has_fetched { fs::metadata(&libraries[build]).unwrap().len() } else { 0 };
        registry.restart();
        fs::remove_dir_all(document.with_extension("toml.state")).unwrap();
    }
    eprintln!(
        "{rollouts} rollouts over {HOSTS} hosts in {:.0} s: {done} done, {returned} returned, {} refused, {downloaded} bytes downloaded, {} \
         restarts of the crashing host",
        begun.elapsed().as_secs_f64(),
        rollouts - done - returned,
        fleet.restarts()[CRASHING],
    );
}
