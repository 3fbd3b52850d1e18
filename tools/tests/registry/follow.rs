//! Tests `follow` without host processes and without a registry: the tests write the status of each host. Covers documents that change
//! during a rollout, interrupted or unsaved returns to the last good files, silent registries, and hosts that are down.

use std::fs;
use std::io::{BufRead as _, BufReader, Lines};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use alcedo_runtime::development::plain_file::sha256;
use tempfile::TempDir;

use super::{Builds, alcedo, digest_of, key_in};

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
fn a_return_that_was_not_written_is_continued() {
    check_return("new", "failed");
    // The document has changed, and the new library is not available.
    check_return("old", "refused");
}

/// Checks that a host still returns to its last good files after a restart of `alcedo follow`. The document with the content `failed` has
/// failed. The present document has the content `new`. `last` is the last event.
fn check_return(failed: &str, last: &str) {
    let dir = interrupted(failed, "localhost:1");
    let [document, state, plugins] =
        ["plugins.toml", "plugins.toml.state", "plugins"].map(|name| dir.path().join(name));
    let follow = || {
        let output = alcedo(&["follow", "--once", document.to_str().unwrap()], &dir.path().join("release.pub"));
        assert!(!output.status.success(), "{output:?}");
        let saved = fs::read_to_string(state.join("state.json")).unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), saved.contains("\"is_unfinished\": false"))
    };
    let (events, is_undone) = follow();
    assert!(!is_undone && events.starts_with("not back") && events.contains("\nrefused "), "{events}");
    assert!(!plugins.join("liblamp.so").exists(), "a host receives all files or none");
    store_other(dir.path());
    let (events, is_undone) = follow();
    assert!(is_undone && events.starts_with("returned ") && events.contains(&format!("\n{last} ")), "{events}");
    assert_eq!(fs::read_to_string(plugins.join("liblamp.so")).unwrap(), "good");
    let (events, _) = follow();
    assert!(events.starts_with(&format!("{last} ")), "{events}");
}

#[test]
fn a_failed_or_refused_document_leaves_only_the_libraries_of_the_hosts() {
    // In the second case, the new document is refused because its library is not available.
    for failed in ["new", "old"] {
        let dir = interrupted(failed, "localhost:1");
        store_other(dir.path());
        let state = dir.path().join("plugins.toml.state");
        let library = |content: &str| state.join(sha256(content.as_bytes()).replace(':', "-"));
        let [unused, good] = ["unused", "good"].map(library);
        fs::write(&unused, "unused").unwrap();
        let document = dir.path().join("plugins.toml");
        alcedo(&["follow", "--once", document.to_str().unwrap()], &dir.path().join("release.pub"));
        assert!(good.exists() && !unused.exists());
    }
}

#[test]
fn a_stored_library_is_used_only_for_its_target() {
    let dir = tempfile::tempdir().unwrap();
    let (key, state, digest) = (key_in(dir.path()), dir.path().join("plugins.toml.state"), sha256(b"unsigned"));
    fs::create_dir(&state).unwrap();
    fs::write(state.join(digest.replace(':', "-")), "unsigned").unwrap();
    write_document(dir.path(), &unregistered("new"), &["a"]);
    let fetched = serde_json::json!({ "module": "magic_cube", "version": "1.0.0", "digest": digest });
    for (target, is_used) in [("one", true), ("other", false)] {
        let resolved = serde_json::json!({ (unregistered("new")): fetched });
        let saved = serde_json::json!({ "good": {}, "resolved": resolved, "failed": null, "target": "one" });
        fs::write(state.join("state.json"), saved.to_string()).unwrap();
        let document = dir.path().join("plugins.toml");
        let output = alcedo(&["follow", "--once", "--target", target, document.to_str().unwrap()], &key);
        let events = String::from_utf8_lossy(&output.stdout);
        assert!(events.starts_with("refused "), "{events}");
        assert_eq!(events.contains("has no signature"), is_used, "{events}");
    }
}

/// Returns the folder of an `alcedo follow` that was ended before it recorded the return of a host to its last good files. The state folder
/// lacks one of these files, `libother.so`. The host reports that it runs all these files. The document with the content `failed` has
/// failed. The present document has the content `new`.
fn interrupted(failed: &str, registry: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    key_in(dir.path());
    let [document, plugins, status] = ["plugins.toml", "plugins", "status.json"].map(|name| dir.path().join(name));
    let reference_to = |content: &str| format!("{registry}/plugins/lamp@{}", sha256(content.as_bytes()));
    let reference = reference_to("new");
    // The longest possible patience. This time exceeds the range of the clock.
    let text = format!(
        "patience = 9223372036854775807\n[modules]\nlamp = \"{reference}\"\n[[hosts]]\nplugins = {plugins:?}\nstatus = {status:?}\n"
    );
    fs::write(&document, text).unwrap();
    let (state, good, other) = (dir.path().join("plugins.toml.state"), sha256(b"good"), sha256(b"other"));
    [&state, &plugins].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
    fs::write(state.join(good.replace(':', "-")), "good").unwrap();
    let id = sha256(format!("lamp {}\n", reference_to(failed)).as_bytes());
    let saved = serde_json::json!({
        "good": { (plugins.to_str().unwrap()): { "liblamp.so": good, "libother.so": other } },
        "resolved": {},
        "failed": { "document": id, "host": "a", "reason": "sick" },
        "is_unfinished": true,
    });
    fs::write(state.join("state.json"), saved.to_string()).unwrap();
    let running = |file: &str, digest: &str| serde_json::json!({ "file": file, "digest": digest, "state": "running" });
    let modules = [running("liblamp.so", &good), running("libother.so", &other)];
    let reported = serde_json::json!({ "process": std::process::id(), "generation": 1, "modules": modules });
    fs::write(&status, reported.to_string()).unwrap();
    dir
}

/// Stores the missing file of [`interrupted`].
fn store_other(dir: &Path) {
    fs::write(dir.join("plugins.toml.state").join(sha256(b"other").replace(':', "-")), "other").unwrap();
}

#[test]
fn a_return_is_repeated_until_its_end_is_saved() {
    let dir = interrupted("new", "localhost:1");
    store_other(dir.path());
    let state = dir.path().join("plugins.toml.state");
    // A folder in place of the new content prevents each write of the state.
    let part = state.join("state.json.part");
    fs::create_dir(&part).unwrap();
    let mut rollout = Rollout::follow(dir);
    assert_eq!([rollout.event(), rollout.event()], ["returned", "refused"]);
    fs::remove_dir(&part).unwrap();
    let last = (0..4).map(|_| rollout.event()).find(|event| event != "refused");
    assert_eq!(last.as_deref(), Some("failed"));
    assert!(fs::read_to_string(state.join("state.json")).unwrap().contains("\"is_unfinished\": false"));
}

#[test]
fn an_invalid_document_does_not_prevent_the_return_of_a_host() {
    let mut rollout = Rollout::follow(interrupted("new", "localhost:1"));
    assert_eq!([rollout.event(), rollout.event()], ["not", "refused"]);
    fs::write(rollout.dir.path().join("plugins.toml"), "").unwrap();
    store_other(rollout.dir.path());
    // The program may have begun another attempt before these changes.
    assert!((0..5).any(|_| rollout.event() == "returned"));
}

#[test]
fn the_next_document_ends_the_wait_for_a_returned_host() {
    let dir = interrupted("new", "localhost:1");
    store_other(dir.path());
    let [document, status, file] =
        ["plugins.toml", "status.json", "plugins/liblamp.so"].map(|name| dir.path().join(name));
    // The host is down, and the patience is unlimited.
    fs::remove_file(status).unwrap();
    let mut rollout = Rollout::follow(dir);
    while !file.exists() {
        thread::sleep(Duration::from_millis(20));
    }
    let text = fs::read_to_string(&document).unwrap();
    fs::write(&document, text.replace(&sha256(b"new"), &sha256(b"newer"))).unwrap();
    assert_eq!([rollout.event(), rollout.event(), rollout.event()], ["not", "failed", "refused"]);
}

#[test]
fn a_silent_registry_does_not_delay_a_return_after_a_restart() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let dir = interrupted("old", &silent.local_addr().unwrap().to_string());
    store_other(dir.path());
    let begun = Instant::now();
    assert_eq!(Rollout::follow(dir).event(), "returned");
    // A client waits 20 s for a silent registry.
    assert!(begun.elapsed().as_secs() < 15, "{:?}", begun.elapsed());
}

/// Library of a module that only an earlier document had.
const OTHER: &str = "libother.so";

/// Process of `alcedo follow`, which follows the document in `dir`.
struct Rollout {
    dir: TempDir,
    process: Child,
    events: Lines<BufReader<ChildStdout>>,
}

impl Rollout {
    /// Starts the rollout of a stored library to one host, which runs the file `old`. Returns after the host has received the library. The
    /// document with the content `failed` has failed before.
    fn start(library: &Path, key: &Path) -> Self {
        let dir = Self::prepare(library, key);
        report(dir.path(), &sha256(b"old"), "running");
        let mut rollout = Self::follow(dir);
        assert_eq!(rollout.event(), "written");
        rollout
    }

    /// Returns the folder for [`Rollout::start`], without a status of the host.
    fn prepare(library: &Path, key: &Path) -> TempDir {
        let (dir, digest) = (tempfile::tempdir().unwrap(), digest_of(library));
        let [plugins, state] = ["a", "plugins.toml.state"].map(|name| dir.path().join(name));
        [&state, &plugins].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
        fs::write(plugins.join("libmagic_cube.so"), "old").unwrap();
        // An earlier document had another module, whose file an operator has replaced since.
        let (earlier, other) = (sha256(b"earlier"), plugins.join(OTHER));
        fs::write(other, "by hand").unwrap();
        fs::write(state.join(earlier.replace(':', "-")), "earlier").unwrap();
        let good = serde_json::json!({ (plugins.to_str().unwrap()): { (OTHER): earlier } });
        let fetched = serde_json::json!({ "module": "magic_cube", "version": "1.0.0", "digest": digest });
        let failed = sha256(format!("magic_cube {}\n", unregistered("failed")).as_bytes());
        let failed = serde_json::json!({ "document": failed, "host": "a", "reason": "sick" });
        let resolved = serde_json::json!({ (unregistered("new")): fetched });
        let saved = serde_json::json!({ "good": good, "resolved": resolved, "failed": failed, "target": "own" });
        fs::write(state.join("state.json"), saved.to_string()).unwrap();
        fs::copy(library, state.join(digest.replace(':', "-"))).unwrap();
        write_document(dir.path(), &unregistered("new"), &["a"]);
        fs::copy(key, dir.path().join("release.pub")).unwrap();
        dir
    }

    /// Starts `alcedo follow` with the document in `dir`. Trusts the key `release.pub` in `dir`.
    fn follow(dir: TempDir) -> Self {
        let [document, key] = ["plugins.toml", "release.pub"].map(|name| dir.path().join(name));
        let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
        command.arg("follow").arg(&document).arg("--trust").arg(&key).args(["--target", "own"]);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let events = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { dir, process, events }
    }

    /// Writes the status of the host.
    fn report(&self, digest: &str, state: &str) {
        report(self.dir.path(), digest, state);
    }

    /// Waits for the next event. Returns its first word.
    fn event(&mut self) -> String {
        let event = self.events.next().expect("an event").unwrap();
        event.split(' ').next().unwrap_or_default().to_owned()
    }
}

impl Drop for Rollout {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Writes the status of the host `a` in `dir`.
fn report(dir: &Path, digest: &str, state: &str) {
    let module = serde_json::json!({ "file": "libmagic_cube.so", "digest": digest, "state": state, "reason": "sick" });
    let status = serde_json::json!({ "process": std::process::id(), "generation": 2, "modules": [module] });
    fs::write(dir.join("a.json"), status.to_string()).unwrap();
}

/// Returns a reference to a module that no registry has.
fn unregistered(content: &str) -> String {
    format!("localhost:1/plugins/magic-cube@{}", sha256(content.as_bytes()))
}

/// Writes a document with these hosts in `dir`.
fn write_document(dir: &Path, reference: &str, hosts: &[&str]) {
    let mut text = format!("[modules]\nmagic_cube = \"{reference}\"\n");
    for host in hosts {
        let (plugins, status) = (dir.join(host), dir.join(format!("{host}.json")));
        text += &format!("[[hosts]]\nplugins = {plugins:?}\nstatus = {status:?}\n");
    }
    fs::write(dir.join("plugins.toml"), text).unwrap();
}

#[test]
#[ignore = "builds a plugin: `.ci/registry` runs it"]
fn a_damaged_library_is_not_a_last_good_one() {
    let builds = Builds::new();
    let library = builds.sign(&builds.unsigned("1.0.0"));
    let mut rollout = Rollout::follow(Rollout::prepare(&library, &builds.public_key()));
    assert_eq!(rollout.event(), "refused");
    assert_eq!(fs::read_to_string(rollout.dir.path().join("a/libmagic_cube.so")).unwrap(), "old");
    rollout.report(&sha256(b"old"), "running");
    // The program may have begun an attempt before this report.
    assert!((0..5).any(|_| rollout.event() == "written"));
}

#[test]
#[ignore = "builds a plugin: `.ci/registry` runs it"]
fn a_document_that_cannot_begin_does_not_interrupt_a_rollout() {
    let builds = Builds::new();
    let library = builds.sign(&builds.unsigned("1.0.0"));
    // The first document has a library of an unreachable registry. The second document has a host without a library.
    for (content, hosts) in [("newer", &["a"][..]), ("new", &["a", "b"][..])] {
        let mut rollout = Rollout::start(&library, &builds.public_key());
        write_document(rollout.dir.path(), &unregistered(content), hosts);
        assert_eq!(rollout.event(), "refused", "{hosts:?}");
        rollout.report(&digest_of(&library), "unhealthy");
        assert_eq!(rollout.event(), "unhealthy", "{hosts:?}");
    }
}

#[test]
#[ignore = "builds a plugin, and needs the certificates of the system: `.ci/registry` runs it"]
fn a_silent_registry_does_not_delay_the_return_of_a_host() {
    let builds = Builds::new();
    let library = builds.sign(&builds.unsigned("1.0.0"));
    let mut rollout = Rollout::start(&library, &builds.public_key());
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let reference = format!("{}/plugins/magic-cube@{}", silent.local_addr().unwrap(), sha256(b"newer"));
    write_document(rollout.dir.path(), &reference, &["a"]);
    let _connection = silent.accept().unwrap();
    rollout.report(&digest_of(&library), "unhealthy");
    assert_eq!(rollout.event(), "unhealthy");
}

#[test]
#[ignore = "builds a plugin: `.ci/registry` runs it"]
fn changes_of_only_the_limits_do_not_extend_the_patience() {
    let builds = Builds::new();
    let library = builds.sign(&builds.unsigned("1.0.0"));
    let rollout = Rollout::start(&library, &builds.public_key());
    let document = rollout.dir.path().join("plugins.toml");
    let text = fs::read_to_string(&document).unwrap();
    // The host still reports the file `old`.
    for step in 2..10 {
        fs::write(&document, format!("patience = 4\nstep = {step}\n{text}")).unwrap();
        thread::sleep(Duration::from_secs(1));
    }
    assert_eq!(fs::read_to_string(rollout.dir.path().join("a/libmagic_cube.so")).unwrap(), "old");
}

#[test]
#[ignore = "builds a plugin: `.ci/registry` runs it"]
fn a_failed_document_ends_a_rollout_with_the_last_good_files() {
    let builds = Builds::new();
    let library = builds.sign(&builds.unsigned("1.0.0"));
    let mut rollout = Rollout::start(&library, &builds.public_key());
    rollout.report(&sha256(b"old"), "running");
    write_document(rollout.dir.path(), &unregistered("failed"), &["a"]);
    assert_eq!([rollout.event(), rollout.event()], ["returned", "failed"]);
    let read = |file: &str| fs::read_to_string(rollout.dir.path().join("a").join(file)).unwrap();
    assert_eq!((read("libmagic_cube.so").as_str(), read(OTHER).as_str()), ("old", "by hand"));
}

#[test]
#[ignore = "builds a plugin: `.ci/registry` runs it"]
fn a_host_that_is_down_later_does_not_fail_a_finished_rollout() {
    let builds = Builds::new();
    let library = builds.sign(&builds.unsigned("1.0.0"));
    let mut rollout = Rollout::start(&library, &builds.public_key());
    rollout.report(&digest_of(&library), "running");
    assert_eq!([rollout.event(), rollout.event()], ["healthy", "done"]);
    fs::remove_file(rollout.dir.path().join("a.json")).unwrap();
    let document = rollout.dir.path().join("plugins.toml");
    fs::write(&document, format!("patience = 1\n{}", fs::read_to_string(&document).unwrap())).unwrap();
    assert_eq!([rollout.event(), rollout.event()], ["unhealthy", "refused"]);
    rollout.report(&digest_of(&library), "running");
    // An attempt may have begun before this report.
    assert!((0..5).any(|_| rollout.event() == "done"));
}

#[test]
#[ignore = "builds a plugin: `.ci/registry` runs it"]
fn a_healthy_newer_library_is_not_replaced_by_the_last_good_one() {
    let builds = Builds::new();
    let [good, newer] = ["1.0.0", "1.1.0"].map(|version| builds.sign(&builds.unsigned(version)));
    let mut rollout = Rollout::start(&good, &builds.public_key());
    rollout.report(&digest_of(&good), "running");
    assert_eq!([rollout.event(), rollout.event()], ["healthy", "done"]);
    let [document, file] = ["plugins.toml", "a/libmagic_cube.so"].map(|name| rollout.dir.path().join(name));
    fs::copy(&newer, &file).unwrap();
    rollout.report(&digest_of(&newer), "running");
    fs::write(&document, format!("patience = 1\n{}", fs::read_to_string(&document).unwrap())).unwrap();
    assert_eq!((rollout.event().as_str(), digest_of(&file)), ("refused", digest_of(&newer)));
}
