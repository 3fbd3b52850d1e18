//! Tests the lists of all items that safe code can name in the two public crates: `docs/public-api-host.txt` and
//! `docs/public-api-plugin.txt`. A line contains markers for review, the kind of an item, and its path. The markers are `unsafe`, `hidden`
//! from the docs, and `raw` for access to memory by address. A safe function with `raw` and untyped arguments could let safe code break the
//! host. A new item therefore needs a manual review. A type with several paths has one line for each path. The members of the type are
//! listed under the first path.
//!
//! If `ALCEDO_COMPILERS` or `UPDATE_PUBLIC_API` is set, the lists are generated from the JSON of the nightly's rustdoc. Re-exports of lower
//! crates are resolved in these crates, and listed like own items. The JSON of each crate is also used to count the items with an example.

use crate::support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Types that are an address or contain one. An item whose argument or result has such a type is `raw`.
const RAW: [&str; 17] = [
    "ArrayRaw",
    "BlackDirectory",
    "Cell",
    "Directory",
    "HostRef",
    "HostTableRef",
    "ModuleContext",
    "NonNull",
    "Opened",
    "PartPtr",
    "RawLocation",
    "Slot",
    "TextRaw",
    "TextSink",
    "TextView",
    "ValueTableRef",
    "ZCallBuffer",
];

/// Crates for which the test counts visible items whose docs contain an example.
const WITH_EXAMPLES: [&str; 12] = [
    "alcedo-base",
    "alcedo-build",
    "alcedo-dll-bind",
    "alcedo-engine",
    "alcedo-glue",
    "alcedo-plugin-api",
    "alcedo-reflect",
    "alcedo-runtime",
    "alcedo-script",
    "alcedo-sys",
    "alcedo-uc",
    "alcedo-zcall",
];

/// Runs the nightly's rustdoc on a crate. Returns the path of its JSON description.
fn describe(package: &str) -> PathBuf {
    let target = support::test_dir().join("public-api");
    let toolchain = std::env::var("ALCEDO_NIGHTLY").unwrap_or_else(|_| "nightly".into());
    let mut cargo = Command::new("cargo");
    // Removes variables that cargo and rustup have set for the toolchain of this process.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CARGO") || name.starts_with("RUSTUP_TOOL")) {
        if name != "CARGO_HOME" {
            cargo.env_remove(name);
        }
    }
    cargo
        .arg(format!("+{toolchain}"))
        .args(["rustdoc", "-q", "--lib", "--all-features", "-p", package, "--target-dir"])
        .arg(&target);
    cargo.args([
        "--",
        "-Zunstable-options",
        "--output-format",
        "json",
        "--document-hidden-items",
        "--cap-lints",
        "allow",
    ]);
    cargo.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).env("RUSTFLAGS", "");
    let output = cargo.output().expect("cargo is there");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "the {toolchain} compiler describes {package}; it is needed for this test:\n{errors}"
    );
    target.join("doc").join(format!("{}.json", package.replace('-', "_")))
}

/// Items of a crate that other crates can name.
struct Surface {
    /// The crate, followed by the lower crates whose items it may re-export.
    crates: Vec<Value>,
    /// Index of the crate that is being visited.
    now: usize,
    lines: BTreeSet<String>,
    /// Visible items with an example, as index of the crate and id.
    examples: BTreeSet<(usize, String)>,
    /// Modules that the walk has entered. The walk skips these modules, so that it ends if names form a cycle.
    walked: BTreeSet<(String, String)>,
    /// Path under which the members of a type or trait are listed: the shortest path that is not hidden. Each other path to the type has a
    /// single line.
    places: BTreeMap<(usize, String), (bool, usize, String)>,
}

impl Surface {
    fn of(package: &str, below: &[&str]) -> Self {
        let read = |package: &&str| -> Value {
            let text = std::fs::read_to_string(describe(package)).expect("rustdoc has written it");
            serde_json::from_str(&text).expect("it is JSON")
        };
        let crates: Vec<_> = std::iter::once(&package).chain(below).map(read).collect();
        let root = crates[0]["root"].to_string();
        let (lines, examples, walked, places) = Default::default();
        let mut surface = Self { crates, now: 0, lines, examples, walked, places };
        surface.walk(&root, "", false);
        // Walks a second time, because the first walk has determined the shortest path of each item.
        (surface.lines, surface.walked) = Default::default();
        surface.walk(&root, "", false);
        surface
    }

    fn item(&self, id: &str) -> Value {
        self.crates[self.now]["index"][id.trim_matches('"')].clone()
    }

    /// Returns the location of an item in another crate: the index of the crate, and the id in that crate.
    fn elsewhere(&self, id: &str) -> Option<(usize, String)> {
        let path = &self.crates[self.now]["paths"][id.trim_matches('"')]["path"];
        let name = path[0].as_str()?;
        self.crates.iter().enumerate().find_map(|(at, described)| {
            let own = &described["index"][described["root"].to_string().trim_matches('"')]["name"];
            let mut known = described["paths"].as_object().filter(|_| *own == *name)?.iter();
            Some((at, known.find(|(_, item)| item["path"] == *path && item["crate_id"] == 0)?.0.clone()))
        })
    }

    fn walk(&mut self, id: &str, path: &str, hidden: bool) {
        let item = self.item(id);
        // Skips items in other crates and items that rustdoc omits. These items are listed at their re-exports.
        let Some((kind, inner)) = item["inner"].as_object().and_then(|inner| inner.iter().next()) else { return };
        let hidden = hidden || item["attrs"].to_string().contains("hidden");
        if !hidden && item["crate_id"] == 0 && has_example(item["docs"].as_str().unwrap_or_default()) {
            self.examples.insert((self.now, id.trim_matches('"').to_owned()));
        }
        let name = item["name"].as_str().unwrap_or_default();
        let at = if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") };
        match kind.as_str() {
            "module" if self.walked.insert((id.to_owned(), path.to_owned())) => {
                self.walk_all(&inner["items"], &at, hidden)
            }
            "use" => self.walk_use(inner, path, hidden),
            "struct" | "enum" | "union" | "trait" if !self.lists_members(id, &at, hidden) => {
                self.note(kind, &at, inner, hidden);
            }
            "struct" | "enum" | "union" => {
                self.note(kind, &at, inner, hidden);
                self.walk_impls(&inner["impls"], &at, hidden);
                for fields in [&inner["kind"]["plain"]["fields"], &inner["variants"], &inner["fields"]] {
                    self.walk_all(fields, &at, hidden);
                }
            }
            "trait" => {
                self.note(kind, &at, inner, hidden);
                self.walk_all(&inner["items"], &at, hidden);
            }
            "impl" | "module" => {}
            kind => self.note(kind, &at, inner, hidden),
        }
    }

    fn lists_members(&mut self, id: &str, path: &str, hidden: bool) -> bool {
        let here = (hidden, path.matches("::").count(), path.to_owned());
        let place = self.places.entry((self.now, id.trim_matches('"').to_owned())).or_insert_with(|| here.clone());
        *place = here.clone().min(place.clone());
        *place == here
    }

    fn walk_all(&mut self, ids: &Value, path: &str, hidden: bool) {
        for id in ids.as_array().into_iter().flatten() {
            self.walk(&id.to_string(), path, hidden);
        }
    }

    fn walk_use(&mut self, inner: &Value, path: &str, hidden: bool) {
        let (name, id) = (inner["name"].as_str().unwrap_or_default(), inner["id"].to_string());
        let found = if self.item(&id).is_null() { self.elsewhere(&id) } else { Some((self.now, id)) };
        let Some((at, id)) = found else {
            let source = inner["source"].as_str().unwrap_or_default();
            return self.note("use", &format!("{path}::{name} = {source}"), inner, hidden);
        };
        let before = std::mem::replace(&mut self.now, at);
        if inner["is_glob"] == true {
            self.walk_all(&self.item(&id)["inner"]["module"]["items"].clone(), path, hidden);
        } else {
            self.walk(&id, path, hidden);
        }
        self.now = before;
    }

    /// Lists the inherent items of a type. Items of traits are listed at the declaration of the trait.
    fn walk_impls(&mut self, impls: &Value, path: &str, hidden: bool) {
        for id in impls.as_array().into_iter().flatten() {
            let item = self.item(&id.to_string());
            let body = &item["inner"]["impl"];
            if body["trait"].is_null() {
                self.walk_all(&body["items"].clone(), path, hidden);
            }
        }
    }

    fn note(&mut self, kind: &str, path: &str, inner: &Value, hidden: bool) {
        let is_unsafe = inner["is_unsafe"] == true || inner["header"]["is_unsafe"] == true;
        let signature = match kind {
            "function" => inner["sig"].to_string(),
            "struct_field" | "constant" | "static" | "type_alias" => inner.to_string(),
            _ => String::new(),
        };
        let names_raw = RAW.iter().any(|name| {
            signature.contains(&format!("\"path\":\"{name}\"")) || signature.contains(&format!("::{name}\""))
        });
        let marks =
            [(is_unsafe, "unsafe "), (hidden, "hidden "), (signature.contains("raw_pointer") || names_raw, "raw ")];
        let marks: String = marks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, mark)| mark).collect();
        self.lines.insert(format!("{marks}{kind} {path}"));
    }
}

/// Returns true if the docs contain a code block that rustdoc compiles as Rust.
fn has_example(docs: &str) -> bool {
    let mut fences = docs.lines().filter_map(|line| line.trim_start().strip_prefix("```")).step_by(2);
    let is_flag = |word: &str| matches!(word, "" | "rust" | "no_run" | "should_panic" | "edition2024");
    fences.any(|words| words.split([',', ' ']).all(is_flag))
}

fn check(test: &str, package: &str, below: &[&str], list: &str) {
    let updates = std::env::var_os("UPDATE_PUBLIC_API").is_some();
    if !updates && !support::uses_other_compilers(test) {
        return;
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(list);
    let lines = Surface::of(package, below).lines;
    assert!(lines.len() > 200, "the items are found");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    if updates {
        std::fs::write(&file, &text).expect("the list is written");
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    let known: BTreeSet<String> = known.lines().map(str::to_owned).collect();
    let new: Vec<_> = lines.difference(&known).collect();
    let gone: Vec<_> = known.difference(&lines).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "what safe code can name in {package} is not what runtime/docs/{list} says.\nnew: {new:#?}\ngone: {gone:#?}\nLook at each new \
         line that is `raw` and not `unsafe`: can safe code break the host with it? Then write the list anew:\n    \
         UPDATE_PUBLIC_API=1 cargo test -p alcedo-runtime --test all public_api::"
    );
}

#[test]
fn all_that_a_plugin_can_name_is_in_the_list() {
    check("all_that_a_plugin_can_name_is_in_the_list", "alcedo-plugin-api", &[], "public-api-plugin.txt");
}

#[test]
fn all_that_a_host_can_name_is_in_the_list() {
    let below = ["alcedo-base", "alcedo-reflect", "alcedo-zcall"];
    check("all_that_a_host_can_name_is_in_the_list", "alcedo-runtime", &below, "public-api-host.txt");
}

#[test]
fn an_example_is_a_fence_that_rustdoc_compiles() {
    for (docs, expected) in [
        ("Spawns.\n\n```\nspawn();\n```", true),
        ("```no_run\nspawn();\n```", true),
        ("```rust, should_panic\nspawn();\n```", true),
        ("```text\nthe world\n```", false),
        ("```ignore\nspawn();\n```", false),
        ("```console\n$ cargo test\n```\n```\nspawn();\n```", true),
        ("Spawns `n` objects.", false),
    ] {
        assert_eq!(has_example(docs), expected, "{docs}");
    }
}

#[test]
fn at_least_250_public_items_have_an_example() {
    if !support::uses_other_compilers("at_least_250_public_items_have_an_example") {
        return;
    }
    let counts = WITH_EXAMPLES.map(|package| (package, Surface::of(package, &[]).examples.len()));
    let sum: usize = counts.iter().map(|(_, count)| count).sum();
    let lines: String = counts.iter().map(|(package, count)| format!("\n{count:6}  {package}")).collect();
    assert!(sum >= 250, "{sum} public items have an example; write some in the docs of a crate, up to 250:{lines}");
}
