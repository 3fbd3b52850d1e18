//! `alcedo new`: creates a plugin, a host, or a workspace of both. The project builds, runs under `alcedo dev` and passes its own tests.
//! `name.rs` checks names. `templates.rs` contains the files. `project.rs` finds the enclosing workspace and the sources of Alcedo.
//! `host.rs` reads the host for which a plugin is added.

mod host;
mod name;
mod project;
mod templates;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::ValueEnum as _;
use clap::builder::PossibleValue;

use crate::described::{described, read_text};
use crate::error::{Error, file};
use crate::input::Stop;
use crate::install::{installing, is_in_path};
use crate::screen::{print_progress, print_result};
use host::{Event, Host};
use name::Name;
use project::{Around, Sources};
pub(crate) use project::{CRATES, VERSION, enclosing_workspace, relative};
use templates::{ADDED, ALONE, PLUGIN, Placeholders, WORKSPACE, filled};

/// Kind of project to create.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// A plugin: in a workspace of `alcedo new`, or standalone, for the sample engine.
    Plugin,
    /// A host that declares a class, and the glue crate that declares the class for plugins.
    Host,
    /// A host, its glue, and a first plugin.
    Workspace,
}

/// Writes a plugin, a host, or a workspace of both that builds, runs under `alcedo dev`, and passes its own tests.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Kind of project.
    kind: Kind,
    /// Name of its folder, packages and modules.
    #[arg(value_name = "NAME", allow_hyphen_values = true)]
    name: String,
    /// Checkout of Alcedo that the project uses. Default: ALCEDO_CHECKOUT, or the sources from which this program was built.
    #[arg(long, value_name = "DIR")]
    alcedo: Option<PathBuf>,
    /// Git repository of Alcedo that the project uses, instead of a checkout on this machine.
    #[arg(long, value_name = "URL", conflicts_with = "alcedo")]
    git: Option<String>,
}

/// Writes a new project into the working directory, and prints the next commands.
///
/// # Errors
/// Fails if the name is invalid, or if the project exists already or cannot be written. No file remains after an error.
pub(crate) fn run(args: Args) -> Result<ExitCode, Error> {
    let Args { kind, name, alcedo, git } = args;
    let value = kind.to_possible_value();
    let name = Name::parse(value.as_ref().map_or("", PossibleValue::get_name), &name)?;
    let sources = Sources::find(alcedo, git)?;
    // Delays a request to quit until the project is complete or removed.
    let _stop = Stop::new()?;
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let here = here.map_err(file("find", Path::new(".")))?;
    let around = if kind == Kind::Plugin { Around::find(&here)? } else { None };
    match around {
        Some(around) => add_plugin(&name, &around, &sources, &here)?,
        None => make(kind, &name, &sources, &here)?,
    }
    if !is_in_path("alcedo") {
        print_result(&format!("  shells find no `alcedo`: {}", installing(&[])));
    }
    Ok(ExitCode::SUCCESS)
}

/// Creates a standalone project.
fn make(kind: Kind, name: &Name, sources: &Sources, here: &Path) -> Result<(), Error> {
    let made = here.join(name.text());
    let lock = sources.lock_file()?;
    if let (Kind::Plugin, Some(lock)) = (kind, &lock) {
        name.differs_from_locked(lock, &[])?;
    }
    let mut placeholders = placeholders(name);
    placeholders.extend(sources.placeholders(&made)?);
    let member = |dir: &str| sources.source(dir, &made.join("glue"));
    placeholders.insert("member/plugin-api", member("plugin-api")?);
    placeholders.insert("member/runtime/alcedo", member("runtime/alcedo")?);
    placeholders.insert("rust_version", RUST.to_owned());
    let first = name.with("patrol");
    let first_line = format!(" `{}` is the first.", first.text());
    placeholders.insert("first", if kind == Kind::Workspace { first_line } else { String::new() });
    placeholders.insert("host", name.with("host").module());
    let mut files = match kind {
        Kind::Plugin => filled(ALONE, "", &placeholders),
        Kind::Host | Kind::Workspace => filled(WORKSPACE, "", &placeholders),
    };
    if kind == Kind::Workspace {
        let folder = format!("plugins/{}", first.text());
        let workspace = files.first().and_then(|(_, text)| text.parse().ok()).unwrap_or_default();
        let (host, glue) = (name.with("host").text().to_owned(), name.with("glue").text().to_owned());
        let members = Members {
            host: (host, made.join("host")),
            glue: (glue, made.join("glue")),
            base: "Robot",
            has_tests: true,
            workspace: &workspace,
        };
        files.extend(filled(PLUGIN, &folder, &plugin_placeholders(&first, &members, sources, &made.join(&folder))?));
    }
    // Copies the lock file of Alcedo, so that the first build uses tested versions of Alcedo's dependencies.
    files.extend(lock.map(|lock| (PathBuf::from("Cargo.lock"), lock)));
    let outer = enclosing_workspace(here);
    let is_valid = |outer: &Path| described(&outer.join("Cargo.toml")).is_ok();
    project::write(&made, here, &files)?;
    if let Some(outer) = outer.as_deref().filter(|outer| !is_valid(outer)) {
        fs::remove_dir_all(&made).map_err(file("remove", &made))?;
        if is_valid(outer) {
            bail!(
                "`{}` would be a member of the workspace {}, and cargo rejects a workspace inside another: go to a folder outside of it, \
                 or add \"{}\" to `exclude` in its `[workspace]`",
                name.text(),
                outer.display(),
                relative(outer, &made).display()
            );
        }
        // The workspace was invalid before, so the new project is not the reason.
        project::write(&made, here, &files)?;
    }
    if let Some(outer) = outer {
        print_progress(&format!(
            "note: {} is a workspace already: `{}` is one of its own inside of it, and cargo builds and tests each separately",
            outer.display(),
            name.text()
        ));
    }
    let next = match kind {
        Kind::Host => "cargo test && alcedo new plugin NAME && alcedo dev",
        Kind::Plugin | Kind::Workspace => "alcedo dev",
    };
    print_result(&format!("made {}", made.display()));
    print_result(&format!("  cd {} && {next}", name.text()));
    if kind != Kind::Workspace {
        print_result("  `alcedo new workspace` makes a host of your own with a first plugin");
    }
    Ok(())
}

/// Adds a plugin to a workspace that has a host. The plugin extends a class of this host.
fn add_plugin(name: &Name, around: &Around, sources: &Sources, here: &Path) -> Result<(), Error> {
    name.differs_from(&around.packages)?;
    // The first build writes the lock file of the workspace. Until then, checks the dependencies of Alcedo.
    let lock = read_text(&around.root.join("Cargo.lock")).ok();
    let lock = lock.map_or_else(|| sources.lock_file(), |lock| Ok(Some(lock)))?;
    name.differs_from_locked(&lock.unwrap_or_default(), &around.packages)?;
    let made = around.root.join("plugins").join(name.text());
    let workspace = around.manifest_with_member(&made)?;
    let host = Host::read(&around.glue.1, &around.host.1);
    let base = host.base.as_deref().unwrap_or("Object");
    let members = Members {
        host: around.host.clone(),
        glue: around.glue.clone(),
        base,
        has_tests: host.has_builder,
        workspace: &workspace,
    };
    let mut placeholders = plugin_placeholders(name, &members, sources, &made)?;
    let imports: Vec<_> = host.imports().into_iter().collect();
    let glue = around.glue.0.replace('-', "_");
    placeholders.insert(
        "imports",
        match imports[..] {
            [] => String::new(),
            [one] => format!("use {glue}::{one};\n"),
            ref several => format!("use {glue}::{{{}}};\n", several.join(", ")),
        },
    );
    placeholders.insert("class", host.free_class(&name.camel()));
    placeholders.insert("plugins", host.package.clone());
    placeholders.insert("events", host.events.iter().map(Event::source).collect());
    for (placeholder, member) in [("factor", "factor"), ("count", "call_count"), ("recent", "recent_count")] {
        placeholders.insert(placeholder, host.free(member));
    }
    let call = host.call().map(|call| format!("    world.{call};\n"));
    placeholders.insert("call", call.unwrap_or_default());
    let mut files = filled(ADDED, "", &placeholders);
    files.retain(|(path, _)| host.has_builder || !path.starts_with("tests"));
    project::write(&made, &around.root, &files)?;
    let relative_path = made.strip_prefix(here).unwrap_or(&made);
    let made = format!("made {}, a plugin for {}: it extends {base}", relative_path.display(), around.host.0);
    print_result(&made);
    if host.has_old_glue {
        let host = &around.host.0;
        print_result(&format!(
            "  the glue has no class that {host} lets plugins extend: write it again with `alcedo glue --host {host} -o FILE`"
        ));
    }
    let dev = if around.names_host { String::new() } else { format!(" --host {}", around.host.0) };
    let next = format!("  cargo test -p {}, or start `alcedo dev{dev}` and save in it", name.text());
    print_result(&next);
    Ok(())
}

/// Minimum Rust version of new projects.
const RUST: &str = env!("CARGO_PKG_RUST_VERSION");

/// Packages of a workspace on which a new plugin in this workspace depends.
struct Members<'a> {
    host: (String, PathBuf),
    glue: (String, PathBuf),
    base: &'a str,
    /// Set if the plugin has tests that load the plugin into the host.
    has_tests: bool,
    workspace: &'a toml::Table,
}

fn placeholders(name: &Name) -> Placeholders {
    Placeholders::from([("name", name.text().to_owned()), ("module", name.module()), ("camel", name.camel())])
}

/// Returns the values of placeholders for a plugin in the folder `made`. If the workspace defines a key of the manifest, the plugin's
/// manifest inherits this key.
fn plugin_placeholders(
    name: &Name,
    members: &Members<'_>,
    sources: &Sources,
    made: &Path,
) -> Result<Placeholders, Error> {
    let has = |table: &str, key: &str| {
        members.workspace.get("workspace").and_then(|root| root.get(table)?.get(key)).is_some()
    };
    let rust = format!("{RUST:?}");
    let package = [("version", "\"0.1.0\""), ("edition", "\"2024\""), ("rust-version", &rust), ("publish", "false")];
    let package = package.map(|(key, value)| match has("package", key) {
        true => format!("{key}.workspace = true"),
        false => format!("{key} = {value}"),
    });
    let dependency = |name: &str, source: Result<String, Error>| match has("dependencies", name) {
        true => Ok(format!("{name}.workspace = true")),
        false => source.map(|source| format!("{name} = {source}")),
    };
    let facade = match has("dependencies", "alcedo") {
        true => "workspace = true".to_owned(),
        false => sources.source("runtime/alcedo", made)?,
    };
    let member = |(name, dir): &(String, PathBuf)| {
        let path = relative(made, dir).display().to_string();
        dependency(name, Ok(format!("{{ path = {} }}", toml::Value::from(path))))
    };
    let plugin_api = sources.source("plugin-api", made).map(|source| format!("{{ {source} }}"));
    let dependencies = [
        member(&members.glue)?,
        dependency("alcedo-plugin-api", plugin_api)?,
        dependency("tracing", Ok("\"0.1\"".into()))?,
    ];
    let tests = match members.has_tests {
        false => String::new(),
        true => format!(
            "\n\n# For the tests, which load the library as the host does. The plugin itself never links the runtime.\n\
             [dev-dependencies]\n{}\nalcedo = {{ {facade}, features = [\"testing\"] }}",
            member(&members.host)?
        ),
    };
    let mut placeholders = placeholders(name);
    placeholders.insert("package", package.join("\n"));
    placeholders.insert("dependencies", dependencies.join("\n"));
    placeholders.insert("tests", tests);
    placeholders.insert("base", members.base.to_owned());
    placeholders.insert("host-package", members.host.0.clone());
    placeholders.insert("host", members.host.0.replace('-', "_"));
    placeholders.insert("glue", members.glue.0.replace('-', "_"));
    Ok(placeholders)
}

#[cfg(test)]
mod tests {
    use super::templates::{ADDED, ALONE, PLUGIN, WORKSPACE};

    #[test]
    fn no_template_has_an_undefined_placeholder() {
        let known = [
            "name",
            "module",
            "camel",
            "example-plugins/engine-glue",
            "plugin-api",
            "member/plugin-api",
            "member/runtime/alcedo",
            "runtime/alcedo",
            "install",
            "sources",
            "rust_version",
            "first",
            "host",
            "glue",
            "host-package",
            "package",
            "dependencies",
            "tests",
            "base",
            "imports",
            "class",
            "plugins",
            "events",
            "factor",
            "count",
            "recent",
            "call",
        ];
        for (path, text) in [WORKSPACE, PLUGIN, ALONE, ADDED].into_iter().flatten() {
            let placeholders = text.split("{{").skip(1).filter_map(|rest| Some(rest.split_once("}}")?.0));
            placeholders.for_each(|name| assert!(known.contains(&name), "{path}: {name}"));
        }
    }
}
