//! Objects of a host, for code of the host: creates and destroys objects, accesses properties and calls functions.

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use super::Runtime;
use super::types::ClassKey;
use crate::boundary::CallError;
use crate::bridge::calls::{Dispatch, call_with_out_parameters};
use crate::bridge::delegates;
use crate::error::Error;
use crate::handles::{ModuleId, ObjectHandle};
use crate::load::context::info::ContextInfo;
use crate::load::context_id::ContextId;
use crate::native::failing;
use crate::object::class::Class;
use crate::object::construction::{ConstructionArgs, construct};
use crate::object::member::{FunctionKey, FunctionRef, PropertyKey};
use crate::object::native_value::{NativeParams, NativeResult};
use crate::object::natives::World;
use crate::object::objects::RenameError;
use crate::object::property::Property;
use crate::object::value::Value;

/// Objects of a host; see [`Runtime::objects`]. Game thread only.
///
/// ```no_run
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// use alcedo_runtime::{PropertyRef, Runtime, Value};
///
/// let runtime = Runtime::builder().build()?;
/// let cube = runtime.objects().spawn("/Script/Game.Cube")?;
/// runtime.objects().set(cube, "speed", &Value::F64(2.0))?;
/// runtime.objects().call(cube, "turn", &[])?;
/// // Resolves the names once, and reads the property in each frame.
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
    /// Creates an object of a class. The class is specified by a path or a [`ClassRef`](crate::ClassRef). The object is in the root set, so
    /// no collection destroys the object. Callbacks of [`Unloads::on_unloading`](crate::Unloads::on_unloading) may also call this method.
    ///
    /// # Errors
    /// Fails if the class does not exist, or if an exclusive operation such as a reload is in progress. If a step of the construction
    /// fails, the incomplete object is destroyed, and the error of this step is returned.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let player = runtime.objects().spawn("/Script/Core.Object")?;
    /// assert!(runtime.objects().is_alive(player));
    /// let error = runtime.objects().spawn("/Script/Game.Ghost").unwrap_err();
    /// assert!(error.to_string().contains("/Script/Game.Ghost"));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn spawn(&self, class: impl ClassKey) -> Result<ObjectHandle, Error> {
        self.spawn_in(class, ObjectHandle::NONE)
    }

    /// Creates an object inside `outer`. The object is in the root set only if `outer` is [`ObjectHandle::NONE`]. In all other cases, only
    /// references from reachable objects protect the object from collection.
    ///
    /// # Errors
    /// Returns the errors of [`Objects::spawn`]. Returns an error if `outer` is destroyed, is a class default object, or is a subobject of
    /// a class default object.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let robot = runtime.objects().spawn("/Script/Core.Object")?;
    /// let arm = runtime.objects().spawn_in("/Script/Core.Object", robot)?;
    /// assert_eq!(runtime.objects().outer_of(arm), Some(robot));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn spawn_in(&self, class: impl ClassKey, outer: ObjectHandle) -> Result<ObjectHandle, Error> {
        self.construct(&class.find(self.0.types())?, outer)
    }

    /// Destroys an object and its subobjects. Has no effect on a destroyed object. Only logs a warning if the destruction is rejected, for
    /// example for a class default object, or if a rollback of the reload in progress could not restore the object.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let enemy = runtime.objects().spawn("/Script/Core.Object")?;
    /// runtime.objects().destroy(enemy);
    /// assert!(!runtime.objects().is_alive(enemy));
    /// // A second call has no effect.
    /// runtime.objects().destroy(enemy);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn destroy(&self, object: ObjectHandle) {
        match self.0.inner.core.end_object(object) {
            Ok(()) | Err(CallError::Stale { .. }) => {}
            Err(error) => {
                log!(WARN, object = %self.0.core().world.objects.display(object), %error, "an object was not destroyed");
            }
        }
    }

    /// Iterates over the live objects in creation order, without class default objects and their templates. The iterator contains the
    /// objects that exist at the time of this call, and ignores later changes.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = ObjectHandle> + ExactSizeIterator + use<> {
        self.0.inner.core.world.objects.living().into_iter()
    }

    /// Returns the class path of a dormant object, whose class was removed by a reload. A dormant object has no plugin part, and acts as an
    /// object of the nearest base class that exists. The object becomes active when its class is declared again.
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # let runtime = alcedo_runtime::Runtime::builder().build()?;
    /// # let cube = runtime.objects().spawn("/Script/Game.Cube")?;
    /// // The new code does not declare the class Cube.
    /// runtime.reload(&["/opt/game/plugins/libshapes.so"])?;
    /// if let Some(class) = runtime.objects().dormant_class(cube) {
    ///     println!("the object waits for {class}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn dormant_class(&self, object: ObjectHandle) -> Option<String> {
        self.0.inner.core.world.objects.waits_for(object).map(|class| class.to_string())
    }

    /// Returns the object named `name` inside `outer`, or at the top level if `outer` is [`ObjectHandle::NONE`]. Takes constant time.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{ObjectHandle, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let player = runtime.objects().spawn("/Script/Core.Object")?;
    /// runtime.objects().rename(player, "Ada", ObjectHandle::NONE)?;
    /// assert_eq!(runtime.objects().find_in(ObjectHandle::NONE, "Ada"), Some(player));
    /// assert_eq!(runtime.objects().find_in(player, "Ada"), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find_in(&self, outer: ObjectHandle, name: &str) -> Option<ObjectHandle> {
        self.0.inner.core.world.objects.find(outer, name)
    }

    /// Renames an object, and moves the object into `outer`. To change only the name or only the outer, pass the current outer or name.
    /// References to the object stay valid.
    ///
    /// # Errors
    /// Returns [`RenameError`] with the reason. After an error, the object is unchanged.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{ObjectHandle, RenameError, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let ada = runtime.objects().spawn("/Script/Core.Object")?;
    /// let bob = runtime.objects().spawn("/Script/Core.Object")?;
    /// runtime.objects().rename(ada, "Ada", ObjectHandle::NONE)?;
    /// let taken = runtime.objects().rename(bob, "Ada", ObjectHandle::NONE);
    /// assert!(matches!(taken, Err(RenameError::InUse { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rename(&self, object: ObjectHandle, name: &str, outer: ObjectHandle) -> Result<(), RenameError> {
        self.0.inner.core.world.objects.rename(object, name, outer)
    }

    /// Adds an object to the root set. A collection never destroys a root, and never destroys an object that is reachable from a root.
    /// Returns `true` if the object exists.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let level = runtime.objects().spawn("/Script/Core.Object")?;
    /// let tree = runtime.objects().spawn_in("/Script/Core.Object", level)?;
    /// let rock = runtime.objects().spawn_in("/Script/Core.Object", level)?;
    /// assert!(runtime.objects().add_root(tree));
    /// runtime.collection().collect()?;
    /// assert!(runtime.objects().is_alive(tree));
    /// assert!(!runtime.objects().is_alive(rock));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn add_root(&self, object: ObjectHandle) -> bool {
        self.0.inner.core.world.objects.add_root(object)
    }

    /// Returns `true` if an object is in the root set.
    pub fn is_root(&self, object: ObjectHandle) -> bool {
        self.0.inner.core.world.objects.is_root(object)
    }

    /// Removes an object from the root set. A collection then destroys the object if no reachable object refers to the object. Returns
    /// `true` if the object was a root.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// // An object without an outer is initially a root.
    /// let level = runtime.objects().spawn("/Script/Core.Object")?;
    /// assert!(runtime.objects().is_root(level));
    /// assert!(runtime.objects().remove_root(level));
    /// assert_eq!(runtime.collection().collect()?, 1);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn remove_root(&self, object: ObjectHandle) -> bool {
        self.0.inner.core.world.objects.remove_root(object)
    }

    /// Reads a property. The property is specified by a name or a [`PropertyRef`](crate::PropertyRef).
    ///
    /// # Errors
    /// Fails if the object is destroyed or has no such property.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::native::uclass;
    /// use alcedo_runtime::{Error, Runtime, Value, natives};
    ///
    /// #[uclass(package = "Game")]
    /// struct Lamp {
    ///     #[uproperty(default = 1.5)]
    ///     brightness: f64,
    /// }
    ///
    /// let runtime = Runtime::builder().natives(natives![Lamp]).build()?;
    /// let lamp = runtime.objects().spawn("/Script/Game.Lamp")?;
    /// assert_eq!(runtime.objects().get(lamp, "brightness")?, Value::F64(1.5));
    /// let missing = runtime.objects().get(lamp, "color");
    /// assert!(matches!(missing, Err(Error::UnknownMember { .. })));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn get(&self, object: ObjectHandle, property: impl PropertyKey) -> Result<Value, Error> {
        self.property(object, property)?;
        Ok(self.0.inner.core.world.objects.read_value(object, property)?)
    }

    /// Writes a property. The property is specified by a name or a [`PropertyRef`](crate::PropertyRef).
    ///
    /// # Errors
    /// Fails if the object is destroyed or has no such property, or if `value` has a different type than the property. Returns
    /// [`CallError::WrongClass`] if `value` is an object that the property does not accept. Returns [`CallError::NotFound`] if a delegate
    /// is bound to a function that does not exist. Returns [`CallError::Signature`] if the bound function has a different signature.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::native::uclass;
    /// use alcedo_runtime::{Runtime, Value, natives};
    ///
    /// #[uclass(package = "Game")]
    /// struct Lamp {
    ///     #[uproperty]
    ///     brightness: f64,
    /// }
    ///
    /// let runtime = Runtime::builder().natives(natives![Lamp]).build()?;
    /// let lamp = runtime.objects().spawn("/Script/Game.Lamp")?;
    /// runtime.objects().set(lamp, "brightness", &Value::F64(2.0))?;
    /// assert_eq!(runtime.objects().get(lamp, "brightness")?, Value::F64(2.0));
    /// // A value of another type is rejected.
    /// assert!(runtime.objects().set(lamp, "brightness", &Value::Bool(true)).is_err());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn set(&self, object: ObjectHandle, property: impl PropertyKey, value: &Value) -> Result<(), Error> {
        let (found, core) = (self.property(object, property)?, &self.0.inner.core);
        delegates::check(&core.world, &found.ty, value)?;
        Ok(core.world.write(object, property, value)?)
    }

    /// Returns the names of an object's properties, base class first.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::native::uclass;
    /// use alcedo_runtime::{Runtime, natives};
    ///
    /// #[uclass(package = "Game")]
    /// struct Lamp {
    ///     #[uproperty]
    ///     brightness: f64,
    ///     #[uproperty]
    ///     is_on: bool,
    /// }
    ///
    /// let runtime = Runtime::builder().natives(natives![Lamp]).build()?;
    /// let lamp = runtime.objects().spawn("/Script/Game.Lamp")?;
    /// // An inspector lists all properties with their values.
    /// for property in runtime.objects().properties_of(lamp) {
    ///     let value = runtime.objects().get(lamp, &property)?;
    ///     println!("{property} = {}", runtime.types().print(&value));
    /// }
    /// # assert_eq!(runtime.objects().properties_of(lamp), ["brightness", "is_on"]);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn properties_of(&self, object: ObjectHandle) -> Vec<String> {
        let class = self.0.inner.core.world.objects.class(object);
        class
            .map(|class| class.properties.iter().map(|property| property.text.to_string()).collect())
            .unwrap_or_default()
    }

    /// Calls a function of an object, or the override of this function in the class of the object. The function is specified by a name or a
    /// [`FunctionRef`](crate::FunctionRef).
    ///
    /// # Errors
    /// Fails if the object is destroyed or has no such function, the arguments do not match, or the function body fails. Returns
    /// [`CallError::WrongClass`] if an argument is an object that the parameter does not accept.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::native::{This, uclass};
    /// use alcedo_runtime::{Runtime, Value, natives};
    ///
    /// #[uclass(package = "Game")]
    /// #[derive(Default)]
    /// struct Robot {
    ///     #[uproperty(default = 3)]
    ///     charge: u32,
    /// }
    ///
    /// #[uclass]
    /// impl Robot {
    ///     #[ufunction]
    ///     fn load(&self, this: This<Self>, by: u32) -> u32 {
    ///         this.set_charge(this.charge() + by);
    ///         this.charge()
    ///     }
    /// }
    ///
    /// let runtime = Runtime::builder().natives(natives![Robot]).build()?;
    /// let robot = runtime.objects().spawn("/Script/Game.Robot")?;
    /// let charge = runtime.objects().call(robot, "load", &[Value::U32(4)])?;
    /// assert_eq!(charge, Some(Value::U32(7)));
    /// assert!(runtime.objects().call(robot, "fly", &[]).is_err());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn call(
        &self,
        object: ObjectHandle,
        function: impl FunctionKey,
        arguments: &[Value],
    ) -> Result<Option<Value>, Error> {
        self.call_with_out_parameters(object, function, arguments).map(|(result, _)| result)
    }

    /// Calls a function like [`Objects::call`], and also returns the values of its out parameters in order. The arguments must include an
    /// initial value for each out parameter.
    ///
    /// # Errors
    /// Returns the errors of [`Objects::call`].
    pub fn call_with_out_parameters(
        &self,
        object: ObjectHandle,
        function: impl FunctionKey,
        arguments: &[Value],
    ) -> Result<(Option<Value>, Vec<Value>), Error> {
        let world = &self.0.inner.core.world;
        let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        let function = function.find(&class).ok_or_else(|| unknown_member(&class, "function", function.name()))?;
        Ok(call_with_out_parameters(world, &function, object, arguments, Dispatch::Virtual)?)
    }

    /// Calls a function of an object, or the override of this function, by name with Rust types. An [`Obj<Object>`](crate::native::Obj)
    /// argument matches an object parameter if the object is of the parameter's class. The result type `()` matches every function.
    /// [`Runtime::function`] is faster for repeated calls.
    ///
    /// # Errors
    /// Fails if the object is destroyed or has no such function, a Rust type differs from the signature, or the function body fails.
    /// Returns [`CallError::WrongClass`] if an argument is an object that the parameter does not accept.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::native::uclass;
    /// use alcedo_runtime::{Runtime, natives};
    ///
    /// #[uclass(package = "Game")]
    /// #[derive(Default)]
    /// struct Scale {
    ///     #[uproperty]
    ///     is_broken: bool,
    /// }
    ///
    /// #[uclass]
    /// impl Scale {
    ///     #[ufunction]
    ///     fn weigh(&self, grams: f64, pieces: u32) -> f64 {
    ///         grams * f64::from(pieces)
    ///     }
    /// }
    ///
    /// let runtime = Runtime::builder().natives(natives![Scale]).build()?;
    /// let scale = runtime.objects().spawn("/Script/Game.Scale")?;
    /// let weight: f64 = runtime.objects().call_as(scale, "weigh", (2.5, 4_u32))?;
    /// assert_eq!(weight, 10.0);
    /// assert!(runtime.objects().call_as::<f64>(scale, "weigh", (2.5,)).is_err());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn call_as<R: NativeResult>(
        &self,
        object: ObjectHandle,
        function: &str,
        arguments: impl NativeParams,
    ) -> Result<R, Error> {
        let world = &self.0.inner.core.world;
        Ok(failing(|| world.call_typed(object, &FunctionRef::new(function), None, arguments))?)
    }

    /// Returns the live object with this path.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{ObjectHandle, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let level = runtime.objects().spawn("/Script/Core.Object")?;
    /// runtime.objects().rename(level, "Harbor", ObjectHandle::NONE)?;
    /// let path = runtime.objects().path_of(level).unwrap();
    /// assert_eq!(runtime.objects().at_path(&path), Some(level));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at_path(&self, path: &str) -> Option<ObjectHandle> {
        self.object_at(path)
    }

    /// Formats an object for a log as class and name, such as `Game.Cube (Cube_1)`. A destroyed object is formatted as its handle and a
    /// note, such as `#3.1, which is gone`.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{ObjectHandle, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let player = runtime.objects().spawn("/Script/Core.Object")?;
    /// runtime.objects().rename(player, "Ada", ObjectHandle::NONE)?;
    /// assert_eq!(runtime.objects().describe(player), "Core.Object (Ada)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn describe(&self, object: ObjectHandle) -> String {
        self.0.core().world.objects.display(object).to_string()
    }

    /// Returns the context whose module declares the class of an object: a generation of the Master, or the Default for native classes.
    /// Returns `None` for a destroyed object.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{ContextKind, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let player = runtime.objects().spawn("/Script/Core.Object")?;
    /// // Native classes belong to the host.
    /// let context = runtime.objects().context_of(player).unwrap();
    /// assert_eq!(context.kind, ContextKind::Default);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn context_of(&self, object: ObjectHandle) -> Option<ContextInfo> {
        let class = self.0.inner.core.world.objects.class(object)?;
        let loads = &self.0.inner.loads;
        let id = match ModuleId(class.tag) {
            // Native classes have no module.
            ModuleId(0) => ContextId::DEFAULT,
            module => {
                let living = loads.master().map(|master| master.generation);
                ContextId::master(loads.registry.masters.with(module, living)?.0)
            }
        };
        // Never `None`: the generation that declares the class exists while the object exists, and the Default always exists.
        self.0.contexts().all().into_iter().find(|info| info.id == id)
    }

    fn construct(&self, class: &Rc<Class>, outer: ObjectHandle) -> Result<ObjectHandle, Error> {
        let core = &self.0.inner.core;
        core.world.objects.may_contain(outer, class)?;
        let action = fmt::from_fn(|f| write!(f, "spawning a {}", class.path));
        core.world.slices.allow_change(&action)?;
        let may_construct = || self.0.inner.loads.is_notifying.get() || core.tasks.runs_in_wait.get();
        if let Some(action) = self.0.inner.busy.get().filter(|_| !may_construct()) {
            return Err(Error::NotASafePoint { action: "spawning an object", frame: action.to_owned() });
        }
        let _call = core.world.stack.enter(&action)?;
        let args = ConstructionArgs { outer, root: outer.is_none(), ..ConstructionArgs::default() };
        Ok(construct(&core.world, &core.plugins(), class, args)?)
    }

    pub(super) fn property(&self, object: ObjectHandle, property: impl PropertyKey) -> Result<Rc<Property>, Error> {
        let class = self.0.inner.core.world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        property.find(&class).cloned().ok_or_else(|| unknown_member(&class, "property", property.name()))
    }
}

/// Returns the error for a class without a member of this name. `what` is the kind of the member.
fn unknown_member(class: &Class, what: &'static str, name: &str) -> Error {
    Error::UnknownMember { class: class.path.to_string(), what, name: name.to_owned() }
}
