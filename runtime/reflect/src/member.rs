//! Keys for the lookup of class members. A key is a name, or a reference that caches the result of the last lookup. References are for
//! members that a host accesses in each frame.

use std::rc::{Rc, Weak};

use alcedo_base::cells::RefCell;

use crate::class::Class;
use crate::function::Function;
use crate::property::Property;
use crate::word_offset::WordOffsets;

mod sealed {
    pub trait Sealed {}
    impl<T: AsRef<str> + ?Sized> Sealed for &T {}
    impl Sealed for &super::PropertyRef {}
    impl Sealed for &super::FunctionRef {}
}

/// Key for the lookup of a property: its name, or a [`PropertyRef`].
///
/// # Examples
/// ```
/// use alcedo_reflect::member::{PropertyKey, PropertyRef};
///
/// fn label(key: impl PropertyKey) -> String {
///     format!("property `{}`", key.name())
/// }
/// assert_eq!(label("speed"), "property `speed`");
/// assert_eq!(label(&PropertyRef::new("speed")), "property `speed`");
/// ```
pub trait PropertyKey: sealed::Sealed + Copy {
    /// Returns the name of the property.
    fn name(&self) -> &str;
    /// Returns the class's property with the name of this key.
    #[doc(hidden)]
    fn find<'c>(&self, class: &'c Rc<Class>) -> Option<&'c Rc<Property>>;
    /// Returns the cached offsets of the property's values, if any.
    #[doc(hidden)]
    #[inline]
    fn offsets(&self) -> Option<&WordOffsets> {
        None
    }
}

/// Key for the lookup of a function: its name, or a [`FunctionRef`].
///
/// # Examples
/// ```
/// use alcedo_reflect::member::{FunctionKey, FunctionRef};
///
/// fn label(key: impl FunctionKey) -> String {
///     format!("function `{}`", key.name())
/// }
/// assert_eq!(label("toggle"), "function `toggle`");
/// assert_eq!(label(&FunctionRef::new("toggle")), "function `toggle`");
/// ```
pub trait FunctionKey: sealed::Sealed {
    /// Returns the name of the function.
    fn name(&self) -> &str;
    /// Returns the class's function with the name of this key.
    #[doc(hidden)]
    fn find(&self, class: &Rc<Class>) -> Option<Rc<Function>>;
}

impl<T: AsRef<str> + ?Sized> PropertyKey for &T {
    #[inline]
    fn name(&self) -> &str {
        T::as_ref(self)
    }

    #[inline]
    fn find<'c>(&self, class: &'c Rc<Class>) -> Option<&'c Rc<Property>> {
        class.find_property(T::as_ref(self))
    }
}

impl<T: AsRef<str> + ?Sized> FunctionKey for &T {
    #[inline]
    fn name(&self) -> &str {
        T::as_ref(self)
    }

    #[inline]
    fn find(&self, class: &Rc<Class>) -> Option<Rc<Function>> {
        class.find_function(T::as_ref(self)).cloned()
    }
}

/// Reference to a property by name. Caches the result of the last lookup. The reference works for any class with a property of that name,
/// including new classes after a reload. The reference keeps no class alive. Game thread only.
///
/// # Examples
/// ```
/// use alcedo_reflect::member::{PropertyKey, PropertyRef};
///
/// // Made once, used for the lookup in each frame.
/// let speed = PropertyRef::new("speed");
/// assert_eq!((&speed).name(), "speed");
/// ```
#[derive(Clone, Debug)]
pub struct PropertyRef {
    name: Rc<str>,
    /// Path of the required base class. `None` for any class.
    owner: Option<Rc<str>>,
    /// Class of the last lookup, and index of the property among the properties of the class.
    cached: RefCell<(Weak<Class>, usize)>,
    /// Cached offsets of the property, if its values fit in a machine word.
    offsets: WordOffsets,
}

impl PropertyRef {
    /// Creates a reference to a property of that name in any class.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), owner: None, cached: RefCell::new((Weak::new(), 0)), offsets: WordOffsets::new() }
    }

    /// Creates a reference to a property of that name. The reference works for the class at the path `class` and for derived classes.
    ///
    /// # Examples
    /// ```
    /// use alcedo_reflect::member::{PropertyKey, PropertyRef};
    ///
    /// let brightness = PropertyRef::of_class("/Script/Game.Lamp", "brightness");
    /// assert_eq!((&brightness).name(), "brightness");
    /// ```
    pub fn of_class(class: &str, name: &str) -> Self {
        Self { owner: Some(class.into()), ..Self::new(name) }
    }

    #[cold]
    fn find_uncached<'c>(&self, class: &'c Rc<Class>) -> Option<&'c Rc<Property>> {
        if !extends(class, self.owner.as_deref()) {
            return None;
        }
        let at = class.properties.iter().position(|property| property.text == self.name)?;
        // The weak reference prevents the deallocation of the class. No other class can therefore have this address.
        *self.cached.borrow_mut() = (Rc::downgrade(class), at);
        class.properties.get(at)
    }
}

/// Checks if the class is the class at the path `owner` or derives from that class. Returns `true` if no owner is specified.
fn extends(class: &Rc<Class>, owner: Option<&str>) -> bool {
    owner.is_none_or(|owner| class.lineage().any(|class| *class.path == *owner))
}

impl PropertyKey for &PropertyRef {
    fn name(&self) -> &str {
        &self.name
    }

    #[inline]
    fn offsets(&self) -> Option<&WordOffsets> {
        Some(&self.offsets)
    }

    #[inline]
    fn find<'c>(&self, class: &'c Rc<Class>) -> Option<&'c Rc<Property>> {
        let known = {
            let cached = self.cached.borrow();
            std::ptr::eq(cached.0.as_ptr(), Rc::as_ptr(class)).then_some(cached.1)
        };
        match known {
            Some(at) => class.properties.get(at),
            None => self.find_uncached(class),
        }
    }
}

/// Reference to a function by name. Caches the result of the last lookup, see [`PropertyRef`]. Game thread only.
///
/// # Examples
/// ```
/// use alcedo_reflect::member::{FunctionKey, FunctionRef};
///
/// let toggle = FunctionRef::of_class("/Script/Game.Lamp", "toggle");
/// assert_eq!((&toggle).name(), "toggle");
/// ```
#[derive(Clone, Debug)]
pub struct FunctionRef {
    name: Rc<str>,
    /// Path of the required base class. `None` for any class.
    owner: Option<Rc<str>>,
    cached: RefCell<(Weak<Class>, Weak<Function>)>,
}

impl FunctionRef {
    /// Creates a reference to a function of that name in any class.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), owner: None, cached: RefCell::new((Weak::new(), Weak::new())) }
    }

    /// Creates a reference to a function of that name. The reference works for the class at the path `class` and for derived classes.
    pub fn of_class(class: &str, name: &str) -> Self {
        Self { owner: Some(class.into()), ..Self::new(name) }
    }
}

impl FunctionKey for &FunctionRef {
    fn name(&self) -> &str {
        &self.name
    }

    fn find(&self, class: &Rc<Class>) -> Option<Rc<Function>> {
        let cached = self.cached.borrow();
        if std::ptr::eq(cached.0.as_ptr(), Rc::as_ptr(class))
            && let Some(function) = cached.1.upgrade()
        {
            return Some(function);
        }
        drop(cached);
        if !extends(class, self.owner.as_deref()) {
            return None;
        }
        let found = Rc::clone(class.find_function(&self.name)?);
        *self.cached.borrow_mut() = (Rc::downgrade(class), Rc::downgrade(&found));
        Some(found)
    }
}
