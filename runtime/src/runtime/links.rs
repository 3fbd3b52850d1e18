//! What outlives a handle: paths and ids of objects, references and delegates that are found again by them, and the world
//! on disk.

use std::path::Path;

use alcedo_abi::value::LazyRaw;

use crate::border::CallError;
use crate::bridge::delegates::{self, DelegateMark};
use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::object::property::PropertyType;
use crate::object::value::Value;
use crate::runtime::Runtime;
use crate::world::{self, WorldLoad};

impl Runtime {
    /// The path of an object, as soft references name it: `/World/<outer>/<name>`. `None` when it is gone.
    pub fn path_of(&self, object: ObjectHandle) -> Option<String> {
        self.core().world.path_of(object)
    }

    /// An object as a line of a log should name it: class and name, `Game.Cube (Cube_1)`; its handle when it is gone.
    pub fn describe(&self, object: ObjectHandle) -> String {
        self.core().world.objects.shown(object).to_string()
    }

    /// The object that is at a path now.
    pub fn object_at(&self, path: &str) -> Option<ObjectHandle> {
        self.core().world.object_at(path)
    }

    /// The id that lazy references know an object by; none when nobody ever pointed one at it.
    pub fn lazy_id_of(&self, object: ObjectHandle) -> Option<u128> {
        let id = self.core().world.lazy.find(object)?;
        Some(u128::from(id.high) << 64 | u128::from(id.low))
    }

    /// The living object of an id.
    pub fn object_of_lazy_id(&self, id: u128) -> Option<ObjectHandle> {
        let id = LazyRaw { high: (id >> 64) as u64, low: id as u64 };
        self.core().world.lazy.object(id).filter(|object| self.is_alive(*object))
    }

    /// Points a property that is a reference of any kind to an object, or to none.
    ///
    /// # Errors
    /// When the object does not suit, or the property is none such or may not be written now.
    pub fn point(&self, object: ObjectHandle, property: &str, target: ObjectHandle) -> Result<(), Error> {
        let ty = self.type_of(object, property)?;
        self.set(object, property, &self.core().world.reference_to(&ty, target)?)
    }

    /// The object that a property that is a reference of any kind leads to now; none when it is not there.
    ///
    /// # Errors
    /// When the object is gone or has no such property.
    pub fn resolve(&self, object: ObjectHandle, property: &str) -> Result<ObjectHandle, Error> {
        let (ty, value) = (self.type_of(object, property)?, self.get(object, property)?);
        Ok(self.core().world.resolve_reference(&ty, &value))
    }

    /// Makes a property that is a reference to a class name the class of that path; the empty path names none.
    ///
    /// # Errors
    /// When the class does not suit, or a `SubclassOf` would name one that is not there.
    pub fn point_at_class(&self, object: ObjectHandle, property: &str, class: &str) -> Result<(), Error> {
        let ty = self.type_of(object, property)?;
        self.set(object, property, &self.core().world.class_reference(&ty, class)?)
    }

    /// The path of the class that a property names now; nothing when it is not there.
    ///
    /// # Errors
    /// When the object is gone or has no such property.
    pub fn resolve_class(&self, object: ObjectHandle, property: &str) -> Result<Option<String>, Error> {
        let (ty, value) = (self.type_of(object, property)?, self.get(object, property)?);
        Ok(self.core().world.resolve_class(&ty, &value).map(|class| class.path.to_string()))
    }

    /// Makes a property that is a field path name the property of that path; the empty path names none.
    ///
    /// # Errors
    /// When there is no property of that path.
    pub fn point_at_field(&self, object: ObjectHandle, property: &str, field: &str) -> Result<(), Error> {
        self.set(object, property, &self.core().world.field_path(field)?)
    }

    /// The path of the property that a field path names now, be it renamed meanwhile.
    ///
    /// # Errors
    /// When the object is gone or has no such property.
    pub fn resolve_field(&self, object: ObjectHandle, property: &str) -> Result<Option<String>, Error> {
        let value = self.get(object, property)?;
        Ok(self.core().world.resolve_field(&value).map(|field| format!("{}:{}", field.owner, field.text)))
    }

    /// Binds a delegate property to a function of an object; one of several gets it in addition, once.
    ///
    /// # Errors
    /// When there is no such function or it takes or gives something else, or the property is no delegate.
    pub fn bind_delegate(
        &self,
        object: ObjectHandle,
        property: &str,
        target: ObjectHandle,
        function: &str,
    ) -> Result<(), Error> {
        let (ty, now) = (self.type_of(object, property)?, self.get(object, property)?);
        let added = delegates::binding(&self.core().world, &ty, target, function)?;
        self.set(object, property, &delegates::with(now, added))
    }

    /// Takes bindings out of a delegate property: those to the object and function; with an empty name all to the object;
    /// with no object all. Returns how many there were.
    ///
    /// # Errors
    /// When the property is no delegate or may not be written now.
    pub fn unbind_delegate(
        &self,
        object: ObjectHandle,
        property: &str,
        target: ObjectHandle,
        function: &str,
    ) -> Result<u32, Error> {
        let (ty, now) = (self.type_of(object, property)?, self.get(object, property)?);
        delegates::signature_of(&ty)?;
        let is_out = |binding: &_| delegates::is_meant(&self.core().world, binding, target, function);
        let (left, removed) = delegates::keep(now, |binding| !is_out(binding));
        // Before the write: a sparse one without bindings has no mark any more.
        let mark = self.delegate_mark(object, property, || None)?;
        self.set(object, property, &left)?;
        self.inner.core.delegates.taken_out(mark, is_out);
        Ok(removed)
    }

    /// Calls a delegate property: all that are bound, those added last first. The result is that of a single one. Bindings
    /// to objects that are gone are taken out. One that is unbound while this runs is not called any more; one that is bound
    /// is called the next time.
    ///
    /// # Errors
    /// When a single one is bound to nothing, the arguments do not fit, calls of delegates are too deep inside each other,
    /// and what a callee says; of several the first that fails, after all were called.
    pub fn broadcast(&self, object: ObjectHandle, property: &str, arguments: &[Value]) -> Result<Option<Value>, Error> {
        let (ty, mut now) = (self.type_of(object, property)?, self.get(object, property)?);
        if !matches!(ty, PropertyType::Delegate(_)) {
            let (left, dead) = delegates::keep(now, |binding| self.is_alive(binding.object));
            if dead != 0 {
                // Where it may not be written now, the dead are passed over only.
                let _may_not = self.set(object, property, &left);
            }
            now = left;
        }
        let delegates = &self.inner.core.delegates;
        let mark = self.delegate_mark(object, property, || delegates.fresh_mark())?;
        Ok(delegates.call_with_values(&self.core().world, &ty, mark, &now, arguments)?)
    }

    fn delegate_mark(
        &self,
        object: ObjectHandle,
        property: &str,
        fresh: impl FnOnce() -> DelegateMark,
    ) -> Result<DelegateMark, Error> {
        Ok(self.core().world.objects.delegate_mark(object, property, fresh)?)
    }

    fn type_of(&self, object: ObjectHandle, property: &str) -> Result<PropertyType, Error> {
        self.property(object, property)?;
        let class = self.core().world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        let found = class.find_property(property).map(|property| property.ty.clone());
        Ok(found.ok_or(CallError::Stale { handle: object })?)
    }

    /// Writes all living objects to a file: their classes and names, where they lie, the values in which they differ from
    /// their defaults, and what their plugin halves keep. Transient properties are left out. The file is described in
    /// `docs/world-format.md`. Returns how many objects it were.
    ///
    /// # Errors
    /// When plugin code is on the stack, a kept field does not serialize, or the file cannot be written. What was there
    /// under that name is still there then.
    pub fn save_world(&self, path: impl AsRef<Path>) -> Result<u64, Error> {
        let _busy = self.at_safe_point("saving the world")?;
        Ok(world::save(&self.inner.core, path.as_ref())?)
    }

    /// Puts the world of a file in place of the living objects, which end. The objects that were saved go on with their
    /// lives: their plugin halves are built by red constructors, as after a reload, and no class constructor runs again.
    /// Values that were the default follow the default of now; types that have changed are converted where nothing is
    /// lost; objects whose class is not there are dormant.
    ///
    /// # Errors
    /// When plugin code is on the stack, the file is damaged, cut off or newer than this host, or an object cannot be
    /// made. The world is as it was then.
    pub fn load_world(&self, path: impl AsRef<Path>) -> Result<WorldLoad, Error> {
        let _busy = self.at_safe_point("loading a world")?;
        let report = world::load(&self.inner.core, path.as_ref())?;
        self.inner.core.finalizer.release();
        self.inner.core.world.objects.free_graveyard();
        Ok(report)
    }
}
