//! `package.toml`: the version of a package of scripts, and the modules that it needs in certain versions. A package without the file
//! has version 0.0.0 and needs what its text names.

use std::collections::BTreeMap;
use std::ops::Range;

use semver::{Version, VersionReq};
use serde::Deserialize;

/// The file, in the folder of the package.
pub(crate) const FILE: &str = "package.toml";

/// The most bytes of the file.
pub(crate) const LARGEST: u64 = 1 << 20;

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// The version of the package.
    pub version: Version,
    /// The modules that it needs, and the versions of each that will do.
    pub dependencies: Vec<(String, VersionReq)>,
}

impl Default for Manifest {
    fn default() -> Self {
        Self { version: Version::new(0, 0, 0), dependencies: Vec::new() }
    }
}

/// The words of the file. One that is not among them is a mistake, and would have no effect.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Option<String>,
    version: Option<Version>,
    #[serde(default)]
    dependencies: BTreeMap<String, VersionReq>,
}

/// Reads the file of the package of that name.
///
/// # Errors
/// What is wrong, with the line where that is one.
pub(crate) fn read(package: &str, text: &str) -> Result<Manifest, String> {
    let written: Written = toml::from_str(text).map_err(|error| told(package, text, error.span(), error.message()))?;
    match &written.name {
        Some(name) if name != package => Err(told(
            package,
            text,
            None,
            &format!(
                "the name is `{name}`, and a package is called as its folder, `{package}`: change one of them, or leave the name out"
            ),
        )),
        _ => Ok(Manifest {
            version: written.version.unwrap_or(Version::new(0, 0, 0)),
            dependencies: written.dependencies.into_iter().collect(),
        }),
    }
}

fn told(package: &str, text: &str, span: Option<Range<usize>>, message: &str) -> String {
    let place = match span.and_then(|span| text.get(..span.start)) {
        Some(before) => format!("{package}/{FILE}:{}", before.matches('\n').count() + 1),
        None => format!("{package}/{FILE}"),
    };
    format!("{place}: {}", message.trim_end())
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
    fn what_is_wrong_is_told_with_the_line() {
        let check = |text: &str, expected: &[&str]| {
            let told = read("Tale", text).expect_err(text);
            assert!(expected.iter().all(|part| told.contains(part)), "{text}: {told}");
        };
        check("version = \"1.2\"", &["Tale/package.toml:1: "]);
        check("name = \"Tale\"\nversion = \"one\"", &["Tale/package.toml:2: "]);
        check("vresion = \"1.2.0\"", &["Tale/package.toml:1: ", "vresion", "version"]);
        check("version = \"1.0.0\"\n[dependencies]\nSaga = \"neu\"", &["Tale/package.toml:3: "]);
        check("version = ", &["Tale/package.toml:1: "]);
        check("name = \"Saga\"", &["Tale/package.toml: the name is `Saga`", "its folder, `Tale`"]);
    }
}
