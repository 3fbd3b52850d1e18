//! `defaultproperties` and `structdefaultproperties`: checks property values against the property types.

use super::body::as_const;
use super::convert::{is_text, num_const};
use super::declare::Work;
use super::literals::is_infinite;
use super::symbols::At;
use super::{Checker, Found, Reported};
use crate::ast::{self, DefaultLine, DefaultValue, DefaultValueKind, Ident, Item};
use crate::diagnostic::Diagnostic;
use crate::hash::{HashMap, HashSet};
use crate::hir::{self, Const, Default, DefaultAction, Num, Path, Type};
use crate::source::Span;

/// Maximum number of array elements that the defaults of a package may create without listing them. For example, setting one element
/// creates all elements before it.
pub(super) const MAX_UNWRITTEN: u64 = 1 << 22;

/// Context of defaults: the class and its known subobjects.
pub(super) struct Place<'p> {
    pub(super) file: usize,
    /// Class whose properties are set.
    pub(super) class: &'p str,
    /// Class whose `defaultproperties` contain the line. Differs from `class` inside a subobject.
    pub(super) of: &'p str,
    /// Subobjects declared so far in the block, with their classes.
    pub(super) objects: &'p [(String, Path)],
}

impl<'a> Checker<'a> {
    pub(super) fn defaults_of(&self, work: &Work<'a>) -> (Vec<hir::Subobject>, Vec<Default>) {
        let mut blocks = work.items.iter().filter_map(|item| match item {
            Item::Defaults(found) => Some(found),
            _ => None,
        });
        let (mut subobjects, mut defaults, mut objects) = (Vec::new(), Vec::new(), Vec::new());
        let Some(found) = blocks.next() else { return (subobjects, defaults) };
        if let Some(second) = blocks.next() {
            let at = (work.file, second.keyword.span);
            self.report(Diagnostic::error("uc-declared-twice", at, "a second block of defaults"));
        }
        let at = (work.file, found.keyword.span);
        if found.keyword.is("structdefaultproperties") {
            let error = Diagnostic::error("uc-syntax", at, "these defaults do not belong to a struct");
            self.report(error.hint("write `defaultproperties`"));
            return (subobjects, defaults);
        }
        // Collects all subobjects first, because a line may refer to a subobject that a later line declares.
        for line in &found.lines {
            if let DefaultLine::Object(object) = line
                && let Some((name, class)) = self.subobject_head(object, work.file, &work.path)
            {
                objects.push((name, class));
            }
        }
        for line in &found.lines {
            let place = Place { file: work.file, class: &work.path, of: &work.path, objects: &objects };
            match line {
                DefaultLine::Object(object) => subobjects.extend(self.subobject(object, &place)),
                line => defaults.extend(self.default_line(line, &place)),
            }
        }
        self.count_grown(&defaults, &work.path, at);
        (subobjects, defaults)
    }

    pub(super) fn default_line(&self, line: &DefaultLine, place: &Place<'_>) -> Option<Default> {
        let (DefaultLine::Set(name, ..) | DefaultLine::Method(name, ..)) = line else { return None };
        let Some(found) = self.find_variable(place.class, &name.text) else {
            // Exported files contain the lines `Name=` and `ObjectArchetype=` for every object.
            let is_exported = name.is("name") || name.is("objectarchetype");
            if !(is_exported && matches!(line, DefaultLine::Set(_, None, _))) {
                self.no_variable(place.class, name, place.file);
            }
            return None;
        };
        if !found.readable {
            let message = format!("scripts cannot set `{}`: its declaration lacks `blueprint_read`", found.name);
            self.report(Diagnostic::error("uc-access", (place.file, name.span), message));
            return None;
        }
        let ty = found.ty.clone()?;
        let action = match line {
            DefaultLine::Set(_, None, value) => DefaultAction::Set(self.default_value(value, &ty, place).ok()?),
            DefaultLine::Set(_, Some(index), value) => self.element(index, value, &ty, place).ok()?,
            DefaultLine::Method(_, method, values, span) => {
                self.default_method(method, values, &ty, place, *span).ok()?
            }
            DefaultLine::Object(_) => return None,
        };
        let at = (place.file, name.span);
        Some(Default { owner: found.owner.clone(), property: found.name.clone(), action, line: self.line(at) })
    }

    /// Evaluates an index: a number, a constant or an enum entry.
    fn index_of(&self, index: &Ident, place: &Place<'_>) -> Found<u32> {
        let ident = |text: &str| Ident { text: text.trim().to_owned(), span: index.span };
        let kind = match crate::parse::whole(&index.text) {
            Some(number) => ast::ExprKind::Int(index.text.clone(), Some(number)),
            None => match index.text.split_once('.') {
                Some((of, entry)) => {
                    let kind = ast::ExprKind::Ident(ident(of));
                    ast::ExprKind::Member(Box::new(ast::Expr { kind, span: index.span, depth: 1 }), ident(entry))
                }
                None => ast::ExprKind::Ident(ident(&index.text)),
            },
        };
        let value = ast::Expr { kind, span: index.span, depth: 1 };
        let found = self.constant(&value, place.file, place.of, Some(&Type::INT))?;
        match as_const(&found) {
            Some(Const::Int(number) | Const::Enum(_, _, number)) if (0..=65_536).contains(number) => Ok(*number as u32),
            _ => self.refuse("uc-array-index", (place.file, index.span), format!("`{}` is not an index", index.text)),
        }
    }

    fn element(&self, index: &Ident, value: &DefaultValue, ty: &Type, place: &Place<'_>) -> Found<DefaultAction> {
        let at = (place.file, index.span);
        let number = self.index_of(index, place)?;
        match ty {
            Type::Fixed(of, len) if number < *len => {
                Ok(DefaultAction::SetElement(number, self.default_value(value, of, place)?))
            }
            Type::Fixed(_, len) => {
                let message = format!("the array has {len} elements: {number} is none of 0 to {}", len - 1);
                self.refuse("uc-array-index", at, message)
            }
            Type::Array(of) => Ok(DefaultAction::SetElement(number, self.default_value(value, of, place)?)),
            // Accepts index 0 for a variable that is not an array.
            ty if number == 0 => Ok(DefaultAction::Set(self.default_value(value, ty, place)?)),
            ty => self.refuse("uc-no-array", at, format!("`{ty}` has no elements")),
        }
    }

    fn default_method(
        &self,
        method: &Ident,
        values: &[DefaultValue],
        ty: &Type,
        place: &Place<'_>,
        span: Span,
    ) -> Found<DefaultAction> {
        let at = (place.file, method.span);
        let Type::Array(of) = ty else {
            let message = format!("`{ty}` is not a dynamic array: it has no operation `.{}`", method.text);
            return self.refuse("uc-no-array", at, message);
        };
        let number = |value: &DefaultValue| match value.kind {
            DefaultValueKind::Int(_, Some(number)) if (0..=65_536).contains(&number) => Ok(number as u32),
            _ => self.refuse("uc-array-index", (place.file, value.span), "a number from 0 on is missing here"),
        };
        match (method.text.to_ascii_lowercase().as_str(), values) {
            ("add", [value]) => Ok(DefaultAction::Add(self.default_value(value, of, place)?)),
            ("remove", [value]) => Ok(DefaultAction::Remove(self.default_value(value, of, place)?)),
            ("removeindex", [value]) => Ok(DefaultAction::RemoveIndex(number(value)?)),
            ("empty", []) => Ok(DefaultAction::Empty),
            ("add" | "remove" | "removeindex" | "empty", _) => {
                let message = format!("`{}` has another number of values here", method.text);
                self.refuse("uc-arguments", (place.file, span), message)
            }
            _ => {
                let message = format!("unknown operation `{}` in defaults", method.text);
                let error = Diagnostic::error("uc-unknown-function", at, message);
                Err(self.report(error.hint("`Add`, `Remove`, `RemoveIndex` and `Empty` are there")))
            }
        }
    }

    pub(super) fn default_value(&self, value: &DefaultValue, ty: &Type, place: &Place<'_>) -> Found<Const> {
        use DefaultValueKind as V;
        let at: At = (place.file, value.span);
        let refuse = |hint: &str| {
            Err(self.report(Diagnostic::error("uc-default", at, format!("this is not a value of `{ty}`")).hint(hint)))
        };
        match (&value.kind, ty) {
            (V::Empty, ty) => self.empty_of(ty, at),
            (V::Struct(fields), Type::Array(_) | Type::Set(_) | Type::Map(..)) if fields.is_empty() => {
                Ok(Const::Array(Vec::new()))
            }
            (V::Array(values), Type::Array(of)) => Ok(Const::Array(self.default_row(values, of, place)?)),
            (V::Array(values), Type::Fixed(of, len)) => {
                if values.len() > *len as usize {
                    return refuse(&format!("the array has {len} elements"));
                }
                let mut row = self.default_row(values, of, place)?;
                self.fill(&mut row, *len as usize, of, at)?;
                Ok(Const::Array(row))
            }
            (V::Struct(fields), Type::Struct(path)) => self.default_struct(fields, path, place),
            (V::Array(values), Type::Set(of)) => self.default_set(values, of, place),
            (V::Array(values), Type::Map(key, of)) => self.default_map(values, key, of, place),
            (_, Type::Set(_)) => refuse("write `(value, value)`"),
            (_, Type::Map(..)) => refuse("write `((key, value), (key, value))`"),
            (V::Word(names), ty) => self.default_word(names, value, ty, place),
            (V::Int(text, number), Type::Num(num)) => {
                let Some(number) = number else { return refuse("it does not fit in 64 bits") };
                self.number(*number as f64, Some(*number), text, *num, at)
            }
            (V::Float(text, number), Type::Num(num)) => self.number(*number, None, text, *num, at),
            (V::Int(_, Some(number @ (0 | 1))), Type::Bool) => Ok(Const::Bool(*number == 1)),
            (V::Int(_, Some(number)), Type::Enum(path, _)) => {
                let known = self.enumeration(path);
                let entry = known.as_ref().and_then(|found| found.entries.iter().find(|(_, known)| known == number));
                match entry {
                    Some((name, number)) => Ok(Const::Enum(path.clone(), name.clone(), *number)),
                    None => refuse("no entry of the enum has that number"),
                }
            }
            (V::Text(text), ty) if is_text(ty) => Ok(Const::Text(text.clone())),
            // Exported files write names without quotes.
            (V::Text(text) | V::Name(text) | V::Int(text, _), Type::Name) => Ok(name_of(text)),
            (V::Object(word, name), ty) => self.default_object(word, name, ty, value.span, place),
            // Exported files quote object names.
            (V::Text(text), Type::Object(_)) => {
                let word = Ident { text: text.clone(), span: value.span };
                self.default_word(&[word], value, ty, place)
            }
            (_, Type::Optional(_)) => refuse("optional values are set when the script runs"),
            (_, ty) if is_text(ty) => refuse("write strings between two `\"`"),
            (_, Type::Struct(_)) => refuse("write `(Field=value, Field=value)`"),
            (_, Type::Array(_) | Type::Fixed(..)) => refuse("write `(value, value)`, or one line for each element"),
            _ => refuse(""),
        }
    }

    /// Evaluates the elements of a set. Reports duplicates.
    fn default_set(&self, values: &[DefaultValue], of: &Type, place: &Place<'_>) -> Found<Const> {
        let (mut keys, mut row) = (HashSet::default(), Vec::new());
        for value in values {
            let found = self.default_value(value, of, place)?;
            self.add_key(&mut keys, &found, (place.file, value.span))?;
            row.push(found);
        }
        Ok(Const::Array(row))
    }

    /// Evaluates the pairs of a map. Reports duplicate keys.
    fn default_map(&self, values: &[DefaultValue], key: &Type, of: &Type, place: &Place<'_>) -> Found<Const> {
        let (mut keys, mut pairs) = (HashSet::default(), Vec::new());
        for value in values {
            let DefaultValueKind::Array(pair) = &value.kind else {
                let error = Diagnostic::error("uc-default", (place.file, value.span), "this is not a map entry");
                return Err(self.report(error.hint("write `(key, value)`")));
            };
            let [one, other] = pair.as_slice() else {
                let message = format!("a map entry is a key and a value, not {} values", pair.len());
                return self.refuse("uc-default", (place.file, value.span), message);
            };
            let found = self.default_value(one, key, place)?;
            self.add_key(&mut keys, &found, (place.file, one.span))?;
            pairs.push(Const::Array(vec![found, self.default_value(other, of, place)?]));
        }
        Ok(Const::Array(pairs))
    }

    /// Adds the key to the keys of a set or map. Each key is stored in its debug format, which differs for floats with different bits, as
    /// keys do when the script runs.
    fn add_key(&self, keys: &mut HashSet<String>, key: &Const, at: At) -> Found<()> {
        if keys.insert(format!("{key:?}")) { Ok(()) } else { self.refuse("uc-default", at, "this is a duplicate") }
    }

    fn empty_of(&self, ty: &Type, at: At) -> Found<Const> {
        Ok(match ty {
            Type::Fixed(of, len) => {
                let mut row = Vec::new();
                self.fill(&mut row, *len as usize, of, at)?;
                Const::Array(row)
            }
            Type::Num(num) if num.is_float() => Const::Float(0.0),
            Type::Num(_) => Const::Int(0),
            Type::Bool => Const::Bool(false),
            Type::Name => Const::Name(String::new()),
            Type::Struct(_) => Const::Struct(Vec::new()),
            Type::Array(_) | Type::Set(_) | Type::Map(..) => Const::Array(Vec::new()),
            Type::Enum(path, _) => {
                let first = self.enumeration(path).and_then(|found| found.entries.first().cloned());
                first.map_or(Const::Int(0), |(name, number)| Const::Enum(path.clone(), name, number))
            }
            ty if is_text(ty) => Const::Text(String::new()),
            _ => Const::None,
        })
    }

    fn default_row(&self, values: &[DefaultValue], of: &Type, place: &Place<'_>) -> Found<Vec<Const>> {
        let found: Vec<_> = values.iter().map(|value| self.default_value(value, of, place)).collect();
        found.into_iter().collect()
    }

    /// Adds to the package's number of array elements that the source does not list. Reports an error when the sum first exceeds
    /// [`MAX_UNWRITTEN`].
    fn count_unwritten(&self, values: u64, at: At) -> Found<()> {
        let left = self.unwritten.get();
        self.unwritten.set(left.saturating_sub(values));
        if values <= left {
            return Ok(());
        }
        if left > 0 {
            let message = format!(
                "the defaults of the package have more than {MAX_UNWRITTEN} elements that the source does not list"
            );
            self.report(Diagnostic::error("uc-array-length", at, message));
        }
        Err(Reported)
    }

    /// Counts the elements that are created because a line assigns an element past the end of a dynamic array.
    pub(super) fn count_grown(&self, lines: &[Default], class: &str, at: At) {
        let mut lens: HashMap<&str, u64> = HashMap::default();
        for line in lines {
            if let DefaultAction::SetElement(index, _) = line.action {
                let len = lens.entry(&line.property).or_default();
                *len = (*len).max(u64::from(index) + 1);
            }
        }
        let grown = lens.into_iter().map(|(name, len)| match self.find_property(class, name)?.ty.as_ref()? {
            Type::Array(of) => Some(self.values_in(of).saturating_mul(len)),
            _ => None,
        });
        let _ = self.count_unwritten(grown.flatten().fold(0, u64::saturating_add), at);
    }

    /// Extends an array to a length with values that the source does not list.
    fn fill(&self, row: &mut Vec<Const>, len: usize, of: &Type, at: At) -> Found<()> {
        let missing = len.saturating_sub(row.len());
        self.count_unwritten(self.values_in(of).saturating_mul(missing as u64), at)?;
        let empty = self.empty_of(of, at)?;
        row.extend(std::iter::repeat_n(empty, missing));
        Ok(())
    }

    fn default_struct(
        &self,
        fields: &[(Ident, Option<Ident>, DefaultValue)],
        path: &Path,
        place: &Place<'_>,
    ) -> Found<Const> {
        let Some(structure) = self.structure(path) else { return Err(Reported) };
        let mut reported = None;
        let mut made: Vec<(String, Const)> = Vec::new();
        for (name, index, value) in fields {
            let Some(field) = structure.by_name.get(&name.text) else {
                if structure.broken {
                    reported = Some(Reported);
                    continue;
                }
                let struct_name = path.rsplit('.').next().unwrap_or(path);
                let message = format!("`{struct_name}` has no field `{}`", name.text);
                reported = Some(self.report(Diagnostic::error("uc-unknown-member", (place.file, name.span), message)));
                continue;
            };
            let Some(ty) = &field.ty else {
                reported = Some(Reported);
                continue;
            };
            let one = match index {
                None => self.default_value(value, ty, place),
                Some(index) => {
                    let earlier = made.iter().position(|(known, _)| *known == field.name);
                    let before = match earlier.map(|at| made.swap_remove(at).1) {
                        Some(earlier) => Ok(Some(earlier)),
                        None => self.row_of(structure.defaults.get(&field.name), ty, (place.file, index.span)),
                    };
                    before.and_then(|before| self.row_with(index, value, ty, before, place))
                }
            };
            match one {
                Ok(one) => {
                    made.retain(|(known, _)| *known != field.name);
                    made.push((field.name.clone(), one));
                }
                Err(Reported) => reported = Some(Reported),
            }
        }
        reported.map_or(Ok(Const::Struct(made)), Err)
    }

    /// Returns a copy of the default of an array. The copied elements count as elements that the source does not list.
    fn row_of(&self, default: Option<&std::rc::Rc<Const>>, ty: &Type, at: At) -> Found<Option<Const>> {
        let (Some(Const::Array(row) | Const::Elements(row, _)), Type::Array(of) | Type::Fixed(of, _)) =
            (default.map(|default| &**default), ty)
        else {
            return Ok(None);
        };
        self.count_unwritten(self.values_in(of).saturating_mul(row.len() as u64), at)?;
        Ok(Some(Const::Elements(row.clone(), Vec::new())))
    }

    /// Sets one element of an array in a struct value, after earlier elements of this array were set. Returns the array. Rejects types other
    /// than arrays.
    pub(super) fn row_with(
        &self,
        index: &Ident,
        value: &DefaultValue,
        ty: &Type,
        before: Option<Const>,
        place: &Place<'_>,
    ) -> Found<Const> {
        let (Type::Array(of) | Type::Fixed(of, _)) = ty else {
            return self.refuse("uc-no-array", (place.file, index.span), format!("`{ty}` has no elements"));
        };
        let number = self.index_of(index, place)? as usize;
        let limit = if let Type::Fixed(_, len) = ty { *len as usize } else { 65_536 };
        if number >= limit {
            let message = format!("the array has {limit} elements: {number} is none of 0 to {}", limit - 1);
            return self.refuse("uc-array-index", (place.file, index.span), message);
        }
        let (mut row, set) = match before {
            Some(Const::Array(row)) => (row, None),
            Some(Const::Elements(row, set)) => (row, Some(set)),
            _ => (Vec::new(), Some(Vec::new())),
        };
        // The value of a fixed array always contains all elements.
        let len = if matches!(ty, Type::Fixed(..)) { limit } else { number + 1 };
        self.fill(&mut row, len, of, (place.file, index.span))?;
        row[number] = self.default_value(value, of, place)?;
        let Some(mut set) = set else { return Ok(Const::Array(row)) };
        set.push(number as u32);
        Ok(Const::Elements(row, set))
    }

    fn number(&self, float: f64, whole: Option<i128>, text: &str, num: Num, at: At) -> Found<Const> {
        let Some((low, high)) = num.range() else {
            let found = num_const(float, whole, num);
            if is_infinite(&found) {
                let message = format!("{text} does not fit in a `{}`", num.script_name());
                return self.refuse("uc-number-range", at, message);
            }
            return Ok(found);
        };
        let is_hex = text.contains(['x', 'X']);
        let number = whole.unwrap_or(float as i128);
        if (low..=high).contains(&number) {
            return Ok(Const::Int(number));
        }
        // A hexadecimal literal specifies the bit pattern of a signed number.
        if is_hex && low < 0 && number >= 0 && number < 1 << num.bits() {
            return Ok(Const::Int(number - (1 << num.bits())));
        }
        let message = format!("{text} does not fit in `{}`: its range is {low} to {high}", num.script_name());
        self.refuse("uc-number-range", at, message)
    }
}

pub(super) fn name_of(text: &str) -> Const {
    Const::Name(if text.eq_ignore_ascii_case("none") { String::new() } else { text.to_owned() })
}
