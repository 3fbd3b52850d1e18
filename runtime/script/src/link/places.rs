//! Links places. Verifies that each step of an access path applies to the type that the previous step yields.

use std::cell::Cell;
use std::rc::Rc;

use alcedo_base::handles::ClassId;
use alcedo_reflect::class::Class;
use alcedo_reflect::property::{Property, PropertyType};

use super::{Checked, Linker, initial, plain_size};
use crate::code::{Reg, Root, Step};
use crate::exec::{LinkedPlace, LinkedRoot, LinkedStep, OpCode, OtherProperty, Slow, Source};

impl Linker<'_> {
    fn found_property(&self, owner: &str, name: &str) -> Checked<(Rc<Class>, Rc<Property>)> {
        let class = self.world.types.class_by_path(owner).ok_or_else(|| format!("class {owner} not found"))?;
        let property = class.find_property(name).cloned().ok_or_else(|| format!("{owner} has no property {name}"))?;
        Ok((class, property))
    }

    pub(super) fn other(&self, owner: &str, name: &str) -> Checked<OtherProperty> {
        let (owner, property) = self.found_property(owner, name)?;
        Ok(OtherProperty { offset: property.offset, owner, property, checked_class: Cell::new(ClassId::NONE) })
    }

    /// Links a place. If `written` is true, rejects a place of `default.x`, because scripts can only read such a place.
    pub(super) fn place(&self, place: u16, written: bool) -> Checked<LinkedPlace> {
        let place = self.code.places.get(usize::from(place)).ok_or_else(|| format!("place {place} does not exist"))?;
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
                    let element = self.properties.make(Rc::clone(&at.text), of.ty().clone(), 0, &at.owner);
                    let fixed = matches!(step, Step::FixedElement(..));
                    let (index, size) = (self.source(*index)?, of.row().size as u32);
                    let array = Rc::clone(&at);
                    (LinkedStep::Element { index, size, array, fixed, element: Rc::clone(&element) }, element)
                }
            };
            steps.push(step);
            at = next;
        }
        Ok(LinkedPlace { root, steps: steps.into(), property: at })
    }

    /// Returns the total offset of the steps. Returns `None` if a step is an array element.
    fn fields(steps: &[LinkedStep]) -> Option<u32> {
        steps.iter().try_fold(0, |sum, step| match step {
            LinkedStep::Field(offset) => Some(sum + offset),
            LinkedStep::Element { .. } => None,
        })
    }

    pub(super) fn load(&mut self, to: Reg, place: u16) -> Checked<()> {
        let place = self.place(place, false)?;
        let slot = self.slot(to)?;
        if slot.property.ty != place.property.ty {
            return Err(format!("a {} is loaded into a {}", place.property.ty, slot.property.ty));
        }
        self.access(Some(slot.offset), place, true, |place| Slow::Load(slot, place));
        Ok(())
    }

    /// Emits one instruction that reads the length of an array. If the place needs a slow operation, emits no instruction and returns
    /// false.
    pub(super) fn length(&mut self, to: Reg, place: u16) -> Checked<bool> {
        let place = self.place(place, false)?;
        if !matches!(place.property.ty, PropertyType::Array(_)) {
            return Ok(false);
        }
        let (op, array) = match (&place.root, Self::fields(&place.steps)) {
            (LinkedRoot::OfSelf(offset), Some(more)) => (OpCode::LengthOfSelf, offset + more),
            (LinkedRoot::Slot(slot), Some(more)) => (OpCode::Length, u32::from(slot.offset) + more),
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
        let ty = self.type_of(from)?;
        if *ty != place.property.ty {
            return Err(format!("a {ty} is stored in a {}", place.property.ty));
        }
        let reg = if let Source::Slot(slot) = &source { Some(slot.offset) } else { None };
        self.access(reg, place, false, |place| Slow::Store(place, source));
        Ok(())
    }

    /// Emits a load or store of a register. If the value is copied bytewise, emits one instruction. Otherwise, emits a slow operation.
    fn access(&mut self, reg: Option<u16>, place: LinkedPlace, is_load: bool, slow: impl FnOnce(LinkedPlace) -> Slow) {
        use OpCode as D;
        let choose = |load: OpCode, store: OpCode| if is_load { load } else { store };
        let ty = &place.property.ty;
        let size = plain_size(ty).and_then(|size| u16::try_from(size).ok());
        let Some((reg, size)) = reg.zip(size) else { return self.emit_slow(slow(place)) };
        // A fast access supports only one array element, as the last step of the path.
        let (fields, index) = match &*place.steps {
            [fields @ .., LinkedStep::Element { index: Source::Slot(index), size: row, .. }]
                if *row == u32::from(size) =>
            {
                (fields, Some(index.offset))
            }
            fields => (fields, None),
        };
        let Some(more) = Self::fields(fields) else { return self.emit_slow(slow(place)) };
        let Some(index) = index else {
            return match place.root {
                LinkedRoot::OfSelf(offset) => {
                    let op = match (size, ty.align()) {
                        (1, _) => choose(D::LoadSelf1, D::StoreSelf1),
                        (4, 4) => choose(D::LoadSelf4, D::StoreSelf4),
                        (8, 8) => choose(D::LoadSelf8, D::StoreSelf8),
                        _ => choose(D::LoadSelfBytes, D::StoreSelfBytes),
                    };
                    self.emit(op, reg, 0, size, offset + more, 0);
                }
                // Requires an initial value of zero bytes, because a fast access reads zero bytes if the object is `None`.
                LinkedRoot::Of(object, other) if initial(ty).is_none() => {
                    let at = self.others.len() as u32;
                    self.others.push(OtherProperty { offset: other.offset + more, ..other });
                    self.emit(choose(D::LoadOther, D::StoreOther), reg, object, size, at, 0);
                }
                _ => self.emit_slow(slow(place)),
            };
        };
        let (op, array) = match (&place.root, (size, ty.align())) {
            (LinkedRoot::OfSelf(at), (4, 4)) => (choose(D::LoadSelfElement4, D::StoreSelfElement4), at + more),
            (LinkedRoot::OfSelf(at), _) => (choose(D::LoadSelfElement, D::StoreSelfElement), at + more),
            (LinkedRoot::Slot(slot), (4, 4)) => {
                (choose(D::LoadElement4, D::StoreElement4), u32::from(slot.offset) + more)
            }
            (LinkedRoot::Slot(slot), _) => (choose(D::LoadElement, D::StoreElement), u32::from(slot.offset) + more),
            _ => return self.emit_slow(slow(place)),
        };
        let at = self.slow.len() as u32;
        self.slow.push(slow(place));
        self.emit(op, reg, index, size, array, at);
    }
}
