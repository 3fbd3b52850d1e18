//! Selects and runs the conversion functions of plugin authors during a reload. The functions run after all objects have new bodies, and
//! before any plugin part is built. If a function fails, the reload is rolled back.

use std::fmt::Display;
use std::rc::Rc;

use alcedo_abi::host::mode;
use rustc_hash::FxHashMap;

use crate::boundary::{CallError, catch_panics};
use crate::bridge::core::Core;
use crate::emit::conversions::{declared_by, target_of, types_of};
use crate::escape::line;
use crate::faults::{self, FaultInjected, ReloadStep};
use crate::handles::ObjectHandle;
use crate::object::World;
use crate::object::class::Class;
use crate::object::convert::{Paths, convert};
use crate::object::dormant::Aside;
use crate::object::fixed::{self, Extent};
use crate::object::function::Function;
use crate::object::property::{Property, PropertyType};
use crate::object::thunk::{ParamBlock, run_over_block};
use crate::object::value::Value;
use crate::object::values::fits;

/// Conversion functions of a class and its bases, by property. The empty key contains the conversions of whole objects, bases first.
pub(crate) type Conversions = FxHashMap<Rc<str>, Vec<Rc<Function>>>;

/// Returns the conversion functions of a class and its bases.
pub(crate) fn conversions_of(class: &Rc<Class>) -> Conversions {
    let mut found = Conversions::default();
    for class in class.dynamic_chain() {
        for (target, function) in declared_by(&class).filter(|(_, function)| types_of(function).is_some()) {
            found.entry(target.into()).or_default().push(Rc::clone(function));
        }
    }
    found
}

/// Compares the type `earlier` of the replaced build with the type `now` of the new build. Types that differ only in renamed paths are
/// equal.
pub(crate) fn is_same_type(world: &World, earlier: &str, now: &PropertyType) -> bool {
    world.types.to_current_paths(earlier) == now.to_string()
}

/// Returns the function that converts an object's own value, with the argument of the function. `paths` resolves the references in the
/// value. `ty` is the new type of the property. `held` contains the type and value of the property in the replaced build or in a file.
/// `held` is `None` if the property had its default, or if the file contains the value without its type.
///
/// The function converts the value in `held`. Without `held`, the function converts the value in `own`, which was put aside.
pub(crate) fn select<T: Display + ?Sized>(
    world: &World,
    paths: &dyn Paths,
    functions: &[Rc<Function>],
    own: &Aside,
    (ty, held): (&PropertyType, Option<(&T, &Value)>),
) -> Option<(Rc<Function>, Value)> {
    // Selects no function if the property has the original type of the value again, for example after the author has reverted a change.
    if own.is_of(ty) {
        return None;
    }
    let value = held.map_or(&own.value, |(_, value)| value);
    let live = held.map(|(live, _)| live.to_string());
    functions.iter().find_map(|function| {
        let (from, _) = types_of(function)?;
        let is_for = match &live {
            Some(live) => is_same_type(world, live, from),
            None if own.ty != 0 => own.is_of(from),
            // World files store dormant values without types, so the form of the value decides if the conversion applies.
            None => fits(from, value).is_ok() && fits(ty, value).is_err(),
        };
        let argument = if is_for { convert(value, from, &world.names, paths) } else { None };
        Some((Rc::clone(function), argument?))
    })
}

/// Calls a conversion. The call is allowed before the commit, because the function belongs to the new build, or to a module that was staged
/// earlier. The function cannot write to objects, because code during staging may write only to an object that is being rebuilt.
///
/// # Errors
/// Returns the error or the panic of the function.
fn call(core: &Core, function: &Function, argument: &Value) -> Result<Value, CallError> {
    let (world, mut block) = (&core.world, ParamBlock::new(function));
    block.set(0, argument)?;
    let _computes = world.mode.enter(mode::REBUILDING);
    catch_panics(|| run_over_block(world.context(), ObjectHandle::NONE, function, block.view()))?;
    block.result().ok_or_else(|| CallError::other(format!("{} has no result", function.path)))
}

/// Describes a conversion for errors, such as `level, which was 2.5 (f64 → i32),`.
fn described(world: &World, function: &Function, argument: &Value) -> String {
    let types = types_of(function).map(|(from, to)| format!("{from} → {to}")).unwrap_or_default();
    let subject = target_of(function).filter(|target| !target.is_empty()).unwrap_or("its values");
    format!("{subject}, {} ({types}),", line(&argument.print(&world.names)))
}

/// Property that receives a converted value. If the object had a value of its own, the second field contains the value for an undo.
pub(crate) type Target = (Rc<Property>, Option<Aside>);

/// Conversion for one object. Runs after all objects have received new bodies.
pub(crate) struct PendingConversion {
    pub(crate) object: ObjectHandle,
    /// Object with the new defaults. For most objects, the class default object. For a subobject, the template in the class default object
    /// of the owner's class.
    pub(crate) template: ObjectHandle,
    pub(crate) function: Rc<Function>,
    pub(crate) argument: Value,
    pub(crate) targets: Vec<Target>,
}

impl PendingConversion {
    /// Calls the function, passes each converted value to `write`, and keeps the originals for an undo. If the function fails, or if the
    /// property cannot hold the returned object, returns the error that `failed` creates. The arguments of `failed` are a description of the
    /// converted value, and the reason. Also returns the errors of `write`.
    pub(crate) fn apply<E: From<CallError> + From<FaultInjected>>(
        self,
        core: &Core,
        failed: impl FnOnce(String, CallError) -> E,
        mut write: impl FnMut(&Rc<str>, &Value) -> Result<(), CallError>,
    ) -> Result<(), E> {
        let owner = (self.object, self.template);
        let converted = self.run(core).map_err(|(value, error)| failed(value, error))?;
        faults::at(ReloadStep::Conversion)?;
        for (target, value) in converted {
            write(&target.0.text, &value)?;
            keep_original(core, owner, target, &value)?;
        }
        Ok(())
    }

    /// Calls the function, and returns the converted value for each target. Adjusts fixed arrays to their declared lengths, because
    /// [`keep_original`] must record the value that the property then holds.
    fn run(self, core: &Core) -> Result<Vec<(Target, Value)>, (String, CallError)> {
        let Self { function, argument, targets, .. } = self;
        let world = &core.world;
        let failed = |error| (described(world, &function, &argument), error);
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
            world.check_awake_objects_of(&target.0, &value).map_err(failed)?;
            let value = fixed::as_written(&target.0, value);
            converted.push((target, value));
        }
        Ok(converted)
    }
}

/// Puts the original of a converted value aside. An undo restores the original. If the converted value equals the default, also puts the
/// converted value aside, so that the property does not follow later defaults.
pub(super) fn keep_original(
    core: &Core,
    (object, template): (ObjectHandle, ObjectHandle),
    (property, original): Target,
    value: &Value,
) -> Result<(), CallError> {
    let objects = &core.world.objects;
    // Discards an original with the current type of the property, because the next reload would restore such an original.
    let before = original.and_then(|own| own.newer_than(&property.ty));
    // Discards the values for a redo, because the function has computed a new value.
    let before = before.map(|own| Box::new(Aside { redo: Vec::new(), ..own }));
    if before.is_some() || objects.read_value(template, &property.text)? == *value {
        let own = Aside { before, ..Aside::from(value.clone()).of_type(&property.ty) };
        if let Some(aside) = Extent::OneWay.aside(own, value) {
            objects.put_aside(object, &property.text, aside)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use alcedo_abi::describe::CONVERTS;
    use alcedo_abi::kinds::{PropertyKind, function_flags};

    use super::{
        Aside, CallError, Core, Function, ObjectHandle, PendingConversion, PropertyType, Rc, Value, World, select,
    };
    use crate::object::decl::{Batch, ClassDecl, FunctionDecl, PropertyDecl};
    use crate::object::dormant::Dormant;
    use crate::object::fixed::ARRAY_DIM;
    use crate::object::origin::Origin;
    use crate::object::thunk::{Thunk, idle};

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

    /// Converts the number 2.5 by a function that returns `value`. `result` declares the result of the function. Returns an object that has
    /// the converted property.
    fn converted(core: &Core, property: PropertyDecl, (result, value): (PropertyDecl, Value)) -> ObjectHandle {
        let world = &core.world;
        world.types.declare_package("Game");
        let thunk: Thunk = Rc::new(move |_context, frame| {
            frame.take::<f64>()?;
            frame.finish()?;
            frame.set_result_value(&value)
        });
        let of_number = FunctionDecl {
            flags: function_flags::STATIC,
            params: vec![PropertyDecl::new("earlier", PropertyKind::F64), result],
            meta: vec![(CONVERTS.to_owned(), property.name.clone())],
            ..FunctionDecl::new("of_number", thunk)
        };
        let class = ClassDecl::new("Game", "Board", "", Origin::Native);
        let class = ClassDecl { functions: vec![of_number], properties: vec![property], ..class };
        let batch = Batch { classes: vec![class], ..Batch::default() };
        let class = world.types.declare(&world.names, &batch).expect("a right declaration").classes.remove(0);
        let [template, object] = [(); 2].map(|()| world.objects.allocate(&class, None, ObjectHandle::NONE, 0));
        let property = Rc::clone(class.properties.first().expect("it is declared"));
        let original = Aside::from(Value::F64(2.5)).of_type(&PropertyType::F64);
        let pending = PendingConversion {
            object,
            template,
            function: Rc::clone(&class.own_functions[0]),
            argument: Value::F64(2.5),
            targets: vec![(property, Some(original))],
        };
        let failed = |_value: String, error: CallError| error;
        let write = |name: &Rc<str>, value: &Value| world.objects.write_unasked(object, name, value);
        pending.apply::<CallError>(core, failed, write).expect("it is converted");
        object
    }

    #[test]
    fn the_recorded_result_of_a_conversion_is_the_value_that_the_property_holds() {
        let core = Core::new().expect("a finalizer thread");
        let cells = PropertyDecl::new("cells", PropertyKind::ARRAY).of_type("i32");
        let cells = PropertyDecl { meta: vec![(ARRAY_DIM.to_owned(), "3".to_owned())], ..cells };
        let result = PropertyDecl::result(PropertyKind::ARRAY).of_type("i32");
        let object = converted(&core, cells, (result, Value::Array(vec![Value::I32(7)])));
        let objects = &core.world.objects;
        let held = objects.read_value(object, "cells").expect("it has it");
        assert_eq!(held, Value::Array([7, 0, 0].map(Value::I32).to_vec()));
        let aside = objects.take_aside(object, "cells").expect("the original is put aside");
        assert_eq!(aside.instead, Some(held), "an undo finds the replacement in the property");
    }

    #[test]
    fn a_conversion_may_return_a_dormant_object() {
        let core = Core::new().expect("a finalizer thread");
        let world = &core.world;
        world.types.declare_package("Game");
        let class = |name: &str, base: &str| ClassDecl::new("Game", name, base, Origin::Native);
        let classes = vec![class("Actor", ""), class("Ghost", "/Script/Game.Actor")];
        let batch = Batch { classes, ..Batch::default() };
        let actor = world.types.declare(&world.names, &batch).expect("right declarations").classes.remove(0);
        let asleep = world.objects.allocate(&actor, None, ObjectHandle::NONE, 0);
        let dormant = Dormant { class: "/Script/Game.Phantom".into(), ..Dormant::default() };
        world.objects.set_dormant(asleep, dormant).expect("it is alive");
        let friend = PropertyDecl::new("friend", PropertyKind::OBJECT).of_type("/Script/Game.Ghost");
        let result = PropertyDecl::result(PropertyKind::OBJECT).of_type("/Script/Game.Ghost");
        let object = converted(&core, friend, (result, Value::Object(asleep)));
        assert_eq!(world.objects.read_value(object, "friend"), Ok(Value::Object(asleep)));
    }

    fn check(own: &Aside, held: Option<(&PropertyType, Value)>, expected: &str) {
        let world = World::new();
        let functions = conversions(&world);
        let live = held.as_ref().map(|(ty, value)| (*ty, value));
        let selected = select(&world, &world, &functions, own, (&PropertyType::I32, live));
        let text = selected.map(|(function, value)| format!("{}({})", function.text, value.print(&world.names)));
        assert_eq!(text.unwrap_or_default(), expected, "{own:?} {held:?}");
    }

    #[test]
    fn the_type_of_the_value_selects_the_function() {
        let [f64, f32, i32, text] = [PropertyType::F64, PropertyType::F32, PropertyType::I32, PropertyType::Text];
        let own = || Aside::from(Value::F64(2.5));
        check(&own(), Some((&f64, Value::F64(2.5))), "of_number(2.5)");
        check(&Aside::from(Value::F32(2.5)), Some((&f32, Value::F32(2.5))), "");
        // The type of a value that was put aside is recorded, or is recognized by the form of the value.
        check(&own().of_type(&f64), None, "of_number(2.5)");
        check(&own().of_type(&f32), None, "");
        check(&own(), None, "of_number(2.5)");
        check(&Value::I32(7).into(), None, "");
        // The current value of the property was already converted from the value that was put aside.
        check(&own().of_type(&f64), Some((&i32, Value::I32(2))), "");
        // Converts the current value of the property. A later reload with the original type restores the original.
        check(&own().of_type(&f64), Some((&text, Value::Text("warm".into()))), "of_text(\"warm\")");
        check(&Aside::from(Value::I32(7)).of_type(&i32), Some((&f64, Value::F64(7.5))), "");
    }
}
