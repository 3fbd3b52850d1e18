//! Properties that are accessed by name with a Rust type. Name and type are resolved and checked once per class.

use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

use crate::boundary::{CallError, mismatch, not_found};
use crate::bridge::fast_paths::FastPaths;
use crate::cells::RefCell;
use crate::error::Error;
use crate::handles::{ClassId, ObjectHandle};
use crate::host::member::is_meant;
use crate::native::failing;
use crate::object::host_value::HostValue;
use crate::object::member::{PropertyKey, PropertyRef};
use crate::object::word_offset::{WordOffsets, fits};
use crate::runtime::{Runtime, WeakRuntime};

/// Property that is accessed by name with a Rust type; see [`Runtime::property`]. Can access objects of the named class and of derived
/// classes, even after a reload has replaced the class or renamed the property. Does not keep the runtime alive. Game thread only.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::native::uclass;
/// use alcedo_runtime::{Runtime, natives};
///
/// #[uclass(package = "Game")]
/// struct Lamp {
///     #[uproperty(default = 1.5)]
///     brightness: f64,
/// }
///
/// let runtime = Runtime::builder().natives(natives![Lamp]).build()?;
/// let brightness = runtime.property::<f64>("up:/Script/Game.Lamp:brightness")?;
/// let lamp = runtime.objects().spawn("/Script/Game.Lamp")?;
/// assert_eq!(brightness.get(lamp)?, 1.5);
/// // An object of another class has no property `brightness`.
/// let other = runtime.objects().spawn("/Script/Core.Object")?;
/// assert!(brightness.get(other).is_err());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub struct TypedProperty<T: HostValue> {
    runtime: WeakRuntime,
    /// ZCall name of the property, such as `up:/Script/Game.Cube:speed`.
    name: String,
    /// Path of the property, such as `/Script/Game.Cube:speed`.
    path: String,
    /// Key with the current name of the property.
    key: RefCell<Rc<PropertyRef>>,
    fast_paths: Rc<FastPaths>,
    locations: WordOffsets,
    of: PhantomData<fn(T) -> T>,
}

impl<T: HostValue> fmt::Debug for TypedProperty<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name)
    }
}

impl Runtime {
    /// Returns the property with this ZCall name, for reads and writes with a Rust type.
    ///
    /// ```
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use alcedo_runtime::native::uclass;
    /// use alcedo_runtime::{Runtime, natives};
    ///
    /// /// Turns.
    /// #[uclass(package = "Game")]
    /// struct Wheel {
    ///     /// Degrees a second.
    ///     #[uproperty]
    ///     speed: f64,
    /// }
    ///
    /// let runtime = Runtime::builder().natives(natives![Wheel]).build()?;
    /// let wheel = runtime.objects().spawn("/Script/Game.Wheel")?;
    /// let speed = runtime.property::<f64>("up:/Script/Game.Wheel:speed")?;
    /// speed.set(wheel, 90.0)?;
    /// assert_eq!(speed.get(wheel)?, 90.0);
    /// assert!(runtime.property::<i32>("up:/Script/Game.Wheel:speed").is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns [`CallError::NotFound`] if the name cannot be resolved, and [`CallError::Signature`] if the property has a different type.
    pub fn property<T: HostValue>(&self, name: &str) -> Result<TypedProperty<T>, Error> {
        let _found = self.calls().resolve(name)?;
        let path = name.strip_prefix("up:").unwrap_or_default();
        // A ZCall name may contain two slashes before the path. A path begins with one slash.
        let path = format!("/{}", path.trim_start_matches('/'));
        let missing = || not_found(format!("`{name}` is not a property: write `up:/Script/Package.Type:Property`"));
        let property = self.core().world.types.property_by_path(&path).ok_or_else(missing)?;
        if !fits::<T::Raw>(&property.ty) {
            let found = format!("a property of type {}", property.ty);
            return Err(mismatch(&name, &found, &std::any::type_name::<T>()).into());
        }
        Ok(TypedProperty {
            runtime: self.downgrade(),
            name: name.to_owned(),
            path,
            key: RefCell::new(Rc::new(PropertyRef::new(&property.text))),
            fast_paths: Rc::clone(&self.core().fast_paths),
            locations: WordOffsets::new(),
            of: PhantomData,
        })
    }
}

impl<T: HostValue> TypedProperty<T> {
    /// Returns the name of the property.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the property.
    ///
    /// # Errors
    /// Fails if the object is destroyed or dormant, or is not of the named class. Fails if the name no longer refers to a property of this
    /// type. Returns [`CallError::Unavailable`] if the runtime was dropped.
    #[inline]
    pub fn get(&self, object: ObjectHandle) -> Result<T, Error> {
        if self.fast_paths.may_read(self.locations.epoch())
            && let Some(value) = self.locations.read(self.fast_paths.columns(), object)
        {
            return Ok(failing(|| Ok(T::from_raw(value)))?);
        }
        self.get_slow(object)
    }

    /// Writes the property.
    ///
    /// # Errors
    /// Returns the errors of [`TypedProperty::get`], and an error while writes are not allowed.
    #[inline]
    pub fn set(&self, object: ObjectHandle, value: T) -> Result<(), Error> {
        // Converts the value before any lookup, because the conversion may be user code.
        let value = value.into_raw();
        if !self.fast_paths.are_open(self.locations.epoch()) {
            return self.set_slow(object, value);
        }
        match self.locations.write(self.fast_paths.columns(), object, value, |_, _| false) {
            Ok(()) => Ok(()),
            Err(value) => self.set_slow(object, value),
        }
    }

    /// Caches the offset of the property for the class of this object. Returns the key with the current name of the property.
    fn resolve(&self, object: ObjectHandle) -> Result<(Runtime, Rc<PropertyRef>), Error> {
        let runtime = self.runtime.expect(&self.name)?;
        let core = runtime.core();
        let class = core.world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        is_meant(&core.world, object, &class, self.path.split_once(':').map_or("", |(class, _)| class))?;
        let mut key = Rc::clone(&self.key.borrow());
        if (&*key).find(&class).is_none()
            && let Some(renamed) = core.world.types.property_by_path(&self.path)
        {
            key = Rc::new(PropertyRef::new(&renamed.text));
            self.key.replace(Rc::clone(&key));
        }
        if let Some(property) = (&*key).find(&class) {
            self.locations.note::<T::Raw>(core.zcalls.epoch().count(), &class, property, ClassId::NONE);
        }
        Ok((runtime, key))
    }

    #[cold]
    #[inline(never)]
    fn get_slow(&self, object: ObjectHandle) -> Result<T, Error> {
        let (runtime, key) = self.resolve(object)?;
        let read = || runtime.world().get(object, &*key);
        let value = runtime.core().zcalls.watched("up", &self.name, read)?;
        // If the property contains an enum value without an entry, `failing` returns the error of the conversion.
        Ok(failing(|| Ok(T::from_raw(value)))?)
    }

    #[cold]
    #[inline(never)]
    fn set_slow(&self, object: ObjectHandle, value: T::Raw) -> Result<(), Error> {
        let (runtime, key) = self.resolve(object)?;
        let write = || runtime.world().set(object, &*key, value);
        Ok(runtime.core().zcalls.watched("up", &self.name, write)?)
    }
}
