//! Tests the notes that a host writes for crash reports: the address range and the end of each image, in a file of bounded size. While
//! panics are reported, the files of unmapped images are kept.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "mapping a library runs its code")]

use crate::common;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use alcedo_sys::{Image, ImageFile, StageDir, Unmapped, crash, panics};
use tempfile::TempDir;

/// Environment variables for a child process of this test: the library to map, and the folder for the notes.
const LIBRARY: &str = "ALCEDO_NOTES_LIBRARY";
const REPORTED: &str = "ALCEDO_NOTES_REPORTED";

/// Number of reloads in the test, and maximum number of images in the notes.
const RELOADS: usize = 1_500;
const REMEMBERED: usize = 512;

/// Returns immediately unless this process was started as a child.
#[test]
fn a_child_maps_and_unmaps() {
    let Some(library) = env::var_os(LIBRARY) else { return };
    let reported = env::var_os(REPORTED).expect("the parent sets both");
    crash::report_into(Path::new(&reported)).expect("the first in this process");
    a_forked_child_that_crashes_reports_nothing_for_its_parent(Path::new(&reported));
    let stage = StageDir::new().expect("a stage directory");
    crash::stage(stage.path());
    let file = ImageFile::read(Path::new(&library)).expect("just built");
    for reload in 0..RELOADS {
        let staged = stage.stage(&file, "strange name").expect("the copy can be written");
        crash::module(reload as u64, "strange name", staged.path());
        // SAFETY: the library has one initializer, which makes a file of the test.
        let image = unsafe { Image::map(staged, None) }.expect("the loader accepts it");
        // SAFETY: the image is not used.
        assert_eq!(unsafe { image.unmap() }, Unmapped::Gone);
    }
    // Writes notes of an image that stays mapped, and of an image that is never mapped.
    let staged = stage.stage(&file, "stays").expect("the copy can be written");
    crash::module(7, "stays", staged.path());
    // SAFETY: as above.
    let pinned = unsafe { Image::map(staged, None) }.expect("the loader accepts it");
    let broken = stage.stage(&file, "broken").expect("the copy can be written");
    crash::module(8, "broken", broken.path());
    fs::write(broken.path(), b"somebody writes into it").expect("it is ours");
    // SAFETY: as above, if it were mapped at all.
    unsafe { Image::map(broken, None) }.expect_err("it is not what was checked");
    fs::write(Path::new(&reported).join("copy"), pinned.path().display().to_string()).expect("it is ours");
}

fn a_forked_child_that_crashes_reports_nothing_for_its_parent(reported: &Path) {
    // SAFETY: the child ends immediately.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: this function is allowed after a fork.
        unsafe { libc::abort() };
    }
    let mut status = 0;
    // SAFETY: `child` is a child of this process.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!((libc::WIFSIGNALED(status), libc::WTERMSIG(status)), (true, libc::SIGABRT));
    let report = fs::read_to_string(reported.join(crash::CRASH)).expect("it was created");
    assert_eq!(report, "");
}

#[test]
fn many_reloads_leave_a_short_file_of_the_last_ones() {
    let dir = TempDir::new().expect("a temporary directory");
    let library = common::c_library(dir.path(), "noted", 42, &[]);
    let reported = dir.path().join("reported");
    fs::create_dir(&reported).expect("the test directory is writable");
    let mut child = Command::new(env::current_exe().expect("this program"));
    child
        .args(["--exact", "notes::a_child_maps_and_unmaps", "--nocapture"])
        .env(LIBRARY, &library)
        .env(REPORTED, &reported);
    let output = child.output().expect("this program runs");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{stdout}");
    let copy = fs::read_to_string(reported.join("copy")).expect("the child has written it");

    let notes = fs::read_to_string(reported.join(crash::NOTES)).expect("it was written");
    let count = |first: &str| notes.lines().filter(|line| line.split(' ').next() == Some(first)).count();
    assert!(notes.lines().all(|line| line.ends_with(" .")), "each line is whole");
    assert!(notes.lines().count() < 4 * (3 * REMEMBERED), "{} lines", notes.lines().count());
    assert!((REMEMBERED..RELOADS).contains(&count("gone")), "{} are reported as gone", count("gone"));
    assert_eq!((count("stage"), count("forgotten")), (1, 1));
    assert!(notes.contains(&format!("module 7 stays {copy} .\n")) && notes.contains(&format!("mapped {copy} ")));
    assert!(!notes.lines().any(|line| line.starts_with("gone ") && line.contains(&copy)), "it is there");
    let gone = |copy: &str| notes.lines().any(|line| line.starts_with("gone ") && line.split(' ').nth(2) == Some(copy));
    let of_generation = |generation: usize, name: &str| {
        let begin = format!("module {generation} {name} ");
        let line = notes.lines().find_map(|line| line.strip_prefix(&begin)).unwrap_or_else(|| panic!("{begin}"));
        line.trim_end_matches(" .").to_owned()
    };
    assert!(gone(&of_generation(RELOADS - 1, "strange\\20name")), "the last one is");
    assert!(gone(&of_generation(8, "broken")), "what never came does not look as if it were there");
    assert!(!reported.join("notes.new").exists());
}

#[test]
fn an_unmapped_image_keeps_its_file_for_reports_of_panics() {
    let (dir, stage) = (TempDir::new().expect("a temporary directory"), StageDir::new().expect("a stage directory"));
    panics::report_into(dir.path()).expect("the folder exists");
    let file = ImageFile::read(&common::c_library(dir.path(), "panics", 42, &[])).expect("just built");
    let staged = stage.stage(&file, "panics").expect("the copy can be written");
    // SAFETY: the library has one initializer, which makes a file of the test.
    let image = unsafe { Image::map(staged, None) }.expect("the loader accepts it");
    let path = image.path().to_owned();
    // SAFETY: the image is not used.
    assert_eq!(unsafe { image.unmap() }, Unmapped::Gone);
    assert!(path.exists(), "a report resolves calls in it by its name");
}
