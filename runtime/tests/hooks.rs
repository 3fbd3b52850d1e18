//! Tests operations that hooks of native classes request. While a hook runs, its object is only partly constructed or destroyed. An
//! operation that replaces, saves or destroys objects is therefore refused.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{ContextEventKind, Error, LocalRegistration, ObjectHandle, Runtime, WeakRuntime};
use expect_test::expect;

use crate::support;

thread_local! {
    /// Host on which the hooks request operations.
    static HOST: RefCell<Option<WeakRuntime>> = const { RefCell::new(None) };
    /// Outcomes of the requests.
    static OUTCOMES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn outcome<T>(result: Result<T, Error>) -> String {
    result.map_or_else(|error| error.to_string(), |_done| "done".to_owned())
}

/// Requests operations, and records the outcomes.
fn request() {
    let Some(host) = HOST.with_borrow(|host| host.as_ref().and_then(WeakRuntime::upgrade)) else { return };
    let outcomes = [
        outcome(host.reload(&[support::plugin("broken", &[])])),
        outcome(host.unload_master()),
        outcome(host.worlds().save("not.world")),
        host.clone().shutdown().left.join("; "),
    ];
    OUTCOMES.with_borrow_mut(|all| all.extend(outcomes));
    assert_eq!(host.collection().collect().expect("a collection spares the object of the hook"), 0);
}

/// Requests a reload for the next safe point. A call of `safe_point` inside the hook must not run this reload.
fn request_later() {
    request();
    let Some(host) = HOST.with_borrow(|host| host.as_ref().and_then(WeakRuntime::upgrade)) else { return };
    host.request_reload(vec![support::plugin("broken", &[])]);
    host.safe_point();
    assert_eq!((host.generation(), host.take_reloads().len()), (1, 0));
}

fn host() -> Runtime {
    let class = NativeClass::new("Test", "Meddler", "/Script/Core.Object")
        .constructor(|_world, _object| {
            request();
            Ok(())
        })
        .post_init_properties(|_world, _object| {
            request();
            Ok(())
        })
        .begin_destroy(|_world, _object| request_later());
    let builder = support::builder().natives(Natives::in_package("Test").class(class));
    let host = builder.build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[support::plugin("broken", &[])]).unwrap_or_else(|error| panic!("{error}"));
    HOST.set(Some(host.downgrade()));
    host
}

#[test]
fn a_hook_of_a_native_class_contains_no_safe_point() {
    let host = host();
    let meddler = host.objects().spawn("/Script/Test.Meddler").expect("spawned");
    expect![[r#"
        a reload is for a safe point, and `the constructor of Test.Meddler (Meddler_1)` has not returned: do it between ticks, or use `request_reload`
        unloading the Master is for a safe point, and `the constructor of Test.Meddler (Meddler_1)` has not returned: do it between ticks, or use `request_unload`
        saving the world is for a safe point, and `the constructor of Test.Meddler (Meddler_1)` has not returned: do it between ticks
        shutting down is for a safe point, and `the constructor of Test.Meddler (Meddler_1)` has not returned: do it between ticks
        a reload is for a safe point, and `post_init_properties of Test.Meddler (Meddler_1)` has not returned: do it between ticks, or use `request_reload`
        unloading the Master is for a safe point, and `post_init_properties of Test.Meddler (Meddler_1)` has not returned: do it between ticks, or use `request_unload`
        saving the world is for a safe point, and `post_init_properties of Test.Meddler (Meddler_1)` has not returned: do it between ticks
        shutting down is for a safe point, and `post_init_properties of Test.Meddler (Meddler_1)` has not returned: do it between ticks"#]]
    .assert_eq(&OUTCOMES.take().join("\n"));
    host.objects().destroy(meddler);
    let outcomes = OUTCOMES.take();
    let hook = "for a safe point, and `begin_destroy of Test.Meddler (Meddler_1)` has not returned";
    assert!(outcomes.len() == 4 && outcomes.iter().all(|outcome| outcome.contains(hook)), "{outcomes:#?}");
    HOST.set(None);
    host.safe_point();
    let reports: Vec<_> = host.take_reloads().iter().map(|report| report.is_committed()).collect();
    assert_eq!((reports, host.generation()), (vec![true], 2), "the request was kept");
    host.shutdown().into_result().expect("the hooks have returned");
}

#[test]
fn a_hook_destroys_and_renames_no_object_during_a_rollback() {
    let class = NativeClass::new("Test", "Reaper", "/Script/Core.Object").begin_destroy(|_world, _object| {
        let Some(host) = HOST.with_borrow(|host| host.as_ref().and_then(WeakRuntime::upgrade)) else { return };
        for object in host.objects().iter() {
            let renamed = host.objects().rename(object, "Reaped", ObjectHandle::NONE);
            let outcome = renamed.map_or_else(|error| error.to_string(), |()| "done".to_owned());
            OUTCOMES.with_borrow_mut(|all| all.push(outcome));
            host.objects().destroy(object);
        }
    });
    let host = support::builder().natives(Natives::in_package("Test").class(class)).build().expect("a host");
    HOST.set(Some(host.downgrade()));
    let reaper = host.objects().spawn("/Script/Test.Reaper").expect("spawned");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("reaper.world");
    host.worlds().save(&file).expect("the folder is writable");
    let described = host.objects().describe(reaper);
    let armed = faults::arm(Fault { step: ReloadStep::BeforeCommit, nth: 0, kind: FaultKind::Error });
    host.worlds().load(&file).expect_err("the last step of the load fails");
    assert!(armed.has_fired());
    drop(armed);
    let outcomes = OUTCOMES.take();
    assert!(!outcomes.is_empty() && outcomes.iter().all(|outcome| outcome != "done"), "{outcomes:?}");
    assert_eq!(host.objects().iter().collect::<Vec<_>>(), [reaper]);
    assert_eq!(host.objects().describe(reaper), described);
    HOST.set(None);
}

#[test]
fn the_hooks_of_replaced_objects_run_in_order_of_creation() {
    let ended = Rc::new(RefCell::new(Vec::new()));
    let listed = Rc::clone(&ended);
    let class = NativeClass::new("Test", "Mourner", "/Script/Core.Object")
        .begin_destroy(move |_world, object| listed.borrow_mut().push(("class", object)));
    let plain = NativeClass::new("Test", "Plain", "/Script/Core.Object");
    let listed = Rc::clone(&ended);
    let natives = Natives::in_package("Test").class(class).class(plain);
    let natives = natives.before_destroy(move |_host, object| listed.borrow_mut().push(("host", object)));
    let host = support::builder().natives(natives).build().expect("a host");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("hooked.world");
    let spawn = |class: &str| host.objects().spawn(class).expect("spawned");
    let [one, two, three] = ["/Script/Test.Plain", "/Script/Test.Mourner", "/Script/Test.Plain"].map(spawn);
    host.worlds().save(&file).expect("the folder is writable");
    host.worlds().load(&file).expect("it is loaded");
    assert_eq!(ended.take(), [("host", one), ("host", two), ("class", two), ("host", three)]);
    // Without the hook of the host, only the destruction of the mourner runs a hook.
    let of_host = |registration: &LocalRegistration| format!("{registration:?}").contains("hook before a destroy");
    host.registrations().into_iter().filter(of_host).for_each(LocalRegistration::remove);
    let mourner = host.objects().iter().nth(1).expect("three objects");
    host.worlds().load(&file).expect("it is loaded");
    assert_eq!(ended.take(), [("class", mourner)]);
    assert_eq!(host.objects().iter().len(), 3);
}

/// The hook of an object loads a world, so the object stays alive until the load has returned.
#[test]
fn a_loaded_object_is_found_while_a_hook_of_a_replaced_object_of_its_name_runs() {
    const ACTOR: &str = "/Script/Engine.Actor";
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("hooked.world");
    let found = Rc::new(RefCell::new(Vec::new()));
    let (noted, path, is_loaded) = (Rc::clone(&found), file.clone(), Cell::new(false));
    let natives = Natives::default().before_destroy(move |host, object| {
        if is_loaded.replace(true) {
            return;
        }
        host.worlds().load(&path).expect("it is loaded");
        let spawned = host.objects().spawn(ACTOR).expect("an actor");
        noted.borrow_mut().extend([Some(object), host.objects().at_path("/World/Actor_1"), Some(spawned)]);
        host.worlds().save(&path).expect("it is saved");
    });
    let host = support::builder().natives(natives).build().expect("a host");
    let old = [(); 2].map(|()| host.objects().spawn(ACTOR).expect("an actor"));
    host.worlds().save(&file).expect("the folder is writable");
    host.objects().destroy(old[0]);
    let [one, two, three] = *host.objects().iter().collect::<Vec<_>>() else { panic!("three objects") };
    assert_eq!(found.take(), [Some(old[0]), Some(one), Some(three)]);
    let last = host.objects().spawn(ACTOR).expect("an actor");
    let paths = [one, two, three, last].map(|object| host.objects().path_of(object).expect("alive"));
    assert_eq!(paths, ["/World/Actor_1", "/World/Actor_2", "/World/Actor_3", "/World/Actor_4"]);
    // The hook has saved two objects with one name. The save has renamed one of them.
    let report = host.worlds().load(&file).expect("each object in the file has its own name");
    assert_eq!(report.objects, 4);
}

#[test]
fn a_listener_creates_no_master_while_the_last_handle_is_dropped() {
    let library = support::plugin("broken", &[]);
    let builder = support::builder().on_event(move |event| {
        let host = HOST.with_borrow(|host| host.as_ref().and_then(WeakRuntime::upgrade));
        if let Some(host) = host.filter(|_| event.event == ContextEventKind::Dead) {
            OUTCOMES.with_borrow_mut(|all| all.push(outcome(host.create_master(&[&library]))));
        }
    });
    let host = builder.build().unwrap_or_else(|error| panic!("{error}"));
    host.create_master(&[support::plugin("broken", &[])]).unwrap_or_else(|error| panic!("{error}"));
    HOST.set(Some(host.downgrade()));
    drop(host);
    expect![["creating the Master is for a safe point, and `ending the host` has not returned: do it between ticks"]]
        .assert_eq(&OUTCOMES.take().join("\n"));
    assert!(HOST.take().is_some_and(|host| host.upgrade().is_none()));
}

#[test]
fn a_handle_that_a_listener_keeps_remains_usable_after_the_drop() {
    thread_local! {
        static KEPT: RefCell<Option<Runtime>> = const { RefCell::new(None) };
    }
    let host = support::host(&[support::plugin("broken", &[])]);
    HOST.set(Some(host.downgrade()));
    host.unloads().on_unloading(0, |host, _| KEPT.set(Some(host.clone())));
    drop(host);
    let kept = KEPT.take().expect("the listener was called");
    kept.create_master(&[support::plugin("broken", &[])]).unwrap_or_else(|error| panic!("{error}"));
    drop(kept);
    assert!(HOST.take().is_some_and(|host| host.upgrade().is_none()));
}
