//! Tests that a collection ends even if the `add_references` hook of a native class writes properties.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{Budget, ObjectHandle, Value, WeakRuntime, World};

use crate::support;
use crate::support::alone;

const CHILD: &str = "ALCEDO_TEST_REFERENCES";

thread_local! {
    static HOST: RefCell<Option<(WeakRuntime, ObjectHandle)>> = const { RefCell::new(None) };
}

/// Writes a property of another object while references are collected.
fn write(_world: &World, _object: ObjectHandle, _visit: &mut dyn FnMut(ObjectHandle)) {
    let (host, other) = HOST.with_borrow(|host| host.as_ref().map(|it| (it.0.upgrade(), it.1))).unwrap_or_default();
    if let Some(host) = host {
        let _written = host.objects().set(other, "friends", &Value::Array(Vec::new()));
    }
}

fn collect(in_slices: bool) {
    let class = NativeClass::new("Test", "Writer", "/Script/Core.Object")
        .property("friends", (PropertyKind::ARRAY, "Object(/Script/Test.Writer)"), 0, "")
        .add_references(write);
    let natives = Natives::in_package("Test").class(class);
    let host = support::builder().natives(natives).build().unwrap_or_else(|error| panic!("{error}"));
    let [_one, other] = [(); 2].map(|()| host.objects().spawn("/Script/Test.Writer").expect("spawned"));
    HOST.set(Some((host.downgrade(), other)));
    if in_slices {
        host.collection().begin_in_slices();
        for _ in 0..100 {
            host.tick(Budget::frame());
        }
        assert!(!host.collection().is_in_progress());
    } else {
        host.collection().collect().unwrap_or_else(|error| panic!("{error}"));
    }
    HOST.set(None);
}

fn ends(how: &str, name: &str) -> bool {
    let mut child = alone::only(module_path!(), name).env(CHILD, how).spawn().expect("this program starts");
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(10) {
        if let Some(status) = child.try_wait().expect("it can be asked") {
            return status.success();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("it runs");
    child.wait().expect("it is gone");
    false
}

#[test]
fn a_collection_ends_though_references_are_written_in_it() {
    match std::env::var(CHILD).as_deref() {
        Ok(_) => collect(false),
        Err(_) => assert!(ends("whole", "a_collection_ends_though_references_are_written_in_it")),
    }
}

#[test]
fn a_collection_in_slices_ends_though_references_are_written_in_it() {
    match std::env::var(CHILD).as_deref() {
        Ok(_) => collect(true),
        Err(_) => assert!(ends("slices", "a_collection_in_slices_ends_though_references_are_written_in_it")),
    }
}
