//! Hosts that ask for much with one verb: posts, texts in the console, a folder of copies that goes away.

use std::fs;

use alcedo_runtime::{Budget, CallError, Runtime, Signature, Value};

use crate::support;
use crate::support::alone;

const CHILD: &str = "ALCEDO_TEST_POSTS";

/// Each post runs a safe point. In a process of its own, since an overflow of the stack ends it.
#[test]
fn posts_that_run_a_safe_point_do_not_run_within_each_other() {
    if std::env::var_os(CHILD).is_some() {
        let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
        let poster = host.post_handle();
        for _ in 0..100_000 {
            assert!(poster.post(|host| host.safe_point()));
        }
        host.tick(Budget::frame());
        drop(host.shutdown());
        return;
    }
    let name = "posts_that_run_a_safe_point_do_not_run_within_each_other";
    let output = alone::only(module_path!(), name).env(CHILD, "1").output().expect("this program starts");
    assert!(output.status.success(), "{}", alone::said(&output));
}

#[test]
fn a_host_whose_folder_of_copies_was_removed_reloads() {
    let library = support::plugin("attributes", &[]);
    let host = support::host(std::slice::from_ref(&library));
    fs::remove_dir_all(host.stage_dir()).expect("it is a folder");
    let report = host.reload(&[library]).expect("a Master");
    assert!(report.is_committed(), "{report}");
}

#[test]
fn a_text_that_the_console_prints_is_read_back_by_it() {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let actor = host.objects().spawn("/Script/Engine.Actor").unwrap_or_else(|error| panic!("{error}"));
    let name = host.objects().name_of(actor).expect("it has one");
    let get = || host.objects().get(actor, "label").unwrap_or_else(|error| panic!("{error}"));
    for text in ["plain", "\"", "\\", "\n\r\t", "a\0b", "a\u{7f}b", "\u{feff}", "a\u{202e}b"] {
        host.objects().set(actor, "label", &Value::Text(text.to_owned())).unwrap_or_else(|error| panic!("{error}"));
        let printed = host.console(&format!("get {name} label"));
        host.objects().set(actor, "label", &Value::Text("other".to_owned())).unwrap_or_else(|error| panic!("{error}"));
        let answer = host.console(&format!("set {name} label {printed}"));
        assert_eq!(get(), Value::Text(text.to_owned()), "{printed}: {answer}");
    }
}

/// Calls itself by its name, through whichever verb, without an end.
fn recurse(typed: bool) {
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    if typed {
        let body = |host: &Runtime, (number,): (u64,)| -> u64 {
            let again = host.function::<(u64,), u64>("ex:/host.again");
            again.and_then(|again| again.call((number + 1,))).unwrap_or(number)
        };
        host.calls().register_typed("host.again", body).expect("a free name");
        drop(host.calls().call("ex:/host.again", &[Value::U64(0)]));
    } else {
        let body = |host: &Runtime, _: &[Value]| {
            let again = host.calls().call("ex:/host.again", &[]);
            again.map_err(|error| CallError::other(&error.to_string()))
        };
        host.calls().register("host.again", Signature::default(), body).expect("a free name");
        host.calls().call("ex:/host.again", &[]).expect_err("it has no end");
    }
    drop(host.shutdown());
}

#[test]
fn a_function_of_the_host_that_calls_itself_by_name_ends_with_an_error() {
    if std::env::var_os(CHILD).is_some() {
        return recurse(false);
    }
    let name = "a_function_of_the_host_that_calls_itself_by_name_ends_with_an_error";
    let output = alone::only(module_path!(), name).env(CHILD, "1").output().expect("this program starts");
    assert!(output.status.success(), "{}", alone::said(&output));
}

#[test]
fn a_typed_function_of_the_host_that_calls_itself_ends_with_an_error() {
    if std::env::var_os(CHILD).is_some() {
        return recurse(true);
    }
    let name = "a_typed_function_of_the_host_that_calls_itself_ends_with_an_error";
    let output = alone::only(module_path!(), name).env(CHILD, "1").output().expect("this program starts");
    assert!(output.status.success(), "{}", alone::said(&output));
}
