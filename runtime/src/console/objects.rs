//! Console commands for objects: list, show, call, construct. An object is specified by name, path or handle (`MagicCube_3`, `#12.1`). A
//! class is specified by name, or by path with or without `/Script/`. Values are written in the form in which the console prints values.

use std::rc::Rc;

use super::{Answer, lines};
use crate::boundary::CallError;
use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::object::class::Class;
use crate::object::path::short;
use crate::object::property::Property;
use crate::object::value::Value;
use crate::runtime::Runtime;

/// Maximum number of listed lines. A longer list ends with the number of omitted lines.
const MOST: usize = 20;

/// Lists the live objects of a class, or all live objects.
pub(super) fn objects(runtime: &Runtime, class: Option<&str>) -> Answer {
    let class = class.map(|class| class_path(runtime, class)).transpose()?;
    let is_meant = |object: &ObjectHandle| class.as_ref().is_none_or(|class| runtime.objects().is_a(*object, class));
    let objects: Vec<_> = runtime.objects().iter().filter(is_meant).collect();
    let mut lines: Vec<_> = objects.iter().take(MOST).map(|object| title(runtime, *object)).collect();
    match objects.len() {
        0 => lines.push("no objects".to_owned()),
        count if count > MOST => lines.push(format!("… and {} more", count - MOST)),
        _ => {}
    }
    Ok(lines.join("\n"))
}

pub(super) fn classes(runtime: &Runtime) -> String {
    let classes = runtime.types().dynamic_classes();
    lines("no module has declared a class", classes.iter().map(|class| short(class).to_owned()))
}

pub(super) fn show(runtime: &Runtime, object: &str) -> Answer {
    let object = find(runtime, object)?;
    let mut lines = vec![title(runtime, object)];
    for property in runtime.objects().properties_of(object) {
        let value = runtime.objects().get(object, &property)?;
        lines.push(format!("  {property} = {}", print(runtime, &value)));
    }
    Ok(lines.join("\n"))
}

pub(super) fn get(runtime: &Runtime, object: &str, property: &str) -> Answer {
    let handle = find(runtime, object)?;
    let class = class_of(runtime, handle)?;
    if class.find_property(property).is_none() {
        return Err(lacks_property(&class, property).into());
    }
    Ok(print(runtime, &runtime.objects().get(handle, property)?))
}

pub(super) fn set(runtime: &Runtime, object: &str, property: &str, text: &str) -> Answer {
    let handle = find(runtime, object)?;
    let class = class_of(runtime, handle)?;
    let declared = class.find_property(property).ok_or_else(|| lacks_property(&class, property))?;
    let value = parse(runtime, declared, text)?;
    runtime.objects().set(handle, property, &value)?;
    get(runtime, object, property)
}

/// Calls a function of an object. The arguments are values in the form in which the console prints values. Prints the result, and then the
/// out parameters, one value per line.
pub(super) fn call(runtime: &Runtime, object: &str, function: &str, arguments: &str) -> Answer {
    let object = find(runtime, object)?;
    let class = class_of(runtime, object)?;
    let declared = class.find_function(function).ok_or_else(|| lacks(&class, "function", function))?;
    let (strings, parameters) = (split(arguments)?, declared.arguments());
    // Trailing arguments that have defaults may be omitted.
    let omitted = parameters.get(strings.len()..);
    if !omitted.is_some_and(|omitted| omitted.iter().all(|parameter| parameter.default.is_some())) {
        let (path, signature) = (&declared.path, declared.signature());
        return Err(format!("{path} takes ({signature}), and {} arguments were given", strings.len()).into());
    }
    let values = parameters.iter().zip(&strings).map(|(parameter, text)| parse(runtime, parameter, text));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    let (result, outs) = runtime.objects().call_with_out_parameters(object, function, &values)?;
    Ok(lines("done", result.iter().chain(&outs).map(|value| print(runtime, value))))
}

pub(super) fn spawn(runtime: &Runtime, class: &str) -> Answer {
    Ok(title(runtime, runtime.objects().spawn(&class_path(runtime, class)?)?))
}

pub(super) fn destroy(runtime: &Runtime, object: &str) -> Answer {
    let object = find(runtime, object)?;
    let title = title(runtime, object);
    runtime.core().end_object(object)?;
    Ok(format!("{title} is gone"))
}

/// Returns completions of the last word in a line, as whole lines.
pub(super) fn complete(runtime: &Runtime, line: &str, commands: &[&str]) -> Vec<String> {
    let begun = line.rsplit(char::is_whitespace).next().unwrap_or_default();
    let head = &line[..line.len() - begun.len()];
    let words: Vec<_> = head.split_whitespace().collect();
    let names: Vec<String> = match words.as_slice() {
        [] => commands.iter().map(|command| (*command).to_owned()).collect(),
        ["objects" | "spawn"] => {
            let classes = runtime.types().dynamic_classes();
            let paths = classes.iter().map(|class| short(class));
            paths
                .flat_map(|path| [Some(path), path.split_once('.').map(|(_, name)| name)])
                .flatten()
                .map(str::to_owned)
                .collect()
        }
        ["get" | "set" | "call" | "show" | "destroy"] => {
            runtime.objects().iter().filter_map(|object| runtime.objects().name_of(object)).collect()
        }
        ["get" | "set", object] => {
            find(runtime, object).map(|it| runtime.objects().properties_of(it)).unwrap_or_default()
        }
        ["call", object] => find(runtime, object)
            .and_then(|object| class_of(runtime, object))
            .map(|class| functions(&class))
            .unwrap_or_default(),
        _ => Vec::new(),
    };
    first(names.iter().filter(|name| name.starts_with(begun)).map(|name| format!("{head}{name}")))
}

/// Sorts completions, and returns the first [`MOST`] without duplicates.
pub(super) fn first(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<_> = lines.collect();
    lines.sort_unstable();
    lines.dedup();
    lines.truncate(MOST);
    lines
}

/// Finds an object by name, path or handle, or by the printed form of a reference.
fn find(runtime: &Runtime, named: &str) -> Result<ObjectHandle, String> {
    let found = runtime.objects().find_in(ObjectHandle::NONE, named).or_else(|| runtime.objects().at_path(named));
    let is_it = |object: &ObjectHandle| {
        let handle = object.to_string();
        handle == named
            || runtime.objects().name_of(*object).as_deref() == Some(named)
            || named.ends_with(&handle) && title(runtime, *object) == named
    };
    let found = found.or_else(|| runtime.objects().iter().find(is_it));
    found.ok_or_else(|| format!("object `{named}` not found: `objects` lists some, by name and number"))
}

fn class_of(runtime: &Runtime, object: ObjectHandle) -> Result<Rc<Class>, String> {
    let class = runtime.core().world.objects.class(object);
    class.ok_or_else(|| CallError::Stale { handle: object }.to_string())
}

fn lacks(class: &Class, what: &'static str, name: &str) -> String {
    Error::UnknownMember { class: class.path.to_string(), what, name: name.to_owned() }.to_string()
}

/// Returns the error for an unknown property. If `name` is a path into a property value, the error also contains the name of this property.
fn lacks_property(class: &Class, name: &str) -> String {
    let lacks = lacks(class, "property", name);
    let whole = name.split(['.', '[']).next().unwrap_or_default();
    match whole != name && class.find_property(whole).is_some() {
        true => format!("{lacks}: `{whole}` is read and written as a whole"),
        false => lacks,
    }
}

/// Returns the names of all functions of a class, including inherited functions.
pub(super) fn functions(class: &Rc<Class>) -> Vec<String> {
    class.lineage().flat_map(|class| &class.own_functions).map(|function| function.text.to_string()).collect()
}

/// Returns the path of a class. `named` is the path with or without `/Script/`, or the name of the class if this name is unique.
fn class_path(runtime: &Runtime, named: &str) -> Result<String, String> {
    let types = &runtime.core().world.types;
    let paths = [named.to_owned(), format!("/Script/{named}")];
    if let Some(known) = paths.into_iter().find(|path| types.class_by_path(path).is_some()) {
        return Ok(known);
    }
    let is_named = |class: &&Rc<Class>| short(&class.path).split_once('.').is_some_and(|(_, name)| name == named);
    let classes = types.classes();
    match classes.iter().filter(is_named).collect::<Vec<_>>()[..] {
        [] => Err(Error::UnknownClass { path: named.to_owned(), waiting: 0 }.to_string()),
        [class] => Ok(class.path.to_string()),
        ref several => {
            let paths: Vec<_> = several.iter().map(|class| class.short_path()).collect();
            Err(format!("`{named}` is the name of several classes: name one of {}", paths.join(", ")))
        }
    }
}

fn title(runtime: &Runtime, object: ObjectHandle) -> String {
    let class = runtime.objects().class_of(object).unwrap_or_default();
    format!("{}   {}   {object}", runtime.objects().name_of(object).unwrap_or_default(), short(&class))
}

/// Formats a value. Objects are formatted with their names.
fn print(runtime: &Runtime, value: &Value) -> String {
    match value {
        Value::Object(object) if runtime.objects().is_alive(*object) => title(runtime, *object),
        value => runtime.types().print(value),
    }
}

/// Parses a value. An object may be specified by name, path or handle. A string needs no quotes.
fn parse(runtime: &Runtime, property: &Property, text: &str) -> Result<Value, String> {
    if let Value::Object(_) = Value::zero(&property.ty)
        && text != "none"
    {
        return find(runtime, text).map(Value::Object);
    }
    let names = &runtime.core().world.names;
    let parsed = Value::parse(text, &property.ty, names);
    parsed.map_err(|error| format!("`{text}` is not a value of {}: {error}", property.text))
}

/// Splits arguments at spaces outside of quotes and parentheses.
fn split(text: &str) -> Result<Vec<String>, String> {
    let (mut parts, mut part, mut depth, mut quoted, mut escaped) = (Vec::new(), String::new(), 0_u32, false, false);
    for letter in text.trim().chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if letter.is_whitespace() && depth == 0 && !quoted {
            if !part.is_empty() {
                parts.push(std::mem::take(&mut part));
            }
        } else {
            part.push(letter);
        }
    }
    if quoted || depth != 0 {
        return Err(format!("`{text}` has an open {}", if quoted { "quote" } else { "parenthesis" }));
    }
    if !part.is_empty() {
        parts.push(part);
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn arguments_are_parted_by_spaces_outside_of_quotes_and_parentheses() {
        let check = |text: &str, expected: &[&str]| assert_eq!(split(text).unwrap(), expected, "{text}");
        check("", &[]);
        check(" 1  two ", &["1", "two"]);
        check(r#""a b" (x=1, y=2) "q\" (""#, &[r#""a b""#, "(x=1, y=2)", r#""q\" (""#]);
        assert!(split("\"open").unwrap_err().contains("quote"));
        assert!(split("(open").unwrap_err().contains("parenthesis"));
    }
}
