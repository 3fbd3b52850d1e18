//! Tests that every load requires an absolute path, so that the result does not depend on the current directory.

use std::cell::RefCell;

use alcedo_runtime::{ContextError, Error, FoundModule, LoadError, ManifestInfo, SlimWatch};

use super::{any, needy, runtime, slim, support};

/// Returns a path of a library relative to the current directory.
fn relative() -> String {
    let here = std::env::current_dir().expect("there is one").canonicalize().expect("it is there");
    let library = support::plugin("reports", &[]).canonicalize().expect("it was built");
    let mut path = "../".repeat(here.components().count() - 1);
    path.push_str(library.strip_prefix("/").expect("it is absolute").to_str().expect("it is text"));
    assert!(std::fs::exists(&path).expect("it can be asked"), "{path} does not resolve");
    path
}

#[test]
fn a_relative_path_is_refused_at_every_entry_point() {
    let (host, path) = (runtime(), relative());
    let contexts = host.contexts();
    let refused = RefCell::new(Vec::new());
    let context_refuses = |entry_point: &'static str, outcome: Result<(), ContextError>| {
        let error = outcome.expect_err(entry_point);
        let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref());
        assert!(
            matches!(error, ContextError::PathNotAbsolute { .. })
                || matches!(cause, Some(ContextError::PathNotAbsolute { .. })),
            "{entry_point}: {error:?}"
        );
        refused.borrow_mut().push(error.to_string());
    };
    let host_refuses = |entry_point: &'static str, error: Error| {
        assert!(matches!(error, Error::Load(LoadError::PathNotAbsolute { .. })), "{entry_point}: {error:?}");
        refused.borrow_mut().push(error.to_string());
    };

    let slim = slim(&contexts, "paths");
    context_refuses("a Slim", slim.load_path(&path).map(drop));
    context_refuses("a replacement", slim.replace(&path).map(drop));
    context_refuses("the Default", contexts.default_context().load_path(&path).map(drop));
    context_refuses("a peek", ManifestInfo::peek(path.as_ref()).map(drop));
    match SlimWatch::start(&slim, &path, drop) {
        Err(Error::Context(error)) => context_refuses("a watch", Err(error)),
        other => panic!("{other:?}"),
    }

    let slim = contexts.create_slim("asked").expect("the name is free");
    let answer = path.clone();
    slim.set_resolver(move |_| Ok(Some(FoundModule::File(answer.clone().into()))));
    context_refuses("a resolver", slim.load_name("reports", &any()).map(drop));
    context_refuses("a resolver of a dependency", slim.load_path(needy()).map(drop));
    slim.set_resolver(|_| Ok(None));
    let answer = path.clone();
    slim.on_resolving(move |_| Ok(Some(FoundModule::File(answer.clone().into()))));
    context_refuses("a handler", slim.load_name("reports", &any()).map(drop));
    let answer = path.clone();
    slim.on_resolving_native(move |_| Ok(Some(answer.clone().into())));
    context_refuses("a handler of native libraries", slim.native_library("alcedo_nowhere", None).map(drop));
    let answer = path.clone();
    slim.set_native_resolver(move |_| Ok(Some(answer.clone().into())));
    context_refuses("a resolver of native libraries", slim.native_library("alcedo_nowhere", None).map(drop));
    let answer = path.clone();
    slim.set_native_resolver_of("reports", move |_| Ok(Some(answer.clone().into())));
    let native = slim.native_library("alcedo_nowhere", Some("reports"));
    context_refuses("a module's resolver of native libraries", native.map(drop));

    host_refuses("a Master", host.create_master(&[&path]).expect_err("it is relative"));
    host.create_master(&[support::plugin("broken", &[])]).expect("it is absolute");
    let message_of =
        |report: alcedo_runtime::ReloadReport| report.into_result().expect_err("it is relative").to_string();
    for report in [host.reload(&[&path]), host.reload_changed(&[&path])] {
        refused.borrow_mut().push(message_of(report.expect("there is a Master")));
    }
    host.request_reload(vec![path.clone().into()]);
    host.safe_point();
    refused.borrow_mut().extend(host.take_reloads().into_iter().map(message_of));
    assert_eq!(host.generation(), 1);

    let refused = refused.into_inner();
    assert_eq!(refused.len(), 15);
    for error in refused {
        assert!(error.contains(&format!("the path {path} is not absolute")), "{error}");
        assert!(error.contains("make it absolute, with `std::path::absolute`"), "{error}");
    }
}

#[test]
fn native_library_names_with_folders_skip_the_current_folder() {
    let host = runtime();
    let slim = host.contexts().create_slim("names").expect("the name is free");
    let refused = slim.native_library(&relative(), None);
    assert!(matches!(refused, Err(ContextError::NativeNotFound { .. })), "{refused:?}");
}
