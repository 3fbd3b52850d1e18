//! Tests plugins whose C code defines functions for which `module!` has hooks. Crash handlers define `pthread_create`, and allocators
//! define the functions of the C heap. On request, `module!` omits the hooks for these functions. All other hooks must then work.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use crate::support;

use std::time::Duration;

use alcedo_build::Variants;
use alcedo_runtime::{Runtime, Value};

fn call(host: &Runtime, name: &str, arguments: &[Value]) -> Option<Value> {
    let called = host.calls().call(&format!("ex:/interposer.{name}"), arguments);
    called.unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn the_linker_refuses_an_interposer_without_the_opt_in() {
    let refused = |feature: &str| {
        let request = support::request("interposer", &[feature]);
        let built = Variants::new(support::test_dir().join("refused")).get(&request, &format!("interposer-{feature}"));
        built.expect_err("it does not link").to_string()
    };
    let error = refused("hooked");
    assert!(error.contains("pthread_create") && error.contains("malloc"), "{error}");
    let error = refused("undefined");
    assert!(error.contains("alarm"), "a function that the plugin does not define: {error}");
}

#[test]
fn a_plugin_with_its_own_c_heap_and_threads_is_unmapped() {
    let library = support::plugin("interposer", &[]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("line");
    std::fs::write(&file, "a line that is longer than four bytes\nanother\n").expect("a file");
    let file = file.canonicalize().expect("it is there").display().to_string();
    let host = support::host(std::slice::from_ref(&library));
    for round in 0..3 {
        assert_eq!(call(&host, "thread", &[]), Some(Value::U32(1)), "the C code sees its threads");
        let before = call(&host, "blocks", &[]);
        let blocks = call(&host, "blocks_of_c", &[Value::Text(file.clone())]);
        assert_eq!(blocks, Some(Value::Text(format!("{file} a line that is longer than four bytes copied 7 end"))));
        assert_eq!(call(&host, "blocks", &[]), before, "all blocks were of its heap and are freed");
        let report = host.reload(&[&library]).expect("there is a Master").into_result();
        let report = report.unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(report.parked, Vec::<String>::new());
        let warned: Vec<_> = report.warnings.iter().filter(|line| line.contains("`unhooked`")).collect();
        assert_eq!(warned.len(), usize::from(round == 0), "once: {:?}", report.warnings);
        let named = ["interposer calls", "`pthread_create`", "`malloc`", "`free`"];
        assert!(warned.iter().all(|line| named.iter().all(|name| line.contains(name))), "{warned:?}");
    }
    host.shutdown().into_result().unwrap_or_else(|report| panic!("{report:?}"));
}

#[test]
fn a_thread_started_by_an_interposed_function_keeps_the_image() {
    let library = support::plugin("interposer", &[]);
    let folder = tempfile::tempdir().expect("a folder");
    let release = folder.path().join("release");
    let host = support::hasty_host(std::slice::from_ref(&library));
    call(&host, "wait_for", &[Value::Text(release.display().to_string())]);
    host.reload(&[&library]).expect("there is a Master").into_result().expect("the new code runs already");
    let [ticket] = host.unloads().tickets().try_into().expect("one generation is unloading");
    let report = ticket.wait(Duration::from_millis(100)).expect_err("the thread still runs").to_string();
    assert!(report.contains("\"waiter\""), "{report}");
    std::fs::write(&release, "").expect("a file");
    ticket.wait(Duration::from_secs(60)).unwrap_or_else(|report| panic!("{report}"));
}
