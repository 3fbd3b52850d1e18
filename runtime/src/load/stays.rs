//! Why an image will stay mapped whatever happens, told from its file before any code of it runs: in words for the plugin's
//! author, with the way out. No crate is named as the one to blame unless code of it is in the file.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use alcedo_sys::ImageFile;

use super::{advice, hooks};

/// So many symbols are named.
const MOST: usize = 3;

/// Why, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stays {
    /// What keeps it, one part for each.
    pub why: String,
    /// The ways out, one part for each.
    pub way_out: String,
}

impl Stays {
    /// As one sentence.
    pub(crate) fn told(&self) -> String {
        format!("{}: {}", self.why, self.way_out)
    }

    /// What is said of an image that stays, where the way out was told before.
    pub(crate) fn briefly(&self) -> String {
        format!("{}, as was told when it was loaded", self.why)
    }
}

/// What is read of a file for it.
#[derive(Debug, Default)]
struct Facts<'a> {
    /// What its hooks do not stand in for, and the library that it is of, where a version says so.
    bypasses: Vec<(String, Option<&'a str>)>,
    /// Whether it was built without any hooks.
    has_no_hooks: bool,
    is_marked: bool,
    unique: &'a [String],
    needed: &'a [String],
    /// The names of symbols that are there for debuggers.
    names: &'a [u8],
}

/// Why the image of a file will stay; none for one that can be unmapped.
pub(crate) fn of(image: &ImageFile) -> Option<Stays> {
    let has_no_hooks = hooks::has_none(image);
    let bypasses = if has_no_hooks { Vec::new() } else { hooks::bypasses(image) };
    let with_library = bypasses.into_iter().map(|name| {
        let library = image.library_of(&name);
        (name, library)
    });
    judge(&Facts {
        bypasses: with_library.collect(),
        has_no_hooks,
        is_marked: image.is_marked_to_stay(),
        unique: image.unique_symbols(),
        needed: image.needed(),
        names: image.section(".strtab").unwrap_or_default(),
    })
}

fn judge(facts: &Facts<'_>) -> Option<Stays> {
    let mut parts = Vec::new();
    if facts.has_no_hooks {
        let way = "build it with `module!`, for a platform that has hooks";
        parts.push(("it was built without any hooks".to_owned(), way.to_owned()));
    }
    parts.extend(of_bypasses(facts));
    if facts.is_marked {
        let way = "take that out of its build script, `.cargo/config.toml` or `RUSTFLAGS`";
        parts.push(("it was linked with `-z nodelete`".to_owned(), way.to_owned()));
    }
    if !facts.unique.is_empty() {
        let why = format!("it defines what a process has only once ({})", listed(facts.unique.iter().map(String::as_str)));
        parts.push((why, "compile its C++ code with `-fno-gnu-unique`, or hide those symbols".to_owned()));
    }
    let (why, ways): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    (!why.is_empty()).then(|| Stays { why: why.join("; and "), way_out: ways.join("; and ") })
}

/// One part for each library whose functions are called past the hooks.
fn of_bypasses(facts: &Facts<'_>) -> Vec<(String, String)> {
    let mut by_library: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
    for (name, library) in &facts.bypasses {
        by_library.entry(*library).or_default().push(name);
    }
    by_library.into_iter().map(|(library, names)| of_library(facts, library, &names)).collect()
}

fn of_library(facts: &Facts<'_>, library: Option<&str>, names: &[&str]) -> (String, String) {
    let symbols = listed(names.iter().copied());
    let others: Vec<_> = facts.needed.iter().filter(|needed| !hooks::is_platform(needed)).map(String::as_str).collect();
    match (library, &others[..]) {
        (Some(library), _) if library.starts_with("libstdc++.so") => (
            format!("it bypasses {symbols} of {library}, which starts threads by itself"),
            "link the C++ library into the plugin: `cpp_link_stdlib_static(true)` of the crate cc, in the build script that \
             compiles the C++ code"
                .to_owned(),
        ),
        (Some(library), _) if !hooks::is_platform(library) => {
            (format!("it bypasses {symbols} of {library}"), way_without(library, facts.names))
        }
        (None, [_, ..]) => {
            let ways: Vec<_> = others.iter().map(|library| way_without(library, facts.names)).collect();
            let of = if others.len() == 1 { String::new() } else { "one of these: ".to_owned() };
            (format!("it bypasses {symbols}, of {of}{}", others.join(", ")), ways.join("; or "))
        }
        _ => (
            format!("it bypasses {symbols}"),
            "build it with `module!`, and without symbols of a library of its own in between".to_owned(),
        ),
    }
}

/// How a plugin does without a shared library.
fn way_without(library: &str, names: &[u8]) -> String {
    match advice::on(library) {
        Some(advice) if has_code_of(names, advice.package) => {
            format!("link {library} into the plugin: {}, of the crate {}", advice.way, advice.package)
        }
        Some(advice) => {
            format!("link {library} into the plugin (if the crate {} brings it: {})", advice.package, advice.way)
        }
        None => format!("link {library} into the plugin, or leave it to the host"),
    }
}

/// Whether functions of a crate are in the file. Both ways to mangle a Rust name have the crate's with its length before it,
/// and something before that which no digit is.
fn has_code_of(names: &[u8], package: &str) -> bool {
    let ident = package.replace('-', "_");
    [format!("_ZN{}{ident}", ident.len()), format!("_{}{ident}", ident.len())]
        .iter()
        .any(|part| names.windows(part.len()).any(|window| window == part.as_bytes()))
}

/// Some names, as their authors wrote them.
fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(MOST);
    let told: Vec<_> = names.take(MOST).map(demangled).collect();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    told.join(", ") + &more
}

fn demangled(name: &str) -> String {
    // What a function takes is of no use here, and may be long.
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let symbol = cpp_demangle::Symbol::new(name).ok();
    symbol.and_then(|symbol| symbol.demangle_with_options(&options).ok()).unwrap_or_else(|| name.to_owned())
}

/// What was told already, by module: the same is not told with every reload.
#[derive(Debug, Default)]
pub(crate) struct Told(Mutex<BTreeMap<String, Stays>>);

impl Told {
    /// Whether there is something to tell of the module that was not told of it last. From now on it was.
    pub(crate) fn is_news(&self, module: &str, stays: Option<&Stays>) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match stays {
            // If it comes with a reason again, that is news.
            None => {
                told.remove(module);
                false
            }
            Some(stays) => told.insert(module.to_owned(), stays.clone()).as_ref() != Some(stays),
        }
    }
}
