//! Library functions for strings and names. Indices and lengths count characters.

use alcedo_base::handles::Name;
use alcedo_reflect::decl::FunctionDecl;

use crate::{cost, size};

use super::build::{action, param, plain, pure, result};

pub(super) fn functions() -> Vec<FunctionDecl> {
    vec![
        plain!("len", "How many letters.", |s: String| -> i32 { s.chars().count() as i32 }),
        plain!(
            "in_str",
            "Finds t in s, from the left or from the right, from a letter on; -1 if it is not found.",
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
        plain!("mid", "Letters from that place on, so many or all.", |s: String, i: i32, j: i32 = "2147483647"| -> String {
            s.chars().skip(i.max(0) as usize).take(j.max(0) as usize).collect()
        }),
        plain!("left", "The first letters.", |s: String, i: i32| -> String {
            s.chars().take(i.max(0) as usize).collect()
        }),
        plain!("right", "The last letters.", |s: String, i: i32| -> String {
            let skipped = s.chars().count().saturating_sub(i.max(0) as usize);
            s.chars().skip(skipped).collect()
        }),
        plain!("caps", "In upper case.", |s: String| -> String { s.to_uppercase() }),
        plain!("locs", "In lower case.", |s: String| -> String { s.to_lowercase() }),
        plain!("chr", "The letter of that number; empty where there is none.", |i: i32| -> String {
            u32::try_from(i).ok().and_then(char::from_u32).map(String::from).unwrap_or_default()
        }),
        plain!("asc", "The number of the first letter; 0 without one.", |s: String| -> i32 {
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
        plain!("trim", "Without the spaces around it.", |s: String| -> String { s.trim().to_owned() }),
        plain!("starts_with", "Whether s begins with t.", |s: String, t: String| -> bool { s.starts_with(&t) }),
        plain!("ends_with", "Whether s ends with t.", |s: String, t: String| -> bool { s.ends_with(&t) }),
        plain!(
            "split_string",
            "The parts between delimiters, all or those that are not empty.",
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
            "The rest of s from the first t on, with t or without; all of s without one.",
            |s: String, t: String, omit: bool = "false"| -> String {
                match s.find(&t) {
                    Some(at) if omit => s[at + t.len()..].to_owned(),
                    Some(at) => s[at..].to_owned(),
                    None => s,
                }
            }
        ),
        plain!("to_hex", "A number in eight hexadecimal digits.", |a: i32| -> String { format!("{a:08X}") }),
        plain!("join_array", "The parts with delimiters between.", |parts: Vec<String>, delimiter: String = ","| -> String {
            let delimiters = parts.len().saturating_sub(1).saturating_mul(delimiter.len());
            size::text(parts.iter().map(String::len).fold(delimiters, usize::saturating_add))?;
            parts.join(&delimiter)
        }),
        plain!("contains_text", "Whether t is in s.", |s: String, t: String| -> bool { s.contains(&t) }),
        plain!("reverse_text", "The letters from the last to the first.", |s: String| -> String {
            s.chars().rev().collect()
        }),
        plain!("is_numeric", "Whether a text is a number and nothing else.", |s: String| -> bool {
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
        action("warn", "Tells the log a text as a warning.", vec![param::<String>("s")], |_world, frame| {
            let text = frame.take::<String>()?;
            frame.finish()?;
            cost::add(cost::LINE);
            tracing::warn!(target: "alcedo::script", "{text}");
            Ok(())
        }),
        pure("name_of_text", "The name of a text.", vec![param::<String>("s"), result::<Name>()], |world, frame| {
            let text = frame.take::<String>()?;
            frame.finish()?;
            frame.give_result(world.names.intern(&text))
        }),
        pure("text_of_name", "The text of a name.", vec![param::<Name>("n"), result::<String>()], |world, frame| {
            let name = frame.take::<Name>()?;
            frame.finish()?;
            frame.give_result(world.text(name))
        }),
        pure(
            "is_none",
            "Whether a name is empty, or `None`.",
            vec![param::<Name>("n"), result::<bool>()],
            |world, frame| {
                let name = frame.take::<Name>()?;
                frame.finish()?;
                let text = world.text(name);
                frame.give_result(text.is_empty() || text.eq_ignore_ascii_case("None"))
            },
        ),
    ]
}

/// Converts a string to lower case; keeps characters whose lower case has another length, so that offsets do not change.
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
