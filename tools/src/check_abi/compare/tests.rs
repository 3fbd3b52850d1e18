//! Tests of the comparison. Each test changes the declarations or the manifest of one module.

use alcedo_runtime::kinds::{PropertyKind, property_flags};
use alcedo_runtime::native::{NativeClass, NativeDelegate, NativeEnum, NativeInterface, NativeStruct, Natives};
use alcedo_runtime::{Declared, DeclaredExport, DeclaredImport, Runtime};
use serde_json::json;

use super::{Finding, accepts, compare};
use crate::inspect::{Inspected, Needed};

const F64: (PropertyKind, &str) = (PropertyKind::F64, "");
const U32: (PropertyKind, &str) = (PropertyKind::U32, "");

/// Returns the declarations of the old build: the class `Lamp`, its derived class `SpotLamp`, and one type of each remaining kind.
fn lamps() -> Declared {
    let lamp = NativeClass::new("Game", "Lamp", "/Script/Core.Object")
        .property("gain", F64, property_flags::EDIT_ANYWHERE, "2.5")
        .function("dimmed", &[("by", F64)], Some(F64), 0, |_world, frame| frame.finish())
        .event("changed", &[]);
    let spot_lamp = NativeClass::new("Game", "SpotLamp", "/Script/Game.Lamp").property("angle", U32, 0, "");
    let mood = NativeEnum::new("Game", "Mood", PropertyKind::U8).entry("Calm", 0).entry("Angry", 1);
    let natives = Natives::in_package("Game")
        .class(lamp)
        .class(spot_lamp)
        .structure(NativeStruct::new("Game", "Spot").field("x", F64).field("y", F64))
        .enumeration(mood)
        .delegate(NativeDelegate::multicast("Game", "OnHit").param("damage", U32))
        .interface_with_functions(NativeInterface::new("Game", "Hums").function("hum", &[("times", U32)], None));
    Runtime::builder().natives(natives).declared().expect("the declarations are valid")
}

fn inspected(declared: &Declared) -> Inspected<'_> {
    Inspected {
        path: String::new(),
        name: "lamps",
        version: "0.1.0".to_owned(),
        build_id: String::new(),
        compiler: "rustc 1.95.0",
        abi: 1,
        api_oldest: 1,
        api_newest: 4,
        dependencies: Vec::new(),
        sealed: true,
        will_park: None,
        permissions: None,
        declared,
    }
}

fn lines(findings: &[Finding]) -> Vec<String> {
    let line = |found: &Finding| format!("{:?} {}: {}", found.effect, found.item, found.change);
    findings.iter().map(line).collect()
}

/// Applies `change` to the declarations of the new build. Checks that the findings for hosts and for plugins equal `host` and `plugins`.
fn check(change: impl Fn(&mut Declared), host: &[&str], plugins: &[&str]) {
    let (old, mut new) = (lamps(), lamps());
    change(&mut new);
    let found = compare(&inspected(&old), &inspected(&new));
    assert_eq!((lines(&found.host), lines(&found.plugins)), (strings(host), strings(plugins)));
    assert!(found.host.iter().chain(&found.plugins).all(|finding| !finding.consequence.is_empty()));
}

fn strings(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

#[test]
fn equal_builds_have_no_findings() {
    check(|_| {}, &[], &[]);
    // Expects no findings, because docs, metadata and parameter names are not part of the ABI.
    check(|new| new.classes[0].functions[0].params[0].name = "to".to_owned(), &[], &[]);
    check(|new| new.classes[0].properties[0].doc = "Brightness.".to_owned(), &[], &[]);
}

#[test]
fn properties_are_compared_by_name_and_type() {
    let gain = "/Script/Game.Lamp:gain";
    let removed = format!("Breaks {gain}: removed");
    check(|new| drop(new.classes[0].properties.remove(0)), &[&removed], &[&removed]);
    let retyped = |ty: &'static str| move |new: &mut Declared| ty.clone_into(&mut new.classes[0].properties[0].ty);
    for (ty, effect) in [("f32", "Compatible"), ("Optional(f64)", "Compatible"), ("String", "Breaks")] {
        let host = format!("{effect} {gain}: f64 → {ty}");
        check(retyped(ty), &[&host], &[&format!("Breaks {gain}: f64 → {ty}")]);
    }
    let default = format!("Compatible {gain}: default 2.5 → 3.5");
    check(|new| new.classes[0].properties[0].default = "3.5".to_owned(), &[&default], &[]);
    let added = |new: &mut Declared| {
        let mut glow = new.classes[0].properties[0].clone();
        glow.name = "glow".to_owned();
        new.classes[0].properties.push(glow);
    };
    check(added, &["Compatible /Script/Game.Lamp:glow: added"], &[]);
}

#[test]
fn a_property_that_becomes_or_was_a_subobject_loses_its_objects() {
    let part = |declared: &mut Declared| {
        let gain = &mut declared.classes[0].properties[0];
        "Object(/Script/Game.SpotLamp)".clone_into(&mut gain.ty);
        gain.default = String::new();
    };
    let (mut plain, mut subobject) = (lamps(), lamps());
    [&mut plain, &mut subobject].into_iter().for_each(part);
    subobject.classes[0].properties[0].flags.push("default_subobject".to_owned());
    for (old, new, change) in [(&plain, &subobject, "is"), (&subobject, &plain, "is not")] {
        let found = compare(&inspected(old), &inspected(new));
        assert_eq!(lines(&found.host), [format!("Breaks /Script/Game.Lamp:gain: {change} a default subobject")]);
    }
}

#[test]
fn renamed_members_are_followed_if_their_earlier_name_is_listed() {
    let renamed = |is_listed: bool| {
        move |new: &mut Declared| {
            let gain = &mut new.classes[0].properties[0];
            gain.name = "power".to_owned();
            if is_listed {
                gain.meta.insert("was".to_owned(), "light, gain".to_owned());
            }
        }
    };
    check(renamed(true), &["Compatible /Script/Game.Lamp:gain: renamed to power"], &[]);
    let removed = "Breaks /Script/Game.Lamp:gain: removed";
    check(renamed(false), &[removed, "Compatible /Script/Game.Lamp:power: added"], &[removed]);
}

#[test]
fn a_member_may_move_to_a_base() {
    let moved = |new: &mut Declared| {
        let angle = new.classes[1].properties.remove(0);
        new.classes[0].properties.push(angle);
    };
    check(moved, &["Compatible /Script/Game.Lamp:angle: added"], &[]);
}

#[test]
fn functions_are_compared_by_signature() {
    let removed = "Breaks /Script/Game.Lamp:dimmed: removed";
    check(|new| drop(new.classes[0].functions.remove(0)), &[removed], &[removed]);
    let changed = "Breaks /Script/Game.Lamp:dimmed: (f64) -> f64 → (f64)";
    check(|new| new.classes[0].functions[0].result = None, &[changed], &[changed]);
    let plain = |new: &mut Declared| new.classes[0].functions[1].flags.clear();
    check(plain, &[], &["Breaks /Script/Game.Lamp:changed: is not an event"]);
}

#[test]
fn an_override_is_lost_with_the_function_of_its_base() {
    let (mut old, mut new) = (lamps(), lamps());
    let mut changed = old.classes[0].functions[1].clone();
    "/Script/Game.Lamp".clone_into(&mut changed.overrides);
    old.classes[1].functions.push(changed);
    "/Script/Core.Object".clone_into(&mut new.classes[1].base);
    let found = lines(&compare(&inspected(&old), &inspected(&new)).host);
    let changes: Vec<_> = found.iter().filter(|line| line.contains("SpotLamp:changed")).collect();
    assert_eq!(changes, ["Breaks /Script/Game.SpotLamp:changed: removed"], "{found:?}");
}

#[test]
fn classes_are_compared_by_path_base_and_flags() {
    let removed = "Breaks /Script/Game.SpotLamp: removed";
    check(|new| drop(new.classes.remove(1)), &[removed], &[removed]);
    let renamed = |new: &mut Declared| {
        new.classes[1].path = "/Script/Game.Torch".to_owned();
        new.earlier_names.insert("/Script/Game.Torch".to_owned(), "SpotLamp".to_owned());
    };
    let change = "/Script/Game.SpotLamp: renamed to /Script/Game.Torch";
    check(renamed, &[&format!("Compatible {change}")], &[&format!("Breaks {change}")]);
    let rebased = |new: &mut Declared| new.classes[1].base = "/Script/Core.Object".to_owned();
    let change = "/Script/Game.SpotLamp: base /Script/Game.Lamp → /Script/Core.Object";
    let lost = ["gain", "dimmed", "changed"].map(|name| format!("Breaks /Script/Game.SpotLamp:{name}: removed"));
    let [kept, breaks] = ["Compatible", "Breaks"].map(|effect| format!("{effect} {change}"));
    check(rebased, &[&kept, &lost[0], &lost[1], &lost[2]], &[&breaks]);
    let retyped = |new: &mut Declared| {
        let mut torch = new.classes[0].clone();
        torch.path = "/Script/Game.Torch".to_owned();
        "String".clone_into(&mut torch.properties[0].ty);
        new.classes[1].base.clone_from(&torch.path);
        new.classes.push(torch);
    };
    let change = "/Script/Game.SpotLamp: base /Script/Game.Lamp → /Script/Game.Torch";
    let lost = "Breaks /Script/Game.SpotLamp:gain: f64 → String";
    let [kept, breaks] = ["Compatible", "Breaks"].map(|effect| format!("{effect} {change}"));
    check(retyped, &[&kept, lost, "Compatible /Script/Game.Torch: added"], &[&breaks]);
    let inserted = |new: &mut Declared| {
        let mut wall = new.classes[1].clone();
        (wall.path, wall.properties) = ("/Script/Game.WallLamp".to_owned(), Vec::new());
        new.classes[1].base = wall.path.clone();
        new.classes.push(wall);
    };
    let change = "Compatible /Script/Game.SpotLamp: base /Script/Game.Lamp → /Script/Game.WallLamp";
    check(inserted, &[change, "Compatible /Script/Game.WallLamp: added"], &[change]);
    let flag = |flag: &'static str| move |new: &mut Declared| new.classes[0].flags.push(flag.to_owned());
    check(flag("final"), &[], &["Breaks /Script/Game.Lamp: is final"]);
    for (flag_of_objects, change) in [("abstract", "is abstract"), ("contextual", "is contextual")] {
        let change = format!("Breaks /Script/Game.Lamp: {change}");
        check(flag(flag_of_objects), &[&change], &[&change]);
    }
}

#[test]
fn scripts_lose_the_uses_that_the_new_flags_do_not_permit() {
    let of_scripts = |property: &[&str], function: &[&str], class: &[&str]| {
        let mut declared = lamps();
        let lamp = &mut declared.classes[0];
        lamp.properties[0].flags.extend(strings(property));
        lamp.functions[0].flags.extend(strings(function));
        lamp.flags.extend(strings(class));
        declared
    };
    let old = of_scripts(&["blueprint_read", "blueprint_write"], &["blueprint_callable"], &["blueprintable"]);
    let lost = |new: &Declared| lines(&compare(&inspected(&old), &inspected(new)).plugins);
    let item = |text: &str| format!("Breaks /Script/Game.Lamp{text}`");
    let all = [": lacks `blueprintable", ":gain: lacks `blueprint_read", ":gain: lacks `blueprint_write"];
    let expected: Vec<_> = all.into_iter().chain([":dimmed: lacks `blueprint_callable"]).map(item).collect();
    assert_eq!(lost(&lamps()), expected);
    let narrower = of_scripts(&["blueprint_read"], &["blueprint_pure"], &["blueprintable"]);
    assert_eq!(lost(&narrower), [item(":gain: lacks `blueprint_write")]);
    // Scripts cannot use the earlier names that the new build lists, except names that differ only in case and `_`.
    let renamed = |property: &str, event: &str| {
        let mut new = old.clone();
        let lamp = &mut new.classes[0];
        let (gain, changed) = (&mut lamp.properties[0], &mut lamp.functions[1]);
        (gain.name, changed.name) = (property.to_owned(), event.to_owned());
        gain.meta.insert("was".to_owned(), "gain".to_owned());
        changed.meta.insert("was".to_owned(), "changed".to_owned());
        lost(&new)
    };
    let changes = ["gain: renamed to power", "changed: renamed to altered"];
    assert_eq!(renamed("power", "altered"), changes.map(|change| format!("Breaks /Script/Game.Lamp:{change}")));
    assert_eq!(renamed("Ga_in", "CHANGED"), [""; 0]);
}

#[test]
fn delegates_follow_a_renamed_class() {
    let declare = |class: &str| {
        let mut declared = lamps();
        let hit = &mut declared.delegates[0];
        (hit.path, hit.params[0].ty) = (format!("{class}:OnHit"), format!("Object({class})"));
        declared.classes[0].properties[0].ty = format!("MulticastDelegate({class}:OnHit(Object({class})))");
        class.clone_into(&mut declared.classes[1].path);
        declared
    };
    let (old, mut new) = (declare("/Script/Game.SpotLamp"), declare("/Script/Game.Torch"));
    new.earlier_names.insert("/Script/Game.Torch".to_owned(), "SpotLamp".to_owned());
    let found = compare(&inspected(&old), &inspected(&new));
    let renamed = ["", ":OnHit"]
        .map(|name| format!("Compatible /Script/Game.SpotLamp{name}: renamed to /Script/Game.Torch{name}"));
    assert_eq!(lines(&found.host), renamed);
    assert_eq!(found.breaking(), 4, "{:#?}", found.plugins);
}

#[test]
fn a_struct_loses_the_fields_of_a_base_that_it_drops() {
    let (mut old, mut new) = (lamps(), lamps());
    for declared in [&mut old, &mut new] {
        let mut place = declared.structs[0].clone();
        (place.path, place.base) = ("/Script/Game.Place".to_owned(), "/Script/Game.Spot".to_owned());
        place.fields.clear();
        declared.structs.push(place);
    }
    let host = |new: &Declared| lines(&compare(&inspected(&old), &inspected(new)).host);
    assert_eq!(host(&new), [""; 0]);
    new.structs[1].base.clear();
    assert_eq!(host(&new), ["x", "y"].map(|field| format!("Breaks /Script/Game.Place:{field}: removed")));
}

#[test]
fn structs_enums_delegates_and_interfaces_are_compared_as_their_fingerprints() {
    check(
        |new| {
            let mut z = new.structs[0].fields[1].clone();
            z.name = "z".to_owned();
            new.structs[0].fields.push(z);
            new.structs[0].size = 24;
        },
        &["Compatible /Script/Game.Spot:z: added"],
        &[
            "Breaks /Script/Game.Spot: (x: f64, y: f64) in 16 bytes, alignment 8 → (x: f64, y: f64, z: f64) in 24 bytes, alignment 8",
        ],
    );
    check(
        |new| drop(new.enums[0].entries.remove(1)),
        &["Breaks /Script/Game.Mood:Angry: removed"],
        &["Breaks /Script/Game.Mood: u8 (Calm = 0, Angry = 1) → u8 (Calm = 0)"],
    );
    check(
        |new| new.enums[0].entries[1].number = 7,
        &["Compatible /Script/Game.Mood:Angry: 1 → 7"],
        &["Breaks /Script/Game.Mood: u8 (Calm = 0, Angry = 1) → u8 (Calm = 0, Angry = 7)"],
    );
    let hit = "Breaks /Script/Game.OnHit: multicast (u32) → multicast (u64)";
    check(|new| new.delegates[0].params[0].ty = "u64".to_owned(), &[hit], &[hit]);
    let sung = |new: &mut Declared| {
        let mut sing = new.interfaces[0].functions[0].clone();
        sing.name = "sing".to_owned();
        new.interfaces[0].functions.push(sing);
    };
    check(sung, &[], &["Breaks /Script/Game.Hums:sing: added"]);
}

#[test]
fn an_enum_entry_is_renamed_only_to_an_entry_that_exists() {
    let angry = "/Script/Game.Mood:Angry";
    let (mut old, mut new) = (lamps(), lamps());
    old.earlier_names.insert(angry.to_owned(), "Cross".to_owned());
    let mut entry = new.enums[0].entries.remove(1);
    let host = |new: &Declared| lines(&compare(&inspected(&old), &inspected(new)).host);
    assert_eq!(host(&new), [format!("Breaks {angry}: removed")]);
    // Undoes the rename.
    entry.name = "Cross".to_owned();
    new.enums[0].entries.push(entry);
    assert_eq!(host(&new), [format!("Compatible {angry}: renamed")]);
}

#[test]
fn functions_by_name_and_imports_are_compared() {
    let export = |signature: &str| -> DeclaredExport {
        serde_json::from_value(json!({ "name": "ex:/lamps.count", "signature": signature })).expect("an export")
    };
    let (mut old, mut new) = (lamps(), lamps());
    old.exports.push(export("-> u32"));
    let imported = json!({ "path": "/Script/Engine.Actor:tick", "kind": "function" });
    let imported: DeclaredImport = serde_json::from_value(imported).expect("an import");
    new.imports.push(imported);
    let found = compare(&inspected(&old), &inspected(&new));
    let removed = "Breaks ex:/lamps.count: removed";
    assert_eq!(lines(&found.host), [removed, "Compatible /Script/Engine.Actor:tick: used"]);
    assert_eq!(lines(&found.plugins), [removed]);
    new.exports.push(export("-> u64"));
    let found = compare(&inspected(&old), &inspected(&new));
    assert_eq!(lines(&found.plugins), ["Breaks ex:/lamps.count: (-> u32) → (-> u64)"]);
    assert_eq!(found.breaking(), 2);
}

#[test]
fn manifests_are_compared() {
    let declared = lamps();
    let needs = |versions: &str| vec![Needed { name: "base", versions: versions.to_owned() }];
    let old = Inspected { dependencies: needs("^1"), ..inspected(&declared) };
    let new = Inspected {
        name: "lights",
        version: "0.2.0".to_owned(),
        compiler: "rustc 1.96.0",
        api_newest: 5,
        dependencies: needs("^2"),
        sealed: false,
        will_park: Some("it has a static TLS block"),
        ..inspected(&declared)
    };
    let found = compare(&old, &new);
    assert_eq!(
        lines(&found.host),
        [
            "Breaks module name: lamps → lights",
            "Breaks host API: 4 → 5",
            "Compatible compiler: rustc 1.95.0 → rustc 1.96.0",
            "Breaks seal: removed",
            "Compatible unloading: the image stays mapped after each unload",
            "Breaks dependency base: ^1 → ^2",
        ]
    );
    assert_eq!(lines(&found.plugins), ["Breaks module name: lamps → lights", "Breaks version: 0.1.0 → 0.2.0"]);
}

#[test]
fn added_and_removed_permissions_are_reported() {
    let declared = lamps();
    let build = |permissions: Option<&[&'static str]>| Inspected {
        permissions: permissions.map(<[_]>::to_vec),
        ..inspected(&declared)
    };
    for (old, new, expected) in [
        (None, None, &[][..]),
        (None, Some(&["files"][..]), &[][..]),
        (Some(&["files"][..]), Some(&["files"][..]), &[][..]),
        (Some(&["files"][..]), Some(&[][..]), &[][..]),
        (Some(&["files"][..]), Some(&["files", "network"][..]), &["Compatible permission network: added"][..]),
        (Some(&["files"][..]), None, &["Compatible permissions: removed"][..]),
    ] {
        let found = compare(&build(old), &build(new));
        assert_eq!((lines(&found.host), lines(&found.plugins)), (strings(expected), vec![]), "{old:?} {new:?}");
    }
}

#[test]
fn a_version_is_accepted_as_cargo_does() {
    for (old, new, expected) in
        [("0.1.0", "0.1.7", true), ("0.1.0", "0.2.0", false), ("1.2.0", "1.9.0", true), ("1.2.0", "1.1.0", false)]
    {
        assert_eq!(accepts(old, new), expected, "{old} {new}");
    }
}
