//! Library functions for strings and names. Indices and lengths count characters.

use alcedo_base::handles::Name;
use alcedo_reflect::decl::FunctionDecl;

use crate::{cost, size};

use super::build::{action, param, plain};

pub(super) fn functions() -> Vec<FunctionDecl> {
    vec![
        plain!("len", "Returns the number of characters.", |s: String| -> i32 { s.chars().count() as i32 }),
        plain!(
            "in_str",
            "Returns the index of t in s, searching from the left or right, from a start index; -1 if not found.",
            |s: String, t: String, from_right: bool = "false", ignore_case: bool = "false", start: i32 = "-1"| -> i32 {
                let (s, t) = if ignore_case { (folded(&s), folded(&t)) } else { (s, t) };
                let start = usize::try_from(start).ok();
                let start = start.map(|start| s.char_indices().nth(start).map_or(s.len(), |(at, _)| at));
                let found = match from_right {
                    true => s[..start.unwrap_or(s.len())].rfind(&t),
                    false => s[start.unwrap_or(0)..].find(&t).map(|at| at + start.unwrap_or(0)),
                };
                found.map_or(-1, |at| s[..at].chars().count() as i32)
            }
        ),
        plain!("mid", "Returns j or all characters from index i.", |s: String, i: i32, j: i32 = "2147483647"| -> String {
            s.chars().skip(i.max(0) as usize).take(j.max(0) as usize).collect()
        }),
        plain!("left", "Returns the first characters.", |s: String, i: i32| -> String {
            s.chars().take(i.max(0) as usize).collect()
        }),
        plain!("right", "Returns the last characters.", |s: String, i: i32| -> String {
            let skipped = s.chars().count().saturating_sub(i.max(0) as usize);
            s.chars().skip(skipped).collect()
        }),
        plain!("caps", "Converts to upper case.", |s: String| -> String { s.to_uppercase() }),
        plain!("locs", "Converts to lower case.", |s: String| -> String { s.to_lowercase() }),
        plain!("chr", "Returns the character of a code; empty if the code is invalid.", |i: i32| -> String {
            u32::try_from(i).ok().and_then(char::from_u32).map(String::from).unwrap_or_default()
        }),
        plain!("asc", "Returns the code of the first character; 0 for an empty string.", |s: String| -> i32 {
            s.chars().next().map_or(0, |letter| letter as i32)
        }),
        plain!(
            "repl",
            "Replaces every occurrence of a string.",
            |src: String, this: String, with: String, case_sensitive: bool = "true"| -> String {
                if this.is_empty() {
                    src
                } else {
                    let (searched, this) = if case_sensitive { (src.clone(), this) } else { (folded(&src), folded(&this)) };
                    let found = searched.matches(&this).count();
                    size::text((src.len() - found * this.len()).saturating_add(found.saturating_mul(with.len())))?;
                    let (mut made, mut end) = (String::new(), 0);
                    for (at, part) in searched.match_indices(&this) {
                        made.push_str(&src[end..at]);
                        made.push_str(&with);
                        end = at + part.len();
                    }
                    made.push_str(&src[end..]);
                    made
                }
            }
        ),
        plain!("trim", "Removes leading and trailing spaces.", |s: String| -> String { s.trim().to_owned() }),
        plain!("starts_with", "Returns true if s begins with t.", |s: String, t: String| -> bool { s.starts_with(&t) }),
        plain!("ends_with", "Returns true if s ends with t.", |s: String, t: String| -> bool { s.ends_with(&t) }),
        plain!(
            "split_string",
            "Returns the parts between delimiters, all or only non-empty ones.",
            |s: String, delimiter: String = ",", cull_empty: bool = "false"| -> Vec<String> {
                match delimiter.is_empty() {
                    true => vec![s],
                    false => {
                        let parts = s.matches(&delimiter).count() + 1;
                        size::rows(0, u32::try_from(parts).unwrap_or(u32::MAX), size_of::<String>())?;
                        let parts = s.split(&delimiter).filter(|part| !(cull_empty && part.is_empty()));
                        parts.map(str::to_owned).collect()
                    }
                }
            }
        ),
        plain!(
            "split",
            "Returns the rest of s from the first t on, with or without t; all of s if t is not found.",
            |s: String, t: String, omit: bool = "false"| -> String {
                match s.find(&t) {
                    Some(at) if omit => s[at + t.len()..].to_owned(),
                    Some(at) => s[at..].to_owned(),
                    None => s,
                }
            }
        ),
        plain!("to_hex", "Formats a number in eight hexadecimal digits.", |a: i32| -> String { format!("{a:08X}") }),
        plain!("join_array", "Joins strings with a delimiter.", |parts: Vec<String>, delimiter: String = ","| -> String {
            let delimiters = parts.len().saturating_sub(1).saturating_mul(delimiter.len());
            size::text(parts.iter().map(String::len).fold(delimiters, usize::saturating_add))?;
            parts.join(&delimiter)
        }),
        plain!("contains_text", "Returns true if s contains t.", |s: String, t: String| -> bool { s.contains(&t) }),
        plain!("reverse_text", "Reverses the characters.", |s: String| -> String { s.chars().rev().collect() }),
        plain!("is_numeric", "Returns true if a string is a number.", |s: String| -> bool {
            let digits = s.strip_prefix(['-', '+']).unwrap_or(&s);
            digits.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.') && digits.parse::<f64>().is_ok()
        }),
        action(
            "log",
            "Writes a line to the log, with a tag before it.",
            vec![param::<String>("s"), param::<Name>("tag").with_default("None")],
            |world, frame| {
                let (text, tag) = (frame.take::<String>()?, frame.take::<Name>()?);
                frame.finish()?;
                cost::add(cost::LINE);
                match world.text(tag) {
                    tag if tag.is_empty() || tag.eq_ignore_ascii_case("None") => {
                        tracing::info!(target: "alcedo::script", "{text}");
                    }
                    tag => tracing::info!(target: "alcedo::script", "{tag}: {text}"),
                }
                Ok(())
            },
        ),
        action("warn", "Writes a warning to the log.", vec![param::<String>("s")], |_world, frame| {
            let text = frame.take::<String>()?;
            frame.finish()?;
            cost::add(cost::LINE);
            tracing::warn!(target: "alcedo::script", "{text}");
            Ok(())
        }),
        plain!("name_of_text", "Converts a string to a name.", world, |s: String| -> Name { world.names.intern(&s) }),
        plain!("text_of_name", "Converts a name to a string.", world, |n: Name| -> String { world.text(n) }),
        plain!("is_none", "Returns true if a name is empty or `None`.", world, |n: Name| -> bool {
            let text = world.text(n);
            text.is_empty() || text.eq_ignore_ascii_case("None")
        }),
    ]
}

/// Converts a string to lower case without changing offsets. Leaves a character unchanged if its lower case has a different length.
fn folded(s: &str) -> String {
    let lower = |letter: char| {
        let mut lower = letter.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(one), None) if one.len_utf8() == letter.len_utf8() => one,
            _ => letter,
        }
    };
    s.chars().map(lower).collect()
}
