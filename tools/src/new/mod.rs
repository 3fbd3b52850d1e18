//! `alcedo new`: a plugin, a host, or a workspace of both that builds, runs under `alcedo dev` and passes its own tests.
//! `name.rs` says what it may be called, `templates.rs` what is written, `place.rs` where, and with which Alcedo.

mod error;
mod name;
mod place;
mod templates;

use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) use error::NewError;
use name::Name;
use place::{Around, Checkout};
use templates::{ALONE, PLUGIN, WORKSPACE, Words, filled};

/// What can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// A plugin: in a workspace that one of the others has made, else by itself, for the sample engine.
    Plugin,
    /// A host with a class of its own, and the glue crate by which plugins know it.
    Host,
    /// A host, its glue, and a first plugin.
    Workspace,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Plugin => "plugin",
            Self::Host => "host",
            Self::Workspace => "workspace",
        }
    }
}

/// Writes something new into the working folder, and says what to do with it.
///
/// # Errors
/// When it cannot be called that, is there already, or cannot be written. Nothing is written then.
pub(crate) fn run(kind: Kind, name: &str, checkout: Option<PathBuf>) -> Result<ExitCode, NewError> {
    let name = Name::parse(kind.word(), name)?;
    let checkout = Checkout::find(checkout)?;
    let here = std::env::current_dir().map_err(NewError::file("find", Path::new(".")))?;
    let around = if kind == Kind::Plugin { Around::find(&here)? } else { None };
    match around {
        Some(around) => add_plugin(&name, &around, &here),
        None => make(kind, &name, &checkout, &here),
    }
}

/// Something by itself.
fn make(kind: Kind, name: &Name, checkout: &Checkout, here: &Path) -> Result<ExitCode, NewError> {
    let mut words = words(name);
    words.extend(checkout.words()?);
    words.insert("rust_version", env!("CARGO_PKG_RUST_VERSION").to_owned());
    let first = name.with("patrol");
    let told = format!(" `{}` is the first.", first.text());
    words.insert("first", if kind == Kind::Workspace { told } else { String::new() });
    words.insert("host", name.with("host").module());
    let mut files = match kind {
        Kind::Plugin => filled(ALONE, "", &words),
        Kind::Host | Kind::Workspace => filled(WORKSPACE, "", &words),
    };
    if kind == Kind::Workspace {
        let folder = format!("plugins/{}", first.text());
        files.extend(filled(
            PLUGIN,
            &folder,
            &plugin_words(&first, name.with("host").text(), name.with("glue").text()),
        ));
    }
    // The versions that Alcedo itself is tested with, so that the first build needs nothing that is not there.
    files.extend(checkout.lock_file()?.map(|lock| (PathBuf::from("Cargo.lock"), lock)));
    let made = here.join(name.text());
    place::write(&made, here, &files)?;
    let next = match kind {
        Kind::Host => "cargo test && alcedo new plugin NAME && alcedo dev",
        Kind::Plugin | Kind::Workspace => "alcedo dev",
    };
    tell(&format!("made {}", made.display()));
    tell(&format!("  cd {} && {next}", name.text()));
    if kind != Kind::Workspace {
        tell("  `alcedo new workspace` makes a host of your own with a first plugin");
    }
    Ok(ExitCode::SUCCESS)
}

/// A plugin in a workspace that has a host.
fn add_plugin(name: &Name, around: &Around, here: &Path) -> Result<ExitCode, NewError> {
    name.differs_from(&around.packages)?;
    let made = around.root.join("plugins").join(name.text());
    around.takes(&made)?;
    let files = filled(PLUGIN, "", &plugin_words(name, &around.host, &around.glue));
    place::write(&made, &around.root, &files)?;
    let shown = made.strip_prefix(here).unwrap_or(&made);
    tell(&format!("made {}, a plugin for {}", shown.display(), around.host));
    tell(&format!("  cargo test -p {}, or save in it while `alcedo dev` runs anew", name.text()));
    Ok(ExitCode::SUCCESS)
}

fn words(name: &Name) -> Words {
    Words::from([("name", name.text().to_owned()), ("module", name.module()), ("camel", name.camel())])
}

fn plugin_words(name: &Name, host: &str, glue: &str) -> Words {
    let mut words = words(name);
    words.insert("host-package", host.to_owned());
    words.insert("host", host.replace('-', "_"));
    words.insert("glue-package", glue.to_owned());
    words.insert("glue", glue.replace('-', "_"));
    words
}

fn tell(line: &str) {
    // The reader has closed the output: there is nothing to report to.
    let _ = writeln!(stdout(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::templates::{ALONE, PLUGIN, WORKSPACE, filled};
    use super::{Name, plugin_words, words};

    #[test]
    fn no_template_has_a_word_that_nothing_stands_for() {
        let name = Name::parse("plugin", "magic-cube").unwrap();
        let mut all = plugin_words(&name, "x-host", "x-glue");
        all.extend(words(&name));
        for word in [
            "checkout",
            "example-plugins/engine-glue",
            "first",
            "plugin-api",
            "runtime",
            "runtime/engine",
            "rust_version",
            "tools/build",
        ] {
            all.insert(word, "VALUE".into());
        }
        for (path, text) in [WORKSPACE, PLUGIN, ALONE].into_iter().flat_map(|templates| filled(templates, "", &all)) {
            assert!(!text.contains("{{") && !text.contains("}}"), "{}:\n{text}", path.display());
        }
    }
}
