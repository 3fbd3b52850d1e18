//! The objects of a host, as it uses them itself: it makes them, reads and writes their properties, calls their functions
//! and destroys them.

use std::ops::Deref;
use std::rc::Rc;

use super::Runtime;
use super::types::ClassRef;
use crate::border::CallError;
use crate::bridge::calls::{Dispatch, call_with_outs};
use crate::error::Error;
use crate::handles::{ModuleId, ObjectHandle};
use crate::load::context::info::ContextInfo;
use crate::load::context_id::ContextId;
use crate::object::class::Class;
use crate::object::construction::{ConstructionArgs, construct};
use crate::object::member::{FunctionKey, PropertyKey};
use crate::object::natives::World;
use crate::object::objects::RenameError;
use crate::object::value::Value;

/// The objects of a host: [`Runtime::objects`]. Game thread only.
///
/// ```no_run
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// use alcedo_runtime::{PropertyRef, Runtime, Value};
///
/// let runtime = Runtime::builder().build()?;
/// let cube = runtime.objects().spawn("/Script/Game.Cube")?;
/// runtime.objects().set(cube, "speed", &Value::F64(2.0))?;
/// runtime.objects().call(cube, "turn", &[])?;
/// // Looked up once, read in each frame.
/// let speed = PropertyRef::new("speed");
/// assert_eq!(runtime.objects().get(cube, &speed)?, Value::F64(2.0));
/// runtime.objects().destroy(cube);
/// assert!(!runtime.objects().is_alive(cube));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Objects<'a>(pub(super) &'a Runtime);

impl Deref for Objects<'_> {
    type Target = World;

    fn deref(&self) -> &World {
        self.0.world()
    }
}

impl Objects<'_> {
    /// Makes an object of a class, kept until it is destroyed. A callback of [`Unloads::on_unloading`](crate::Unloads::on_unloading) may do so too, and
    /// what it makes lives on like all others.
    ///
    /// # Errors
    /// When there is no such class, or a step of the construction failed; nothing of the object is left then. While a reload or
    /// the like is under way.
    pub fn spawn(&self, class: &str) -> Result<ObjectHandle, Error> {
        self.spawn_in(class, ObjectHandle::NONE)
    }

    /// Makes an object inside another. What keeps it from collection is a property that refers to it, as for any object
    /// that is no root.
    ///
    /// # Errors
    /// As [`Objects::spawn`].
    pub fn spawn_in(&self, class: &str, outer: ObjectHandle) -> Result<ObjectHandle, Error> {
        self.construct(&self.0.types().class_by_path(class)?, outer)
    }

    /// Makes an object of a class that is held, as [`Objects::spawn`] does.
    ///
    /// # Errors
    /// As [`Objects::spawn`]: the class may be gone since the request.
    pub fn spawn_of(&self, class: &ClassRef) -> Result<ObjectHandle, Error> {
        self.spawn_of_in(class, ObjectHandle::NONE)
    }

    /// Makes an object of a class that is held, inside another, as [`Objects::spawn_in`] does.
    ///
    /// # Errors
    /// As [`Objects::spawn_of`].
    pub fn spawn_of_in(&self, class: &ClassRef, outer: ObjectHandle) -> Result<ObjectHandle, Error> {
        self.construct(&self.0.types().class_now(class)?, outer)
    }

    /// Destroys an object and its subobjects. Without effect on one that is gone, and, but for a line in the log, on a class default
    /// object, and in a listener of a reload that is under way.
    pub fn destroy(&self, object: ObjectHandle) {
        match self.0.inner.core.end_object(object) {
            Ok(()) | Err(CallError::Stale { .. }) => {}
            Err(error) => {
                tracing::warn!(object = %self.0.core().world.objects.shown(object), %error, "an object was not destroyed");
            }
        }
    }

    /// The living objects in creation order, without class default objects and their templates.
    pub fn all(&self) -> Vec<ObjectHandle> {
        self.0.inner.core.world.objects.living()
    }

    /// Path of the class that an object waits for, where it is dormant: a reload took its class away. It has no plugin part
    /// then and is seen as an object of its nearest base; it wakes when the class returns.
    pub fn dormant_class(&self, object: ObjectHandle) -> Option<String> {
        self.0.inner.core.world.objects.waits_for(object).map(|class| class.to_string())
    }

    /// The object that lies in `outer` under that name; in nothing, for none. Takes no longer the more there are.
    pub fn find_in(&self, outer: ObjectHandle, name: &str) -> Option<ObjectHandle> {
        self.0.inner.core.world.objects.find(outer, name)
    }

    /// Gives an object another name and another place; one of them may be what it was. References stay as they are.
    ///
    /// # Errors
    /// [`RenameError`] says why not; nothing has changed then.
    pub fn rename(&self, object: ObjectHandle, name: &str, outer: ObjectHandle) -> Result<(), RenameError> {
        self.0.inner.core.world.objects.rename(object, name, outer)
    }

    /// Keeps an object, and what it refers to, from collection. Whether the object is there.
    pub fn add_root(&self, object: ObjectHandle) -> bool {
        self.0.inner.core.world.objects.add_root(object)
    }

    /// Whether an object is in the root set.
    pub fn is_root(&self, object: ObjectHandle) -> bool {
        self.0.inner.core.world.objects.is_root(object)
    }

    /// Takes an object from the root set; it lives on as long as something refers to it. Whether it was in it.
    pub fn remove_root(&self, object: ObjectHandle) -> bool {
        self.0.inner.core.world.objects.remove_root(object)
    }

    /// Reads a property, by name or by a [`PropertyRef`](crate::PropertyRef).
    ///
    /// # Errors
    /// When the object is gone or has no such property.
    pub fn get(&self, object: ObjectHandle, property: impl PropertyKey) -> Result<Value, Error> {
        self.property(object, property)?;
        Ok(self.0.inner.core.world.objects.read_value(object, property)?)
    }

    /// Writes a property, by name or by a [`PropertyRef`](crate::PropertyRef).
    ///
    /// # Errors
    /// When the object is gone, has no such property, or the property holds another type; [`CallError::WrongClass`] when
    /// the value names an object that is not of the class, or does not implement the interface, that the property is for.
    pub fn set(&self, object: ObjectHandle, property: impl PropertyKey, value: &Value) -> Result<(), Error> {
        self.property(object, property)?;
        Ok(self.0.inner.core.world.write(object, property, value)?)
    }

    /// The names of an object's properties, base first.
    pub fn properties_of(&self, object: ObjectHandle) -> Vec<String> {
        let class = self.0.inner.core.world.objects.class(object);
        class
            .map(|class| class.properties.iter().map(|property| property.text.to_string()).collect())
            .unwrap_or_default()
    }

    /// Calls a function, by name or by a [`FunctionRef`](crate::FunctionRef); an override answers.
    ///
    /// # Errors
    /// When the object is gone or has no such function, the arguments do not fit, or the body fails;
    /// [`CallError::WrongClass`] when an argument names an object that does not suit its parameter.
    pub fn call(
        &self,
        object: ObjectHandle,
        function: impl FunctionKey,
        arguments: &[Value],
    ) -> Result<Option<Value>, Error> {
        self.call_with_outs(object, function, arguments).map(|(result, _)| result)
    }

    /// The same, and what the out parameters of the function hold then, in their order. An argument for each of them is given
    /// as well: the value that the function finds there.
    ///
    /// # Errors
    /// As for [`Objects::call`].
    pub fn call_with_outs(
        &self,
        object: ObjectHandle,
        function: impl FunctionKey,
        arguments: &[Value],
    ) -> Result<(Option<Value>, Vec<Value>), Error> {
        let world = &self.0.inner.core.world;
        let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        let function = function.find(&class).ok_or_else(|| Error::UnknownMember {
            class: class.path.to_string(),
            what: "function",
            name: function.name().to_owned(),
        })?;
        Ok(call_with_outs(world, &function, object, arguments, Dispatch::Virtual)?)
    }

    /// The object that is at a path now.
    pub fn at_path(&self, path: &str) -> Option<ObjectHandle> {
        self.object_at(path)
    }

    /// An object as a line of a log should name it: class and name, `Game.Cube (Cube_1)`; its handle when it is gone.
    pub fn describe(&self, object: ObjectHandle) -> String {
        self.0.core().world.objects.shown(object).to_string()
    }

    /// The context whose module declares the class of an object: a generation of the Master, or the Default for native
    /// classes. None for an object that is gone.
    #[must_use]
    pub fn context_of(&self, object: ObjectHandle) -> Option<ContextInfo> {
        let class = self.0.inner.core.world.objects.class(object)?;
        let loads = &self.0.inner.loads;
        let id = match ModuleId(class.tag) {
            // Native classes have no module.
            ModuleId(0) => ContextId::DEFAULT,
            module => {
                let living = loads.master().map(|master| master.generation);
                ContextId::master(loads.registry.master_with(module, living)?.0)
            }
        };
        // An object does not outlive the generation that its class is of; the Default is always there.
        self.0.contexts().all().into_iter().find(|info| info.id == id)
    }

    fn construct(&self, class: &Rc<Class>, outer: ObjectHandle) -> Result<ObjectHandle, Error> {
        let core = &self.0.inner.core;
        if !outer.is_none() && !self.is_alive(outer) {
            return Err(CallError::Stale { handle: outer }.into());
        }
        core.world.slices.allow_change(&format_args!("spawning a {}", class.path))?;
        if let Some(action) = self.0.inner.busy.get().filter(|_| !self.0.inner.loads.is_telling()) {
            return Err(Error::NotASafePoint { action: "spawning an object", frame: action.to_owned() });
        }
        let _call = core.world.stack.enter(&format_args!("spawning a {}", class.path))?;
        let args = ConstructionArgs { outer, root: outer.is_none(), ..ConstructionArgs::default() };
        Ok(construct(&core.world, &core.plugins(), class, args)?)
    }

    pub(super) fn property(&self, object: ObjectHandle, property: impl PropertyKey) -> Result<(), Error> {
        let class = self.0.inner.core.world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        match property.find(&class) {
            Some(_) => Ok(()),
            None => Err(Error::UnknownMember {
                class: class.path.to_string(),
                what: "property",
                name: property.name().to_owned(),
            }),
        }
    }
}
