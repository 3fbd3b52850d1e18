//! Types as signatures write them, in the words of Rust.

use std::collections::BTreeMap;

use crate::error::GlueError;
use crate::text::{is_name, own_name, word};

/// Where types are found: those of the module itself, those of the plugin API, and those of other glue.
pub(crate) struct Names<'a> {
    /// The types that are written here: their paths, by their names.
    pub(crate) own: BTreeMap<&'a str, &'a str>,
    /// Rust paths of other packages.
    pub(crate) elsewhere: &'a BTreeMap<String, String>,
}

impl Names<'_> {
    /// The Rust type; `member` has it.
    pub(crate) fn of(&self, member: &str, text: &str) -> Result<String, GlueError> {
        let unknown = || GlueError::Unknown { member: member.to_owned(), text: text.to_owned() };
        if text.starts_with('/') {
            return self.path(member, text);
        }
        let Some((name, inside)) = text.split_once('(') else { return plain(text).ok_or_else(unknown) };
        let inside = inside.strip_suffix(')').ok_or_else(unknown)?;
        let all = |texts: &[&str]| texts.iter().map(|text| self.of(member, text)).collect::<Result<Vec<_>, _>>();
        let parts = split(inside, ',');
        match (name, parts.len()) {
            ("Object", 1) => Ok(format!("Obj<{}>", self.path(member, inside)?)),
            ("Enum", 1) => self.path(member, inside),
            ("SubclassOf" | "SoftClass" | "SoftObject" | "LazyObject" | "WeakObject" | "ScriptInterface", 1) => {
                Ok(format!("{name}<{}>", self.path(member, inside)?))
            }
            ("Array" | "Set" | "Optional", 1) | ("Map", 2) => Ok(format!("U{name}<{}>", all(&parts)?.join(", "))),
            ("Delegate" | "MulticastDelegate" | "SparseDelegate", _) => {
                if let (Some(path), _) = named(inside) {
                    return self.path(member, path);
                }
                let (params, result) = signature(inside);
                let result = result.map(|result| self.of(member, result)).transpose()?;
                let result = result.map(|result| format!(" -> {result}")).unwrap_or_default();
                Ok(format!("{name}<fn({}){result}>", all(&split(params, ','))?.join(", ")))
            }
            _ => Err(unknown()),
        }
    }

    /// The Rust name of a type that has a path.
    pub(crate) fn path(&self, member: &str, path: &str) -> Result<String, GlueError> {
        let short = path.strip_prefix("/Script/").unwrap_or(path);
        let (package, _) = short.split_once('.').unwrap_or(("", short));
        let name = own_name(path);
        if self.own.get(name) == Some(&path) {
            return Ok(word(name));
        }
        if path == "/Script/Core.Object" {
            // Another type of that name hides the one that every plugin has.
            let prefix = if self.own.contains_key(name) { "alcedo_plugin_api::" } else { "" };
            return Ok(format!("{prefix}{name}"));
        }
        match self.elsewhere.get(package) {
            Some(_) if !is_name(name) => Err(GlueError::Name { owner: member.to_owned(), name: name.to_owned() }),
            Some(module) => Ok(format!("{module}::{}", word(name))),
            None => Err(GlueError::Elsewhere {
                member: member.to_owned(),
                path: path.to_owned(),
                package: package.to_owned(),
            }),
        }
    }
}

/// Types without parts.
fn plain(text: &str) -> Option<String> {
    let name = match text {
        "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" | "f32" | "f64" | "bool" | "String"
        | "FieldPath" => text,
        "Utf8String" => "UUtf8String",
        "AnsiString" => "UAnsiString",
        "Name" => "UName",
        "Text" => "UText",
        _ => return None,
    };
    Some(name.to_owned())
}

/// The path of the delegate that stands in the parentheses of a type, where it has a name, and its signature.
pub(crate) fn named(inside: &str) -> (Option<&str>, &str) {
    let (path, rest) = inside.split_at(inside.find([',', '(', ')', ' ']).unwrap_or(inside.len()));
    match rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(signature) if path.starts_with('/') => (Some(path), signature),
        _ => (None, inside),
    }
}

/// What a signature takes and gives.
pub(crate) fn signature(text: &str) -> (&str, Option<&str>) {
    let parts = split_at_arrow(text);
    match parts {
        Some((params, result)) => (params.trim(), Some(result.trim())),
        None => (text.trim(), None),
    }
}

fn split_at_arrow(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '-' if depth == 0 && text[at..].starts_with("->") => return Some((&text[..at], &text[at + 2..])),
            _ => {}
        }
    }
    None
}

/// The parts between separators that stand in no parentheses.
pub(crate) fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            letter if letter == separator && depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Names;

    #[test]
    fn each_type_has_a_rust_type_or_a_reason() {
        let elsewhere = BTreeMap::from([("Engine".to_owned(), "engine_glue".to_owned())]);
        let own = [("Cube", "/Script/Game.Cube"), ("OnHit", "/Script/Game.Cube:OnHit")];
        let names = Names { own: BTreeMap::from(own), elsewhere: &elsewhere };
        for (text, expected) in [
            ("f64", "f64"),
            ("AnsiString", "UAnsiString"),
            ("/Script/Engine.Vector", "engine_glue::Vector"),
            ("Object(/Script/Game.Cube)", "Obj<Cube>"),
            ("Object(/Script/Core.Object)", "Obj<Object>"),
            ("SoftClass(/Script/Game.Cube)", "SoftClass<Cube>"),
            (
                "Map(Name, Array(Optional(/Script/Engine.Vector)))",
                "UMap<UName, UArray<UOptional<engine_glue::Vector>>>",
            ),
            ("Delegate()", "Delegate<fn()>"),
            ("SparseDelegate(/Script/Game.Cube:OnHit(f64))", "OnHit"),
            ("Delegate(/Script/Engine.Vector, u8)", "Delegate<fn(engine_glue::Vector, u8)>"),
            ("Delegate(/Script/Engine.OnTick(f32 -> Array(u8)))", "engine_glue::OnTick"),
            ("Delegate(f64, Map(u8, Name) -> bool)", "Delegate<fn(f64, UMap<u8, UName>) -> bool>"),
            ("SparseDelegate(Name, Delegate(u8 -> u8))", "SparseDelegate<fn(UName, Delegate<fn(u8) -> u8>)>"),
        ] {
            assert_eq!(names.of("x", text).unwrap_or_else(|error| panic!("{error}")), expected, "{text}");
        }
        let error = |text: &str| names.of("Game.Cube.x", text).expect_err("it has none").to_string();
        assert!(error("/Script/Other.Thing").contains("--package Other="), "{}", error("/Script/Other.Thing"));
        for text in ["kind 77", "Map(u8)", "Array(", "", "Queue(u8)"] {
            assert!(error(text).contains("Game.Cube.x"), "{text}");
        }
    }
}
