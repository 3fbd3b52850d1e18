//! Built-in operations on arrays, maps, sets and delegates.

use alcedo_uc::hir::{Expr, Intrinsic, Type};

use super::places::Root;
use super::{Frame, Interpreter, Value};

impl<'p> Interpreter<'p> {
    pub(super) fn intrinsic(
        &self,
        frame: &mut Frame<'p>,
        which: &'p Intrinsic,
        operands: &'p [Expr],
        ty: &Type,
    ) -> Value {
        use Intrinsic as I;
        let base = &operands[0];
        let found = self.place_or_value(frame, base);
        let rest: Vec<_> = operands[1..].iter().map(|operand| self.value(frame, operand)).collect();
        let whole = self.current(frame, &found, &base.ty);
        let fresh = |ty: &Type| match ty {
            Type::Array(of) | Type::Fixed(of, _) => self.zero(of),
            other => panic!("{other:?} has no elements"),
        };
        let (new, result) = match (which, whole) {
            (I::Length, Value::Array(row) | Value::Set(row)) => return Value::Int(row.len() as i128),
            (I::Length, Value::Map(rows)) => return Value::Int(rows.len() as i128),
            (I::ArrayAdd, Value::Array(mut row)) => {
                let at = row.len();
                row.resize_with(at + rest[0].int().max(0) as usize, || fresh(&base.ty));
                (Value::Array(row), Value::Int(at as i128))
            }
            (I::ArrayAddItem, Value::Array(mut row)) => {
                row.push(rest[0].clone());
                let at = row.len() as i128 - 1;
                (Value::Array(row), Value::Int(at))
            }
            (I::ArrayInsert, Value::Array(mut row)) => {
                for _ in 0..rest[1].int() {
                    row.insert(rest[0].int() as usize, fresh(&base.ty));
                }
                (Value::Array(row), Value::Nothing)
            }
            (I::ArrayInsertItem, Value::Array(mut row)) => {
                row.insert(rest[0].int() as usize, rest[1].clone());
                (Value::Array(row), rest[0].clone())
            }
            (I::ArrayRemove, Value::Array(mut row)) => {
                let at = rest[0].int() as usize;
                row.drain(at..at + rest[1].int() as usize);
                (Value::Array(row), Value::Nothing)
            }
            (I::ArrayRemoveItem, Value::Array(mut row)) => {
                let before = row.len();
                row.retain(|value| *value != rest[0]);
                let removed = before - row.len();
                (Value::Array(row), Value::Int(removed as i128))
            }
            (I::ArrayFind, Value::Array(row)) => {
                return Value::Int(row.iter().position(|value| *value == rest[0]).map_or(-1, |at| at as i128));
            }
            (I::ArrayFindField(field), Value::Array(row)) => {
                let fits = |value: &Value| match value {
                    Value::Struct(fields) => fields.iter().any(|(name, value)| name == field && *value == rest[0]),
                    _ => false,
                };
                return Value::Int(row.iter().position(fits).map_or(-1, |at| at as i128));
            }
            (I::ArraySort, Value::Array(mut row)) => {
                let Value::Delegate(Some((object, name))) = &rest[0] else { panic!("a delegate") };
                let class = self.objects.borrow()[*object].class.clone();
                let (_, function) = self.find(&class, name).expect("a function");
                // Insertion sort: moves an element before all elements that compare after it.
                for at in 1..row.len() {
                    let mut to = at;
                    while to > 0 {
                        let args = vec![Some(row[to - 1].clone()), Some(row[to].clone())];
                        let (result, _) = self.run(function, Some(*object), &class, args);
                        if result.int() >= 0 {
                            break;
                        }
                        row.swap(to - 1, to);
                        to -= 1;
                    }
                }
                (Value::Array(row), Value::Nothing)
            }
            (I::ArrayEmpty, Value::Array(_)) => (Value::Array(Vec::new()), Value::Nothing),
            (I::Empty, Value::Set(_)) => (Value::Set(Vec::new()), Value::Nothing),
            (I::Empty, Value::Map(_)) => (Value::Map(Vec::new()), Value::Nothing),
            (I::MapGet, Value::Map(rows)) => {
                return rows
                    .into_iter()
                    .find(|(key, _)| *key == rest[0])
                    .map_or_else(|| self.zero(ty), |(_, value)| value);
            }
            (I::MapSet, Value::Map(mut rows)) => {
                rows.retain(|(key, _)| *key != rest[0]);
                rows.push((rest[0].clone(), rest[1].clone()));
                (Value::Map(rows), Value::Nothing)
            }
            (I::Contains, Value::Map(rows)) => return Value::Bool(rows.iter().any(|(key, _)| *key == rest[0])),
            (I::Contains, Value::Set(row)) => return Value::Bool(row.contains(&rest[0])),
            (I::Remove, Value::Map(mut rows)) => {
                let before = rows.len();
                rows.retain(|(key, _)| *key != rest[0]);
                let removed = rows.len() < before;
                (Value::Map(rows), Value::Bool(removed))
            }
            (I::Remove, Value::Set(mut row)) => {
                let before = row.len();
                row.retain(|value| *value != rest[0]);
                let removed = row.len() < before;
                (Value::Set(row), Value::Bool(removed))
            }
            (I::SetAdd, Value::Set(mut row)) => {
                let is_new = !row.contains(&rest[0]);
                if is_new {
                    row.push(rest[0].clone());
                }
                (Value::Set(row), Value::Bool(is_new))
            }
            (I::MapKeys, Value::Map(rows)) => return Value::Array(rows.into_iter().map(|(key, _)| key).collect()),
            (I::MapValues, Value::Map(rows)) => {
                return Value::Array(rows.into_iter().map(|(_, value)| value).collect());
            }
            (I::SetValues, Value::Set(row)) => return Value::Array(row),
            (I::DelegateIsBound, Value::Delegate(bound)) => return Value::Bool(bound.is_some()),
            (which, value) => panic!("{which:?} of {value:?} is not in these tests"),
        };
        let place = found.expect("a place that the operation changes");
        if matches!(place.root, Root::Property(None, _)) {
            return self.zero(ty);
        }
        self.write(frame, &place, new);
        result
    }
}
