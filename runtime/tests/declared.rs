//! Tests declarations that are read from an unmapped library file. These declarations must equal the declarations that the host has after
//! it loads the library.

use crate::support;

use alcedo_runtime::{ContextError, Declared, ManifestInfo};
use std::path::Path;

const SEAL: usize = 24;

fn of_file(path: &Path) -> Declared {
    ManifestInfo::peek_declared(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).1
}

#[test]
fn declarations_read_from_a_file_equal_those_of_the_loaded_module() {
    for names in
        [&["magic-cube"][..], &["values"], &["migration"], &["glue-base"], &["lamps", "lamps-plus"], &["switchboard"]]
    {
        let libraries: Vec<_> = names.iter().map(|name| support::plugin(name, &[])).collect();
        let host = support::host(&libraries);
        for (name, library) in names.iter().zip(&libraries) {
            let module = name.replace('-', "_");
            let loaded = host.types().declared_by(&module).unwrap_or_else(|| panic!("{module} is loaded"));
            let read = of_file(library);
            assert_eq!(read, loaded, "{name}");
            // Checks that the declarations are not empty.
            let members =
                read.classes.iter().map(|class| class.properties.len() + class.functions.len()).sum::<usize>();
            assert!(members + read.exports.len() != 0, "{name}: {read:?}");
            assert!(read.classes.iter().all(|class| host.types().has(&class.path)), "{name}");
            assert!(read.structs.iter().all(|found| host.types().has(&found.path)), "{name}");
            assert!(read.interfaces.iter().all(|found| host.types().has(&found.path)), "{name}");
        }
    }
}

#[test]
fn each_kind_of_member_is_read() {
    let values = of_file(&support::plugin("values", &[]));
    let cabinet = values.classes.iter().find(|class| class.path == "/Script/Game.Cabinet").expect("it declares one");
    let found = |name: &str| cabinet.properties.iter().find(|property| property.name == name).expect("it has it");
    assert_eq!((&*found("title").ty, &*found("title").default), ("String", "\"empty\""));
    assert_eq!(found("groups").ty, "Map(Name, Array(/Script/Game.Stats))");
    assert_eq!(found("rarely").ty, "SparseDelegate(Name, u32)");
    assert!(!values.structs.is_empty() && !values.interfaces.is_empty());
}

#[test]
fn earlier_names_are_read() {
    let library = support::plugin("renames", &["renamed"]);
    let read = of_file(&library);
    let names = |path: &str| read.earlier_names.get(path).map(String::as_str);
    assert_eq!(names("/Script/Game.Trader"), Some("Merchant"));
    assert_eq!(names("/Script/Game.Temper:Furious"), Some("Gone, Lost"));
    let trader = read.classes.iter().find(|class| class.path == "/Script/Game.Trader").expect("it declares one");
    assert_eq!(trader.properties[0].meta.get("was").map(String::as_str), Some("weight"));
    assert_eq!(support::host(&[library]).types().declared_by("renames"), Some(read));
}

#[test]
fn reading_a_file_twice_yields_equal_bytes() {
    let library = support::plugin("values", &[]);
    let text = |found: &Declared| serde_json::to_string(found).expect("strings and numbers");
    assert_eq!(text(&of_file(&library)), text(&of_file(&library)));
}

#[test]
fn reading_refuses_non_plugins_and_damaged_declarations() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("libnothing.so");
    for bytes in [&b""[..], b"#!/bin/sh\n", &[0x7f, b'E', b'L', b'F', 2, 1, 1, 0]] {
        std::fs::write(&file, bytes).expect("a file");
        let error = ManifestInfo::peek_declared(&file).expect_err("it is none").to_string();
        assert!(error.contains("libnothing.so"), "{error}");
    }
    let gone = ManifestInfo::peek_declared(&folder.path().join("gone.so")).expect_err("it is not there");
    assert!(matches!(gone, ContextError::NoFile { .. }), "{gone}");
}

/// Passes arbitrary bytes as descriptions to the reader. The reader must return an error or other names, and must never panic. The
/// memory use of the reader must not exceed the size of the file.
#[test]
fn descriptions_of_any_bytes_return_names_or_an_error() {
    let library = support::plugin("values", &[]);
    let mut whole = std::fs::read(&library).expect("it was built");
    // Removes the seal, which would detect each change.
    whole.truncate(whole.len() - SEAL);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("libvalues.so");
    // The generator is deterministic, so all runs use equal mutants.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut answered = (0, 0);
    for _ in 0..100 {
        let mut bytes = whole.clone();
        for _ in 0..=next(4) {
            let at = next(bytes.len());
            bytes[at] ^= 1 << next(8);
        }
        std::fs::write(&file, &bytes).expect("a file");
        match ManifestInfo::peek_declared(&file) {
            Ok(_) => answered.0 += 1,
            Err(_) => answered.1 += 1,
        }
    }
    assert!(answered.0 > 10, "most changes are in code and in debug information: {answered:?}");
}

/// Checks that a builder returns the declarations for plugin glue and builds no runtime.
#[test]
fn a_host_lists_its_declarations_without_constructing_anything() {
    use alcedo_runtime::kinds::{PropertyKind, class_flags, function_flags, property_flags};
    use alcedo_runtime::native::{NativeClass, NativeInterface, Natives};
    use alcedo_runtime::{CallError, Frame, Runtime, World};

    fn nothing(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
        frame.finish()
    }
    let door_class = || {
        NativeClass::new("Test", "Door", "/Script/Core.Object")
            .doc("A door.")
            .flags(class_flags::BLUEPRINTABLE)
            .property("width", (PropertyKind::F64, ""), property_flags::EDIT_ANYWHERE, "0.9")
            .property("next", (PropertyKind::OBJECT, "/Script/Test.Door"), 0, "")
            .function(
                "open",
                &[("by", (PropertyKind::F64, ""))],
                Some((PropertyKind::BOOL, "")),
                function_flags::CALLABLE,
                nothing,
            )
            .event("opened", &[])
            .member_docs(&[("width", "In meters."), ("opened", "It is open."), ("nowhere", "Of nothing.")])
            .implements("/Script/Test.Opens")
            .constructor(|_world, _door| Err("nothing is constructed".to_owned()))
    };
    let natives = || {
        let opens = NativeInterface::new("Test", "Opens").doc("What opens.").function("opened", &[], None);
        Natives::in_package("Test")
            .class(door_class())
            .interface_with_functions(opens.function_doc("opened", "It has."))
    };
    let declared = Runtime::builder().package("Game").natives(natives()).declared().expect("no rule is broken");
    let again = Runtime::builder().package("Game").natives(natives()).declared().expect("no rule is broken");
    assert_eq!(declared, again);
    let [declared_door] = &*declared.classes else { panic!("the root class is every plugin's: {declared:?}") };
    assert_eq!(
        (&*declared_door.path, &*declared_door.base, &*declared_door.doc),
        ("/Script/Test.Door", "/Script/Core.Object", "A door.")
    );
    assert_eq!(declared_door.flags, ["blueprintable"]);
    assert_eq!(declared_door.implements, ["/Script/Test.Opens"]);
    let [width, next] = &*declared_door.properties else { panic!("{declared_door:?}") };
    assert_eq!((&*width.ty, &*width.default, &*width.doc), ("f64", "0.9", "In meters."));
    assert_eq!(&*next.ty, "Object(/Script/Test.Door)");
    let [open, opened] = &*declared_door.functions else { panic!("{declared_door:?}") };
    assert_eq!(
        (&*open.params[0].ty, open.result.as_deref(), &*open.flags[0]),
        ("f64", Some("bool"), "blueprint_callable")
    );
    assert_eq!((&*opened.doc, &*opened.flags), ("It is open.", &["blueprint_native_event".to_owned()][..]));
    let [opens] = &*declared.interfaces else { panic!("{declared:?}") };
    assert_eq!((&*opens.doc, &*opens.functions[0].doc), ("What opens.", "It has."));
    let refused = Runtime::builder().natives(natives()).natives(natives()).declared().expect_err("two of one name");
    assert!(refused.to_string().contains("/Script/Test.Opens is declared already"), "{refused}");
}
