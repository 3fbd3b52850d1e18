//! Places: verifies that each step fits the type of the previous one.

use std::cell::Cell;
use std::rc::Rc;

use alcedo_base::handles::ClassId;
use alcedo_reflect::class::Class;
use alcedo_reflect::property::{Property, PropertyType};

use super::{Checked, Linker, initial, plain_size};
use crate::code::{Place, Reg, Root, Step};
use crate::exec::{LinkedPlace, LinkedRoot, LinkedStep, OpCode, OtherProperty, Slow, Source};

impl Linker<'_> {
    pub(super) fn found_property(&self, owner: &str, name: &str) -> Checked<(Rc<Class>, Rc<Property>)> {
        let class = self.world.types.class_by_path(owner).ok_or_else(|| format!("class {owner} not found"))?;
        let property = class.find_property(name).cloned().ok_or_else(|| format!("{owner} has no property {name}"))?;
        Ok((class, property))
    }

    pub(super) fn other(&self, owner: &str, name: &str) -> Checked<OtherProperty> {
        let (owner, property) = self.found_property(owner, name)?;
        Ok(OtherProperty { offset: property.offset, owner, property, checked_class: Cell::new(ClassId::NONE) })
    }

    /// Links a place; class default objects are read-only.
    pub(super) fn place(&self, place: u16, written: bool) -> Checked<LinkedPlace> {
        let place = self.code.places.get(usize::from(place)).ok_or_else(|| format!("place {place} does not exist"))?;
        self.linked_place(place, written)
    }

    pub(super) fn linked_place(&self, place: &Place, written: bool) -> Checked<LinkedPlace> {
        let (root, mut at) = match &place.root {
            Root::Register(reg) => {
                let slot = self.slot(*reg)?;
                let at = Rc::clone(&slot.property);
                (LinkedRoot::Slot(slot), at)
            }
            Root::OfSelf(owner, name) => {
                self.not_static("a property of the object itself")?;
                let (owner, property) = self.found_property(owner, name)?;
                if !self.class.is_a(&owner) {
                    return Err(format!("{} is not a {}, whose property {name} is used", self.class.path, owner.path));
                }
                (LinkedRoot::OfSelf(property.offset), property)
            }
            Root::Of(object, owner, name) => {
                self.expect_object(*object)?;
                let other = self.other(owner, name)?;
                let at = Rc::clone(&other.property);
                (LinkedRoot::Of(self.slot(*object)?.offset, other), at)
            }
            Root::Default(class, owner, name) => {
                if written {
                    return Err(format!("the default of {name} is written to"));
                }
                self.expect_class(*class)?;
                let other = self.other(owner, name)?;
                let at = Rc::clone(&other.property);
                (LinkedRoot::Default(self.slot(*class)?.offset, other), at)
            }
        };
        let mut steps = Vec::with_capacity(place.steps.len());
        for step in &place.steps {
            let (step, next) = match step {
                Step::Field(name) => {
                    let PropertyType::Struct(of) = &at.ty else { return Err(format!("a {} has no fields", at.ty)) };
                    let field = of.field(name).ok_or_else(|| format!("{} has no field {name}", of.path))?;
                    (LinkedStep::Field(field.offset), Rc::new(field.clone()))
                }
                Step::Element(index) | Step::FixedElement(index, _) => {
                    self.expect_index(*index)?;
                    let PropertyType::Array(of) = &at.ty else { return Err(format!("a {} has no elements", at.ty)) };
                    let element = Rc::new(self.properties.make(Rc::clone(&at.text), of.ty().clone(), 0, &at.owner));
                    let fixed = matches!(step, Step::FixedElement(..));
                    let (index, size) = (self.source(*index)?, of.row().size as u32);
                    let array = Rc::clone(&at);
                    (LinkedStep::Element { index, size, array, fixed, element: Rc::clone(&element) }, element)
                }
            };
            steps.push(step);
            at = next;
        }
        let initial = initial(&at.ty);
        Ok(LinkedPlace { root, steps: steps.into(), property: at, initial })
    }

    /// Returns the offset of a place in `self` without elements on the path.
    pub(super) fn in_self(place: &LinkedPlace) -> Option<u32> {
        let LinkedRoot::OfSelf(offset) = place.root else { return None };
        Self::fields(place).map(|more| offset + more)
    }

    pub(super) fn fields(place: &LinkedPlace) -> Option<u32> {
        place.steps.iter().try_fold(0, |sum, step| match step {
            LinkedStep::Field(offset) => Some(sum + offset),
            LinkedStep::Element { .. } => None,
        })
    }

    pub(super) fn load(&mut self, to: Reg, place: u16) -> Checked<()> {
        let place = self.place(place, false)?;
        let slot = self.slot(to)?;
        let ty = &slot.property.ty;
        if *ty != place.property.ty {
            return Err(format!("a {} is loaded into a {ty}", place.property.ty));
        }
        match Self::fast_place(&place, ty) {
            Some(Fast::InSelf(offset, size)) => match (size, ty.align()) {
                (1, _) => self.emit(OpCode::LoadSelf1, slot.offset, 0, 0, offset, 0),
                (4, 4) => self.emit(OpCode::LoadSelf4, slot.offset, 0, 0, offset, 0),
                (8, 8) => self.emit(OpCode::LoadSelf8, slot.offset, 0, 0, offset, 0),
                _ => self.emit(OpCode::LoadSelfBytes, slot.offset, 0, size, offset, 0),
            },
            Some(Fast::Element { in_self, array, index, size }) => {
                let op = match (in_self, size, ty.align()) {
                    (true, 4, 4) => OpCode::LoadSelfElement4,
                    (true, ..) => OpCode::LoadSelfElement,
                    (false, 4, 4) => OpCode::LoadElement4,
                    (false, ..) => OpCode::LoadElement,
                };
                let (to, at) = (slot.offset, self.slow.len() as u32);
                self.slow.push(Slow::Load(slot, place));
                self.emit(op, to, index, size, array, at);
            }
            Some(Fast::Other(object, size, more)) => {
                let LinkedRoot::Of(_, other) = place.root else { return Err("no object".to_owned()) };
                let at = self.others.len() as u32;
                self.others.push(OtherProperty { offset: other.offset + more, ..other });
                self.emit(OpCode::LoadOther, slot.offset, object, size, at, 0);
            }
            None => self.emit_slow(Slow::Load(slot, place)),
        }
        Ok(())
    }

    /// Emits the length of an array as one instruction; returns false if that is impossible.
    pub(super) fn length(&mut self, to: Reg, place: u16) -> Checked<bool> {
        let place = self.place(place, false)?;
        if !matches!(place.property.ty, PropertyType::Array(_)) {
            return Ok(false);
        }
        let (op, array) = match (Self::in_self(&place), &place.root, Self::fields(&place)) {
            (Some(offset), ..) => (OpCode::LengthOfSelf, offset),
            (None, LinkedRoot::Slot(slot), Some(more)) => (OpCode::Length, u32::from(slot.offset) + more),
            _ => return Ok(false),
        };
        self.expect_index(to)?;
        let to = self.slot(to)?.offset;
        self.emit(op, to, 0, 0, array, 0);
        Ok(true)
    }

    pub(super) fn store(&mut self, place: u16, from: Reg) -> Checked<()> {
        let place = self.place(place, true)?;
        let source = self.source(from)?;
        let ty = self.type_of(from)?.clone();
        if ty != place.property.ty {
            return Err(format!("a {ty} is stored in a {}", place.property.ty));
        }
        let fast = if let Source::Slot(slot) = &source {
            Self::fast_place(&place, &ty).map(|fast| (slot.offset, fast))
        } else {
            None
        };
        match fast {
            Some((from, Fast::InSelf(offset, size))) => match (size, ty.align()) {
                (1, _) => self.emit(OpCode::StoreSelf1, from, 0, 0, offset, 0),
                (4, 4) => self.emit(OpCode::StoreSelf4, from, 0, 0, offset, 0),
                (8, 8) => self.emit(OpCode::StoreSelf8, from, 0, 0, offset, 0),
                _ => self.emit(OpCode::StoreSelfBytes, from, 0, size, offset, 0),
            },
            Some((from, Fast::Element { in_self, array, index, size })) => {
                let op = match (in_self, size, ty.align()) {
                    (true, 4, 4) => OpCode::StoreSelfElement4,
                    (true, ..) => OpCode::StoreSelfElement,
                    (false, 4, 4) => OpCode::StoreElement4,
                    (false, ..) => OpCode::StoreElement,
                };
                let at = self.slow.len() as u32;
                self.slow.push(Slow::Store(place, source));
                self.emit(op, from, index, size, array, at);
            }
            Some((from, Fast::Other(object, size, more))) => {
                let LinkedRoot::Of(_, other) = place.root else { return Err("no object".to_owned()) };
                let at = self.others.len() as u32;
                self.others.push(OtherProperty { offset: other.offset + more, ..other });
                self.emit(OpCode::StoreOther, from, object, size, at, 0);
            }
            None => self.emit_slow(Slow::Store(place, source)),
        }
        Ok(())
    }

    /// Returns the fast path for a place whose value is copied bytewise.
    fn fast_place(place: &LinkedPlace, ty: &PropertyType) -> Option<Fast> {
        let size = u16::try_from(plain_size(ty)?).ok()?;
        if let Some(offset) = Self::in_self(place) {
            return Some(Fast::InSelf(offset, size));
        }
        if let LinkedRoot::Of(object, _) = &place.root {
            // Reads without an object return zero bytes.
            return Self::fields(place)
                .filter(|_| place.initial.is_none())
                .map(|more| Fast::Other(*object, size, more));
        }
        // An array element with no other element on the path.
        let [first @ .., LinkedStep::Element { index: Source::Slot(index), size: row, .. }] = &*place.steps else {
            return None;
        };
        let more = first.iter().try_fold(0, |sum, step| match step {
            LinkedStep::Field(offset) => Some(sum + offset),
            LinkedStep::Element { .. } => None,
        })?;
        if *row != u32::from(size) {
            return None;
        }
        let (in_self, array) = match &place.root {
            LinkedRoot::OfSelf(offset) => (true, offset + more),
            LinkedRoot::Slot(slot) => (false, u32::from(slot.offset) + more),
            _ => return None,
        };
        Some(Fast::Element { in_self, array, index: index.offset, size })
    }
}

enum Fast {
    /// In `self`: offset and size in bytes.
    InSelf(u32, u16),
    /// Element of the size in an array in `self` or in the frame: offset of the array, offset of the index.
    Element { in_self: bool, array: u32, index: u16, size: u16 },
    /// In another object: its register, size in bytes, and offset inside of the property.
    Other(u16, u16, u32),
}
