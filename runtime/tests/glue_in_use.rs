//! Tests a module that uses glue for a class of another module. Some members of the class change in its own module. The module with the
//! glue is rejected only if its code uses a changed member.

use alcedo_runtime::{Runtime, Value};

use crate::support;

/// Loads a later build of `renames`, and a module that uses the members `uses` of the earlier build through its glue. Then calls that
/// module.
fn buy(uses: &[&str]) -> Result<String, String> {
    let host: Runtime = support::builder().build().expect("a host");
    let peddler = support::plugin("peddler", uses);
    host.create_master(&[support::plugin("renames", &[]), peddler.clone()]).expect("both of one time");
    let report = host.reload(&[support::plugin("renames", &["unlisted"]), peddler]).expect("a Master");
    report.into_result().map_err(|report| report.to_string())?;
    let [scale, peddler] =
        ["/Script/Game.Scale", "/Script/Game.Peddler"].map(|class| host.objects().spawn(class).expect("spawned"));
    match host.objects().call(peddler, "buy", &[Value::Object(scale)]) {
        Ok(Some(Value::Text(text))) => Ok(text),
        other => Err(format!("{other:?}")),
    }
}

#[test]
fn changed_members_of_glue_that_no_code_uses_do_not_matter() {
    assert_eq!(buy(&[]).as_deref(), Ok("Ann of Ann"));
}

#[test]
fn a_changed_member_that_code_uses_refuses_the_module_by_name() {
    for (uses, expected) in [
        ("weighs", "peddler uses /Script/Game.Scale:weight, which does not exist"),
        ("stamps", "peddler uses /Script/Game.Scale:stamp, which is u64 here and u32 in the module"),
        ("presses", "peddler uses /Script/Game.Scale:press, which does not exist"),
    ] {
        let refused = buy(&[uses]).expect_err(uses);
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn a_module_that_uses_a_class_by_an_earlier_name_is_reloaded_with_it() {
    let libraries = |features: &[&str]| [support::plugin("renames", features), support::plugin("peddler", &["hires"])];
    let host = support::host(&libraries(&[]));
    let peddler = host.objects().spawn("/Script/Game.Peddler").expect("spawned");
    for features in [&["renamed"][..], &["renamed", "unlisted"]] {
        let report = host.reload_changed(&libraries(features)).expect("a Master");
        let report = report.into_result().unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(report.replaced_because, ["peddler: it uses renames", "renames: its library has changed"]);
        assert_eq!(host.objects().call(peddler, "hire", &[]).expect("it hires"), Some(Value::I32(70)));
        // The module remains linked with the renamed class. The next build of `renames` redirects the name to this class.
        host.types().redirect("/Script/Game.Merchant", "/Script/Engine.Actor").expect("a valid redirect");
    }
}

#[test]
fn a_subobject_whose_class_has_an_earlier_name_in_glue_is_kept() {
    let libraries =
        |features: &[&str]| [support::plugin("renames", features), support::plugin("peddler", &["employs"])];
    let host = support::host(&libraries(&[]));
    let hand = |peddler| match host.objects().get(peddler, "hand") {
        Ok(Value::Object(hand)) => hand,
        other => panic!("{other:?}"),
    };
    let peddler = host.objects().spawn("/Script/Game.Peddler").expect("spawned");
    let merchant = hand(peddler);
    host.objects().set(merchant, "weight", &Value::I32(90)).expect("a number");
    let renamed = libraries(&["renamed"]);
    // The class of the owner is missing after the second reload, and returns in the third reload.
    for modules in [&renamed[..], &renamed[..1], &renamed[..]] {
        let report = host.reload(modules).expect("a Master");
        let report = report.into_result().unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(host.objects().get(merchant, "mass").ok(), Some(Value::I32(90)), "{report}");
    }
    assert_eq!(hand(peddler), merchant);
    let folder = tempfile::tempdir().expect("a folder");
    let (file, path) = (folder.path().join("world"), host.objects().path_of(peddler).expect("a path"));
    host.worlds().save(&file).expect("it is saved");
    let report = host.worlds().load(&file).unwrap_or_else(|error| panic!("{error}"));
    let merchant = hand(host.objects().at_path(&path).expect("it is loaded"));
    assert_eq!(host.objects().get(merchant, "mass").ok(), Some(Value::I32(90)), "{report}");
}
