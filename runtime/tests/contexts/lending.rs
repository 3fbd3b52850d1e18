//! Tests contexts that lend modules to each other. A module is unloaded when no module in any context depends on it.

use std::path::PathBuf;
use std::time::Duration;

use alcedo_runtime::{
    ContextError, ContextState, Contexts, FoundModule, LeaseKind, LoadContext, ModuleSummary, UnloadTicket, Value,
    process,
};

use super::{any, figures, gone, needy, refusal, reports, runtime, support, text};

/// Makes the resolver of `borrower` return a module from another context.
fn resolve_to(borrower: &LoadContext, module: ModuleSummary) {
    borrower
        .set_resolver(move |request| Ok((request.name == module.name).then(|| FoundModule::Loaded(module.clone()))));
}

/// Returns the library of the module `figurines`. This module depends on `reports`.
fn figurines() -> PathBuf {
    support::plugin("figures", &["misnamed", "needs-reports"])
}

/// Creates two Slims that lend each other modules. `figurines` of `one` needs `reports` of `other`. `reports` needs `figures` of `one`.
fn mutual_slims(contexts: &Contexts) -> [LoadContext; 2] {
    let [one, other] = ["one", "other"].map(|name| contexts.create_slim(name).expect("the name is free"));
    resolve_to(&other, one.load_path(figures(1)).expect("it is loaded"));
    resolve_to(&one, other.load_path(needy()).unwrap_or_else(|error| panic!("{error}")));
    one.load_path(figurines()).unwrap_or_else(|error| panic!("{error}"));
    [one, other]
}

fn begin(slim: &LoadContext) -> UnloadTicket {
    slim.begin_unload().expect("it is collectible")
}

fn until_blocked(ticket: &UnloadTicket) {
    support::until("it is blocked", || ticket.poll() == ContextState::Blocked);
}

#[test]
fn contexts_sharing_modules_mutually_end_in_either_order() {
    for turned in [false, true] {
        let contexts = runtime().contexts();
        let mut slims = mutual_slims(&contexts);
        if turned {
            slims.reverse();
        }
        let tickets = slims.each_ref().map(begin);
        tickets.iter().for_each(gone);
        assert_eq!(contexts.all().len(), 1, "{contexts:?}");
    }
}

#[test]
fn a_lender_unloads_unused_modules_and_names_dependents_of_the_rest() {
    let contexts = runtime().contexts();
    let [one, other] = mutual_slims(&contexts);
    let images: Vec<_> = one.modules().iter().map(|module| (module.name.clone(), module.image.clone())).collect();
    let build = other.modules()[0].build_id;
    let ticket = begin(&one);
    support::until("figurines has no dependents", || {
        ticket.poll();
        images.iter().all(|(name, image)| image.exists() == (name == "figures"))
    });
    until_blocked(&ticket);
    let report = ticket.report();
    let of_the_author = |place: &String| place.starts_with(file!());
    let owners: Vec<_> = report
        .blockers
        .iter()
        .map(|by| (by.kind, by.owner.as_str(), by.place.as_ref().is_some_and(of_the_author)))
        .collect();
    let dependent = format!("reports 0.1.0 (build {build:032x}) of Slim \"other\" generation 1, which needs figures");
    let returned = "Slim \"other\" generation 1, which was given figures".to_owned();
    for owner in [dependent, returned] {
        assert!(owners.contains(&(LeaseKind::Dependent, owner.as_str(), true)), "{owner}: {report}");
    }
    assert_eq!(owners.len(), 2, "{report}");
    gone(&begin(&other));
    gone(&ticket);
}

#[test]
fn exit_hooks_of_dependents_in_other_contexts_run_first() {
    let contexts = runtime().contexts();
    let [lender, borrower] = ["lender", "borrower"].map(|name| contexts.create_slim(name).expect("the name is free"));
    let breaks = support::plugin("reports", &["panic-in-exit"]);
    resolve_to(&borrower, lender.load_path(breaks).expect("it is loaded"));
    borrower.load_path(support::plugin("figures", &["needs-reports"])).expect("it is loaded");
    let ticket = begin(&lender);
    until_blocked(&ticket);
    assert_eq!(ticket.report().problems, Vec::<String>::new(), "its exit hook has not run");
    gone(&begin(&borrower));
    gone(&ticket);
    let problems = ticket.report().problems;
    assert!(problems.len() == 1 && problems[0].starts_with("the exit hook of reports panicked"), "{problems:?}");
}

#[test]
fn a_wait_for_a_lender_drops_thread_locals_of_its_dependents() {
    // Keeps the log lines of this test out of the records of other tests.
    let _record = support::record("reports");
    let contexts = runtime().contexts();
    let [lender, borrower] = ["lender", "borrower"].map(|name| contexts.create_slim(name).expect("the name is free"));
    resolve_to(&borrower, lender.load_path(figures(1)).expect("it is loaded"));
    let lingering = support::plugin("reports", &["needs-figures", "lingering"]);
    borrower.load_path(lingering).unwrap_or_else(|error| panic!("{error}"));
    let render = borrower.function("Report", "render", "String, u32 -> String").expect("it is offered");
    render.call(&[text("somebody"), Value::U32(2)]).expect("it answers");
    let lease = borrower.lease("it ends after the unload has begun").expect("it is alive");
    let [of_borrower, of_lender] = [&borrower, &lender].map(begin);
    // From here on, only the background unloader polls the unload of the borrower.
    drop(lease);
    gone(&of_lender);
    gone(&of_borrower);
}

#[test]
fn a_replaced_generation_keeps_its_dependencies_only_until_it_is_unloaded() {
    let contexts = runtime().contexts();
    let [one, other] = mutual_slims(&contexts);
    // The new generation of `other` does not depend on `one`.
    assert_end_together(&other, &one, |other| other.replace(reports(1)).expect("it starts"));
}

/// Checks that `borrower` keeps the old generation of `lender` alive, and that both generations end together.
fn assert_end_together(
    lender: &LoadContext,
    borrower: &LoadContext,
    replace: impl FnOnce(&LoadContext) -> UnloadTicket,
) {
    let old = replace(lender);
    until_blocked(&old);
    let report = old.report();
    assert!(report.blockers.iter().all(|by| by.owner.contains("Slim \"one\" generation 1")), "{report}");
    gone(&begin(borrower));
    gone(&old);
    assert_eq!(lender.state(), ContextState::Alive);
}

#[test]
fn an_unloading_context_shares_no_more_modules() {
    let contexts = runtime().contexts();
    let [lender, borrower] = ["lender", "late"].map(|name| contexts.create_slim(name).expect("the name is free"));
    resolve_to(&borrower, lender.load_path(figures(1)).expect("it is loaded"));
    let scope = lender.enter().expect("it is alive");
    let ticket = begin(&lender);
    let refused = borrower.load_name("figures", &any());
    assert!(matches!(refused, Err(ContextError::ContextUnloading { .. })), "{refused:?}");
    assert!(refusal(refused).contains("lending figures to Slim \"late\""));
    drop(scope);
    gone(&ticket);
}

#[test]
fn a_parked_lender_remains_loaded_with_its_dependencies() {
    let contexts = runtime().contexts();
    let [one, other] = mutual_slims(&contexts);
    let pointer = other.get_function_pointer("Report", "build_tag", "-> u64").expect("it is offered");
    let [first, second] = [begin(&one), begin(&other)];
    until_blocked(&second);
    other.park();
    assert_eq!(second.state(), ContextState::Parked);
    assert!(first.wait(Duration::from_millis(100)).is_err(), "its figures are needed permanently");
    let report = first.report();
    let is_of_other = |owner: &str| owner.starts_with("reports 0.1.0 (build ") || owner.starts_with("Slim \"other\"");
    assert!(report.blockers.iter().all(|by| is_of_other(&by.owner)), "{report}");
    drop(pointer);
    one.park();
    assert_eq!(first.report().parked.len(), 1, "{}", first.report());
}

#[test]
fn a_parked_borrower_keeps_borrowed_modules_that_a_pointer_uses() {
    let contexts = runtime().contexts();
    let [lender, borrower] = ["lender", "borrower"].map(|name| contexts.create_slim(name).expect("the name is free"));
    resolve_to(&borrower, lender.load_path(figures(1)).expect("it is loaded"));
    borrower.load_name("figures", &any()).expect("it is borrowed");
    let ticket = begin(&lender);
    // The lender is sealed, so the pointer holds a lease on the borrower.
    let pointer = borrower.get_function_pointer("figures::Sum", "build_tag", "-> u64").expect("it has the module");
    let _parked = begin(&borrower);
    borrower.park();
    assert!(ticket.wait(Duration::from_millis(100)).is_err(), "the pointer uses its code");
    let report = ticket.report();
    let owners: Vec<_> = report.blockers.iter().map(|by| by.owner.as_str()).collect();
    assert_eq!(owners, ["Slim \"borrower\" generation 1, which was given figures"]);
    assert_eq!(pointer.call(&[]).expect("its image is there"), Some(Value::U64(1)));
    drop(pointer);
    lender.park();
    assert_eq!(ticket.report().parked.len(), 1, "{}", ticket.report());
}

#[test]
fn parking_a_context_refuses_its_pending_load_without_residue() {
    for is_borrowed in [false, true] {
        let runtime = runtime();
        let contexts = runtime.contexts();
        let [lender, borrower] =
            ["lender", "borrower"].map(|name| contexts.create_slim(name).expect("the name is free"));
        let borrowed = lender.load_path(figures(1)).expect("it is loaded");
        let parked = borrower.clone();
        borrower.set_resolver(move |_| {
            let ticket = begin(&parked);
            parked.park();
            assert_eq!(ticket.state(), ContextState::Dead, "nothing is mapped yet");
            Ok(Some(if is_borrowed { FoundModule::Loaded(borrowed.clone()) } else { FoundModule::File(figures(2)) }))
        });
        let refused = borrower.load_path(needy());
        assert!(matches!(refused, Err(ContextError::ContextUnloading { .. })), "{refused:?}");
        drop(borrower);
        gone(&begin(&lender));
        assert_eq!(contexts.all().len(), 1, "{contexts:?}");
        support::until("no image is left", || {
            process::stale_mappings(&runtime.stage_dir()).expect("it can be asked").is_empty()
        });
    }
}

#[test]
fn modules_of_two_contexts_with_mutual_dependencies_are_not_loaded() {
    let contexts = runtime().contexts();
    let [one, other] = ["one", "other"].map(|name| contexts.create_slim(name).expect("the name is free"));
    let needs_reports = support::plugin("figures", &["needs-reports"]);
    let (path, loads) = (needs_reports.clone(), one.clone());
    other.set_resolver(move |_| Ok(Some(FoundModule::Loaded(loads.load_path(&path)?))));
    let loads = other.clone();
    one.set_resolver(move |_| Ok(Some(FoundModule::Loaded(loads.load_path(needy())?))));
    assert!(one.load_path(&needs_reports).is_err());
    assert_eq!((one.modules(), other.modules()), (vec![], vec![]), "no cycle is left to end");
    // Replaces both resolvers, because each resolver owns a handle that would keep the other context alive.
    for slim in [&one, &other] {
        slim.set_resolver(|_| Ok(None));
        gone(&begin(slim));
    }
}
