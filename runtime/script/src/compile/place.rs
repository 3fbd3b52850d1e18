//! Compiles places: registers, and paths to properties, fields and elements.

use alcedo_uc::hir::{Expr, ExprKind, Type};

use super::effects::writes;
use super::{FunctionCompiler, Location};
use crate::code::{Ins, Place, Reg, Register, Root, Step};

impl FunctionCompiler {
    /// Compiles the access path of an expression. Evaluates the operands of this path, such as indices. `later_writes` is true if later
    /// code may change these operands before the place is used.
    pub(super) fn location(&mut self, expr: &Expr, later_writes: bool) -> Location {
        match &expr.kind {
            ExprKind::Local(id) => Location::In(self.local(*id)),
            ExprKind::Field { base, field, .. } => match self.location(base, later_writes) {
                Location::In(reg) => Location::In(self.field(reg, field)),
                Location::At(mut place) => {
                    place.steps.push(Step::Field(field.clone()));
                    Location::At(place)
                }
            },
            ExprKind::Index(base, index) => {
                let mut place = self.location(base, later_writes || writes(index)).place();
                // Copies a constant index to a register, because an element step requires an index register.
                let at = self.operand(index, later_writes);
                place.steps.push(match &base.ty {
                    Type::Fixed(_, count) => Step::FixedElement(at, *count),
                    _ => Step::Element(at),
                });
                Location::At(place)
            }
            ExprKind::Property { object, owner, name } => {
                let root = match object.as_deref().filter(|object| !matches!(object.kind, ExprKind::SelfObject)) {
                    None => Root::OfSelf(owner.clone(), name.clone()),
                    Some(object) => Root::Of(self.operand(object, later_writes), owner.clone(), name.clone()),
                };
                Location::At(Place { root, steps: Vec::new() })
            }
            ExprKind::DefaultProperty { class, owner, name } => {
                let root = Root::Default(self.operand(class, later_writes), owner.clone(), name.clone());
                Location::At(Place { root, steps: Vec::new() })
            }
            _ => {
                let reg = self.expr(expr);
                Location::In(self.in_frame(reg, &expr.ty))
            }
        }
    }

    /// Returns the register of a field. `of` is the register of the struct.
    pub(super) fn field(&mut self, of: Reg, field: &str) -> Reg {
        let known = self.fields.get(&of).and_then(|fields| fields.iter().find(|(name, _)| name == field));
        if let Some((_, known)) = known {
            return *known;
        }
        let reg = self.register(Register::Field { of, field: field.to_owned() });
        self.fields.entry(of).or_default().push((field.to_owned(), reg));
        reg
    }

    pub(super) fn place_number(&mut self, place: &Place) -> u16 {
        if let Some(at) = self.places.get(place) {
            return *at;
        }
        let at = self.code.places.len();
        if at > usize::from(u16::MAX) {
            self.refuse("it has too many places for bytecode: make it two functions".to_owned());
        }
        self.places.insert(place.clone(), at as u16);
        self.code.places.push(place.clone());
        at as u16
    }

    pub(super) fn load(&mut self, location: &Location, ty: &Type) -> Reg {
        match location {
            Location::In(reg) => *reg,
            Location::At(place) => {
                let (to, place) = (self.temp(ty), self.place_number(place));
                self.emit(Ins::Load { to, place });
                to
            }
        }
    }

    pub(super) fn store(&mut self, location: &Location, from: Reg) {
        match location {
            Location::In(reg) if *reg == from => {}
            Location::In(reg) => self.emit(Ins::Copy { to: *reg, from }),
            Location::At(place) => {
                let place = self.place_number(place);
                self.emit(Ins::Store { place, from });
            }
        }
    }
}
