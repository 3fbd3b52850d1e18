//! Tests named delegates that modules declare, as properties, elements and parameters. A delegate is bound by object and function name. The
//! bindings survive code changes in the owner and in the listener.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

use alcedo_glue::{Glue, Origin};
use alcedo_runtime::host::Listener;
use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::native::{NativeClass, NativeDelegate, Natives, Obj, This, uclass, udelegate};
use alcedo_runtime::{
    Binding, CallError, ContextEvent, ContextEventKind, ManifestInfo, ObjectHandle, ReloadReport, Runtime, Value,
    natives,
};
use expect_test::{Expect, expect, expect_file};

use crate::scripts::{HERO_TEXT, Package, builder, host_of, reload_of};
use crate::support;

const PLAYER: &str = "/Script/Game.Player";
const LISTENER: &str = "/Script/Game.Listener";
const COUNTER: &str = "/Script/Game.Counter";

fn scores(features: &[&str]) -> PathBuf {
    support::plugin("delegates", features)
}

fn tallies(features: &[&str]) -> PathBuf {
    support::plugin("tallies", features)
}

fn spawn(host: &Runtime, class: &str) -> ObjectHandle {
    host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
}

fn call(host: &Runtime, object: ObjectHandle, function: &str, arguments: &[Value]) -> String {
    match host.objects().call(object, function, arguments) {
        Ok(Some(value)) => format!("{value:?}"),
        Ok(None) => "nothing".to_owned(),
        Err(error) => format!("an error: {error}"),
    }
}

fn earn(host: &Runtime, player: ObjectHandle, points: i32) -> String {
    call(host, player, "earn", &[Value::I32(points)])
}

/// Returns the calls that a listener has received since the previous call of this function.
fn take_calls(host: &Runtime, listener: ObjectHandle) -> String {
    let Ok(Value::Array(values)) = host.objects().get(listener, "received") else { panic!("not an array") };
    host.objects().set(listener, "received", &Value::Array(Vec::new())).unwrap_or_else(|error| panic!("{error}"));
    let text = |value: &Value| if let Value::Text(text) = value { text.clone() } else { format!("{value:?}") };
    values.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn bind(host: &Runtime, player: ObjectHandle, property: &str, listener: ObjectHandle, function: &str) {
    host.links().bind(player, property, listener, function).unwrap_or_else(|error| panic!("{error}"));
}

fn bound(host: &Runtime, object: ObjectHandle, property: &str) -> usize {
    match host.objects().get(object, property) {
        Ok(Value::Multicast(bindings) | Value::Sparse(bindings)) => bindings.len(),
        other => panic!("{other:?}"),
    }
}

/// Returns a host, a player, and a listener that is bound to the player's delegates.
fn followed() -> (Runtime, ObjectHandle, ObjectHandle) {
    let host = support::host(&[scores(&[])]);
    let (player, listener) = (spawn(&host, PLAYER), spawn(&host, LISTENER));
    assert_eq!(call(&host, listener, "follow", &[Value::Object(player)]), "nothing");
    (host, player, listener)
}

fn reload(host: &Runtime, libraries: &[PathBuf]) -> ReloadReport {
    let report = host.reload(libraries).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.is_committed(), "{report}");
    report
}

/// Returns the report lines about unbound delegates.
fn unbound(report: &ReloadReport) -> String {
    report.to_string().lines().map(str::trim).filter(|line| line.contains("unbound")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_named_delegate_is_a_property_an_element_and_a_parameter() {
    let (host, player, listener) = followed();
    assert_eq!(earn(&host, player, 5), "I32(5)");
    assert_eq!(take_calls(&host, listener), "received 5 of 5");
    assert_eq!(earn(&host, player, 100), "I32(5)", "the rule denies it");
    assert_eq!(take_calls(&host, listener), "received nothing");
    let rule = host.objects().get(player, "may_score").unwrap_or_else(|error| panic!("{error}"));
    let other = spawn(&host, PLAYER);
    assert_eq!(call(&host, other, "agree", &[rule, Value::I32(99)]), "Bool(true)");
    assert_eq!(earn(&host, other, 99), "I32(99)");
    assert_eq!(earn(&host, other, 100), "I32(99)", "the rule was kept");
    host.objects().destroy(listener);
    let refused = earn(&host, other, 1);
    assert!(refused.contains("is bound to a destroyed object"), "{refused}");
}

#[test]
fn a_function_of_another_signature_is_not_bound() {
    let (host, player, listener) = followed();
    let check = |property: &str, function: &str, expected: Expect| {
        let refused = host.links().bind(player, property, listener, function).expect_err("it does not fit");
        expected.assert_eq(&refused.to_string());
    };
    check(
        "on_scored",
        "allow",
        expect![
            "/Script/Game.Listener:allow has the signature (i32 -> bool), the caller was built for (i32, Object(/Script/Game.Player)): rebuild or correct the caller"
        ],
    );
    check(
        "on_quiet",
        "here",
        expect!["/Script/Game.Listener has no function here to bind: check the declarations of the class"],
    );
    assert_eq!(bound(&host, player, "on_scored"), 1);
}

#[test]
fn a_delegate_is_found_by_path_with_its_parameter_names() {
    let host = support::host(&[scores(&[])]);
    let loaded = host.types().declared_by("delegates").expect("it is loaded");
    let (_, from_file) = ManifestInfo::peek_declared(&scores(&[])).expect("a module");
    assert_eq!(loaded.delegates, from_file.delegates);
    let formatted = |found: &alcedo_runtime::DeclaredDelegate| {
        let params: Vec<_> = found.params.iter().map(|param| format!("{}: {}", param.name, param.ty)).collect();
        let result = found.result.as_deref().unwrap_or("nothing");
        format!("{} {}({}) -> {result}   {}", found.kind, found.path, params.join(", "), found.doc)
    };
    expect![[r#"
        multicast /Script/Game.OnScored(points: i32, by: Object(/Script/Game.Player)) -> nothing   Broadcast after a score.
        single /Script/Game.Player:MayScore(points: i32) -> bool   Returns true if a player may score `points`.
        sparse /Script/Game.Player:OnQuiet() -> nothing   Broadcast if no points were scored."#]]
    .assert_eq(&loaded.delegates.iter().map(formatted).collect::<Vec<_>>().join("\n"));
    for found in &loaded.delegates {
        assert_eq!(host.types().delegate(&found.path).as_ref(), Some(found));
        assert!(host.types().has(&found.path));
    }
    assert!(host.types().delegate(PLAYER).is_none() && host.types().delegate("/Script/Game.MayScore").is_none());
    let player = loaded.classes.iter().find(|class| class.path == PLAYER).expect("the player");
    let types: Vec<_> = player.properties.iter().map(|property| property.ty.as_str()).collect();
    assert_eq!(
        types[..4],
        [
            "MulticastDelegate(/Script/Game.OnScored(i32, Object(/Script/Game.Player)))",
            "Delegate(/Script/Game.Player:MayScore(i32 -> bool))",
            "SparseDelegate(/Script/Game.Player:OnQuiet())",
            "Array(Delegate(/Script/Game.Player:MayScore(i32 -> bool)))",
        ]
    );
}

#[test]
fn glue_of_a_module_has_its_delegates() {
    let (_, declared) = ManifestInfo::peek_declared(&scores(&[])).expect("a module");
    let text = Glue::default().for_plugins(&Origin::module("delegates", "0.1.0"), &declared).expect("glue");
    expect_file![support::folder("tallies").join("src/delegates.rs")].assert_eq(&text);
    let text = Glue::default().for_host(&Origin::module("delegates", "0.1.0"), &declared).expect("glue");
    for line in [
        "on_scored \"on_scored\"(i32, Obj<Player>) -> ();",
        "may_score \"may_score\"(i32) -> bool;",
        "on_quiet \"on_quiet\"() -> ();",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn bindings_survive_a_reload_and_call_the_new_code() {
    let (host, player, listener) = followed();
    assert_eq!(earn(&host, player, 5), "I32(5)");
    assert_eq!(take_calls(&host, listener), "received 5 of 5");
    let report = reload(&host, &[scores(&["changed"])]);
    assert_eq!(unbound(&report), "");
    assert_eq!(earn(&host, player, 5), "I32(10)");
    assert_eq!(take_calls(&host, listener), "wow, 5 of 10");
    assert_eq!(earn(&host, player, 100), "I32(10)");
    assert_eq!(take_calls(&host, listener), "wow, nothing");
}

#[test]
fn a_reload_unbinds_and_reports_a_function_with_a_changed_signature() {
    let (host, player, listener) = followed();
    let report = reload(&host, &[scores(&["deaf"])]);
    expect![
        "Game.Player.on_scored: Game.Listener:hear is (f64) now, not (i32, Object(/Script/Game.Player)): 1 unbound"
    ]
    .assert_eq(&unbound(&report));
    assert_eq!(bound(&host, player, "on_scored"), 0);
    assert_eq!(earn(&host, player, 5), "I32(5)");
    assert_eq!(take_calls(&host, listener), "");
    assert_eq!(bound(&host, player, "on_quiet"), 1, "this binding still matches");
}

#[test]
fn changing_delegate_and_function_together_keeps_only_matching_bindings() {
    let (host, player, listener) = followed();
    bind(&host, player, "on_scored", listener, "burst");
    let report = reload(&host, &[scores(&["widened"])]);
    expect!["Game.Player.on_scored: Game.Listener no longer has a function burst: 1 unbound"]
        .assert_eq(&unbound(&report));
    assert_eq!(bound(&host, player, "on_scored"), 1);
    assert_eq!(earn(&host, player, 5), "I32(5)");
    assert_eq!(take_calls(&host, listener), "received 5 of 5, false");
}

#[test]
fn a_removed_function_is_unbound_and_rebound_when_it_returns() {
    let (host, player, listener) = followed();
    let report = reload(&host, &[scores(&["without"])]);
    expect!["Game.Player.on_scored: Game.Listener no longer has a function hear: 1 unbound"]
        .assert_eq(&unbound(&report));
    assert_eq!(earn(&host, player, 5), "I32(5)");
    assert_eq!(take_calls(&host, listener), "");
    let refused = host.links().bind(player, "on_scored", listener, "hear").expect_err("there is none").to_string();
    assert!(refused.contains("has no function hear"), "{refused}");
    reload(&host, &[scores(&[])]);
    assert_eq!(bound(&host, player, "on_scored"), 0, "a removed binding is not restored by the host");
    assert_eq!(call(&host, listener, "follow", &[Value::Object(player)]), "nothing");
    assert_eq!(earn(&host, player, 5), "I32(10)");
    assert_eq!(take_calls(&host, listener), "received 5 of 10");
}

#[test]
fn a_failed_reload_leaves_bindings_unchanged() {
    use alcedo_runtime::faults::{self, Fault, FaultKind, ReloadStep};
    let (host, player, listener) = followed();
    let armed = faults::arm(Fault { step: ReloadStep::BeforeCommit, nth: 0, kind: FaultKind::Error });
    let report = host.reload(&[scores(&["widened"])]).unwrap_or_else(|error| panic!("{error}"));
    assert!(armed.has_fired() && !report.is_committed(), "{report}");
    drop(armed);
    assert_eq!(earn(&host, player, 5), "I32(5)");
    assert_eq!(take_calls(&host, listener), "received 5 of 5");
    assert_eq!(host.types().declared_by("delegates").expect("it is loaded").delegates[0].params.len(), 2);
}

#[test]
fn reloading_one_of_two_modules_keeps_bindings_between_them() {
    let host = support::host(&[scores(&[]), tallies(&[])]);
    let (player, counter, listener) = (spawn(&host, PLAYER), spawn(&host, COUNTER), spawn(&host, LISTENER));
    assert_eq!(call(&host, counter, "watch", &[Value::Object(player)]), "nothing");
    bind(&host, counter, "on_counted", listener, "hear");
    let total = |host: &Runtime| host.objects().get(counter, "total").unwrap_or_else(|error| panic!("{error}"));
    earn(&host, player, 5);
    assert_eq!((total(&host), take_calls(&host, listener)), (Value::I32(5), "received 5 of 5".to_owned()));
    // Reloads only the module that uses the delegate.
    let report = host.reload_changed(&[scores(&[]), tallies(&["changed"])]).expect("a Master");
    assert!(report.is_committed() && unbound(&report).is_empty(), "{report}");
    earn(&host, player, 1);
    assert_eq!((total(&host), take_calls(&host, listener)), (Value::I32(105), "received 1 of 6".to_owned()));
    // Reloads only the module that declares the delegate. Its dependents remain, because they were built for an equal signature.
    let report = host.reload_changed(&[scores(&["changed"]), tallies(&["changed"])]).expect("a Master");
    assert!(report.is_committed() && unbound(&report).is_empty(), "{report}");
    earn(&host, player, 1);
    assert_eq!((total(&host), take_calls(&host, listener)), (Value::I32(205), "wow, 1 of 7".to_owned()));
    // The dependents were built for another signature of the delegate. The reload is refused, and the old generation continues.
    let report = host.reload_changed(&[scores(&["widened"]), tallies(&["changed"])]).expect("a Master");
    assert!(!report.is_committed(), "{report}");
    let text = report.to_string();
    assert!(text.contains("OnScored(i32, Object(/Script/Game.Player), bool)"), "{text}");
    assert!(text.contains("OnScored(i32, Object(/Script/Game.Player))"), "{text}");
    earn(&host, player, 1);
    assert_eq!((total(&host), take_calls(&host, listener)), (Value::I32(305), "wow, 1 of 8".to_owned()));
}

#[test]
fn a_module_built_for_another_signature_is_refused_with_both_signatures() {
    let check = |features: &[&str], expected: Expect| {
        let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
        let refused = host.create_master(&[scores(&[]), tallies(features)]).expect_err("another signature");
        expected.assert_eq(&refused.to_string());
    };
    check(
        &["mentioned"],
        expect![
            "tallies uses /Script/Game.OnScored, which is MulticastDelegate(/Script/Game.OnScored(i32, Object(/Script/Game.Player))) here and MulticastDelegate(/Script/Game.OnScored(u64)) in the module: the glue or its owner is older: write the glue again with `alcedo glue`, and rebuild the module; or build the host or the module that declares it again, and load that"
        ],
    );
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let refused = host.create_master(&[scores(&[]), tallies(&["stale"])]).expect_err("another signature").to_string();
    for part in [
        "/Script/Game.Counter:on_counted cannot be a MulticastDelegate(/Script/Game.OnScored(u64))",
        "declared as MulticastDelegate(/Script/Game.OnScored(i32, Object(/Script/Game.Player)))",
    ] {
        assert!(refused.contains(part), "{refused}");
    }
    let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let refused = host.create_master(&[tallies(&["mentioned"])]).expect_err("no such delegate").to_string();
    assert!(refused.contains("delegates"), "{refused}");
}

#[test]
fn a_panic_in_one_bound_function_keeps_no_other_from_being_called() {
    let (host, player, first) = followed();
    let last = spawn(&host, LISTENER);
    bind(&host, player, "on_scored", first, "burst");
    bind(&host, player, "on_scored", last, "hear");
    let answer = earn(&host, player, 5);
    assert!(answer.contains("5 points are too much"), "{answer}");
    assert_eq!([take_calls(&host, last), take_calls(&host, first)], ["received 5 of 5", "received 5 of 5"]);
    assert_eq!(bound(&host, player, "on_scored"), 3, "a failed listener is called the next time, too");
    assert!(earn(&host, player, 1).contains("1 points are too much"));
}

#[test]
fn a_bound_function_binds_and_unbinds_while_the_delegate_is_called() {
    let host = support::host(&[scores(&[])]);
    let (player, late) = (spawn(&host, PLAYER), spawn(&host, LISTENER));
    let [before, out, passes] = [(); 3].map(|()| spawn(&host, LISTENER));
    for (object, next) in [(passes, out), (out, late)] {
        host.objects().set(object, "next", &Value::Object(next)).unwrap_or_else(|error| panic!("{error}"));
    }
    // Binds in reverse order: the function that was bound last is called first.
    for (listener, function) in [(before, "hear"), (out, "hear"), (passes, "pass_on")] {
        bind(&host, player, "on_scored", listener, function);
    }
    assert_eq!(earn(&host, player, 5), "I32(5)");
    let all = |host: &Runtime| [passes, out, before, late].map(|listener| take_calls(host, listener));
    assert_eq!(all(&host), ["passed 5 on", "", "received 5 of 5", ""], "removed or bound during the call");
    assert_eq!(earn(&host, player, 1), "I32(6)");
    assert_eq!(all(&host), ["", "", "received 1 of 6", "received 1 of 6"]);
}

#[test]
fn hosts_on_two_threads_have_delegates_of_their_own() {
    let library = scores(&[]);
    let run = |points: i32| {
        let host = support::host(std::slice::from_ref(&library));
        let (player, listener) = (spawn(&host, PLAYER), spawn(&host, LISTENER));
        call(&host, listener, "follow", &[Value::Object(player)]);
        (0..200).for_each(|_| {
            earn(&host, player, points);
        });
        let calls = take_calls(&host, listener);
        assert_eq!(calls.matches(&format!("received {points} of")).count(), 200, "{calls}");
        host.objects().get(player, "score").unwrap_or_else(|error| panic!("{error}"))
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| run(7));
        assert_eq!(run(3), Value::I32(600));
        assert_eq!(other.join().expect("no panic"), Value::I32(1400));
    });
}

#[test]
fn a_world_has_its_bindings_when_it_is_loaded_by_later_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scores.world");
    let (first, player, _) = followed();
    earn(&first, player, 5);
    first.worlds().save(&path).unwrap_or_else(|error| panic!("{error}"));
    let second = support::host(&[scores(&["changed"])]);
    second.worlds().load(&path).unwrap_or_else(|error| panic!("{error}"));
    let one = |class: &str| second.objects().iter().find(|object| second.objects().is_a(*object, class));
    let (player, listener) = (one(PLAYER).expect("a player"), one(LISTENER).expect("a listener"));
    assert_eq!(take_calls(&second, listener), "received 5 of 5");
    assert_eq!(earn(&second, player, 5), "I32(10)");
    assert_eq!(take_calls(&second, listener), "wow, 5 of 10");
}

/// A bell was rung.
#[udelegate(multicast, package = "Test")]
pub(crate) type OnTolled = fn(times: u32, by: Obj<Bell>);

/// Rule that decides whether a bell may be rung `times` times.
#[udelegate(single, of = Bell)]
pub(crate) type MayToll = fn(times: u32) -> bool;

/// A bell of the host.
#[uclass(package = "Test", blueprintable)]
#[derive(Default)]
pub(crate) struct Bell {
    /// Delegate for each toll.
    #[uproperty]
    on_tolled: OnTolled,
    /// Decides whether the bell may toll.
    #[uproperty]
    may_toll: MayToll,
    /// Number of tolls received.
    #[uproperty]
    received: u32,
}

#[uclass]
impl Bell {
    /// Counts the tolls of a bell.
    #[ufunction]
    fn hear(&self, this: This<Self>, times: u32, by: Obj<Bell>) {
        assert_ne!(by, this.as_obj(), "another one");
        this.set_received(this.received() + times);
    }

    /// Stores the rule and calls it.
    #[ufunction]
    fn agree(&self, this: This<Self>, times: u32, rule: MayToll) -> Result<bool, CallError> {
        this.set_may_toll(rule);
        rule.call(this.world(), (times,))
    }

    /// Accepts at most four.
    #[ufunction]
    fn at_most_four(&self, times: u32) -> bool {
        times <= 4
    }

    /// Passes the rule to another bell.
    #[ufunction]
    fn hand_on(&self, this: This<Self>, other: Obj<Bell>, rule: MayToll) -> Result<bool, CallError> {
        this.get(other).map_or(Ok(false), |other| other.agree(3, rule))
    }
}

#[test]
fn a_native_function_accepts_a_delegate_calls_it_and_keeps_it() {
    let host = support::builder().natives(natives![Bell, MayToll, OnTolled]).build().expect("a host");
    let [bell, other] = [(); 2].map(|()| host.objects().spawn_as::<Bell>().expect("a bell"));
    let declared = host.types().declared_natives();
    let class = declared.classes.iter().find(|class| class.path == "/Script/Test.Bell").expect("it is there");
    let function = class.functions.iter().find(|function| function.name == "agree").expect("it is there");
    assert_eq!(function.params[1].ty, "Delegate(/Script/Test.Bell:MayToll(u32 -> bool))");
    let agree = |rule: MayToll, times| host.objects().with(bell, |bell| bell.agree(times, rule)).expect("it is alive");
    let rule: MayToll = host.links().delegate(other.handle(), "at_most_four").expect("the types match");
    assert_eq!([agree(rule, 4).expect("it answers"), agree(rule, 5).expect("it answers")], [true, false]);
    let kept = host.objects().with(bell, |bell| bell.may_toll().detach()).expect("it is alive");
    assert!(kept.call(&host, (4,)).expect("it was kept"));
    // Calls the delegate with `Value` arguments. Then makes an equal call inside another call.
    let binding = Value::Delegate(Binding { object: other.handle(), function: host.intern("at_most_four") });
    let answer = host.objects().call(bell.handle(), "agree", &[Value::U32(5), binding.clone()]).expect("it answers");
    assert_eq!(answer, Some(Value::Bool(false)));
    let handed = host.objects().with(bell, |bell| bell.hand_on(other, rule)).expect("it is alive");
    assert!(handed.expect("it answers"));
    let unbound = agree(MayToll::none(), 1).expect_err("nothing").to_string();
    assert!(unbound.contains("bound to nothing"), "{unbound}");
    // A `Value::Delegate` has no signature. A call through the delegate therefore checks the signature of the bound function.
    let wrong = Value::Delegate(Binding { object: other.handle(), function: host.intern("hear") });
    let refused =
        host.objects().call(bell.handle(), "agree", &[Value::U32(5), wrong]).expect_err("it returns no result");
    assert!(refused.to_string().contains("u32 -> bool"), "{refused}");
    host.objects().destroy(other.handle());
    host.collection().collect().expect("a safe point");
    let gone = agree(rule, 1).expect_err("removed").to_string();
    assert!(gone.contains("a destroyed object"), "{gone}");
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn a_host_declares_delegates_and_binds_closures_by_type() {
    let declared = Runtime::builder().natives(natives![Bell, MayToll, OnTolled]).declared();
    let declared = declared.unwrap_or_else(|error| panic!("{error}"));
    let found: Vec<_> = declared.delegates.iter().map(|found| (&*found.kind, &*found.path, &*found.doc)).collect();
    assert_eq!(
        found,
        [
            ("single", "/Script/Test.Bell:MayToll", "Rule that decides whether a bell may be rung `times` times."),
            ("multicast", "/Script/Test.OnTolled", "A bell was rung."),
        ]
    );
    assert_eq!(declared.delegates[1].params[1].name, "by");
    let host = support::builder().natives(natives![Bell, MayToll, OnTolled]).build().expect("a host");
    let [bell, other] = [(); 2].map(|()| host.objects().spawn_as::<Bell>().expect("a bell"));
    let (tolled, may) =
        host.objects().with(bell, |bell| (bell.on_tolled().detach(), bell.may_toll().detach())).expect("it is there");
    let natives = host.types().declared_natives();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let inner = Rc::clone(&seen);
    let listener = tolled.listen(&host, move |_, (times, by)| {
        inner.borrow_mut().push((times, by));
        Ok(())
    });
    let listener = listener.unwrap_or_else(|error| panic!("{error}"));
    let _rule = may.listen(&host, |_, (times,)| Ok(times < 5)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(host.types().declared_natives(), natives, "closures are not declared types");
    tolled.bind(&host, other, "hear").unwrap_or_else(|error| panic!("{error}"));
    let unbound = host.objects().with(bell, |bell| bell.on_tolled().unbind(other, "")).expect("it is there");
    assert!(!unbound, "no function has an empty name");
    tolled.call(&host, (3, bell)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(*seen.borrow(), [(3, bell)]);
    assert_eq!([4, 5].map(|times| may.call(&host, (times,)).expect("it is bound")), [true, false]);
    drop(listener);
    tolled.call(&host, (4, bell)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(seen.borrow().len(), 1, "the closure is gone");
    assert_eq!(host.objects().with(other, |other| other.received()).expect("it is there"), 7);
    let refused = may.bind(&host, other, "hear").expect_err("it returns no result").to_string();
    assert!(refused.contains("(u32, Object(/Script/Test.Bell))") && refused.contains("(u32 -> bool)"), "{refused}");
}

#[test]
fn a_loaded_delegate_has_no_bindings_to_closures_and_destroyed_objects() {
    let host = support::builder().natives(natives![Bell, MayToll, OnTolled]).build().expect("a host");
    let [bell, hearing, gone] = [(); 3].map(|()| host.objects().spawn_as::<Bell>().expect("a bell"));
    let tolled = host.objects().with(bell, |bell| bell.on_tolled().detach()).expect("it is there");
    let _listener = tolled.listen(&host, |_, (_times, _by)| Ok(())).unwrap_or_else(|error| panic!("{error}"));
    for object in [hearing, gone] {
        tolled.bind(&host, object, "hear").unwrap_or_else(|error| panic!("{error}"));
    }
    host.objects().destroy(gone.handle());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bells.world");
    host.worlds().save(&path).unwrap_or_else(|error| panic!("{error}"));
    let report = host.worlds().load(&path).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.unresolved.is_empty(), "{report}");
    let bells: Vec<ObjectHandle> = host.objects().iter().collect();
    let bindings = host.objects().get(bells[0], "on_tolled").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(bindings, Value::Multicast(vec![Binding { object: bells[1], function: host.intern("hear") }]));
}

fn gongs() -> Natives {
    let on_rung = NativeDelegate::multicast("Test", "OnRung").param("times", (PropertyKind::U32, ""));
    let ty = (PropertyKind::MULTICAST_DELEGATE, "/Script/Test.OnRung(u32)");
    let gong = NativeClass::new("Test", "Gong", "/Script/Core.Object")
        .doc("A gong of the host.")
        .property("on_rung", ty, 0, "");
    let gong = gong.member_doc("on_rung", "Called at each stroke.");
    Natives::in_package("Test").delegate(on_rung.doc("A bell of the host was rung.")).class(gong)
}

#[test]
fn the_glue_of_the_plugin_is_that_of_the_natives() {
    support::glue_is_written(gongs(), "Test", "tallies", "bells.rs");
}

#[test]
fn a_module_using_a_changed_host_delegate_is_refused() {
    let build = || support::builder().natives(gongs()).build().unwrap_or_else(|error| panic!("{error}"));
    let host = build();
    host.create_master(&[tallies(&["bells"])]).unwrap_or_else(|error| panic!("{error}"));
    let ringer = spawn(&host, "/Script/Game.Ringer");
    assert_eq!(call(&host, ringer, "ring", &[Value::U32(3)]), "U32(3)");
    let gong = spawn(&host, "/Script/Test.Gong");
    bind(&host, gong, "on_rung", ringer, "hear");
    host.links().broadcast(gong, "on_rung", &[Value::U32(2)]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(call(&host, ringer, "ring", &[Value::U32(1)]), "U32(6)");
    let refused = build().create_master(&[tallies(&["cracked"])]).expect_err("it is another").to_string();
    let both = ["MulticastDelegate(/Script/Test.OnRung(u32))", "MulticastDelegate(/Script/Test.OnRung(u32, bool))"];
    assert!(both.iter().all(|part| refused.contains(part)) && refused.contains("Ringer"), "{refused}");
}

#[test]
fn an_invalid_host_delegate_is_refused_before_the_host_exists() {
    let check = |delegate: NativeDelegate, expected: &str| {
        let refused = Runtime::builder().natives(Natives::in_package("Test").delegate(delegate)).declared();
        let refused = refused.expect_err("it cannot be").to_string();
        assert!(refused.contains(expected), "{refused}");
    };
    let bool = (PropertyKind::BOOL, "");
    check(NativeDelegate::sparse("Test", "D").result(bool), "has no result");
    check(
        NativeDelegate::single("Test", "D").of_class("Missing").result(bool),
        "/Script/Test.Missing is not declared with the delegate",
    );
    check(NativeDelegate::single("Test", "D").param("a b", bool), "cannot be a name");
    check(NativeDelegate::single("Nowhere", "D"), "the package Nowhere");
}

thread_local! {
    /// Broadcasts for generators. Stored in a thread-local, because a generator must be `Send` and a host is not.
    static BROADCASTS: RefCell<Vec<Rc<dyn Fn()>>> = const { RefCell::new(Vec::new()) };
}

/// Adds a broadcast with two listeners, and returns the listeners. Each listener calls `order`. The listener that is called first then
/// suspends its generator.
#[expect(deprecated, reason = "yields below a host frame, without access to the generator's scope")]
fn add_broadcast(host: &Runtime, order: impl Fn(bool) + Clone + 'static) -> [Listener; 2] {
    let bell = host.objects().spawn_as::<Bell>().expect("a bell");
    let tolled = host.objects().with(bell, |bell| bell.on_tolled().detach()).expect("it is there");
    let listeners = [false, true].map(|suspends| {
        let order = order.clone();
        let listener = tolled.listen(host, move |_, _| {
            order(suspends);
            if suspends {
                generator::yield_with(0_u64);
            }
            Ok(())
        });
        listener.unwrap_or_else(|error| panic!("{error}"))
    });
    let runtime = host.clone();
    let broadcast = move || tolled.call(&runtime, (1, bell)).unwrap_or_else(|error| panic!("{error}"));
    BROADCASTS.with_borrow_mut(|all| all.push(Rc::new(broadcast)));
    listeners
}

fn generator_of(broadcast: usize) -> generator::Generator<'static, (), u64> {
    generator::Gn::<()>::new_opt(0x1_0000, move || {
        let broadcast = BROADCASTS.with_borrow(|all| Rc::clone(&all[broadcast]));
        broadcast();
        1_u64
    })
}

#[test]
fn interleaved_broadcasts_of_coroutines_call_only_their_own_bindings() {
    let host = support::builder().natives(natives![Bell, MayToll, OnTolled]).build().expect("a host");
    let order = Rc::new(RefCell::new(Vec::new()));
    let _listeners = ["one", "two"].map(|name| {
        let order = Rc::clone(&order);
        add_broadcast(&host, move |suspends| order.borrow_mut().push((name, suspends)))
    });
    let mut generators = [0, 1].map(generator_of);
    for at in [0, 1, 0, 1] {
        let _yielded = generators[at].resume();
    }
    assert_eq!(*order.borrow(), [("one", true), ("two", true), ("one", false), ("two", false)]);
    BROADCASTS.take();
}

#[test]
fn overlapping_broadcasts_that_have_ended_do_not_count_as_nested() {
    let host = support::builder().natives(natives![Bell, MayToll, OnTolled]).build().expect("a host");
    let calls = Rc::new(Cell::new(0));
    let counted = Rc::clone(&calls);
    let _listeners = add_broadcast(&host, move |_suspends| counted.set(counted.get() + 1));
    let mut last = generator_of(0);
    assert_eq!(last.resume(), Some(0));
    for _ in 0..70 {
        let mut next = generator_of(0);
        assert_eq!((next.resume(), last.resume()), (Some(0), Some(1)));
        last = next;
    }
    assert_eq!((last.resume(), calls.get()), (Some(1), 142));
    BROADCASTS.take();
}

#[test]
fn suspended_broadcasts_do_not_count_as_nested() {
    let host = support::builder().natives(natives![Bell, MayToll, OnTolled]).build().expect("a host");
    let _listeners = add_broadcast(&host, |_suspends| {});
    // The number of suspended broadcasts exceeds the maximum nesting depth.
    let mut generators: Vec<_> = (0..70).map(|_| generator_of(0)).collect();
    for expected in [0, 1] {
        for generator in &mut generators {
            assert_eq!(generator.resume(), Some(expected));
        }
    }
    BROADCASTS.take();
}

#[test]
fn a_suspended_broadcast_does_not_end_a_broadcast_outside_of_its_coroutine() {
    let host = support::builder().natives(natives![Bell, MayToll, OnTolled]).build().expect("a host");
    let _suspended = add_broadcast(&host, |_suspends| {});
    let mut generator = generator_of(0);
    assert_eq!(generator.resume(), Some(0));
    let bell = host.objects().spawn_as::<Bell>().expect("a bell");
    let tolled = host.objects().with(bell, |bell| bell.on_tolled().detach()).expect("it is there");
    let calls = Rc::new(Cell::new(0));
    let _listeners = [(), ()].map(|()| {
        let calls = Rc::clone(&calls);
        let listener = tolled.listen(&host, move |_, _| {
            calls.set(calls.get() + 1);
            Err(CallError::TooDeep { what: "a toll".to_owned(), limit: 1 })
        });
        listener.unwrap_or_else(|error| panic!("{error}"))
    });
    assert!(tolled.call(&host, (1, bell)).is_err());
    assert_eq!(calls.get(), 2, "the broadcast is not nested");
    assert_eq!(generator.resume(), Some(1));
    BROADCASTS.take();
}

#[test]
fn a_listener_that_is_dropped_during_a_reload_ends_at_the_next_safe_point() {
    let package = Package::new("Tale", &[("Hero.uc", HERO_TEXT)]);
    let kept = Rc::new(Cell::new(None::<Listener>));
    let dropped = Rc::clone(&kept);
    let drop_it = move |event: &ContextEvent| {
        if event.event == ContextEventKind::PreStartup {
            drop(dropped.take());
        }
    };
    let host = host_of(builder().on_event(drop_it), &package);
    let count = host.objects().iter().len();
    let listener = Listener::of(&host, |_, (times,): (u32,)| Ok(times <= 4)).expect("a closure");
    kept.set(Some(listener));
    reload_of(&host, &package);
    assert!(kept.take().is_none());
    host.safe_point();
    assert_eq!(host.objects().iter().len(), count);
}
