//! Tests invalid world files: mutations of a real file with a matching digest. For any content, a load returns a world or an error. After
//! an error, the host's world must be unchanged.
//!
//! By default, the tests run for some seconds. `ALCEDO_FUZZ_SECONDS` sets the duration, `ALCEDO_FUZZ_SEED` the seed, and `ALCEDO_FUZZ_FROM`
//! the first round. A failure prints the seed and the round.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use alcedo_runtime::{Error, FormatError, ObjectHandle, Runtime, Value, WorldError};
use ciborium::Value as Cbor;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

/// Size of the header: magic, version, a reserved field and the length.
const HEAD: usize = 24;
/// Size of the digest after the body.
const TAIL: usize = 8;
/// Number of rounds in a default run.
const ROUNDS: u64 = 1500;

/// Returns a world file of this version, with this body and a valid length and digest.
fn sealed(version: u32, body: &[u8]) -> Vec<u8> {
    let head = [b"ALCWORLD", &version.to_le_bytes()[..], &[0; 4], &(body.len() as u64).to_le_bytes()].concat();
    let digest = match version {
        1 => xxh3_64(&[&head[..], body].concat()),
        _ => xxh3_64(&[body, &head[..]].concat()),
    };
    [&head[..], body, &digest.to_le_bytes()].concat()
}

fn bytes_of(body: &Cbor) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(body, &mut bytes).expect("a value is written");
    bytes
}

fn encoded(body: &Cbor) -> Vec<u8> {
    sealed(2, &bytes_of(body))
}

/// Returns the body in the form of version 1, in which each kept field contains its names.
fn in_version_1(mut body: Cbor) -> Cbor {
    let mut known: Vec<Cbor> = Vec::new();
    for object in rows(&mut body, "objects") {
        let Cbor::Map(entries) = object else { panic!("a record is a map") };
        let kept = entries.iter_mut().filter(|(key, _)| key.as_text() == Some("kept"));
        for entry in kept.flat_map(|(_, kept)| kept.as_array_mut().expect("a list of kept fields")) {
            if let Cbor::Array(pair) = entry {
                let number = pair[0].as_integer().and_then(|number| usize::try_from(number).ok());
                let mut named = known[number.expect("a number")].clone();
                *field(&mut named, "data") = pair[1].clone();
                *entry = named;
            } else {
                known.push(entry.clone());
            }
        }
    }
    assert!(!known.is_empty(), "the world has kept fields");
    body
}

fn body(file: &[u8]) -> Cbor {
    ciborium::from_reader(&file[HEAD..file.len() - TAIL]).expect("a saved world is CBOR")
}

/// Host with a saved world. The world contains a value of nearly each kind.
struct Scene {
    host: Runtime,
    path: PathBuf,
    whole: Vec<u8>,
    _folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let host = support::host(&[support::plugin("migration", &[]), support::plugin("values", &[])]);
        let spawn = |class: &str| host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"));
        let set = |object: ObjectHandle, property: &str, value: Value| {
            host.objects().set(object, property, &value).unwrap_or_else(|error| panic!("{property}: {error}"));
        };
        let text = |text: &str| Value::Text(text.to_owned());
        let (one, other) = (spawn("/Script/Game.Shapeshifter"), spawn("/Script/Game.Shapeshifter"));
        set(one, "friend", Value::Object(other));
        set(one, "same", Value::F64(2.5));
        set(other, "friend", Value::Object(one));
        let ghost = spawn("/Script/Game.Ghost");
        set(ghost, "haunts", Value::Object(one));
        spawn("/Script/Game.Diver");
        let inside = host.objects().spawn_in("/Script/Engine.Actor", one).expect("an actor");
        host.objects().rename(inside, "inside", one).expect("a free name");
        host.objects().add_root(one);
        let cabinet = spawn("/Script/Game.Cabinet");
        set(cabinet, "title", text("a title"));
        set(cabinet, "numbers", Value::Array(vec![Value::F64(1.5), Value::F64(-0.0)]));
        set(cabinet, "rows", Value::Array(vec![Value::Array(vec![text("a")]), Value::Array(vec![])]));
        set(cabinet, "tags", Value::Set(vec![Value::Name(host.intern("red")), Value::Name(host.intern("blue"))]));
        set(cabinet, "ages", Value::Map(vec![(text("ada"), Value::I32(36)), (text("bob"), Value::I32(-1))]));
        set(cabinet, "best", Value::Optional(Some(Box::new(Value::F64(3.0)))));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("fuzzed.world");
        host.worlds().save(&path).expect("it is saved");
        let whole = fs::read(&path).expect("a file");
        host.worlds().load(&path).expect("it is loaded");
        Self { host, path, whole, _folder: folder }
    }

    /// Loads a file, and then restores the saved world. Returns true if the host accepted the file.
    fn offer(&self, bytes: &[u8], what: &dyn Fn() -> String) -> bool {
        let before = self.host.worlds().digest();
        fs::write(&self.path, bytes).expect("a file");
        match self.host.worlds().load(&self.path) {
            Err(error) => {
                self.check_refusal(&error, what);
                let differences = before.differences(&self.host.worlds().digest());
                assert_eq!(differences, Vec::<String>::new(), "{}: {error}", what());
                false
            }
            Ok(_) => {
                let saved = |path: &Path| {
                    self.host.worlds().save(path).unwrap_or_else(|error| panic!("{}: {error}", what()));
                    fs::read(path).expect("a file")
                };
                let first = saved(&self.path);
                let again = self.host.worlds().load(&self.path);
                again.unwrap_or_else(|error| panic!("{}, accepted and saved: {error}", what()));
                assert!(saved(&self.path) == first, "{}: loading again changes the world", what());
                fs::write(&self.path, &self.whole).expect("a file");
                self.host.worlds().load(&self.path).expect("the saved world");
                true
            }
        }
    }

    /// Checks that the error is typed. The message of the error must be a single line without host internals.
    fn check_refusal(&self, error: &Error, what: &dyn Fn() -> String) {
        let message = error.to_string().replace(&*self.path.display().to_string(), "");
        assert!(matches!(error, Error::World(_)), "{}: {error:?}", what());
        assert!(!message.contains(char::is_control) && message.len() < 2000, "{}: {message:?}", what());
        for internal in ["Some(", "None", "Error", "{ ", "panicked"] {
            assert!(!message.contains(internal), "{}: {message}", what());
        }
    }

    fn refusal(&self, bytes: &[u8]) -> FormatError {
        let before = self.host.worlds().digest();
        fs::write(&self.path, bytes).expect("a file");
        let error = self.host.worlds().load(&self.path).expect_err("it is refused");
        assert_eq!(before.differences(&self.host.worlds().digest()), Vec::<String>::new());
        match error {
            Error::World(WorldError::Format { source, .. }) => source,
            other => panic!("{other}"),
        }
    }
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 16) as usize % sides.max(1)
    }
}

/// Returns the number of nested values, including `value` itself.
fn count(value: &Cbor) -> usize {
    1 + match value {
        Cbor::Array(values) => values.iter().map(count).sum(),
        Cbor::Map(entries) => entries.iter().map(|(key, value)| count(key) + count(value)).sum(),
        Cbor::Tag(_, inner) => count(inner),
        _ => 0,
    }
}

/// Returns the value with this index in pre-order.
fn nth<'a>(value: &'a mut Cbor, left: &mut usize) -> Option<&'a mut Cbor> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Cbor::Array(values) => values.iter_mut().find_map(|value| nth(value, left)),
        Cbor::Map(entries) => {
            entries.iter_mut().find_map(|(key, value)| [key, value].into_iter().find_map(|part| nth(part, left)))
        }
        Cbor::Tag(_, inner) => nth(inner, left),
        _ => None,
    }
}

fn at(value: &mut Cbor, number: usize) -> &mut Cbor {
    let mut left = number;
    nth(value, &mut left).expect("there are that many")
}

/// Returns a value that is invalid in files, or too large.
fn strange(dice: &mut Dice) -> Cbor {
    const TEXTS: [&str; 12] = [
        "",
        "none",
        "in",
        "path",
        "f64",
        "Struct",
        "/Script/Game.Ghost",
        "/Script/Core.Object",
        "Default__Ghost",
        "/World/Default__Ghost",
        "a\0b\u{1b}[2J\n",
        "\u{202e}",
    ];
    const NUMBERS: [i128; 10] = [0, 1, 2, 7, -1, 255, 1 << 31, u32::MAX as i128, i64::MIN as i128, u64::MAX as i128];
    match dice.roll(10) {
        0 => Cbor::Null,
        1 => Cbor::Bool(dice.roll(2) == 0),
        2 => Cbor::Float([f64::NAN, f64::INFINITY, -0.0, 1e308][dice.roll(4)]),
        3 => Cbor::Bytes(vec![0xff; dice.roll(40)]),
        4 => Cbor::Text("x".repeat(dice.roll(3000))),
        5 => (0..dice.roll(200)).fold(Cbor::Array(vec![]), |inner, _| Cbor::Array(vec![inner])),
        6 => Cbor::Map(vec![(Cbor::Text(TEXTS[dice.roll(TEXTS.len())].to_owned()), Cbor::from(dice.roll(9) as u64))]),
        7 | 8 => Cbor::Integer(NUMBERS[dice.roll(NUMBERS.len())].try_into().expect("CBOR has it")),
        _ => Cbor::Text(TEXTS[dice.roll(TEXTS.len())].to_owned()),
    }
}

/// Applies one random change to the body, and returns a description of the change.
fn change(body: &mut Cbor, dice: &mut Dice) -> String {
    let all = count(body);
    let (one, other) = (dice.roll(all), dice.roll(all));
    let copy = at(body, other).clone();
    let target = at(body, one);
    let kind = dice.roll(8);
    match (kind, target) {
        (0 | 1, target) => *target = copy,
        (2, target) => *target = strange(dice),
        (3, Cbor::Array(values)) if !values.is_empty() => drop(values.remove(dice.roll(values.len()))),
        (3, Cbor::Map(entries)) if !entries.is_empty() => drop(entries.remove(dice.roll(entries.len()))),
        (4, Cbor::Array(values)) if !values.is_empty() => {
            let again = values[dice.roll(values.len())].clone();
            (0..1 + dice.roll(3)).for_each(|_| values.push(again.clone()));
        }
        (4, Cbor::Map(entries)) if !entries.is_empty() => {
            let again = entries[dice.roll(entries.len())].clone();
            entries.push(again);
        }
        (5, Cbor::Array(values)) if values.len() > 1 => {
            let (one, other) = (dice.roll(values.len()), dice.roll(values.len()));
            values.swap(one, other);
        }
        (6, Cbor::Array(values)) => values.push(copy),
        (_, Cbor::Integer(number)) => *number = (dice.roll(12) as i64 - 1).into(),
        (_, target) => *target = strange(dice),
    }
    format!("{kind} at {one} of {all} with {other}")
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn any_file_loads_as_a_world_or_returns_an_error() {
    let scene = Scene::new();
    let originals = [(1, in_version_1(body(&scene.whole))), (2, body(&scene.whole))];
    let seed = from_environment("ALCEDO_FUZZ_SEED").unwrap_or(20_261_122);
    let from = from_environment("ALCEDO_FUZZ_FROM").unwrap_or(0);
    let until = from_environment("ALCEDO_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let (mut round, mut accepted) = (from, 0_u64);
    while until.map_or(round < from + ROUNDS, |until| Instant::now() < until) {
        let mut dice = Dice(seed ^ round.wrapping_mul(0xd6e8_feb8_6659_fd93));
        let mut changes = Vec::new();
        let (version, original) = &originals[dice.roll(2)];
        let bytes = match dice.roll(8) {
            // Changes bytes in the body, and updates the digest.
            0 | 1 => {
                let mut bytes = bytes_of(original);
                for _ in 0..1 + dice.roll(4) {
                    let (at, byte) = (dice.roll(bytes.len()), dice.roll(256) as u8);
                    changes.push(format!("byte {at} is {byte}"));
                    match dice.roll(3) {
                        0 => bytes[at] = byte,
                        1 => bytes[at] ^= 1 << (byte % 8),
                        _ => drop(bytes.remove(at)),
                    }
                }
                sealed(*version, &bytes)
            }
            // Changes any byte of the file without updating the digest.
            2 => {
                let mut bytes = scene.whole.clone();
                let at = dice.roll(bytes.len());
                bytes[at] ^= 1 + dice.roll(255) as u8;
                changes.push(format!("byte {at}"));
                bytes.truncate(bytes.len() - dice.roll(3));
                bytes
            }
            // Changes values in the body, and updates the digest.
            _ => {
                let mut body = original.clone();
                for _ in 0..1 + dice.roll(3) {
                    changes.push(change(&mut body, &mut dice));
                }
                sealed(*version, &bytes_of(&body))
            }
        };
        let what = || format!("ALCEDO_FUZZ_SEED={seed} ALCEDO_FUZZ_FROM={round}: {}", changes.join(", "));
        accepted += u64::from(scene.offer(&bytes, &what));
        round += 1;
    }
    let rounds = round - from;
    eprintln!("{rounds} files, {accepted} of them worlds");
    assert!(until.is_some() || (accepted > 0 && accepted < rounds), "both happen: {accepted} of {rounds}");
}

fn rows<'a>(body: &'a mut Cbor, name: &str) -> &'a mut Vec<Cbor> {
    let Cbor::Map(entries) = body else { panic!("a body is a map") };
    let found = entries.iter_mut().find(|(key, _)| key.as_text() == Some(name));
    found.and_then(|(_, rows)| rows.as_array_mut()).expect("a row")
}

fn field<'a>(record: &'a mut Cbor, name: &str) -> &'a mut Cbor {
    let Cbor::Map(entries) = record else { panic!("a record is a map") };
    let found = entries.iter_mut().find(|(key, _)| key.as_text() == Some(name));
    &mut found.expect("the record has it").1
}

fn object(class: u64, name: &str, outer: Option<u64>, part: Option<&str>) -> Cbor {
    let entry = |key: &str, value: Cbor| (Cbor::Text(key.to_owned()), value);
    let mut entries = vec![entry("class", class.into()), entry("name", name.into())];
    entries.extend(outer.map(|outer| entry("outer", outer.into())));
    entries.extend(part.map(|part| entry("part", part.into())));
    Cbor::Map(entries)
}

#[test]
fn two_objects_of_one_path_are_refused_and_the_path_is_named() {
    let scene = Scene::new();
    for outer in [None, Some(0)] {
        let mut body = body(&scene.whole);
        let objects = rows(&mut body, "objects");
        let first = objects.len();
        objects.extend([object(0, "twin", outer, None), object(0, "twin", outer, None)]);
        match scene.refusal(&encoded(&body)) {
            FormatError::SamePath { path, first: first_found, second } => {
                assert!(path.ends_with("/twin"), "{path}");
                assert_eq!((first_found, second), (first, first + 1));
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_file_cannot_take_the_place_of_a_class_default_object() {
    let scene = Scene::new();
    for name in ["Default__Ghost", "Default__Shapeshifter", "Default__", ""] {
        let mut body = body(&scene.whole);
        rows(&mut body, "objects").push(object(0, name, None, None));
        let refused = scene.refusal(&encoded(&body));
        assert!(matches!(refused, FormatError::ObjectName { .. }), "{name}: {refused}");
    }
    let ghost = scene.host.objects().spawn("/Script/Game.Ghost").expect("spawned");
    let error =
        scene.host.objects().rename(ghost, "Default__Later", ObjectHandle::NONE).expect_err("it is not its own");
    assert!(error.to_string().contains("class default objects"), "{error}");
}

#[test]
fn a_plugin_class_is_not_mistaken_for_a_native_class() {
    let scene = Scene::new();
    let before = scene.host.worlds().digest();
    let mut body = body(&scene.whole);
    *field(&mut rows(&mut body, "classes")[0], "native") = "/Script/Game.Ghost".into();
    fs::write(&scene.path, encoded(&body)).expect("a file");
    let error = scene.host.worlds().load(&scene.path).expect_err("it is refused");
    assert!(matches!(error, Error::World(WorldError::NotNative { .. })), "{error}");
    assert_eq!(before.differences(&scene.host.worlds().digest()), Vec::<String>::new());
}

/// Checks a chain of nested objects whose class is missing. The loaded chain is dormant, and is destroyed as a whole.
#[test]
fn a_deeply_nested_world_loads_and_unloads() {
    const DEEP: u64 = 100_000;
    let scene = Scene::new();
    for part in [None, Some("inner")] {
        let mut body = body(&scene.whole);
        let mut class = rows(&mut body, "classes")[0].clone();
        *field(&mut class, "path") = "/Script/Game.NotHere".into();
        *field(&mut class, "bases") = Cbor::Array(vec![]);
        *field(&mut class, "native") = "/Script/Engine.Actor".into();
        *field(&mut class, "properties") = Cbor::Array(vec![]);
        *rows(&mut body, "classes") = vec![class];
        let nested = |at: u64| object(0, "x", at.checked_sub(1), part.filter(|_| at != 0));
        *rows(&mut body, "objects") = (0..DEEP).map(nested).collect();
        fs::write(&scene.path, encoded(&body)).expect("a file");
        let report = scene.host.worlds().load(&scene.path).unwrap_or_else(|error| panic!("{error}"));
        assert!(report.objects >= DEEP, "{report}");
        let again = scene.path.with_extension("again");
        scene.host.worlds().save(&again).expect("it is saved");
        scene.host.worlds().load(&again).expect("it is loaded");
        fs::write(&scene.path, &scene.whole).expect("a file");
        scene.host.worlds().load(&scene.path).expect("all of them end");
    }
}

#[test]
fn objects_whose_outer_is_gone_are_saved_under_names_of_their_own() {
    let scene = Scene::new();
    let host = &scene.host;
    for _ in 0..3 {
        let outer = host.objects().spawn("/Script/Engine.Actor").expect("spawned");
        for name in ["orphan", "Default__Ghost"] {
            let child = host.objects().spawn_in("/Script/Engine.Actor", outer).expect("spawned");
            host.objects().rename(child, name, outer).expect("a free name in there");
        }
        host.objects().destroy(outer);
    }
    host.safe_point();
    let count = host.objects().iter().len();
    host.worlds().save(&scene.path).expect("it is saved");
    host.worlds().load(&scene.path).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(host.objects().iter().len(), count);
    for path in ["/World/orphan", "/World/orphan_1", "/World/orphan_2", "/World/Ghost_2"] {
        assert!(host.objects().at_path(path).is_some(), "{path}");
    }
}

#[test]
fn an_object_named_like_a_default_is_saved_under_a_valid_name() {
    let scene = Scene::new();
    let host = &scene.host;
    let outer = host.objects().spawn("/Script/Engine.Actor").expect("spawned");
    for name in ["Default__", "Default__Default_", "Default__Default__", "Default__Default__x"] {
        let child = host.objects().spawn_in("/Script/Engine.Actor", outer).expect("spawned");
        host.objects().rename(child, name, outer).expect("a free name in there");
    }
    host.objects().destroy(outer);
    let count = host.objects().iter().len();
    host.worlds().save(&scene.path).expect("it is saved");
    host.worlds().load(&scene.path).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(host.objects().iter().len(), count);
    assert!((1..=4).all(|number| host.objects().at_path(&format!("/World/Object_{number}")).is_some()));
}

/// Returns a host with the later build of `migration`. In this build, the subobject `tail` has the name `wings`.
fn host_with_wings() -> Runtime {
    let host = support::host(&[support::plugin("migration", &["v2"])]);
    let redirected = host.types().redirect("/Script/Game.Shapeshifter:tail", "/Script/Game.Shapeshifter:wings");
    redirected.expect("a valid redirect");
    host
}

#[test]
fn two_saved_subobjects_of_one_current_name_are_loaded_as_one() {
    const CLASS: &str = "/Script/Game.Shapeshifter";
    let scene = Scene::new();
    for is_dormant in [false, true] {
        let mut body = body(&scene.whole);
        for record in rows(&mut body, "objects") {
            let Cbor::Map(entries) = record else { panic!("a record is a map") };
            for (_, value) in entries.iter_mut().filter(|(_, value)| value.as_text() == Some("torso")) {
                *value = "wings".into();
            }
        }
        for record in rows(&mut body, "classes").iter_mut().filter(|_| is_dormant) {
            if field(record, "path").as_text() == Some(CLASS) {
                *field(record, "path") = "/Script/Game.Missing".into();
                *field(record, "bases") = Cbor::Array(vec![CLASS.into()]);
            }
        }
        fs::write(&scene.path, encoded(&body)).expect("a file");
        let host = host_with_wings();
        let report = host.worlds().load(&scene.path).unwrap_or_else(|error| panic!("{error}"));
        let line = "Game.Shapeshifter.wings is no longer a subobject: destroyed";
        assert!(report.structure.iter().any(|found| found == line), "{report}");
        let count = host.objects().iter().len();
        host.worlds().save(&scene.path).expect("it is saved");
        host.worlds().load(&scene.path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(host.objects().iter().len(), count);
    }
}

#[test]
fn a_loaded_subobject_has_the_current_name_of_its_property() {
    let scene = Scene::new();
    let host = host_with_wings();
    fs::write(&scene.path, &scene.whole).expect("a file");
    host.worlds().load(&scene.path).unwrap_or_else(|error| panic!("{error}"));
    let is_it =
        |object: &ObjectHandle| host.objects().class_of(*object).as_deref() == Some("/Script/Game.Shapeshifter");
    let objects: Vec<_> = host.objects().iter().filter(is_it).collect();
    assert_eq!(objects.len(), 2);
    for object in objects {
        let wings = host.objects().get(object, "wings").expect("a subobject");
        let Value::Object(part) = wings else { panic!("{wings:?}") };
        assert_eq!(host.objects().name_of(part).as_deref(), Some("wings"));
        assert_eq!(host.objects().get(object, "root_component").expect("a subobject"), wings);
    }
}

/// Found by the fuzzer: a saved object lacks a subobject that its class now has. Another object has the name of this subobject.
#[test]
fn an_object_named_like_a_new_subobject_is_saved_under_another_name() {
    let scene = Scene::new();
    let mut body = body(&scene.whole);
    for record in rows(&mut body, "objects") {
        let Cbor::Map(entries) = record else { panic!("a record is a map") };
        entries.retain(|(key, value)| key.as_text() != Some("part") || value.as_text() != Some("tail"));
    }
    assert!(scene.offer(&encoded(&body), &|| "tails that are not subobjects".to_owned()));
}
