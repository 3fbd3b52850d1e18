//! Tests hostile declarations of a module: names, paths, types, bases, overrides, exports. The host rejects the module with an error that
//! names the declaration and the reason. The host registers no part of the module, and continues with the old code.

use std::path::{Path, PathBuf};

use alcedo_runtime::{EmitError, Error, LoadError, ObjectHandle, Outcome, Runtime, Value, seal_file};
use tempfile::TempDir;

use super::support::{self, elf};

/// Size of the seal that is appended to a library: magic and digest.
const SEAL: usize = 24;

/// Host with the healthy module, and an object whose plugin part counts.
struct Scene {
    host: Runtime,
    steady: ObjectHandle,
    call_count: u32,
}

impl Scene {
    fn new() -> Self {
        let host = support::host(&[support::plugin("surface", &[])]);
        host.calls()
            .register("of_the_host", "-> u32".parse().expect("a signature"), |_, _| Ok(Some(Value::U32(0))))
            .expect("a free name");
        let steady = host.objects().spawn("/Script/Game.Steady").expect("spawned");
        Self { host, steady, call_count: 0 }
    }

    /// Checks that the host rejects the library with a message that contains every string of `parts`. The host must then continue with the
    /// old code.
    fn refuses(&mut self, library: &Path, what: &str, parts: &[&str]) {
        let before =
            (self.host.generation(), self.host.worlds().hash(), self.host.objects().iter().collect::<Vec<_>>());
        let report = self.host.reload(&[library]).expect("there is a Master");
        match &report.outcome {
            Outcome::RolledBack { error, .. } => {
                for part in parts {
                    assert!(error.contains(part), "{what}: `{part}` is not in: {error}");
                }
                assert!(error.len() < 4096, "{what}: an error of {} bytes", error.len());
                assert!(!error.chars().any(|letter| letter.is_control() || letter == '\u{202e}'), "{what}: {error:?}");
            }
            _ => panic!("{what} was believed: {report}"),
        }
        assert_eq!(
            (self.host.generation(), self.host.worlds().hash(), self.host.objects().iter().collect::<Vec<_>>()),
            before,
            "{what}"
        );
        self.assert_works(what);
    }

    fn assert_works(&mut self, what: &str) {
        self.call_count += 1;
        let answer =
            self.host.objects().call(self.steady, "query", &[]).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(answer, Some(Value::U32(self.call_count)), "{what}");
    }

    /// Loads the healthy module again. This load proves that only the changes caused the refusals.
    fn ends(mut self) {
        let healthy = support::plugin("surface", &[]);
        self.host.reload(&[healthy]).expect("a Master").into_result().unwrap_or_else(|report| panic!("{report}"));
        self.assert_works("the healthy one");
    }
}

fn check(feature: &str, parts: &[&str]) {
    let mut scene = Scene::new();
    scene.refuses(&support::plugin("surface", &[feature]), feature, parts);
    scene.ends();
}

/// Returns the healthy module with one string replaced by another string of equal length, and with a new seal.
fn rewritten(dir: &TempDir, own: &str, other: &[u8]) -> PathBuf {
    assert_eq!(own.len(), other.len(), "`{own}` has to be overwritten whole");
    let mut bytes = std::fs::read(support::plugin("surface", &[])).expect("it was built");
    bytes.truncate(bytes.len() - SEAL);
    let constants = elf::section(&bytes, ".rodata");
    let found: Vec<usize> = constants.filter(|at| bytes.get(*at..*at + own.len()) == Some(own.as_bytes())).collect();
    assert!(!found.is_empty(), "`{own}` is not in the library");
    for at in found {
        bytes[at..at + own.len()].copy_from_slice(other);
    }
    let file = dir.path().join("libsurface.so");
    std::fs::write(&file, bytes).expect("the test directory is writable");
    seal_file(&file).expect("the test directory is writable");
    file
}

/// Returns `own` with its middle replaced by `hostile`.
fn with(own: &str, hostile: &str) -> String {
    let (first, last) = (1, own.len() - 1 - hostile.len());
    format!("{}{hostile}{}", &own[..first], &own[own.len() - last..])
}

#[test]
fn every_declared_name_must_be_an_identifier() {
    let (dir, mut scene) = (TempDir::new().expect("a folder"), Scene::new());
    for (own, what) in [
        ("Quilted", "a class of Game named"),
        ("quartz", "a member of Game.Quilted named"),
        ("quarrel", "a function of Game.Quilted named"),
        ("quantity", "a member of Game.Quilted:quarrel named"),
        ("Quagmire", "a struct of Game named"),
        ("quotient", "a member of Quagmire named"),
        ("Quietude", "an interface of Game named"),
    ] {
        for hostile in ["\0", "\n", "\u{1b}[", " ", "/", ".", ":", ")", "(", ", ", "->", "\u{202e}", "\u{feff}"] {
            let text = with(own, hostile);
            let library = rewritten(&dir, own, text.as_bytes());
            scene.refuses(
                &library,
                &format!("{own} as {text:?}"),
                &["surface declares", what, "a name is at most 255"],
            );
        }
        let digit = format!("1{}", &own[1..]);
        scene.refuses(
            &rewritten(&dir, own, digit.as_bytes()),
            &digit,
            &[what, "does not start with a digit; rename it"],
        );
    }
    scene.ends();
}

#[test]
fn type_strings_signatures_and_call_names_are_printable_and_round_trip() {
    let (dir, mut scene) = (TempDir::new().expect("a folder"), Scene::new());
    for hostile in ["\0", "\n", "\u{1b}[2J", "\u{202e}"] {
        for (own, what) in [
            ("Object(/Script/Game.Quilted)", "Game.Quilted.quiver of type"),
            ("u8, u16, i8 -> i16", "ex:/quorum.quote with the signature"),
        ] {
            let text = with(own, hostile);
            scene.refuses(&rewritten(&dir, own, text.as_bytes()), &text, &["surface declares", what]);
        }
        let text = with("quorum.quote", hostile);
        let library = rewritten(&dir, "quorum.quote", text.as_bytes());
        scene.refuses(&library, &text, &["a function called", "without spaces or control characters"]);
    }
    for syntax in ["Object(/Script/Game.A), u8  ", "Array(/Script/Game.Quiltedd)", "Object(/Script/Game.Nowhere)"] {
        let library = rewritten(&dir, "Object(/Script/Game.Quilted)", syntax.as_bytes());
        scene.refuses(&library, syntax, &["quiver"]);
    }
    scene.ends();
}

#[test]
fn a_default_with_control_characters_is_kept_unchanged() {
    let dir = TempDir::new().expect("a folder");
    let library = rewritten(&dir, "quince or quandary", "\0\n\u{1b}[2J or quandary".as_bytes());
    let host = support::host(&[library]);
    let quilted = host.objects().spawn("/Script/Game.Quilted").expect("spawned");
    assert_eq!(host.objects().get(quilted, "quartz").expect("there"), Value::Text("\0\n\u{1b}[2J or quandary".into()));
}

#[test]
fn cyclic_struct_bases_are_refused() {
    check("cycle", &["classes are derived from each other", "/Script/Game.Egg", "/Script/Game.Hen"]);
    check("own-base", &["classes are derived from each other", "/Script/Game.Ego"]);
}

#[test]
fn a_path_is_declared_once() {
    check("described-twice", &["/Script/Game.Steady is declared twice by surface"]);
    check("path-twice", &["/Script/Game.Twin is declared twice by surface"]);
    check("interface-twice", &["/Script/Game.Heeds is declared twice by surface"]);
    check("interface-and-class", &["/Script/Game.Both is declared twice by surface"]);
    check("name-of-a-native", &["/Script/Engine.Actor is declared already"]);
}

/// Returns the title that errors use for the library's module.
fn title(library: &Path) -> String {
    let info = alcedo_runtime::ManifestInfo::peek(library).unwrap_or_else(|error| panic!("{error}"));
    format!("{} {} (build {:032x})", info.name, info.version, info.build_id)
}

#[test]
fn duplicates_are_reported_by_module_and_build_in_either_load_order() {
    for (feature, other, what) in [
        ("class-of-another", "magic-cube", "/Script/Game.MagicCube"),
        ("interface-of-another", "values", "/Script/Game.Rings"),
        ("call-of-another", "switchboard", "ex:/switchboard.add"),
    ] {
        let libraries = [support::plugin("surface", &[feature]), support::plugin(other, &[])];
        let host = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
        let both = host.create_master(&libraries).expect_err("duplicate declaration").to_string();
        // Loads the other module first, so that the reload adds only `surface`.
        let [surface, other] = &libraries;
        host.create_master(&[other]).unwrap_or_else(|error| panic!("{error}"));
        let report = host.reload_changed(&libraries).expect("a Master");
        let Outcome::RolledBack { error: later, .. } = &report.outcome else { panic!("{report}") };
        for error in [&both, later] {
            for fact in [what, &title(surface), &title(other)] {
                assert!(error.contains(fact), "{feature}: `{fact}` is not in: {error}");
            }
        }
    }
    let surface = title(&support::plugin("surface", &["name-of-a-native"]));
    check("name-of-a-native", &[&format!("by the host, and now by {surface}: "), "use its glue in the other"]);
    let surface = title(&support::plugin("surface", &["path-twice"]));
    check("path-twice", &[&format!("is declared twice by {surface}: give one of the two")]);
    let surface = title(&support::plugin("surface", &["name-of-the-hosts"]));
    check("name-of-the-hosts", &[&format!("{surface} cannot register `ex:/of_the_host`: the host has it")]);
}

#[test]
fn a_package_is_one_of_the_hosts() {
    check("package-of-nobody", &["Nobody"]);
    check("package-that-hides", &["its type path is", "two identifiers"]);
}

#[test]
fn a_member_has_a_name_of_its_own() {
    check("property-twice", &["two members of the name speed"]);
    check("property-and-function", &["two members of the name speed"]);
    check("many-functions", &["two members of the name again"]);
    check("parameter-twice", &["two members of the name a"]);
    check("hides-the-base", &["Game.Derived", "would hide", "Game.Base"]);
}

#[test]
fn an_override_must_name_an_event_of_the_base() {
    check("overrides-nothing", &["Game.Maker:turn overrides"]);
    check("overrides-a-text", &["that Game.Maker:turn overrides", "a type has a path"]);
}

#[test]
fn a_default_and_a_subobject_are_what_their_property_can_hold() {
    check("default-of-another-type", &["the default of", "Game.Odd"]);
    check("subobject-of-itself", &["Game.Doll"]);
    check("subobjects-in-a-circle", &["Game.Other was not created", "it needs itself"]);
    check("struct-in-itself", &["Game.Snake"]);
}

#[test]
fn an_import_must_exist_with_the_same_signature() {
    check("import-of-nothing", &["surface uses /Script/Game.Steady:nothing", "does not exist"]);
    check("import-of-another-type", &["surface uses /Script/Game.Steady:query", "has the signature"]);
    check("import-that-is-no-name", &["that it uses", "a type or a member has a path", "; build it with"]);
}

#[test]
fn a_function_by_name_is_offered_once() {
    check("exports-twice", &["ex:/twice is declared twice by surface: give one of the two another name"]);
    check("methods-twice", &["nm:/surface:Steady:twice is declared twice by surface"]);
    check("name-of-the-hosts", &["surface", "of_the_host"]);
}

#[test]
fn a_record_of_types_is_read_before_the_file_is_mapped() {
    check("record-that-is-no-path", &["type path"]);
}

#[test]
fn a_description_forged_by_unsafe_code_is_validated_before_use() {
    check(
        "lie-kind",
        &["the types of surface", "/Script/Game.Lie:field has the kind 238, which this host does not know"],
    );
    check("lie-size", &["/Script/Game.Lie, which takes 8 bytes, aligned to 8, here and 4294967295 bytes"]);
    check("lie-offset", &["/Script/Game.Lie, whose field `field` is at byte 0 here and at byte 4294967295"]);
    check("lie-fingerprint", &["/Script/Game.Lie, whose layout here differs from the one in the module"]);
    check("lie-path", &["/Script/Game.Lie:field refers to a type", "is not an identifier"]);
    check("lie-name", &["a member of Lie named", "a name is at most 255"]);
}

#[test]
fn a_check_of_a_file_refuses_a_declaration_that_breaks_a_rule() {
    for (feature, expected) in [
        ("lie-kind", "/Script/Game.Lie:field has the kind 238, which this host does not know"),
        ("own-base", "classes are derived from each other"),
        ("property-twice", "two members of the name speed"),
        ("default-of-another-type", "the default of"),
    ] {
        let checked = support::builder().check_scripts(&[support::plugin("surface", &[feature])]).expect("natives");
        let error = checked.first().and_then(|found| found.declared.as_ref().err());
        assert!(error.is_some_and(|error| error.contains(expected)), "{feature}: {error:?}");
    }
}

#[test]
fn an_invalid_string_is_a_typed_error_in_the_first_load() {
    let dir = TempDir::new().expect("a folder");
    let library = rewritten(&dir, "quarrel", b"quarr\x1bl");
    let host = support::builder().build().expect("a host");
    match host.create_master(&[library]) {
        Err(Error::Load(LoadError::Emit(EmitError::Text { module, what, found, .. }))) => {
            assert_eq!((&*module, &*what), ("surface", "a function of Game.Quilted named"));
            assert_eq!(found, "quarr\\u{1b}l");
        }
        other => panic!("{other:?}"),
    }
    assert!(!host.types().has("/Script/Game.Quilted") && host.generation() == 0);
}
