//! Tests native libraries. Covers the rules with the letter D: see `main.rs`.
#![expect(unsafe_code, reason = "promises that a library of data may be closed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use alcedo_runtime::ContextError;

use super::{gone, refusal, reports, runtime, slim};

/// Copies a native library under a new name.
fn native(dir: &Path, name: &str) -> PathBuf {
    let path = dir.join(name);
    fs::copy(reports(1), &path).expect("it can be copied");
    path
}

fn is_mapped(path: &Path) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").expect("it can be read");
    maps.lines().any(|line| line.ends_with(&*path.to_string_lossy()))
}

#[test]
fn d1_a_native_library_is_looked_up_in_a_fixed_order() {
    let (contexts, requests) = (runtime().contexts(), Arc::new(Mutex::new(Vec::new())));
    let slim = slim(&contexts, "d1");
    let resolver_of = |name: &'static str| {
        let requests = Arc::clone(&requests);
        move |library: &str| {
            requests.lock().expect("not poisoned").push(format!("{name} {library}"));
            Ok(None)
        }
    };
    slim.on_resolving_native(resolver_of("handler 1"));
    slim.on_resolving_native(resolver_of("handler 2"));
    slim.set_native_resolver(resolver_of("resolver"));
    slim.set_native_resolver_of("reports", resolver_of("module's"));
    let refused = refusal(slim.native_library("nowhere", Some("reports")));
    let order = ["module's nowhere", "resolver nowhere", "handler 1 nowhere", "handler 2 nowhere"];
    assert_eq!(*requests.lock().expect("not poisoned"), order);
    let folder = reports(1).parent().expect("a folder").display().to_string();
    assert_eq!(
        refused,
        format!(
            "Slim \"d1\" finds no native library nowhere: own libraries did not have it; the resolver of module \
             reports did not have it; the resolver did not have it; the folder {folder} has none; the system's loader \
             did not find it; handler 1 did not have it; handler 2 did not have it"
        )
    );
}

#[test]
fn d1_system_and_module_folder_are_searched_before_the_handlers() {
    let contexts = runtime().contexts();
    let dir = tempfile::tempdir().expect("a folder");
    native(dir.path(), "libbeside.so");
    let file = native(dir.path(), "reports.so");
    let slim = contexts.create_slim("d1").expect("the name is free");
    slim.load_path(&file).expect("it is loaded");
    slim.on_resolving_native(|name| panic!("unexpected request for {name}"));
    let library = slim.native_library("beside", Some("reports")).expect("it is next to the module");
    assert_eq!(library.path(), dir.path().join("libbeside.so"));
    let system = slim.native_library("libm.so.6", None).expect("the system has it");
    assert!(!system.symbol("cos").expect("it has").is_null());
    assert!(matches!(system.symbol("nowhere"), Err(ContextError::Native { .. })));
}

#[test]
fn d2_the_first_result_wins_and_is_cached_per_context() {
    let contexts = runtime().contexts();
    let dir = tempfile::tempdir().expect("a folder");
    let (first, second) = (native(dir.path(), "first.so"), native(dir.path(), "second.so"));
    let slim = slim(&contexts, "d2");
    let calls = Arc::new(Mutex::new(0));
    let (count, answer) = (Arc::clone(&calls), first.clone());
    slim.on_resolving_native(|_| Ok(None));
    slim.on_resolving_native(move |_| {
        *count.lock().expect("not poisoned") += 1;
        Ok(Some(answer.clone()))
    });
    slim.on_resolving_native(move |_| Ok(Some(second.clone())));
    assert_eq!(slim.native_library("found", None).expect("it is found").path(), first);
    assert_eq!(slim.native_library("found", None).expect("it is found").path(), first);
    assert_eq!(*calls.lock().expect("not poisoned"), 1);
}

#[test]
fn d3_a_resolver_returns_an_absolute_path() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "d3");
    slim.set_native_resolver(|_| Ok(Some("relative.so".into())));
    assert!(matches!(slim.native_library("any", None), Err(ContextError::PathNotAbsolute { .. })));
    slim.set_native_resolver(|_| Err("no luck".into()));
    assert!(matches!(slim.native_library("any", None), Err(ContextError::ResolverError { .. })));
    let dir = tempfile::tempdir().expect("a folder");
    let garbage = dir.path().join("garbage.so");
    fs::write(&garbage, "no library").expect("it can be written");
    slim.set_native_resolver(move |_| Ok(Some(garbage.clone())));
    assert!(matches!(slim.native_library("any", None), Err(ContextError::Native { .. })));
}

#[test]
fn d4_native_libraries_outlive_their_context_unless_closing_is_allowed() {
    let contexts = runtime().contexts();
    let dir = tempfile::tempdir().expect("a folder");
    let [kept, closed] = ["stays.so", "goes.so"].map(|name| native(dir.path(), name));
    let slim = slim(&contexts, "d4");
    for path in [&kept, &closed] {
        let library = slim.native_library(&path.to_string_lossy(), None).expect("it is there");
        if *path == closed {
            // SAFETY: the library contains only data.
            unsafe { library.mark_unloadable() };
        }
    }
    let listed = |path: &Path| contexts.natives().into_iter().any(|native| native.path == path);
    assert!(listed(&kept) && listed(&closed) && is_mapped(&closed));
    gone(&slim.begin_unload().expect("it is collectible"));
    assert!(listed(&kept) && is_mapped(&kept), "closing was not permitted");
    assert!(!listed(&closed) && !is_mapped(&closed));
}

#[test]
fn a_native_library_that_its_resolver_has_opened_is_closed_with_the_context() {
    let contexts = runtime().contexts();
    let dir = tempfile::tempdir().expect("a folder");
    let path = native(dir.path(), "twice.so");
    let slim = slim(&contexts, "opened twice");
    let weak = slim.downgrade();
    slim.set_native_resolver_of("reports", move |name| {
        let slim = weak.upgrade().ok_or("the Slim has ended")?;
        Ok(Some(slim.native_library(name, None)?.path().to_owned()))
    });
    let library = slim.native_library(&path.to_string_lossy(), Some("reports")).expect("it is there");
    assert!(is_mapped(&path));
    // SAFETY: the library contains only data.
    unsafe { library.mark_unloadable() };
    drop(library);
    gone(&slim.begin_unload().expect("it is collectible"));
    assert!(!is_mapped(&path));
}
