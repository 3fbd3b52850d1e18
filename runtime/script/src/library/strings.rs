//! Library functions for strings and names. Indices and lengths count characters.

use alcedo_base::handles::Name;
use alcedo_base::log;
use alcedo_reflect::decl::FunctionDecl;

use crate::value::is_empty_name;
use crate::{cost, size};

use super::build::library;

pub(super) fn functions() -> Vec<FunctionDecl> {
    library! { world, frame:
        /// Returns the number of characters.
        fn len(s: String) -> i32 { s.chars().count() as i32 }

        /// Returns the index of t in s, searching from the left or right, from a start index; -1 if not found.
        fn in_str(
            s: String, t: String, from_right: bool = "false", ignore_case: bool = "false", start: i32 = "-1"
        ) -> i32 {
            let (s, t) = if ignore_case { (folded(&s), folded(&t)) } else { (s, t) };
            let start = usize::try_from(start).ok();
            let start = start.map(|start| s.char_indices().nth(start).map_or(s.len(), |(at, _)| at));
            let found = match from_right {
                true => s[..start.unwrap_or(s.len())].rfind(&t),
                false => s[start.unwrap_or(0)..].find(&t).map(|at| at + start.unwrap_or(0)),
            };
            found.map_or(-1, |at| s[..at].chars().count() as i32)
        }

        /// Returns j or all characters from index i.
        fn mid(s: String, i: i32, j: i32 = "2147483647") -> String {
            s.chars().skip(i.max(0) as usize).take(j.max(0) as usize).collect()
        }

        /// Returns the first characters.
        fn left(s: String, i: i32) -> String { s.chars().take(i.max(0) as usize).collect() }

        /// Returns the last characters.
        fn right(s: String, i: i32) -> String {
            let skipped = s.chars().count().saturating_sub(i.max(0) as usize);
            s.chars().skip(skipped).collect()
        }

        /// Converts to upper case.
        fn caps(s: String) -> String { s.to_uppercase() }

        /// Converts to lower case.
        fn locs(s: String) -> String { s.to_lowercase() }

        /// Returns the character of a code; empty if the code is invalid.
        fn chr(i: i32) -> String {
            u32::try_from(i).ok().and_then(char::from_u32).map(String::from).unwrap_or_default()
        }

        /// Returns the code of the first character; 0 for an empty string.
        fn asc(s: String) -> i32 { s.chars().next().map_or(0, |letter| letter as i32) }

        /// Replaces every occurrence of a string.
        fn repl(src: String, this: String, with: String, case_sensitive: bool = "true") -> String {
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

        /// Removes leading and trailing spaces.
        fn trim(s: String) -> String { s.trim().to_owned() }

        /// Returns true if s begins with t.
        fn starts_with(s: String, t: String) -> bool { s.starts_with(&t) }

        /// Returns true if s ends with t.
        fn ends_with(s: String, t: String) -> bool { s.ends_with(&t) }

        /// Returns the parts between delimiters, all or only non-empty ones.
        fn split_string(s: String, delimiter: String = ",", cull_empty: bool = "false") -> Vec<String> {
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

        /// Returns the rest of s from the first t on, with or without t; all of s if t is not found.
        fn split(s: String, t: String, omit: bool = "false") -> String {
            match s.find(&t) {
                Some(at) if omit => s[at + t.len()..].to_owned(),
                Some(at) => s[at..].to_owned(),
                None => s,
            }
        }

        /// Formats a number in eight hexadecimal digits.
        fn to_hex(a: i32) -> String { format!("{a:08X}") }

        /// Joins strings with a delimiter.
        fn join_array(parts: Vec<String>, delimiter: String = ",") -> String {
            let delimiters = parts.len().saturating_sub(1).saturating_mul(delimiter.len());
            size::text(parts.iter().map(String::len).fold(delimiters, usize::saturating_add))?;
            parts.join(&delimiter)
        }

        /// Returns true if s contains t.
        fn contains_text(s: String, t: String) -> bool { s.contains(&t) }

        /// Reverses the characters.
        fn reverse_text(s: String) -> String { s.chars().rev().collect() }

        /// Returns true if a string is a number.
        fn is_numeric(s: String) -> bool {
            let digits = s.strip_prefix(['-', '+']).unwrap_or(&s);
            digits.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.') && digits.parse::<f64>().is_ok()
        }

        /// Writes a line to the log, with a tag before it.
        fn log(s: String, tag: Name = "None") {
            cost::add(cost::LINE);
            match world.text(tag) {
                tag if is_empty_name(&tag) => log!(target: "alcedo::script", INFO, "{s}"),
                tag => log!(target: "alcedo::script", INFO, "{tag}: {s}"),
            }
        }

        /// Writes a warning to the log.
        fn warn(s: String) {
            cost::add(cost::LINE);
            log!(target: "alcedo::script", WARN, "{s}");
        }

        /// Converts a string to a name. `None`, in any case, is the empty name, as in a cast.
        fn name_of_text(s: String) -> Name { world.names.intern(if is_empty_name(&s) { "" } else { &s }) }

        /// Converts a name to a string.
        fn text_of_name(n: Name) -> String { world.text(n) }

        /// Returns true if a name is empty or `None`.
        fn is_none(n: Name) -> bool { is_empty_name(&world.text(n)) }
    }
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
