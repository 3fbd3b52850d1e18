//! Tests the stage directory of private copies. The directory is private under any umask. If a host is killed, a later host removes the
//! directory. Each file that is mapped equals the file that was checked.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "mapping a library runs its code")]
#![expect(clippy::print_stdout, reason = "a child prints the paths of its copies for its parent")]

use crate::common;
use std::env;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use alcedo_sys::{Image, ImageFile, MapError, StageDir, StagedFile, Unmapped, crash};
use rustix::fs::Mode;
use tempfile::TempDir;

/// Environment variables that pass a task and a umask to a child process of this test.
const PART: &str = "ALCEDO_FOLDERS_PART";
const UMASK: &str = "ALCEDO_FOLDERS_UMASK";
const REPORTED: &str = "ALCEDO_FOLDERS_REPORTED";
/// Environment variable that is set if the child must remove its folder before it makes a copy.
const REMOVED: &str = "ALCEDO_FOLDERS_REMOVED";

/// Id of a different user.
const SOMEBODY: u32 = 54_321;

/// Acts as a host in a separate process: creates a stage directory with a copy, prints the path of the copy, and waits for a request to
/// end.
#[test]
fn a_child_is_a_host() {
    let Some(part) = env::var_os(PART) else { return };
    if let Some(umask) = env::var(UMASK).ok().and_then(|umask| u32::from_str_radix(&umask, 8).ok()) {
        rustix::process::umask(Mode::from_bits_truncate(umask));
    }
    if let Some(folder) = env::var_os(REPORTED) {
        crash::report_into(Path::new(&folder)).expect("the first in this process");
    }
    let stage = match StageDir::new() {
        Ok(stage) => stage,
        Err(error) => return println!("\nrefused: {error}"),
    };
    if env::var_os(REMOVED).is_some() {
        fs::remove_dir_all(stage.path()).expect("it was just made");
    }
    let library = ImageFile::read_copy(Path::new(&part), &stage).expect("just built");
    let staged = stage.stage_whole(library, "copy", Some(b"symbols"), &[]).expect("there is room");
    println!("\nstaged: {}", staged.path().display());
    let _end = std::io::stdin().read_line(&mut String::new());
}

/// Child process that acts as a host until it is killed or receives a request to end.
struct Host {
    child: Child,
    input: Option<ChildStdin>,
    reply: String,
    /// Kept open, because the child prints to this pipe again when it ends.
    _output: BufReader<ChildStdout>,
}

impl Host {
    fn start(tmp: &Path, library: &Path, change: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(env::current_exe().expect("this program"));
        command.args(["--exact", "folders::a_child_is_a_host", "--nocapture"]).env(PART, library).env("TMPDIR", tmp);
        change(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let mut child = command.spawn().expect("this program runs");
        let mut output = BufReader::new(child.stdout.take().expect("it was asked for"));
        let is_reply = |line: &String| line.starts_with("staged: ") || line.starts_with("refused: ");
        let reply = output.by_ref().lines().map_while(Result::ok).find(is_reply).expect("it answers");
        Self { input: child.stdin.take(), child, reply, _output: output }
    }

    fn copy(&self) -> PathBuf {
        PathBuf::from(self.reply.strip_prefix("staged: ").unwrap_or_else(|| panic!("{}", self.reply)))
    }

    fn folder(&self) -> PathBuf {
        self.copy().parent().expect("it is in a folder").to_owned()
    }

    fn kill(mut self) -> PathBuf {
        let folder = self.folder();
        self.child.kill().expect("it lives");
        self.child.wait().expect("it was killed");
        assert!(folder.exists(), "a killed process removes nothing");
        folder
    }

    fn end(mut self) {
        self.input.take();
        assert!(self.child.wait().expect("it ends").success());
    }
}

/// Creates a directory for temporary files and a library next to it.
fn scene() -> (TempDir, PathBuf, PathBuf) {
    let dir = TempDir::new().expect("a temporary directory");
    let library = common::c_library(dir.path(), "c", 42, &[]);
    let tmp = dir.path().join("tmp");
    fs::create_dir(&tmp).expect("the test directory is writable");
    fs::set_permissions(&tmp, fs::Permissions::from_mode(0o1777)).expect("it is ours");
    (dir, fs::canonicalize(tmp).expect("just made"), library)
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").mode() & 0o777
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn folder_and_content_are_private_under_any_umask() {
    let (_dir, tmp, library) = scene();
    for umask in ["000", "002", "022", "077", "277", "777"] {
        let host = Host::start(&tmp, &library, |command| {
            command.env(UMASK, umask);
        });
        let (copy, folder) = (host.copy(), host.folder());
        assert_eq!((mode(&folder), mode(&copy)), (0o700, 0o600), "umask {umask}");
        for file in fs::read_dir(&folder).expect("it is ours").flatten() {
            assert_eq!(mode(&file.path()), 0o600, "umask {umask}: {file:?}");
        }
        host.end();
        assert!(!folder.exists());
    }
}

#[test]
fn another_user_can_neither_see_nor_replace_what_is_mapped() {
    if !is_root() {
        return eprintln!("skipped: only the administrator can be another user");
    }
    let (_dir, tmp, library) = scene();
    let host = Host::start(&tmp, &library, |command| {
        command.env(UMASK, "000");
    });
    let (copy, folder) = (host.copy(), host.folder());
    let attempts = [
        format!("ls '{}'", folder.display()),
        format!("cat '{}'", copy.display()),
        format!("echo evil > '{}'", copy.display()),
        format!("mv '{}' '{}/mine'", copy.display(), tmp.display()),
        format!("ln '{}' '{}/mine'", copy.display(), tmp.display()),
        format!("echo evil > '{}/new'", folder.display()),
        format!("mv '{}' '{}/mine'", folder.display(), tmp.display()),
        format!("rm -rf '{}'; test ! -e '{}'", folder.display(), folder.display()),
    ];
    for attempt in attempts {
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", &attempt]).uid(SOMEBODY).gid(SOMEBODY).output().expect("a shell");
        assert!(!output.status.success(), "{attempt}");
    }
    assert!(fs::read(&copy).expect("it is there").starts_with(b"\x7fELF"));
    host.end();
}

/// Returns the error of a host that has this folder for temporary files. Returns `None` if the host makes a copy in the folder.
fn refusal(tmp: &Path, library: &Path) -> Option<String> {
    let host = Host::start(tmp, library, |_| {});
    let reply = host.reply.clone();
    host.end();
    reply.strip_prefix("refused: ").map(str::to_owned)
}

#[test]
fn a_missing_folder_for_temporary_files_is_named() {
    let (_dir, tmp, library) = scene();
    let gone = tmp.join("gone");
    let refused = refusal(&gone, &library).expect("it does not exist");
    assert!(refused.starts_with(&format!("{}: ", gone.display())), "{refused}");
    assert!(refused.contains("point TMPDIR to an existing folder"), "{refused}");
}

#[test]
fn parent_folders_writable_by_others_are_refused() {
    let (_dir, tmp, library) = scene();
    let refusal = |tmp: &Path| refusal(tmp, &library);
    assert_eq!(refusal(&tmp), None, "one as the system's own is taken");
    let below = tmp.join("below");
    fs::create_dir(&below).expect("the test directory is writable");
    fs::set_permissions(&tmp, fs::Permissions::from_mode(0o777)).expect("it is ours");
    for folder in [&tmp, &below] {
        let refused = refusal(folder).expect("everybody may rename what is in there");
        assert!(refused.contains(&format!("{} may be written by everybody", tmp.display())), "{refused}");
        assert!(refused.contains("point TMPDIR to a folder of your own"), "{refused}");
    }
    fs::set_permissions(&tmp, fs::Permissions::from_mode(0o755)).expect("it is ours");
    assert_eq!(refusal(&below), None);
    if is_root() {
        chown(&tmp, Some(SOMEBODY), None).expect("the administrator may");
        let refused = refusal(&below).expect("its owner may rename what is in there");
        assert!(refused.contains(&format!("{} belongs to user {SOMEBODY}", tmp.display())), "{refused}");
    }
}

#[test]
fn a_copy_replaced_after_the_check_is_neither_mapped_nor_run() {
    let (dir, stage) = (TempDir::new().expect("a temporary directory"), StageDir::new().expect("a stage directory"));
    let good = common::c_library(dir.path(), "good", 42, &[]);
    let evil = common::c_library(dir.path(), "evil", 43, &[]);
    let witness = dir.path().join("witness.up");
    let evil = |name: &str| {
        let copy = stage.path().join(name);
        fs::copy(&evil, &copy).expect("the stage is ours");
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o600)).expect("it is ours");
        copy
    };
    type Attack<'a> = &'a dyn Fn(&Path);
    let attacks: [(&str, Attack<'_>); 6] = [
        ("another content in the same file", &|path| {
            fs::write(path, fs::read(evil("content")).expect("just copied")).expect("it is ours");
        }),
        ("one byte, and the time of the last write set back", &|path| {
            let file = File::options().write(true).open(path).expect("it is ours");
            let before = file.metadata().expect("it is open").modified().expect("it has a time");
            file.write_all_at(b"\x7f", 0).expect("it is ours");
            file.set_modified(before).expect("it is ours");
        }),
        ("another file under its name", &|path| fs::rename(evil("renamed"), path).expect("it is ours")),
        ("a link under its name", &|path| {
            fs::remove_file(path).expect("it is ours");
            symlink(evil("linked"), path).expect("it is ours");
        }),
        ("another name that is its own in the end", &|path| {
            fs::rename(path, path.with_extension("aside")).expect("it is ours");
            fs::rename(path.with_extension("aside"), path).expect("it is ours");
        }),
        ("nothing under its name", &|path| fs::remove_file(path).expect("it is ours")),
    ];
    for (what, attack) in attacks {
        let image = ImageFile::read_copy(&good, &stage).expect("just built");
        let staged = stage.stage_whole(image, "good", None, &[]).expect("there is room");
        attack(staged.path());
        // SAFETY: the initializers of both libraries only write a file.
        let mapped = unsafe { Image::map(staged, None) };
        assert!(matches!(&mapped, Err(MapError::Changed { .. })), "{what}: {mapped:?}");
        assert!(!witness.exists(), "{what}: it ran");
        // Simulates attackers that change the stage directory after a library was checked and before its copy receives its name.
        let image = ImageFile::read_copy(&good, &stage).expect("just built");
        let files = fs::read_dir(stage.path()).expect("the stage is ours").flatten().map(|entry| entry.path());
        let copy = files.into_iter().find(|path| path.to_string_lossy().contains("libgood")).expect("the copy");
        attack(&copy);
        let refused = stage.stage_whole(image, "good", None, &[]).expect_err(what).to_string();
        assert!(refused.contains(&good.display().to_string()), "{what}: {refused}");
        let leftovers = fs::read_dir(stage.path()).expect("the stage is ours").flatten().map(|entry| entry.path());
        leftovers.filter(|path| !path.ends_with("lock")).for_each(|path| fs::remove_file(path).expect("it is ours"));
    }
    let image = ImageFile::read_copy(&good, &stage).expect("just built");
    let staged = stage.stage_whole(image, "good", None, &[]).expect("there is room");
    // SAFETY: its initializer only writes a file.
    let image = unsafe { Image::map(staged, None) }.expect("the copy is unchanged");
    assert!(witness.exists());
    // SAFETY: the image is not used again.
    assert_eq!(unsafe { image.unmap() }, Unmapped::Gone);
}

#[test]
fn a_spare_that_is_another_file_by_now_is_not_written_over() {
    let (dir, stage) = (TempDir::new().expect("a temporary directory"), StageDir::new().expect("a stage directory"));
    let library = common::c_library(dir.path(), "c", 42, &[]);
    let victim = dir.path().join("victim");
    let spares = || {
        let files = fs::read_dir(stage.path()).expect("the stage is ours").flatten().map(|entry| entry.path());
        files.filter(|path| path.extension().is_some_and(|ending| ending == "spare")).collect::<Vec<_>>()
    };
    let replace: [&dyn Fn(&Path); 3] = [
        &|spare| symlink(&victim, spare).expect("the stage is ours"),
        &|spare| fs::hard_link(&victim, spare).expect("the stage is ours"),
        &|spare| common::run(Command::new("mkfifo").arg(spare)),
    ];
    for (round, replace) in replace.into_iter().enumerate() {
        let staged = stage.stage(&ImageFile::read(&library).expect("just built"), "c").expect("there is room");
        // SAFETY: its initializer only writes a file.
        let image = unsafe { Image::map(staged, None) }.expect("a good library");
        // SAFETY: the image is not used.
        assert_eq!(unsafe { image.unmap() }, Unmapped::Gone);
        let [spare] = spares().try_into().expect("the one that was mapped");
        fs::remove_file(&spare).expect("the stage is ours");
        fs::write(&victim, b"mine").expect("the test directory is writable");
        fs::set_permissions(&victim, fs::Permissions::from_mode(0o600)).expect("it is ours");
        replace(&spare);
        let staged = stage.stage(&ImageFile::read(&library).expect("just built"), "c").expect("there is room");
        assert_eq!(fs::read(&victim).expect("still there"), b"mine", "round {round}");
        assert!(fs::symlink_metadata(staged.path()).expect("the copy").is_file(), "round {round}");
        assert_eq!((spares(), mode(staged.path())), (vec![], 0o600), "round {round}");
    }
}

#[test]
fn copies_of_other_processes_are_mapped_only_if_private() {
    let dir = TempDir::new().expect("a temporary directory");
    let library = common::c_library(dir.path(), "c", 42, &[]);
    let (link, witness) = (dir.path().join("link"), dir.path().join("witness.up"));
    symlink(&library, &link).expect("the test directory is writable");
    let map = |path: &Path, mode: u32| {
        fs::set_permissions(&library, fs::Permissions::from_mode(mode)).expect("it is ours");
        // SAFETY: its initializer only writes a file.
        unsafe { Image::map(StagedFile::of_another(path), None) }
    };
    for (path, mode) in [(&link, 0o600), (&library, 0o666), (&library, 0o620), (&dir.path().join("nowhere"), 0o600)] {
        let mapped = map(path, mode);
        assert!(matches!(&mapped, Err(MapError::Changed { .. })), "{} {mode:o}: {mapped:?}", path.display());
    }
    assert!(!witness.exists());
    let image = map(&library, 0o600).expect("it is this user's alone");
    // SAFETY: the image is not used again.
    assert_eq!(unsafe { image.unmap() }, Unmapped::Gone);
    assert!(library.exists(), "it is not ours to remove");
}

#[test]
fn folders_of_killed_hosts_are_removed_and_those_of_living_hosts_kept() {
    let (_dir, tmp, library) = scene();
    let start = || Host::start(&tmp, &library, |_| {});
    let (one, other) = (start(), start());
    let (dead, living) = (one.kill(), other.folder());
    let next = start();
    assert!(!dead.exists(), "its host was killed");
    assert!(other.copy().exists() && next.copy().exists());
    next.end();
    other.end();
    assert!(!living.exists());
}

#[test]
fn a_folder_created_again_is_removed_when_its_host_was_killed() {
    let (_dir, tmp, library) = scene();
    let start = |removed: bool| {
        Host::start(&tmp, &library, |command| {
            command.envs(removed.then_some((REMOVED, "1")));
        })
    };
    let host = start(true);
    start(false).end();
    assert!(host.copy().exists(), "its host lives");
    let dead = host.kill();
    start(false).end();
    assert!(!dead.exists(), "its host was killed");
}

#[test]
fn a_killed_hosts_folder_remains_while_its_supervisor_reads_it() {
    let (dir, tmp, library) = scene();
    let reported = dir.path().join("reported");
    fs::create_dir(&reported).expect("the test directory is writable");
    let kept = crash::keep_copies(&reported).expect("the copies are not locked");
    let dead = Host::start(&tmp, &library, |command| {
        command.env(REPORTED, &reported);
    })
    .kill();
    Host::start(&tmp, &library, |_| {}).end();
    assert!(dead.exists(), "somebody reads of its crash");
    drop(kept);
    Host::start(&tmp, &library, |_| {}).end();
    assert!(!dead.exists(), "the copies are not locked any more");
}

#[test]
fn only_folders_of_this_users_dead_hosts_are_removed() {
    let (dir, tmp, library) = scene();
    let folder = |name: &str, mode: u32, lock: &dyn Fn(&Path)| {
        let path = tmp.join(name);
        fs::create_dir(&path).expect("the test directory is writable");
        fs::write(path.join("copy.so"), b"mine").expect("it is ours");
        lock(&path.join("lock"));
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
        path
    };
    let plain = |lock: &Path| fs::write(lock, b"").expect("it is ours");
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("the test directory is writable");
    plain(&elsewhere.join("lock"));
    symlink(&elsewhere, tmp.join("alcedo-stage-link")).expect("it is ours");
    let mut kept = vec![
        elsewhere.join("lock"),
        tmp.join("alcedo-stage-link"),
        folder("alcedo-stage-being-made", 0o700, &|_| {}),
        folder("alcedo-stage-of-all", 0o770, &plain),
        folder("alcedo-stage-linked-lock", 0o700, &|lock| symlink(dir.path().join("c.c"), lock).expect("it is ours")),
        folder("alcedo-stage-pipe", 0o700, &|lock| common::run(Command::new("mkfifo").arg(lock))),
        folder("something-else", 0o700, &plain),
    ];
    if is_root() {
        let others = folder("alcedo-stage-of-another", 0o700, &plain);
        chown(&others, Some(SOMEBODY), None).expect("the administrator may");
        kept.push(others);
    }
    // Folders and symbolic links are removed, but not the targets of the links.
    let dead = folder("alcedo-stage-dead", 0o700, &plain);
    symlink(&library, dead.join("link.so")).expect("it is ours");
    fs::create_dir(dead.join("folder")).expect("it is ours");
    fs::write(dead.join("folder/file"), b"mine").expect("it is ours");
    symlink(&elsewhere, dead.join("folder/link")).expect("it is ours");
    Host::start(&tmp, &library, |_| {}).end();
    assert!(!dead.exists() && library.exists());
    kept.iter().for_each(|path| assert!(path.symlink_metadata().is_ok(), "{}", path.display()));
}

#[test]
fn each_start_removes_a_limited_number_of_folders() {
    let (_dir, tmp, library) = scene();
    for number in 0..100 {
        let path = tmp.join(format!("alcedo-stage-{number}"));
        fs::create_dir(&path).expect("the test directory is writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("it is ours");
        File::create(path.join("lock")).expect("it is ours").write_all(b"").expect("it is ours");
    }
    let left = || fs::read_dir(&tmp).expect("it is ours").count();
    let lefts = [(); 2].map(|()| {
        Host::start(&tmp, &library, |_| {}).end();
        left()
    });
    assert_eq!(lefts, [36, 0]);
}
