//! By what a member of a class is looked up: by its name, or by a reference that remembers where a class has it, for a host
//! that asks for the same one in each frame.

use std::rc::{Rc, Weak};

use alcedo_base::cells::RefCell;

use crate::class::Class;
use crate::function::Function;
use crate::property::Property;
use crate::word_place::WordPlaces;

mod sealed {
    pub trait Sealed {}
    impl<T: AsRef<str> + ?Sized> Sealed for &T {}
    impl Sealed for &super::PropertyRef {}
    impl Sealed for &super::FunctionRef {}
}

/// By what a property is looked up: its name, or a [`PropertyRef`].
pub trait PropertyKey: sealed::Sealed + Copy {
    /// Its name.
    fn name(&self) -> &str;
    /// The property of a class.
    #[doc(hidden)]
    fn find<'c>(&self, class: &'c Rc<Class>) -> Option<&'c Rc<Property>>;
    /// Where its values lie, as far as it remembers that.
    #[doc(hidden)]
    #[inline]
    fn places(&self) -> Option<&WordPlaces> {
        None
    }
}

/// By what a function is looked up: its name, or a [`FunctionRef`].
pub trait FunctionKey: sealed::Sealed {
    /// Its name.
    fn name(&self) -> &str;
    /// The function of a class.
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

/// A property, held instead of its name. It is looked up by name once for each class that it is used with, so it is good for
/// objects of any class that has a property of that name, and after a reload for those of the new class. It keeps nothing
/// alive. Game thread only.
#[derive(Clone, Debug)]
pub struct PropertyRef {
    name: Rc<str>,
    /// The class that declares it, by path; none where any will do.
    owner: Option<Rc<str>>,
    /// The class of the last use, and the place among its properties.
    seen: RefCell<(Weak<Class>, usize)>,
    /// Where its values lie, if they are words.
    places: WordPlaces,
}

impl PropertyRef {
    /// The property of that name, of whatever class.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), owner: None, seen: RefCell::new((Weak::new(), 0)), places: WordPlaces::new() }
    }

    /// The property of that name of the class at that path: of no class that does not extend it.
    pub fn of_class(class: &str, name: &str) -> Self {
        Self { owner: Some(class.into()), ..Self::new(name) }
    }

    #[cold]
    fn find_anew<'c>(&self, class: &'c Rc<Class>) -> Option<&'c Rc<Property>> {
        if !extends(class, self.owner.as_deref()) {
            return None;
        }
        let at = class.properties.iter().position(|property| property.text == self.name)?;
        // The memory of a class is not reused while anything refers to it, even weakly.
        *self.seen.borrow_mut() = (Rc::downgrade(class), at);
        class.properties.get(at)
    }
}

/// Whether it is the class at that path or extends it; all extend none.
fn extends(class: &Rc<Class>, owner: Option<&str>) -> bool {
    owner.is_none_or(|owner| class.lineage().any(|class| *class.path == *owner))
}

impl PropertyKey for &PropertyRef {
    fn name(&self) -> &str {
        &self.name
    }

    #[inline]
    fn places(&self) -> Option<&WordPlaces> {
        Some(&self.places)
    }

    #[inline]
    fn find<'c>(&self, class: &'c Rc<Class>) -> Option<&'c Rc<Property>> {
        let known = {
            let seen = self.seen.borrow();
            std::ptr::eq(seen.0.as_ptr(), Rc::as_ptr(class)).then_some(seen.1)
        };
        match known {
            Some(at) => class.properties.get(at),
            None => self.find_anew(class),
        }
    }
}

/// A function, held instead of its name: see [`PropertyRef`]. Game thread only.
#[derive(Clone, Debug)]
pub struct FunctionRef {
    name: Rc<str>,
    /// The class that declares it, by path; none where any will do.
    owner: Option<Rc<str>>,
    seen: RefCell<(Weak<Class>, Weak<Function>)>,
}

impl FunctionRef {
    /// The function of that name, of whatever class.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), owner: None, seen: RefCell::new((Weak::new(), Weak::new())) }
    }

    /// The function of that name of the class at that path: of no class that does not extend it.
    pub fn of_class(class: &str, name: &str) -> Self {
        Self { owner: Some(class.into()), ..Self::new(name) }
    }
}

impl FunctionKey for &FunctionRef {
    fn name(&self) -> &str {
        &self.name
    }

    fn find(&self, class: &Rc<Class>) -> Option<Rc<Function>> {
        let seen = self.seen.borrow();
        if std::ptr::eq(seen.0.as_ptr(), Rc::as_ptr(class))
            && let Some(function) = seen.1.upgrade()
        {
            return Some(function);
        }
        drop(seen);
        if !extends(class, self.owner.as_deref()) {
            return None;
        }
        let found = Rc::clone(class.find_function(&self.name)?);
        *self.seen.borrow_mut() = (Rc::downgrade(class), Rc::downgrade(&found));
        Some(found)
    }
}
