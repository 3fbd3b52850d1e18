//! References to classes. A `SubclassOf` refers to an existing class; a `SoftClass` stores any path.

use alcedo_abi::handles::{ClassId, Name, ObjectHandle};
use alcedo_rt::{CallError, fail};

use super::kind;
use super::verbs;
use crate::{Borrowed, Class, Kind, Obj, Object, ObjectView, host};

kind! {
    /// Reference to the class `C` or a subclass.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Thing {
    /// #     #[uproperty]
    /// #     enemy: SubclassOf<Object>,
    /// # }
    /// # fn show(this: This<'_, Thing>) {
    /// this.enemy().set("/Script/Game.Goblin");
    /// let goblin = this.enemy().spawn(&this, Obj::none());
    /// # }
    /// ```
    SubclassOf<C: Class>, raw: Name, kind: SUBCLASS_OF, path: C::PATH, literal: &'static str, pointer
}

kind! {
    /// Path of the class `C` or of a subclass, which need not be loaded.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Portal {
    /// #     #[uproperty(default = "/Script/Bosses.Troll")]
    /// #     guardian: SoftClass<Object>,
    /// # }
    /// fn open(portal: This<'_, Portal>) -> Result<Obj<Object>, CallError> {
    ///     portal.guardian().set("/Script/Bosses.Dragon");
    ///     // Fails with `NOT_FOUND` until a module declares the class.
    ///     portal.guardian().spawn(&portal, Obj::none())
    /// }
    /// ```
    SoftClass<C: Class>, raw: Name, kind: SOFT_CLASS, path: C::PATH, literal: &'static str, pointer
}

macro_rules! classes {
    ($($name:ident;)*) => {$(
        impl<C: Class> $name<C> {
            /// Creates an owned reference to a class by its path.
            ///
            /// # Errors
            /// See [`Self::new`]. Also fails if the host rejects the class.
            #[track_caller]
            pub fn of(path: &str) -> Result<Self, CallError> {
                let reference = Self::new()?;
                let location = reference.owned().ptr()?.into_location(ObjectHandle::NONE)?;
                let path = host::intern(path)?;
                verbs::class_assign(&location, path)?;
                Ok(reference)
            }
        }

        impl<C: Class> Borrowed<'_, $name<C>> {
            /// Returns the path of the class, or an empty string if no class is set.
            #[must_use]
            pub fn path(&self) -> String {
                let name = self.ptr().unwrap_or_else(|error| fail(error)).read();
                if name.0 == 0 { String::new() } else { host::name_text(name) }
            }

            /// Sets the reference to the class at a path.
            pub fn set(&self, path: &str) {
                self.try_set(path).unwrap_or_else(|error| fail(error));
            }

            /// Sets the reference to the class at a path.
            ///
            /// # Errors
            /// Fails with `NOT_FOUND` for an unknown class of a `SubclassOf`, or with `WRONG_CLASS` if the class is neither `C` nor a
            /// subclass. Fails with `EXPIRED` if the reference no longer exists, or with `DURING_REBUILD` while the host refuses writes to
            /// its owner.
            ///
            /// # Examples
            /// ```
            /// # use alcedo_plugin_api::prelude::*;
            #[doc = concat!("fn choose(enemy: &Borrowed<'_, ", stringify!($name), "<Object>>, path: &str) {")]
            ///     if let Err(error) = enemy.try_set(path) {
            ///         eprintln!("the enemy is still {}: {error}", enemy.path());
            ///     }
            /// }
            /// ```
            pub fn try_set(&self, path: &str) -> Result<(), CallError> {
                let path = host::intern(path)?;
                self.assign_name(path)
            }

            /// Sets the reference to the class `T`.
            pub fn set_class<T: Class>(&self) {
                self.set(T::PATH);
            }

            /// Clears the reference, which then resolves to no class.
            pub fn clear(&self) {
                self.assign_name(Name(0)).unwrap_or_else(|error| fail(error));
            }

            /// Returns `true` if the reference is clear, or if no class currently exists at its path.
            #[must_use]
            pub fn is_none(&self) -> bool {
                self.class().unwrap_or_else(|error| fail(error)) == ClassId::NONE
            }

            /// Creates an object of the class inside `outer`, like [`ObjectView::spawn`].
            ///
            /// # Errors
            /// Fails with `NOT_FOUND` if the class does not exist. Also returns the errors of [`ObjectView::spawn`].
            pub fn spawn(&self, _this: &ObjectView<'_>, outer: Obj<Object>) -> Result<Obj<C>, CallError> {
                let class = self.class()?;
                if class == ClassId::NONE {
                    let message = format!("class {:?} does not exist", self.path());
                    return Err(CallError::new(alcedo_abi::call::FailureKind::NOT_FOUND, message));
                }
                host::spawn(class, outer.handle()).map(Obj::from_handle)
            }

            fn class(&self) -> Result<ClassId, CallError> {
                verbs::class_resolve(self.ptr()?)
            }

            fn assign_name(&self, path: Name) -> Result<(), CallError> {
                verbs::class_assign(&self.location()?, path)
            }
        }
    )*};
}
classes! {
    SubclassOf;
    SoftClass;
}
