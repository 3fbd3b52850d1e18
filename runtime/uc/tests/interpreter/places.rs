//! Assignable places: locals, properties, fields and elements.

use alcedo_uc::hir::{Expr, ExprKind, LocalId, Type};

use super::{Frame, Interpreter, Value};

/// A place: its root, and the path from the root to the value.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) root: Root,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone)]
pub(super) enum Root {
    Local(usize),
    Property(Option<usize>, String),
}

#[derive(Clone)]
pub(super) enum Step {
    Field(String),
    Index(i128, Type),
}

impl<'p> Interpreter<'p> {
    pub(super) fn place(&self, frame: &mut Frame<'p>, of: &'p Expr) -> Place {
        match &of.kind {
            ExprKind::Local(LocalId(at)) => Place { root: Root::Local(*at as usize), steps: Vec::new() },
            ExprKind::Property { object, name, .. } => {
                let object = self.object(frame, object.as_deref());
                Place { root: Root::Property(object, name.clone()), steps: Vec::new() }
            }
            ExprKind::Field { base, field, .. } => {
                let mut place = self.place(frame, base);
                place.steps.push(Step::Field(field.clone()));
                place
            }
            ExprKind::Index(base, index) => {
                let mut place = self.place(frame, base);
                let at = self.value(frame, index).int();
                place.steps.push(Step::Index(at, base.ty.clone()));
                place
            }
            other => panic!("{other:?} is not a place"),
        }
    }

    /// Resolves a place that is read later. If the expression is not a place, evaluates it and returns its value as `Err`.
    pub(super) fn place_or_value(&self, frame: &mut Frame<'p>, of: &'p Expr) -> Result<Place, Value> {
        if of.is_place() { Ok(self.place(frame, of)) } else { Err(self.value(frame, of)) }
    }

    /// Reads the current value of a place, or copies the value of an expression that is not a place.
    pub(super) fn current(&self, frame: &Frame<'p>, of: &Result<Place, Value>, ty: &Type) -> Value {
        match of {
            Ok(place) => self.read(frame, place, ty),
            Err(value) => value.clone(),
        }
    }

    pub(super) fn object(&self, frame: &mut Frame<'p>, object: Option<&'p Expr>) -> Option<usize> {
        match object {
            None => frame.object,
            Some(object) => match self.value(frame, object) {
                Value::Object(object) => object,
                other => panic!("{other:?} is not an object"),
            },
        }
    }

    pub(super) fn read(&self, frame: &Frame<'p>, place: &Place, ty: &Type) -> Value {
        let root = match &place.root {
            Root::Local(at) => Some(frame.locals[*at].clone()),
            Root::Property(object, name) => object.map(|object| self.objects.borrow()[object].properties[name].clone()),
        };
        let mut value = root;
        for step in &place.steps {
            value = value.and_then(|value| match (step, value) {
                (Step::Field(name), Value::Struct(fields)) => {
                    fields.into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
                }
                (Step::Index(at, _), Value::Array(row)) => {
                    usize::try_from(*at).ok().and_then(|at| row.get(at).cloned())
                }
                (_, other) => panic!("no step into {other:?}"),
            });
        }
        value.unwrap_or_else(|| self.zero(ty))
    }

    pub(super) fn write(&self, frame: &mut Frame<'p>, place: &Place, new: Value) {
        let mut objects = self.objects.borrow_mut();
        let mut at = match &place.root {
            Root::Local(at) => &mut frame.locals[*at],
            Root::Property(None, _) => return,
            Root::Property(Some(object), name) => objects[*object].properties.get_mut(name).expect("a property"),
        };
        for step in &place.steps {
            at = match (step, at) {
                (Step::Field(name), Value::Struct(fields)) => {
                    &mut fields.iter_mut().find(|(known, _)| known == name).expect("a field").1
                }
                (Step::Index(at, ty), Value::Array(row)) => {
                    let Ok(at) = usize::try_from(*at) else { return };
                    if let Type::Array(of) = ty {
                        while row.len() <= at {
                            row.push(self.zero(of));
                        }
                    }
                    &mut row[at]
                }
                (_, other) => panic!("no step into {other:?}"),
            };
        }
        *at = new;
    }
}
