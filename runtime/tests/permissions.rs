//! Tests the permissions of modules with real plugins. A host compares the declaration with the imports of the file, and with the calls
//! that hooks have recorded. After a refused reload, the old code continues. `canary.rs` tests permissions in a canary.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use crate::support;

use std::path::{Path, PathBuf};

use alcedo_runtime::{
    Budget, ContextError, Error, LoadError, ManifestInfo, Outcome, Permission, PermissionPolicy, Phase, Runtime, Value,
};

/// Log target of the warnings about undeclared permissions that a module uses.
const TARGET: &str = "alcedo_runtime::load::context::registry";

fn modest(names: &[&str]) -> PathBuf {
    support::plugin("modest", names)
}

fn host(policy: PermissionPolicy) -> Runtime {
    support::builder().permissions(policy).build().unwrap_or_else(|error| panic!("{error}"))
}

/// Tries to create a Master with this library, and returns the error. The host must refuse the library.
fn refused(library: &Path) -> String {
    let host = host(PermissionPolicy::Refuse);
    match host.create_master(&[library]) {
        Err(Error::Load(error @ LoadError::Undeclared { .. })) => error.to_string(),
        other => panic!("{}: {other:?}", library.display()),
    }
}

fn tag(host: &Runtime) -> Option<Value> {
    host.calls().call("ex:/modest.tag", &[]).expect("the module answers")
}

#[test]
fn a_module_within_its_permissions_is_accepted() {
    let host = host(PermissionPolicy::Refuse);
    host.create_master(&[modest(&[])]).expect("the module uses nothing");
    let report =
        host.reload(&[modest(&["file-in-main"])]).expect("a Master").into_result().expect("files are declared");
    assert_eq!(report.warnings, Vec::<String>::new());
}

#[test]
fn a_module_without_a_declaration_is_not_checked() {
    let host = host(PermissionPolicy::Refuse);
    host.create_master(&[support::plugin("broken", &["off-thread-log"])]).expect("its main starts a thread");
}

#[test]
fn undeclared_uses_are_refused_with_evidence_and_remedy() {
    let error = refused(&modest(&["network"]));
    assert!(
        error.starts_with("modest uses resources that its `module!` does not declare: `network`, since"),
        "{error}"
    );
    assert!(error.contains("since it imports `bind`; write `permissions: [files, network]`"), "{error}");
    let error = refused(&modest(&["thread-in-main"]));
    assert!(
        error.contains("`threads`, since it called `pthread_create`; write `permissions: [files, threads]`"),
        "{error}"
    );
    let error = refused(&modest(&["nothing", "file-in-main"]));
    assert!(error.contains("`files`, since it opened /etc/passwd; write `permissions: [files]`"), "{error}");
}

#[test]
fn a_refused_reload_leaves_the_old_code_running() {
    let host = host(PermissionPolicy::Refuse);
    host.create_master(&[support::tagged("modest", &[], 1)]).expect("the module uses nothing");
    for (names, phase) in [(["network"], Phase::Stage), (["thread-in-main"], Phase::Start)] {
        let report = host.reload(&[support::tagged("modest", &names, 2)]).expect("a Master");
        let Outcome::RolledBack { phase: found, error } = &report.outcome else { panic!("{report}") };
        assert_eq!(*found, phase, "{error}");
        assert!(error.contains("its `module!` does not declare"), "{error}");
        assert_eq!((host.generation(), tag(&host)), (1, Some(Value::U64(1))), "{names:?}");
    }
    let report = host.reload(&[support::tagged("modest", &[], 3)]).expect("a Master").into_result();
    report.unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(tag(&host), Some(Value::U64(3)));
}

#[test]
fn reported_uses_are_warnings_of_one_report() {
    // Excludes the lines that this test logs from the records of other tests.
    let _log = support::record(TARGET);
    let host = host(PermissionPolicy::Report);
    host.create_master(&[modest(&[])]).expect("the module uses nothing");
    let reload = |names: &[&str]| {
        let report = host.reload(&[modest(names)]).expect("a Master").into_result();
        report.unwrap_or_else(|report| panic!("{report}")).warnings
    };
    let expected = "modest uses `threads` without the permission: it called `pthread_create`; add `threads` to `permissions` of its \
                    `module!`";
    assert_eq!(reload(&["thread-in-main"]), [expected]);
    assert_eq!(reload(&["thread-in-main"]), [""; 0]);
    let [warning] = &reload(&["network"])[..] else { panic!("one warning") };
    assert!(warning.contains("uses `network` without the permission: it imports `bind`"), "{warning}");
}

#[test]
fn later_uses_are_logged_once_at_a_safe_point() {
    let log = support::record(TARGET);
    for policy in [PermissionPolicy::Refuse, PermissionPolicy::Report, PermissionPolicy::Ignore] {
        let host = host(policy);
        host.create_master(&[modest(&[])]).expect("the module uses nothing");
        host.tick(Budget::frame());
        assert_eq!(log.take(), "");
        for round in 0..2 {
            host.calls().call("ex:/modest.start_thread", &[]).expect("the call succeeds");
            host.tick(Budget::frame());
            let lines = log.take();
            let is_logged = lines.contains("modest uses `threads` without the permission: it called `pthread_create`");
            assert_eq!(is_logged, round == 0 && policy != PermissionPolicy::Ignore, "{policy:?} {round}: {lines}");
        }
    }
}

#[test]
fn uses_at_the_end_of_a_module_are_logged() {
    let log = support::record(TARGET);
    let host = host(PermissionPolicy::Report);
    host.create_master(&[modest(&["thread-in-exit"])]).expect("the module uses nothing yet");
    host.tick(Budget::frame());
    assert_eq!(log.take(), "");
    host.unload_master().expect("a Master");
    let lines = log.take();
    assert!(lines.contains("modest uses `threads` without the permission: it called `pthread_create`"), "{lines}");
}

#[test]
fn a_log_subscriber_that_panics_interrupts_neither_a_load_nor_a_frame() {
    let log = support::record(TARGET);
    log.fail();
    let host = host(PermissionPolicy::Report);
    host.create_master(&[modest(&["network"])]).expect("its undeclared import is only reported");
    host.calls().call("ex:/modest.start_thread", &[]).expect("the call succeeds");
    host.tick(Budget::frame());
    let lines = log.take();
    assert!(lines.contains("it imports `bind`") && lines.contains("it called `pthread_create`"), "{lines}");
}

#[test]
fn later_uses_of_slims_are_logged_once_at_a_safe_point() {
    let log = support::record(TARGET);
    let host = host(PermissionPolicy::Report);
    let slim = host.contexts().create_slim("strict").expect("a free name");
    slim.load_path(modest(&[])).expect("the module uses nothing");
    let start = slim.function("", "modest.start_thread", "").unwrap_or_else(|error| panic!("{error}"));
    for is_logged in [true, false] {
        start.call(&[]).expect("the call succeeds");
        host.tick(Budget::frame());
        let lines = log.take();
        assert_eq!(lines.contains("modest uses `threads` without the permission"), is_logged, "{lines}");
    }
}

#[test]
fn slims_refuse_undeclared_uses_as_the_master() {
    let host = host(PermissionPolicy::Refuse);
    let slim = host.contexts().create_slim("strict").expect("a free name");
    for name in ["network", "thread-in-main"] {
        match slim.load_path(modest(&[name])) {
            Err(ContextError::Load(LoadError::Undeclared { module, .. })) => assert_eq!(module, "modest"),
            other => panic!("{name}: {other:?}"),
        }
    }
    slim.load_path(modest(&[])).expect("the module uses nothing");
}

#[test]
fn manifests_show_the_declared_permissions() {
    let permissions = |library: &Path| ManifestInfo::peek(library).expect("a module").permissions;
    assert_eq!(permissions(&modest(&[])), Some(vec![Permission::Files]));
    assert_eq!(permissions(&modest(&["nothing"])), Some(vec![]));
    assert_eq!(permissions(&support::plugin("broken", &[])), None);
    #[cfg(target_arch = "x86_64")]
    for old in ["api-19-rustc-1.95.0.so", "api-19-rustc-1.97.1.so"] {
        let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old").join(old);
        assert_eq!(permissions(&library), None, "{old}");
    }
}
