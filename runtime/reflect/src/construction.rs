//! Construction and destruction of objects. This file defines the order of the steps, and destroys an object whose construction fails.
//! `destruction.rs` defines the steps of destruction. Higher layers run the plugin steps through [`ConstructionHooks`].
//!
//! Construction first allocates the memory and builds the plugin part. It then processes the classes of the chain from the root. For each
//! class, construction creates the subobjects, sets the defaults and runs the constructor. Construction then copies the archetype's values.
//! Finally, construction runs PostInitProperties of the plugin, then of the host. All steps of a subobject except PostInitProperties run
//! during the step of the class that declares the subobject. PostInitProperties of a subobject runs after the copy of the owner's
//! archetype. The copy therefore does not overwrite changes that PostInitProperties makes.
//!
//! A class default object (CDO) copies the values of its base's CDO before the steps of its own class run. The class constructor can
//! therefore change inherited properties.

use std::rc::Rc;

use alcedo_abi::kinds::class_flags;
use alcedo_base::boundary::{CallError, catch_panics_as};
use alcedo_base::handles::{Name, ObjectHandle};

use crate::World;
use crate::body::Body;
use crate::class::Class;
use crate::hooks::NativeHook;
use crate::naming::DEFAULT_PREFIX;
use crate::objects::object_flags;
use crate::origin::Origin;
use crate::property::Property;
use crate::value::Value;

mod checks;
mod destruction;
mod failure;
mod living;
mod overrides;
mod parts;
mod subobject;
mod whole;

pub use destruction::{destroy, destroy_plain, leave_classes};
pub use failure::StepError;
use failure::StepFacts;
pub use failure::{ConstructionFailed, ConstructionStep};
pub use living::{add_subobject, part_pairs, reconstruct, template_pairs};

/// Steps of construction and destruction that higher layers implement. While a step runs, no store of objects or types is
/// borrowed.
pub trait ConstructionHooks {
    /// Builds the plugin part of an object. Runs the red constructors of the dynamic classes, base first.
    ///
    /// # Errors
    /// Fails if the red constructor of a class fails. The error names that class.
    fn build_conjugate(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), StepError>;

    /// Runs the class constructor of `class`, a dynamic class in the object's chain.
    ///
    /// # Errors
    /// Fails if the class constructor fails.
    fn class_constructor(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), StepError>;

    /// Checks if this dynamic class has a class constructor.
    fn has_class_constructor(&self, class: &Rc<Class>) -> bool;

    /// Checks if this dynamic class has its own PostInitProperties.
    fn has_post_init(&self, class: &Rc<Class>) -> bool;

    /// Calls the plugin's PostInitProperties. Only the override in the most derived class runs. `class` is the class of the object.
    ///
    /// # Errors
    /// Fails if PostInitProperties fails.
    fn plugin_post_init(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), StepError>;

    /// Destroys the object's conjugate, if the object has one. The hook is also called after a failed construction.
    fn end_conjugate(&self, object: ObjectHandle);
}

/// Parameters of a construction.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConstructionArgs {
    /// Name. `None` for a generated unique name.
    pub name: Option<Name>,
    /// Outer object, or none.
    pub outer: ObjectHandle,
    /// Object whose values are copied. `None` for the CDO of the class.
    pub archetype: Option<ObjectHandle>,
    /// True to add the object to the root set.
    pub root: bool,
}

/// Constructs an object of `class`. Game thread only.
///
/// # Errors
/// Returns [`ConstructionFailed`] if a step fails or panics. The object and its subobjects are then destroyed.
pub fn construct(
    world: &World,
    hooks: &dyn ConstructionHooks,
    class: &Rc<Class>,
    args: ConstructionArgs,
) -> Result<ObjectHandle, ConstructionFailed> {
    let constructor = Constructor { world, hooks, requested: class };
    if class.flags & (class_flags::ABSTRACT | class_flags::CONTEXTUAL) != 0 {
        constructor.check_flags(args.outer)?;
    }
    let cdo = class.cdo.get();
    let template = if args.name.is_none() && args.archetype.is_none() && constructor.is_whole(cdo) {
        cdo
    } else {
        let template = constructor.checked_template(&args)?;
        if !constructor.is_whole(template) {
            return constructor.construct_by_parts(&args, template);
        }
        template
    };
    constructor.construct_whole(&args, template)
}

/// Returns the CDO of `class`. Constructs a missing CDO, after the CDO of the base. Game thread only.
///
/// # Errors
/// Returns [`ConstructionFailed`] if a step fails or panics, or if the construction of the CDO requires this CDO.
pub fn make_cdo(
    world: &World,
    hooks: &dyn ConstructionHooks,
    class: &Rc<Class>,
) -> Result<ObjectHandle, ConstructionFailed> {
    let existing = class.cdo.get();
    if world.objects.is_alive(existing) {
        return Ok(existing);
    }
    let constructor = Constructor { world, hooks, requested: class };
    let name = format!("{DEFAULT_PREFIX}{}", class.name);
    if class.members.cdo_in_making.replace(true) {
        let problem = "it needs itself: one of its subobjects is of this class or of a derived one";
        return Err(constructor.refused(&name, ConstructionStep::Cdo, problem));
    }
    let made = constructor.make_cdo(&name);
    class.members.cdo_in_making.set(false);
    let cdo = made?;
    class.cdo.set(cdo);
    Ok(cdo)
}

/// Runs the class constructor of one dynamic class in an object's chain, and increments a counter. All calls of class constructors use this
/// function.
///
/// # Errors
/// Returns [`StepError`] if the class constructor fails or panics.
pub fn run_class_constructor(
    world: &World,
    hooks: &dyn ConstructionHooks,
    object: ObjectHandle,
    class: &Rc<Class>,
) -> Result<(), StepError> {
    count_class_constructor(world, object, class);
    catch_panics_as(|| hooks.class_constructor(object, class))
}

/// Runs the hook of a native class. The hook may run a garbage collection, and no reference to the new object exists yet. The stack
/// therefore holds the object during the hook.
fn run_native(world: &World, object: ObjectHandle, (name, hook): (&'static str, &NativeHook)) -> Result<(), StepError> {
    let _held = world.stack.hold([object]);
    let _running = world.stack.enter_hook(name, object);
    hook(world.context(), object).map_err(StepError::new)
}

fn count_class_constructor(world: &World, object: ObjectHandle, class: &Class) {
    let counters = &world.counters;
    let Some((was_run, is_template)) = world.objects.construct(object, class.depth()) else { return };
    if was_run {
        counters.class_constructors_rerun.bump();
    }
    if !is_template {
        counters.class_constructors_on_instances.bump();
    }
}

/// Returns the properties that a class itself declares and that have a default. Excludes properties that refer to subobjects.
fn defaults_of(turn: &Class) -> impl Iterator<Item = (&Property, &Value)> {
    let is_part = |property: &Property| turn.subobjects.iter().any(|own| own.property.text == property.text);
    let defaults = turn.own_properties.iter().filter_map(|property| Some((&**property, property.default.as_ref()?)));
    defaults.filter(move |(property, _)| !is_part(property))
}

/// Checks if the class itself declares a property with a default.
fn has_defaults(turn: &Class) -> bool {
    defaults_of(turn).next().is_some()
}

struct Constructor<'a> {
    world: &'a World,
    hooks: &'a dyn ConstructionHooks,
    requested: &'a Rc<Class>,
}

struct Order<'a> {
    class: &'a Rc<Class>,
    /// Requested name. `None` for a generated name and for a subobject.
    name: Option<Name>,
    outer: ObjectHandle,
    /// Name within the outer, if the object is a subobject.
    part: Option<&'a Rc<str>>,
    flags: u32,
    template: Option<ObjectHandle>,
}

/// Constructed object that still requires PostInitProperties.
struct NewObject {
    object: ObjectHandle,
    class: Rc<Class>,
    template: Option<ObjectHandle>,
    /// True if `template` is the archetype that the caller requested, or the subobject in the owner's template. The copy of the owner's
    /// template overwrites the subobject's values only in this case. Otherwise, the owner's template lacks the subobject, and the values of
    /// `template`, which belongs to the CDO of a class, are already copied.
    is_requested: bool,
    parts: Vec<NewObject>,
}

impl NewObject {
    fn new(object: ObjectHandle, class: &Rc<Class>, template: Option<ObjectHandle>) -> Self {
        Self { object, class: Rc::clone(class), template, is_requested: true, parts: Vec::new() }
    }
}

/// Time at which the template's values are copied to the object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Copying {
    /// Before the steps of the object's own class. Used for CDOs.
    BeforeOwnClass,
    /// After the steps of all classes. Used for subobjects, so that the owner's constructor finds complete subobjects.
    AfterClasses,
    /// After the creation of all subobjects. The caller of [`Constructor::begin`] makes this copy.
    Later,
}

/// Pairs of a template's object and its counterpart in the new object. Used to replace references in copied values.
type Pairs = Vec<(ObjectHandle, ObjectHandle)>;

impl Constructor<'_> {
    /// Checks if [`Constructor::construct_whole`] can construct an object of the requested class with the values of `template`.
    #[inline]
    fn is_whole(&self, template: ObjectHandle) -> bool {
        !self.requested.members.has_subobjects && self.world.objects.class_id(template) == Some(self.requested.id)
    }

    /// Constructs an object that has subobjects, or whose template is of another class.
    #[inline(never)]
    fn construct_by_parts(
        &self,
        args: &ConstructionArgs,
        template: ObjectHandle,
    ) -> Result<ObjectHandle, ConstructionFailed> {
        if let Some(plan) = self.parts_plan(template) {
            return self.construct_with_parts(args, &plan);
        }
        let class = self.requested;
        // A template of a base class lacks the values that derived classes add. The CDO provides these values.
        let is_of_base = self.world.objects.class(template).is_some_and(|of| !of.is_a(class));
        let first = if is_of_base { self.cdo_of(class)? } else { template };
        let order = Order { class, name: args.name, outer: args.outer, part: None, flags: 0, template: Some(first) };
        let mut pairs = Vec::new();
        let mut new_object = self.begin(&order, Copying::Later, &mut pairs)?;
        let mut copied = self.copy_values(&new_object, &pairs);
        if is_of_base {
            pairs.clear();
            self.follow(&mut new_object, template, &mut pairs);
            copied = copied.and_then(|()| self.copy_values(&new_object, &pairs));
        }
        let object = self.complete(&new_object, copied)?;
        if args.root {
            self.world.objects.add_root(object);
        }
        Ok(object)
    }

    fn make_cdo(&self, name: &str) -> Result<ObjectHandle, ConstructionFailed> {
        let class = self.requested;
        let template = class.base.as_ref().map(|base| self.cdo_of(base)).transpose()?;
        let (name, outer) = (Some(self.world.names.intern(name)), ObjectHandle::NONE);
        let order = Order { class, name, outer, part: None, flags: object_flags::CDO, template };
        let new_object = self.begin(&order, Copying::BeforeOwnClass, &mut Vec::new())?;
        self.complete(&new_object, Ok(()))
    }

    /// Runs the last step, PostInitProperties, and counts the object. Destroys the object if this step or the step before has failed.
    fn complete(
        &self,
        new_object: &NewObject,
        before: Result<(), ConstructionFailed>,
    ) -> Result<ObjectHandle, ConstructionFailed> {
        self.or_destroy(new_object, before.and_then(|()| self.post_init(new_object)))?;
        self.count(new_object);
        Ok(new_object.object)
    }

    /// Returns the CDO of a class that the construction needs. An error contains the class that the caller requested.
    fn cdo_of(&self, class: &Rc<Class>) -> Result<ObjectHandle, ConstructionFailed> {
        make_cdo(self.world, self.hooks, class)
            .map_err(|failed| ConstructionFailed { class: self.requested.path.to_string(), ..failed })
    }

    /// Allocates the object, builds its plugin part and runs the steps of all classes in its chain.
    fn begin(&self, order: &Order<'_>, copying: Copying, pairs: &mut Pairs) -> Result<NewObject, ConstructionFailed> {
        let Order { class, name, outer, part, flags, template } = *order;
        let objects = &self.world.objects;
        let object = match part {
            Some(part) => objects.allocate_part(class, objects.part_name(part), outer, flags, 0),
            None => objects.allocate(class, name, outer, flags),
        };
        pairs.extend(template.map(|template| (template, object)));
        let mut new_object = NewObject::new(object, class, template);
        let grown = self.grow(&mut new_object, flags, copying, pairs);
        self.or_destroy(&new_object, grown)?;
        Ok(new_object)
    }

    fn grow(
        &self,
        new_object: &mut NewObject,
        flags: u32,
        copying: Copying,
        pairs: &mut Pairs,
    ) -> Result<(), ConstructionFailed> {
        let (object, class) = (new_object.object, new_object.class.clone());
        if class.has_plugin_part() {
            let build = || self.hooks.build_conjugate(object, &class);
            self.step(object, || ConstructionStep::RedConstructor(class.path.to_string()), build)?;
        }
        for turn in class.lineage() {
            if copying == Copying::BeforeOwnClass && Rc::ptr_eq(turn, &class) {
                self.copy_values(new_object, pairs)?;
            }
            for subobject in &turn.subobjects {
                let part = self.part(new_object, flags, subobject, pairs)?;
                new_object.parts.extend(part);
            }
            self.step(
                object,
                || ConstructionStep::Defaults(turn.path.to_string()),
                || {
                    self.set_defaults(object, turn)?;
                    // Overrides defaults only in CDOs: instances copy these defaults from their template.
                    match copying {
                        Copying::BeforeOwnClass => overrides::set_default_overrides(self.world, object, turn),
                        _ => Ok(()),
                    }
                },
            )?;
            self.construct(object, turn)?;
        }
        if copying == Copying::AfterClasses { self.copy_values(new_object, pairs) } else { Ok(()) }
    }

    /// Writes the defaults that the class `turn` itself declares.
    fn write_defaults(&self, object: ObjectHandle, turn: &Class) -> Result<(), StepError> {
        let write = |body: &Body| {
            let mut defaults = defaults_of(turn);
            defaults.try_for_each(|(property, default)| body.view().write(property, default))
        };
        Ok(self.world.objects.with_body_to_write(object, write)??)
    }

    fn set_defaults(&self, object: ObjectHandle, turn: &Class) -> Result<(), StepError> {
        if has_defaults(turn) {
            self.write_defaults(object, turn)?;
        }
        // Runs the hook only for the CDO of this class: all other objects copy the values that the hook has set.
        match &turn.script_defaults {
            Some(hook) if self.is_cdo_of(object, turn) => run_native(self.world, object, ("the defaults", hook)),
            _ => Ok(()),
        }
    }

    /// Checks if the object is the CDO of exactly that class, complete or under construction.
    fn is_cdo_of(&self, object: ObjectHandle, class: &Class) -> bool {
        let objects = &self.world.objects;
        objects.flags(object).is_some_and(|flags| flags & object_flags::CDO != 0)
            && objects.class_id(object) == Some(class.id)
    }

    fn construct(&self, object: ObjectHandle, turn: &Rc<Class>) -> Result<(), ConstructionFailed> {
        let path = || turn.path.to_string();
        // Most classes have no constructor. For these classes, only increments the counter, without the overhead of a step.
        if turn.origin == Origin::Dynamic && !self.hooks.has_class_constructor(turn) {
            count_class_constructor(self.world, object, turn);
            return Ok(());
        }
        match (turn.origin, &turn.native_constructor) {
            (Origin::Dynamic, _) => {
                let run = || run_class_constructor(self.world, self.hooks, object, turn);
                return self.step(object, || ConstructionStep::ClassConstructor(path()), run);
            }
            (Origin::Native, Some(hook)) => {
                let run = || run_native(self.world, object, ("the constructor", hook));
                self.step(object, || ConstructionStep::NativeConstructor(path()), run)?;
            }
            (Origin::Native, None) | (Origin::Script, _) => {}
        }
        self.world.objects.set_constructed(object, turn.depth());
        Ok(())
    }

    /// Copies the template's values to the object. Also copies the values of the template's subobjects to the object's subobjects.
    fn copy_values(&self, new_object: &NewObject, pairs: &Pairs) -> Result<(), ConstructionFailed> {
        let objects = &self.world.objects;
        if let Some(template) = new_object.template {
            let copy = || {
                let of = objects.class(template).ok_or(CallError::Stale { handle: template })?;
                let shared = new_object.class.common_base(&of);
                let properties = shared.as_ref().map_or(&[][..], |shared| &shared.properties);
                Ok(objects.copy_values(new_object.object, template, properties, pairs)?)
            };
            self.step(new_object.object, || ConstructionStep::CopyValues(new_object.class.path.to_string()), copy)?;
        }
        let mut requested = new_object.parts.iter().filter(|part| part.is_requested);
        requested.try_for_each(|part| self.copy_values(part, pairs))
    }

    /// Runs PostInitProperties of the subobjects, then of the object. For each object, runs the plugin's PostInitProperties first. Then
    /// runs PostInitProperties of the native classes, root first.
    fn post_init(&self, new_object: &NewObject) -> Result<(), ConstructionFailed> {
        new_object.parts.iter().try_for_each(|part| self.post_init(part))?;
        self.init(new_object.object, &new_object.class)
    }

    fn init(&self, object: ObjectHandle, class: &Rc<Class>) -> Result<(), ConstructionFailed> {
        if class.has_plugin_part() {
            let run = || self.hooks.plugin_post_init(object, class);
            self.step(object, || ConstructionStep::PluginPostInit(class.path.to_string()), run)?;
        }
        for native in class.lineage() {
            if let Some(hook) = &native.native_post_init {
                let run = || run_native(self.world, object, ("post_init_properties", hook));
                self.step(object, || ConstructionStep::NativePostInit(native.path.to_string()), run)?;
            }
        }
        Ok(())
    }

    fn count(&self, new_object: &NewObject) {
        let is_instance = |flags: u32| flags & (object_flags::CDO | object_flags::IN_CDO) == 0;
        if self.world.objects.flags(new_object.object).is_some_and(is_instance) {
            self.world.counters.constructions.bump();
        }
        new_object.parts.iter().for_each(|part| self.count(part));
    }

    /// Runs one construction step. Fails if the step fails or destroys the object.
    fn step(
        &self,
        object: ObjectHandle,
        step: impl FnOnce() -> ConstructionStep,
        work: impl FnOnce() -> Result<(), StepError>,
    ) -> Result<(), ConstructionFailed> {
        match catch_panics_as(work) {
            Ok(()) if self.world.objects.is_alive(object) => Ok(()),
            Ok(()) => {
                let ended = StepError::new("the object was destroyed in the middle of its construction");
                Err(self.failed_for(object, step(), ended))
            }
            Err(error) => Err(self.failed_for(object, step(), error)),
        }
    }

    fn or_destroy(
        &self,
        new_object: &NewObject,
        outcome: Result<(), ConstructionFailed>,
    ) -> Result<(), ConstructionFailed> {
        outcome.inspect_err(|_| destroy(self.world, self.hooks, new_object.object))
    }

    #[cold]
    fn failed_for(&self, object: ObjectHandle, step: ConstructionStep, error: StepError) -> ConstructionFailed {
        let name = self.world.objects.name(object);
        let name = name.map_or_else(|| object.to_string(), |name| self.world.names.text(name).to_string());
        self.failed(&name, step, error)
    }

    fn failed(&self, object: &str, step: ConstructionStep, error: StepError) -> ConstructionFailed {
        let StepFacts { class, message, place } = error.into_facts();
        let step = match (step, class) {
            (ConstructionStep::RedConstructor(_), Some(class)) => ConstructionStep::RedConstructor(class.to_string()),
            (ConstructionStep::PluginPostInit(_), Some(class)) => ConstructionStep::PluginPostInit(class.to_string()),
            (step, _) => step,
        };
        ConstructionFailed { class: self.requested.path.to_string(), step, object: object.to_owned(), message, place }
    }
}

#[cfg(test)]
mod tests;
