//! References to objects beside `Obj<C>`: by path, by an id for ever, without keeping alive, by interface.

use alcedo_abi::handles::{Name, ObjectHandle};
use alcedo_abi::value::LazyRaw;
use alcedo_rt::{CallError, fail};

use super::kind;
use super::verbs;
use crate::this::InterfaceThis;
use crate::{Class, Interface, Kind, Lent, Obj, Object, ObjectView, This, host};

kind! {
    /// An object of class `C` by its path, be it there or not. It keeps nothing alive.
    ///
    /// ```ignore
    /// if let Some(target) = this.target().get(&this) { target.open_gate(); }
    /// ```
    SoftObject<C: Class>, raw: Name, kind: SOFT_OBJECT, path: C::PATH, literal: crate::value::NoDefault, pointer
}

kind! {
    /// An object of class `C` by an id that no other ever has, also over a save and a load. It keeps nothing alive.
    LazyObject<C: Class>, raw: LazyRaw, kind: LAZY_OBJECT, path: C::PATH, literal: crate::value::NoDefault, pointer
}

kind! {
    /// An object of class `C` that is none as soon as the object is gone. It keeps nothing alive.
    WeakObject<C: Class>, raw: ObjectHandle, kind: WEAK_OBJECT, path: C::PATH, literal: crate::value::NoDefault, pointer
}

kind! {
    /// An object of whatever class implements the interface `I`. It keeps the object alive.
    ///
    /// It leads to none while the class does not say that it implements `I`: a reload may change that.
    ///
    /// ```ignore
    /// this.listener().try_set(ear.as_object())?;
    /// if let Some(listener) = this.listener().get(&this) { listener.hear("psst".to_owned()); }
    /// ```
    ScriptInterface<I: Interface>, raw: ObjectHandle, kind: SCRIPT_INTERFACE, path: I::PATH,
    literal: crate::value::NoDefault, pointer
}

macro_rules! references {
    ($($name:ident<$class:ident: $bound:ident> gives $target:ty;)*) => {$(
        impl<$class: $bound> $name<$class> {
            /// A reference to an object or none, which plugin code owns.
            ///
            /// # Errors
            /// As [`Self::new`], and `WRONG_CLASS` when the object does not suit.
            #[track_caller]
            pub fn of(object: Obj<$target>) -> Result<Self, CallError> {
                let reference = Self::new()?;
                let place = reference.owned().ptr()?.into_place(ObjectHandle::NONE)?;
                verbs::reference_assign(&place, object.handle())?;
                Ok(reference)
            }
        }

        impl<$class: $bound> Lent<'_, $name<$class>> {
            fn find<'f>(&self, this: &ObjectView<'f>) -> Option<This<'f, $target>> {
                let object = self.try_obj().unwrap_or_else(|error| fail(error));
                if object.is_none() { None } else { this.get(object).ok() }
            }

            /// The object as a handle that may be kept; none when it is not there.
            #[must_use]
            pub fn obj(&self) -> Obj<$target> {
                self.try_obj().unwrap_or_else(|error| fail(error))
            }

            /// The object as a handle.
            ///
            /// # Errors
            /// `EXPIRED`.
            pub fn try_obj(&self) -> Result<Obj<$target>, CallError> {
                verbs::reference_resolve(self.ptr()?).map(Obj::from_handle)
            }

            /// Points the reference to an object, or to none.
            pub fn set(&self, object: Obj<$target>) {
                self.try_set(object).unwrap_or_else(|error| fail(error));
            }

            /// Points the reference to an object, or says why not.
            ///
            /// # Errors
            /// `WRONG_CLASS` when the object does not suit; `STALE` when it is gone; `EXPIRED`; `DURING_REBUILD`.
            pub fn try_set(&self, object: Obj<$target>) -> Result<(), CallError> {
                verbs::reference_assign(&self.place()?, object.handle())
            }

            /// Points the reference to none.
            pub fn clear(&self) {
                self.set(Obj::none());
            }

            /// Whether it leads to no object now.
            #[must_use]
            pub fn is_none(&self) -> bool {
                self.obj().is_none()
            }
        }
    )*};
}
references! {
    SoftObject<C: Class> gives C;
    LazyObject<C: Class> gives C;
    WeakObject<C: Class> gives C;
    ScriptInterface<I: Interface> gives Object;
}

macro_rules! get {
    ($($name:ident)*) => {$(
        impl<C: Class> Lent<'_, $name<C>> {
            /// The object, if it is there, for the rest of the running call.
            #[must_use]
            pub fn get<'f>(&self, this: &ObjectView<'f>) -> Option<This<'f, C>> {
                self.find(this)
            }
        }
    )*};
}
get! { SoftObject LazyObject WeakObject }

impl<I: Interface> Lent<'_, ScriptInterface<I>> {
    /// The object, if it is there, for the rest of the running call: seen as the interface, whose functions can be called on it.
    #[must_use]
    pub fn get<'f>(&self, this: &ObjectView<'f>) -> Option<I::View<'f>> {
        self.find(this).map(|object| I::view(InterfaceThis::new(object)))
    }
}

impl<'f> ObjectView<'f> {
    /// The same object, seen as an interface whose functions can be called on it.
    ///
    /// # Errors
    /// `WRONG_CLASS` when its class does not implement the interface; `STALE` when it is gone.
    pub fn as_interface<I: Interface>(&self) -> Result<I::View<'f>, CallError> {
        let object = Obj::<Object>::from_handle(self.handle());
        // Whether it is one only the host knows; it says so when it makes a reference.
        drop(ScriptInterface::<I>::of(object)?);
        Ok(I::view(InterfaceThis::new(self.get(object)?)))
    }
}

impl<C: Class> Lent<'_, SoftObject<C>> {
    /// The path, also while there is no such object.
    #[must_use]
    pub fn path(&self) -> String {
        host::name_text(self.ptr().unwrap_or_else(|error| fail(error)).read())
    }

    /// Points the reference to whatever is or will be at a path.
    pub fn set_path(&self, path: &str) {
        let set = || {
            let name = host::intern(path)?;
            // Any name is a path.
            self.ptr_mut()?.write(name);
            Ok(())
        };
        set().unwrap_or_else(|error: CallError| fail(error));
    }
}

impl<C: Class> Lent<'_, LazyObject<C>> {
    /// The id, also while there is no such object; zero for none.
    #[must_use]
    pub fn id(&self) -> u128 {
        let LazyRaw { high, low } = self.ptr().unwrap_or_else(|error| fail(error)).read();
        u128::from(high) << 64 | u128::from(low)
    }
}
