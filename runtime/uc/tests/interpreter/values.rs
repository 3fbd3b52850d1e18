//! Initial values: zero, constants, and the defaults of structs and objects.

use std::collections::HashMap;

use alcedo_uc::hir::{Const, DefaultAction, Num, Type};

use super::{Interpreter, Object, Value};

impl Interpreter<'_> {
    pub(super) fn zero(&self, ty: &Type) -> Value {
        match ty {
            Type::Num(num) if num.is_float() => Value::Float(0.0),
            Type::Num(_) | Type::Enum(..) => Value::Int(0),
            Type::Bool => Value::Bool(false),
            Type::Text | Type::Utf8Text | Type::AnsiText | Type::LocalText => Value::Text(String::new()),
            Type::Name | Type::FieldPath => Value::Name(String::new()),
            Type::Class(_) => Value::Class(None),
            Type::Array(_) => Value::Array(Vec::new()),
            Type::Set(_) => Value::Set(Vec::new()),
            Type::Fixed(of, len) => Value::Array(vec![self.zero(of); *len as usize]),
            Type::Map(..) => Value::Map(Vec::new()),
            Type::Delegate(..) => Value::Delegate(None),
            Type::Struct(path) => Value::Struct(self.fields(path)),
            Type::Nothing => Value::Nothing,
            _ => Value::Object(None),
        }
    }

    fn fields(&self, path: &str) -> Vec<(String, Value)> {
        let Some(found) = self.package.structs.iter().find(|found| &*found.path == path) else {
            let names = if path.ends_with("Vector") { ["x", "y", "z"] } else { ["pitch", "yaw", "roll"] };
            let zero = if path.ends_with("Vector") { Value::Float(0.0) } else { Value::Int(0) };
            return names.map(|name| (name.to_owned(), zero.clone())).to_vec();
        };
        let mut fields = found.base.as_ref().map_or_else(Vec::new, |base| self.fields(base));
        for field in &found.fields {
            let value = match &field.default {
                Some(value) => self.constant(value, &field.ty),
                None => self.zero(&field.ty),
            };
            fields.push((field.name.clone(), value));
        }
        fields
    }

    pub(super) fn constant(&self, value: &Const, ty: &Type) -> Value {
        match (value, ty) {
            (Const::Bool(yes), _) => Value::Bool(*yes),
            (Const::Int(number) | Const::Enum(_, _, number), _) => Value::Int(*number),
            (Const::Float(number), _) => Value::Float(*number),
            (Const::Text(text), _) => Value::Text(text.clone()),
            (Const::Name(name), _) => Value::Name(name.clone()),
            (Const::Class(path), _) => Value::Class(Some(path.to_string())),
            (Const::Array(pairs), Type::Map(key, of)) => {
                let pair = |pair: &Const| match pair {
                    Const::Array(pair) => (self.constant(&pair[0], key), self.constant(&pair[1], of)),
                    other => panic!("{other:?} is not an entry"),
                };
                Value::Map(pairs.iter().map(pair).collect())
            }
            (Const::Array(values), Type::Set(of)) => {
                Value::Set(values.iter().map(|value| self.constant(value, of)).collect())
            }
            (Const::Array(values) | Const::Elements(values, _), Type::Array(of) | Type::Fixed(of, _)) => {
                let mut made: Vec<_> = values.iter().map(|value| self.constant(value, of)).collect();
                if let Type::Fixed(_, len) = ty {
                    made.resize_with(*len as usize, || self.zero(of));
                }
                Value::Array(made)
            }
            (Const::Struct(values), Type::Struct(path)) => {
                let mut fields = self.fields(path);
                for (name, value) in values {
                    let ty = self.field_type(path, name);
                    let field = fields.iter_mut().find(|(known, _)| known == name).expect("a field");
                    field.1 = self.constant(value, &ty);
                }
                Value::Struct(fields)
            }
            (_, ty) => self.zero(ty),
        }
    }

    fn field_type(&self, path: &str, name: &str) -> Type {
        let Some(found) = self.package.structs.iter().find(|found| &*found.path == path) else {
            return Type::Num(if path.ends_with("Vector") { Num::F32 } else { Num::I32 });
        };
        match found.fields.iter().find(|field| field.name == name) {
            Some(field) => field.ty.clone(),
            None => self.field_type(found.base.as_ref().expect("a base"), name),
        }
    }

    /// Creates an object of a class, with its defaults.
    pub(crate) fn create(&self, class: &str) -> usize {
        let mut properties = HashMap::new();
        let chain = self.chain(class);
        for class in chain.iter().rev() {
            for property in &class.properties {
                properties.insert(property.name.clone(), self.zero(&property.ty));
            }
            for default in &class.defaults {
                let ty = chain.iter().flat_map(|class| &class.properties).find(|known| known.name == default.property);
                let ty = &ty.expect("a property of the package").ty;
                let place = properties.get_mut(&default.property).expect("it has a value");
                match (&default.action, ty, place) {
                    (DefaultAction::Set(value), ty, place) => *place = self.constant(value, ty),
                    (DefaultAction::SetElement(at, value), Type::Array(of) | Type::Fixed(of, _), Value::Array(row)) => {
                        while row.len() <= *at as usize {
                            row.push(self.zero(of));
                        }
                        row[*at as usize] = self.constant(value, of);
                    }
                    (DefaultAction::Add(value), Type::Array(of), Value::Array(row)) => {
                        row.push(self.constant(value, of))
                    }
                    (DefaultAction::Remove(value), Type::Array(of), Value::Array(row)) => {
                        let value = self.constant(value, of);
                        row.retain(|known| *known != value);
                    }
                    (DefaultAction::RemoveIndex(at), _, Value::Array(row)) => {
                        row.remove(*at as usize);
                    }
                    (DefaultAction::Empty, _, Value::Array(row)) => row.clear(),
                    other => panic!("{:?}", other.0),
                }
            }
        }
        let number = self.objects.borrow().len();
        for class in &chain {
            for default in &class.defaults {
                if let DefaultAction::Set(Const::Function(name)) = &default.action {
                    properties.insert(default.property.clone(), Value::Delegate(Some((number, name.clone()))));
                }
            }
        }
        self.objects.borrow_mut().push(Object { class: class.to_owned(), properties });
        number
    }
}
