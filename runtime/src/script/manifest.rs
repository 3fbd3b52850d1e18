//! Reads `package.toml`: the version of a script package, and the required modules with their versions. A package without this file has
//! version 0.0.0. The dependencies of a package without this file are determined from its source.

use std::collections::BTreeMap;
use std::ops::Range;

use semver::{Version, VersionReq};
use serde::Deserialize;

/// Name of the file in the package folder.
pub(crate) const FILE: &str = "package.toml";

/// Maximum size of the file in bytes.
pub(crate) const LARGEST: u64 = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub version: Version,
    /// Required modules, each with its accepted versions.
    pub dependencies: Vec<(String, VersionReq)>,
}

impl Default for Manifest {
    fn default() -> Self {
        Self { version: Version::new(0, 0, 0), dependencies: Vec::new() }
    }
}

/// Keys of the file. Unknown keys are errors, because they would have no effect.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Option<String>,
    version: Option<Version>,
    #[serde(default)]
    dependencies: BTreeMap<String, VersionReq>,
}

/// Parses the manifest of a package.
///
/// # Errors
/// Returns a description of the defect, with the line if it is known.
pub(crate) fn read(package: &str, text: &str) -> Result<Manifest, String> {
    let written: Written =
        toml::from_str(text).map_err(|error| with_location(package, text, error.span(), error.message()))?;
    match &written.name {
        Some(name) if name != package => Err(with_location(
            package,
            text,
            None,
            &format!(
                "the name is `{name}`, and a package has the name of its folder, `{package}`: change one of them, or leave the name out"
            ),
        )),
        _ => Ok(Manifest {
            version: written.version.unwrap_or(Version::new(0, 0, 0)),
            dependencies: written.dependencies.into_iter().collect(),
        }),
    }
}

fn with_location(package: &str, text: &str, span: Option<Range<usize>>, message: &str) -> String {
    let location = match span.and_then(|span| text.get(..span.start)) {
        Some(before) => format!("{package}/{FILE}:{}", before.matches('\n').count() + 1),
        None => format!("{package}/{FILE}"),
    };
    format!("{location}: {}", message.trim_end())
}

#[cfg(test)]
mod tests {
    use super::{Manifest, read};

    #[test]
    fn a_manifest_has_a_version_and_needs() {
        let text = "name = \"Tale\"\nversion = \"1.2.0\"\n\n[dependencies]\nmagic_cube = \"^1.1\"\nSaga = \"*\"\n";
        let found = read("Tale", text).expect("a manifest");
        assert_eq!(found.version.to_string(), "1.2.0");
        let needs: Vec<_> = found.dependencies.iter().map(|(name, range)| format!("{name} {range}")).collect();
        assert_eq!(needs, ["Saga *", "magic_cube ^1.1"]);
        assert_eq!(read("Tale", ""), Ok(Manifest::default()));
    }

    #[test]
    fn errors_are_reported_with_their_line() {
        let check = |text: &str, expected: &[&str]| {
            let error = read("Tale", text).expect_err(text);
            assert!(expected.iter().all(|part| error.contains(part)), "{text}: {error}");
        };
        check("version = \"1.2\"", &["Tale/package.toml:1: "]);
        check("name = \"Tale\"\nversion = \"one\"", &["Tale/package.toml:2: "]);
        check("vresion = \"1.2.0\"", &["Tale/package.toml:1: ", "vresion", "version"]);
        check("version = \"1.0.0\"\n[dependencies]\nSaga = \"neu\"", &["Tale/package.toml:3: "]);
        check("version = ", &["Tale/package.toml:1: "]);
        check("name = \"Saga\"", &["Tale/package.toml: the name is `Saga`", "its folder, `Tale`"]);
    }
}
