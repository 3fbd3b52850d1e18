//! Dependency files of cargo and rustc: rules of `make` with the sources of an output, and comments.

use std::fs;
use std::path::PathBuf;

use crate::report::Artifact;

/// Returns the sources in a dependency file, in which spaces in names are escaped. The list may contain a source twice.
pub(crate) fn sources(list: &str) -> Vec<PathBuf> {
    let rules = list.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    let names =
        rules.flat_map(|(_, names)| names.replace("\\ ", "\0").split(' ').map(str::to_owned).collect::<Vec<_>>());
    names.filter(|name| !name.is_empty()).map(|name| PathBuf::from(name.replace('\0', " "))).collect()
}

impl Artifact {
    /// Returns the files of packages in folders that it was compiled from, included files among them, as cargo has listed them next to
    /// it. Empty without such a list.
    ///
    /// # Examples
    /// ```
    /// use alcedo_build::Artifact;
    ///
    /// let artifact = Artifact { package: "spinner".to_owned(), path: "missing/libspinner.so".into(), fresh: true };
    /// assert!(artifact.inputs().is_empty());
    /// ```
    pub fn inputs(&self) -> Vec<PathBuf> {
        fs::read_to_string(self.path.with_extension("d")).map(|list| sources(&list)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::sources;

    #[test]
    fn a_list_of_sources_may_have_blanks_in_names() {
        let list = "/t/libx.so: /a/src/lib.rs /b\\ c/lib.rs\n";
        assert_eq!(sources(list), ["/a/src/lib.rs", "/b c/lib.rs"].map(std::path::PathBuf::from));
    }

    #[test]
    fn comments_and_empty_rules_have_no_sources() {
        let list =
            "x.d: src/lib.rs\n\nsrc/lib.rs:\n\n# env-dep:TEXT=a: b c\n# checksum:blake3=1 file_len:2 src/lib.rs\n";
        assert_eq!(sources(list), [std::path::PathBuf::from("src/lib.rs")]);
    }
}
