//! Rewrites existing glue after a change to the declared types. The header of the existing source specifies the origin, the packages,
//! and the Rust paths of other packages.

use alcedo_runtime::Declared;

use crate::error::GlueError;
use crate::for_plugins::ELSEWHERE;
use crate::{Elsewhere, Glue, Origin, type_paths};

/// Returns `true` if a source has the header of glue for the types of `origin`. Accepts any version of a module.
///
/// # Examples
/// ```
/// # use alcedo_runtime::Runtime;
/// # use alcedo_runtime::kinds::PropertyKind;
/// # use alcedo_runtime::native::{NativeClass, Natives};
/// # let door = NativeClass::new("Game", "Door", "/Script/Core.Object");
/// # let door = door.property("width", (PropertyKind::F64, ""), 0, "");
/// # let declared = Runtime::builder().natives(Natives::in_package("Game").class(door)).declared()?;
/// use alcedo_glue::{Glue, Origin, describes};
///
/// let host = Origin::host("my-game");
/// let source = Glue::default().for_plugins(&host, &declared)?;
/// assert!(describes(&source, &host));
/// assert!(!describes(&source, &Origin::host("my-editor")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn describes(source: &str, origin: &Origin) -> bool {
    header(source, origin).is_some()
}

/// Returns the up-to-date replacement for `source`. The header of `source` selects [`Glue::for_plugins`] or [`Glue::for_host`]. Returns
/// `None` if [`describes`] rejects the header.
///
/// # Errors
/// Returns the errors of [`Glue::for_plugins`] and [`Glue::for_host`].
///
/// # Examples
/// ```
/// # use alcedo_runtime::Runtime;
/// # use alcedo_runtime::kinds::PropertyKind;
/// # use alcedo_runtime::native::{NativeClass, Natives};
/// # let door = NativeClass::new("Game", "Door", "/Script/Core.Object");
/// # let door = door.property("width", (PropertyKind::F64, ""), 0, "");
/// # let declared = Runtime::builder().natives(Natives::in_package("Game").class(door)).declared()?;
/// use alcedo_glue::{Glue, Origin, rewritten};
///
/// let host = Origin::host("my-game");
/// let source = Glue::default().for_plugins(&host, &declared)?;
/// assert_eq!(rewritten(&source, &host, &declared)?, Some(source));
/// assert_eq!(rewritten("fn main() {}", &host, &declared)?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn rewritten(source: &str, origin: &Origin, declared: &Declared) -> Result<Option<String>, GlueError> {
    let Some(Header { packages, is_for_host }) = header(source, origin) else { return Ok(None) };
    let known = source.lines().take_while(|line| line.starts_with("//")).find_map(|line| line.strip_prefix(ELSEWHERE));
    let known = known.into_iter().flat_map(|packages| packages.split(", ")).filter_map(|one| one.parse().ok());
    let mut glue = known.fold(packages.into_iter().fold(Glue::default(), Glue::only), Glue::package);
    if is_for_host {
        // Without the Rust path of a package, glue for hosts reports no error, but writes `Value`. The paths that the header lacks are
        // therefore read from `source` first.
        let is_own = |path: &str| glue.writes(path) && type_paths(declared).any(|own| own == path);
        let other: Vec<_> = named_types(declared).filter(|path| !is_own(path)).collect();
        for path in other {
            let package = path.strip_prefix("/Script/").and_then(|rest| rest.split_once('.'));
            let package = package.filter(|(package, _)| !glue.elsewhere.contains_key(*package));
            let found = package.and_then(|(package, _)| elsewhere(source, path, package));
            glue = found.into_iter().fold(glue, Glue::package);
        }
        return glue.for_host(origin, declared).map(Some);
    }
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

/// Parsed first line of a glue source.
struct Header<'a> {
    /// Selected packages. Empty if the source contains all packages.
    packages: Vec<&'a str>,
    is_for_host: bool,
}

/// Parses the header of glue for the types of `origin`. Returns `None` for any other header.
fn header<'a>(source: &'a str, origin: &Origin) -> Option<Header<'a>> {
    let line = source.lines().next()?;
    // Older versions of `alcedo glue` wrote `// What ` as the prefix.
    let head = line.strip_prefix("// Declarations of ").or_else(|| line.strip_prefix("// What "))?;
    let for_plugins =
        [" for plugins, written by `alcedo glue`.", ", for plugins that use it. Written by `alcedo glue`:"];
    let for_host = [
        " for a host, written by `alcedo glue --for-host`.",
        ", for a host that uses it. Written by `alcedo glue --for-host`:",
    ];
    let of = |ends: [&str; 2]| ends.into_iter().find_map(|end| head.split_once(end));
    let (described, is_for_host) = of(for_plugins).zip(Some(false)).or_else(|| of(for_host).zip(Some(true)))?;
    let packages = match origin {
        Origin::Host { .. } => described.0.strip_prefix(&origin.to_string())?,
        Origin::Module { name, .. } => {
            let version = described.0.strip_prefix(&format!("the module `{name}` "))?;
            version.trim_start_matches(|letter: char| !letter.is_whitespace())
        }
    };
    let packages = packages.strip_prefix(" declares").unwrap_or(packages);
    let is_whole = packages.is_empty() || packages.starts_with(" in package `");
    let packages = packages.split('`').skip(1).step_by(2).collect();
    is_whole.then_some(Header { packages, is_for_host })
}

/// Returns the paths of all types that the declarations use in bases, properties, parameters and results.
fn named_types(declared: &Declared) -> impl Iterator<Item = &str> {
    let Declared { classes, delegates, structs, .. } = declared;
    let functions = classes.iter().flat_map(|class| &class.functions);
    let results = functions.clone().map(|of| &of.result).chain(delegates.iter().map(|of| &of.result));
    let properties = classes.iter().flat_map(|class| &class.properties);
    let fields = structs.iter().flat_map(|of| &of.fields).chain(delegates.iter().flat_map(|of| &of.params));
    let typed = properties.chain(fields).chain(functions.flat_map(|of| &of.params)).map(|of| &*of.ty);
    let bases = classes.iter().map(|class| &*class.base).chain(structs.iter().map(|of| &*of.base));
    let texts = bases.chain(typed).chain(results.flatten().map(String::as_str));
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '/');
    texts.flat_map(move |text| text.split(move |letter| !is_part(letter))).filter(|path| path.starts_with("/Script/"))
}

/// Returns the Rust path of the glue through which a source refers to a type of another package. Older versions of `alcedo glue` did not
/// write these paths into the header.
fn elsewhere(source: &str, path: &str, package: &str) -> Option<Elsewhere> {
    let (_, name) = path.rsplit_once('.')?;
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':';
    let mut paths = source.split(|letter| !is_part(letter));
    let module =
        paths.find_map(|path| path.strip_suffix(name)?.strip_suffix("::").filter(|module| !module.is_empty()))?;
    format!("{package}={module}").parse().ok()
}
