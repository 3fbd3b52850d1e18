//! Tests the staging of libraries: a copy differs from the original library only in the bytes that the host patches. Also tests the list of
//! a library's imports.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "mapping a library runs its code")]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use alcedo_sys::{Image, ImageFile, StageDir, Unmapped};
use tempfile::TempDir;

const SOURCE: &str = r#"
#include <pthread.h>
#include <stdlib.h>
__attribute__((section(".slot"), used)) volatile unsigned long slot[3] = { 1, 2, 3 };
unsigned long early;
__attribute__((constructor)) static void first(void) { early = slot[1]; }
unsigned long middle(void) { return early; }
void *block(void) { return malloc(1); }
#ifdef BYPASSING
static void nothing(void *object) { (void)object; }
int make_key(pthread_key_t *key) { return pthread_key_create(key, nothing); }
#endif
"#;

fn library(dir: &Path, extra: &[&str]) -> PathBuf {
    let (source, library) = (dir.join("slot.c"), dir.join("libslot.so"));
    fs::write(&source, SOURCE).expect("the test directory is writable");
    let mut gcc = Command::new("gcc");
    gcc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).args(extra);
    let output = gcc.output().expect("gcc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
}

#[test]
fn a_copy_runs_patched_and_the_library_is_unchanged() {
    let (dir, stage) = (TempDir::new().expect("a temporary directory"), StageDir::new().expect("a stage directory"));
    let path = library(dir.path(), &[]);
    let (file, before) = (ImageFile::read(&path).expect("just built"), fs::read(&path).expect("just built"));
    for word in [7_u64, u64::MAX] {
        let patch = word.to_ne_bytes();
        let staged = stage.stage_with(&file, "slot", None, &[(".slot", 8, &patch)]).expect("it fits");
        assert_eq!(staged.symbols(), None);
        // SAFETY: the library's initializer only copies a word.
        let image = unsafe { Image::map(staged, None) }.expect("the loader accepts it");
        // SAFETY: the library exports `middle` with this type, and the function is used before the image is unmapped.
        let middle = unsafe { image.symbol::<extern "C" fn() -> u64>(c"middle") }.expect("exported");
        assert_eq!(middle(), word);
        // SAFETY: `middle` is not used again.
        assert_eq!(unsafe { image.unmap() }, Unmapped::Gone);
    }
    assert_eq!(fs::read(&path).expect("still there"), before);
    assert_eq!(file.bytes(), before);
}

#[test]
fn a_patch_that_does_not_fit_its_section_leaves_no_copy() {
    let (dir, stage) = (TempDir::new().expect("a temporary directory"), StageDir::new().expect("a stage directory"));
    let file = ImageFile::read(&library(dir.path(), &[])).expect("just built");
    let bytes: &[u8] = &[0; 8];
    for (section, offset) in [(".slot", 17), (".slot", usize::MAX), (".slot", 1 << 40), (".nowhere", 0), (".bss", 0)] {
        let error = stage.stage_with(&file, "slot", Some(bytes), &[(section, offset, bytes)]).expect_err("no room");
        assert!(error.to_string().contains(section), "{error}");
        let files = fs::read_dir(stage.path()).expect("the stage is there").flatten();
        let copies: Vec<_> = files.filter(|entry| entry.file_name() != "lock").collect();
        assert!(copies.is_empty(), "{section} {offset}: {copies:?}");
    }
    stage.stage_with(&file, "slot", None, &[(".slot", 16, bytes)]).expect("the last word");
}

#[test]
fn symbol_bytes_exist_next_to_the_copy_during_its_lifetime() {
    let (dir, stage) = (TempDir::new().expect("a temporary directory"), StageDir::new().expect("a stage directory"));
    let file = ImageFile::read(&library(dir.path(), &[])).expect("just built");
    let both =
        [b"one", b"two"].map(|bytes| stage.stage_with(&file, "slot", Some(bytes), &[]).expect("it can be written"));
    let paths = both.each_ref().map(|staged| staged.symbols().expect("there are some").to_owned());
    assert_ne!(paths[0], paths[1]);
    assert_eq!(paths.each_ref().map(|path| fs::read(path).expect("written")), [b"one", b"two"]);
    assert!(paths.iter().zip(&both).all(|(path, staged)| path.parent() == staged.path().parent()));
    drop(both);
    assert!(!paths[0].exists() && !paths[1].exists());
}

#[test]
fn the_temporary_folder_may_have_a_name_that_is_not_unicode() {
    let dir = TempDir::new().expect("a temporary directory");
    let folder = dir.path().join(OsStr::from_bytes(b"\xff"));
    fs::create_dir(&folder).expect("the test directory is writable");
    let mut child = Command::new(env::current_exe().expect("this program"));
    child.args(["--exact", "staging::symbol_bytes_exist_next_to_the_copy_during_its_lifetime"]).env("TMPDIR", &folder);
    let output = child.output().expect("this program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn imports_and_hook_bypasses_are_known_before_mapping() {
    let dir = TempDir::new().expect("a temporary directory");
    let plain = ImageFile::read(&library(dir.path(), &[])).expect("just built");
    assert!(plain.imports().iter().any(|name| name == "malloc"), "{:?}", plain.imports());
    assert!(!plain.imports().iter().any(|name| name == "middle" || name == "pthread_key_create"));
    assert_eq!(plain.bypassed_hooks(), [""; 0]);
    let bypassing = ImageFile::read(&library(dir.path(), &["-DBYPASSING"])).expect("just built");
    assert_eq!(bypassing.bypassed_hooks(), ["pthread_key_create"]);
}

#[test]
fn files_of_unloaded_images_are_reused_and_those_of_parked_ones_kept() {
    use std::os::unix::fs::MetadataExt as _;

    let (dir, stage) = (TempDir::new().expect("a temporary directory"), StageDir::new().expect("a stage directory"));
    let path = library(dir.path(), &[]);
    let map = || {
        let file = ImageFile::read_copy(&path, &stage).expect("just built");
        let staged = stage.stage_whole(file, "slot", None, &[]).expect("there is room");
        let inode = fs::metadata(staged.path()).expect("the copy is there").ino();
        // SAFETY: the library's initializer only copies a word.
        (inode, unsafe { Image::map(staged, None) }.expect("the loader accepts it"))
    };
    let middle = |image: &Image| {
        // SAFETY: the library exports `middle` with this type, and the function is used before the image is unmapped.
        unsafe { image.symbol::<extern "C" fn() -> u64>(c"middle") }.expect("exported")()
    };
    let (first, image) = map();
    let name = image.path().to_owned();
    // SAFETY: the image is not used again.
    assert_eq!(unsafe { image.unmap() }, Unmapped::Gone);
    let (second, image) = map();
    assert_eq!(second, first, "its pages are used again");
    assert_ne!(image.path(), name);
    assert!(!name.exists());
    let still = middle(&image);
    assert!(matches!(image.park(), Unmapped::Parked { .. }));
    let (third, image) = map();
    assert_ne!(third, second, "somebody may still run in the parked one");
    assert_eq!(middle(&image), still);
    // A smaller file that reuses the space of a larger file contains no bytes of the larger file.
    // SAFETY: the image is not used again.
    assert_eq!(unsafe { image.unmap() }, Unmapped::Gone);
    let mut larger = fs::read(&path).expect("just built");
    larger.extend(vec![7; 1 << 20]);
    fs::write(dir.path().join("larger.so"), larger).expect("the test directory is writable");
    drop(ImageFile::read_copy(&dir.path().join("larger.so"), &stage).expect_err("it continues after its end"));
    let file = ImageFile::read_copy(&path, &stage).expect("just built");
    assert_eq!(file.bytes(), fs::read(&path).expect("still there"));
}

#[test]
fn a_library_that_needs_a_private_copy_of_another_is_not_mapped() {
    let (dir, stage) = (TempDir::new().expect("a temporary directory"), StageDir::new().expect("a stage directory"));
    let file = ImageFile::read(&library(dir.path(), &[])).expect("just built");
    let copy = stage.stage(&file, "slot").expect("it fits");
    let name = copy.path().file_name().expect("it has one").to_str().expect("a plain one").to_owned();
    let other = dir.path().join("other");
    fs::create_dir(&other).expect("the test directory is writable");
    // In the stage directory, a copy of a different library has this name.
    fs::copy(dir.path().join("libslot.so"), dir.path().join(&name)).expect("the test directory is writable");
    let search = format!("-L{}", dir.path().display());
    let needy = library(&other, &["-Wl,--no-as-needed,-rpath,$ORIGIN", &search, &format!("-l:{name}")]);
    let file = ImageFile::read(&needy).expect("just built");
    assert!(file.needed().contains(&name), "{:?}", file.needed());
    let staged = stage.stage(&file, "needy").expect("it fits");
    // SAFETY: the library's initializer only copies a word.
    let error = unsafe { Image::map(staged, None) }.expect_err("it is refused").to_string();
    assert!(error.contains(&format!("it needs {name}, which is the name of a private copy")), "{error}");
    // SAFETY: as above.
    let image = unsafe { Image::map(copy, None) }.expect("it was not mapped before");
    // SAFETY: the image is not used.
    assert_eq!(unsafe { image.unmap() }, Unmapped::Gone);
}
