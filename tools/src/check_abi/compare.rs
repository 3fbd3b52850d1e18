//! Compares two builds of a module. Reports two groups of changes: those that affect a host in which the new build replaces the old build,
//! and those that affect packages of scripts, and plugins whose glue was written for the old build. Compares only manifests and
//! declarations.

use std::collections::BTreeSet;

use alcedo_glue::type_paths;
use alcedo_reflect::convertible::{Convertible, convertible};
use alcedo_reflect::type_text::TypeText;
use alcedo_runtime::{
    Declared, DeclaredClass, DeclaredDelegate, DeclaredEnum, DeclaredExport, DeclaredFunction, DeclaredInterface,
    DeclaredProperty, DeclaredStruct, Version, VersionReq,
};
use alcedo_uc::squash;
use serde::Serialize;

use crate::check_abi::names::{Entry, Redirects, chain, with_earlier_names};
use crate::inspect::Inspected;

use Effect::{Breaks, Compatible};

/// Effect of a change on the host, or on other plugins and scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Effect {
    /// The new build can be loaded, and calls succeed. Values that fit the new declarations are kept.
    Compatible,
    /// The load of the new build is rejected, calls fail, or values are lost.
    Breaks,
}

/// A change, with its consequence for the host, or for other plugins and scripts.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) effect: Effect,
    /// Path of a type or member, or the changed part of the manifest.
    pub(super) item: String,
    pub(super) change: String,
    pub(super) consequence: String,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Findings {
    pub(super) host: Vec<Finding>,
    pub(super) plugins: Vec<Finding>,
}

impl Findings {
    /// Returns the findings for a new build that a host rejects before the host maps the file.
    pub(super) fn refused(module: &str, reason: &str) -> Self {
        Self { host: vec![finding(Breaks, module, "refused before it is mapped", reason)], plugins: Vec::new() }
    }

    /// Returns the number of changes that break the host, other plugins or scripts.
    pub(super) fn breaking(&self) -> usize {
        self.host.iter().chain(&self.plugins).filter(|finding| finding.effect == Breaks).count()
    }
}

/// Consequence for a plugin that uses a type or member which is missing or differs in the new build (`EmitError::Import`).
const REFUSED: &str =
    "a plugin whose glue uses it is refused at load; write the glue again with `alcedo glue`, and rebuild the plugin";

/// Consequence of a removed function for calls by name.
const NOT_FOUND: &str = "calls by name fail with `CallError::NotFound`";

/// Consequence of a changed signature for calls by name.
const SIGNATURE: &str = "calls by name with the old signature fail with `CallError::Signature`";

pub(super) fn compare(old: &Inspected<'_>, new: &Inspected<'_>) -> Findings {
    let redirects = Redirects::between(old.declared, new.declared);
    let mut comparison = Comparison { redirects, found: Findings::default() };
    comparison.manifest(old, new);
    let (old, new) = (old.declared, new.declared);
    comparison.classes(&old.classes, &new.classes);
    comparison.structs(&with_earlier_names(old), &with_earlier_names(new));
    comparison.enums(&old.enums, &new.enums);
    comparison.delegates(&old.delegates, &new.delegates);
    comparison.interfaces(&old.interfaces, &new.interfaces);
    comparison.exports(&old.exports, &new.exports);
    comparison.imports(old, new);
    comparison.found
}

struct Comparison {
    redirects: Redirects,
    found: Findings,
}

impl Comparison {
    fn note_host(&mut self, effect: Effect, item: &str, change: &str, consequence: &str) {
        self.found.host.push(finding(effect, item, change, consequence));
    }

    fn note_plugins(&mut self, effect: Effect, item: &str, change: &str, consequence: &str) {
        self.found.plugins.push(finding(effect, item, change, consequence));
    }

    /// Reports a change that breaks the host and other plugins, with both consequences.
    fn note_both(&mut self, item: &str, change: &str, [host, plugins]: [&str; 2]) {
        self.note_host(Breaks, item, change, host);
        self.note_plugins(Breaks, item, change, plugins);
    }

    fn manifest(&mut self, old: &Inspected<'_>, new: &Inspected<'_>) {
        if old.name != new.name {
            let change = arrow(old.name, new.name);
            let consequences =
                ["the new library does not replace the module", "a plugin that depends on the old name is refused"];
            self.note_both("module name", &change, consequences);
        }
        if !accepts(&old.version, &new.version) {
            let consequence = format!("a plugin that depends on ^{} is refused: change its dependency", old.version);
            self.note_plugins(Breaks, "version", &arrow(&old.version, &new.version), &consequence);
        }
        if new.api_newest > old.api_newest {
            let consequence =
                format!("a host that offers only API {} refuses the library: update the host first", old.api_newest);
            let change = arrow(&old.api_newest.to_string(), &new.api_newest.to_string());
            self.note_host(Breaks, "host API", &change, &consequence);
        }
        if old.compiler != new.compiler {
            let change = arrow(old.compiler, new.compiler);
            self.note_host(Compatible, "compiler", &change, "the types of the ABI have the same layouts");
        }
        if old.sealed && !new.sealed {
            let consequence = "a host with `Builder::require_seal` refuses the library: build it with `alcedo build`";
            self.note_host(Breaks, "seal", "removed", consequence);
        }
        if let (None, Some(reason)) = (old.will_park, new.will_park) {
            self.note_host(Compatible, "unloading", "the image stays mapped after each unload", reason);
        }
        self.permissions(old.permissions.as_deref(), new.permissions.as_deref());
        for needed in &new.dependencies {
            let item = format!("dependency {}", needed.name);
            match old.dependencies.iter().find(|known| known.name == needed.name) {
                None => {
                    let consequence = "the host refuses the library unless it also loads this module";
                    self.note_host(Breaks, &item, &format!("added, {}", needed.versions), consequence);
                }
                Some(known) if known.versions != needed.versions => {
                    let consequence = "the host refuses the library if the loaded version is out of the new range";
                    self.note_host(Breaks, &item, &arrow(&known.versions, &needed.versions), consequence);
                }
                Some(_) => {}
            }
        }
    }

    /// Reports permissions that the new build adds. Also reports that the new build declares no permissions, because a host with
    /// `PermissionPolicy::Refuse` checks only modules that declare permissions.
    fn permissions(&mut self, old: Option<&[&str]>, new: Option<&[&str]>) {
        match (old, new) {
            (Some(_), None) => {
                let consequence = "hosts no longer check which resources the module uses";
                self.note_host(Compatible, "permissions", "removed", consequence);
            }
            (Some(old), Some(new)) => {
                for permission in new.iter().filter(|permission| !old.contains(permission)) {
                    let consequence = "hosts no longer report this use, which the old build did not declare";
                    self.note_host(Compatible, &format!("permission {permission}"), "added", consequence);
                }
            }
            (None, _) => {}
        }
    }

    /// Returns the types of the old build that still exist, each with its type in the new build. Reports removed and renamed types.
    fn matched<'t, T: Entry>(&mut self, old: &'t [T], new: &'t [T]) -> Vec<(&'t T, &'t T)> {
        let (own, others) = (refs(old), refs(new));
        let mut matched = Vec::new();
        for from in old {
            let Some(to) = self.redirects.partner(from, &own, &others) else {
                let consequence = "its objects become dormant, its values are put aside, and calls with it fail";
                self.note_both(from.name(), "removed", [consequence, REFUSED]);
                continue;
            };
            if from.name() != to.name() {
                let change = format!("renamed to {}", to.name());
                self.note_host(Compatible, from.name(), &change, "objects, values and paths follow the new name");
                let consequence =
                    "a plugin whose bases or signatures use the old name is refused; write its glue again";
                self.note_plugins(Breaks, from.name(), &change, consequence);
            }
            matched.push((from, to));
        }
        matched
    }

    fn classes(&mut self, old: &[DeclaredClass], new: &[DeclaredClass]) {
        for (from, to) in self.matched(old, new) {
            self.class(from, to, &[chain(from, old), chain(to, new)]);
        }
        for to in new {
            if self.redirects.partner(to, &refs(new), &refs(old)).is_none() {
                self.note_host(Compatible, &to.path, "added", "objects of the class can be spawned");
            }
        }
    }

    /// Compares a class in both builds. `chains` contains, for each build, the class with its bases. If the builds differ in the base of
    /// the class, also compares the inherited properties, functions and interfaces.
    fn class(&mut self, from: &DeclaredClass, to: &DeclaredClass, chains: &[Vec<&DeclaredClass>; 2]) {
        let path = from.path.as_str();
        let properties =
            chains.each_ref().map(|chain| chain.iter().flat_map(|class| &class.properties).collect::<Vec<_>>());
        let [before, after] = &properties;
        let base = self.redirects.redirected(&from.base).to_owned();
        let compared = if base == to.base { &chains[0][..1] } else { &chains[0] };
        if base != to.base {
            let change = format!("base {}", arrow(&from.base, &to.base));
            let consequence = "its objects keep the values of properties that both builds have; they are constructed again \
                               if their native class changes";
            self.note_host(Compatible, path, &change, consequence);
            match chains[1].iter().any(|class| class.base == base) {
                true => self.note_plugins(Compatible, path, &change, "the old base is still one of its bases"),
                false => self.note_plugins(Breaks, path, &change, REFUSED),
            }
        }
        let gains = |flag: &str| has(&to.flags, flag) && !has(&from.flags, flag);
        if gains("final") {
            self.note_plugins(Breaks, path, "is final", "a class of another plugin that extends it is refused");
        }
        if gains("abstract") {
            self.note_both(path, "is abstract", ["spawning an object of the class fails"; 2]);
        }
        if gains("contextual") {
            self.note_both(path, "is contextual", ["spawning an object of the class without an outer fails"; 2]);
        }
        self.scripts(path, (path, &from.flags), (path, &to.flags));
        for interface in compared.iter().flat_map(|class| &class.implements) {
            let after = self.redirects.redirected(interface).to_owned();
            if !chains[1].iter().any(|class| class.implements.contains(&after)) {
                let consequence = "references by the interface no longer resolve to its objects";
                self.note_both(path, &format!("no longer implements {interface}"), [consequence; 2]);
            }
        }
        let old = compared.iter().flat_map(|class| &class.properties);
        self.members(path, old, (&to.path, &to.properties), &properties);
        for property in &from.properties {
            let item = member(path, &property.name);
            match self.redirects.partner(property, before, after) {
                None => self.note_plugins(Breaks, &item, "removed", REFUSED),
                Some(next) => {
                    self.form(&item, &property.ty, &next.ty);
                    self.scripts(&item, (&property.name, &property.flags), (&next.name, &next.flags));
                }
            }
        }
        let functions =
            chains.each_ref().map(|chain| chain.iter().flat_map(|class| &class.functions).collect::<Vec<_>>());
        let (mut own, inherited) = (refs(&from.functions), compared[1..].iter().flat_map(|class| &class.functions));
        for function in inherited.filter(|function| function.overrides.is_empty()) {
            let item = member(path, &function.name);
            let was = signature(function);
            match self.redirects.partner(function, &functions[0], &functions[1]).map(signature) {
                None => {
                    // Omits the override of a removed function, because calls cannot run the function of the base instead.
                    own.retain(|known| known.name != function.name);
                    self.note_host(Breaks, &item, "removed", NOT_FOUND);
                }
                Some(is) if was != is => self.note_host(Breaks, &item, &arrow(&was, &is), SIGNATURE),
                Some(_) => {}
            }
        }
        self.functions(path, &own, &functions);
    }

    fn structs(&mut self, old: &[DeclaredStruct], new: &[DeclaredStruct]) {
        for (from, to) in self.matched(old, new) {
            let chains = [chain(from, old), chain(to, new)];
            let fields = chains.each_ref().map(|chain| chain.iter().flat_map(|found| &found.fields).collect());
            let keeps_base = self.redirects.redirected(&from.base) == to.base;
            let compared = if keeps_base { &chains[0][..1] } else { &chains[0] };
            let compared = compared.iter().flat_map(|found| &found.fields);
            self.members(&from.path, compared, (&to.path, &to.fields), &fields);
            self.form(&from.path, &struct_form(from), &struct_form(to));
        }
    }

    fn enums(&mut self, old: &[DeclaredEnum], new: &[DeclaredEnum]) {
        for (from, to) in self.matched(old, new) {
            for entry in &from.entries {
                let item = member(&from.path, &entry.name);
                let paths = [&from.path, &to.path].map(|path| member(path, &entry.name));
                let renamed_to = |name: &str| paths.iter().any(|path| self.redirects.renames(path, name));
                let is_renamed = to.entries.iter().any(|other| renamed_to(&other.name));
                match to.entries.iter().find(|other| other.name == entry.name) {
                    None if is_renamed => self.note_host(Compatible, &item, "renamed", "its values are kept"),
                    None => self.note_host(Breaks, &item, "removed", "its values are put aside"),
                    Some(other) if other.number != entry.number => {
                        let change = arrow(&entry.number.to_string(), &other.number.to_string());
                        self.note_host(Compatible, &item, &change, "values keep the entry by its name");
                    }
                    Some(_) => {}
                }
            }
            self.form(&from.path, &enum_form(from), &enum_form(to));
        }
    }

    fn delegates(&mut self, old: &[DeclaredDelegate], new: &[DeclaredDelegate]) {
        for (from, to) in self.matched(old, new) {
            let [before, after] = [from, to]
                .map(|found| format!("{} {}", found.kind, form_of_call(&found.params, found.result.as_deref())));
            if self.redirects.redirected_text(&before) != after {
                let consequence = "bindings whose function has another signature are removed";
                self.note_host(Breaks, &from.path, &arrow(&before, &after), consequence);
            }
            self.form(&from.path, &before, &after);
        }
    }

    fn interfaces(&mut self, old: &[DeclaredInterface], new: &[DeclaredInterface]) {
        for (from, to) in self.matched(old, new) {
            let functions = [refs(&from.functions), refs(&to.functions)];
            self.functions(&from.path, &functions[0], &functions);
            for function in &to.functions {
                if self.redirects.partner(function, &functions[1], &functions[0]).is_none() {
                    let consequence = "a class of another plugin that implements the interface without it is refused";
                    self.note_plugins(Breaks, &member(&to.path, &function.name), "added", consequence);
                }
            }
        }
    }

    fn exports(&mut self, old: &[DeclaredExport], new: &[DeclaredExport]) {
        for from in old {
            match new.iter().find(|to| to.name == from.name) {
                None => self.note_both(&from.name, "removed", [NOT_FOUND; 2]),
                Some(to) if to.signature != from.signature => {
                    let change = format!("({}) → ({})", from.signature, to.signature);
                    self.note_both(&from.name, &change, [SIGNATURE; 2]);
                }
                Some(_) => {}
            }
        }
    }

    /// Reports imports that only the new build has. An import is a member of the host or of another module that the build uses.
    fn imports(&mut self, old: &Declared, new: &Declared) {
        let own: BTreeSet<_> = type_paths(new).collect();
        for used in new.imports.iter().filter(|used| !old.imports.contains(used)) {
            let owner = used.path.split(':').next().unwrap_or_default();
            if !own.contains(owner) {
                self.note_host(Compatible, &used.path, "used", "a host without it refuses the library");
            }
        }
    }

    /// Reports changes to the properties of a class or the fields of a struct that affect existing values. The last argument contains the
    /// members of both builds, including the members of the bases.
    fn members<'m>(
        &mut self,
        owner: &str,
        old: impl Iterator<Item = &'m DeclaredProperty>,
        (new_owner, new): (&str, &[DeclaredProperty]),
        [before, after]: &[Vec<&DeclaredProperty>; 2],
    ) {
        for property in old {
            let next = self.redirects.partner(property, before, after);
            self.values(&member(owner, &property.name), property, next);
        }
        for property in new {
            if self.redirects.partner(property, after, before).is_none() {
                let consequence = match has(&property.flags, SUBOBJECT) {
                    true => "every living object gets the subobject",
                    false => "living objects get its default",
                };
                self.note_host(Compatible, &member(new_owner, &property.name), "added", consequence);
            }
        }
    }

    /// Reports the consequence of a change for the existing values of a property. `to` is the property's declaration in the new build.
    fn values(&mut self, item: &str, from: &DeclaredProperty, to: Option<&DeclaredProperty>) {
        let is_subobject = has(&from.flags, SUBOBJECT);
        let Some(to) = to else {
            let consequence = match is_subobject {
                true => "the subobject of every living object is destroyed",
                false => "its values are put aside until a member of this name returns",
            };
            return self.note_host(Breaks, item, "removed", consequence);
        };
        if from.name != to.name {
            self.note_host(Compatible, item, &format!("renamed to {}", to.name), "its values are kept");
        }
        if is_subobject != has(&to.flags, SUBOBJECT) {
            let (change, consequence) = match is_subobject {
                true => ("is not a default subobject", "the subobject of every living object is destroyed"),
                false => ("is a default subobject", "every living object gets the subobject, and loses its value"),
            };
            return self.note_host(Breaks, item, change, consequence);
        }
        let ty = self.redirects.redirected_text(&from.ty);
        if ty != to.ty {
            let (effect, consequence) = match predicted(&ty, &to.ty) {
                _ if is_subobject => (Breaks, "the subobject of every living object is replaced"),
                Convertible::Always => {
                    (Compatible, "each value is converted, by a function of `#[migrate]` if there is one")
                }
                Convertible::ByValue => (
                    Compatible,
                    "values that fit are converted; the other values are put aside, and become the default, unless a function of \
                     `#[migrate]` converts them",
                ),
                Convertible::Never => (
                    Breaks,
                    "values are put aside, and become the default, unless a function of `#[migrate]` converts them",
                ),
            };
            self.note_host(effect, item, &arrow(&from.ty, &to.ty), consequence);
        } else if from.default != to.default {
            let [before, after] =
                [from, to].map(|found| if found.default.is_empty() { "zero" } else { found.default.as_str() });
            let change = format!("default {}", arrow(before, after));
            self.note_host(Compatible, item, &change, "objects with the old default get the new default");
        }
    }

    /// Compares the functions of a class or an interface. The last argument contains the functions of both builds, including the functions
    /// of the bases.
    fn functions(&mut self, owner: &str, old: &[&DeclaredFunction], [before, after]: &[Vec<&DeclaredFunction>; 2]) {
        for &from in old {
            let (item, is_override) = (member(owner, &from.name), !from.overrides.is_empty());
            let Some(to) = self.redirects.partner(from, before, after) else {
                if is_override {
                    self.note_host(Compatible, &item, "override removed", "calls run the function of a base class");
                } else {
                    self.note_both(&item, "removed", [NOT_FOUND, REFUSED]);
                }
                continue;
            };
            if from.name != to.name {
                let consequence = "calls by the old name run the renamed function";
                self.note_host(Compatible, &item, &format!("renamed to {}", to.name), consequence);
            }
            let (was, is) = (signature(from), signature(to));
            if was != is && !is_override {
                self.note_both(&item, &arrow(&was, &is), [SIGNATURE, REFUSED]);
            }
            if is_event(from) && !is_event(to) {
                self.note_plugins(Breaks, &item, "is not an event", "a plugin that overrides it is refused");
            }
            if !is_override {
                self.scripts(&item, (&from.name, &from.flags), (&to.name, &to.flags));
            }
        }
    }

    /// Reports the uses by scripts that the old build permits, and the new build does not. `from` and `to` contain the name and the flags in
    /// both builds. Scripts cannot use earlier names, but names of scripts also match without case and `_`.
    fn scripts(&mut self, item: &str, (name, from): (&str, &[String]), (next, to): (&str, &[String])) {
        let permits = |found: &[String], flags: &[&str]| flags.iter().any(|flag| has(found, flag));
        for (flags, uses) in OF_SCRIPTS.into_iter().filter(|(flags, _)| permits(from, flags) && !permits(to, flags)) {
            let consequence = format!("a package of scripts that {uses} it is refused");
            self.note_plugins(Breaks, item, &format!("lacks `{}`", flags[0]), &consequence);
        }
        let is_used = permits(from, &EVENTS) || OF_SCRIPTS.iter().any(|(flags, _)| permits(from, flags));
        if is_used && squash(name) != squash(next) {
            let consequence =
                "a package of scripts that uses the old name is refused, and overrides of that name are not called";
            self.note_plugins(Breaks, item, &format!("renamed to {next}"), consequence);
        }
    }

    /// Reports an item whose fingerprint has changed. `from` and `to` describe the inputs to the old and the new fingerprint.
    fn form(&mut self, item: &str, from: &str, to: &str) {
        if from != to {
            self.note_plugins(Breaks, item, &arrow(from, to), REFUSED);
        }
    }
}

/// Flags that permit a use by scripts, with the use. One of the flags is sufficient.
const OF_SCRIPTS: [(&[&str], &str); 4] = [
    (&["blueprintable"], "extends"),
    (&["blueprint_callable", "blueprint_pure"], "calls"),
    (&["blueprint_read", "blueprint_write"], "reads"),
    (&["blueprint_write"], "writes"),
];

/// Flags of functions that scripts override.
const EVENTS: [&str; 2] = ["blueprint_native_event", "blueprint_implementable_event"];

/// Flag of a property that contains a default subobject.
const SUBOBJECT: &str = "default_subobject";

fn finding(effect: Effect, item: &str, change: &str, consequence: &str) -> Finding {
    let [item, change, consequence] = [item, change, consequence].map(str::to_owned);
    Finding { effect, item, change, consequence }
}

fn refs<T>(list: &[T]) -> Vec<&T> {
    list.iter().collect()
}

fn arrow(from: &str, to: &str) -> String {
    format!("{from} → {to}")
}

fn member(owner: &str, name: &str) -> String {
    format!("{owner}:{name}")
}

fn has(flags: &[String], flag: &str) -> bool {
    flags.iter().any(|known| known == flag)
}

fn is_event(function: &DeclaredFunction) -> bool {
    EVENTS.iter().any(|event| has(&function.flags, event))
}

/// Checks if the requirement `^old` accepts the version `new`. Cargo reads a requirement without an operator in the same way.
fn accepts(old: &str, new: &str) -> bool {
    let range = VersionReq::parse(&format!("^{old}"));
    old == new || range.is_ok_and(|range| Version::parse(new).is_ok_and(|new| range.matches(&new)))
}

fn predicted(from: &str, to: &str) -> Convertible {
    match (from.parse::<TypeText>(), to.parse::<TypeText>()) {
        (Ok(from), Ok(to)) => convertible(&from, &to),
        // Reached if this version of `alcedo` does not support the kind of a property.
        _ => Convertible::Never,
    }
}

/// Formats the parameter types and the result type, which determine the fingerprint of a signature.
fn form_of_call(params: &[DeclaredProperty], result: Option<&str>) -> String {
    let out = |param: &DeclaredProperty| if has(&param.flags, "out") { "out " } else { "" };
    let params: Vec<_> = params.iter().map(|param| format!("{}{}", out(param), param.ty)).collect();
    let result = result.map(|result| format!(" -> {result}")).unwrap_or_default();
    format!("({}){result}", params.join(", "))
}

fn signature(function: &DeclaredFunction) -> String {
    let scope = if has(&function.flags, "static") { "static " } else { "" };
    format!("{scope}{}", form_of_call(&function.params, function.result.as_deref()))
}

fn struct_form(found: &DeclaredStruct) -> String {
    let fields: Vec<_> = found.fields.iter().map(|field| format!("{}: {}", field.name, field.ty)).collect();
    let base = if found.base.is_empty() { String::new() } else { format!("{} and ", found.base) };
    format!("{base}({}) in {} bytes, alignment {}", fields.join(", "), found.size, found.align)
}

fn enum_form(found: &DeclaredEnum) -> String {
    let entries: Vec<_> = found.entries.iter().map(|entry| format!("{} = {}", entry.name, entry.number)).collect();
    let flags = if found.is_flags { "flags of " } else { "" };
    format!("{flags}{} ({})", found.underlying, entries.join(", "))
}

#[cfg(test)]
mod tests;
