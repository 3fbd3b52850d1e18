//! Writes the Rust source by which plugins use the types of a host or of another module. The command `alcedo glue` is a shell
//! around this crate; a `build.rs` calls it by itself:
//!
//! ```no_run
//! # fn host_builder() -> alcedo_runtime::Builder { alcedo_runtime::Runtime::builder() }
//! // In the `build.rs` of the glue crate, with the host's library and `alcedo-glue` as build dependencies.
//! use std::path::PathBuf;
//!
//! use alcedo_glue::{Glue, Origin};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let declared = host_builder().declared()?;
//!     let source = Glue::default().for_plugins(&Origin::host("my-host"), &declared)?;
//!     alcedo_glue::write(&PathBuf::from(std::env::var("OUT_DIR")?).join("host.rs"), &source)?;
//!     Ok(())
//! }
//! ```
//!
//! The crate itself says `include!(concat!(env!("OUT_DIR"), "/host.rs"));` then. What is written depends on the declarations only:
//! the same ones give the same bytes, on any machine.

#![forbid(unsafe_code)]

mod error;
mod for_plugins;
mod text;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::str::FromStr;

use alcedo_runtime::Declared;

pub use error::GlueError;

/// Who declares the types.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// A host.
    Host {
        /// The name of its program.
        name: String,
    },
    /// A module.
    Module {
        /// Its name.
        name: String,
        /// Its version.
        version: String,
    },
}

impl Origin {
    /// A host, by the name of its program.
    #[must_use]
    pub fn host(name: &str) -> Self {
        Self::Host { name: name.to_owned() }
    }

    /// A module, by its name and version.
    #[must_use]
    pub fn module(name: &str, version: &str) -> Self {
        Self::Module { name: name.to_owned(), version: version.to_owned() }
    }

    /// `module` or `host`.
    pub(crate) fn sort(&self) -> &'static str {
        match self {
            Self::Host { .. } => "host",
            Self::Module { .. } => "module",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host { name } => write!(f, "the host `{}`", name.escape_debug()),
            Self::Module { name, version } => write!(f, "the module `{name}` {version}"),
        }
    }
}

/// How glue is written. The default writes all types, and knows no other glue.
#[derive(Clone, Debug, Default)]
pub struct Glue {
    elsewhere: BTreeMap<String, String>,
    only: BTreeSet<String>,
}

impl Glue {
    /// The types of another package are found there.
    #[must_use]
    pub fn package(mut self, elsewhere: Elsewhere) -> Self {
        self.elsewhere.insert(elsewhere.package, elsewhere.module);
        self
    }

    /// Only the types of this package are written, and of others that are named so. A source has one Rust type of a name, so
    /// packages that have types of the same name need a source each.
    #[must_use]
    pub fn only(mut self, package: &str) -> Self {
        self.only.insert(package.to_owned());
        self
    }

    /// The source by which plugins use the types that are declared.
    ///
    /// # Errors
    /// When they name types of a package whose glue is not named, types that this version has no words for, or two types of one
    /// name.
    pub fn for_plugins(&self, origin: &Origin, declared: &Declared) -> Result<String, GlueError> {
        for_plugins::source(self, origin, declared)
    }

    /// Whether the type of that path is to be written.
    fn writes(&self, path: &str) -> bool {
        self.only.is_empty() || self.only.contains(text::parts(path).0)
    }
}

/// Where the glue of another package is: `Engine=engine_glue`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The package, as paths name it.
    package: String,
    /// The path of the Rust module that has its types.
    module: String,
}

impl FromStr for Elsewhere {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_path = |path: &str| {
            let is_word = |word: &str| {
                word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                    && word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            };
            path.split("::").all(is_word)
        };
        match text.split_once('=') {
            Some((package, module)) if !package.is_empty() && is_path(module) => {
                Ok(Self { package: package.to_owned(), module: module.to_owned() })
            }
            _ => Err("write a package and the Rust path of its glue: `Engine=engine_glue`".to_owned()),
        }
    }
}

/// Writes a source to a file. One that has these bytes already is left alone, so that nothing is built again for it.
///
/// # Errors
/// When the system refuses.
pub fn write(path: &Path, source: &str) -> io::Result<()> {
    if fs::read(path).is_ok_and(|found| found == source.as_bytes()) {
        return Ok(());
    }
    fs::write(path, source)
}
