//! Reads and writes dependency files of cargo and rustc. These files contain comments, and `make` rules with the sources of an output.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::report::Artifact;
use crate::stamp::Stamps;

/// Parses the contents of a dependency file, in which spaces in names are escaped. The result may contain a source twice.
pub(crate) fn sources(list: &str) -> Vec<PathBuf> {
    let rules = list.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    let names =
        rules.flat_map(|(_, names)| names.replace("\\ ", "\0").split(' ').map(str::to_owned).collect::<Vec<_>>());
    names.filter(|name| !name.is_empty()).map(|name| PathBuf::from(name.replace('\0', " "))).collect()
}

/// Returns the sources in the dependency file at this path.
pub(crate) fn read(list: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(sources(&fs::read_to_string(list)?))
}

/// Returns the environment variables in the contents of a dependency file, which sources read by `env!` and `option_env!`. A variable that
/// is not set has no value in the file.
pub(crate) fn variables(list: &str) -> impl Iterator<Item = String> {
    let variables = list.lines().filter_map(|line| line.strip_prefix("# env-dep:"));
    variables.map(|variable| variable.split_once('=').map_or(variable, |(name, _)| name).to_owned())
}

/// Returns the contents of the dependency file of a library in cargo's folders.
pub(crate) fn list_of(library: &Path) -> Option<String> {
    let name = library.file_stem()?.to_string_lossy();
    let names = [name.strip_prefix("lib").unwrap_or(&name), &name];
    names.iter().find_map(|name| fs::read_to_string(library.with_file_name(format!("{name}.d"))).ok())
}

/// Returns the sources of a library in cargo's folders. Returns an empty list if no dependency file exists.
pub(crate) fn of_library(library: &Path) -> Vec<PathBuf> {
    list_of(library).map(|list| sources(&list)).unwrap_or_default()
}

/// Replaces the sources `old` by `new` in the dependency file next to a library. Cargo's next build rewrites this file.
pub(crate) fn update(library: &Path, old: &Stamps, new: &Stamps) -> io::Result<()> {
    let list = library.with_extension("d");
    let listed: BTreeSet<_> = read(&list)?.into_iter().collect();
    let others = listed.iter().filter(|source| !old.contains_key(*source));
    let all: BTreeSet<_> = others.chain(new.keys()).cloned().collect();
    if all == listed {
        return Ok(());
    }
    let escaped = |path: &Path| path.display().to_string().replace(' ', "\\ ");
    let names: Vec<_> = all.iter().map(|source| escaped(source)).collect();
    fs::write(list, format!("{}: {}\n", escaped(library), names.join(" ")))
}

impl Artifact {
    /// Returns the local files from which the library was compiled, including files of `include_str!`. The last build listed these files
    /// next to the library. If this list does not exist, the result is empty.
    ///
    /// # Examples
    /// ```
    /// use alcedo_build::Artifact;
    ///
    /// let artifact = Artifact { package: "spinner".to_owned(), path: "missing/libspinner.so".into(), fresh: true };
    /// assert!(artifact.inputs().is_empty());
    /// ```
    pub fn inputs(&self) -> Vec<PathBuf> {
        read(&self.path.with_extension("d")).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{read, sources, update, variables};
    use crate::stamp::{Stamp, Stamps};
    use std::path::PathBuf;

    #[test]
    fn a_list_follows_the_sources_of_a_plugin() {
        let dir = tempfile::tempdir().unwrap();
        let (library, list) = (dir.path().join("libx.so"), dir.path().join("libx.d"));
        std::fs::write(&list, "/t/libx.so: /a/glue.rs /a/lib.rs /a/old.rs\n").unwrap();
        let stamps =
            |paths: &[&str]| paths.iter().map(|path| (PathBuf::from(path), Stamp::Missing)).collect::<Stamps>();
        update(&library, &stamps(&["/a/lib.rs", "/a/old.rs"]), &stamps(&["/a/lib.rs", "/b c/new.txt"])).unwrap();
        assert_eq!(read(&list).unwrap(), ["/a/glue.rs", "/a/lib.rs", "/b c/new.txt"].map(PathBuf::from));
    }

    #[test]
    fn a_list_of_sources_may_have_blanks_in_names() {
        let list = "/t/libx.so: /a/src/lib.rs /b\\ c/lib.rs\n";
        assert_eq!(sources(list), ["/a/src/lib.rs", "/b c/lib.rs"].map(PathBuf::from));
    }

    #[test]
    fn comments_and_empty_rules_have_no_sources() {
        let list =
            "x.d: src/lib.rs\n\nsrc/lib.rs:\n\n# env-dep:TEXT=a: b c\n# checksum:blake3=1 file_len:2 src/lib.rs\n";
        assert_eq!(sources(list), [PathBuf::from("src/lib.rs")]);
    }

    #[test]
    fn variables_of_sources_are_listed_with_and_without_a_value() {
        let list = "x.d: src/lib.rs\n\n# env-dep:TEXT=a=b: c\n# env-dep:UNSET\n# env-dep:EMPTY=\n";
        assert_eq!(variables(list).collect::<Vec<_>>(), ["TEXT", "UNSET", "EMPTY"]);
    }
}
