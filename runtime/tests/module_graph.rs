//! Tests that the modules of each folder in every crate use each other without cycles. `CYCLES` lists the exceptions with their reasons. A
//! module is a file together with the folder of its name. The sources are parsed, so every path to a module of the crate counts, including
//! paths through re-exports. Tests are excluded.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

pub(crate) const CRATES: &[&str] = &[
    "plugin-api/abi/src",
    "plugin-api/macros/src",
    "plugin-api/rt/src",
    "plugin-api/src",
    "reload-test/src",
    "runtime/base/src",
    "runtime/dll-bind/src",
    "runtime/engine/src",
    "runtime/reflect/src",
    "runtime/src",
    "runtime/sys/src",
    "runtime/script/src",
    "runtime/uc/src",
    "runtime/zcall/src",
    "tools/build/src",
    "tools/glue/src",
    "tools/src",
];

/// Modules in one folder that depend on each other, with the reason for the exception.
const CYCLES: &[(&str, &[&str], &str)] = &[
    (
        "plugin-api/macros/src",
        &["class_impl", "export", "imported_impl"],
        "an impl of a class is exported or imported, and both read its methods",
    ),
    ("plugin-api/rt/src/heap", &["memory", "pages", "shard"], "a slab returns to its shard, which is made of slabs"),
    (
        "plugin-api/src",
        &["class", "object", "this"],
        "a class has a base, which is the root of all, and views of the objects that a frame binds by their class",
    ),
    (
        "plugin-api/src",
        &["ptr", "value"],
        "a value defines its form in slots and memory, and pointers to both are typed by the value",
    ),
    ("plugin-api/src/kinds", &["kind", "owned"], "a kind has an owned value in it, which is one of that kind"),
    ("runtime/reflect/src", &["containers", "values"], "values lie in containers, which are values of a kind"),
    ("runtime/reflect/src", &["property", "structs"], "a struct has properties, and a property may hold a struct"),
    (
        "runtime/reflect/src",
        &["arguments", "function", "thunk"],
        "a function has a thunk, and a thunk receives a call of a function and reads its arguments",
    ),
    (
        "runtime/reflect/src/values",
        &["enumeration", "ptr"],
        "a place in memory that holds an enum is read as one, and an enum is read at a place in memory",
    ),
    (
        "runtime/src",
        &["development", "host", "native", "poster", "runtime"],
        "the root: a runtime hands its parts to those that drive it",
    ),
    (
        "runtime/src/bridge/tasks",
        &["code", "inbox", "waking"],
        "a waker posts into the inbox, whose posts run code that holds wakers",
    ),
    (
        "runtime/src/load/context",
        &["loading", "search"],
        "what a library needs is searched, and what a search of the Default finds is loaded there",
    ),
    (
        "runtime/sys/src",
        &["imp", "ledger"],
        "a ledger has the records that a platform keeps of its image, and these know images by their ledgers",
    ),
];

type Module = Vec<String>;

/// Module that is not a test, with the paths and names in its file.
struct Source {
    /// Paths that may name a module, as written.
    paths: Vec<Vec<String>>,
    /// Re-exported names with their paths.
    exports: BTreeMap<String, Vec<String>>,
    /// Paths of `pub use path::*`.
    globs: Vec<Vec<String>>,
    items: BTreeSet<String>,
}

type Crate = BTreeMap<Module, Source>;

/// Visitor that collects the modules in a file of a crate.
#[derive(Default)]
struct Reader {
    module: Module,
    found: Crate,
    /// True for a `use` that only re-exports names.
    is_re_export: bool,
}

pub(crate) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string().starts_with("test"))
    })
}

fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

impl Reader {
    fn source(&mut self) -> &mut Source {
        let empty = Source { paths: vec![], exports: BTreeMap::new(), globs: vec![], items: BTreeSet::new() };
        self.found.entry(self.module.clone()).or_insert(empty)
    }

    fn tree(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.tree(&path.tree, &with(&path.ident)),
            syn::UseTree::Name(name) => self.used(name.ident.to_string(), with(&name.ident)),
            syn::UseTree::Rename(name) => self.used(name.rename.to_string(), with(&name.ident)),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree, before)),
            syn::UseTree::Glob(_) => {
                if !self.is_re_export {
                    self.source().paths.push(before.to_vec());
                }
                self.source().globs.push(before.to_vec());
            }
        }
    }

    fn used(&mut self, name: String, path: Vec<String>) {
        let path = if path.last().is_some_and(|last| last == "self") { path[..path.len() - 1].to_vec() } else { path };
        if !self.is_re_export {
            self.source().paths.push(path.clone());
        }
        self.source().exports.insert(name, path);
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let (attributes, name) = match item {
            syn::Item::Const(it) => (&it.attrs, Some(&it.ident)),
            syn::Item::Enum(it) => (&it.attrs, Some(&it.ident)),
            syn::Item::Fn(it) => (&it.attrs, Some(&it.sig.ident)),
            syn::Item::Impl(it) => (&it.attrs, None),
            syn::Item::Mod(it) => (&it.attrs, None),
            syn::Item::Static(it) => (&it.attrs, Some(&it.ident)),
            syn::Item::Struct(it) => (&it.attrs, Some(&it.ident)),
            syn::Item::Trait(it) => (&it.attrs, Some(&it.ident)),
            syn::Item::Type(it) => (&it.attrs, Some(&it.ident)),
            syn::Item::Use(it) => (&it.attrs, None),
            _ => return visit::visit_item(self, item),
        };
        if is_test(attributes) {
            return;
        }
        if let Some(name) = name {
            self.source().items.insert(name.to_string());
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        // A module without a body is read from its own file.
        if item.content.is_some() {
            self.module.push(item.ident.to_string());
            self.source();
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.is_re_export = !matches!(item.vis, syn::Visibility::Inherited);
        self.tree(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = segments(path);
        self.source().paths.push(segments);
        visit::visit_path(self, path);
    }
}

/// Returns true if a file or folder of this name contains tests, or is not a source of its crate. The name has no extension.
pub(crate) fn is_left_out(name: &str) -> bool {
    name.ends_with("tests") || ["testing", "templates"].contains(&name)
}

fn modules(root: &Path) -> Crate {
    fn add(dir: &Path, module: &Module, reader: &mut Reader) {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(dir).expect("a folder of sources").map(|entry| entry.expect("an entry").path()).collect();
        entries.sort();
        for path in entries {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let inner = [&module[..], std::slice::from_ref(&name)].concat();
            if is_left_out(&name) || name == "bin" {
            } else if path.is_dir() {
                add(&path, &inner, reader);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).expect("a source");
                let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                reader.module = if ["lib", "main", "mod"].contains(&&*name) { module.clone() } else { inner };
                if !is_test(&file.attrs) {
                    reader.source();
                    reader.visit_file(&file);
                }
            }
        }
    }
    let mut reader = Reader::default();
    add(root, &Vec::new(), &mut reader);
    reader.found
}

/// Resolves a path in the module `from` to the module that declares its item. Returns `None` if another crate declares the item.
fn resolve(all: &Crate, from: &Module, path: &[String], depth: u32) -> Option<Module> {
    let mut at = from.clone();
    let mut rest = path;
    let mut is_begun = false;
    while let Some((first, more)) = rest.split_first() {
        match &**first {
            "crate" if !is_begun => at.clear(),
            "self" if !is_begun => {}
            "super" => drop(at.pop()),
            _ => break,
        }
        (rest, is_begun) = (more, true);
    }
    while let Some((first, more)) = rest.split_first() {
        let inner = [&at[..], std::slice::from_ref(first)].concat();
        let source = all.get(&at)?;
        if all.contains_key(&inner) {
            at = inner;
        } else if source.items.contains(first) {
            return Some(at);
        } else if let Some(path) = source.exports.get(first).filter(|_| depth < 8) {
            // A path in this module may begin with an imported name. Such a path is ignored, because the import was already counted. A path
            // that another module re-exports is followed: `pub use chosen::*` may use a name that only that module imports.
            let is_followed = is_begun || depth > 0;
            return if is_followed { resolve(all, &at, &[path, more].concat(), depth + 1) } else { None };
        } else if !is_begun {
            return None;
        } else {
            let through = |glob: &Vec<String>| {
                let found = resolve(all, &at, glob, depth + 1)?;
                all.get(&found)?.items.contains(first).then_some(found)
            };
            return source.globs.iter().filter(|_| depth < 8).find_map(through);
        }
        (rest, is_begun) = (more, true);
    }
    is_begun.then_some(at)
}

fn uses(all: &Crate) -> BTreeMap<Module, BTreeSet<Module>> {
    let of = |(module, source): (&Module, &Source)| {
        let used = source.paths.iter().filter_map(|path| resolve(all, module, path, 0));
        (module.clone(), used.filter(|used| used != module).collect())
    };
    all.iter().map(of).collect()
}

/// Returns the modules in a folder, each with the modules of this folder on which it depends.
fn within(folder: &[String], uses: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeMap<String, BTreeSet<String>> {
    // Ignores the file of the folder itself, which is not a sibling of the modules in the folder.
    let child = |module: &Module| module.strip_prefix(folder)?.first().cloned();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, used) in uses {
        let Some(from) = child(module) else { continue };
        let row = found.entry(from.clone()).or_default();
        row.extend(used.iter().filter_map(child).filter(|to| *to != from));
    }
    found
}

/// Returns all modules on which a module depends, directly or indirectly.
fn reached(uses: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(next) = open.pop() {
        open.extend(uses.get(&next).into_iter().flatten().filter(|other| found.insert((*other).clone())).cloned());
    }
    found
}

fn cycles(uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<Vec<String>> {
    let reached: BTreeMap<_, _> = uses.keys().map(|name| (name, reached(uses, name))).collect();
    let cycle_of = |name: &&String| -> Vec<String> {
        uses.keys().filter(|other| reached[name].contains(*other) && reached[other].contains(*name)).cloned().collect()
    };
    uses.keys().map(|name| cycle_of(&name)).filter(|cycle| !cycle.is_empty()).collect()
}

#[test]
fn the_only_module_cycles_are_those_with_a_reason() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = BTreeSet::new();
    for name in CRATES {
        let all = modules(&workspace.join(name));
        let uses = uses(&all);
        let folders: BTreeSet<_> = all.keys().flat_map(|module| (0..module.len()).map(|len| &module[..len])).collect();
        for folder in folders {
            let folder_path = [&[(*name).to_owned()], folder].concat().join("/");
            found.extend(cycles(&within(folder, &uses)).into_iter().map(|cycle| (folder_path.clone(), cycle)));
        }
    }
    let known = CYCLES.iter().map(|(folder_path, cycle, reason)| {
        assert!(reason.len() > 20, "{folder_path}: a reason is a sentence");
        ((*folder_path).to_owned(), cycle.iter().map(|name| (*name).to_owned()).collect())
    });
    let known: BTreeSet<(String, Vec<String>)> = known.collect();
    let wrong: Vec<_> = found.symmetric_difference(&known).collect();
    assert!(wrong.is_empty(), "these are in the list or in the sources, and not in both:\n{wrong:#?}");
}

#[test]
fn paths_resolve_to_modules_through_re_exports_and_globs() {
    let module =
        |path: &str| -> Module { path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect() };
    let mut reader = Reader::default();
    for (path, text) in [
        ("", "pub use a::Deep; pub use b::*; struct Root;"),
        ("a", "pub use self::inner::Deep; use crate::b::Shallow;"),
        ("a::inner", "pub struct Deep; fn f() { super::super::b::g(); }"),
        ("b", "pub struct Shallow; pub fn g() { crate::Deep; let _: std::fmt::Error; }"),
        ("c", "use crate::b as chosen; pub use chosen::g;"),
    ] {
        reader.module = module(path);
        reader.source();
        reader.visit_file(&syn::parse_file(text).expect("it is Rust"));
    }
    let all = reader.found;
    let check = |from: &str, path: &str, to: Option<&str>| {
        let path: Vec<String> = path.split("::").map(str::to_owned).collect();
        assert_eq!(resolve(&all, &module(from), &path, 0), to.map(module), "{path:?} in {from}");
    };
    check("b", "crate::Deep", Some("a::inner"));
    check("a", "crate::Shallow", Some("b"));
    check("a::inner", "crate::Root", Some(""));
    check("b", "std::fmt::Error", None);
    check("a", "crate::c::g", Some("b"));
    check("a", "inner::Deep", Some("a::inner"));
    assert_eq!(cycles(&within(&[], &uses(&all))), BTreeSet::from([vec!["a".to_owned(), "b".to_owned()]]));
}
