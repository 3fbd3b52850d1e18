//! Finds the files that are named in compiler errors, because a change to such a file may correct the error. If a failed build was the
//! first to read a file, no dependency file lists this file.

use std::path::{Path, PathBuf};

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};

/// Returns the files that an error names: the files of its primary locations, and a file that the compiler could not read, for example for
/// `include!`. The paths are relative to the working directory of the compiler.
pub(crate) fn named_files(diagnostic: &Diagnostic) -> Vec<PathBuf> {
    if !is_error(diagnostic) {
        return Vec::new();
    }
    let unreadable = diagnostic.message.strip_prefix("couldn't read `").and_then(|rest| rest.split_once('`'));
    let locations = diagnostic.spans.iter().filter(|span| span.is_primary).map(|span| span.file_name.as_str());
    locations.chain(unreadable.map(|(file, _)| file)).map(PathBuf::from).collect()
}

pub(crate) fn is_error(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.level, DiagnosticLevel::Error | DiagnosticLevel::Ice)
}

/// Returns the full path of a file that the compiler names. The working directory of the compiler is a folder above `source`. The file may
/// be missing, but its folder exists.
pub(crate) fn full_path(file: &Path, source: &Path) -> Option<PathBuf> {
    let candidates: Vec<_> = source.ancestors().map(|dir| dir.join(file)).collect();
    let has_folder = |path: &&PathBuf| path.parent().is_some_and(Path::is_dir);
    candidates.iter().find(|path| path.is_file()).or_else(|| candidates.iter().find(has_folder)).cloned()
}

#[cfg(test)]
mod tests {
    use super::{full_path, named_files};
    use std::fs;
    use std::path::Path;

    #[test]
    fn an_error_names_its_location_and_an_unreadable_file() {
        let check = |level: &str, message: &str, expected: &[&str]| {
            let span = |file: &str, is_primary: bool| {
                serde_json::json!({
                    "file_name": file, "byte_start": 0, "byte_end": 1, "line_start": 1, "line_end": 1, "column_start": 1,
                    "column_end": 2, "is_primary": is_primary, "text": [], "label": null, "suggested_replacement": null,
                    "suggestion_applicability": null, "expansion": null,
                })
            };
            let diagnostic = serde_json::from_value(serde_json::json!({
                "message": message, "code": null, "level": level, "spans": [span("a.rs", true), span("b.rs", false)],
                "children": [], "rendered": null,
            }));
            let files = named_files(&diagnostic.unwrap());
            assert_eq!(files, expected.iter().map(Path::new).collect::<Vec<_>>(), "{message}");
        };
        check("error", "mismatched types", &["a.rs"]);
        check("error", "couldn't read `src/a b.in`: No such file or directory (os error 2)", &["a.rs", "src/a b.in"]);
        check("warning", "unused variable", &[]);
    }

    #[test]
    fn a_named_file_is_found_from_the_folder_of_the_package_or_of_the_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("cube/src/lib.rs");
        fs::create_dir_all(source.parent().unwrap()).unwrap();
        fs::write(&source, "").unwrap();
        let check = |file: &str, expected: Option<&str>| {
            let expected = expected.map(|expected| dir.path().join(expected));
            assert_eq!(full_path(Path::new(file), &source), expected, "{file}");
        };
        check("src/lib.rs", Some("cube/src/lib.rs"));
        check("src/missing.in", Some("cube/src/missing.in"));
        check("cube/src/missing.in", Some("cube/src/missing.in"));
        check("absent-folder/missing.in", None);
    }
}
