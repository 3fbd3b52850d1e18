//! Tests platforms that never unmap an image. If the host has a loader, each image is parked with a reason. A statically linked host
//! refuses to map a library.
#![cfg(all(target_os = "linux", not(target_env = "gnu")))]
#![expect(unsafe_code, reason = "mapping a library runs its code")]

use std::fs;
use std::process::Command;

use alcedo_sys::{Image, ImageFile, MapError, StageDir, Unmapped, keeps_images};
use tempfile::TempDir;

/// Maps a library without dependencies, because the loader of every C library accepts such a library.
fn map() -> Result<Image, MapError> {
    let dir = TempDir::new().expect("a temporary directory");
    let (source, library) = (dir.path().join("answer.c"), dir.path().join("libanswer.so"));
    fs::write(&source, "int answer(void) { return 42; }").expect("the test directory is writable");
    let mut gcc = Command::new("gcc");
    let built = gcc.args(["-shared", "-fPIC", "-nostdlib", "-o"]).arg(&library).arg(&source).status();
    assert!(built.expect("gcc runs").success());
    let stage = StageDir::new().expect("a stage directory");
    let image = ImageFile::read(&library).expect("just built");
    let staged = stage.stage(&image, "answer").expect("the copy can be written");
    // SAFETY: the library is built above and has no initializer.
    unsafe { Image::map(staged, None) }
}

#[test]
#[cfg(not(target_feature = "crt-static"))]
fn an_image_is_parked_with_the_reason_of_the_platform() {
    let image = map().unwrap_or_else(|error| panic!("{error}"));
    // SAFETY: the library exports `answer` with this type; the pointer is not kept.
    let answer = unsafe { image.symbol::<extern "C" fn() -> i32>(c"answer") };
    assert_eq!(answer.expect("exported")(), 42);
    // SAFETY: no pointer into the image is kept.
    match unsafe { image.unmap() } {
        Unmapped::Parked { reason, .. } => assert_eq!(Some(&*reason), keeps_images()),
        Unmapped::Gone => panic!("this platform never unmaps an image"),
    }
}

#[test]
#[cfg(target_feature = "crt-static")]
fn a_static_host_refuses_to_map_a_library() {
    assert!(keeps_images().is_some());
    let error = map().map(|_| ()).expect_err("a static host has no loader");
    assert!(matches!(error, MapError::StaticHost { .. }), "{error}");
    assert!(error.to_string().contains("this host is linked statically"), "{error}");
}
