//! Writes a source again whose types have changed: its header names the origin and the packages, and its text the glue of other packages.

use alcedo_runtime::Declared;

use crate::error::GlueError;
use crate::{Elsewhere, Glue, Origin};

/// Returns whether a source bears the header of glue for plugins with the types of `origin`, in any version of a module.
#[must_use]
pub fn describes(source: &str, origin: &Origin) -> bool {
    packages(source, origin).is_some()
}

/// Returns the source that [`Glue::for_plugins`] writes now in place of `source`, or `None` if [`describes`] refuses the header.
///
/// # Errors
/// Returns those of [`Glue::for_plugins`].
pub fn rewritten(source: &str, origin: &Origin, declared: &Declared) -> Result<Option<String>, GlueError> {
    let Some(packages) = packages(source, origin) else { return Ok(None) };
    let mut glue = packages.into_iter().fold(Glue::default(), Glue::only);
    loop {
        match glue.for_plugins(origin, declared) {
            Err(GlueError::Elsewhere { member, path, package }) => match elsewhere(source, &path, &package) {
                Some(found) if !glue.elsewhere.contains_key(&package) => glue = glue.package(found),
                _ => return Err(GlueError::Elsewhere { member, path, package }),
            },
            written => return written.map(Some),
        }
    }
}

/// Returns the packages that a header names; none where it names no package, or is another header.
fn packages<'a>(source: &'a str, origin: &Origin) -> Option<Vec<&'a str>> {
    let head = source.lines().next()?.strip_prefix("// What ")?;
    let (described, rest) = head.split_once(" declares")?;
    let is_same = match origin {
        Origin::Host { .. } => described == origin.to_string(),
        Origin::Module { name, .. } => described.starts_with(&format!("the module `{name}` ")),
    };
    let (packages, _) = rest.split_once(", for plugins that use it. Written by `alcedo glue`")?;
    is_same.then(|| packages.split('`').skip(1).step_by(2).collect())
}

/// Returns the Rust path by which a source names a type of another package.
fn elsewhere(source: &str, path: &str, package: &str) -> Option<Elsewhere> {
    let (_, name) = path.rsplit_once('.')?;
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':';
    let mut words = source.split(|letter| !is_part(letter));
    let module =
        words.find_map(|word| word.strip_suffix(name)?.strip_suffix("::").filter(|module| !module.is_empty()))?;
    format!("{package}={module}").parse().ok()
}
