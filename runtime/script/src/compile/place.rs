//! Compiles places: registers, and paths to properties, fields and elements.

use alcedo_uc::hir::{Expr, ExprKind, Type};

use super::FunctionCompiler;
use super::effects::writes;
use crate::code::{Ins, Place, Reg, Register, Root, Step};

impl FunctionCompiler {
    /// Compiles the access path of an expression. Evaluates the operands of this path, such as indices. `later_writes` is true if later
    /// code may change these operands before the place is used.
    pub(super) fn location(&mut self, expr: &Expr, later_writes: bool) -> Place {
        match &expr.kind {
            ExprKind::Local(id) => Root::Register(self.local(*id)).place(),
            ExprKind::Field { base, field, .. } => {
                let mut place = self.location(base, later_writes);
                match place.register() {
                    Some(reg) => place.root = Root::Register(self.field(reg, field)),
                    None => place.steps.push(Step::Field(field.clone())),
                }
                place
            }
            ExprKind::Index(base, index) => {
                let mut place = self.location(base, later_writes || writes(index));
                // Copies a constant index to a register, because an element step requires an index register.
                let at = self.operand(index, later_writes);
                place.steps.push(match &base.ty {
                    Type::Fixed(_, count) => Step::FixedElement(at, *count),
                    _ => Step::Element(at),
                });
                place
            }
            ExprKind::Property { object, owner, name } => {
                let root = match object.as_deref().filter(|object| !matches!(object.kind, ExprKind::SelfObject)) {
                    None => Root::OfSelf(owner.clone(), name.clone()),
                    Some(object) => Root::Of(self.operand(object, later_writes), owner.clone(), name.clone()),
                };
                root.place()
            }
            ExprKind::DefaultProperty { class, owner, name } => {
                Root::Default(self.operand(class, later_writes), owner.clone(), name.clone()).place()
            }
            _ => {
                let reg = self.expr(expr);
                Root::Register(self.in_frame(reg, &expr.ty)).place()
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

    pub(super) fn load(&mut self, place: &Place, ty: &Type) -> Reg {
        place.register().unwrap_or_else(|| {
            let (to, place) = (self.temp(ty), self.place_number(place));
            self.emit(Ins::Load { to, place });
            to
        })
    }

    pub(super) fn store(&mut self, place: &Place, from: Reg) {
        match place.register() {
            Some(reg) if reg == from => {}
            Some(to) => self.emit(Ins::Copy { to, from }),
            None => {
                let place = self.place_number(place);
                self.emit(Ins::Store { place, from });
            }
        }
    }
}
