//! Conversions of plugin authors at a reload: which function converts a value, and the call. The functions run after all objects have
//! their new memory, and before a plugin part is built; a failure rolls the reload back.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::boundary::{CallError, catch_panics};
use crate::bridge::core::Core;
use crate::emit::conversions::{declared_by, target_of, types_of};
use crate::escape::line;
use crate::handles::ObjectHandle;
use crate::load::error::LoadError;
use crate::object::World;
use crate::object::class::Class;
use crate::object::convert::convert;
use crate::object::dormant::Aside;
use crate::object::function::Function;
use crate::object::property::{Property, PropertyType};
use crate::object::thunk::{ParamBlock, run_over_block};
use crate::object::value::Value;
use crate::object::values::fits;

/// Conversions of a class and its bases, by property; the list with the empty name is for whole objects, bases first.
pub(crate) type Conversions = FxHashMap<Rc<str>, Vec<Rc<Function>>>;

/// Returns the conversions of a class and its bases.
pub(crate) fn conversions_of(class: &Rc<Class>) -> Conversions {
    let mut found = Conversions::default();
    for class in class.dynamic_chain() {
        for (target, function) in declared_by(&class).filter(|(_, function)| types_of(function).is_some()) {
            found.entry(target.into()).or_default().push(Rc::clone(function));
        }
    }
    found
}

/// Checks that values of a type of the replaced build are of the type `from` of this build.
pub(crate) fn is_live(world: &World, live: &str, from: &PropertyType) -> bool {
    world.types.to_current_paths(live) == from.to_string()
}

/// Returns the function that converts an own value of an object, and the value in the form that the function takes. `ty` is the type of
/// the property, `live` the type of the property in the replaced build, if there was one.
///
/// The value that the property had in the replaced build is converted; a value that was put aside only if no property had a form of it.
pub(crate) fn select(
    world: &World,
    functions: &[Rc<Function>],
    own: &Aside,
    (ty, live): (&PropertyType, Option<&PropertyType>),
) -> Option<(Rc<Function>, Value)> {
    // The original form is back, as after an undo.
    if own.is_of(ty) {
        return None;
    }
    let is_original = own.instead.is_none() && own.ty != 0;
    let live = live.filter(|live| !is_original || own.is_of(live)).map(ToString::to_string);
    let value = own.instead.as_ref().unwrap_or(&own.value);
    functions.iter().find_map(|function| {
        let (from, _) = types_of(function)?;
        let is_for = match &live {
            Some(live) => is_live(world, live, from),
            None if is_original => own.is_of(from),
            None => fits(from, value).is_ok(),
        };
        let argument = if is_for { convert(value, from, &world.names, world) } else { None };
        Some((Rc::clone(function), argument?))
    })
}

/// Calls a conversion. It may run before the commit, as it is of the new build or of a module that was staged before.
///
/// # Errors
/// The error or the panic of the function.
pub(crate) fn call(core: &Core, function: &Function, argument: &Value) -> Result<Value, CallError> {
    let (world, mut block) = (&core.world, ParamBlock::new(function));
    block.set(0, argument)?;
    catch_panics(|| run_over_block(world.context(), ObjectHandle::NONE, function, block.view()))?;
    block.result().ok_or_else(|| CallError::other(format!("{} has no result", function.path)))
}

/// Describes a conversion for errors: `level, which was 2.5 (f64 → i32),`.
pub(crate) fn described(world: &World, function: &Function, argument: &Value) -> String {
    let types = types_of(function).map(|(from, to)| format!("{from} → {to}")).unwrap_or_default();
    let subject = target_of(function).filter(|target| !target.is_empty()).unwrap_or("its values");
    format!("{subject}, {} ({types}),", line(&argument.print(&world.names)))
}

/// Property that receives a converted value, and the value that the undo restores, if the object had an own one.
pub(super) type Target = (Rc<Property>, Option<Aside>);

/// Conversion of one object that waits until all objects have their new memory.
pub(super) struct PendingConversion {
    pub(super) object: ObjectHandle,
    pub(super) function: Rc<Function>,
    pub(super) argument: Value,
    pub(super) targets: Vec<Target>,
}

impl PendingConversion {
    /// Calls the function, and returns its result for each target.
    ///
    /// # Errors
    /// [`LoadError::Conversion`] if the function fails, or if it returns an object that the property cannot hold.
    pub(super) fn run(self, core: &Core) -> Result<Vec<(Target, Value)>, LoadError> {
        let Self { object, function, argument, targets } = self;
        let world = &core.world;
        let failed = |error| LoadError::Conversion {
            object: world.path_of(object).unwrap_or_else(|| object.to_string()),
            value: described(world, &function, &argument),
            error,
        };
        let result = call(core, &function, &argument).map_err(failed)?;
        let is_whole = target_of(&function) == Some("");
        let mut converted = Vec::with_capacity(targets.len());
        for target in targets {
            let value = match &result {
                Value::Struct(fields) if is_whole => {
                    fields.iter().find(|(name, _)| **name == *target.0.text).map(|(_, value)| value)
                }
                value => Some(value),
            };
            let Some(value) = value.cloned() else { continue };
            world.check_objects_of(&target.0, &value).map_err(failed)?;
            converted.push((target, value));
        }
        Ok(converted)
    }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::describe::CONVERTS;
    use alcedo_abi::kinds::{PropertyKind, function_flags};

    use super::{Aside, Function, PropertyType, Rc, Value, World, select};
    use crate::object::decl::{Batch, ClassDecl, FunctionDecl, PropertyDecl};
    use crate::object::origin::Origin;
    use crate::object::thunk::idle;

    /// Declares conversions from `f64` and from `String` to `i32`.
    fn conversions(world: &World) -> Vec<Rc<Function>> {
        world.types.declare_package("Game");
        let function = |name: &str, from| FunctionDecl {
            flags: function_flags::STATIC,
            params: vec![PropertyDecl::new("earlier", from), PropertyDecl::result(PropertyKind::I32)],
            meta: vec![(CONVERTS.to_owned(), "level".to_owned())],
            ..FunctionDecl::new(name, idle())
        };
        let functions = vec![function("of_number", PropertyKind::F64), function("of_text", PropertyKind::STRING)];
        let class = ClassDecl { functions, ..ClassDecl::new("Game", "Gauge", "", Origin::Native) };
        let batch = Batch { classes: vec![class], ..Batch::default() };
        let declared = world.types.declare(&world.names, &batch).expect("a right declaration");
        declared.classes[0].own_functions.clone()
    }

    fn check(own: &Aside, live: Option<&PropertyType>, expected: &str) {
        let world = World::new();
        let functions = conversions(&world);
        let selected = select(&world, &functions, own, (&PropertyType::I32, live));
        let text = selected.map(|(function, value)| format!("{}({})", function.text, value.print(&world.names)));
        assert_eq!(text.unwrap_or_default(), expected, "{own:?} {live:?}");
    }

    #[test]
    fn the_type_of_the_value_selects_the_function() {
        let [f64, f32, i32, text] = [PropertyType::F64, PropertyType::F32, PropertyType::I32, PropertyType::Text];
        let own = || Aside::from(Value::F64(2.5));
        check(&own(), Some(&f64), "of_number(2.5)");
        check(&Aside::from(Value::F32(2.5)), Some(&f32), "");
        // A value that was put aside has a type of its own, or is recognized by its form.
        check(&own().of_type(&f64), Some(&i32), "of_number(2.5)");
        check(&own().of_type(&f64), None, "of_number(2.5)");
        check(&own(), None, "of_number(2.5)");
        // The property already has a form of the value.
        let with = |own: Aside, instead| Aside { instead: Some(instead), ..own };
        check(&with(own().of_type(&f64), Value::I32(2)), Some(&i32), "");
        check(&with(own().of_type(&f64), Value::I32(2)), None, "");
        // The form that the property had is converted; the original is restored where its type is back.
        check(&with(own().of_type(&f64), Value::Text("warm".into())), Some(&text), "of_text(\"warm\")");
        check(&with(Aside::from(Value::I32(7)).of_type(&i32), Value::F64(7.5)), Some(&f64), "");
    }
}
