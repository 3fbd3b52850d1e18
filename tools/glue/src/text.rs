//! Helpers for both kinds of glue: names, paths, comments and function heads.

use std::fmt::Write as _;

use alcedo_reflect::path::is_identifier;

/// Maximum line width, the default of rustfmt. Longer lines are broken.
const WIDTH: usize = 100;

/// Splits a path into package and name.
pub(crate) fn parts(path: &str) -> (&str, &str) {
    path.strip_prefix("/Script/").unwrap_or(path).split_once('.').unwrap_or(("", path))
}

/// Returns the name of a type in a source. For a delegate of a class, returns the name without the class.
pub(crate) fn own_name(path: &str) -> &str {
    let (_package, name) = parts(path);
    name.split_once(':').map_or(name, |(_class, name)| name)
}

/// Returns the name of a member for error messages, for example `Game.Cube.speed`.
pub(crate) fn member(path: &str, name: &str) -> String {
    format!("{}.{name}", path.strip_prefix("/Script/").unwrap_or(path))
}

/// Writes a doc comment. If `indent` is empty, the comment belongs to a type, and an empty line precedes the comment.
pub(crate) fn doc(text: &mut String, indent: &str, doc: &str) {
    if indent.is_empty() {
        text.push('\n');
    }
    // Replaces carriage returns, which a Rust doc comment must not contain.
    let doc: String = doc.chars().map(|letter| if letter == '\r' { ' ' } else { letter }).collect();
    for line in doc.lines().map(str::trim) {
        let _ = writeln!(text, "{indent}///{}{line}", if line.is_empty() { "" } else { " " });
    }
}

/// Returns the head of a function in the format of rustfmt: on one line or, if it is too long, with one line per parameter.
pub(crate) fn head(indent: &str, before: &str, params: &[String], behind: &str) -> String {
    let line = format!("{indent}{before}({}){behind}", params.join(", "));
    if line.chars().count() <= WIDTH || params.is_empty() {
        return line;
    }
    let mut lines = format!("{indent}{before}(\n");
    for param in params {
        let _ = writeln!(lines, "{indent}    {param},");
    }
    lines + &format!("{indent}){behind}")
}

/// Writes a block with braces. Writes an empty block on one line.
pub(crate) fn block(text: &mut String, indent: &str, head: &str, inside: &str) {
    let _ = match inside.is_empty() {
        true => writeln!(text, "{indent}{head} {{}}"),
        false => writeln!(text, "{indent}{head} {{\n{inside}{indent}}}"),
    };
}

/// Returns `true` if a string is a valid Rust identifier and not a keyword that has no raw form.
pub(crate) fn is_name(text: &str) -> bool {
    is_identifier(text) && !["_", "self", "Self", "super", "crate"].contains(&text)
}

/// Returns `true` if a name is a keyword of Rust or reserved as a keyword.
///
/// # Examples
/// ```
/// use alcedo_glue::is_keyword;
///
/// assert!(is_keyword("type"));
/// assert!(!is_keyword("width"));
/// ```
#[must_use]
pub fn is_keyword(name: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
        "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
        "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super",
        "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
    ];
    KEYWORDS.contains(&name)
}

/// Returns the name as Rust source. A keyword becomes a raw identifier.
pub(crate) fn identifier(name: &str) -> String {
    if is_keyword(name) { format!("r#{name}") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::head;

    #[test]
    fn a_head_that_is_too_wide_has_a_line_a_parameter() {
        let params = |count| (0..count).map(|at| format!("param_{at}: f64")).collect::<Vec<_>>();
        assert_eq!(head("    ", "fn f", &params(1), ";"), "    fn f(param_0: f64);");
        let wide = head("    ", "fn f", &params(8), " -> bool;");
        assert!(wide.starts_with("    fn f(\n        param_0: f64,\n"), "{wide}");
        assert!(wide.ends_with("        param_7: f64,\n    ) -> bool;"), "{wide}");
    }
}
