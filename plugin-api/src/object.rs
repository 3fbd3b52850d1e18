//! Root class, from which all classes are derived, and operations on any object.

use alcedo_abi::handles::ObjectHandle;

use crate::{CallError, Class, Obj, This, host};

/// Base of every class.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::Class;
///
/// fn keep(anything: This<'_, Object>) -> Obj<Object> {
///     anything.as_obj()
/// }
///
/// assert_eq!(Object::PATH, "/Script/Core.Object");
/// ```
#[derive(Debug)]
pub enum Object {}

/// View of an object with the operations that all classes have. Valid on the game thread, during one call from the host.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
///
/// fn describe(this: This<'_, Object>) -> String {
///     format!("{} is a {}, stored at {}", this.name(), this.class_path(), this.path())
/// }
/// ```
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct ObjectView<'f>(This<'f, Object>);

impl<'f> ObjectView<'f> {
    /// Returns the handle of the object.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn log_hit(this: This<'_, Object>, damage: u32) -> String {
    ///     format!("{}: {damage}", this.handle())
    /// }
    /// ```
    #[must_use]
    pub fn handle(&self) -> ObjectHandle {
        self.0.object()
    }

    /// Returns the name of the object, for example `MagicCube_17`. Returns an empty string for a destroyed object.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn greeting(this: This<'_, Object>) -> String {
    ///     format!("Hello, {}!", this.name())
    /// }
    /// ```
    #[must_use]
    pub fn name(&self) -> String {
        host::object_name(self.handle())
    }

    /// Returns the path of the most-derived class of the object. Returns an empty string for a destroyed object.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn is_goblin(this: This<'_, Object>) -> bool {
    ///     this.class_path() == "/Script/Game.Goblin"
    /// }
    /// ```
    #[must_use]
    pub fn class_path(&self) -> String {
        host::object_class(self.handle())
    }

    /// Returns true if the object's class is `T` or a subclass of `T`.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// #[uclass(package = "Game")]
    /// #[derive(Default)]
    /// pub struct Chest {}
    ///
    /// fn opens(this: This<'_, Object>, target: Obj<Object>) -> bool {
    ///     this.get(target).is_ok_and(|target| target.is_a::<Chest>())
    /// }
    /// ```
    #[must_use]
    pub fn is_a<T: Class>(&self) -> bool {
        self.cast::<T>().is_ok()
    }

    /// Casts the object to the class `T`.
    ///
    /// # Errors
    /// Fails with `WRONG_CLASS` if the object's class is not `T` or a subclass. Fails with `STALE` if the object was destroyed.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// #[uclass(package = "Game")]
    /// #[derive(Default)]
    /// pub struct Chest {
    ///     #[uproperty]
    ///     gold: u32,
    /// }
    ///
    /// fn gold_in(target: This<'_, Object>) -> u32 {
    ///     match target.cast::<Chest>() {
    ///         Ok(chest) => chest.gold(),
    ///         Err(_other_class) => 0,
    ///     }
    /// }
    /// ```
    pub fn cast<T: Class>(&self) -> Result<This<'f, T>, CallError> {
        self.get(Obj::from_handle(self.handle()))
    }

    /// Returns a view of the object to which `obj` refers. The view is valid for the rest of the running call.
    ///
    /// # Errors
    /// Fails with `STALE` for a destroyed object or a reference to none, or with `WRONG_CLASS` if an unchecked handle refers to an object
    /// whose class is neither `T` nor a subclass.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// #[uclass(package = "Game")]
    /// #[derive(Default)]
    /// pub struct Lamp {
    ///     #[uproperty]
    ///     is_on: bool,
    /// }
    ///
    /// fn switch_on(this: This<'_, Object>, lamp: Obj<Lamp>) -> Result<(), CallError> {
    ///     let lamp = this.get(lamp)?; // `STALE` if the lamp is destroyed
    ///     lamp.set_is_on(true);
    ///     Ok(())
    /// }
    /// ```
    #[inline]
    pub fn get<T: Class>(&self, obj: Obj<T>) -> Result<This<'f, T>, CallError> {
        self.0.other(obj)
    }

    /// Returns the path of the object, in the form that soft references store. Returns an empty string for a destroyed object.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn remember(this: This<'_, Object>, paths: &mut Vec<String>) {
    ///     paths.push(this.path());
    /// }
    /// ```
    #[must_use]
    pub fn path(&self) -> String {
        host::host("object_path").and_then(|host| host.object_path(self.handle())).unwrap_or_default()
    }

    /// Renames the object, moves the object to a new outer, or both. If `name` is empty, the object keeps its name. If `outer` is none, the
    /// object keeps its outer. If `outer` is this object, the object leaves its outer.
    ///
    /// # Errors
    /// Fails if `outer` already contains an object with the name, if `outer` is inside this object, or if the name is invalid. Fails if
    /// this object or `outer` is a class default object or a part of one, if this object is a default subobject, and if an object of a
    /// contextual class would lose its outer. Fails with `STALE` if this object or `outer` was destroyed. Fails with `DURING_REBUILD`
    /// before the commit of a load or reload, except for objects that are being built.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn promote(this: This<'_, Object>) {
    ///     if let Err(error) = this.rename("Captain", Obj::none()) {
    ///         eprintln!("{} keeps its name: {error}", this.name());
    ///     }
    /// }
    /// ```
    pub fn rename(&self, name: &str, outer: Obj<Object>) -> Result<(), CallError> {
        host::host("rename")?.object_rename(self.handle(), name, outer.handle())
    }

    /// Requests a collection of unreferenced objects. The collection never runs inside a call. A collection that a call requests runs at
    /// the next safe point.
    ///
    /// # Errors
    /// Fails with `UNAVAILABLE` if the collection was postponed to the next safe point, or with `DURING_REBUILD` before the
    /// commit of a load or reload.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn level_ended(this: This<'_, Object>) {
    ///     match this.collect_garbage() {
    ///         Ok(()) => {}
    ///         // The collection runs at the next safe point, because a call is running.
    ///         Err(error) if error.kind() == FailureKind::UNAVAILABLE => {}
    ///         Err(error) => eprintln!("no collection: {error}"),
    ///     }
    /// }
    /// ```
    pub fn collect_garbage(&self) -> Result<(), CallError> {
        host::host("collect")?.collect()
    }

    /// Creates an object of class `T` inside `outer`. If `outer` is none, the object has no outer, and is added to the root set, so that no
    /// collection destroys the object.
    ///
    /// # Errors
    /// Returns an error that names the failed step of the construction. Fails with `STALE` if `outer` was destroyed, and with `OTHER` if
    /// `outer` is a class default object or a part of one. Fails with `DURING_REBUILD` before the commit of a load or reload.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// #[uclass(package = "Game")]
    /// #[derive(Default)]
    /// pub struct Coin {
    ///     #[uproperty(default = 1)]
    ///     value: u32,
    /// }
    ///
    /// fn drop_coin(this: This<'_, Object>) -> Result<Obj<Coin>, CallError> {
    ///     let coin = this.spawn::<Coin>(Obj::none())?;
    ///     this.get(coin)?.set_value(5);
    ///     Ok(coin)
    /// }
    /// ```
    pub fn spawn<T: Class>(&self, outer: Obj<Object>) -> Result<Obj<T>, CallError> {
        host::spawn(T::id(), outer.handle()).map(Obj::from_handle)
    }

    /// Destroys this object immediately. Code may still read the object in the rest of the running call.
    ///
    /// # Errors
    /// Fails with `STALE` if the object was already destroyed, with `OTHER` for a class default object or a part of one, or with
    /// `DURING_REBUILD` before the commit of a load or reload.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn collect(this: This<'_, Object>, coin: Obj<Object>) -> bool {
    ///     this.get(coin).and_then(|coin| coin.destroy()).is_ok()
    /// }
    /// ```
    pub fn destroy(&self) -> Result<(), CallError> {
        host::host("destroy")?.destroy(self.handle())
    }
}

impl<C: Class> Obj<C> {
    /// Returns true if the referenced object was destroyed, or if the reference is none. `this` may be any object of the running call.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn next_target(this: This<'_, Object>, targets: &mut Vec<Obj<Object>>) -> Option<Obj<Object>> {
    ///     targets.retain(|target| !target.is_expired(&this));
    ///     targets.first().copied()
    /// }
    /// ```
    #[must_use]
    pub fn is_expired(self, this: &ObjectView<'_>) -> bool {
        self.is_none() || this.get(self.as_object()).is_err()
    }

    /// Casts the reference to the base class, for example for a parameter or property of the base class.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Customer {}
    /// # #[uclass(package = "Game", base = Customer)]
    /// # #[derive(Default)]
    /// # pub struct Haggler {}
    /// # fn sell(to: Obj<Customer>) {}
    /// # fn show(this: This<'_, Haggler>) {
    /// sell(this.as_obj().as_base());
    /// # }
    /// ```
    #[must_use]
    pub const fn as_base(self) -> Obj<C::Base> {
        Obj::from_handle(self.handle())
    }

    /// Casts the reference to [`Object`], the base of all classes.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// #[uclass(package = "Game")]
    /// #[derive(Default)]
    /// pub struct Crate {}
    ///
    /// fn loads(crates: &[Obj<Crate>]) -> Vec<Obj<Object>> {
    ///     crates.iter().map(|load| load.as_object()).collect()
    /// }
    /// assert_eq!(loads(&[Obj::none()]), [Obj::none()]);
    /// ```
    #[must_use]
    pub const fn as_object(self) -> Obj<Object> {
        Obj::from_handle(self.handle())
    }
}
