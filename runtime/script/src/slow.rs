//! Operations that are too complex for one linked instruction: strings, structs, conversions, casts, places with several steps, and new
//! objects. The module [`intrinsic`](crate::intrinsic) contains the operations on containers.

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::boundary::{CallError, catch_panics};
use alcedo_base::handles::{Name, ObjectHandle};
use alcedo_reflect::World;
use alcedo_reflect::construction::ConstructionArgs;
use alcedo_reflect::enums::whole;
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::value::{Binding, Value};
use alcedo_reflect::values::ptr::Ptr;
use alcedo_uc::hir::{Cast, Conversion, Op, Operand, Unary};

use crate::cost;
use crate::exec::{Slot, Slow, Source, Transfer};
use crate::intrinsic::{equal, missing};
use crate::machine::Machine;
use crate::place::Registers;
use crate::size;
use crate::value::{Number, from_text, handle, is_empty_name, name, number, plain_text, text_value, to_num, to_text};

impl Machine {
    /// Runs a slow operation.
    ///
    /// # Errors
    /// Returns the error of the operation.
    #[inline(never)]
    pub(crate) fn slow(&self, world: &World, slow: &Slow, registers: &Registers) -> Result<Transfer, CallError> {
        let put = |slot: &Slot, value: &Value| {
            let written = registers.ptr_mut(slot).write(value);
            written.map_err(|error| CallError::other(format!("{} is not of type {}", error.found, error.expected)))
        };
        match slow {
            Slow::Init(slot, initial) => registers.clear(Some(slot), initial.as_ref())?,
            Slow::Copy(slot, source) => cost::copy(registers.ptr_mut(slot), registers.source(source)),
            Slow::Unary(op, slot, source) => put(slot, &unary(op, registers.source(source))?)?,
            Slow::Binary(op, on, slot, left, right) => {
                let value = binary(world, *op, on, registers.source(left), registers.source(right))?;
                put(slot, &value)?;
            }
            Slow::Triple(triple_op, slot, left, right) => registers.make(*triple_op, slot, left, right),
            Slow::Convert(by, slot, source) => {
                let from = registers.source(source);
                // Copies the value directly into the optional, because a temporary `Value` would take more memory.
                if matches!(by, Conversion::ToOptional) && registers.ptr_mut(slot).set_content(from) {
                    cost::add(cost::of(from));
                } else {
                    put(slot, &convert(world, by, &slot.property.ty, from)?)?;
                }
            }
            Slow::Cast(cast, slot, source) => put(slot, &cast_value(world, cast, slot, registers.source(source))?)?,
            Slow::Load(slot, place) => match self.found(registers.read(world, place)?) {
                Some(from) => cost::copy(registers.ptr_mut(slot), from),
                None => cost::copy(registers.ptr_mut(slot), missing(&place.property)?.as_ptr()),
            },
            Slow::Store(place, source) => {
                if let Some(mut to) = self.found(registers.write(world, place)?) {
                    let mark = world.broadcasts.before_write(to.reborrow());
                    cost::copy(to.reborrow(), registers.source(source));
                    world.broadcasts.after_write(mark, to.as_ptr());
                }
            }
            Slow::SelfClass(slot) => put(slot, &class_of(world, registers.object, registers.class))?,
            Slow::ClassOf(slot, source) => {
                put(slot, &class_of(world, handle(&registers.source(source).read()), Name::default()))?;
            }
            Slow::Intrinsic { what, place, args, to } => {
                return self.intrinsic(world, what, place, args, to.as_ref(), registers);
            }
            Slow::SetLength(place, length) => self.set_length(world, place, length, registers)?,
            Slow::Bind(slot, object, function) => {
                let object =
                    object.as_ref().map_or(registers.object, |object| handle(&registers.source(object).read()));
                let binding = match world.objects.is_alive(object) {
                    true => Binding { object, function: *function },
                    false => Binding::default(),
                };
                put(slot, &Value::Delegate(binding))?;
            }
            Slow::New { to, class, outer, name, template } => {
                let text = |source: &Source| read_text(registers.source(source), world);
                let object = |source: &Source| handle(&registers.source(source).read());
                let (of, name) =
                    (crate::value::name(&registers.source(class).read()), name.as_ref().map(text).transpose()?);
                let template = template.as_ref().map(object);
                cost::add(cost::NEW_OBJECT);
                let outer = outer.as_ref().map_or(registers.object, object);
                let made = self.construct(world, of, outer, name.filter(|name| !is_empty_name(name)), template)?;
                put(to, &Value::Object(made))?;
                return Ok(Transfer::Out);
            }
            Slow::Fail(message) => return Err(CallError::other(&**message)),
        }
        Ok(Transfer::None)
    }

    fn construct(
        &self,
        world: &World,
        class: Name,
        outer: ObjectHandle,
        name: Option<String>,
        template: Option<ObjectHandle>,
    ) -> Result<ObjectHandle, CallError> {
        let path = world.names.text(class);
        let Some(found) = world.types.class_by_path(&path) else {
            self.warn("an object without a class is created: the result is none");
            return Ok(ObjectHandle::NONE);
        };
        let host = self.host.borrow().clone();
        let host =
            host.ok_or_else(|| CallError::other(format!("a new {path} is refused: this machine has no host")))?;
        let args = ConstructionArgs {
            name: name.map(|name| world.names.intern(&name)),
            outer,
            archetype: template.filter(|template| !template.is_none()),
            root: false,
        };
        let _mark = self.mark();
        catch_panics(|| host.construct(world, &found, args))
    }
}

fn binary(world: &World, op: Op, on: &Operand, left: Ptr<'_>, right: Ptr<'_>) -> Result<Value, CallError> {
    let not = |equal: bool| Value::Bool(if matches!(op, Op::Ne | Op::Xor) { !equal } else { equal });
    match on {
        Operand::Text => compare_or_join(op, &read_text(left, world)?, &read_text(right, world)?),
        Operand::Object => Ok(not(reference(world, &size::read(left)?) == reference(world, &size::read(right)?))),
        Operand::Bool | Operand::Name | Operand::Struct(_) | Operand::Delegate | Operand::Value => {
            if left.ty() == right.ty() || *on == Operand::Value {
                cost::add(cost::of(left));
                return Ok(not(equal(world, left, right)));
            }
            Ok(not(size::read(left)? == size::read(right)?))
        }
        // Not reached, because the loader translates operators on these operands to dedicated instructions.
        Operand::Num(_)
        | Operand::Enum(_)
        | Operand::Triple(_)
        | Operand::TripleScalar(_)
        | Operand::ScalarTriple(_)
        | Operand::Turned(..) => Err(CallError::other(format!("{op:?} is not defined for a {}", left.ty()))),
    }
}

/// Returns a number that identifies the target of a reference. Two references are equal if their numbers are equal. References to destroyed
/// objects equal none.
fn reference(world: &World, value: &Value) -> u64 {
    match value {
        Value::Object(_) | Value::WeakObject(_) | Value::ScriptInterface(_) => {
            let object = handle(value);
            if world.objects.is_alive(object) { object.0 } else { ObjectHandle::NONE.0 }
        }
        value => u64::from(name(value).0),
    }
}

/// Reads a string or name, and adds the cost of this copy. Returns an empty string for other types.
fn read_text(from: Ptr<'_>, world: &World) -> Result<String, CallError> {
    Ok(plain_text(&size::read(from)?, world).unwrap_or_default())
}

fn compare_or_join(op: Op, left: &str, right: &str) -> Result<Value, CallError> {
    if matches!(op, Op::Concat | Op::ConcatSpaced) {
        size::text(left.len().saturating_add(right.len()).saturating_add(1))?;
    }
    Ok(match op {
        Op::Concat => Value::Text(format!("{left}{right}")),
        Op::ConcatSpaced => Value::Text(format!("{left} {right}")),
        Op::TextWithout if right.is_empty() => Value::Text(left.to_owned()),
        Op::TextWithout => Value::Text(left.replace(right, "")),
        Op::Near => Value::Bool(left.to_lowercase() == right.to_lowercase()),
        op => Value::Bool(match op {
            Op::Ne => left != right,
            Op::Lt => left < right,
            Op::Le => left <= right,
            Op::Gt => left > right,
            Op::Ge => left >= right,
            _ => left == right,
        }),
    })
}

fn unary(op: &Unary, from: Ptr<'_>) -> Result<Value, CallError> {
    let value = from.read();
    let refused = || CallError::other(format!("{op:?} is not defined for a {}", from.ty()));
    match op {
        Unary::Not => Ok(Value::Bool(value != Value::Bool(true))),
        Unary::Neg(num) => match number(&value).ok_or_else(refused)? {
            Number::Whole(it) => Ok(to_num(Number::Whole(-it), *num)),
            Number::Float(it) => Ok(to_num(Number::Float(-it), *num)),
        },
        Unary::BitNot(num) => match number(&value).ok_or_else(refused)? {
            Number::Whole(it) => Ok(to_num(Number::Whole(!it), *num)),
            Number::Float(_) => Err(refused()),
        },
        Unary::NegTriple(_) => Err(refused()),
    }
}

/// Returns the class of an object. Returns `other` if the object does not exist.
fn class_of(world: &World, object: ObjectHandle, other: Name) -> Value {
    let class = world.objects.class(object);
    Value::SubclassOf(class.map_or(other, |class| world.names.intern(&class.path)))
}

fn cast_value(world: &World, cast: &Cast, slot: &Slot, from: Ptr<'_>) -> Result<Value, CallError> {
    let (value, ty) = (size::read(from)?, &slot.property.ty);
    let object = handle(&value);
    let mut class = name(&value);
    let suits = match cast {
        Cast::Object(path) => world.is_a(object, path),
        Cast::Interface(path) => world.objects.class(object).is_some_and(|class| world.implements(&class, path)),
        Cast::Class(path) => {
            // A variable of the root class holds a class as its class default object.
            if let Some(held) = world.objects.class(object).filter(|held| held.cdo.get() == object) {
                class = world.names.intern(&held.path);
            }
            let found = world.types.class_by_path(&world.names.text(class));
            found.zip(world.types.class_by_path(path)).is_some_and(|(found, expected)| found.is_a(&expected))
        }
    };
    Ok(match (cast, ty) {
        _ if !suits => Value::zero(ty),
        (Cast::Class(_), _) => Value::SubclassOf(class),
        (_, PropertyType::ScriptInterface(_)) => Value::ScriptInterface(object),
        _ => Value::Object(object),
    })
}

/// Returns true for containers, structs and optionals, whose strings contain the strings of their inner values.
fn is_large(ty: &PropertyType) -> bool {
    ty.row().is_some() || matches!(ty, PropertyType::Struct(_) | PropertyType::Optional(_))
}

fn convert(world: &World, by: &Conversion, target: &PropertyType, from: Ptr<'_>) -> Result<Value, CallError> {
    let value = size::read(from)?;
    let refused = || CallError::other(format!("a {} cannot be converted to a {target}", from.ty()));
    let number = || number(&value).ok_or_else(refused);
    Ok(match by {
        Conversion::Num(_, to) | Conversion::EnumToNum(_, to) | Conversion::BoolToNum(to) => to_num(number()?, *to),
        Conversion::NumToEnum(_, _, to) => match (target, whole(&to_num(number()?, *to))) {
            (PropertyType::Enum(of), Some(number)) => Value::Enum(of.value(number)),
            _ => Value::zero(target),
        },
        Conversion::NumToEntryName(_, path) => {
            let of = world.types.enum_by_path(path).ok_or_else(refused)?;
            let entry = of.value(match number()? {
                Number::Whole(it) => it,
                Number::Float(it) => it as i128,
            });
            text_value(&entry.text, target, world).ok_or_else(refused)?
        }
        Conversion::NumToBool(_) => Value::Bool(match number()? {
            Number::Whole(it) => it != 0,
            Number::Float(it) => it != 0.0,
        }),
        Conversion::ToText(_) => {
            if is_large(from.ty()) {
                size::printed(crate::value::text_size(&value, world))?;
            }
            text_value(&to_text(&value, from.ty(), world), target, world).ok_or_else(refused)?
        }
        Conversion::FromText(_) => from_text(&plain_text(&value, world).unwrap_or_default(), target, world),
        Conversion::Text(..) => {
            let text = plain_text(&value, world).ok_or_else(refused)?;
            if matches!(value, Value::Name(_)) {
                size::text(text.len())?;
            }
            let text = match (&value, target) {
                (Value::Name(_), target) if text.is_empty() && *target != PropertyType::Name => "None",
                (_, PropertyType::Name) if is_empty_name(&text) => "",
                _ => &text,
            };
            text_value(text, target, world).ok_or_else(refused)?
        }
        Conversion::ObjectToBool => {
            Value::Bool(world.objects.is_alive(handle(&value)) || name(&value) != Name::default())
        }
        Conversion::NameToBool => Value::Bool(!is_empty_name(&world.names.text(name(&value)))),
        Conversion::ClassToObject => {
            let class = world.types.class_by_path(&world.names.text(name(&value)));
            Value::Object(class.map_or(ObjectHandle::NONE, |class| class.cdo.get()))
        }
        Conversion::Up | Conversion::ObjectToInterface(_) | Conversion::InterfaceToObject => match target.kind() {
            PropertyKind::OBJECT => Value::Object(handle(&value)),
            PropertyKind::SCRIPT_INTERFACE => Value::ScriptInterface(handle(&value)),
            _ => value,
        },
        Conversion::StructUp(_) => {
            let PropertyType::Struct(of) = target else { return Err(refused()) };
            let Value::Struct(fields) = value else { return Err(refused()) };
            Value::Struct(fields.into_iter().filter(|(name, _)| of.field(name).is_some()).collect())
        }
        Conversion::ToReference(PropertyKind::SOFT_CLASS, _) => Value::SoftClass(name(&value)),
        Conversion::ToReference(..) => match world.refer(target, handle(&value)) {
            // The object was destroyed or has no path, so the result is the zero value.
            Err(CallError::Stale { .. } | CallError::NotFound { .. }) => Value::zero(target),
            reference => reference?,
        },
        Conversion::FromReference(PropertyKind::SOFT_CLASS) => {
            let known = world.types.class_by_path(&world.names.text(name(&value))).is_some();
            Value::SubclassOf(if known { name(&value) } else { Name::default() })
        }
        Conversion::FromReference(_) => {
            let object = Some(world.referent(&value)).filter(|object| world.objects.is_alive(*object));
            Value::Object(object.unwrap_or_default())
        }
        Conversion::ToOptional => Value::Optional(Some(Box::new(value))),
        // Not reached, because the loader translates these conversions to dedicated instructions.
        Conversion::VectorToRotator(..)
        | Conversion::RotatorToVector(..)
        | Conversion::Triple(..)
        | Conversion::TripleToBool(_) => return Err(refused()),
    })
}
