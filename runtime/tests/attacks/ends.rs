//! Tests the order of destruction. Values left behind by a module are dropped while the values that they use still exist. The order is the
//! same for every way in which a generation ends. A drop that cannot access a value receives an error.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
use alcedo_runtime::native::{NativeClass, Natives};
use alcedo_runtime::{Budget, Outcome, Runtime, Value, World};

use super::support::{self, Record};
use super::{another_attacker, assert_works, attacker, host, query, spawn};

/// Output of a destructor that runs on the game thread while its generation ends. The destructor can access its values.
const RIGHT: &str = "expired false · display right · debug right · equal true · unequal false · map ((\"one\", 1)) \
                     · clone right · number Array(String) · frame OTHER · late made · post UNAVAILABLE";

/// Output of a destructor that runs on the finalizer thread. The destructor cannot follow references.
const ELSEWHERE: &str = "expired true · display the number · debug the number · equal the call fails · unequal the call \
                         fails · map the number · clone WRONG_THREAD · number WRONG_THREAD · frame OTHER \
                         · late WRONG_THREAD · post UNAVAILABLE";

/// Locations in which the plugin's function `arm` stores a value. The value in each location is dropped when the generation ends.
const LOCATIONS: [&str; 9] = [
    "a timer",
    "a timer that comes once",
    "a task",
    "a task that waits for nothing",
    "a post",
    "a thread-local",
    "an auto-disposed resource",
    "a closure in a closure",
    "a closure that begins another",
];

/// Returns the lines that the drops have logged, by location.
fn outputs(record: &Record) -> BTreeMap<String, Vec<String>> {
    let mut outputs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in record.take().lines() {
        let (location, answers) = line.split_once(" · ").unwrap_or_else(|| panic!("unexpected line: {line}"));
        if location.starts_with("a post of") && answers.ends_with("post taken") {
            // A post that has run is not a drop, so its output is skipped.
            continue;
        }
        let answers: Vec<_> = answers.split(" · ").map(without_number).collect();
        outputs.entry(location.to_owned()).or_default().push(answers.join(" · "));
    }
    outputs
}

/// Removes the number that identifies the owned value from `answer`. This number differs in each run.
fn without_number(answer: &str) -> String {
    match answer.split_once(' ') {
        Some((what, rest)) if rest.contains(") black ") => format!("{what} the number"),
        _ => answer.to_owned(),
    }
}

/// Checks that each location reported `RIGHT` once. The only other reports must be those in `more`, which lists locations and outputs.
fn assert_all_reported(record: &Record, by: &str, more: &[(&str, &str)]) {
    let mut outputs = outputs(record);
    let armed = LOCATIONS.iter().map(|location| (format!("{location} of {by}"), RIGHT));
    let more = more.iter().map(|(location, answers)| ((*location).to_owned(), *answers));
    for (location, answers) in armed.chain(more) {
        let reports =
            outputs.remove(&location).unwrap_or_else(|| panic!("{location} was not dropped; left are {outputs:#?}"));
        assert!(reports.iter().all(|report| report == answers), "{location}: {reports:#?}");
    }
    assert!(outputs.is_empty(), "unexpected drops: {outputs:#?}");
}

/// Drops that only happen if the exit hook runs, with the output of each drop.
fn exit_hook(by: &str) -> [(String, &'static str); 2] {
    [("the exit hook".to_owned(), RIGHT), (format!("a static of {by}"), RIGHT)]
}

/// Returns the drops in `exit`. If `halves` is true, also returns the drop of a plugin part.
fn with_halves<'a>(exit: &'a [(String, &'static str)], halves: bool) -> Vec<(&'a str, &'static str)> {
    let mut all: Vec<_> = exit.iter().map(|(location, answers)| (location.as_str(), *answers)).collect();
    all.extend(halves.then_some(("a plugin part", ELSEWHERE)));
    all
}

/// Returns a host with one object. Each module of the host holds a value in each of the [`LOCATIONS`].
fn armed() -> (Record, Runtime) {
    let record = support::record("ends");
    let host = host();
    let hoarder = spawn(&host, "Hoarder");
    host.objects().call(hoarder, "hold", &[]).expect("it holds");
    assert_eq!(host.objects().call(hoarder, "is_whole", &[]).ok().flatten(), Some(Value::Bool(true)));
    assert_eq!(record.take(), "", "no value is dropped before its end");
    (record, host)
}

/// Returns a host like [`armed`] whose posts have run.
fn armed_and_ticked() -> (Record, Runtime) {
    let (record, host) = armed();
    host.safe_point();
    let ran = record.take();
    assert!(ran.starts_with("a post of a method · expired false · display right"), "{ran}");
    (record, host)
}

fn libraries(features: &[&str]) -> [PathBuf; 1] {
    [attacker(features)]
}

#[test]
fn an_unload_drops_values_while_what_they_read_is_alive() {
    let (record, host) = armed();
    let unload = host.unload_master().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((unload.objects_ended, unload.parked), (1, vec![]));
    assert_all_reported(&record, "a method", &with_halves(&exit_hook("a method"), true));
    assert_eq!(host.conjugates().owned_values().count(), 0);
    host.create_master(&libraries(&[])).unwrap_or_else(|error| panic!("{error}"));
    assert_works(&host);
}

#[test]
fn a_shutdown_drops_values_while_what_they_read_is_alive() {
    let (record, host) = armed();
    let end = host.shutdown();
    assert_all_reported(&record, "a method", &with_halves(&exit_hook("a method"), true));
    assert_eq!((end.left, end.plugin_parts), (vec![], 0));
    let mut statics: Vec<_> = end.owned_values.iter().map(|left| (left.ty.as_str(), left.count)).collect();
    statics.sort_unstable();
    assert_eq!(statics, [("Array(String)", 2), ("Map(String, u64)", 1)], "the static that keeps its values");
}

#[test]
fn a_host_that_is_dropped_ends_like_one_that_is_shut_down() {
    let (record, host) = armed();
    drop(host);
    assert_all_reported(&record, "a method", &with_halves(&exit_hook("a method"), true));
}

#[test]
fn a_replaced_generation_drops_values_while_what_they_read_is_alive() {
    let (record, host) = armed();
    let report = host.reload(&[another_attacker()]).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.is_committed(), "{report}");
    assert!(host.unloads().wait(std::time::Duration::from_secs(60)).expect("a safe point"));
    assert_all_reported(&record, "a method", &with_halves(&exit_hook("a method"), true));
    assert_works(&host);
}

#[test]
fn a_module_replaced_alone_drops_values_while_what_they_read_is_alive() {
    let record = support::record("ends");
    let staying = support::plugin("glue-base", &[]);
    let host = support::host(&[attacker(&[]), staying.clone()]);
    let hoarder = spawn(&host, "Hoarder");
    host.objects().call(hoarder, "hold", &[]).expect("it holds");
    let report = host.reload_changed(&[another_attacker(), staying]).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.is_committed(), "{report}");
    assert_eq!(report.kept_modules, ["glue_base of generation 1"]);
    assert!(host.unloads().wait(std::time::Duration::from_secs(60)).expect("a safe point"));
    assert_all_reported(&record, "a method", &with_halves(&exit_hook("a method"), true));
    assert_works(&host);
}

/// Creates a host that holds values in every location, and reloads it to a build that fails.
fn fails(features: &[&str]) -> (Record, Runtime) {
    let (record, host) = armed_and_ticked();
    let hoarder = host.objects().iter().next_back().expect("the hoarder");
    let report = host.reload(&libraries(features)).unwrap_or_else(|error| panic!("{error}"));
    assert!(matches!(report.outcome, Outcome::RolledBack { .. }), "{report}");
    assert_eq!(
        host.objects().call(hoarder, "is_whole", &[]).ok().flatten(),
        Some(Value::Bool(true)),
        "the old generation keeps all its values"
    );
    (record, host)
}

#[test]
fn a_panicking_main_drops_values_while_what_they_read_is_alive() {
    let (record, host) = fails(&["panicking-main"]);
    // If the main of a module has not returned, its exit hook does not run. Values that wait for the exit hook are then never dropped.
    let unwound = RIGHT.replace("post UNAVAILABLE", "post taken");
    assert_all_reported(&record, "main", &[("the stack of main", &unwound)]);
    assert_works(&host);
    host.unload_master().unwrap_or_else(|error| panic!("{error}"));
    let outputs = outputs(&record);
    assert_eq!(
        outputs.len(),
        LOCATIONS.len() + 2,
        "all but the post, and the static, the exit hook and the half: {outputs:#?}"
    );
}

#[test]
fn a_panicking_red_constructor_drops_values_while_what_they_read_is_alive() {
    let (record, host) = fails(&["failing-red"]);
    let right = RIGHT.replace("post UNAVAILABLE", "post taken");
    let unwound = ("a plugin part", right.as_str());
    let exit = exit_hook("main");
    let mut more = with_halves(&exit, false);
    more.push(unwound);
    assert_all_reported(&record, "main", &more);
    assert_works(&host);
}

#[test]
fn a_failed_master_creation_drops_values_while_what_they_read_is_alive() {
    for (features, has_main) in [(&["panicking-main"][..], false), (&["failing-default"], true)] {
        let record = support::record("ends");
        let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
        host.create_master(&libraries(features)).expect_err("it is broken on purpose");
        let exit = exit_hook("main");
        let unwound = RIGHT.replace("post UNAVAILABLE", "post taken");
        match has_main {
            true => assert_all_reported(&record, "main", &with_halves(&exit, false)),
            false => assert_all_reported(&record, "main", &[("the stack of main", &unwound)]),
        }
        assert_eq!(host.conjugates().owned_values().count(), 0);
        host.create_master(&libraries(&[])).unwrap_or_else(|error| panic!("{error}"));
        assert_works(&host);
    }
}

#[test]
fn any_rollback_drops_values_while_what_they_read_is_alive() {
    let (record, host) = armed_and_ticked();
    for step in ReloadStep::ALL {
        for kind in [FaultKind::Error, FaultKind::Panic] {
            let armed = faults::arm(Fault { step, kind, nth: 0 });
            let report = host.reload(&libraries(&["armed-main"])).unwrap_or_else(|error| panic!("{error}"));
            let was_hit = armed.has_fired();
            drop(armed);
            assert_eq!(report.is_committed(), !was_hit, "{step}: {report}");
            let outputs = outputs(&record);
            for (location, answers) in &outputs {
                let right = if location == "a plugin part" { ELSEWHERE } else { RIGHT };
                let is_right = answers.iter().all(|answer| answer == right);
                assert!(is_right, "{step} {kind:?}: {location} reports {answers:#?}");
            }
        }
    }
    assert_works(&host);
}

thread_local! {
    static HOST: RefCell<Option<(Runtime, alcedo_runtime::ObjectHandle)>> = const { RefCell::new(None) };
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Runs as the `before_destroy` hook of a native class. Calls another object of the ending generation.
fn query_another(_world: &World, _object: alcedo_runtime::ObjectHandle) {
    let host = HOST.with_borrow(Clone::clone);
    if let Some((host, other)) = host {
        let result = host.objects().call(other, "grow_numbers", &[]);
        let result = result.map_or_else(|error| error.to_string(), |value| format!("{value:?}"));
        LOG.with_borrow_mut(|log| log.push(result));
        let spawned = host
            .objects()
            .spawn("/Script/Game.Hoarder")
            .map_or_else(|error| error.to_string(), |_| "spawned".to_owned());
        LOG.with_borrow_mut(|log| log.push(spawned));
    }
}

fn teller() -> Natives {
    let teller = NativeClass::new("Graph", "Teller", "/Script/Core.Object").begin_destroy(query_another);
    Natives::in_package("Graph").class(teller.doc("The native part calls another object when it is destroyed."))
}

#[test]
fn the_module_uses_the_native_class_by_glue() {
    support::glue_is_written(teller(), "Graph", "attacker", "teller.rs");
}

#[test]
fn host_code_run_at_object_destruction_finds_the_generation_gates_closed() {
    let _record = support::record("ends");
    for end in ["unload", "shutdown", "reload"] {
        let host = support::builder().natives(teller()).build().unwrap_or_else(|error| panic!("{error}"));
        host.create_master(&libraries(&["doomed"])).unwrap_or_else(|error| panic!("{error}"));
        let _doomed = spawn(&host, "Doomed");
        let hoarder = spawn(&host, "Hoarder");
        host.objects().call(hoarder, "keep_numbers", &[]).expect("it keeps them");
        assert_eq!(host.objects().call(hoarder, "grow_numbers", &[]).ok().flatten(), Some(Value::U64(10)));
        // An unloading callback runs while all objects are still alive.
        let results = Rc::new(RefCell::new(Vec::new()));
        let inner = Rc::clone(&results);
        HOST.set(Some((host.clone(), hoarder)));
        host.unloads().on_unloading(0, move |host, _generation| {
            inner.borrow_mut().push(host.objects().call(hoarder, "grow_numbers", &[]).ok().flatten())
        });
        match end {
            "unload" => drop(host.unload_master().unwrap_or_else(|error| panic!("{error}"))),
            "shutdown" => drop(host.shutdown()),
            _ => drop(host.reload(&libraries(&[])).unwrap_or_else(|error| panic!("{error}"))),
        }
        HOST.set(None);
        assert_eq!(*results.borrow(), [Some(Value::U64(14))], "{end}");
        let results_at_end = LOG.take();
        // After a commit the call runs new code, whose plugin part has not stored numbers yet.
        let answers = ["attacker of generation 1 is not available", "for a safe point", "U64(0)"];
        assert!(!results_at_end.is_empty(), "{end}: the native part ended");
        assert!(
            results_at_end.iter().all(|result| answers.iter().any(|answer| result.contains(answer))),
            "{end}: {results_at_end:#?}"
        );
    }
}

#[test]
fn objects_created_during_unloading_callbacks_are_destroyed_with_the_rest() {
    let (record, host) = armed();
    let hoarder = host.objects().iter().next_back().expect("the hoarder");
    host.unloads().on_unloading(0, move |host, _generation| {
        let refused = host.objects().spawn("/Script/Game.Hoarder").expect_err("an unload is in progress");
        assert!(refused.to_string().contains("for a safe point"), "{refused}");
        assert_eq!(query(host, hoarder, "breed"), "Hoarder_2");
    });
    let unload = host.unload_master().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        (unload.objects_ended, host.objects().iter().len(), host.conjugates().owned_values().count()),
        (2, 0, 0)
    );
    assert_all_reported(&record, "a method", &with_halves(&exit_hook("a method"), true));
}

#[test]
fn a_host_releases_only_its_own_conjugates_and_none_of_plugins() {
    let _record = support::record("ends");
    let host = host();
    let hoarder = spawn(&host, "Hoarder");
    host.objects().call(hoarder, "keep_numbers", &[]).expect("it keeps them");
    let number = match host.objects().call(hoarder, "number_of_numbers", &[]) {
        Ok(Some(Value::U64(number))) => alcedo_runtime::AnyConjugate::from_number(number),
        other => panic!("a number, not {other:?}"),
    };
    host.conjugates().give_back(number);
    assert!(!host.conjugates().is_expired(number));
    assert_eq!(host.objects().call(hoarder, "grow_numbers", &[]).ok().flatten(), Some(Value::U64(10)));
    assert_eq!(query(&host, hoarder, "drop_while_open"), "10 10");
    host.tick(Budget::frame());
}
