//! Tests the kinds and the names of contexts. Covers the rules with the letter A: see `main.rs`.

use alcedo_runtime::{ContextId, ContextKind, ContextState};

use super::{any, build_tag, figures, gone, number, refusal, reports, runtime, slim, support};

#[test]
fn a1_the_default_exists_from_the_start_and_belongs_to_the_host() {
    let contexts = runtime().contexts();
    let default = contexts.default_context();
    assert_eq!(
        (default.name(), default.kind(), default.id()),
        ("Default", ContextKind::Default, Some(ContextId::DEFAULT))
    );
    assert_eq!(default.to_string(), "Default #0 generation 1: alive");
    assert_eq!(contexts.all().len(), 1);
}

#[test]
fn a2_modules_of_the_default_stay_loaded_and_serve_every_thread() {
    let contexts = runtime().contexts();
    let default = contexts.default_context();
    default.load_path(figures(1)).expect("it is loaded");
    for sum in [
        default.function("Sum", "build_tag", "-> u64").expect("it is offered"),
        contexts.function("Default", "Sum", "build_tag", "-> u64").expect("it is offered"),
    ] {
        let seen = std::thread::spawn(move || number(&sum)).join().expect("it does not panic");
        assert_eq!(seen.expect("it answers"), 1);
    }
    drop(default);
    assert_eq!(contexts.default_context().modules()[0].name, "figures", "handles do not keep the Default");
}

#[test]
fn a3_a_slim_is_created_and_unloaded() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "a3");
    let function = build_tag(&slim);
    assert_eq!((slim.kind(), number(&function).expect("it answers")), (ContextKind::Slim, 1));
    gone(&slim.begin_unload().expect("it is collectible"));
    assert_eq!(slim.state(), ContextState::Dead);
    assert_eq!(contexts.all().len(), 1, "only the Default is left");
}

#[test]
fn a6_a_context_prints_name_kind_id_generation_and_state() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "reports");
    assert_eq!(slim.to_string(), "Slim \"reports\" #2 generation 1: alive");
    gone(&slim.replace(reports(2)).expect("it starts"));
    assert_eq!(slim.to_string(), "Slim \"reports\" #2 generation 2: alive");
    gone(&slim.begin_unload().expect("it is collectible"));
    assert_eq!(slim.to_string(), "Slim \"reports\" #2: dead");
}

#[test]
fn a_name_is_unique_among_living_objects_and_reusable_afterward() {
    let contexts = runtime().contexts();
    let first = slim(&contexts, "taken");
    let refused = refusal(contexts.create_slim("taken"));
    assert!(refused.contains("a Slim cannot be named \"taken\": one is alive under this name"), "{refused}");
    let scope = first.enter().expect("it is alive");
    let ticket = first.begin_unload().expect("it is collectible");
    assert!(contexts.create_slim("taken").is_err(), "an unloading context is not dead");
    assert!(contexts.slim("taken").is_none(), "it is not alive either");
    drop(scope);
    gone(&ticket);
    let second = contexts.create_slim("taken").expect("the name is free");
    assert_ne!(second.id().expect("it is alive").index, 2, "a number is never used again");
}

#[test]
fn reserved_and_invalid_context_names_are_refused() {
    let contexts = runtime().contexts();
    let long = "n".repeat(1 << 20);
    for name in ["Default", "Master", "", "a:b", "a/b", "a\nb", "a\u{202e}b", &long] {
        let error = refusal(contexts.create_slim(name));
        assert!(error.starts_with("a Slim cannot be named") && !error.contains('\u{202e}'), "{error}");
        assert!(error.len() < 256, "{} bytes", error.len());
    }
    assert!(contexts.create_slim(&long[..255]).is_ok());
    assert!(refusal(contexts.function("nobody", "T", "f", "")).contains("no living context is named \"nobody\""));
    assert!(refusal(contexts.function("Master", "T", "f", "")).contains("on its game thread, with `Calls::call`"));
}

#[test]
fn the_master_is_listed_with_its_modules_from_any_thread() {
    let runtime = support::host(&[support::plugin("switchboard", &[])]);
    let contexts = runtime.contexts();
    let all = std::thread::spawn(move || contexts.all()).join().expect("it does not panic");
    let master = all.iter().find(|info| info.kind == ContextKind::Master).expect("it is listed");
    assert_eq!(master.to_string(), "Master #1 generation 1: alive");
    assert_eq!(master.modules[0].name, "switchboard");
    assert!(master.modules[0].types.contains(&"/Script/Game.Line".to_owned()));
    assert!(refusal(runtime.contexts().default_context().load_name("switchboard", &any())).contains("finds no module"));
}
