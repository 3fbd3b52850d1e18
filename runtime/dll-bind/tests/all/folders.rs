//! Tests that a call runs with the folder of the library as its working directory, while all other threads keep the working directory of
//! the host.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use alcedo_dll_bind::{Import, UserCode};
use alcedo_reflect::value::Value;

use crate::support::{Fixture, compile, plain};

const SOURCE: &str = "
#include <stdio.h>
int32_t here(void) { FILE* f = fopen(\"in_user_code\", \"r\"); if (f) fclose(f); return f != 0; }
#include <unistd.h>
int32_t leave(void) { return chdir(\"/\"); }
#include <pthread.h>
uint64_t me(void) { return (uint64_t)pthread_self(); }
";

#[test]
fn a_call_runs_in_the_folder_unless_it_is_declared_without() {
    let fixture = Fixture::new(SOURCE);
    fs::write(fixture.folder.path().join("in_user_code"), "").expect("written");
    let here = Import::new("here").returns(plain("i32"));
    assert_eq!(fixture.call(&here, &[]).0, Some(Value::I32(1)));
    assert_eq!(fixture.call(&here.clone().no_cwd(), &[]).0, Some(Value::I32(0)));
    // All calls of one folder run on the same thread.
    let me = Import::new("me").returns(plain("u64"));
    let [one, _] = fixture.bind(&me);
    let call = || one.call(&[]).expect("a call").result;
    assert_eq!(call(), call());
    assert_ne!(call(), fixture.bind(&me.no_cwd())[0].call(&[]).expect("a call").result);
}

#[test]
fn a_directory_change_of_a_library_affects_no_other_thread() {
    let before = std::env::current_dir().expect("one");
    let fixture = Fixture::new(SOURCE);
    fs::write(fixture.folder.path().join("in_user_code"), "").expect("written");
    let [leave, _] = fixture.bind(&Import::new("leave").returns(plain("i32")));
    let here = Import::new("here").returns(plain("i32"));
    assert_eq!(leave.call(&[]).expect("a call").result, Some(Value::I32(0)));
    assert_eq!(std::env::current_dir().expect("one"), before);
    // Although C has changed the directory, the next call runs in the folder again.
    assert_eq!(
        here.bind(&fixture.code.open("Test")).expect("bound").call(&[]).expect("a call").result,
        Some(Value::I32(1))
    );
}

#[test]
fn other_threads_resolve_relative_paths_correctly_during_calls() {
    let fixture = Fixture::new(SOURCE);
    fs::write(fixture.folder.path().join("in_user_code"), "").expect("written");
    let [here, _] = fixture.bind(&Import::new("here").returns(plain("i32")));
    let (is_over, checked) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut wrong = 0;
            while !is_over.load(Ordering::Relaxed) {
                // The working directory of the test is the folder of this crate, which contains `Cargo.toml`.
                wrong += usize::from(fs::metadata("in_user_code").is_ok() || fs::metadata("Cargo.toml").is_err());
                checked.fetch_add(1, Ordering::Relaxed);
            }
            wrong
        });
        let mut right = 0;
        for _ in 0..200_000 {
            right += usize::from(here.call(&[]).expect("a call").result == Some(Value::I32(1)));
        }
        is_over.store(true, Ordering::Relaxed);
        assert_eq!((right, reader.join().expect("it looks")), (200_000, 0));
    });
    assert!(checked.load(Ordering::Relaxed) > 100);
}

#[test]
fn a_call_without_its_folder_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).expect("made");
    compile(&inner, "Test", SOURCE);
    // SAFETY: the functions match the source above.
    let code = unsafe { UserCode::at(&inner) };
    let here = Import::new("here").returns(plain("i32")).bind(&code.open("Test")).expect("bound");
    let away = folder.path().join("away");
    fs::rename(&inner, &away).expect("moved");
    let message = here.call(&[]).expect_err("no folder").to_string();
    assert!(message.contains("no_cwd") && message.contains("`here`"), "{message}");
    fs::rename(&away, &inner).expect("moved back");
    here.call(&[]).expect("the folder is back");
}
