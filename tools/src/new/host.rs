//! Reads the properties of a host on which a new plugin depends: the class that the plugin extends, the events of this class, and the
//! package in which plugins declare types. The host's sources and its glue are parsed as text, so no build is needed.

use std::collections::BTreeSet;
use std::fs;
use std::iter;
use std::path::Path;

use crate::described::read_text;

/// Package in which plugins declare types, if the sources of the host do not specify a package.
const PACKAGE: &str = "Game";
/// Number types, for which generated tests can contain literals.
const NUMBERS: [&str; 10] = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64"];
/// Maximum number of parameters of a function that a test can call with Rust types.
const MOST_ARGUMENTS: usize = 8;

/// Properties of a host on which the source of a new plugin depends.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Host {
    /// Class that the plugin extends. `None` means `Object`.
    pub(super) base: Option<String>,
    pub(super) events: Vec<Event>,
    /// Set if the host has classes that plugins may extend, but the glue contains none of these classes.
    pub(super) has_old_glue: bool,
    /// Package in which plugins declare their types.
    pub(super) package: String,
    /// Set if tests can build the host, because its library has a function `builder`.
    pub(super) has_builder: bool,
    /// Names that the glue uses, and that members of the plugin must therefore not have.
    names: BTreeSet<String>,
    types: BTreeSet<String>,
}

/// A function of the host that plugins may override.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// Class that declares the event.
    owner: String,
    name: String,
    /// Names and types of the parameters.
    params: Vec<(String, String)>,
    /// Result type. Empty if the event has no result.
    result: String,
}

#[derive(Debug, Default)]
struct Class {
    name: String,
    base: String,
    events: Vec<Event>,
}

impl Host {
    /// Reads the sources of the glue package and of the host package.
    pub(super) fn read(glue: &Path, host: &Path) -> Self {
        let library = read_text(&host.join("src/lib.rs")).unwrap_or_default();
        Self::of(&sources(glue), &sources(host), library.contains("pub fn builder()"))
    }

    fn of(glue: &str, host: &str, has_builder: bool) -> Self {
        let glue = &code(glue);
        let classes = classes(glue);
        let blueprintable = blueprintable(&code(host));
        let is_open = |class: &&Class| blueprintable.is_empty() || blueprintable.contains(&class.name);
        let of = |class: &Class| events(&classes, class);
        let open: Vec<_> = classes.iter().filter(is_open).collect();
        let class = open.iter().find(|class| !of(class).is_empty()).or(open.first());
        Self {
            base: class.map(|class| class.name.clone()),
            events: class.map(|class| of(class)).unwrap_or_default(),
            has_old_glue: open.is_empty() && !blueprintable.is_empty(),
            package: package(host).unwrap_or_else(|| PACKAGE.to_owned()),
            has_builder,
            names: identifiers(glue).map(str::to_owned).collect(),
            types: types(glue),
        }
    }

    /// Returns `name`, or a similar name if the glue already uses `name`.
    pub(super) fn free(&self, name: &str) -> String {
        self.unused(name.to_owned(), "own_")
    }

    /// Returns the name of a class of the plugin: `prefix` followed by the name of the base. The name differs from all types of the glue.
    /// The name of the base also distinguishes the class of a plugin `this` or `object` from `This` and `Object`, which the plugin uses.
    pub(super) fn free_class(&self, prefix: &str) -> String {
        self.unused(format!("{prefix}{}", self.base.as_deref().unwrap_or("Object")), "Own")
    }

    /// Returns the name with enough prefixes to differ from all names in the glue.
    fn unused(&self, mut name: String, prefix: &str) -> String {
        while self.names.contains(&name) {
            name.insert_str(0, prefix);
        }
        name
    }

    /// Returns the types that the source of the plugin imports from the glue.
    pub(super) fn imports(&self) -> BTreeSet<&str> {
        let named = self.events.iter().flat_map(|event| {
            let params = event.params.iter().flat_map(|(_, ty)| identifiers(ty));
            params.chain(identifiers(&event.result)).chain([event.owner.as_str()])
        });
        named.chain(self.base.as_deref()).filter(|name| self.types.contains(*name)).collect()
    }

    /// Returns a call of the first event for whose parameters a test can contain literals.
    pub(super) fn call(&self) -> Option<String> {
        let is_plain = |event: &&Event| event.params.iter().all(|(_, ty)| argument(ty).is_some());
        let event = self.events.iter().filter(|event| event.params.len() <= MOST_ARGUMENTS).find(is_plain)?;
        let arguments: Vec<_> = event.params.iter().filter_map(|(_, ty)| argument(ty)).collect();
        let comma = if arguments.len() == 1 { "," } else { "" };
        Some(format!("call::<()>(object, \"{}\", ({}{comma}))", not_raw(&event.name), arguments.join(", ")))
    }
}

impl Event {
    /// Returns the source of the event's override in a new plugin.
    pub(super) fn source(&self) -> String {
        let Self { owner, name, params, result } = self;
        let param = |(name, ty): &(String, String)| format!(", _{}: {ty}", not_raw(name).trim_start_matches('_'));
        let params: String = params.iter().map(param).collect();
        let (result, value) = match result.as_str() {
            "" => (String::new(), ""),
            result => (format!(" -> {result}"), "        Default::default()\n"),
        };
        let line = format!("    fn {name}(&mut self, this: This<Self>{params}){result} {{");
        format!(
            "    #[overrides({owner})]\n{line}\n        self.fresh += 1;\n        self.calls += 1;\n        if self.fresh == 1 {{\n            \
             tracing::info!(\"{{}}: first {}\", this.name());\n        }}\n{value}    }}\n\n",
            not_raw(name)
        )
    }
}

/// Returns the identifier without `r#`, by which glue marks names that are keywords.
fn not_raw(identifier: &str) -> &str {
    identifier.strip_prefix("r#").unwrap_or(identifier)
}

/// Returns a literal of a type, for use in a test. Returns `None` if the type has no literal.
fn argument(ty: &str) -> Option<String> {
    match ty {
        "bool" => Some("true".to_owned()),
        float @ ("f32" | "f64") => Some(format!("1.0_{float}")),
        number if NUMBERS.contains(&number) => Some(format!("1_{number}")),
        _ => None,
    }
}

/// Returns all Rust sources of a package.
pub(super) fn sources(package: &Path) -> String {
    let mut files: Vec<_> =
        fs::read_dir(package.join("src")).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "rs"));
    files.sort();
    files.iter().filter_map(|path| read_text(path).ok()).collect()
}

/// Removes comment lines from a source.
fn code(source: &str) -> String {
    source.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|identifier| !identifier.is_empty())
}

/// Returns the public types that a source declares.
fn types(source: &str) -> BTreeSet<String> {
    let items = ["pub struct ", "pub enum ", "pub trait ", "pub type "];
    let named = items.iter().flat_map(|item| source.split(item).skip(1)).filter_map(|rest| identifiers(rest).next());
    named.map(str::to_owned).collect()
}

/// Returns the arguments of each attribute with this name, and the source after the attribute.
fn attributes<'a>(source: &'a str, name: &str) -> Vec<(&'a str, &'a str)> {
    let begun = format!("#[{name}(");
    let behind = source.match_indices(&begun).map(|(at, _)| &source[at + begun.len()..]);
    behind.filter_map(|rest| rest.split_once(")]")).collect()
}

/// Parses the item after an attribute, for example a struct. Returns the item's name and the source after the name. Returns `None` if the
/// item does not begin with `keyword`.
fn item<'a>(behind: &'a str, keyword: &str) -> Option<(&'a str, &'a str)> {
    let mut rest = behind.trim_start();
    while rest.starts_with("#[") {
        rest = rest.split_once("]\n")?.1.trim_start();
    }
    let rest = rest.strip_prefix("pub ").unwrap_or(rest).strip_prefix(keyword)?.trim_start();
    let name = identifiers(rest).next()?;
    Some((name, &rest[name.len()..]))
}

/// Returns the imported classes of a glue source, in the order of the source.
fn classes(glue: &str) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    for (arguments, behind) in
        attributes(glue, "uclass").into_iter().filter(|(arguments, _)| arguments.starts_with("imported"))
    {
        if let Some((name, _)) = item(behind, "struct ") {
            let base = arguments.split_once("base = ").map_or("", |(_, base)| base.split(',').next().unwrap_or(base));
            classes.push(Class { name: name.to_owned(), base: base.trim().to_owned(), events: Vec::new() });
        } else if let Some((name, body)) = item(behind, "impl ")
            && let Some(class) = classes.iter_mut().find(|class| class.name == name)
        {
            // Ends the block at the first closing brace, because functions in glue have no bodies.
            let body = body.split_once('}').map_or(body, |(body, _)| body);
            class.events.extend(body.split(';').filter_map(|function| event(name, function)));
        }
    }
    classes
}

/// Returns the events that a plugin can override: those of a class, and those of its bases in the glue. A cycle of bases, which only edited
/// glue has, ends the walk.
fn events(classes: &[Class], class: &Class) -> Vec<Event> {
    let base = |class: &&Class| classes.iter().find(|base| base.name == class.base && base.name != class.name);
    iter::successors(Some(class), base).take(classes.len()).flat_map(|class| class.events.clone()).collect()
}

/// Parses a declaration as an event of `owner`. Returns `None` for a declaration without an event attribute.
fn event(owner: &str, function: &str) -> Option<Event> {
    let is_event = ["blueprint_native_event", "blueprint_implementable_event"]
        .iter()
        .any(|attribute| function.contains(attribute));
    let (head, rest) = function.split_once("fn ").filter(|_| is_event)?.1.split_once('(')?;
    let (params, result) = closed(rest)?;
    let result = result.trim().trim_start_matches("->").trim();
    // Removes `Result`, because the override in the new plugin cannot fail and returns the plain value.
    let result =
        result.strip_prefix("Result<").map_or(result, |inner| inner.rsplit_once(',').map_or(inner, |(value, _)| value));
    let result = if result == "()" { "" } else { result };
    let is_simple = ["", "bool", "String"].contains(&result) || NUMBERS.contains(&result);
    let mut params = split(params);
    if params.next()? != "&self" {
        return None;
    }
    let params =
        params.map(|param| param.split_once(':').map(|(name, ty)| (name.trim().to_owned(), ty.trim().to_owned())));
    let params = params.collect::<Option<Vec<_>>>()?;
    let event = Event { owner: owner.to_owned(), name: head.trim().to_owned(), params, result: result.to_owned() };
    is_simple.then_some(event)
}

/// Splits text at the parenthesis that closes an already opened parenthesis.
fn closed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1;
    let end = text.char_indices().find(|(_, letter)| {
        depth += i32::from(*letter == '(') - i32::from(*letter == ')');
        depth == 0
    });
    end.map(|(at, _)| (&text[..at], &text[at + 1..]))
}

/// Splits parameters at the commas outside of brackets.
fn split(params: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let parts = params.split(move |letter: char| {
        depth += i32::from("<([".contains(letter)) - i32::from(">)]".contains(letter));
        (letter, depth) == (',', 0)
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

/// Returns the classes that scripts and plugins may extend, according to the sources of a host.
fn blueprintable(host: &str) -> BTreeSet<String> {
    let classes = attributes(host, "uclass")
        .into_iter()
        .filter(|(arguments, _)| identifiers(arguments).any(|identifier| identifier == "blueprintable"));
    classes.filter_map(|(_, behind)| Some(item(behind, "struct ")?.0.to_owned())).collect()
}

/// Returns the package that a host passes to `Builder::package`. The argument may be a literal or a constant.
fn package(host: &str) -> Option<String> {
    let literal = |text: &str| Some(text.trim_start().strip_prefix('"')?.split_once('"')?.0.to_owned());
    let argument = host.split_once(".package(")?.1;
    literal(argument).or_else(|| {
        let name = argument.split_once(')')?.0.rsplit("::").next()?.trim();
        literal(host.split_once(&format!("const {name}: &str ="))?.1)
    })
}

#[cfg(test)]
mod tests;
