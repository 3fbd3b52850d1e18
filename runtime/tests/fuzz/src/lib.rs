//! Passes arbitrary bytes to the parsers of Alcedo. Checks that no parser panics, and that each parser reads its own output.
//!
//! Private files of `alcedo-runtime` are compiled here unchanged. For formats with a length and a checksum, the fuzzer changes only the
//! content.
#![expect(dead_code, reason = "the targets use a part of these files of the runtime")]

use std::path::Path;

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::manifest::{self, Manifest, encode, encoded_len};
use alcedo_base::{escape, handles};
use alcedo_reflect as object;
use alcedo_sys::ImageFile;
use alcedo_uc::{Options, Parsed, Source, check, complete, outline, parse, snippet};

use development::link::{FromHost, HangOf, Status, ToHost, receive, send};
use print::print;
use world::file_value::{FileReference, FileValue};
use world::records::{ClassRecord, KeptRecord, ObjectRecord, PropertyRecord, StructRecord};
use world::testing::WorldFile;

mod development;
#[path = "../../../uc/tests/fixture.rs"]
mod fixture;
#[path = "../../../src/script/manifest.rs"]
mod package;
#[path = "../../../uc/tests/print/mod.rs"]
mod print;
mod reload;
mod world;

thread_local! {
    /// World whose classes the checker of script sources uses.
    static WORLD: object::World = fixture::world();
}

/// Runs all parsers that the host runs on a library file before it maps the file.
pub fn library(bytes: &[u8]) {
    let Ok(image) = ImageFile::from_bytes(Path::new("/fuzzed.so"), bytes.to_vec()) else { return };
    for name in image.imports().iter().chain(image.needed()).chain(image.unique_symbols()) {
        let _library = image.library_of(name);
    }
    let _seen = (image.bypassed_hooks(), image.is_marked_to_stay(), image.links_std_dynamically(), image.is_sealed());
    let _constants = image.constants().is_some();
    for section in [manifest::SECTION, manifest::TYPES_SECTION, ".alcedo.hooks"] {
        let _relocated = (image.is_relocated(section), image.count_sections(section));
    }
    read_manifest(image.section(manifest::SECTION).unwrap_or_default());
    read_types(image.section(manifest::TYPES_SECTION).unwrap_or_default());
}

fn read_manifest(bytes: &[u8]) {
    if let Ok(manifest) = Manifest::read(bytes) {
        assert!(manifest.dependencies().all(|(name, range)| !name.is_empty() && !range.is_empty()));
    }
}

fn read_types(bytes: &[u8]) {
    if let Ok(types) = manifest::read_types(bytes) {
        assert!(types.into_iter().all(|(_kind, path)| !path.is_empty()));
    }
}

/// Reads the manifest of a module, its declared types, and the manifest of a package of scripts.
pub fn manifest(bytes: &[u8]) {
    read_manifest(bytes);
    let len = u32::try_from(MANIFEST_HEAD.len() + 4 + bytes.len() + 8).expect("libFuzzer makes no such file");
    let mut sealed = [MANIFEST_HEAD, &len.to_le_bytes(), bytes].concat();
    sealed.extend(Fingerprint::START.bytes(&sealed).finish().to_le_bytes());
    read_manifest(&sealed);
    read_types(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _read = package::read("Game", text);
    }
}

/// Magic and format version of a manifest.
const MANIFEST_HEAD: &[u8] = SEED_MANIFEST.split_at(12).0;

const SEED: manifest::Source<'_> = manifest::Source {
    name: "lamps",
    version: "1.2.0-rc.1",
    build_id: 7,
    compiler: "rustc 1.95.0",
    unwinds: true,
    hooked: true,
    own_heap: true,
    permissions: None,
    dependencies: &[("cubes", "^1.2"), ("Tale", ">=0.1, <2")],
};

const SEED_MANIFEST: &[u8] = &encode::<{ encoded_len(&SEED) }>(&SEED);

/// Reads a saved world. Writing and reading a valid world must not change the world.
pub fn world(bytes: &[u8]) {
    let _whole = WorldFile::decode(bytes);
    let sealed = world::sealed(bytes);
    let Ok(file) = WorldFile::decode(&sealed) else { return };
    let written = file.encode().expect("a world that was read is written");
    let again = WorldFile::decode(&written).expect("a world that was written is read");
    assert_eq!(written, again.encode().expect("it was written before"), "writing again changes it");
}

/// Reads a file of script classes, prints it, checks it, and renders the error messages.
pub fn uc(bytes: &[u8]) {
    let source = Source::decode("Fuzzed.uc", bytes);
    let sources = std::slice::from_ref(&source);
    let (file, messages) = parse(&source);
    for message in &messages {
        message.render(sources);
    }
    if !messages.iter().any(alcedo_uc::Diagnostic::is_error) {
        let once = print(&file);
        let printed = Source::new("Fuzzed.uc", once.as_str());
        let (file, messages) = parse(&printed);
        assert!(!messages.iter().any(alcedo_uc::Diagnostic::is_error), "the printed source has errors: {once}");
        assert_eq!(once, print(&file), "it is printed twice");
    }
    snippet(&source);
    let options = Options { libraries: vec![fixture::LIBRARY.to_owned()], ..Options::default() };
    WORLD.with(|world| {
        let typed: String = source.text.chars().take(400).collect();
        complete(&typed, "/Script/Engine.Actor", &world.types, &options);
        let messages = match check("Test", sources, &world.types, &options) {
            Ok(checked) => checked.warnings,
            Err(messages) => messages,
        };
        for message in messages {
            message.render(sources);
        }
    });
    outline("Test", sources, &Parsed::of(sources));
}

/// Reads frames from the socket of `alcedo dev`, as the host and as the tool. Also reads the body of one frame. Writing and reading a valid
/// message must not change the message.
pub fn link(bytes: &[u8]) {
    fn frames<T: serde::de::DeserializeOwned + serde::Serialize>(mut bytes: &[u8]) {
        while let Ok(Some(message)) = receive::<T>(&mut bytes) {
            let (mut once, mut twice) = (Vec::new(), Vec::new());
            send(&mut once, &message).expect("a message that was read is written");
            let again = receive::<T>(&mut once.as_slice()).expect("it is whole").expect("it is there");
            send(&mut twice, &again).expect("it was written before");
            assert_eq!(once, twice, "writing again changes it");
        }
    }
    let len = u32::try_from(bytes.len()).expect("libFuzzer makes no such file");
    let framed = [&len.to_le_bytes(), bytes].concat();
    for bytes in [bytes, &framed[..]] {
        frames::<ToHost>(bytes);
        frames::<FromHost>(bytes);
    }
}

/// Returns the initial files of the corpora: target, name, bytes.
pub fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let body = &SEED_MANIFEST[16..SEED_MANIFEST.len() - 8];
    let lamp: [u8; manifest::type_record_len("Game", "Lamp")] =
        manifest::type_record(manifest::type_records::CLASS, "Game", "Lamp");
    let mood: [u8; manifest::type_record_len("Game", "Mood")] =
        manifest::type_record(manifest::type_records::DELEGATE, "Game", "Mood");
    let values = world::body(&a_world());
    WorldFile::decode(&world::sealed(&values)).expect("a seed is read whole");
    let package = "name = \"Game\"\nversion = \"0.3.0\"\n\n[dependencies]\nlamps = \"^1.2\"\n";
    let mut seeds = vec![
        ("manifest", "module", body.to_vec()),
        ("manifest", "types", [lamp, mood].concat()),
        ("manifest", "package.toml", package.into()),
        ("world", "values", values),
    ];
    let dir = std::path::PathBuf::from("/w");
    let to_host = [
        ("settings", ToHost::Settings { autosave: Some(dir.join("a.world")) }),
        ("load", ToHost::Load { libraries: vec![dir.join("a.so"), dir.join("b.so")] }),
        ("restore", ToHost::Restore { world: dir }),
        ("line", ToHost::Line { line: "objects".into() }),
        ("end", ToHost::End),
    ];
    let from_host = [
        ("hello", FromHost::Hello { version: 1, runtime: "0.1.0".into() }),
        ("status", FromHost::Status(Status { generation: 3, objects: 12, ticks: 60 })),
        ("hang", FromHost::Hang { text: "f".into(), of: HangOf::Call }),
        ("completions", FromHost::Completions { line: "o".into(), lines: vec!["objects".into()] }),
        ("refused", FromHost::Refused { error: "no".into(), lacks_type: true }),
    ];
    seeds.extend(to_host.iter().map(|(name, message)| ("link", *name, frame(message))));
    seeds.extend(from_host.iter().map(|(name, message)| ("link", *name, frame(message))));
    seeds
}

fn frame(message: &impl serde::Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    send(&mut bytes, message).expect("it is short");
    bytes
}

fn a_world() -> WorldFile<'static> {
    let property = |name: &str, ty: &str| PropertyRecord { name: name.into(), ty: ty.into() };
    let types = [
        "f64",
        "Object(/Script/Engine.Actor)",
        "Array(String)",
        "Map(String, i32)",
        "/Script/Game.P",
        "Optional(Name)",
    ];
    let values = [
        FileValue::F64(2.5),
        FileValue::Object(FileReference::In(1)),
        FileValue::Text("a".into()),
        FileValue::F32Bits(0x7fc0_0000),
        FileValue::Struct(vec![("x".into(), FileValue::U8(1))]),
        FileValue::Name("red".into()),
    ];
    let class = ClassRecord {
        path: "/Script/Game.Cube".into(),
        bases: vec!["/Script/Game.Base".into()],
        native: "/Script/Engine.Actor".into(),
        properties: types.iter().enumerate().map(|(at, ty)| property(&format!("p{at}"), ty)).collect(),
    };
    let kept =
        KeptRecord { class: class.path.as_str().into(), name: "greetings".into(), data: vec![0x18, 0x2a].into() };
    let cube = ObjectRecord {
        name: "Cube_1".into(),
        root: true,
        lazy: Some((7, 9)),
        values: (0..).zip(values).collect(),
        kept: vec![kept],
        ..ObjectRecord::default()
    };
    let part =
        ObjectRecord { name: "mesh".into(), outer: Some(0), part: Some("mesh".into()), ..ObjectRecord::default() };
    let structs = vec![StructRecord { path: "/Script/Game.P".into(), fields: vec![property("x", "u8")] }];
    WorldFile { structs, classes: vec![class], objects: vec![cube, part] }
}
