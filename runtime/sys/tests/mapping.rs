//! Maps and unmaps real libraries. Each test uses its own stage directory, so that tests do not affect each other.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "mapping a library runs its code")]

use crate::common;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use alcedo_sys::process::{open_fds, rss_kib, stale_mappings, threads};
use alcedo_sys::{Image, ImageFile, MapError, StageDir, Unmapped};
use tempfile::TempDir;

/// Directory with one library and a stage directory. Functions of the library return 42 and further values.
struct Fixture {
    dir: TempDir,
    stage: StageDir,
}

impl Fixture {
    fn new() -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        Self { dir, stage: StageDir::new().expect("a stage directory") }
    }

    fn library(&self) -> std::path::PathBuf {
        common::c_library(self.dir.path(), "c", 42, &[])
    }

    fn map(&self, library: &Path) -> Result<Image, MapError> {
        let image = ImageFile::read(library).expect("just built");
        let staged = self.stage.stage(&image, "c").expect("the copy can be written");
        // SAFETY: `common` builds the library, and its initializer only makes a file.
        unsafe { Image::map(staged, None) }
    }

    fn stale(&self) -> usize {
        stale_mappings(self.stage.path()).expect("the maps can be read").len()
    }
}

fn answer(image: &Image) -> i32 {
    // SAFETY: the library in `common` exports `answer` with this type; the pointer does not leave this function.
    let answer = unsafe { image.symbol::<extern "C" fn() -> i32>(c"answer") };
    answer.expect("exported")()
}

fn unmap(image: Image) -> Unmapped {
    // SAFETY: the tests keep no pointer into an image, only numbers.
    unsafe { image.unmap() }
}

fn reason(unmapped: Unmapped) -> String {
    match unmapped {
        Unmapped::Gone => "gone".to_owned(),
        Unmapped::Parked { reason, .. } => reason,
    }
}

#[test]
fn fifty_builds_at_one_path_leave_no_mapping_behind() {
    let fixture = Fixture::new();
    let builds = [42, 43].map(|n| common::c_library(fixture.dir.path(), &format!("c{n}"), n, &[]));
    let target = fixture.dir.path().join("target.so");
    for round in 0..50 {
        let build = round % 2;
        fs::copy(&builds[build], &target).expect("nothing holds the build's file");
        let image = fixture.map(&target).expect("a good library");
        fs::write(&target, b"being built").expect("nothing holds the build's file");
        assert_eq!(answer(&image), 42 + build as i32, "round {round} runs its own build");
        assert_eq!(fixture.stale(), 1);
        assert_eq!(unmap(image), Unmapped::Gone);
        assert_eq!(fixture.stale(), 0, "after round {round}");
    }
    let left = fs::read_dir(fixture.stage.path()).expect("the stage is there").flatten();
    let left: Vec<_> = left.filter(|entry| entry.file_name() != "lock").collect();
    assert!(left.len() <= 1 && left.iter().all(|file| file.path().extension() == Some("spare".as_ref())), "{left:?}");
}

#[test]
fn finalizers_run_when_an_image_is_unmapped_and_not_before() {
    let fixture = Fixture::new();
    let library = fixture.library();
    let (up, down) = (fixture.dir.path().join("witness.up"), fixture.dir.path().join("witness.down"));
    let image = fixture.map(&library).expect("a good library");
    assert!(up.exists() && !down.exists());
    assert_eq!(unmap(image), Unmapped::Gone);
    assert!(down.exists());
}

#[test]
fn images_are_not_mapped_at_recently_freed_addresses() {
    let fixture = Fixture::new();
    let library = fixture.library();
    let mut seen = Vec::new();
    for _ in 0..20 {
        let image = fixture.map(&library).expect("mapped");
        // SAFETY: the library exports this function, and only its address is used.
        let at = unsafe { image.symbol::<extern "C" fn() -> i32>(c"answer") }.expect("exported") as usize;
        assert!(!seen.contains(&at), "{at:#x} of {seen:x?}");
        seen.push(at);
        assert_eq!(unmap(image), Unmapped::Gone);
    }
}

#[test]
fn images_of_two_threads_are_mapped_at_new_addresses() {
    let seen = Mutex::new(HashSet::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let fixture = Fixture::new();
                let library = fixture.library();
                for round in 0..100 {
                    let image = fixture.map(&library).expect("mapped");
                    // SAFETY: the library exports this function, and only its address is used.
                    let answer = unsafe { image.symbol::<extern "C" fn() -> i32>(c"answer") };
                    let at = answer.expect("exported") as usize;
                    assert!(seen.lock().expect("no panic").insert(at), "{at:#x} in round {round}");
                    assert_eq!(unmap(image), Unmapped::Gone);
                }
            });
        }
    });
}

#[test]
fn an_image_contains_its_code_and_zeroed_data_and_nothing_else() {
    let fixture = Fixture::new();
    let image = fixture.map(&fixture.library()).expect("a good library");
    for name in [c"answer", c"zeroes", c"numbers"] {
        // SAFETY: only the address is used, as a number.
        let address = unsafe { image.symbol::<*const u8>(name) }.expect("exported").addr();
        assert!(image.contains(address), "{name:?}");
    }
    assert!(!image.contains((&raw const image).addr()));
    assert!(!image.contains(fs::read as fn(&'static Path) -> _ as usize));
    assert_eq!(unmap(image), Unmapped::Gone);
}

#[test]
fn a_symbol_of_a_needed_library_is_not_the_images_own() {
    let fixture = Fixture::new();
    let image = fixture.map(&fixture.library()).expect("a good library");
    for name in [c"fopen", c"no_such_thing"] {
        // SAFETY: only the address is used, as a number.
        let found = unsafe { image.symbol::<*const u8>(name) };
        let error = found.expect_err("not there").to_string();
        assert!(error.contains(name.to_str().expect("ASCII")) && error.contains("c."), "{error}");
    }
    assert_eq!(unmap(image), Unmapped::Gone);
}

#[test]
fn a_library_that_cannot_be_bound_leaves_nothing() {
    let fixture = Fixture::new();
    let library = common::c_library(fixture.dir.path(), "lacking", 1, &["-DLACKING"]);
    let error = fixture.map(&library).expect_err("a function is missing").to_string();
    assert!(error.contains("nobody_defines_this"), "{error}");
    assert_eq!(fixture.stale(), 0);
}

#[test]
fn another_handle_parks_an_image() {
    let fixture = Fixture::new();
    let image = fixture.map(&fixture.library()).expect("a good library");
    // SAFETY: the library is mapped already, so nothing runs.
    let other = unsafe { libloading::Library::new(image.path()) }.expect("mapped already");
    let reason = reason(unmap(image));
    assert!(reason.starts_with("the loader still counts uses of it: the user is unknown"), "{reason}");
    assert_eq!(fixture.stale(), 1);
    other.close().expect("the last handle");
    assert_eq!(fixture.stale(), 0);
}

#[test]
fn a_thread_local_destructor_that_waits_parks_an_image() {
    let fixture = Fixture::new();
    let image = fixture.map(&fixture.library()).expect("a good library");
    let pinned = thread::scope(|scope| {
        let pinned = scope.spawn(|| {
            // SAFETY: the library in `common` exports `pin` with this type.
            let pin = unsafe { image.symbol::<extern "C" fn()>(c"pin") }.expect("exported");
            pin();
            reason(unmap(image))
        });
        pinned.join().expect("the thread ends well")
    });
    assert!(
        pinned.contains("it may have destructors of thread-locals by the C library's `__cxa_thread_atexit"),
        "{pinned}"
    );
}

#[test]
fn readers_of_the_file_do_not_keep_the_image() {
    let fixture = Fixture::new();
    let image = fixture.map(&fixture.library()).expect("a good library");
    let file = fs::File::open(image.path()).expect("the copy is there");
    // SAFETY: no code writes to a staged copy.
    let data = unsafe { memmap2::Mmap::map(&file) }.expect("readable");
    assert_eq!(unmap(image), Unmapped::Gone);
    assert_eq!(fixture.stale(), 1, "the reader's mapping is seen although the file is deleted");
    drop(data);
    assert_eq!(fixture.stale(), 0);
}

#[test]
fn a_parked_or_dropped_image_can_still_be_called() {
    let fixture = Fixture::new();
    let library = fixture.library();
    let keep: [fn(Image); 2] = [|image| assert!(reason(image.park()).contains("on purpose")), drop];
    for (count, keep) in (1..).zip(keep) {
        let image = fixture.map(&library).expect("a good library");
        // SAFETY: the library exports `answer` with this type, and a parked image is never unmapped.
        let answer = unsafe { image.symbol::<extern "C" fn() -> i32>(c"answer") }.expect("exported");
        keep(image);
        assert_eq!(answer(), 42);
        assert_eq!(fixture.stale(), count);
    }
}

#[test]
fn a_name_is_never_used_again_even_in_another_stage() {
    let (one, two) = (Fixture::new(), Fixture::new());
    let image = ImageFile::read(&one.library()).expect("just built");
    let names = [&one, &two, &one].map(|fixture| {
        let staged = fixture.stage.stage(&image, "same").expect("the copy can be written");
        staged.path().file_name().expect("a file").to_owned()
    });
    assert!(names[0] != names[1] && names[1] != names[2] && names[0] != names[2], "{names:?}");
}

#[test]
fn dropping_a_stage_removes_its_copies() {
    let fixture = Fixture::new();
    let image = ImageFile::read(&fixture.library()).expect("just built");
    let staged = fixture.stage.stage(&image, "c").expect("the copy can be written");
    let path = fixture.stage.path().to_owned();
    drop(fixture);
    assert!(!path.exists());
    drop(staged);
}

#[test]
fn the_process_has_memory_descriptors_and_threads() {
    assert!(rss_kib().expect("Linux tells") > 500);
    assert!(open_fds().expect("Linux tells") >= 3);
    let waiting = thread::spawn(thread::park);
    assert!(threads().expect("Linux tells") >= 2);
    waiting.thread().unpark();
    waiting.join().expect("the thread ends well");
}
