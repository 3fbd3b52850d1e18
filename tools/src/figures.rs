//! Formats times, names and paths in human-readable form.

use std::path::{Component, Path, PathBuf, absolute};
use std::time::Duration;

/// Shortens `/Script/Game.MagicCube` to `Game.MagicCube`.
pub(crate) fn short(path: &str) -> &str {
    path.strip_prefix("/Script/").unwrap_or(path)
}

/// Formats milliseconds without decimal places, or seconds with one decimal place.
pub(crate) fn millis(ms: f64) -> String {
    if ms < 1000.0 { format!("{ms:.0} ms") } else { format!("{:.1} s", ms / 1000.0) }
}

/// Formats a duration in seconds, or in minutes if it is long.
pub(crate) fn short_time(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds < 120 => format!("{:.1} s", time.as_secs_f64()),
        seconds => format!("{} min", seconds / 60),
    }
}

/// Maximum number of names in a list.
const NAMED: usize = 5;

/// Lists the first names, and counts the remaining names.
pub(crate) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let (first, more) = names.split_at(names.len().min(NAMED));
    let first = first.iter().map(T::as_ref).collect::<Vec<_>>().join(", ");
    if more.is_empty() { first } else { format!("{first} and {} more", more.len()) }
}

/// Returns the name of a file without its extension. Returns an empty string for a path without a file name.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Shortens a path below the working directory to a relative path.
pub(crate) fn near(path: &Path) -> String {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

/// Joins the parts of a name that `-` and `_` separate, each with a capital first letter.
pub(crate) fn camel(name: &str) -> String {
    let part = |part: &str| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
    };
    name.split(['-', '_']).map(part).collect()
}

/// Returns an absolute path without links, `.` and `..`, so that two paths of one file are equal. Resolves links only in the part that
/// exists.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let path = absolute(path).unwrap_or_else(|_| path.to_owned());
    path.components().fold(PathBuf::new(), |mut found, part| {
        match part {
            Component::ParentDir => drop(found.pop()),
            part => found.push(part),
        }
        found.canonicalize().unwrap_or(found)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{listed, millis, resolved};

    #[test]
    fn times_are_easy_to_read() {
        assert_eq!([0.4, 131.2, 999.4, 12_345.0].map(millis), ["0 ms", "131 ms", "999 ms", "12.3 s"]);
    }

    #[test]
    fn a_long_list_of_names_is_cut() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!(
            [0, 2, 5, 7].map(|count| listed(&names[..count])),
            ["", "a, b", "a, b, c, d, e", "a, b, c, d, e and 2 more"]
        );
    }

    #[test]
    fn a_path_is_made_whole_by_its_words() {
        assert_eq!(resolved(Path::new("/r/tools/../x/./y")), Path::new("/r/x/y"));
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        assert_eq!(resolved(Path::new("../missing")), here.parent().unwrap().join("missing"));
    }
}
