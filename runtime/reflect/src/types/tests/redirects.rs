//! Tests of redirects of types and members: forward, backward (after a reload has undone a rename), and in cycles.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{ACTOR, engine, f64, held, reference, structure};
use crate::World;
use crate::decl::Batch;
use crate::refusal::DeclareError;
use crate::testing::{declare, dynamic};

fn redirects(world: &World) -> Vec<String> {
    world.types.redirects().iter().map(|(old, new)| format!("{old} -> {new}")).collect()
}

#[test]
fn redirects_find_what_was_renamed() {
    let world = engine();
    declare(&world, [dynamic("New", ACTOR, &[f64("speed")])]);
    for (old, new) in [
        ("/Script/Game.Old", "/Script/Game.Older"),
        ("/Script/Game.Older", "/Script/Game.New"),
        ("/Script/Game.New:pace", "/Script/Game.New:speed"),
        ("/Script/Game.A", "/Script/Game.B"),
        ("/Script/Game.B", "/Script/Game.A"),
        ("/Script/Engine.Actor", "/Script/Game.New"),
    ] {
        world.types.redirect(old, new);
    }
    let class = |path: &str| world.types.class_by_path(path).map(|class| class.path.to_string());
    let property = |path: &str| world.types.property_by_path(path).map(|property| property.text.to_string());
    assert_eq!(class("/Script/Game.Old").as_deref(), Some("/Script/Game.New"));
    assert_eq!(class("/Script/Game.A"), None, "a circle leads nowhere");
    assert_eq!(class(ACTOR).as_deref(), Some(ACTOR), "what has the very path wins");
    assert_eq!(property("/Script/Game.Old:speed").as_deref(), Some("speed"));
    assert_eq!(property("/Script/Game.Old:pace").as_deref(), Some("speed"), "type and member were renamed");
    assert_eq!(property("/Script/Game.New:seed").as_deref(), Some("seed"));
    assert_eq!(
        (property("/Script/Game.New:gone"), property("/Script/Game.New"), class("nonsense")),
        (None, None, None)
    );
    assert_eq!(&*world.types.redirected("/Script/Game.Old"), "/Script/Game.New");
    assert_eq!(&*world.types.redirected("/Script/Game.New"), "/Script/Game.New");
}

#[test]
fn a_later_name_resolves_to_the_only_earlier_one_that_is_declared() {
    let world = engine();
    declare(&world, [dynamic("Old", ACTOR, &[f64("pace")])]);
    for (old, new) in [
        ("/Script/Game.Old", "/Script/Game.Middle"),
        ("/Script/Game.Middle", "/Script/Game.New"),
        ("/Script/Game.New:pace", "/Script/Game.New:speed"),
    ] {
        world.types.redirect(old, new);
    }
    let class = |path: &str| world.types.class_by_path(path).map(|class| class.path.to_string());
    let property = |path: &str| world.types.property_by_path(path).map(|property| property.text.to_string());
    assert_eq!(class("/Script/Game.New").as_deref(), Some("/Script/Game.Old"));
    assert_eq!(class("/Script/Game.Middle").as_deref(), Some("/Script/Game.Old"));
    assert_eq!(property("/Script/Game.New:speed").as_deref(), Some("pace"));
    assert_eq!(property("/Script/Game.Old:speed").as_deref(), Some("pace"));
    let text = "Map(/Script/Game.New, Array(/Script/Game.Middle))";
    assert_eq!(world.types.to_current_paths(text), "Map(/Script/Game.Old, Array(/Script/Game.Old))");
    world.types.redirect("/Script/Game.Other", "/Script/Game.New");
    assert_eq!(class("/Script/Game.New").as_deref(), Some("/Script/Game.Old"), "nothing has the other name");
    declare(&world, [dynamic("Other", ACTOR, &[])]);
    assert_eq!(class("/Script/Game.New"), None, "the name was that of both");
}

#[test]
fn a_batch_may_use_the_earlier_names_of_its_own_types() {
    let world = engine();
    let friend = reference("friend", "/Script/Game.Merchant");
    // The users of the earlier names are listed before the renamed types.
    let heir = dynamic("Heir", "/Script/Game.Merchant", &[friend, held("purse", "/Script/Game.Purse")]);
    let batch = Batch {
        structs: vec![structure("Chest", &[held("purse", "/Script/Game.Purse")]), structure("Bag", &[f64("gold")])],
        classes: vec![heir, dynamic("Trader", ACTOR, &[f64("weight")])],
        earlier_names: vec![
            ("/Script/Game.Trader".to_owned(), "Merchant".to_owned()),
            ("/Script/Game.Bag".to_owned(), "Purse".to_owned()),
        ],
        ..Batch::default()
    };
    let mut refused = batch.clone();
    refused.classes.push(dynamic("Orphan", "/Script/Game.Unknown", &[]));
    world.types.redirect("/Script/Game.Merchant", ACTOR);
    world.types.declare(&world.names, &refused).expect_err("the base is unknown");
    assert_eq!(redirects(&world), ["/Script/Game.Merchant -> /Script/Engine.Actor"], "a rejected batch adds none");
    world.types.declare(&world.names, &batch).expect("the earlier names resolve to types of the batch");
    let heir = world.types.class_by_path("/Script/Game.Heir").expect("it is declared");
    assert_eq!(heir.base.as_ref().map(|base| &*base.path), Some("/Script/Game.Trader"));
    assert_eq!(heir.find_property("purse").map(|purse| purse.ty.to_string()).as_deref(), Some("/Script/Game.Bag"));
}

#[test]
fn an_earlier_name_of_a_struct_may_be_the_path_of_a_class() {
    let world = engine();
    declare(&world, [dynamic("Purse", ACTOR, &[])]);
    let batch = Batch {
        structs: vec![structure("Chest", &[held("purse", "/Script/Game.Purse")]), structure("Bag", &[f64("gold")])],
        earlier_names: vec![("/Script/Game.Bag".to_owned(), "Purse".to_owned())],
        ..Batch::default()
    };
    world.types.declare(&world.names, &batch).expect("the field has the type of the renamed struct");
    let chest = world.types.struct_by_path("/Script/Game.Chest").expect("it is declared");
    assert_eq!(chest.fields()[0].ty.to_string(), "/Script/Game.Bag");
}

#[test]
fn a_panic_during_a_declaration_restores_the_redirects() {
    let world = engine();
    world.types.redirect("/Script/Game.Merchant", ACTOR);
    let earlier_names = vec![("/Script/Game.Trader".to_owned(), "Merchant, Dealer".to_owned())];
    let batch = Batch { earlier_names, ..Batch::default() };
    let outcome: Result<(), _> = catch_unwind(AssertUnwindSafe(|| {
        let mut registry = world.types.registry.borrow_mut();
        let renames = registry.add_renames(&batch);
        let chain = renames.registry().redirect_chain("/Script/Game.Dealer");
        assert_eq!(chain.map(|path| &**path).collect::<Vec<_>>(), ["/Script/Game.Trader"]);
        panic!("a bug in the compilation");
    }));
    let message = outcome.expect_err("it panics");
    assert_eq!(message.downcast_ref::<&str>(), Some(&"a bug in the compilation"));
    assert_eq!(redirects(&world), ["/Script/Game.Merchant -> /Script/Engine.Actor"]);
}

#[test]
fn an_ambiguous_earlier_name_is_refused_in_any_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let world = engine();
        // A reload has undone both renames.
        world.types.redirect("/Script/Game.First", "/Script/Game.Later");
        world.types.redirect("/Script/Game.Second", "/Script/Game.Later");
        let heir = dynamic("Heir", "/Script/Game.Later", &[]);
        let decls = [dynamic("First", ACTOR, &[]), dynamic("Second", ACTOR, &[]), heir];
        let classes = order.map(|at| decls[at].clone()).to_vec();
        let batch = Batch { classes, ..Batch::default() };
        let error = world.types.declare(&world.names, &batch).expect_err("both classes have the later name");
        assert!(matches!(error, DeclareError::UnknownBase { .. }), "{order:?}: {error}");
    }
}

/// Resolves a chain of a hundred thousand redirects of a class, of a member and of both. A search with quadratic cost would take five
/// billion steps.
#[test]
fn a_search_follows_each_redirect_once() {
    const ROW: usize = 100_000;
    let world = engine();
    declare(&world, [dynamic("New", ACTOR, &[f64("speed")])]);
    let class = |at: usize| if at == ROW { "/Script/Game.New".to_owned() } else { format!("/Script/Game.Old{at}") };
    for at in 0..ROW {
        world.types.redirect(&class(at), &class(at + 1));
        world.types.redirect(&format!("/Script/Game.New:pace{at}"), &format!("/Script/Game.New:pace{}", at + 1));
        world.types.redirect(&format!("{}:gone", class(at)), &format!("{}:gone", class(at + 1)));
    }
    let property = |path: &str| world.types.property_by_path(path).map(|property| property.text.to_string());
    assert_eq!(property("/Script/Game.Old0:speed").as_deref(), Some("speed"));
    assert_eq!(property("/Script/Game.Old0:pace0"), None, "it ends at one that is not there");
    assert_eq!(property("/Script/Game.Old0:gone"), None);
    assert_eq!(&*world.types.redirected("/Script/Game.Old0"), "/Script/Game.New");
    world.types.redirect(&format!("/Script/Game.New:pace{ROW}"), "/Script/Game.New:speed");
    assert_eq!(property("/Script/Game.Old0:pace0").as_deref(), Some("speed"));
}

#[test]
fn a_cycle_of_redirects_resolves_to_none() {
    let world = engine();
    declare(&world, [dynamic("New", ACTOR, &[f64("speed")])]);
    let cycle = ["Left", "Right", "Behind"].map(|name| format!("/Script/Game.{name}"));
    for (at, path) in cycle.iter().enumerate() {
        let next = &cycle[(at + 1) % cycle.len()];
        world.types.redirect(path, next);
        world.types.redirect(&format!("{path}:a"), &format!("{next}:a"));
    }
    world.types.redirect("/Script/Game.Into", &cycle[0]);
    world.types.redirect("/Script/Game.New:a", "/Script/Game.New:a");
    for path in cycle.iter().map(String::as_str).chain(["/Script/Game.Into"]) {
        assert_eq!(&*world.types.redirected(path), path);
        assert!(world.types.class_by_path(path).is_none());
        assert!(world.types.property_by_path(&format!("{path}:a")).is_none());
    }
    assert!(world.types.property_by_path("/Script/Game.New:a").is_none());
}
