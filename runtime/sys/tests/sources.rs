//! Tests how library files are read and copied while a different process may still be writing them. Also tests files that are not
//! libraries.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "maps a file as a linker does, and writes through the mapping")]
#![expect(clippy::print_stdout, reason = "a child prints its results for its parent")]

use crate::common;
use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use alcedo_sys::{Demands, ImageError, ImageFile, StageDir, UserLibrary, seal_file};
use tempfile::TempDir;

/// Environment variables that pass a task and the path of a library to a child process of this test.
const PART: &str = "ALCEDO_SOURCES_PART";
const LIBRARY: &str = "ALCEDO_SOURCES_LIBRARY";

/// Prefix of a line that a child prints. The line contains the start and the end of a read that accepted a torn file, in nanoseconds.
const TORN: &str = "torn read ";

/// Time without writes after which the host may read a file of another user: 25 ms, less the maximum age of a new timestamp, 10 ms.
const QUIET: Duration = Duration::from_millis(15);

/// Id of another user.
const SOMEBODY: u32 = 54_321;

/// Builds two libraries of equal length in which every block of four megabytes differs.
fn builds(dir: &Path) -> [Vec<u8>; 2] {
    let source = dir.join("payload.s");
    [b'a', b'b'].map(|letter| {
        // Uses assembly, because the compiler would take seconds for an array of this size.
        let payload = format!(
            ".section .rodata\n.globl payload\npayload:\n.fill {}, 1, {letter}\n.section .note.GNU-stack,\"\",%progbits\n",
            1 << 22
        );
        fs::write(&source, payload).expect("writable");
        let library = dir.join("build.so");
        common::run(Command::new("gcc").args(["-shared", "-o"]).arg(&library).arg(&source));
        fs::read(&library).expect("just built")
    })
}

/// Reads a file directly, and again through a private copy in the stage directory.
fn read_with_and_without_lease(path: &Path, stage: &StageDir) -> [Result<ImageFile, ImageError>; 2] {
    [ImageFile::read(path), ImageFile::read_copy(path, stage)]
}

#[test]
fn non_files_are_refused_immediately_and_links_to_libraries_accepted() {
    let (dir, stage) = (TempDir::new().expect("a temporary directory"), StageDir::new().expect("a stage directory"));
    let path_in_dir = |name: &str| dir.path().join(name);
    // The first pipe has no writer, and the writer of the second pipe never writes.
    for name in ["pipe", "silent"] {
        common::run(Command::new("mkfifo").arg(path_in_dir(name)));
    }
    let _silent = File::options().read(true).write(true).open(path_in_dir("silent")).expect("a pipe of our own");
    let _socket = UnixListener::bind(path_in_dir("socket")).expect("the test directory is writable");
    symlink(path_in_dir("pipe"), path_in_dir("link-to-pipe")).expect("the test directory is writable");
    let cases = [
        (path_in_dir("pipe"), "a named pipe"),
        (path_in_dir("silent"), "a named pipe"),
        (path_in_dir("link-to-pipe"), "a named pipe"),
        (path_in_dir("socket"), "a socket"),
        (PathBuf::from("/dev/zero"), "a device"),
        (PathBuf::from("/dev/tty"), "a device"),
        (dir.path().to_owned(), "a folder"),
    ];
    for (path, expected) in cases {
        for read in read_with_and_without_lease(&path, &stage) {
            let message = format!("{read:?}");
            let shown = read.as_ref().err().map(ToString::to_string).unwrap_or_default();
            assert_eq!(shown.contains("the feature `script`"), expected == "a folder", "{shown}");
            let is = matches!(read, Err(ImageError::NotAFile { found, .. }) if found == expected);
            assert!(is, "{}: {message}", path.display());
        }
        assert!(seal_file(&path).is_err(), "{}", path.display());
    }
    let library = common::c_library(dir.path(), "c", 42, &[]);
    symlink(&library, path_in_dir("link")).expect("the test directory is writable");
    symlink(path_in_dir("link"), path_in_dir("link-to-link")).expect("the test directory is writable");
    for read in read_with_and_without_lease(&path_in_dir("link-to-link"), &stage) {
        assert_eq!(read.expect("a library").bytes(), fs::read(&library).expect("just built"));
    }
    symlink(path_in_dir("loop"), path_in_dir("loop")).expect("the test directory is writable");
    for path in ["loop", "nowhere"].map(path_in_dir) {
        assert!(
            read_with_and_without_lease(&path, &stage).iter().all(|read| matches!(read, Err(ImageError::Io { .. })))
        );
    }
}

#[test]
fn length_and_first_bytes_are_checked_before_the_rest_is_read() {
    const LENGTH: u64 = 1 << 40;
    let dir = TempDir::new().expect("a temporary directory");
    let demanding = |largest| {
        let demands = Demands { largest, ..Demands::default() };
        StageDir::demanding(demands).expect("a stage directory")
    };
    let (usual, patient) = (demanding(Demands::default().largest), demanding(u64::MAX));
    let library = common::c_library(dir.path(), "c", 42, &[]);
    let path = dir.path().join("sparse.so");
    // The file has a size of a terabyte, so reading or copying it would abort this test.
    let refused = |head: &[u8], stage: &StageDir| {
        fs::write(&path, head).expect("the test directory is writable");
        File::options().write(true).open(&path).and_then(|file| file.set_len(LENGTH)).expect("a sparse file");
        ImageFile::read_copy(&path, stage).expect_err("it is not a library")
    };
    let whole = fs::read(&library).expect("just built");
    let too_large = refused(&whole, &usual);
    assert!(matches!(too_large, ImageError::TooLarge { len: LENGTH, largest, .. } if largest == 1 << 30));
    let message = too_large.to_string();
    assert!(
        message.contains("sparse.so has 1099511627776 bytes") && message.contains("`Builder::largest_library`"),
        "{message}"
    );
    assert!(matches!(ImageFile::read(&path), Err(ImageError::TooLarge { .. })));
    assert!(matches!(refused(b"", &patient), ImageError::Foreign { .. }));
    assert!(matches!(refused(b"MZ", &patient), ImageError::Foreign { .. }));
    let mut program = whole.clone();
    program[16] = 2;
    assert!(matches!(refused(&program, &patient), ImageError::WrongKind { .. }));
    assert!(refused(&whole, &patient).to_string().contains("the file does not end with the section headers"));
    // Moves a table far beyond the end of the file.
    let mut far = whole.clone();
    far[40..48].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(refused(&far, &patient), ImageError::Truncated { .. }));

    let length = whole.len() as u64;
    assert!(ImageFile::read_copy(&library, &demanding(length)).is_ok());
    let small = demanding(length - 1);
    assert!(matches!(ImageFile::read_copy(&library, &small), Err(ImageError::TooLarge { .. })));
    assert!(matches!(ImageFile::copy_bytes(&library, &whole, &small), Err(ImageError::TooLarge { .. })));
    // An image that was read without a stage directory is checked against the size limit during staging.
    let image = ImageFile::read(&library).expect("a library");
    let refused = small.stage(&image, "c").expect_err("it is too large").to_string();
    assert!(refused.contains("this host accepts libraries of at most"), "{refused}");
}

#[test]
fn a_full_disk_is_reported_with_library_and_folder() {
    let dir = TempDir::new().expect("a temporary directory");
    let folder = dir.path().canonicalize().expect("it is there");
    let library = common::c_library(&folder, "c", 42, &[]);
    let program = env::current_exe().expect("this program");
    let output_of = |script: &str| {
        let tmp = dir.path().join("tmp");
        fs::create_dir_all(&tmp).expect("the test directory is writable");
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(&program).env(PART, "copies").env(LIBRARY, &library).env("TMPDIR", &tmp);
        let output = shell.output().expect("a shell");
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then_some(stdout)
    };
    let run = "exec \"$0\" --exact sources::a_child_reads --nocapture";
    // Limits the file size below the size of a library.
    let limited = output_of(&format!("trap '' XFSZ; ulimit -f 4; {run}")).expect("limits may be lowered");
    let full = output_of(&format!(
        "unshare -rm sh -c 'mount -t tmpfs -o size=12k,mode=1777 tmpfs \"$TMPDIR\" && {}' \"$0\"",
        run.replace('\'', "'\\''")
    ));
    if full.is_none() {
        eprintln!("not tried: a file system that is full, which takes a right to mount one");
    }
    for (stdout, why) in [(Some(limited), "File too large"), (full, "No space left on device")] {
        let Some(stdout) = stdout else { continue };
        for part in [why, &library.display().to_string(), "alcedo-stage-", "set TMPDIR to a folder with free space"] {
            assert_eq!(stdout.matches(part).count() / part.matches(part).count(), 4, "{part}: {stdout}");
        }
    }
}

/// Acts as a host in a separate process, if this process was started as a child.
#[test]
fn a_child_reads() {
    let (Some(part), Some(library)) = (env::var_os(PART), env::var_os(LIBRARY)) else { return };
    let (library, stage) = (PathBuf::from(library), StageDir::new().expect("a stage directory"));
    if part == "copies" {
        let image = ImageFile::read(&library).expect("it is a library");
        let bytes = fs::read(&library).expect("it is there");
        let folder = library.parent().expect("it has a folder");
        // SAFETY: the library cannot be copied, so none of its code runs.
        let user_library = unsafe { UserLibrary::open(folder, "c") };
        let errors = [
            user_library.expect_err("the disk is full").to_string(),
            ImageFile::read_copy(&library, &stage).expect_err("the disk is full").to_string(),
            ImageFile::copy_bytes(&library, &bytes, &stage).expect_err("the disk is full").to_string(),
            stage.stage(&image, "c").expect_err("the disk is full").to_string(),
        ];
        errors.iter().for_each(|error| println!("\n{error}"));
        let left = fs::read_dir(stage.path()).expect("it is ours").flatten().map(|entry| entry.file_name());
        assert_eq!(left.collect::<Vec<_>>(), ["lock"], "half a copy");
    } else {
        print!("\n{}", outcomes(&library, &stage));
    }
}

/// Reads a file repeatedly while a thread writes it, and counts the results: one of the builds, a mixture of both, or an error.
fn outcomes(library: &Path, stage: &StageDir) -> String {
    let mut seen = BTreeMap::new();
    // Does not count refusals of a truncated file, because these refusals are quick and would soon reach the limit.
    let enough =
        |seen: &BTreeMap<&str, u32>| seen.iter().filter(|(what, _)| **what != "a part").map(|(_, n)| n).sum::<u32>();
    // On a busy machine the writer may pause for a second.
    let until = Instant::now() + Duration::from_secs(60);
    while enough(&seen) < 40 || !seen.contains_key("still written") && Instant::now() < until {
        let begun = SystemTime::now();
        for read in read_with_and_without_lease(library, stage) {
            let what = match read {
                Ok(image) => {
                    let letters =
                        ['a', 'b'].map(|letter| image.bytes().iter().filter(|byte| **byte == letter as u8).count());
                    // A whole build has all the letters of its own payload. Further letters, and all other bytes, belong to the headers.
                    if letters.iter().filter(|count| **count >= 1 << 22).count() == 1
                        && letters.iter().all(|count| *count >= 1 << 22 || *count < 1 << 15)
                    {
                        "whole"
                    } else {
                        println!("\n{TORN}{} {}", nanos(begun), nanos(SystemTime::now()));
                        "torn"
                    }
                }
                Err(ImageError::StillWritten { .. }) => "still written",
                Err(ImageError::Empty { .. } | ImageError::Truncated { .. } | ImageError::Foreign { .. }) => "a part",
                Err(error) => panic!("{error}"),
            };
            *seen.entry(what).or_insert(0) += 1;
        }
    }
    format!("{seen:?}")
}

/// Overwrites the file in place with alternating builds until stopped. The last build is written completely. Returns the times of all builds
/// that took at least [`QUIET`]: on a busy machine, the system interrupts the writer.
fn rewrite(path: &Path, builds: &[Vec<u8>; 2], pattern: usize, stop: &AtomicBool) -> Vec<(u128, u128)> {
    let (mut round, mut interrupted) = (0, Vec::new());
    while !stop.load(Ordering::Relaxed) {
        let (build, begun) = (&builds[round % 2], SystemTime::now());
        match (pattern, round % 8) {
            // Truncates the file and writes it from the start, as a copy command does.
            (0, _) => fs::write(path, build).expect("writable"),
            // Writes in place and in pieces, as some linkers do.
            (1, _) => {
                let file = OpenOptions::new().write(true).open(path).expect("writable");
                for (piece, bytes) in build.chunks(1 << 16).enumerate() {
                    file.write_all_at(bytes, (piece << 16) as u64).expect("writable");
                }
            }
            // Writes through a mapping, as other linkers do. These writes do not change the modification time of the file.
            _ => {
                let file = OpenOptions::new().read(true).write(true).open(path).expect("writable");
                // SAFETY: readers of the file read it by system calls, and this thread alone writes.
                let mut map = unsafe { memmap2::MmapMut::map_mut(&file) }.expect("it can be mapped");
                drop(file);
                map.copy_from_slice(build);
            }
        }
        if begun.elapsed().is_ok_and(|elapsed| elapsed >= QUIET) {
            interrupted.push((nanos(begun), nanos(SystemTime::now())));
        }
        // Leaves the file unchanged at intervals. A reader can then read a whole build.
        if round % 4 == 3 {
            thread::sleep(Duration::from_millis(40));
        }
        round += 1;
    }
    interrupted
}

fn nanos(time: SystemTime) -> u128 {
    time.duration_since(SystemTime::UNIX_EPOCH).expect("the clock is set").as_nanos()
}

#[test]
fn a_file_rewritten_during_the_read_is_never_accepted_torn() {
    let (dir, stage) = (TempDir::new().expect("a temporary directory"), StageDir::new().expect("a stage directory"));
    let (builds, path) = (builds(dir.path()), dir.path().join("live.so"));
    for pattern in 0..3 {
        fs::write(&path, &builds[0]).expect("the test directory is writable");
        let stop = AtomicBool::new(false);
        let seen = thread::scope(|scope| {
            scope.spawn(|| rewrite(&path, &builds, pattern, &stop));
            let seen = std::panic::catch_unwind(|| outcomes(&path, &stage));
            stop.store(true, Ordering::Relaxed);
            seen.expect("the reader")
        });
        assert!(!seen.contains("torn") && seen.contains("still written"), "way {pattern}: {seen}");
        assert!(
            read_with_and_without_lease(&path, &stage).iter().all(Result::is_ok),
            "way {pattern}: the writer is done"
        );
    }
}

/// The host cannot take a lease on a file of a different user, so the other checks of a copy must detect the change.
#[test]
fn another_users_file_rewritten_during_the_read_is_never_accepted_torn() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only the administrator can be another user");
    }
    let dir = TempDir::new().expect("a temporary directory");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let (builds, path) = (builds(dir.path()), dir.path().join("live.so"));
    // Copies the program, because the target folder may be inaccessible to the second user. A separate process makes the copy. Otherwise a
    // child of a concurrent test could inherit the descriptor that is open for writing, and the system would not execute the copy.
    let program = dir.path().join("program");
    common::run(Command::new("cp").arg(env::current_exe().expect("this program")).arg(&program));
    for pattern in 0..2 {
        fs::write(&path, &builds[0]).expect("the test directory is writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
        let stop = AtomicBool::new(false);
        let (output, interrupted) = thread::scope(|scope| {
            let writer = scope.spawn(|| rewrite(&path, &builds, pattern, &stop));
            let mut child = Command::new(&program);
            child.args(["--exact", "sources::a_child_reads", "--nocapture"]).env(PART, "tallies").env(LIBRARY, &path);
            let child = child.env("TMPDIR", "/tmp").stdin(Stdio::null()).uid(SOMEBODY).gid(SOMEBODY).output();
            stop.store(true, Ordering::Relaxed);
            (child.expect("this program runs"), writer.join().expect("the writer"))
        });
        let stdout = String::from_utf8_lossy(&output.stdout);
        let all = format!("{stdout}{}", String::from_utf8_lossy(&output.stderr));
        // If the writer is interrupted for longer than the host waits, the torn file looks complete.
        let mut excused =
            stdout.lines().filter_map(|line| line.strip_prefix(TORN)?.split_once(' ')).map(|(begun, ended)| {
                let [begun, ended] = [begun, ended].map(|time| time.parse::<u128>().expect("a time"));
                interrupted.iter().any(|(since, until)| *since <= ended && begun <= *until)
            });
        assert!(
            output.status.success() && stdout.contains("still written") && excused.all(|is_excused| is_excused),
            "way {pattern}, with writes interrupted at {interrupted:?}: {all}"
        );
    }
}

/// Simulates a concurrent thread that starts a child process: between fork and exec, the child has the file open for writing.
#[test]
fn a_file_briefly_open_for_writing_is_read() {
    let dir = TempDir::new().expect("a temporary directory");
    let library = common::c_library(dir.path(), "c", 42, &[]);
    let read_during_write = || {
        let writer = OpenOptions::new().write(true).open(&library).expect("writable");
        thread::scope(|scope| {
            scope.spawn(move || {
                thread::sleep(Duration::from_millis(20));
                drop(writer);
            });
            ImageFile::read(&library)
        })
    };
    // Repeats the read, because the thread that closes the file may be late on a busy machine.
    assert!((0..10).any(|_| read_during_write().is_ok()));
}

#[test]
fn unsealed_files_open_for_writing_are_refused_until_closed() {
    let (dir, stage) = (TempDir::new().expect("a temporary directory"), StageDir::new().expect("a stage directory"));
    let [build, other] = builds(dir.path());
    let path = dir.path().join("slow.so");
    fs::write(&path, &build).expect("the test directory is writable");
    // Pauses in the middle of the write. According to its headers, the file is already a valid library.
    let mut writer = OpenOptions::new().write(true).open(&path).expect("writable");
    writer.write_all(&other[..other.len() / 2]).expect("writable");
    for read in read_with_and_without_lease(&path, &stage) {
        let error = read.expect_err("half of each build");
        assert!(matches!(error, ImageError::StillWritten { .. }), "{error}");
        assert!(error.to_string().contains("slow.so is still being written: a program has it open"), "{error}");
    }
    writer.write_all(&other[other.len() / 2..]).expect("writable");
    assert!(read_with_and_without_lease(&path, &stage).iter().all(Result::is_err), "the file may be incomplete");
    drop(writer);
    assert!(read_with_and_without_lease(&path, &stage).iter().all(Result::is_ok));
    seal_file(&path).expect("it is whole");
    let _idle = OpenOptions::new().write(true).open(&path).expect("writable");
    for read in read_with_and_without_lease(&path, &stage) {
        assert!(read.expect("the seal vouches for it").is_sealed());
    }
    // A reader does not prevent later writes.
    assert!(OpenOptions::new().write(true).open(&path).is_ok());
}
