//! Types of a host: the classes, structs, enums, delegates and interfaces that the host or its modules declare.

use std::rc::{Rc, Weak};

use super::Runtime;
use crate::boundary::{CallError, not_found};
use crate::cells::RefCell;
use crate::error::Error;
use crate::load::declared::{Declared, DeclaredDelegate, of_delegate, of_loaded, of_natives};
use crate::object::class::Class;
use crate::object::meta::value_of;
use crate::object::origin::Origin;
use crate::object::property::PropertyType;
use crate::object::value::Value;

/// Cached lookup of a class by its path, for creating many objects. Each use resolves the path to the current class. After a reload, a use
/// therefore returns the new class. A use fails while no class has the path. Does not keep the class alive. If used with another runtime,
/// resolves to the class of that runtime. Game thread only.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
///
/// let runtime = Runtime::builder().build()?;
/// let bullet = runtime.types().class("/Script/Core.Object")?;
/// for _ in 0..100 {
///     runtime.objects().spawn(&bullet)?;
/// }
/// assert_eq!(runtime.counters().objects, 100);
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClassRef {
    path: Rc<str>,
    found: RefCell<Found>,
}

#[derive(Clone, Debug)]
struct Found {
    epoch: u64,
    class: Weak<Class>,
}

impl ClassRef {
    /// Returns the path of the class.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

mod sealed {
    pub trait Sealed {}
    impl<T: AsRef<str> + ?Sized> Sealed for &T {}
    impl Sealed for &super::ClassRef {}
}

/// Specifies a class by its path or by a [`ClassRef`].
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{ClassKey, Error, ObjectHandle, Runtime};
///
/// /// Creates some objects of a class.
/// fn wave(runtime: &Runtime, class: impl ClassKey + Copy, count: usize) -> Result<Vec<ObjectHandle>, Error> {
///     (0..count).map(|_| runtime.objects().spawn(class)).collect()
/// }
///
/// # fn main() -> Result<(), Error> {
/// let runtime = Runtime::builder().build()?;
/// assert_eq!(wave(&runtime, "/Script/Core.Object", 3)?.len(), 3);
/// let class = runtime.types().class("/Script/Core.Object")?;
/// assert_eq!(wave(&runtime, &class, 5)?.len(), 5);
/// # Ok(())
/// # }
/// ```
pub trait ClassKey: sealed::Sealed {
    /// Returns the current class, or an error if the class does not exist.
    #[doc(hidden)]
    fn find(&self, types: Types<'_>) -> Result<Rc<Class>, Error>;
}

impl<T: AsRef<str> + ?Sized> ClassKey for &T {
    fn find(&self, types: Types<'_>) -> Result<Rc<Class>, Error> {
        types.class_by_path(T::as_ref(self))
    }
}

impl ClassKey for &ClassRef {
    #[inline]
    fn find(&self, types: Types<'_>) -> Result<Rc<Class>, Error> {
        types.class_now(self)
    }
}

/// Types of a host; see [`Runtime::types`]. Game thread only.
///
/// ```
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = alcedo_runtime::Runtime::builder().build()?;
/// assert!(!runtime.types().has("/Script/Game.Cube"));
/// assert!(runtime.types().class("/Script/Game.Cube").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Types<'a>(pub(super) &'a Runtime);

impl Types<'_> {
    /// Returns a reference to the class with this path, for [`Objects::spawn`](crate::Objects::spawn). The path is resolved again only
    /// after types have changed.
    ///
    /// # Errors
    /// Fails if the class does not exist.
    pub fn class(&self, path: &str) -> Result<ClassRef, Error> {
        let epoch = self.0.inner.core.world.types.epoch();
        let class = Rc::downgrade(&self.class_by_path(path)?);
        Ok(ClassRef { path: path.into(), found: RefCell::new(Found { epoch, class }) })
    }

    /// Returns `true` if `class` is `base` or a class derived from `base`. Both arguments are class paths.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::native::{NativeClass, Natives};
    ///
    /// let natives = Natives::in_package("Game")
    ///     .class(NativeClass::new("Game", "Actor", "/Script/Core.Object"))
    ///     .class(NativeClass::new("Game", "Robot", "/Script/Game.Actor"));
    /// let runtime = Runtime::builder().natives(natives).build()?;
    /// assert!(runtime.types().is_subclass("/Script/Game.Robot", "/Script/Game.Actor"));
    /// assert!(!runtime.types().is_subclass("/Script/Game.Actor", "/Script/Game.Robot"));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn is_subclass(&self, class: &str, base: &str) -> bool {
        let types = &self.0.inner.core.world.types;
        match (types.class_by_path(class), types.class_by_path(base)) {
            (Some(class), Some(base)) => class.is_a(&base),
            _ => false,
        }
    }

    /// Redirects `old`, a former path of a type, member or enum entry, to `new`. While a declaration with the path `old` exists, this
    /// declaration takes precedence over the redirect. If only `old` is declared, for example because a rename was undone, `new` resolves
    /// to `old`.
    ///
    /// # Errors
    /// Fails if `new` is already redirected to `old`.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::native::{NativeClass, Natives};
    ///
    /// let robot = NativeClass::new("Game", "Robot", "/Script/Core.Object");
    /// let runtime = Runtime::builder().natives(Natives::in_package("Game").class(robot)).build()?;
    /// // An older version declared the class as Droid.
    /// runtime.types().redirect("/Script/Game.Droid", "/Script/Game.Robot")?;
    /// let robot = runtime.objects().spawn("/Script/Game.Droid")?;
    /// assert!(runtime.objects().describe(robot).starts_with("Game.Robot"));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn redirect(&self, old: &str, new: &str) -> Result<(), Error> {
        // Requires a safe point: the rollback of an operation in progress would also undo the redirect.
        let _busy = self.0.at_safe_point("redirecting a name")?;
        let types = &self.0.inner.core.world.types;
        if old == new || types.resolves_to(new, old) {
            let message = format!(
                "{old} cannot be redirected to {new}, which is redirected to {old}: redirect each name to the latest"
            );
            return Err(CallError::other(message).into());
        }
        types.redirect(old, new);
        Ok(())
    }

    /// Returns `true` if a class, struct, enum, interface or named delegate with this path is declared.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::kinds::PropertyKind;
    /// use alcedo_runtime::native::{NativeEnum, Natives};
    ///
    /// let mood = NativeEnum::new("Game", "Mood", PropertyKind::U8).entry("Calm", 0).entry("Angry", 1);
    /// let runtime = Runtime::builder().natives(Natives::in_package("Game").enumeration(mood)).build()?;
    /// assert!(runtime.types().has("/Script/Game.Mood"));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn has(&self, path: &str) -> bool {
        let types = &self.0.inner.core.world.types;
        types.class_by_path(path).is_some()
            || types.struct_by_path(path).is_some()
            || types.enum_by_path(path).is_some()
            || types.delegate_by_path(path).is_some()
            || types.interface_by_path(path).is_some()
    }

    /// Returns the declaration of the delegate with this path. Returns `None` if no delegate has this path.
    pub fn delegate(&self, path: &str) -> Option<DeclaredDelegate> {
        let world = &self.0.inner.core.world;
        Some(of_delegate(&*world.types.delegate_by_path(path)?, &world.names))
    }

    /// Returns `true` if the struct `path` is `base` or extends `base`. Both arguments are struct paths.
    pub fn struct_extends(&self, path: &str, base: &str) -> bool {
        let types = &self.0.inner.core.world.types;
        types.struct_by_path(path).zip(types.struct_by_path(base)).is_some_and(|(of, base)| of.is_a(&base))
    }

    /// Returns `true` if the class `class` or one of its base classes implements an interface. Both arguments are paths.
    pub fn implements(&self, class: &str, interface: &str) -> bool {
        let world = &self.0.inner.core.world;
        world.types.class_by_path(class).is_some_and(|class| world.implements(&class, interface))
    }

    /// Returns the flags of the property or function with this path: bits of `property_flags` or `function_flags`. Returns `None` for an
    /// unknown path.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::kinds::{PropertyKind, property_flags};
    /// use alcedo_runtime::native::{NativeClass, Natives};
    ///
    /// let lamp = NativeClass::new("Game", "Lamp", "/Script/Core.Object");
    /// let lamp = lamp.property("gain", (PropertyKind::F64, ""), property_flags::EDIT_ANYWHERE, "1");
    /// let runtime = Runtime::builder().natives(Natives::in_package("Game").class(lamp)).build()?;
    /// let flags = runtime.types().member_flags("/Script/Game.Lamp:gain").unwrap();
    /// // An editor displays the property.
    /// assert_ne!(flags & property_flags::EDIT_ANYWHERE, 0);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn member_flags(&self, path: &str) -> Option<u64> {
        let types = &self.0.inner.core.world.types;
        let property = types.property_by_path(path).map(|property| property.flags);
        property.or_else(|| types.function_by_path(path).map(|function| function.flags))
    }

    /// Returns the metadata value that a property or function has for `key`. Returns `None` for an unknown path or key.
    pub fn member_meta(&self, path: &str, key: &str) -> Option<String> {
        let types = &self.0.inner.core.world.types;
        match types.property_by_path(path) {
            Some(property) => value_of(&property.meta, key).map(str::to_owned),
            None => value_of(&types.function_by_path(path)?.meta, key).map(str::to_owned),
        }
    }

    /// Returns the paths of the classes that modules of the Master (plugins and script packages) declare.
    pub fn dynamic_classes(&self) -> Vec<String> {
        let classes = self.0.inner.core.world.types.classes();
        classes.iter().filter(|class| class.origin != Origin::Native).map(|class| class.path.to_string()).collect()
    }

    /// Returns the declarations of a module of the Master: its types, offered functions and imports. Returns `None` if the Master has no
    /// such module. [`ManifestInfo::peek_declared`](crate::ManifestInfo::peek_declared) reads these declarations from a file.
    pub fn declared_by(&self, module: &str) -> Option<Declared> {
        let modules = self.0.inner.loads.modules();
        let found = modules.iter().find(|found| found.name() == module)?;
        #[cfg(feature = "script")]
        if let Some(package) = found.code().scripts() {
            return Some(crate::load::declared::of_package(&self.0.inner.core.world, &package.name));
        }
        Some(of_loaded(module, found.described()))
    }

    /// Formats a value as text for [`Types::parse`], for example for an inspector. Strings are quoted, and objects have the form
    /// `#index.serial`: see [`Value::print`].
    pub fn print(&self, value: &Value) -> String {
        value.print(&self.0.inner.core.world.names)
    }

    /// Parses a value of the type `ty`, which is written as in signatures: see [`DeclaredProperty::ty`](crate::DeclaredProperty::ty).
    /// [`Value::parse`] describes the forms of the text.
    ///
    /// # Errors
    /// Fails if the type does not exist, or if the text is not a valid value of the type.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::native::uclass;
    /// use alcedo_runtime::{Runtime, natives};
    ///
    /// #[uclass(package = "Game")]
    /// struct Lamp {
    ///     #[uproperty]
    ///     levels: Vec<f64>,
    /// }
    ///
    /// let runtime = Runtime::builder().natives(natives![Lamp]).build()?;
    /// let lamp = runtime.objects().spawn("/Script/Game.Lamp")?;
    /// // An editor writes the text that a user has entered for a property.
    /// let levels = runtime.types().parse("Array(f64)", "(0.5, 2)")?;
    /// runtime.objects().set(lamp, "levels", &levels)?;
    /// let levels = runtime.objects().get(lamp, "levels")?;
    /// assert_eq!(runtime.types().print(&levels), "(0.5, 2)");
    /// let error = runtime.types().parse("f64", "fast").unwrap_err();
    /// assert!(error.to_string().starts_with("`fast` is not a valid f64"));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn parse(&self, ty: &str, text: &str) -> Result<Value, Error> {
        let ty = self.property_type(ty)?;
        let value = Value::parse(text, &ty, &self.0.inner.core.world.names);
        Ok(value.map_err(|error| CallError::other(error.to_string()))?)
    }

    /// Returns the type that a text describes as in signatures.
    pub(super) fn property_type(&self, ty: &str) -> Result<PropertyType, Error> {
        let found = PropertyType::parse(ty, &self.0.inner.core.world.types);
        Ok(found.map_err(|error| not_found(format!("the type `{ty}`: {error}")))?)
    }

    /// Returns the native types of the host. [`Builder::declared`](crate::Builder::declared) returns these types without building a host.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::native::{NativeClass, Natives};
    ///
    /// let lamp = NativeClass::new("Game", "Lamp", "/Script/Core.Object").doc("A light source.");
    /// let runtime = Runtime::builder().natives(Natives::in_package("Game").class(lamp)).build()?;
    /// let declared = runtime.types().declared_natives();
    /// let lamp = declared.classes.iter().find(|class| class.path == "/Script/Game.Lamp").unwrap();
    /// assert_eq!(lamp.doc, "A light source.");
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn declared_natives(&self) -> Declared {
        of_natives(&self.0.inner.core.world)
    }

    #[inline]
    fn class_now(&self, class: &ClassRef) -> Result<Rc<Class>, Error> {
        let epoch = self.0.inner.core.world.types.epoch();
        let known = class.found.borrow();
        if known.epoch == epoch
            && let Some(known) = known.class.upgrade()
        {
            return Ok(known);
        }
        drop(known);
        let now = self.class_by_path(&class.path)?;
        *class.found.borrow_mut() = Found { epoch, class: Rc::downgrade(&now) };
        Ok(now)
    }

    pub(super) fn class_by_path(&self, path: &str) -> Result<Rc<Class>, Error> {
        let found = self.0.inner.core.world.types.class_by_path(path);
        found.ok_or_else(|| {
            let waiting = self.0.inner.core.world.objects.waiting_for(path);
            Error::UnknownClass { path: path.to_owned(), waiting }
        })
    }
}
