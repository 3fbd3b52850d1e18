//! Tests loads of modules. Covers the rules with the letter B, and the load errors of the rules with the letter G: see `main.rs`.

use std::fs;

use alcedo_runtime::{ContextError, FoundModule, ManifestInfo, VersionReq};

use super::{any, build_tag, contexts, figures, gone, needy, number, refusal, reports, runtime, slim, support};

#[test]
fn b1_a_module_is_loaded_by_absolute_path() {
    let slim = contexts().create_slim("b1").expect("the name is free");
    let dir = tempfile::tempdir().expect("a folder");
    let garbage = dir.path().join("garbage.so");
    fs::write(&garbage, "no library at all").expect("it can be written");
    let empty = dir.path().join("empty.so");
    fs::write(&empty, "").expect("it can be written");
    assert!(matches!(slim.load_path("target/x.so"), Err(ContextError::PathNotAbsolute { .. })));
    assert!(matches!(slim.load_path(dir.path().join("nowhere.so")), Err(ContextError::NoFile { .. })));
    assert!(matches!(slim.load_path(&garbage), Err(ContextError::BadImage { .. })));
    assert!(refusal(slim.load_path(&empty)).contains("empty.so is not a module:"));
    assert!(slim.modules().is_empty());
}

#[test]
fn b1_the_file_that_was_loaded_is_free_at_once() {
    let contexts = runtime().contexts();
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("reports.so");
    fs::copy(reports(1), &file).expect("it can be copied");
    let slim = contexts.create_slim("b1").expect("the name is free");
    let module = slim.load_path(&file).expect("it is loaded");
    assert_eq!(module.origin.as_deref(), Some(file.as_path()));
    fs::write(&file, "overwritten").expect("the file is not in use");
    fs::remove_file(&file).expect("the file is not in use");
    assert_eq!(number(&build_tag(&slim)).expect("it answers"), 1);
}

#[test]
fn b3_a_module_is_loaded_from_bytes() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("b3").expect("the name is free");
    let bytes = fs::read(reports(1)).expect("it was built");
    let module = slim.load_bytes("reports from memory", &bytes, None).expect("it is loaded");
    assert_eq!((module.name.as_str(), module.origin.as_deref()), ("reports", None));
    assert_eq!(number(&build_tag(&slim)).expect("it answers"), 1);
    let refused = refusal(slim.load_bytes("half", &bytes[..bytes.len() / 2], None));
    assert!(refused.starts_with("<half> is not a module:"), "{refused}");
    assert!(matches!(slim.load_bytes("none", &[], None), Err(ContextError::BadImage { .. })));
}

#[test]
fn b3_a_module_is_read_from_a_readers_position_to_its_end() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("b3 too").expect("the name is free");
    let mut bytes = b"a header of the host's own".to_vec();
    let header = bytes.len() as u64;
    bytes.extend(fs::read(reports(1)).expect("it was built"));
    let mut reader = std::io::Cursor::new(&bytes);
    reader.set_position(header);
    let mut symbols = &b"what debuggers read"[..];
    let module = slim.load_reader("a bundle", &mut reader, Some(&mut symbols)).expect("it is loaded");
    assert_eq!((module.name.as_str(), module.origin.as_deref()), ("reports", None));
    assert_eq!((reader.position(), symbols.len()), (bytes.len() as u64, 0), "both were read to their ends");
    assert_eq!(fs::read(format!("{}.debug", module.image.display())).expect("it is there"), b"what debuggers read");
    assert_eq!(number(&build_tag(&slim)).expect("it answers"), 1);
    let refused = refusal(slim.load_reader("used up", &mut reader, None));
    assert!(refused.starts_with("<used up> is not a module:"), "{refused}");

    let file = fs::File::open(reports(2)).expect("it was built");
    gone(&slim.replace_reader("a file", file, None).expect("it starts"));
    assert_eq!(number(&build_tag(&slim)).expect("it answers"), 2);
}

#[test]
fn b3_a_reader_that_fails_or_does_not_end_is_refused() {
    struct Fails;
    impl std::io::Read for Fails {
        fn read(&mut self, _into: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::new(std::io::ErrorKind::NotFound, "the line is dead"))
        }
    }
    let host = support::builder().largest_library(1 << 20).build().expect("it is built");
    let slim = host.contexts().create_slim("b3 not").expect("the name is free");
    let refused = slim.load_reader("a line", Fails, None);
    assert!(matches!(refused, Err(ContextError::Reading { .. })), "{refused:?}");
    assert_eq!(refusal(refused), "reading <a line> failed: the line is dead");
    let refused = slim.load_reader("no end", std::io::repeat(7), None);
    assert!(matches!(refused, Err(ContextError::ReadsTooLong { largest: 0x10_0000, .. })), "{refused:?}");
    let refused = slim.replace_reader("a line", &b""[..], Some(&mut std::io::repeat(7)));
    assert!(refusal(refused).starts_with("reading the symbols of <a line> exceeded 1048576 bytes"));
    assert!(slim.modules().is_empty());
}

#[test]
fn b4_symbols_are_stored_next_to_the_image_in_their_own_file() {
    let contexts = runtime().contexts();
    let bytes = fs::read(reports(1)).expect("it was built");
    let [one, other] = ["b4 one", "b4 other"].map(|name| {
        let slim = contexts.create_slim(name).expect("the name is free");
        let module = slim.load_bytes("reports", &bytes, Some(b"what debuggers read")).expect("it is loaded");
        (slim, format!("{}.debug", module.image.display()))
    });
    assert_ne!(one.1, other.1);
    assert_eq!(fs::read(&one.1).expect("it is next to the image"), b"what debuggers read");
    gone(&one.0.begin_unload().expect("it is collectible"));
    assert!(!fs::exists(&one.1).expect("the folder is there"), "the file is deleted with its image");
    assert!(fs::exists(&other.1).expect("the folder is there"));
}

#[test]
fn b5_an_unknown_name_is_not_found() {
    let slim = contexts().create_slim("b5").expect("the name is free");
    assert!(matches!(slim.load_name("reports", &any()), Err(ContextError::NotFound { .. })));
    slim.set_resolver(|request| Ok((request.name == "reports").then(|| FoundModule::File(reports(1)))));
    assert_eq!(slim.load_name("reports", &any()).expect("the resolver finds it").name, "reports");
}

#[test]
fn b6_a_context_has_one_build_per_name() {
    let contexts = runtime().contexts();
    let slim = contexts.create_slim("b6").expect("the name is free");
    let first = slim.load_path(reports(1)).expect("it is loaded");
    let again = slim.load_path(reports(1)).expect("it is the same build");
    assert_eq!(again, first, "the same module, not another copy");
    assert_eq!(slim.modules().len(), 1);
    let other = ManifestInfo::peek(&reports(2)).expect("it can be read").build_id;
    match slim.load_path(reports(2)) {
        Err(ContextError::ModuleNameOccupied { loaded_build, requested_build, name, .. }) => {
            assert_eq!((loaded_build, requested_build, name.as_str()), (first.build_id, other, "reports"));
        }
        other => panic!("{other:?}"),
    }
    let elsewhere = contexts.create_slim("b6 too").expect("the name is free");
    assert_eq!(elsewhere.load_path(reports(2)).expect("another context may").build_id, other);
}

#[test]
fn b7_nothing_is_loaded_once_the_unload_has_begun() {
    let contexts = runtime().contexts();
    let slim = slim(&contexts, "b7");
    let _held = slim.enter().expect("it is alive");
    let _ticket = slim.begin_unload().expect("it is collectible");
    let bytes = fs::read(figures(1)).expect("it was built");
    for refused in [
        slim.load_path(figures(1)),
        slim.load_path(reports(1)),
        slim.load_bytes("figures", &bytes, None),
        slim.load_reader("figures", &bytes[..], None),
        slim.load_name("reports", &any()),
    ] {
        assert!(matches!(refused, Err(ContextError::ContextUnloading { .. })), "{refused:?}");
    }
    let mut unread = &bytes[..];
    for refused in [
        slim.replace(reports(2)),
        slim.replace("/nowhere.so"),
        slim.replace_bytes("nothing", &[], None),
        slim.replace_reader("figures", &mut unread, None),
    ] {
        assert!(matches!(refused, Err(ContextError::ContextUnloading { .. })), "{refused:?}");
    }
    assert_eq!(unread.len(), bytes.len(), "a reader is not read for a replacement that cannot happen");
    let message = refusal(slim.load_path(figures(1)));
    assert!(message.starts_with("Slim \"b7\" has been unloading for "), "{message}");
}

#[test]
fn b8_a_manifest_is_read_without_running_any_code() {
    let dir = tempfile::tempdir().expect("a folder");
    let info = ManifestInfo::peek(&support::plugin("reports", &["needs-figures"])).expect("it can be read");
    assert_eq!((info.name.as_str(), info.version.to_string().as_str()), ("reports", "0.1.0"));
    let figures = ("figures".to_owned(), "^0.1".parse::<VersionReq>().expect("a range"));
    assert_eq!(info.dependencies, [figures]);
    assert!(info.sealed && info.classes.is_empty() && info.compiler.starts_with("rustc"), "{info:?}");
    assert_eq!(info.will_park, None);
    assert_ne!(info.build_id, ManifestInfo::peek(&reports(1)).expect("it can be read").build_id);
    let classes = ManifestInfo::peek(&support::plugin("reports", &["with-class"])).expect("it can be read").classes;
    assert_eq!(classes, ["/Script/Game.Chart"]);
    assert!(matches!(ManifestInfo::peek(&dir.path().join("no.so")), Err(ContextError::NoFile { .. })));
    assert!(matches!(ManifestInfo::peek("no.so".as_ref()), Err(ContextError::PathNotAbsolute { .. })));
    let bytes = fs::read(reports(1)).expect("it was built");
    assert_eq!(ManifestInfo::peek_bytes("reports", &bytes).expect("it can be read").name, "reports");

    let witness = dir.path().join("witness");
    let library = support::plugin("broken", &["witness"]);
    // The initializer of the library writes this file when the library is mapped.
    let output = std::process::Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", &support::full_name(module_path!(), "peeks_in_a_child"), "--ignored"])
        .env("ALCEDO_WITNESS", &witness)
        .env("ALCEDO_PEEKED", &library)
        .output()
        .expect("it runs");
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
    assert!(!witness.exists(), "an initializer has run");
}

#[test]
#[ignore = "the child of b8"]
fn peeks_in_a_child() {
    let Some(library) = std::env::var_os("ALCEDO_PEEKED") else { return };
    assert_eq!(ManifestInfo::peek(library.as_ref()).expect("it can be read").name, "broken");
}

#[test]
fn b9_a_context_lists_only_its_own_modules_dependencies_first() {
    let contexts = runtime().contexts();
    let _other = slim(&contexts, "b9 other");
    let slim = contexts.create_slim("b9").expect("the name is free");
    slim.set_resolver(|request| Ok((request.name == "figures").then(|| FoundModule::File(figures(1)))));
    slim.load_path(needy()).expect("it is loaded");
    let names: Vec<_> = slim.modules().into_iter().map(|module| module.name).collect();
    assert_eq!(names, ["figures", "reports"]);
}

#[test]
fn a_main_that_panics_leaves_nothing_behind() {
    let runtime = runtime();
    let slim = runtime.contexts().create_slim("panics").expect("the name is free");
    let refused = refusal(slim.load_path(support::plugin("reports", &["panic-in-main"])));
    assert!(refused.starts_with("main of reports panicked: \"broken on purpose: main\" at "), "{refused}");
    assert!(slim.modules().is_empty());
    let until = std::time::Instant::now() + super::LONG;
    while !alcedo_runtime::process::stale_mappings(&runtime.stage_dir()).expect("it can be asked").is_empty() {
        assert!(std::time::Instant::now() < until, "its image is still mapped");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(slim.load_path(reports(1)).expect("the name is free").name, "reports");
}

#[test]
fn a_class_is_for_the_master_and_the_error_names_it() {
    let slim = contexts().create_slim("classes").expect("the name is free");
    let refused = refusal(slim.load_path(support::plugin("reports", &["with-class"])));
    assert_eq!(
        refused,
        "reports declares the class /Script/Game.Chart, and Slim \"classes\" has no objects: load it into the Master"
    );
}

#[test]
fn a_host_requiring_seals_refuses_a_library_without_one() {
    let runtime = support::builder().require_seal(true).build().expect("it is built");
    let slim = runtime.contexts().create_slim("sealed").expect("the name is free");
    slim.load_path(reports(1)).expect("the build has sealed it");
    let mut bytes = fs::read(figures(1)).expect("it was built");
    // The seal is at the end of the file. Removes bytes until the library counts as unsealed.
    while ManifestInfo::peek_bytes("figures", &bytes).is_ok_and(|info| info.sealed) {
        bytes.truncate(bytes.len() - 24);
    }
    let refused = refusal(slim.load_bytes("figures", &bytes, None));
    assert!(refused.contains("<figures> has no seal"), "{refused}");
}
