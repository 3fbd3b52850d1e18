//! The order inside this crate: its modules, a folder with its file as one, use each other without circles, but for those
//! that stand here with their reason. What is for tests only is not looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Modules that cannot do without each other.
const CIRCLES: &[(&[&str], &str)] = &[
    (&["nested", "property", "structs"], "a type has fields or elements, which are of types"),
    (&["containers", "memory", "owned", "transfer"], "values lie in containers, which are values"),
    (&["function", "thunk"], "a function carries its thunk, and a thunk is given a call of a function"),
];

/// The root, which has the world. It is above what the world is made of, and below what takes the world.
const ROOT: &str = "lib";

type Uses = BTreeMap<String, BTreeSet<String>>;

/// All code of each module.
fn modules() -> BTreeMap<String, String> {
    fn add(dir: &Path, module: Option<&str>, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(dir).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() {
                add(&path, module.or(Some(&name)), found);
            } else if !["tests", "testing", "random"].contains(&&*name) {
                let source = fs::read_to_string(&path).expect("a source");
                let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
                let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
                let all = found.entry(module.unwrap_or(&name).to_owned()).or_default();
                code.for_each(|line| all.extend([line, "\n"]));
            }
        }
    }
    let mut found = BTreeMap::new();
    add(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), None, &mut found);
    found
}

/// The first words behind a prefix that ends a path: `a` of `a::b`, `a` and `b` of `{a, b::c}`.
fn words(rest: &str) -> Vec<String> {
    let word = |text: &str| text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    match rest.strip_prefix('{').and_then(|group| group.split_once('}')) {
        Some((group, _)) => group.split(',').map(word).collect(),
        None => vec![word(rest)],
    }
}

fn uses() -> Uses {
    let modules = modules();
    let used = |(name, code): (&String, &String)| {
        let mut named: BTreeSet<_> = code.split("crate::").skip(1).flat_map(words).collect();
        if name == ROOT {
            named.extend(code.lines().filter_map(|line| line.strip_prefix("use ")).flat_map(words));
        }
        if named.contains("World") {
            named.insert(ROOT.to_owned());
        }
        named.retain(|other| other != name && modules.contains_key(other));
        (name.clone(), named)
    };
    modules.iter().map(used).collect()
}

/// All that a module leads to, by way of others.
fn reached(uses: &Uses, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(next) = open.pop() {
        open.extend(uses[&next].iter().filter(|other| found.insert((*other).clone())).cloned());
    }
    found
}

fn circles(uses: &Uses) -> BTreeSet<Vec<String>> {
    let reached: BTreeMap<_, _> = uses.keys().map(|name| (name, reached(uses, name))).collect();
    let circle_of = |name: &&String| -> Vec<String> {
        uses.keys().filter(|other| reached[name].contains(*other) && reached[other].contains(*name)).cloned().collect()
    };
    uses.keys().map(|name| circle_of(&name)).filter(|circle| !circle.is_empty()).collect()
}

#[test]
fn the_only_circles_are_those_with_a_reason() {
    let known = CIRCLES.iter().map(|(circle, _)| circle.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(circles(&uses()), known.collect());
}

#[test]
fn a_circle_is_found_however_long_it_is() {
    let uses = |rows: &[(&str, &[&str])]| -> Uses {
        let row =
            |(name, used): &(&str, &[&str])| ((*name).to_owned(), used.iter().map(|&one| one.to_owned()).collect());
        rows.iter().map(row).collect()
    };
    let long = uses(&[("a", &["b"]), ("b", &["c"]), ("c", &["a", "d"]), ("d", &[])]);
    assert_eq!(circles(&long), BTreeSet::from([["a", "b", "c"].map(str::to_owned).to_vec()]));
    assert!(circles(&uses(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])).is_empty());
}
