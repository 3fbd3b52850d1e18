//! The floors of `runtime/src`: a module may use what is on its own floor or below, and nothing above. The list is the
//! one of ARCHITECTURE.md; a new module has to be given its floor here. And the list of files with unsafe code there. What
//! lies in crates below, `alcedo-base` and `alcedo-reflect`, cargo keeps from pointing up.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const FLOORS: &[(&str, u32)] = &[
    ("deadline", 0),
    ("lease", 0),
    ("watchdog", 0),
    ("faults", 0),
    ("callback", 0),
    ("zcall", 2),
    ("logs", 3),
    ("conjugate", 3),
    ("bridge", 4),
    ("dynamic_call", 4),
    ("host_api", 5),
    ("emit", 5),
    ("load", 6),
    ("reload", 7),
    ("world", 7),
    ("bench", 8),
    ("builder", 8),
    ("console", 8),
    ("crash_guard", 8),
    ("development", 8),
    ("counters", 8),
    ("error", 8),
    ("native", 8),
    ("poster", 8),
    ("runtime", 8),
    ("slim_watch", 8),
];

fn floor(module: &str) -> Option<u32> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|(_, floor)| *floor)
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The modules that a source names by `crate::module`.
fn used(source: &str) -> Vec<String> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: Vec<_> = code.collect();
    let names = code.iter().flat_map(|line| line.split("crate::").skip(1));
    let word = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    names.map(word).filter(|name: &String| floor(name).is_some()).collect()
}

#[test]
fn nothing_points_up() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut wrong = Vec::new();
    for file in files {
        let path = file.strip_prefix(&root).expect("below the root");
        let top = path.iter().next().expect("a first part").to_string_lossy();
        let module = top.trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let own = floor(module).unwrap_or_else(|| panic!("{module} has no floor: give it one in this test"));
        let source = fs::read_to_string(&file).expect("a source");
        let up = used(&source).into_iter().filter(|name| floor(name) > Some(own));
        wrong.extend(up.map(|name| format!("{} (floor {own}) uses crate::{name}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reload_floor_has_no_unsafe_code() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/reload"), &mut files);
    for file in files {
        let source = fs::read_to_string(&file).expect("a source");
        assert!(!source.contains("unsafe"), "{}", file.display());
    }
}

/// The files that a text names in backticks: `room/{one,two}.rs` are two.
fn files_named_in(text: &str) -> BTreeSet<String> {
    let quoted = text.split('`').skip(1).step_by(2).filter(|words| words.ends_with(".rs"));
    let spelled_out = |words: &str| match words.split_once('{').zip(words.split_once('}')) {
        Some(((before, _), (inside, after))) => {
            let inside = &inside[before.len() + 1..];
            inside.split(',').map(|one| format!("{before}{one}{after}")).collect()
        }
        None => vec![words.to_owned()],
    };
    quoted.flat_map(spelled_out).collect()
}

#[test]
fn the_map_names_every_file_with_unsafe_code_and_no_other() {
    let host = Path::new(env!("CARGO_MANIFEST_DIR"));
    let map = fs::read_to_string(host.join("ARCHITECTURE.md")).expect("the map");
    let section = map.split("\n## ").find(|section| section.starts_with("Where `unsafe` is")).expect("the section");
    let rooms: Vec<_> = section.split("\n| in `").collect();
    for room in ["runtime/src", "runtime/reflect/src", "plugin-api/src"] {
        let listed =
            rooms.iter().find_map(|list| list.strip_prefix(room)?.strip_prefix('`')).expect("a list for each room");
        let root = host.join("..").join(room);
        let mut files = Vec::new();
        sources(&root, &mut files);
        let is_unsafe = |file: &PathBuf| {
            let is_test = file.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
            let source = fs::read_to_string(file).expect("a source");
            let opens = |how: &str| source.lines().any(|line| line.trim_start().starts_with(how));
            !is_test && (opens("#![expect(unsafe_code") || opens("unsafe_code,"))
        };
        let path = |file: &PathBuf| file.strip_prefix(&root).expect("below the root").display().to_string();
        let found: BTreeSet<_> = files.iter().filter(|file| is_unsafe(file)).map(path).collect();
        let listed = files_named_in(listed);
        let wrong: Vec<_> = listed.symmetric_difference(&found).collect();
        assert!(wrong.is_empty(), "{room}: {wrong:?} are in the list or have unsafe code, and not both");
    }
}

/// A store in a cell of std would not be counted among the borrows that no log line may meet: see `cells.rs`. What is a
/// thread's own is no store.
#[test]
fn every_store_lies_in_a_cell_whose_borrows_are_counted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for room in ["src", "base/src", "reflect/src"] {
        sources(&root.join(room), &mut files);
    }
    let mut wrong = Vec::new();
    for file in files {
        let path = file.strip_prefix(root).expect("below the root").display().to_string();
        let source = fs::read_to_string(&file).expect("a source");
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        let names = |line: &&str| {
            !line.trim_start().starts_with("//") && line.contains("std::cell") && line.contains("RefCell")
        };
        let is_one = code.lines().any(|line| names(&line)) && !code.contains("thread_local!");
        if is_one && path != "base/src/cells.rs" && !path.contains("test") {
            wrong.push(path);
        }
    }
    assert!(wrong.is_empty(), "these use the cell of std: {wrong:?}");
}
