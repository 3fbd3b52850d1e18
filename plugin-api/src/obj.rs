//! Reference to an object that may outlive a call: an 8-byte handle. After the object is destroyed, the handle never refers to another
//! object.

use core::marker::PhantomData;

use alcedo_abi::handles::ObjectHandle;

/// Reference to an object of class `C`, or to no object. The reference may be stored in fields and sent to other threads. During a call
/// from the host, `this.get(obj)` returns a view of the object.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
///
/// /// Crane and the crate that it lifts, if any.
/// #[derive(Default)]
/// struct Crane {
///     load: Obj<Object>,
/// }
///
/// let crane = Crane::default();
/// assert!(crane.load.is_none());
/// assert_eq!(crane.load, Obj::none());
/// ```
#[repr(transparent)]
pub struct Obj<C> {
    handle: ObjectHandle,
    of: PhantomData<fn() -> C>,
}

impl<C> Obj<C> {
    /// Returns a reference to no object.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// const NO_TARGET: Obj<Object> = Obj::none();
    /// assert!(NO_TARGET.is_none());
    /// ```
    #[must_use]
    pub const fn none() -> Self {
        Self::from_handle(ObjectHandle::NONE)
    }

    pub(crate) const fn from_handle(handle: ObjectHandle) -> Self {
        Self { handle, of: PhantomData }
    }

    /// Returns true if the reference is [`Obj::none`]. Returns false for a reference to a destroyed object: see [`Self::is_expired`].
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn report(target: Obj<Object>) -> String {
    ///     if target.is_none() { "no target".to_owned() } else { format!("target {target:?}") }
    /// }
    /// assert_eq!(report(Obj::none()), "no target");
    /// ```
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.handle.is_none()
    }

    /// Returns the untyped handle, for logs and maps.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use std::collections::HashMap;
    ///
    /// use alcedo_plugin_api::ObjectHandle;
    ///
    /// let mut hits: HashMap<ObjectHandle, u32> = HashMap::new();
    /// let target = Obj::<Object>::none();
    /// *hits.entry(target.handle()).or_default() += 1;
    /// assert_eq!(hits[&ObjectHandle::NONE], 1);
    /// ```
    #[must_use]
    pub const fn handle(self) -> ObjectHandle {
        self.handle
    }
}

alcedo_abi::copies! { impl[C] Obj<C>; }

impl<C> Default for Obj<C> {
    fn default() -> Self {
        Self::none()
    }
}

impl<C> PartialEq for Obj<C> {
    fn eq(&self, other: &Self) -> bool {
        self.handle == other.handle
    }
}

impl<C> Eq for Obj<C> {}

impl<C> core::hash::Hash for Obj<C> {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.handle.hash(state);
    }
}

impl<C> core::fmt::Debug for Obj<C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.handle.fmt(f)
    }
}
