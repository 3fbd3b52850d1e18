//! Properties by path.

use alcedo_abi::handles::{Name, ObjectHandle};
use alcedo_rt::{CallError, fail};

use super::kind;
use super::verbs;
use crate::{Class, Kind, Lent, Obj, Value, host, zcall};

kind! {
    /// A property by its path, `/Script/Game.Cube:speed`.
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
    /// The property at a path, which plugin code keeps.
    ///
    /// # Errors
    /// As [`Self::new`], and `NOT_FOUND` when there is no such property.
    #[track_caller]
    pub fn of(path: &str) -> Result<Self, CallError> {
        let field = Self::new()?;
        verbs::field_assign(&field.owned().ptr()?.into_place(ObjectHandle::NONE)?, path)?;
        Ok(field)
    }
}

impl Lent<'_, FieldPath> {
    /// The path; empty for none.
    #[must_use]
    pub fn path(&self) -> String {
        let name = self.ptr().unwrap_or_else(|error| fail(error)).read();
        if name.0 == 0 { String::new() } else { host::name_text(name) }
    }

    /// Makes it name the property at a path; the empty path names none.
    pub fn set(&self, path: &str) {
        self.try_set(path).unwrap_or_else(|error| fail(error));
    }

    /// Makes it name the property at a path, or says why not.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is none; `EXPIRED`; `DURING_REBUILD`.
    pub fn try_set(&self, path: &str) -> Result<(), CallError> {
        verbs::field_assign(&self.place()?, path)
    }

    /// The type of the property as text, `Array(f64)`; empty while there is none of that path.
    #[must_use]
    pub fn type_text(&self) -> String {
        let text = self.ptr().and_then(verbs::field_type);
        text.unwrap_or_else(|error| fail(error))
    }

    /// Reads the property of an object.
    ///
    /// # Errors
    /// `NOT_FOUND` when there is no such property, `SIGNATURE` when it holds something else than a `T`, `WRONG_CLASS` when
    /// the object has no such property, `STALE` when it is gone.
    pub fn read<T: Value, C: Class>(&self, object: Obj<C>) -> Result<T, CallError> {
        self.ptr()?;
        zcall::read_property(object.handle(), &format!("up:{}", self.path()))
    }

    /// Writes the property of an object.
    ///
    /// # Errors
    /// As [`Self::read`], and `DURING_REBUILD`.
    pub fn write<T: Value, C: Class>(&self, object: Obj<C>, value: &T) -> Result<(), CallError> {
        self.ptr()?;
        zcall::write_property(object.handle(), &format!("up:{}", self.path()), value)
    }
}
