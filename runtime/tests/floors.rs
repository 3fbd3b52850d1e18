//! Tests the layers of `runtime/src`. A folder may use only its own layer and lower layers, as the table of ARCHITECTURE.md defines. Also
//! checks the list in `docs/unsafe.md`, which names the files with unsafe code. For the lower crates `alcedo-base`, `alcedo-reflect` and
//! `alcedo-zcall`, cargo prevents upward dependencies. `module_graph.rs` finds cycles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Floors = BTreeMap<String, u32>;

/// Returns the layers from the table on the page. A row of the table contains the number of a layer and the folders in it.
fn floors(page: &str) -> Floors {
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        Some((cells.next()?.parse::<u32>().ok()?, cells.next()?))
    });
    let names = |(floor, names): (u32, &str)| {
        let quoted: Vec<_> = names.split('`').skip(1).step_by(2).map(|name| (name.to_owned(), floor)).collect();
        quoted
    };
    rows.flat_map(names).collect()
}

fn page() -> Floors {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let found = floors(&fs::read_to_string(path).expect("the map"));
    assert!(found.len() > 10, "the table of floors is not where it was: {found:?}");
    found
}

/// Returns the content of the Rust sources in the folders `rooms` of `root`, with their paths relative to `root`.
pub(crate) fn source_files<'a>(root: &Path, rooms: impl IntoIterator<Item = &'a str>) -> Vec<(String, String)> {
    let mut files = Vec::new();
    rooms.into_iter().for_each(|room| sources(&root.join(room), &mut files));
    let read = |file: PathBuf| {
        let path = file.strip_prefix(root).expect("below the root").display().to_string();
        (path, fs::read_to_string(&file).expect("a source"))
    };
    files.into_iter().map(read).collect()
}

/// Collects the paths of the Rust sources below a folder.
pub(crate) fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    files(dir, &["rs"], found);
}

/// Collects the paths of the files with one of these endings below a folder. Skips `target` folders.
pub(crate) fn files(dir: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            if !path.ends_with("target") {
                files(&path, endings, found);
            }
        } else if path.extension().is_some_and(|ending| endings.iter().any(|one| ending == *one)) {
            found.push(path);
        }
    }
}

/// Returns the folders whose modules a source names as `crate::folder`.
fn used(source: &str, floors: &Floors) -> Vec<String> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: Vec<_> = code.collect();
    let names = code.iter().flat_map(|line| line.split("crate::").skip(1));
    let identifier = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    names.map(identifier).filter(|name: &String| floors.contains_key(name)).collect()
}

#[test]
fn no_module_uses_a_higher_floor() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let floors = page();
    let mut wrong = Vec::new();
    for file in files {
        let path = file.strip_prefix(&root).expect("below the root");
        let top = path.iter().next().expect("a first part").to_string_lossy();
        let module = top.trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let own = *floors.get(module).unwrap_or_else(|| panic!("{module} has no floor: add it to ARCHITECTURE.md"));
        let source = fs::read_to_string(&file).expect("a source");
        let up = used(&source, &floors).into_iter().filter(|name| floors[name] > own);
        wrong.extend(up.map(|name| format!("{} (floor {own}) uses crate::{name}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn reload_and_world_have_no_unsafe_code() {
    let mut files = Vec::new();
    for folder in ["src/reload", "src/world"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    }
    for file in files {
        let source = fs::read_to_string(&file).expect("a source");
        assert!(!source.contains("unsafe"), "{}", file.display());
    }
}

#[test]
fn the_architecture_page_is_short_and_its_floor_table_is_parsed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let lines = fs::read_to_string(path).expect("the map").lines().count();
    assert!(lines <= 160, "{lines} lines");
    let table = floors("| floor | folders |\n| --- | --- |\n| 3 | `a`, `b` | `c` |\n| | `d` | |\n| 0 | `e` | |\n");
    assert_eq!(table, Floors::from([("a".to_owned(), 3), ("b".to_owned(), 3), ("e".to_owned(), 0)]));
}

/// Returns the file names that the text has in backticks. `room/{one,two}.rs` names two files.
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
fn files_that_the_map_names_exist() {
    let host = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = host.join("..");
    for page in ["ARCHITECTURE.md", "docs/changes.md"] {
        let named = files_named_in(&fs::read_to_string(host.join(page)).expect("a page"));
        let starts_at_root =
            |file: &&String| file.split_once('/').is_some_and(|(folder, _)| root.join(folder).is_dir());
        let named: Vec<_> = named.iter().filter(starts_at_root).filter(|file| !file.contains('<')).collect();
        assert!(named.len() > 20, "{page}: too few paths recognized: {named:?}");
        let missing: Vec<_> = named.iter().filter(|file| !root.join(file).is_file()).collect();
        assert!(missing.is_empty(), "{page}: {missing:?}");
    }
}

#[test]
fn the_list_names_every_file_with_unsafe_code_and_no_other() {
    let host = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = fs::read_to_string(host.join("docs/unsafe.md")).expect("the list");
    let rooms: Vec<_> = list.split("\n| in `").collect();
    for room in [
        "runtime/src",
        "runtime/reflect/src",
        "runtime/zcall/src",
        "runtime/script/src",
        "runtime/dll-bind/src",
        "runtime/sys/src",
        "plugin-api/src",
        "plugin-api/rt/src",
    ] {
        let listed =
            rooms.iter().find_map(|list| list.strip_prefix(room)?.strip_prefix('`')).expect("a list for each room");
        let root = host.join("..").join(room);
        let mut files = Vec::new();
        sources(&root, &mut files);
        let is_unsafe = |file: &PathBuf| {
            let is_test = file.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
            let source = fs::read_to_string(file).expect("a source");
            let is_attribute = |line: &str| {
                let line = line.trim_start();
                line.starts_with("#![expect(unsafe_code") || line.starts_with("unsafe_code,")
            };
            // Finds a conditional attribute. The attribute may span several lines.
            let is_conditional = source
                .split("#![cfg_attr(")
                .skip(1)
                .any(|rest| rest.split(']').next().is_some_and(|attribute| attribute.contains("expect(unsafe_code")));
            !is_test && (is_conditional || source.lines().any(is_attribute))
        };
        let path = |file: &PathBuf| file.strip_prefix(&root).expect("below the root").display().to_string();
        let found: BTreeSet<_> = files.iter().filter(|file| is_unsafe(file)).map(path).collect();
        let listed = files_named_in(listed);
        let wrong: Vec<_> = listed.symmetric_difference(&found).collect();
        assert!(wrong.is_empty(), "{room}: {wrong:?} are in the list or have unsafe code, and not both");
    }
}

/// Rejects stores that use the cells of std, because these cells do not count borrows. `cells.rs` checks that no store is borrowed at a log
/// line. Thread-locals are excluded from this check.
#[test]
fn every_store_uses_a_cell_that_counts_borrows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    for (path, source) in source_files(root, ["src", "base/src", "reflect/src", "zcall/src", "dll-bind/src"]) {
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        let names = |line: &&str| {
            !line.trim_start().starts_with("//") && line.contains("std::cell") && line.contains("RefCell")
        };
        let is_one = code.lines().any(|line| names(&line)) && !code.contains("thread_local!");
        // Methods of host classes borrow the Rust fields of native objects, and may log during the borrow.
        let is_meant = ["base/src/cells.rs", "src/native/parts.rs"].contains(&path.as_str());
        if is_one && !is_meant && !path.contains("test") {
            wrong.push(path);
        }
    }
    assert!(wrong.is_empty(), "these use the cell of std: {wrong:?}");
}

/// Requires that product code opens files only through `alcedo_sys::plain_file`. This helper rejects pipes, because opening a pipe may
/// block, and devices, because a device has no end of file.
#[test]
fn product_code_opens_files_by_one_helper() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rooms = "src base/src dll-bind/src engine/src reflect/src script/src sys/src uc/src zcall/src \
                 ../tools/src ../plugin-api/src ../plugin-api/rt/src";
    let mut wrong = Vec::new();
    for (path, source) in source_files(root, rooms.split_whitespace()) {
        // Skips the files that open folders and locks without following links, and the platform code, which opens files of the kernel.
        let is_exempt = ["sys/src/plain_file.rs", "sys/src/folder.rs"].contains(&path.as_str());
        let is_test = path.ends_with("/tests.rs");
        if is_exempt || is_test || path.starts_with("sys/src/imp/") && !path.contains("/scan/names.rs") {
            continue;
        }
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        let opens = |line: &&str| {
            let calls = ["fs::read(", "fs::read_to_string(", "File::open(", ".read(true)"];
            // Excludes kernel files, and folders that code opens only to flush their entries to the disk.
            let is_other = ["\"/proc/", "\"/dev/null\"", "File::open(folder)"].iter().any(|of| line.contains(of));
            !line.trim_start().starts_with("//") && calls.iter().any(|call| line.contains(call)) && !is_other
        };
        wrong.extend(code.lines().filter(opens).map(|line| format!("{path}: {}", line.trim())));
    }
    assert!(wrong.is_empty(), "use `alcedo_sys::plain_file`:\n{}", wrong.join("\n"));
}

/// Requires that host crates log by `log!`, which catches the panic of a log subscriber. Only its two definitions use a macro of `tracing`.
#[test]
fn product_code_logs_by_one_macro() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rooms = "src alcedo/src base/src dll-bind/src engine/src reflect/src script/src sys/src uc/src zcall/src";
    let is_macro = |word: &str| ["trace", "debug", "info", "warn", "error", "event"].contains(&word);
    let is_bare = |line: &str| {
        let mut words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        line.contains("tracing::") && !line.trim_start().starts_with("//") && words.any(is_macro)
    };
    let mut found = BTreeSet::new();
    for (path, source) in source_files(root, rooms.split_whitespace()) {
        if source.lines().any(is_bare) {
            found.insert(path);
        }
    }
    let definitions = ["base/src/panic_guard.rs", "sys/src/lib.rs"];
    assert_eq!(found, definitions.map(str::to_owned).into(), "use `log!`");
}

/// Checks that adding a kind of reference changes at most these files. `file_value.rs` lists the names of kinds in saved worlds. A kind
/// that is missing in `file_value.rs` is saved as a string.
#[test]
fn a_kind_of_reference_is_named_in_five_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = BTreeSet::new();
    for (path, source) in source_files(&root, crate::module_graph::CRATES.iter().copied()) {
        let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        if !path.contains("test") && (code.contains("LazyObject") || code.contains("LAZY_OBJECT")) {
            found.insert(path);
        }
    }
    let expected = [
        "plugin-api/abi/src/kinds.rs",
        "plugin-api/src/kinds/reference.rs",
        "runtime/reflect/src/kind_list.rs",
        "runtime/reflect/src/values/lazy_object.rs",
        "runtime/src/world/file_value.rs",
    ];
    assert_eq!(found, expected.map(str::to_owned).into());
}
