//! Calls of script functions: resolves the callee, passes arguments and defaults, and copies out parameters back.

use std::rc::Rc;

use alcedo_uc::hir::{Arg, Call, Callee, ExprKind, Function, Type, delegate_body};

use super::operators::converted;
use super::places::{Place, Root};
use super::{Flow, Frame, Interpreter, Value};

impl<'p> Interpreter<'p> {
    /// Runs a function. Returns its result and the final values of its parameters.
    pub(super) fn run(
        &self,
        function: &'p Function,
        object: Option<usize>,
        class: &str,
        args: Vec<Option<Value>>,
    ) -> (Value, Vec<Value>) {
        let call = (std::ptr::from_ref(function), object);
        if function.flags.singular && self.running.borrow().contains(&call) {
            let result = function.result.as_ref().map_or(Value::Nothing, |ty| self.zero(ty));
            return (result, args.into_iter().map(|arg| arg.unwrap_or(Value::Nothing)).collect());
        }
        self.running.borrow_mut().push(call);
        let types: Vec<_> = function
            .params
            .iter()
            .map(|param| param.ty.clone())
            .chain(function.locals.iter().map(|local| local.ty.clone()))
            .collect();
        let locals = types.iter().map(|ty| self.zero(ty)).collect();
        let mut frame = Frame { object, class: class.to_owned(), locals, types, function };
        let mut omitted = Vec::new();
        for (at, arg) in args.into_iter().enumerate() {
            match arg {
                Some(value) => frame.locals[at] = value,
                None => omitted.push(at),
            }
        }
        // A default may use any parameter, so all arguments are passed first.
        for at in omitted {
            if let Some(default) = &function.params[at].default {
                frame.locals[at] = self.value(&mut frame, default);
            }
        }
        let flow = self.block(&mut frame, function.body.as_deref().unwrap_or(&[]));
        self.running.borrow_mut().pop();
        let result = match (flow, &function.result) {
            (Flow::Return(value), Some(_)) => value,
            (_, Some(ty)) => self.zero(ty),
            _ => Value::Nothing,
        };
        frame.locals.truncate(function.params.len());
        (result, frame.locals)
    }

    pub(super) fn call(&self, frame: &mut Frame<'p>, call: &'p Call, ty: &Type) -> Value {
        let name = |path: &Rc<str>| path.rsplit(':').next().unwrap_or("").to_owned();
        let owner = |path: &Rc<str>| path.split(':').next().unwrap_or("").to_owned();
        let of = |object: usize| self.objects.borrow()[object].class.clone();
        // Finds a function by its name in the class of the object.
        let on = |object: usize, name: &str| {
            let class = of(object);
            (self.find(&class, name), Some(object), class)
        };
        // `None` for a call on none.
        let target = match &call.callee {
            Callee::Virtual { object, path } => {
                let object = self.object(frame, object.as_deref());
                object.map(|object| on(object, &name(path)))
            }
            Callee::Final { object, path } => {
                let object = self.object(frame, object.as_deref());
                object.map(|object| (self.find(&owner(path), &name(path)), Some(object), of(object)))
            }
            Callee::Static { class, path } => {
                let class = match class {
                    Some(class) => match self.value(frame, class) {
                        Value::Class(class) => class,
                        other => panic!("{other:?} is not a class"),
                    },
                    None => Some(owner(path)),
                };
                class.map(|class| (self.find(&class, &name(path)), None, class))
            }
            Callee::Delegate { delegate, object, fallback } => {
                let (bound, object) = match (&delegate.kind, object) {
                    (ExprKind::Property { name, .. }, Some(of)) => {
                        let of = self.object(frame, Some(of));
                        let place = Place { root: Root::Property(of, name.clone()), steps: Vec::new() };
                        (self.read(frame, &place, &delegate.ty), of)
                    }
                    _ => (self.value(frame, delegate), frame.object),
                };
                match (bound, fallback) {
                    (Value::Delegate(Some((object, name))), _) => Some(on(object, &name)),
                    (_, Some(fallback)) => {
                        assert!(name(fallback).starts_with(&delegate_body("")[..2]));
                        object.map(|object| on(object, &name(fallback)))
                    }
                    (_, None) => None,
                }
            }
            Callee::Interface { object, path } => {
                let object = self.object(frame, Some(object));
                object.map(|object| on(object, &name(path)))
            }
        };
        let mut places = Vec::new();
        let mut args = Vec::new();
        for arg in &call.args {
            args.push(match arg {
                Arg::Value(value) => Some(self.value(frame, value)),
                Arg::Out(place) => {
                    let at = self.place(frame, place);
                    let value = self.read(frame, &at, &place.ty);
                    places.push((args.len(), at, None));
                    Some(value)
                }
                Arg::OutConverted(place, there, back) => {
                    let at = self.place(frame, place);
                    let value = self.read(frame, &at, &place.ty);
                    places.push((args.len(), at, Some(back)));
                    Some(converted(there, value, &|path, number| self.entry(path, number)))
                }
                Arg::Skipped => None,
                Arg::Wildcard(_) => panic!("wildcards are of native code"),
            });
        }
        let (result, params) = match target {
            Some((function, object, class)) => {
                let (_, function) = function.unwrap_or_else(|| panic!("{:?} is not of the package", call.callee));
                self.run(function, object, &class, args)
            }
            None => (self.zero(ty), args.into_iter().map(|arg| arg.unwrap_or(Value::Nothing)).collect()),
        };
        for (at, place, back) in places {
            let value = params[at].clone();
            let value = match back {
                Some(back) => converted(back, value, &|path, number| self.entry(path, number)),
                None => value,
            };
            self.write(frame, &place, value);
        }
        assert!(frame.locals.len() == frame.types.len(), "{}", frame.function.name);
        result
    }
}
