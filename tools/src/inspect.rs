//! `alcedo inspect`: prints the manifest and the declarations of a plugin's library, or the declarations of a package of scripts. The
//! library is read as a file. The library is not mapped and none of its code runs, so inspecting an untrusted file is safe.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use alcedo_base::figures::counted;
use alcedo_runtime::{
    Declared, DeclaredClass, DeclaredDelegate, DeclaredEnum, DeclaredFunction, DeclaredInterface, DeclaredProperty,
    DeclaredStruct, ManifestInfo, VersionReq,
};
use anyhow::anyhow;
use serde::Serialize;

use crate::args::{HostArgs, PATIENCE};
use crate::check::{check, package_with};
use crate::error::{Error, file, one_line};
use crate::host_program::check_options_of_library;
use crate::screen::{print_progress, print_result};

/// Prints the manifest and the declarations of a plugin's library, without running its code.
///
/// Lists types with members, functions called by name, and imports; compiler, ABI, build, seal and declared permissions. Exits with 1 and
/// the reason if a host of this version cannot load the file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The library: `target/debug/libmy_plugin.so`; or the folder of a package of scripts.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Modules that a package of scripts uses: other packages, folders of plugin crates, built libraries; may be repeated.
    #[arg(long, value_name = "PATH")]
    with: Vec<PathBuf>,
    /// The host whose types a package of scripts uses, instead of the sample engine: a package, a folder, or a program.
    #[arg(long, value_name = "PACKAGE|PATH")]
    host: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Prints the manifest and the declarations of a library, or the declarations of a package of scripts.
///
/// # Errors
/// Returns the reason if a host of this version cannot load the file.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    let path = std::path::absolute(&args.file).map_err(file("find", &args.file))?;
    if path.is_dir() {
        let path = path.canonicalize().map_err(file("find", &path))?;
        return run_scripts(&path, args);
    }
    let (manifest, declared) =
        ManifestInfo::peek_declared(&path).map_err(|error| anyhow!(one_line(&error.to_string())))?;
    check_options_of_library(&path, &[("--with", !args.with.is_empty()), ("--host", args.host.is_some())])?;
    let inspected = Inspected::of(&path, &manifest, &declared);
    let text = if args.json {
        // The value contains only strings and numbers, so its serialization cannot fail.
        serde_json::to_string_pretty(&inspected).unwrap_or_default()
    } else {
        inspected.to_string()
    };
    print_result(text.trim_end());
    Ok(ExitCode::SUCCESS)
}

/// Prints the declarations of a package of scripts. First checks the package against the types of the sample engine or a host, and of
/// plugins.
fn run_scripts(path: &Path, args: &Args) -> Result<ExitCode, Error> {
    let host = HostArgs { host: args.host.clone(), host_args: Vec::new() };
    let checked = check(package_with(path, &args.with)?, &host, PATIENCE)?;
    let (mut text, mut code) = (String::new(), ExitCode::SUCCESS);
    for found in checked.iter().filter(|found| found.folder == path || found.declared.is_err()) {
        match &found.declared {
            Ok(declared) if args.json => {
                let path = path.display().to_string();
                let inspected = InspectedScripts {
                    path,
                    name: &found.package,
                    version: found.version.to_string(),
                    dependencies: needed(&found.dependencies),
                    files: found.files,
                    declared,
                };
                text.push_str(&serde_json::to_string_pretty(&inspected).unwrap_or_default());
            }
            Ok(declared) => {
                let first = format!("{} {}   {}", found.package, found.version, path.display());
                let _ = writeln!(text, "{}", one_line(&first));
                let _ = writeln!(text, "  scripts    {}", counted(found.files as u64, "file"));
                for (name, versions) in &found.dependencies {
                    let _ = writeln!(text, "  needs      {} {versions}", one_line(name));
                }
                let _ = write!(text, "{}", Types(declared));
            }
            Err(wrong) => {
                print_progress(&format!("alcedo: {}", wrong.trim_end()));
                code = ExitCode::FAILURE;
            }
        }
    }
    if !text.is_empty() {
        print_result(text.trim_end());
    }
    Ok(code)
}

fn needed(dependencies: &[(String, VersionReq)]) -> Vec<Needed<'_>> {
    dependencies.iter().map(|(name, versions)| Needed { name, versions: versions.to_string() }).collect()
}

/// JSON form of a package of scripts. The names of its fields are stable. Later versions may add fields.
#[derive(Serialize)]
struct InspectedScripts<'a> {
    path: String,
    name: &'a str,
    version: String,
    dependencies: Vec<Needed<'a>>,
    files: usize,
    declared: &'a Declared,
}

/// Manifest and declarations of a library, as strings and numbers. This value is printed as text or as JSON. The names of its fields are
/// stable. Later versions may add fields.
#[derive(Serialize)]
pub(crate) struct Inspected<'a> {
    pub(crate) path: String,
    pub(crate) name: &'a str,
    pub(crate) version: String,
    pub(crate) build_id: String,
    pub(crate) compiler: &'a str,
    pub(crate) abi: u32,
    pub(crate) api_oldest: u32,
    pub(crate) api_newest: u32,
    pub(crate) dependencies: Vec<Needed<'a>>,
    pub(crate) sealed: bool,
    pub(crate) will_park: Option<&'a str>,
    /// Declared permissions. Absent if the module declares no permissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) permissions: Option<Vec<&'static str>>,
    pub(crate) declared: &'a Declared,
}

#[derive(Serialize)]
pub(crate) struct Needed<'a> {
    pub(crate) name: &'a str,
    pub(crate) versions: String,
}

impl<'a> Inspected<'a> {
    pub(crate) fn of(path: &Path, manifest: &'a ManifestInfo, declared: &'a Declared) -> Self {
        Self {
            path: path.display().to_string(),
            name: &manifest.name,
            version: manifest.version.to_string(),
            build_id: format!("{:032x}", manifest.build_id),
            compiler: &manifest.compiler,
            abi: manifest.abi,
            api_oldest: *manifest.api.start(),
            api_newest: *manifest.api.end(),
            dependencies: needed(&manifest.dependencies),
            sealed: manifest.sealed,
            will_park: manifest.will_park.as_deref(),
            // Names the permissions as `module!` spells them.
            permissions: manifest.permissions.as_deref().map(|all| all.iter().map(|one| one.name()).collect()),
            declared,
        }
    }
}

impl Display for Inspected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        line(f, format_args!("{} {}   {}", self.name, self.version, self.path))?;
        line(f, format_args!("  build      {}", self.build_id))?;
        line(f, format_args!("  compiler   {}", self.compiler))?;
        line(f, format_args!("  ABI        {}, host API {} to {}", self.abi, self.api_oldest, self.api_newest))?;
        line(f, format_args!("  seal       {}", if self.sealed { "sealed" } else { "none" }))?;
        match self.will_park {
            None => line(f, format_args!("  unloading  its image can be unmapped"))?,
            Some(reason) => line(f, format_args!("  unloading  its image stays: {reason}"))?,
        }
        if let Some(names) = &self.permissions {
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            line(f, format_args!("  may use    {names}"))?;
        }
        for Needed { name, versions } in &self.dependencies {
            line(f, format_args!("  needs      {name} {versions}"))?;
        }
        Types(self.declared).fmt(f)
    }
}

/// Writes one line. Escapes line breaks and control characters in names, because a host checks names only when it loads the file.
fn line(f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>) -> fmt::Result {
    writeln!(f, "{}", one_line(&text.to_string()))
}

/// Writes an empty line, and then a line.
fn heading(f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>) -> fmt::Result {
    writeln!(f)?;
    line(f, text)
}

/// Text form of the declarations.
struct Types<'a>(&'a Declared);

impl Display for Types<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(declared) = self;
        declared.classes.iter().try_for_each(|found| class(f, found))?;
        declared.enums.iter().try_for_each(|found| enumeration(f, found))?;
        declared.delegates.iter().try_for_each(|found| delegate(f, found))?;
        declared.structs.iter().try_for_each(|found| structure(f, found))?;
        declared.interfaces.iter().try_for_each(|found| interface(f, found))?;
        list(
            f,
            "functions by name",
            declared.exports.iter().map(|found| format!("{}   {}", found.name, found.signature)),
        )?;
        list(f, "uses", declared.imports.iter().map(|found| format!("{}   {}", found.path, import_kind(&found.kind))))
    }
}

/// Returns the kind of an import as it is printed.
fn import_kind(kind: &str) -> &str {
    if kind == "function_final" { "overridden function" } else { kind }
}

fn class(f: &mut fmt::Formatter<'_>, found: &DeclaredClass) -> fmt::Result {
    heading(f, format_args!("class {} : {}{}", found.path, found.base, behind(&found.flags)))?;
    doc(f, "  ", &found.doc)?;
    for interface in &found.implements {
        line(f, format_args!("  implements {interface}"))?;
    }
    found.properties.iter().try_for_each(|property| member(f, property))?;
    found.functions.iter().try_for_each(|found| function(f, found))
}

fn enumeration(f: &mut fmt::Formatter<'_>, found: &DeclaredEnum) -> fmt::Result {
    let flags = if found.is_flags { "   flags" } else { "" };
    heading(f, format_args!("enum {} : {}{flags}", found.path, found.underlying))?;
    doc(f, "  ", &found.doc)?;
    found.entries.iter().try_for_each(|entry| {
        let hidden = if entry.is_hidden { "   hidden" } else { "" };
        line(f, format_args!("  {} = {}{hidden}", entry.name, entry.number))?;
        doc(f, "    ", &entry.doc)
    })
}

fn delegate(f: &mut fmt::Formatter<'_>, found: &DeclaredDelegate) -> fmt::Result {
    let params: Vec<_> = found.params.iter().map(typed).collect();
    let result = found.result.as_ref().map(|result| format!(" -> {result}")).unwrap_or_default();
    heading(f, format_args!("delegate {}({}){result}   {}", found.path, params.join(", "), found.kind))?;
    doc(f, "  ", &found.doc)
}

fn structure(f: &mut fmt::Formatter<'_>, found: &DeclaredStruct) -> fmt::Result {
    let base = if found.base.is_empty() { String::new() } else { format!(" : {}", found.base) };
    heading(f, format_args!("struct {}{base}   {} bytes, alignment {}", found.path, found.size, found.align))?;
    doc(f, "  ", &found.doc)?;
    found.fields.iter().try_for_each(|field| member(f, field))
}

fn interface(f: &mut fmt::Formatter<'_>, found: &DeclaredInterface) -> fmt::Result {
    heading(f, format_args!("interface {}", found.path))?;
    doc(f, "  ", &found.doc)?;
    found.functions.iter().try_for_each(|found| function(f, found))
}

fn member(f: &mut fmt::Formatter<'_>, found: &DeclaredProperty) -> fmt::Result {
    doc(f, "  ", &found.doc)?;
    let mut flags = found.flags.clone();
    flags.extend(meta(&found.meta));
    line(f, format_args!("  {}{}", typed(found), behind(&flags)))
}

fn function(f: &mut fmt::Formatter<'_>, found: &DeclaredFunction) -> fmt::Result {
    doc(f, "  ", &found.doc)?;
    let params: Vec<_> = found.params.iter().map(typed).collect();
    let mut flags = found.flags.clone();
    let may_fail = flags.iter().position(|flag| flag == "may_fail").map(|at| flags.remove(at)).is_some();
    let result = match (found.result.as_deref(), may_fail) {
        (None, false) => String::new(),
        (Some(result), false) => format!(" -> {result}"),
        (result, true) => format!(" -> Result<{}>", result.unwrap_or("()")),
    };
    if !found.overrides.is_empty() {
        flags.retain(|flag| flag != "overrides");
        flags.push(format!("overrides {}", found.overrides));
    }
    flags.extend(meta(&found.meta));
    line(f, format_args!("  fn {}({}){result}{}", found.name, params.join(", "), behind(&flags)))
}

fn typed(found: &DeclaredProperty) -> String {
    let out = if found.flags.iter().any(|flag| flag == "out") { "out " } else { "" };
    let mut text = format!("{out}{}: {}", found.name, found.ty);
    if !found.default.is_empty() {
        let _ = write!(text, " = {}", found.default);
    }
    text
}

/// Formats the metadata of a member, for example as `meta(category = "Motion")`.
fn meta(found: &BTreeMap<String, String>) -> Option<String> {
    let entries: Vec<_> = found.iter().map(|(key, value)| format!("{key} = {value:?}")).collect();
    (!entries.is_empty()).then(|| format!("meta({})", entries.join(", ")))
}

fn behind(flags: &[String]) -> String {
    if flags.is_empty() { String::new() } else { format!("   {}", flags.join(", ")) }
}

fn doc(f: &mut fmt::Formatter<'_>, indent: &str, doc: &str) -> fmt::Result {
    doc.lines().try_for_each(|part| line(f, format_args!("{indent}/// {}", part.trim())))
}

fn list(f: &mut fmt::Formatter<'_>, title: &str, lines: impl Iterator<Item = String>) -> fmt::Result {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        heading(f, format_args!("{title}"))?;
    }
    lines.try_for_each(|item| line(f, format_args!("  {item}")))
}

#[cfg(test)]
mod tests {
    use super::{Declared, Inspected, Needed, Types};

    #[test]
    fn out_parameters_are_marked() {
        fn parameter(name: &str, flags: &[&str]) -> serde_json::Value {
            serde_json::json!({ "name": name, "type": "i32", "flags": flags, "default": "", "meta": {}, "doc": "" })
        }
        let function = serde_json::json!({
            "name": "split", "params": [parameter("watts", &["out"]), parameter("among", &[])], "result": null, "flags": [],
            "overrides": "", "meta": {}, "doc": "",
        });
        let declared: Declared = serde_json::from_value(serde_json::json!({
            "classes": [{
                "path": "/Script/Game.Bulb", "base": "/Script/Core.Object", "flags": [], "properties": [],
                "functions": [function], "implements": [], "doc": "",
            }],
            "structs": [], "interfaces": [], "imports": [], "exports": [],
        }))
        .unwrap();
        assert!(Types(&declared).to_string().contains("  fn split(out watts: i32, among: i32)\n"));
    }

    #[test]
    fn names_in_a_library_cannot_control_a_terminal_or_forge_a_line() {
        let property = serde_json::json!({
            "name": "p\nforged", "type": "f64\nforged", "flags": ["f\nforged"], "default": "1\nforged",
            "meta": { "k\nforged": "v\nforged" }, "doc": "One line.\nforged",
        });
        let declared: Declared = serde_json::from_value(serde_json::json!({
            "classes": [{
                "path": "/Script/Game.A\nforged", "base": "B\nforged", "flags": [], "properties": [property],
                "functions": [], "implements": ["C\nforged"], "doc": "",
            }],
            "structs": [], "interfaces": [],
            "imports": [{ "path": "D\nforged", "kind": "class\nforged" }],
            "exports": [{ "name": "ex:/a\nforged\u{1b}[2J", "signature": "-> \u{9b}2J" }],
        }))
        .unwrap();
        let inspected = Inspected {
            path: "/a.so".into(),
            name: "a\nforged",
            version: "1.0.0".into(),
            build_id: String::new(),
            compiler: "rustc \u{7}\nforged",
            abi: 1,
            api_oldest: 1,
            api_newest: 1,
            dependencies: vec![Needed { name: "b\nforged", versions: "^1".into() }],
            sealed: false,
            will_park: Some("\r\nforged"),
            permissions: None,
            declared: &declared,
        };
        let text = inspected.to_string();
        assert!(!text.contains(|letter: char| letter.is_control() && letter != '\n'), "{text:?}");
        assert!(!text.lines().any(|line| line.starts_with("forged")), "{text}");
        assert!(text.contains("\n  ex:/a\\nforged\\u{1b}[2J   -> "), "{text}");
    }
}
