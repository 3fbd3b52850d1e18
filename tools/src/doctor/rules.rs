//! Rules for the manifests of a workspace with a host and plugins. The rules are pure functions of cargo's metadata and the manifest.
//! `mod.rs` queries cargo and prints the findings.

use std::collections::BTreeSet;
use std::path::Path;

use cargo_metadata::{DependencyKind, Metadata, Package, Target};
use toml::{Table, Value};

use super::Finding;
use crate::described::{OF_HOSTS, uses, uses_runtime};
use crate::install::checkout;
use crate::new::{CRATES, VERSION, relative};

const PLUGIN_API: &str = "alcedo-plugin-api";

/// Dependencies of a host that a debug build must optimize, with the optimization level.
const OPTIMIZED: [(&str, i64); 11] = [
    ("abi_stable", 2),
    ("alcedo-base", 1),
    ("alcedo-reflect", 1),
    ("alcedo-runtime", 1),
    ("alcedo-sys", 3),
    ("alcedo-zcall", 1),
    ("curve25519-dalek", 3),
    ("memchr", 3),
    ("object", 3),
    ("sha2", 3),
    ("xxhash-rust", 3),
];

/// Checks the packages of a workspace, and its root manifest. `source` reads a source file.
pub(super) fn findings(
    metadata: &Metadata,
    manifest: &Table,
    source: &dyn Fn(&Path) -> Option<String>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (mut hosts, mut plugins) = (0, 0);
    for package in &metadata.packages {
        if is_plugin(package) {
            plugins += 1;
            findings.extend(plugin(package, metadata));
        } else if uses_runtime(package) {
            hosts += 1;
            findings.push(host(package));
        } else if uses(package, PLUGIN_API) && package.targets.iter().any(Target::is_bin) {
            findings.push(Finding::wrong(
                format!(
                    "package `{}` is a program and uses {PLUGIN_API}, so it is neither a plugin nor a host",
                    package.name
                ),
                "[lib]\ncrate-type = [\"cdylib\"]",
            ));
        } else if let Some(file) = module_source(package, source) {
            plugins += 1;
            findings.push(Finding::wrong(
                format!(
                    "package `{}` has a `module!` in {file} and builds no `cdylib`: no library of this plugin is built",
                    package.name
                ),
                "[lib]\ncrate-type = [\"cdylib\"]",
            ));
        }
    }
    if plugins == 0 && hosts == 0 {
        findings.push(Finding::wrong(
            format!("no package here uses {PLUGIN_API} or alcedo: name the folder of a plugin or a host, or make one"),
            "alcedo new workspace my-game",
        ));
    }
    if plugins > 0 {
        findings.extend(panics(manifest));
    }
    if hosts > 0 {
        findings.push(optimized(manifest));
    }
    let root = metadata.workspace_root.join("Cargo.toml");
    let manifests: BTreeSet<_> =
        metadata.packages.iter().map(|package| &package.manifest_path).chain([&root]).collect();
    findings.extend(manifests.iter().flat_map(|path| manifest_paths(path.as_std_path(), source)));
    findings
}

/// Checks the path dependencies in a manifest, which cargo need not be able to read.
pub(super) fn manifest_paths(path: &Path, source: &dyn Fn(&Path) -> Option<String>) -> Vec<Finding> {
    let table: Table = source(path).and_then(|text| text.parse().ok()).unwrap_or_default();
    let dir = path.parent().unwrap_or(path);
    let name = table.get("package").and_then(|package| package.get("name")?.as_str());
    let of = format!("package `{}`", name.unwrap_or_default());
    let mut findings = paths("workspace", table.get("workspace"), dir, source);
    findings.extend(paths(&of, Some(&Value::Table(table)), dir, source));
    findings
}

/// Reports dependencies on crates of Alcedo by paths that contain no package. Also reports dependencies with absolute paths, because these
/// paths are valid only on this machine.
fn paths(of: &str, table: Option<&Value>, dir: &Path, source: &dyn Fn(&Path) -> Option<String>) -> Vec<Finding> {
    let (mut missing, mut absolute) = (String::new(), String::new());
    for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let section = if of == "workspace" { format!("[workspace.{kind}]\n") } else { format!("[{kind}]\n") };
        let (before, named) = ((missing.len(), absolute.len()), table.and_then(|table| table.get(kind)?.as_table()));
        for (name, dependency) in named.into_iter().flatten() {
            let Some(path) = dependency.get("path").and_then(Value::as_str).map(Path::new) else { continue };
            let is_missing = source(&dir.join(path).join("Cargo.toml")).is_none();
            let known = CRATES.iter().find(|known| is_missing && path.ends_with(known));
            let corrected = match known {
                Some(known) => of_alcedo(known, checkout(), dependency, dir),
                None => with_path(dependency, dir, &dir.join(path)),
            };
            let line = format!("{name} = {corrected}\n");
            match (known, path.is_absolute()) {
                (Some(_), _) => missing += &line,
                (None, true) => absolute += &line,
                (None, false) => {}
            }
        }
        if missing.len() > before.0 {
            missing.insert_str(before.0, &section);
        }
        if absolute.len() > before.1 {
            absolute.insert_str(before.1, &section);
        }
    }
    let mut findings = Vec::new();
    if !missing.is_empty() {
        let why = match checkout() {
            Some(_) => "the checkout of this `alcedo` is elsewhere",
            None => "this `alcedo` was installed from a registry",
        };
        let what = format!("has dependencies by paths without a package: {why}");
        findings.push(Finding::wrong(format!("the {of} {what}"), &missing));
    }
    if !absolute.is_empty() {
        let what =
            "has dependencies by absolute paths, which no other machine has: name them from its folder, or by `git`";
        findings.push(Finding::note(format!("the {of} {what}"), &absolute));
    }
    findings
}

/// Returns a corrected dependency on a crate of Alcedo: with the path of the crate in the checkout from which this program was built.
/// Without a checkout, returns the dependency with a version.
fn of_alcedo(krate: &str, checkout: Option<&Path>, dependency: &Value, dir: &Path) -> Value {
    if let Some(checkout) = checkout {
        return with_path(dependency, dir, &checkout.join(krate));
    }
    let mut corrected = dependency.clone();
    if let Some(table) = corrected.as_table_mut() {
        table.remove("path");
        table.insert("version".into(), Value::from(VERSION));
    }
    corrected
}

/// Returns the dependency with a path relative to the folder `dir`.
fn with_path(dependency: &Value, dir: &Path, path: &Path) -> Value {
    let mut corrected = dependency.clone();
    corrected["path"] = Value::from(relative(dir, path).display().to_string());
    corrected
}

/// Returns true if the package is a plugin. A plugin has a `cdylib` target, unlike a glue crate.
fn is_plugin(package: &Package) -> bool {
    uses(package, PLUGIN_API) && package.targets.iter().any(Target::is_cdylib)
}

/// Detects a plugin that builds no `cdylib`: a package whose library calls `module!` in its root source. Returns the file name of this
/// source. Returns `None` for other libraries, for example a glue crate.
fn module_source<'a>(package: &'a Package, source: &dyn Fn(&Path) -> Option<String>) -> Option<&'a str> {
    uses(package, PLUGIN_API).then_some(())?;
    let is_library = |target: &&Target| {
        target.is_lib() || target.is_rlib() || target.is_dylib() || target.is_staticlib() || target.is_proc_macro()
    };
    let library = package.targets.iter().find(is_library)?;
    has_module(&source(library.src_path.as_std_path())?).then(|| library.src_path.file_name()).flatten()
}

/// Returns true if a line of a source begins with a call of `module!`. Comments, strings and macros are not parsed.
fn has_module(source: &str) -> bool {
    let calls = |line: &str| {
        let name = line.trim_start().strip_prefix("alcedo_plugin_api::").unwrap_or(line.trim_start());
        let rest = name.strip_prefix("prelude::").unwrap_or(name).strip_prefix("module!");
        rest.is_some_and(|rest| rest.trim_start().starts_with(['{', '(', '[']) || rest.trim().is_empty())
    };
    source.lines().any(calls)
}

fn plugin(package: &Package, metadata: &Metadata) -> Vec<Finding> {
    let name = &package.name;
    let mut findings = Vec::new();
    for dependency in package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal) {
        let other = metadata.packages.iter().find(|other| {
            dependency.path.as_deref().is_some_and(|path| other.manifest_path.parent() == Some(path))
                && is_plugin(other)
        });
        if let Some(other) = other {
            findings.push(Finding::wrong(
                format!(
                    "plugin `{name}` depends on plugin `{}`: each has a heap of its own, and one library cannot have two \
                     (\"the `#[global_allocator]` in this crate conflicts\"). Put what both use into a library without \
                     `module!`; classes of the other one are used by what `alcedo glue` writes of its library",
                    other.name
                ),
                "",
            ));
        }
        if let Some(runtime) = OF_HOSTS.iter().find(|runtime| **runtime == dependency.name) {
            findings.push(Finding::wrong(
                format!(
                    "plugin `{name}` depends on {runtime}: it would link a second host, which has none of the objects. \
                     Only its tests may use it"
                ),
                &format!("[dev-dependencies]\n{runtime}.workspace = true"),
            ));
        }
    }
    let is_library = package.targets.iter().any(|target| target.is_cdylib() && target.crate_types.len() > 1);
    if findings.is_empty() && is_library {
        let what = format!(
            "plugin `{name}` is a library for other crates as well: its tests may link it, other plugins may not"
        );
        findings.push(Finding::note(what, ""));
    } else if findings.is_empty() {
        findings.push(Finding::fine(format!("plugin `{name}`")));
    }
    findings
}

fn host(package: &Package) -> Finding {
    let name = &package.name;
    match uses(package, PLUGIN_API) {
        true => Finding::wrong(
            format!(
                "host `{name}` depends on {PLUGIN_API}, which is for plugins: a host declares its classes with `native::NativeClass`. \
                 Take the dependency out"
            ),
            "",
        ),
        false => Finding::fine(format!("host `{name}`")),
    }
}

/// Reports the setting `panic = "abort"`, because every host rejects modules that were built with this setting.
fn panics(manifest: &Table) -> Vec<Finding> {
    let profiles = manifest.get("profile").and_then(Value::as_table).into_iter().flatten();
    let aborting = profiles.filter(|(_, profile)| profile.get("panic").and_then(Value::as_str) == Some("abort"));
    aborting
        .map(|(name, _)| {
            Finding::wrong(
                format!(
                    "`panic = \"abort\"` in `[profile.{name}]`: a host refuses plugins built so, since a panic in them would \
                     end it. Take the line out"
                ),
                "",
            )
        })
        .collect()
}

/// Checks that debug builds of a host optimize the crates in which reloads spend most of their time.
fn optimized(manifest: &Table) -> Finding {
    let profile = manifest.get("profile").and_then(|profiles| profiles.get("dev"));
    let level = |of: Option<&Value>| of.and_then(|of| of.get("opt-level")).map(is_optimizing);
    let packages = profile.and_then(|profile| profile.get("package"));
    let all = level(packages.and_then(|packages| packages.get("*"))).or(level(profile)).unwrap_or(false);
    let missing: Vec<_> = OPTIMIZED
        .into_iter()
        .filter(|(name, _)| !level(packages.and_then(|packages| packages.get(*name))).unwrap_or(all))
        .collect();
    if missing.is_empty() {
        return Finding::fine("debug builds optimize the runtime".into());
    }
    let lines: Vec<_> = missing.iter().map(|(name, level)| format!("{name} = {{ opt-level = {level} }}")).collect();
    let names: Vec<_> = missing.iter().map(|(name, _)| *name).collect();
    Finding::wrong(
        format!("debug builds do not optimize {}: each reload takes several times as long", names.join(", ")),
        &format!("[profile.dev.package]\n{}", lines.join("\n")),
    )
}

fn is_optimizing(level: &Value) -> bool {
    match level {
        Value::Integer(level) => *level > 0,
        Value::String(level) => level != "0",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use toml::{Table, Value};

    use super::{VERSION, has_module, of_alcedo};

    #[test]
    fn a_dangling_path_becomes_a_path_into_the_checkout_or_a_version() {
        let manifest: Table =
            "alcedo = { path = \"../gone/runtime/alcedo\", features = [\"testing\"] }".parse().unwrap();
        let check = |checkout: Option<&str>, expected: [Option<&str>; 2]| {
            let corrected =
                of_alcedo("runtime/alcedo", checkout.map(Path::new), &manifest["alcedo"], Path::new("/home/a/game"));
            let found = ["path", "version"].map(|key| corrected.get(key).and_then(Value::as_str).map(str::to_owned));
            assert_eq!(found, expected.map(|value| value.map(str::to_owned)));
            assert!(corrected.get("features").is_some(), "{corrected}");
        };
        check(Some("/home/a/alcedo"), [Some("../alcedo/runtime/alcedo"), None]);
        check(None, [None, Some(VERSION)]);
    }

    #[test]
    fn a_plugin_is_recognized_by_a_line_of_its_source() {
        for source in [
            "module! { name: \"cube\" }",
            "use x;\n\n  module!{\n",
            "alcedo_plugin_api::module! { name: \"cube\" }",
            "alcedo_plugin_api::prelude::module!(name: \"cube\");",
            "module!\n{",
        ] {
            assert!(has_module(source), "{source}");
        }
        for source in ["// module! { name: \"cube\" }", "//! `module!` makes a plugin", "my_module! {}", "module!x", ""]
        {
            assert!(!has_module(source), "{source}");
        }
    }
}
