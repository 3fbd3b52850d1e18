//! Paths that refer to properties.

use alcedo_abi::handles::{Name, ObjectHandle};
use alcedo_rt::{CallError, fail};

use super::kind;
use super::verbs;
use crate::{Borrowed, Class, Kind, Obj, Value, host, zcall};

kind! {
    /// Path of a property, for example `/Script/Game.Cube:speed`.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # struct Part { watched: FieldPath }
    /// # impl Part { fn show(&self, this: This<'_, Object>, cube: Obj<Object>) -> Result<(), CallError> {
    /// let field = this.open(&self.watched);
    /// field.set("/Script/Game.Cube:speed");
    /// let speed: f64 = field.read(cube)?;
    /// # Ok(())
    /// # } }
    /// ```
    FieldPath<>, raw: Name, kind: FIELD_PATH, path: "", literal: crate::value::NoDefault, pointer
}

impl FieldPath {
    /// Creates an owned field path from a property's path.
    ///
    /// # Errors
    /// See [`Self::new`]. Also fails with `NOT_FOUND` if the property does not exist.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn watch_speed() -> Option<FieldPath> {
    ///     let watched = FieldPath::of("/Script/Game.Cart:speed");
    ///     watched.inspect_err(|error| eprintln!("the speed is not watched: {error}")).ok()
    /// }
    /// assert!(watch_speed().is_none(), "a test of a plugin has no host");
    /// ```
    #[track_caller]
    pub fn of(path: &str) -> Result<Self, CallError> {
        let field = Self::new()?;
        verbs::field_assign(&field.owned().ptr()?.into_location(ObjectHandle::NONE)?, path)?;
        Ok(field)
    }
}

impl Borrowed<'_, FieldPath> {
    /// Returns the path, or an empty string if no property is set.
    #[must_use]
    pub fn path(&self) -> String {
        let name = self.ptr().unwrap_or_else(|error| fail(error)).read();
        if name.0 == 0 { String::new() } else { host::name_text(name) }
    }

    /// Sets the path. An empty string refers to no property.
    pub fn set(&self, path: &str) {
        self.try_set(path).unwrap_or_else(|error| fail(error));
    }

    /// Sets the path. An empty string refers to no property.
    ///
    /// # Errors
    /// Fails with `NOT_FOUND` if the property does not exist, with `EXPIRED` if the field path no longer exists, or with `DURING_REBUILD`
    /// while the host refuses writes to its owner.
    pub fn try_set(&self, path: &str) -> Result<(), CallError> {
        verbs::field_assign(&self.location()?, path)
    }

    /// Returns the type of the property as a string, for example `Array(f64)`. Returns an empty string if the property
    /// does not exist.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn is_number(watched: &Borrowed<'_, FieldPath>) -> bool {
    ///     matches!(watched.type_text().as_str(), "f64" | "f32" | "i32")
    /// }
    /// ```
    #[must_use]
    pub fn type_text(&self) -> String {
        let text = self.ptr().and_then(verbs::field_type);
        text.unwrap_or_else(|error| fail(error))
    }

    /// Reads the property from an object.
    ///
    /// # Errors
    /// Fails with `NOT_FOUND` if the property does not exist, or with `SIGNATURE` if the type of the property is not `T`. Fails with
    /// `WRONG_CLASS` if the object does not have the property, or with `STALE` if the object was destroyed.
    pub fn read<T: Value, C: Class>(&self, object: Obj<C>) -> Result<T, CallError> {
        self.ptr()?;
        zcall::read_property(object.handle(), &format!("up:{}", self.path()))
    }

    /// Writes the property of an object.
    ///
    /// # Errors
    /// See [`Self::read`]. Also fails with `DURING_REBUILD` while the host refuses writes to the object.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn halve(watched: &Borrowed<'_, FieldPath>, cart: Obj<Object>) -> Result<(), CallError> {
    ///     let speed: f64 = watched.read(cart)?;
    ///     watched.write(cart, &(speed / 2.0))
    /// }
    /// ```
    pub fn write<T: Value, C: Class>(&self, object: Obj<C>, value: &T) -> Result<(), CallError> {
        self.ptr()?;
        zcall::write_property(object.handle(), &format!("up:{}", self.path()), value)
    }
}
