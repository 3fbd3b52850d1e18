//! Edits of the demo. Each edit replaces a few lines of a source file. The functions in this file work on strings only.

use anyhow::anyhow;
use similar::{ChangeTag, TextDiff};

use crate::error::Error;

/// A replacement in a source file, at the location of the old text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit {
    /// Old text. The source must contain this text exactly once.
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
}

/// Applies all `edits`. Fails if an old text is missing or occurs more than once.
pub(crate) fn apply(source: &str, edits: &[Edit]) -> Result<String, Error> {
    edits.iter().try_fold(source.to_owned(), |text, edit| match text.matches(edit.from).count() {
        1 => Ok(text.replacen(edit.from, edit.to, 1)),
        times => Err(anyhow!(
            "the demo replaces `{}`, which occurs {times} times in the plugin's source instead of once: the example plugin and \
             the demo do not match",
            edit.from
        )),
    })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// An unchanged line, printed as context.
    Same(String),
    /// A removed line.
    Out(String),
    /// An added line.
    In(String),
    /// Omitted unchanged lines.
    Gap,
}

/// Returns the diff between `old` and `new` with `around` lines of context. Omits empty context lines.
pub(crate) fn diff(old: &str, new: &str, around: usize) -> Vec<Line> {
    let diff = TextDiff::from_lines(old, new);
    let mut lines: Vec<Line> = Vec::new();
    for group in diff.grouped_ops(around) {
        if !lines.is_empty() {
            lines.push(Line::Gap);
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let text = change.value().trim_end_matches('\n').to_owned();
            lines.push(match change.tag() {
                ChangeTag::Equal if text.is_empty() => continue,
                ChangeTag::Equal => Line::Same(text),
                ChangeTag::Delete => Line::Out(text),
                ChangeTag::Insert => Line::In(text),
            });
        }
    }
    lines
}

/// Returns a unified diff, for the JSON output.
pub(crate) fn unified(file: &str, old: &str, new: &str) -> String {
    TextDiff::from_lines(old, new).unified_diff().context_radius(3).header(file, file).to_string()
}

#[cfg(test)]
mod tests {
    use super::{Edit, Line, apply, diff, unified};

    const SOURCE: &str = "one\ntwo\nthree\nfour\nfive\ntwo and a half\n";

    #[test]
    fn an_edit_applies_exactly_once() {
        let check = |edits: &[Edit], expected: Result<&str, usize>| {
            let found = apply(SOURCE, edits).map_err(|error| error.to_string());
            match expected {
                Ok(text) => assert_eq!(found.as_deref(), Ok(text)),
                Err(times) => assert!(found.is_err_and(|error| error.contains(&format!("occurs {times} times")))),
            }
        };
        check(&[Edit { from: "three", to: "3" }], Ok("one\ntwo\n3\nfour\nfive\ntwo and a half\n"));
        check(&[Edit { from: "two", to: "2" }], Err(2));
        check(&[Edit { from: "six", to: "6" }], Err(0));
        check(&[Edit { from: "three", to: "3" }, Edit { from: "six", to: "6" }], Err(0));
        check(
            &[Edit { from: "three", to: "3" }, Edit { from: "3\nf", to: "3\n\nf" }],
            Ok("one\ntwo\n3\n\nfour\nfive\ntwo and a half\n"),
        );
    }

    #[test]
    fn an_edit_that_was_made_cannot_be_made_again() {
        let edit = [Edit { from: "three", to: "3" }];
        let once = apply(SOURCE, &edit).unwrap();
        let error = apply(&once, &edit).unwrap_err();
        assert!(error.to_string().contains("`three`, which occurs 0 times"), "{error}");
    }

    #[test]
    fn a_diff_shows_the_lines_and_a_little_around_them() {
        let new = SOURCE.replace("one", "1").replace("five", "5");
        let (same, out, new_line) = (
            |text: &str| Line::Same(text.into()),
            |text: &str| Line::Out(text.into()),
            |text: &str| Line::In(text.into()),
        );
        assert_eq!(diff(SOURCE, &new, 0), [out("one"), new_line("1"), Line::Gap, out("five"), new_line("5")]);
        assert_eq!(diff(SOURCE, &SOURCE.replace("one", "1"), 1), [out("one"), new_line("1"), same("two")]);
        assert!(unified("lib.rs", SOURCE, &new).starts_with("--- lib.rs\n+++ lib.rs\n@@ "));
    }
}
