//! Kinds of references to objects in addition to `Obj<C>`: by path, by unique id, by weak handle, and by interface.

use alcedo_abi::handles::{Name, ObjectHandle};
use alcedo_abi::value::LazyRaw;
use alcedo_rt::{CallError, fail};

use super::kind;
use super::verbs;
use crate::this::InterfaceThis;
use crate::{Borrowed, Class, Interface, Kind, Obj, Object, ObjectView, This, host};

kind! {
    /// Reference to an object of class `C` by path. The object need not exist, and the reference does not keep the object alive.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Switch {
    /// #     #[uproperty]
    /// #     target: SoftObject<Object>,
    /// # }
    /// fn report(switch: This<'_, Switch>) -> String {
    ///     if let Some(target) = switch.target().get(&switch) {
    ///         return format!("{} is loaded", target.name());
    ///     }
    ///     format!("{} is not loaded yet", switch.target().path())
    /// }
    /// ```
    SoftObject<C: Class>, raw: Name, kind: SOFT_OBJECT, path: C::PATH, literal: &'static str, pointer
}

kind! {
    /// Reference to an object of class `C` by an id that remains unique across save and load. The reference does not keep the object
    /// alive.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Lever {
    /// #     #[uproperty]
    /// #     gate: LazyObject<Object>,
    /// # }
    /// fn pull(lever: This<'_, Lever>) -> String {
    ///     let missing = || format!("the gate {:#x} does not exist now", lever.gate().id());
    ///     lever.gate().get(&lever).map_or_else(missing, |gate| format!("{} opens", gate.name()))
    /// }
    /// ```
    LazyObject<C: Class>, raw: LazyRaw, kind: LAZY_OBJECT, path: C::PATH, literal: crate::value::NoDefault, pointer
}

kind! {
    /// Weak reference to an object of class `C`. Resolves to none after the object is destroyed.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Turret {
    /// #     #[uproperty]
    /// #     target: WeakObject<Object>,
    /// # }
    /// fn aim(turret: This<'_, Turret>, enemy: Obj<Object>) -> Option<String> {
    ///     if turret.target().is_none() {
    ///         turret.target().set(enemy);
    ///     }
    ///     turret.target().get(&turret).map(|target| target.name())
    /// }
    /// ```
    WeakObject<C: Class>, raw: ObjectHandle, kind: WEAK_OBJECT, path: C::PATH, literal: crate::value::NoDefault, pointer
}

kind! {
    /// Strong reference to an object of any class that implements the interface `I`.
    ///
    /// Resolves to none while the object's class does not implement `I`, since a reload can change the interfaces of a class.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uinterface(package = "Game")]
    /// # pub trait Heeds {
    /// #     fn hear(&self, what: String) -> u32;
    /// # }
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Speaker {
    /// #     #[uproperty]
    /// #     listener: ScriptInterface<Heeds>,
    /// # }
    /// fn whisper(speaker: This<'_, Speaker>, ear: Obj<Object>) -> Result<u32, CallError> {
    ///     speaker.listener().try_set(ear)?; // `WRONG_CLASS` if the object does not implement `Heeds`
    ///     let listener = speaker.listener().get(&speaker);
    ///     Ok(listener.map_or(0, |listener| listener.hear("psst".to_owned())))
    /// }
    /// # fn main() {}
    /// ```
    ScriptInterface<I: Interface>, raw: ObjectHandle, kind: SCRIPT_INTERFACE, path: I::PATH,
    literal: crate::value::NoDefault, pointer
}

macro_rules! references {
    ($($name:ident<$class:ident: $bound:ident> resolves_to $target:ty;)*) => {$(
        impl<$class: $bound> $name<$class> {
            /// Creates an owned reference to an object or to none.
            ///
            /// # Errors
            /// See [`Self::new`]. Also fails with `WRONG_CLASS` if the reference does not accept the object's class.
            #[track_caller]
            pub fn of(object: Obj<$target>) -> Result<Self, CallError> {
                let reference = Self::new()?;
                let location = reference.owned().ptr()?.into_location(ObjectHandle::NONE)?;
                verbs::reference_assign(&location, object.handle())?;
                Ok(reference)
            }
        }

        impl<$class: $bound> Borrowed<'_, $name<$class>> {
            fn find<'f>(&self, this: &ObjectView<'f>) -> Option<This<'f, $target>> {
                let object = self.try_obj().unwrap_or_else(|error| fail(error));
                if object.is_none() { None } else { this.get(object).ok() }
            }

            /// Returns a handle of the object for use after the running call, or [`Obj::none`] if the object does not exist.
            #[must_use]
            pub fn obj(&self) -> Obj<$target> {
                self.try_obj().unwrap_or_else(|error| fail(error))
            }

            /// Returns a handle of the object for use after the running call, or [`Obj::none`] if the object does not exist.
            ///
            /// # Errors
            /// Fails with `EXPIRED` if the reference no longer exists.
            pub fn try_obj(&self) -> Result<Obj<$target>, CallError> {
                verbs::reference_resolve(self.ptr()?).map(Obj::from_handle)
            }

            /// Sets the reference to an object or to none.
            pub fn set(&self, object: Obj<$target>) {
                self.try_set(object).unwrap_or_else(|error| fail(error));
            }

            /// Sets the reference to an object or to none.
            ///
            /// # Errors
            /// Fails with `WRONG_CLASS` if the reference does not accept the object's class, with `STALE` if the object was destroyed, with
            /// `EXPIRED` if the reference no longer exists, or with `DURING_REBUILD` while the host refuses writes to its owner.
            pub fn try_set(&self, object: Obj<$target>) -> Result<(), CallError> {
                verbs::reference_assign(&self.location()?, object.handle())
            }

            /// Sets the reference to none.
            pub fn clear(&self) {
                self.set(Obj::none());
            }

            /// Returns `true` if the reference currently resolves to no object.
            #[must_use]
            pub fn is_none(&self) -> bool {
                self.obj().is_none()
            }
        }
    )*};
}
references! {
    SoftObject<C: Class> resolves_to C;
    LazyObject<C: Class> resolves_to C;
    WeakObject<C: Class> resolves_to C;
    ScriptInterface<I: Interface> resolves_to Object;
}

macro_rules! get {
    ($($name:ident)*) => {$(
        impl<C: Class> Borrowed<'_, $name<C>> {
            /// Returns a view of the object for the rest of the running call, or `None` if the object does not exist.
            ///
            /// # Examples
            /// ```
            /// # use alcedo_plugin_api::prelude::*;
            #[doc = concat!("fn target_name(this: This<'_, Object>, target: &Borrowed<'_, ", stringify!($name), "<Object>>) -> String {")]
            ///     target.get(&this).map_or_else(|| "no target".to_owned(), |target| target.name())
            /// }
            /// ```
            #[must_use]
            pub fn get<'f>(&self, this: &ObjectView<'f>) -> Option<This<'f, C>> {
                self.find(this)
            }
        }
    )*};
}
get! { SoftObject LazyObject WeakObject }

impl<I: Interface> Borrowed<'_, ScriptInterface<I>> {
    /// Returns a view of the object with the functions of the interface, or `None` if the object does not exist. The view is valid for the
    /// rest of the running call.
    #[must_use]
    pub fn get<'f>(&self, this: &ObjectView<'f>) -> Option<I::View<'f>> {
        self.find(this).map(|object| I::view(InterfaceThis::new(object)))
    }
}

impl<'f> ObjectView<'f> {
    /// Returns a view of this object with the functions of the interface.
    ///
    /// # Errors
    /// Fails with `WRONG_CLASS` if the object's class does not implement the interface, or with `STALE` if the object is destroyed.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// #[uinterface(package = "Game")]
    /// pub trait Locks {
    ///     fn unlock(&self) -> bool;
    /// }
    ///
    /// fn unlock(target: This<'_, Object>) -> bool {
    ///     match target.as_interface::<Locks>() {
    ///         Ok(target) => target.unlock(),
    ///         Err(error) => {
    ///             tracing::info!("{} stays closed: {error}", target.name());
    ///             false
    ///         }
    ///     }
    /// }
    /// # fn main() {}
    /// ```
    pub fn as_interface<I: Interface>(&self) -> Result<I::View<'f>, CallError> {
        let object = Obj::<Object>::from_handle(self.handle());
        // Only the host has the list of a class's interfaces, and it checks the interface when a reference is created.
        drop(ScriptInterface::<I>::of(object)?);
        Ok(I::view(InterfaceThis::new(self.get(object)?)))
    }
}

impl<C: Class> Borrowed<'_, SoftObject<C>> {
    /// Returns the path, even if no object with this path exists.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn missing(target: &Borrowed<'_, SoftObject<Object>>) -> Option<String> {
    ///     // The path is kept even if the object does not exist.
    ///     target.is_none().then(|| target.path())
    /// }
    /// ```
    #[must_use]
    pub fn path(&self) -> String {
        host::name_text(self.ptr().unwrap_or_else(|error| fail(error)).read())
    }

    /// Sets the path of the reference. The object at this path need not exist.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn point(target: &Borrowed<'_, SoftObject<Object>>) {
    ///     target.set_path("/Game/Level2.Exit"); // an object of a level that is not loaded yet
    /// }
    /// ```
    pub fn set_path(&self, path: &str) {
        let set = || {
            let name = host::intern(path)?;
            // Every name is a valid path, so the name can be written without a call to the host.
            self.ptr_mut()?.write(name);
            Ok(())
        };
        set().unwrap_or_else(|error: CallError| fail(error));
    }
}

impl<C: Class> Borrowed<'_, LazyObject<C>> {
    /// Returns the id, even if the object does not exist. Returns zero if no object is set.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn save(gate: &Borrowed<'_, LazyObject<Object>>) -> Option<u128> {
    ///     Some(gate.id()).filter(|id| *id != 0)
    /// }
    /// ```
    #[must_use]
    pub fn id(&self) -> u128 {
        let LazyRaw { high, low } = self.ptr().unwrap_or_else(|error| fail(error)).read();
        u128::from(high) << 64 | u128::from(low)
    }
}
