//! Properties accessed in place, at offsets from the host. The host stores the offset of a declared property in a cell. A [`ZProperty`]
//! resolves a name once, and the host then returns the offset of the property.
#![expect(unsafe_code, reason = "reads and writes properties at offsets from the host")]

use core::cell::Cell;
use core::marker::PhantomData;

use alcedo_abi::describe;
use alcedo_abi::handles::{ClassId, ObjectHandle};
use alcedo_abi::host_direct::CLOSED;
use alcedo_rt::{CallError, direct_version};

use crate::ptr::{PtrMut, Viewable};
use crate::validity_token::ValidityToken;
use crate::zcall::PropertyHandle;
use crate::{Class, Obj, This, Value, host};

/// Cell that receives the offset of a property of type `T` in objects of class `C`.
pub struct PropertyCell<C, T>(pub(crate) describe::Cell, PhantomData<fn() -> (C, T)>);

impl<C, T> PropertyCell<C, T> {
    /// Creates an empty cell.
    ///
    /// # Safety
    /// The cell is part of a class description or of an import that the module registers. The host fills a registered cell before any code
    /// of the module runs, so code that accesses the property does not check that the cell is filled.
    #[must_use]
    pub const unsafe fn new() -> Self {
        Self(describe::Cell::new(), PhantomData)
    }
}

/// Promise by the caller of [`Cells::new`] that each property cell created with this value belongs to a registered description.
#[derive(Clone, Copy)]
pub struct Cells(());

impl Cells {
    /// Creates the promise.
    ///
    /// # Safety
    /// Each cell created with this value meets the requirements of [`PropertyCell::new`].
    #[must_use]
    pub const unsafe fn new() -> Self {
        Self(())
    }

    /// Creates an empty cell for the property at `_position`.
    #[must_use]
    pub const fn at<C, T>(self, _position: usize) -> PropertyCell<C, T> {
        // SAFETY: the creator of `self` promises that each cell meets the requirements.
        unsafe { PropertyCell::new() }
    }
}

/// Returns a property's offset in an object. The host has stored this offset in the cell. The function is not generic, so all classes share
/// its code.
#[inline]
fn offset_in(cell: &describe::Cell, class: &str) -> usize {
    let offset = cell.get();
    debug_assert_ne!(offset, describe::Cell::UNFILLED, "the host has stored no offset for a property of {class}");
    offset as usize
}

impl<'f, C: Class> This<'f, C> {
    /// Returns a pointer to a property of the object. The caller must check that writes are allowed before it writes through the pointer.
    #[inline]
    pub(crate) fn property<T: Value>(
        &self,
        cell: &PropertyCell<C, T>,
    ) -> Viewable<'f, T, impl FnOnce() -> ValidityToken<'f>> {
        let (object, memory) = (self.object, self.memory);
        // SAFETY: the creator of the cell promised that the host has filled the cell for a property of this type and class.
        // The token proves that the object is live, and a property is live as long as its object.
        unsafe {
            let value = PtrMut::new(memory.add(offset_in(&cell.0, C::PATH)).cast());
            Viewable::new(value, move || ValidityToken::of_object(object))
        }
    }
}

/// Property of type `T`, found by its `up` name. [`find`](Self::find) resolves the name and compares the type once. A plain value (a
/// number, `bool`, [`UName`](crate::UName), [`Obj`]) is read and written in place. A value of any other type is read and written by a call
/// to the host. The handle is valid until the generation of the class ends. Later uses fail, but a new call of [`find`](Self::find) returns
/// the current property. A `ZProperty` cannot leave the game thread.
///
/// ```
/// # use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::ZProperty;
///
/// fn sum(of: &[Obj<Object>]) -> Result<f64, CallError> {
///     let weight = ZProperty::<f64>::find("up:/Script/Game.Crate:weight")?;
///     of.iter().try_fold(0.0, |sum, crate_| Ok(sum + weight.read(*crate_)?))
/// }
/// ```
pub struct ZProperty<T> {
    handle: PropertyHandle<T>,
    name: Box<str>,
    /// Location of the property in objects of the most recently used class.
    location: Cell<Location>,
}

/// Offset of a property in objects of exactly the class `class`; subclasses may have a different offset. The offset is valid while the
/// host's version equals `version`.
#[derive(Clone, Copy)]
struct Location {
    version: u64,
    class: ClassId,
    offset: u32,
}

/// Initial location, which matches no object.
const NOWHERE: Location = Location { version: CLOSED, class: ClassId::NONE, offset: 0 };

impl<T: Value> ZProperty<T> {
    /// Resolves `name`, for example `up:/Script/Engine.Actor:seed`.
    ///
    /// # Errors
    /// Fails with `NOT_FOUND` for an unknown name, or with `SIGNATURE` if the type of the property differs from `T`.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::ZProperty;
    ///
    /// let error = ZProperty::<f64>::find("/Script/Game.Crate:weight").expect_err("the protocol is missing");
    /// assert!(error.to_string().ends_with("write `up:/Script/Package.Class:property`"));
    /// ```
    pub fn find(name: &str) -> Result<Self, CallError> {
        Ok(Self { handle: PropertyHandle::resolve(name)?, name: name.into(), location: Cell::new(NOWHERE) })
    }

    /// Returns the name passed to [`find`](Self::find).
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the value of an object's property.
    ///
    /// # Errors
    /// Fails with `STALE` for a destroyed object, or with `WRONG_CLASS` if the object's class does not have the property. Fails with
    /// `DEAD_HANDLE` or `UNAVAILABLE` after the generation of the property's class has ended.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::ZProperty;
    ///
    /// fn heaviest(weight: &ZProperty<f64>, crates: &[Obj<Object>]) -> f64 {
    ///     // Destroyed crates are skipped.
    ///     crates.iter().filter_map(|load| weight.read(*load).ok()).fold(0.0, f64::max)
    /// }
    /// ```
    #[inline]
    pub fn read<C: Class>(&self, object: Obj<C>) -> Result<T, CallError> {
        match self.find_in(object.handle()) {
            Some(location) => Ok(T::load(location.as_ptr())),
            None => self.handle.read(object.handle(), &self.name),
        }
    }

    /// Overwrites the value of an object's property.
    ///
    /// # Errors
    /// See [`Self::read`]. Also fails with `DURING_REBUILD` before the commit, except for objects that are being built.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::ZProperty;
    ///
    /// fn double(weight: &ZProperty<f64>, load: Obj<Object>) -> Result<(), CallError> {
    ///     weight.write(load, weight.read(load)? * 2.0)
    /// }
    /// ```
    #[inline]
    pub fn write<C: Class>(&self, object: Obj<C>, value: T) -> Result<(), CallError> {
        match self.find_in(object.handle()) {
            Some(location) => {
                host::may_write(object.handle(), T::NAMES_OBJECTS)?;
                value.store(location)
            }
            None => self.handle.write(object.handle(), &self.name, &value),
        }
    }

    /// Returns the location of the property in an object, or `None` if the host must be called to access the property.
    #[inline]
    fn find_in(&self, object: ObjectHandle) -> Option<PtrMut<'_, T>> {
        if const { !T::KIND.fits_slot() } {
            return None;
        }
        let entry = host::entry(object)?;
        let mut location = self.location.get();
        if location.version != direct_version() || location.class != entry.class || location.version == CLOSED {
            location = self.locate(object)?;
        }
        // SAFETY: the host reported this offset for exactly the class of the object, and the unchanged version proves the report valid.
        // The object is alive, since its entry has its serial number.
        // The host resolves names for a module with a directory only on the game thread, so this is the game thread.
        // The location is used immediately.
        Some(unsafe { PtrMut::new(entry.memory.add(location.offset as usize).cast()) })
    }

    #[cold]
    fn locate(&self, object: ObjectHandle) -> Option<Location> {
        let version = direct_version();
        if version == CLOSED {
            return None;
        }
        // A failure is ignored here, because the following call reports the reason.
        let host = host::host(&self.name).ok()?;
        let (class, offset) =
            host.property_location(self.handle.number(), PropertyHandle::<T>::FINGERPRINT, object).ok()?;
        let location = Location { version, class, offset };
        self.location.set(location);
        Some(location)
    }
}

impl<T> core::fmt::Debug for ZProperty<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "`{}`", self.name)
    }
}
