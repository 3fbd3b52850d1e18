//! Tests players and listeners. The delegates of a player call functions of other objects of the plugin.

use alcedo::test_world;

#[test]
fn a_listener_hears_scores_before_and_after_a_reload() {
    let world = test_world!();
    let (player, listener) = (world.spawn("Player"), world.spawn("Listener"));
    world.call::<()>(listener, "follow", (player,));
    assert_eq!(world.call::<i32>(player, "earn", (7,)), 7);
    assert_eq!(world.get::<Vec<String>>(listener, "received"), ["received 7 of 7"]);

    world.edit("src/lib.rs", |text| text.replace("else { \"received\" }", "else { \"noted\" }"));
    world.call::<i32>(player, "earn", (5,));
    assert_eq!(world.get::<Vec<String>>(listener, "received"), ["received 7 of 7", "noted 5 of 12"]);
}

#[test]
fn a_score_that_a_rule_refuses_does_not_count() {
    let world = test_world!();
    let (player, listener) = (world.spawn("Player"), world.spawn("Listener"));
    world.call::<()>(listener, "follow", (player,));
    assert_eq!(world.call::<i32>(player, "earn", (100,)), 0);
    assert_eq!(world.get::<Vec<String>>(listener, "received"), ["received nothing"]);
}

#[test]
fn a_listener_that_panics_fails_with_its_message() {
    let world = test_world!();
    let (player, listener) = (world.spawn("Player"), world.spawn("Listener"));
    let error = world.try_call::<()>(listener, "burst", (7, player)).unwrap_err().to_string();
    assert!(error.contains("7 points are too much") && error.contains("delegates/src/lib.rs:"), "{error}");
}
