//! Tests Rust types of host glue that `host_glue.rs` does not cover: enums, structs with any fields, sets and maps, out parameters, and
//! delegate arguments. Each type is used before and after a reload that makes the glue stale.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use alcedo_runtime::host::{Delegate, Listener, Obj, PropertyOf};
use alcedo_runtime::{CallError, Error, Runtime, Value};

use crate::support;

#[allow(dead_code, missing_docs, unreachable_pub, reason = "a test uses a part of the glue")]
#[path = "host_glue/chores.rs"]
mod chores;
#[allow(dead_code, missing_docs, unreachable_pub, reason = "a test uses a part of the glue")]
#[path = "host_glue/delegates.rs"]
mod delegates;
#[allow(dead_code, missing_docs, unreachable_pub, reason = "a test uses a part of the glue")]
#[path = "host_glue/moods.rs"]
mod moods;
#[allow(dead_code, missing_docs, unreachable_pub, reason = "a test uses a part of the glue")]
#[path = "host_glue/parcels.rs"]
mod parcels;

use chores::{Robot, RobotMembers as _};
use delegates::{MayScore, Player, PlayerMembers as _};
use moods::{Far, High, Mood, Person, PersonMembers as _, Rights};
use parcels::{Depot, DepotMembers as _, Drawer, Parcel, Route, Size};

fn call_error(error: Error) -> CallError {
    match error {
        Error::Call(error) => error,
        other => panic!("{other}"),
    }
}

fn host(plugin: &str) -> Runtime {
    support::host(&[support::plugin(plugin, &[])])
}

#[test]
fn glue_passes_enums_as_properties_elements_keys_parameters_and_results() {
    let host = host("moods");
    let person = Person::create(&host).expect("it is declared");
    assert_eq!(person.mood(&host).expect("there"), Mood::Angry, "the default");
    assert_eq!((person.far(&host).expect("there"), person.high(&host).expect("there")), (Far::There, High::Up));
    assert_eq!(person.feel(&host, Mood::Lost).expect("it feels"), Mood::Angry);
    person.set_mood(&host, Mood::Calm).expect("there");
    assert_eq!(person.feel(&host, Mood::Lost).expect("it feels"), Mood::Calm);
    assert_eq!(person.history(&host).expect("there"), [Mood::Lost, Mood::Lost]);
    assert_eq!(person.counts(&host).expect("there"), HashMap::from([(Mood::Lost, 2)]));
    person.set_counts(&host, HashMap::from([(Mood::Lost, 5), (Mood::Calm, 7)])).expect("there");
    assert_eq!(person.feel(&host, Mood::Calm).expect("it feels"), Mood::Lost);
    assert_eq!(person.counts(&host).expect("there"), HashMap::from([(Mood::Lost, 5), (Mood::Calm, 8)]));
    assert_eq!(person.grant(&host, Rights::Read).expect("it grants"), Rights::Read);
    let (mut mood, mut rights) = (Mood::Calm, Rights::Read);
    assert_eq!(person.sway(&host, &mut mood, &mut rights).expect("it sways"), Mood::Calm);
    assert_eq!((mood, rights), (Mood::Angry, Rights::All));
    host.shutdown().into_result().expect("a clean shutdown");
}

/// The glue contains the entry numbers from the first declaration of the enum. After the reload, these numbers belong to other entries.
#[test]
fn a_changed_enum_is_an_error_before_any_access() {
    let host = host("moods");
    let person = Person::create(&host).expect("it is declared");
    person.feel(&host, Mood::Angry).expect("it feels");
    assert!(host.reload(&[support::plugin("moods", &["renumbered"])]).expect("it is done").is_committed());
    for error in [
        person.mood(&host).map(drop).expect_err("the entries differ"),
        person.set_mood(&host, Mood::Calm).expect_err("the entries differ"),
        person.history(&host).map(drop).expect_err("the entries differ"),
        person.counts(&host).map(drop).expect_err("the entries differ"),
        person.feel(&host, Mood::Calm).map(drop).expect_err("the entries differ"),
    ] {
        let error = call_error(error);
        assert!(matches!(error, CallError::Signature { .. }), "{error}");
    }
    let message = person.mood(&host).expect_err("the entries differ").to_string();
    assert!(
        message.contains("Calm = 0, Angry = 1, Lost = 9") && message.contains("Furious = 0, Calm = -300"),
        "{message}"
    );
    let (mut mood, mut rights) = (Mood::Calm, Rights::Read);
    person.sway(&host, &mut mood, &mut rights).map(drop).expect_err("the entries differ");
    assert_eq!((mood, rights), (Mood::Calm, Rights::Read));
    assert_eq!(person.far(&host).expect("as it was"), Far::There);
    assert!(person.in_words(&host).expect("by name").starts_with("angry"));
    assert!(host.reload(&[support::plugin("moods", &[])]).expect("it is done").is_committed());
    assert_eq!(person.mood(&host).expect("as before"), Mood::Angry);
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn structs_with_strings_enums_containers_and_bases_are_copied_in_and_out() {
    let host = host("parcels");
    let depot = Depot::create(&host).expect("it is declared");
    let size = Size { height: 2.5, width: -1, route: Route::Air, weight: 0 };
    let next = depot.next(&host).expect("there");
    let tall = Size { height: 3.0, ..size.clone() };
    assert_eq!(next, Parcel { to: "nobody".to_owned(), size: tall.clone(), inner: size.clone() });
    assert_eq!(depot.note(&host, "here".to_owned(), 4).expect("it notes"), "here (4) 1.5");
    let drawer = Drawer { name: "here".to_owned(), numbers: vec![4], level: 2, height: 1.5, is_open: true };
    assert_eq!(depot.drawer(&host).expect("there"), drawer);
    depot.set_drawer(&host, Drawer { numbers: vec![7, 8], ..drawer }).expect("there");
    assert_eq!(depot.note(&host, "there".to_owned(), 9).expect("it notes"), "there (7, 8, 9) 1.5");
    depot.set_sizes(&host, vec![size.clone(), tall.clone()]).expect("there");
    assert_eq!(depot.sizes(&host).expect("there"), [size.clone(), tall.clone()]);
    // Passes the struct as an argument, a result and an out parameter.
    let sent = Parcel { to: "me".to_owned(), size: size.clone(), inner: tall.clone() };
    let mut back = Size::default();
    assert_eq!(depot.send(&host, sent.clone(), &mut back).expect("it is sent"), sent);
    assert_eq!((back, depot.next(&host).expect("there")), (tall, sent));
    assert!(depot.format_size(&host, size).expect("the call succeeds").contains("route: Air"));
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn a_changed_struct_is_an_error_listing_the_fields_of_the_glue() {
    let host = host("parcels");
    let depot = Depot::create(&host).expect("it is declared");
    depot.note(&host, "here".to_owned(), 4).expect("it notes");
    assert!(host.reload(&[support::plugin("parcels", &["moved"])]).expect("it is done").is_committed());
    // Both declarations have the same fields in the same order. In the second declaration, `level` belongs to the base.
    assert_eq!(depot.drawer(&host).expect("the same fields").numbers, [4]);
    let stale = PropertyOf::new("/Script/Game.Depot", "drawer").get::<Other>(&host, depot.handle());
    let error = stale.expect_err("other fields");
    let message = error.to_string();
    assert!(
        message.contains("height: f64, is_open: bool") && message.contains("height: f32, is_open: bool"),
        "{message}"
    );
    host.shutdown().into_result().expect("a clean shutdown");
}

alcedo_runtime::host_struct! {
    /// Struct `Drawer` as an earlier version of the plugin declared it.
    struct Other in "/Script/Game.Drawer" {
        name "name": String,
        numbers "numbers": Vec<u32>,
        level "level": u8,
        height "height": f32,
        is_open "is_open": bool,
    }
}

#[test]
fn a_delegate_parameter_accepts_a_function_or_a_closure() {
    let host = host("delegates");
    let player = Player::create(&host).expect("it is declared");
    let ear = delegates::Listener::create(&host).expect("it is declared");
    let allow = host.links().delegate(ear.handle(), "allow").expect("the types match");
    let allowed = player.agree(&host, allow, 3).expect("the call succeeds");
    let rules = host.objects().get(player.handle(), "rules").expect("they are kept");
    assert!(matches!(&rules, Value::Array(rules) if rules.len() == 1), "{rules:?}");
    let seen = Rc::new(RefCell::new(Vec::new()));
    let inner = Rc::clone(&seen);
    let listener = Listener::of(&host, move |_, (points,): (i32,)| {
        inner.borrow_mut().push(points);
        Ok(points > 5)
    });
    let listener = listener.expect("it is made");
    let rule: MayScore = listener.delegate().expect("the types match");
    assert!(player.agree(&host, rule, 6).expect("the call succeeds"));
    assert!(
        !player.agree(&host, rule, 5).expect("the call succeeds")
            && allowed == player.agree(&host, allow, 3).expect("the call succeeds")
    );
    assert_eq!(*seen.borrow(), [6, 5]);
    assert!(rule.call(host.world(), (9,)).expect("it answers"));
    let other = listener.delegate::<fn(u8) -> bool>().expect_err("it takes an i32");
    assert!(matches!(call_error(other), CallError::Signature { .. }));
    drop(listener);
    let gone = rule.call(host.world(), (9,)).expect_err("the closure was dropped");
    assert!(gone.to_string().contains("a destroyed object"), "{gone}");
    player.agree(&host, rule, 5).map(drop).expect_err("the closure was dropped");
    let none: Delegate<fn(i32) -> bool> = Delegate::none();
    assert!(none.call(host.world(), (1,)).expect_err("nothing").to_string().contains("bound to nothing"));
    let wrong = host.links().delegate::<fn(i32) -> bool>(ear.handle(), "hear").expect_err("it takes more");
    assert!(wrong.to_string().contains("Player"), "{wrong}");
    host.shutdown().into_result().expect("a clean shutdown");
}

#[test]
fn an_async_plugin_function_passes_its_result_to_a_host_closure() {
    let (_record, host, robot) = crate::tasks::playing("chores");
    let robot: Obj<Robot> = host.objects().cast(robot).expect("it is a robot");
    let problems = Rc::new(RefCell::new(Vec::new()));
    let inner = Rc::clone(&problems);
    let listener = Listener::of(&host, move |_, (what, error): (String, String)| {
        inner.borrow_mut().push((what, error));
        Ok(())
    });
    let listener = listener.expect("it is made");
    let done = listener.delegate().expect("the types match");
    robot.bring(&host, "tea".to_owned(), "the roof".to_owned(), done).expect("it begins");
    robot.bring(&host, "tea".to_owned(), "nowhere".to_owned(), done).expect("it begins");
    robot.bring(&host, "tea".to_owned(), "nowhere".to_owned(), Delegate::none()).expect("it begins");
    for _ in 0..4 {
        crate::tasks::tick(&host, 50);
    }
    let found: Vec<_> = problems.borrow().iter().map(|(what, error)| (what.contains("tea"), error.clone())).collect();
    assert_eq!(found, [(true, String::new()), (false, "no way to nowhere".to_owned())]);
    drop(listener);
    robot.bring(&host, "tea".to_owned(), "the roof".to_owned(), done).expect("it begins, without a listener");
    for _ in 0..4 {
        crate::tasks::tick(&host, 50);
    }
    assert_eq!(problems.borrow().len(), 2);
}
