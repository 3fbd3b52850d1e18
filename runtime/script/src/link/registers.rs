//! Links registers: assigns frame slots to registers, fields and constants, and checks the types that instructions require.

use std::rc::Rc;

use alcedo_base::handles::ObjectHandle;
use alcedo_base::log;
use alcedo_reflect::meta::Meta;
use alcedo_reflect::names::Names;
use alcedo_reflect::owned::OwnedValue;
use alcedo_reflect::property::{Property, PropertyType};
use alcedo_reflect::storage::Schema;
use alcedo_reflect::type_text::TypeText;
use alcedo_reflect::value::Value;
use alcedo_uc::hir::{Const, Num};

use super::{Checked, Linker, num_of};
use crate::code::{Reg, Register};
use crate::exec::{Constant, Slot, Source};
use crate::value::const_value;

/// Maximum size of a frame in bytes. Offsets of registers are 16-bit numbers.
const MAX_FRAME: usize = u16::MAX as usize - 16;

/// Builds the properties of registers. All these properties share one empty name and one empty metadata table.
pub(super) struct Properties<'a> {
    names: &'a Names,
    nothing: Rc<str>,
    constant: Rc<str>,
    no_meta: Rc<Meta>,
}

impl<'a> Properties<'a> {
    pub(super) fn new(names: &'a Names) -> Self {
        Self { names, nothing: "".into(), constant: "constant".into(), no_meta: Rc::default() }
    }

    pub(super) fn text(&self, name: &str) -> Rc<str> {
        if name.is_empty() { Rc::clone(&self.nothing) } else { name.into() }
    }

    pub(super) fn make(&self, text: Rc<str>, ty: PropertyType, offset: u32, owner: &Rc<str>) -> Rc<Property> {
        Rc::new(Property {
            name: self.names.intern(&text),
            display: Rc::clone(&text),
            text,
            ty,
            flags: 0,
            default: None,
            doc: Rc::clone(&self.nothing),
            meta: Rc::clone(&self.no_meta),
            offset,
            owner: Rc::clone(owner),
        })
    }
}

impl Linker<'_> {
    pub(super) fn registers(&mut self) -> Checked<(u32, Schema, Box<[Slot]>)> {
        let (code, function) = (self.code, self.function);
        let expected = function.params.len();
        let has_result = function.result().is_some();
        if usize::from(code.params) != function.arguments().len() || code.result.is_some() != has_result {
            return Err(format!(
                "it was made for {} parameters, the function has ({})",
                code.params,
                function.signature()
            ));
        }
        if code.result.is_some_and(|result| result != code.params) {
            return Err("the register of the result must follow those of the parameters".to_owned());
        }
        if code.registers.len() > usize::from(u16::MAX) || code.registers.len() < expected {
            return Err(format!("{} registers", code.registers.len()));
        }
        let mut end = function.params_size();
        let mut fields = Vec::new();
        let mut owning = Vec::new();
        for (at, register) in code.registers.iter().enumerate() {
            let linked = match register {
                Register::Value { name, ty } => {
                    let ty = self.ty(ty)?;
                    let offset = match function.params.get(at) {
                        Some(param) if param.ty == ty => param.offset as usize,
                        Some(param) => return Err(format!("parameter {} is a {}, not a {ty}", param.text, param.ty)),
                        None => {
                            if ty.align() > 16 {
                                return Err(format!("a {ty} is aligned to more than 16 bytes"));
                            }
                            let offset = end.next_multiple_of(ty.align());
                            end = offset + ty.size();
                            offset
                        }
                    };
                    let place = u16::try_from(offset).ok().filter(|_| end <= MAX_FRAME);
                    let Some(place) = place else {
                        return Err(format!("its variables take more than {MAX_FRAME} bytes: make it two functions"));
                    };
                    fields.push((offset as u32, ty.clone()));
                    let text = self.properties.text(name);
                    let property = self.properties.make(text, ty, offset as u32, &function.path);
                    let slot = Slot { offset: place, property };
                    if slot.property.ty.owns_memory() {
                        owning.push(slot.clone());
                    }
                    Source::Slot(slot)
                }
                Register::Field { of, field } => {
                    if at < expected {
                        return Err(format!("register {at} must be a parameter, and is a field"));
                    }
                    let Some(Source::Slot(base)) = self.linked.get(usize::from(*of)) else {
                        return Err(format!("register {at} is a field of register {of}, which does not precede it"));
                    };
                    let PropertyType::Struct(ty) = &base.property.ty else {
                        return Err(format!("a {} has no field {field}", base.property.ty));
                    };
                    let found = ty.field(field).ok_or_else(|| format!("{} has no field {field}", ty.path))?;
                    let offset = u32::from(base.offset) + found.offset;
                    let property = self.properties.make(Rc::clone(&found.text), found.ty.clone(), offset, &ty.path);
                    // The offset fits in `u16`: the field is inside its register, and the end of the register was checked.
                    Source::Slot(Slot { offset: offset as u16, property })
                }
                Register::Const { ty, value } => {
                    if at < expected {
                        return Err(format!("register {at} must be a parameter, and is a constant"));
                    }
                    let ty = self.ty(ty)?;
                    let found = const_value(value, &ty, self.world)?;
                    if let (Const::Object(class, path), Value::Object(ObjectHandle::NONE)) = (value, &found) {
                        let by = &function.path;
                        log!(target: "alcedo::script", WARN, "{by} names the object {path}, but no {class} has this name: the value is none");
                    }
                    let mut own = OwnedValue::initial(ty.clone());
                    own.write(&found).map_err(|error| format!("{} is not of type {}", error.found, error.expected))?;
                    let text = Rc::clone(&self.properties.constant);
                    let property = self.properties.make(text, ty, 0, &function.path);
                    Source::Constant(Rc::new(Constant { value: own, property }))
                }
            };
            self.linked.push(linked);
        }
        let size = end.next_multiple_of(16);
        let schema = Schema::new(size, 16, fields);
        Ok((size as u32, schema, owning.into()))
    }

    pub(super) fn ty(&self, text: &TypeText) -> Checked<PropertyType> {
        PropertyType::resolve(text, &self.world.types).map_err(|error| error.to_string())
    }

    pub(super) fn register(&self, reg: Reg) -> Checked<&Source> {
        self.linked.get(usize::from(reg)).ok_or_else(|| format!("register {reg}, of {}", self.linked.len()))
    }

    /// Returns the slot of a register. Rejects constants.
    pub(super) fn slot(&self, reg: Reg) -> Checked<Slot> {
        match self.register(reg)? {
            Source::Slot(slot) => Ok(slot.clone()),
            Source::Constant(_) => Err(format!("register {reg} is a constant")),
        }
    }

    pub(super) fn source(&self, reg: Reg) -> Checked<Source> {
        self.register(reg).cloned()
    }

    pub(super) fn type_of(&self, reg: Reg) -> Checked<&PropertyType> {
        Ok(match self.register(reg)? {
            Source::Slot(slot) => &slot.property.ty,
            Source::Constant(constant) => &constant.property.ty,
        })
    }

    pub(super) fn constant(&self, reg: Reg) -> Checked<Option<Value>> {
        Ok(match self.register(reg)? {
            Source::Constant(constant) => Some(constant.value.read()),
            Source::Slot(_) => None,
        })
    }

    /// Returns the frame offset of a register. Rejects constants.
    pub(super) fn operand(&mut self, reg: Reg) -> Checked<u16> {
        self.slot(reg).map(|slot| slot.offset)
    }

    pub(super) fn expect_type(&self, reg: Reg, expected: &str, is: impl Fn(&PropertyType) -> bool) -> Checked<()> {
        let ty = self.type_of(reg)?;
        if is(ty) { Ok(()) } else { Err(format!("register {reg} is a {ty}, where a {expected} is expected")) }
    }

    pub(super) fn expect_num(&self, reg: Reg, num: Num) -> Checked<()> {
        self.expect_type(reg, num.script_name(), |ty| num_of(ty) == Some(num))
    }

    pub(super) fn expect_bool(&self, reg: Reg) -> Checked<()> {
        self.expect_type(reg, "bool", |ty| *ty == PropertyType::Bool)
    }

    pub(super) fn expect_object(&self, reg: Reg) -> Checked<()> {
        self.expect_type(reg, "object", |ty| {
            matches!(ty, PropertyType::Object { .. } | PropertyType::ScriptInterface(_))
        })
    }

    pub(super) fn expect_class(&self, reg: Reg) -> Checked<()> {
        self.expect_type(reg, "class", |ty| matches!(ty, PropertyType::SubclassOf(_)))
    }

    pub(super) fn expect_index(&self, reg: Reg) -> Checked<()> {
        self.expect_type(reg, "int", |ty| *ty == PropertyType::I32)
    }
}
