//! Text inside the parentheses of a delegate type: a signature, or a path with the signature in parentheses.

/// Returns the text inside the parentheses of a named delegate type.
pub(super) fn format_named(path: &str, signature: &str) -> String {
    format!("{path}({signature})")
}

/// Splits the text of a delegate type into path and signature. The path is `None` for an unnamed delegate.
pub(super) fn split(text: &str) -> (Option<&str>, &str) {
    let end = text.find([',', '(', ')', ' ']).unwrap_or(text.len());
    let (path, rest) = text.split_at(end);
    match rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        // Only the path of a named delegate begins with a slash. The text of a parameter type, such as `Object(/Script/A.B)`, begins with
        // the name of a kind.
        Some(signature) if path.starts_with('/') => (Some(path), signature),
        _ => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn delegate_text_is_a_signature_with_an_optional_name() {
        for (text, path, signature) in [
            ("", None, ""),
            ("-> u8", None, "-> u8"),
            ("/Script/A.S", None, "/Script/A.S"),
            ("/Script/A.S, Array(u8)", None, "/Script/A.S, Array(u8)"),
            ("/Script/A.S -> Array(u8)", None, "/Script/A.S -> Array(u8)"),
            ("Array(u8)", None, "Array(u8)"),
            ("/Script/A.D()", Some("/Script/A.D"), ""),
            ("/Script/A.D(/Script/A.S)", Some("/Script/A.D"), "/Script/A.S"),
            ("/Script/A.C:D(u8 -> Array(u8))", Some("/Script/A.C:D"), "u8 -> Array(u8)"),
        ] {
            assert_eq!(split(text), (path, signature), "{text}");
        }
    }
}
