//! Frames of calls whose thunk is plugin code. The host stores the frame, and the plugin accesses the frame by a number. This number is
//! valid until the call returns. No address of a parameter crosses the ABI boundary. Each access looks up the value from the frame, and
//! therefore also finds a value that has moved.
#![expect(unsafe_code, reason = "finds frames on the stack of the host, below the plugin's")]

use std::ptr::NonNull;

use crate::boundary::{CallError, mismatch, not_found};
use crate::cells::InProgress;
use crate::object::World;
use crate::object::containers::array_ref;
use crate::object::names::Names;
use crate::object::property::PropertyType;
use crate::object::thunk::Frame;
use crate::object::value::Value;
use crate::object::values::ptr::Ptr;

/// Parameter number that refers to the result.
pub(crate) const RESULT: u32 = u32::MAX;

/// Active calls. Game thread only.
#[derive(Debug, Default)]
pub(crate) struct OpenFrames {
    open: InProgress<Open>,
}

#[derive(Debug)]
struct Open {
    /// `None` while the frame is in use.
    frame: Option<NonNull<Frame<'static>>>,
    /// Indexes of the parameters to which the plugin has advanced with [`OpenFrames::step`].
    params: Vec<usize>,
}

impl OpenFrames {
    /// Assigns a number to the frame, and passes this number to `call`.
    pub(crate) fn with_number<R>(&self, frame: &mut Frame<'_>, call: impl FnOnce(u64) -> R) -> R {
        let frame = Some(NonNull::from(frame).cast());
        let open = self.open.enter(Open { frame, params: Vec::new() });
        call(open.number())
    }

    /// Runs `code` with the frame that has this number, and with the indexes of the parameters to which the plugin has advanced.
    fn with<R>(
        &self,
        number: u64,
        code: impl FnOnce(&mut Frame<'_>, &mut Vec<usize>) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        let (mut at, mut params) = self.take(number)?;
        let _back = Back { frames: self, number, frame: at };
        // SAFETY: `with_number` borrows the frame while its number is in the list, and does not use the frame. The frame was removed from
        // its entry just now, so no other access finds it until `Back` returns it.
        let done = code(unsafe { at.as_mut() }, &mut params);
        self.open.with(number, |open| open.params = params);
        done
    }

    fn take(&self, number: u64) -> Result<(NonNull<Frame<'static>>, Vec<usize>), CallError> {
        let found = self.open.with(number, |open| {
            let used = || CallError::other("the frame is in use: an argument of this very call is being evaluated");
            Ok((open.frame.take().ok_or_else(used)?, std::mem::take(&mut open.params)))
        });
        let over = || CallError::Unavailable { what: "the frame of a call that has returned".into() };
        found.ok_or_else(over)?
    }

    /// Advances to the next parameter. Returns the number by which the plugin refers to this parameter: the count of the earlier
    /// parameters.
    pub(crate) fn step(&self, number: u64) -> Result<u32, CallError> {
        self.with(number, |frame, params| {
            params.push(frame.step_again()?);
            Ok(params.len() as u32 - 1)
        })
    }

    pub(crate) fn finish(&self, number: u64) -> Result<(), CallError> {
        self.with(number, |frame, _params| frame.finish())
    }

    /// Reads a parameter, or the element or field of a parameter that `path` selects.
    pub(crate) fn read<R>(
        &self,
        number: u64,
        param: u32,
        path: &str,
        code: impl FnOnce(Ptr<'_>) -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        self.with(number, |frame, params| frame.read_again(stepped(params, param)?, |value| code(part(value, path)?)))
    }

    /// Parses `text`, and writes the value to an out parameter or to the result.
    pub(crate) fn write(&self, number: u64, param: u32, text: &str, world: &World) -> Result<(), CallError> {
        let parsed = |ty: &PropertyType| {
            let value = value_of(text, ty, &world.names)?;
            world.check_objects(ty, &value, || format!("a {ty} read from text")).map(|()| value)
        };
        self.with(number, |frame, params| {
            if param != RESULT {
                return frame.change_again(stepped(params, param)?, |value| {
                    let read = parsed(value.as_ptr().ty())?;
                    value.write(&read).map_err(|error| CallError::other(error.to_string()))
                });
            }
            // Parses before the result is set, so an invalid string leaves the result unset.
            let read = parsed(&frame.result_property()?.ty)?;
            frame.set_result_value(&read)
        })
    }
}

struct Back<'a> {
    frames: &'a OpenFrames,
    number: u64,
    frame: NonNull<Frame<'static>>,
}

impl Drop for Back<'_> {
    fn drop(&mut self) {
        self.frames.open.with(self.number, |open| open.frame = Some(self.frame));
    }
}

fn stepped(params: &[usize], param: u32) -> Result<usize, CallError> {
    let none = || CallError::other(format!("parameter {param} was not stepped to: call `step` first, once for each"));
    params.get(param as usize).copied().ok_or_else(none)
}

/// Selects an element or a field of a value. `[3]` selects an element of an array. `.name` selects a field of a struct by its display name
/// or internal name.
fn part<'a>(value: Ptr<'a>, path: &str) -> Result<Ptr<'a>, CallError> {
    let missing =
        |at: Ptr<'_>, segment: &str| not_found(format!("`{segment}` of a {}: no such element or field", at.ty()));
    let (mut at, mut rest) = (value, path);
    while !rest.is_empty() {
        let (segment, after) = match rest.strip_prefix('[') {
            Some(inside) => inside.split_once(']').unwrap_or((inside, "")),
            None => {
                let name = rest.strip_prefix('.').unwrap_or(rest);
                name.split_at(name_len(at.ty(), name))
            }
        };
        let next = match (rest.starts_with('['), at.ty()) {
            (true, _) => segment.parse().ok().and_then(|index| array_ref(at)?.get(index)),
            (false, PropertyType::Struct(of)) => of.displayed_field(segment).and_then(|field| at.field(field)),
            _ => None,
        };
        (at, rest) = (next.ok_or_else(|| missing(at, segment))?, after);
    }
    Ok(at)
}

/// Returns the length of the field name at the start of a path. If several fields fit, for example because a display name contains a dot,
/// selects the longest name.
fn name_len(ty: &PropertyType, path: &str) -> usize {
    let is_first = |name: &&str| {
        let after = path.strip_prefix(*name);
        after.is_some_and(|after| after.is_empty() || after.starts_with(['.', '[']))
    };
    let known = match ty {
        PropertyType::Struct(of) => {
            let names = of.fields().iter().flat_map(|field| [&*field.display, &*field.text]);
            names.filter(is_first).map(str::len).max()
        }
        _ => None,
    };
    known.unwrap_or_else(|| path.find(['.', '[']).unwrap_or(path.len()))
}

/// Converts a number or an enum value to `f64`.
pub(crate) fn number(value: Ptr<'_>) -> Result<f64, CallError> {
    macro_rules! any_of {
        ($at:ident: $($ty:ty)*) => { None$(.or_else(|| $at.get::<$ty>().map(|it| it as f64)))* };
    }
    let at = value.number().unwrap_or(value);
    let found = at.get::<f64>().or_else(|| any_of!(at: f32 u8 u16 u32 u64 i8 i16 i32 i64));
    found.ok_or_else(|| mismatch(&"the value", value.ty(), &"a number"))
}

/// Formats a value. Names and strings of each kind except `LocalText` are formatted without quotes.
pub(crate) fn text(value: Ptr<'_>, names: &Names) -> String {
    match value.read() {
        Value::Text(text) | Value::Utf8(text) | Value::Ansi(text) => text,
        Value::Name(name) => names.text(name).to_string(),
        other => other.print(names),
    }
}

/// Parses the output of [`text`].
fn value_of(text: &str, ty: &PropertyType, names: &Names) -> Result<Value, CallError> {
    match ty {
        PropertyType::Text => Ok(Value::Text(text.to_owned())),
        PropertyType::Utf8Text => Ok(Value::Utf8(text.to_owned())),
        PropertyType::AnsiText => Ok(Value::Ansi(text.to_owned())),
        PropertyType::Name => Ok(Value::Name(names.intern(text))),
        ty => Value::parse(text, ty, names).map_err(|error| CallError::other(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::PropertyKind;

    use super::{Names, PropertyType, Value, part, text, value_of};
    use crate::object::decl::PropertyDecl;
    use crate::object::owned::OwnedValue;
    use crate::object::testing::structure;

    #[test]
    fn strings_of_each_kind_are_passed_unchanged() {
        let names = Names::default();
        for ty in [PropertyType::Text, PropertyType::Utf8Text, PropertyType::AnsiText, PropertyType::Name] {
            for expected in ["", "a b", "\"quoted\"", "a \\ b", " spaces "] {
                let mut value = OwnedValue::zero(ty.clone());
                value.write(&value_of(expected, &ty, &names).expect("a string")).expect("of this type");
                assert_eq!(text(value.as_ptr(), &names), expected, "{ty}");
            }
        }
    }

    #[test]
    fn a_field_is_found_by_a_display_name_with_dots_and_brackets() {
        let names = Names::default();
        let field = |name: &str, display: &str| {
            let mut field = PropertyDecl::new(name, PropertyKind::F64);
            field.meta.push(("display_name".to_owned(), display.to_owned()));
            field
        };
        let car = structure("Car", &[field("speed", "Speed [m/s]"), field("top", "Max. Speed"), field("max", "Max")]);
        let mut car = OwnedValue::zero(PropertyType::Struct(car));
        let value = Value::parse("(speed=2, top=9, max=4)", car.ty(), &names).expect("a car");
        car.write(&value).expect("of this type");
        for (path, expected) in
            [(".Speed [m/s]", "2"), (".speed", "2"), (".Max. Speed", "9"), ("Max. Speed", "9"), (".Max", "4")]
        {
            let found = part(car.as_ptr(), path).map(|found| text(found, &names));
            assert_eq!(found.as_deref(), Ok(expected), "{path}");
        }
        for missing in [".Speed", ".Speed [m/s].x", ".Max. Height"] {
            assert!(part(car.as_ptr(), missing).is_err(), "{missing}");
        }
    }
}
