//! Tests the console support: classification of typed text, and completion of names.

use alcedo_uc::{Snippet, Source, complete, snippet};

use crate::fixture;
use crate::support::options;

fn kind(text: &str) -> &'static str {
    match snippet(&Source::new("console", text)) {
        Snippet::Value => "value",
        Snippet::Statements => "statements",
        Snippet::Unfinished => "unfinished",
        Snippet::Invalid(_) => "wrong",
    }
}

#[test]
fn typed_text_is_a_value_statements_or_unfinished() {
    let cases = [
        ("Health + 3", "value"),
        ("GetDistance(none);", "value"),
        ("Health = 3;", "statements"),
        ("local int i; i = 5;", "statements"),
        ("if (Health > 3) Health = 3;", "statements"),
        ("if (Health > 3) {", "unfinished"),
        ("GetDistance(", "unfinished"),
        ("/* a", "unfinished"),
        ("Health = ;", "wrong"),
        ("5); Destroy(", "wrong"),
        ("}", "wrong"),
        ("", "statements"),
    ];
    for (text, expected) in cases {
        assert_eq!(kind(text), expected, "{text}");
    }
}

fn completed(text: &str) -> String {
    let world = fixture::world();
    complete(text, "/Script/Engine.Pawn", &world.types, &options()).join(" ")
}

#[test]
fn words_complete_to_members_of_the_value_before() {
    assert_eq!(completed("hea"), "health");
    assert_eq!(completed("x = Owner.Lo"), "location");
    assert_eq!(completed("owner.location."), "x y z");
    assert_eq!(completed("Pawn(Owner).sp"), "speed");
    assert_eq!(completed("tags.f"), "Find");
    assert_eq!(completed("on_touch."), "Add Broadcast Clear Remove");
    assert_eq!(completed("singer."), "sing");
    assert_eq!(completed("controller.pawn.controller.Paw"), "pawn");
    assert_eq!(completed("cla"), "Clamp");
    assert_eq!(completed("sec"), "", "scripts cannot read it");
    assert_eq!(completed("nothing.at.all."), "");
    assert_eq!(completed("(((("), completed(""));
    assert_eq!(completed("é."), "");
}
