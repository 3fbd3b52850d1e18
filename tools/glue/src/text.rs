//! What all sources are made of: names, paths, comments and heads of functions.

use std::fmt::Write as _;

/// As wide as rustfmt leaves a line.
const WIDTH: usize = 100;

/// Package and name of a path.
pub(crate) fn parts(path: &str) -> (&str, &str) {
    path.strip_prefix("/Script/").unwrap_or(path).split_once('.').unwrap_or(("", path))
}

/// The name that a type has in a source: of a delegate that belongs to a class, what stands behind the class.
pub(crate) fn own_name(path: &str) -> &str {
    let (_package, name) = parts(path);
    name.split_once(':').map_or(name, |(_class, name)| name)
}

/// As errors name a member: `Game.Cube.speed`.
pub(crate) fn member(path: &str, name: &str) -> String {
    format!("{}.{name}", path.strip_prefix("/Script/").unwrap_or(path))
}

/// A doc comment. One of a type has an empty line before it.
pub(crate) fn doc(text: &mut String, indent: &str, doc: &str) {
    if indent.is_empty() {
        text.push('\n');
    }
    // In a comment no character is anything else, but for one that no comment may have.
    let doc: String = doc.chars().map(|letter| if letter == '\r' { ' ' } else { letter }).collect();
    for line in doc.lines().map(str::trim) {
        let _ = writeln!(text, "{indent}///{}{line}", if line.is_empty() { "" } else { " " });
    }
}

/// The head of a function with what stands around it, as rustfmt breaks it: on one line, or with a line a parameter.
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

/// Whether a text is a name that Rust can write: what stands in a source is read as nothing else then.
pub(crate) fn is_name(text: &str) -> bool {
    let is_start = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    let never_raw = ["_", "self", "Self", "super", "crate"];
    text.starts_with(is_start)
        && text.chars().all(|letter| is_start(letter) || letter.is_ascii_digit())
        && !never_raw.contains(&text)
}

/// Returns whether a name is a keyword of Rust, or reserved for one.
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

/// A name that is a word of the language is written raw.
pub(crate) fn word(name: &str) -> String {
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
