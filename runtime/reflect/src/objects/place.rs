//! Where objects are: what they are called, what they lie in, and which objects are found there.

use std::fmt;
use std::rc::Rc;

use alcedo_base::handles::{Name, ObjectHandle};
use alcedo_base::shown::line;
use thiserror::Error;

use crate::naming::name_problem;
use crate::objects::{Objects, Store, object_flags};

/// See [`Objects::shown`].
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    objects: &'a Objects,
    object: ObjectHandle,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.objects.class(self.object), self.objects.name(self.object)) {
            (Some(class), Some(name)) => {
                write!(f, "{} ({})", class.short_path(), line(&self.objects.names.text(name)))
            }
            _ => write!(f, "{}, which is gone", self.object),
        }
    }
}

/// Why an object keeps its name and its place.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum RenameError {
    /// The object, or what it was to lie in, is not there.
    #[error("{handle} is gone: nothing can be called so, and nothing can lie in it")]
    Stale {
        /// Which of the two.
        handle: ObjectHandle,
    },
    /// An object in there has this name.
    #[error("{object} cannot be called `{name}` in there: {holder} is; choose another name, or rename that first")]
    Taken {
        /// The object.
        object: ObjectHandle,
        /// The name.
        name: Rc<str>,
        /// The object that has it.
        holder: ObjectHandle,
    },
    /// It would lie in itself.
    #[error("{object} cannot lie in {outer}, which is the same or lies in it: move that out first")]
    Circle {
        /// The object.
        object: ObjectHandle,
        /// What it was to lie in.
        outer: ObjectHandle,
    },
    /// It is where it has to be.
    #[error("{object} is {what}, which stays where its class puts it: make an object of your own for that")]
    Fixed {
        /// The object.
        object: ObjectHandle,
        /// What it is.
        what: &'static str,
    },
    /// No object can have this name.
    #[error("{object} cannot be called \"{}\": {problem}", line(name))]
    BadName {
        /// The object.
        object: ObjectHandle,
        /// The name.
        name: Rc<str>,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A reload is under way that could not undo it.
    #[error("{object} keeps its name while a reload is under way: rename it afterwards")]
    DuringReload {
        /// The object.
        object: ObjectHandle,
    },
}

impl Objects {
    /// Its name. One that was made of its class and a number gets its text here.
    #[inline]
    pub fn name(&self, object: ObjectHandle) -> Option<Name> {
        let store = self.store.borrow();
        let label = store.slots.get(object)?.label;
        Some(store.naming.name(&self.names, label))
    }

    /// An object as shown to people: `Game.Cube (Cube_1)`, or its handle when it is gone. Nothing is looked up before
    /// it is written.
    #[inline]
    pub fn shown(&self, object: ObjectHandle) -> Shown<'_> {
        Shown { objects: self, object }
    }

    /// The object that lies in `outer` under that name; in nothing, for none. Takes no longer the more there are.
    #[inline]
    pub fn find(&self, outer: ObjectHandle, name: &str) -> Option<ObjectHandle> {
        self.store.borrow().find(self, outer, name)
    }

    /// Gives an object another name and another place; one of them may be what it was. References to it stay as they
    /// are, while paths to it, and to what lies in it, change.
    ///
    /// # Errors
    /// [`RenameError`] says why not; nothing has changed then.
    pub fn rename(&self, object: ObjectHandle, name: &str, outer: ObjectHandle) -> Result<(), RenameError> {
        if let Some(problem) = name_problem(name, outer.is_none()) {
            return Err(RenameError::BadName { object, name: name.into(), problem });
        }
        self.may_move(object, name, outer)?;
        self.put(object, self.names.intern(name), outer)
    }

    /// Puts an object where it lies, under its name: a world that is loaded has made it before what it lies in.
    ///
    /// # Errors
    /// [`RenameError::Stale`] when it is gone.
    #[inline]
    pub fn move_to(&self, object: ObjectHandle, outer: ObjectHandle) -> Result<(), RenameError> {
        let name = self.name(object).ok_or(RenameError::Stale { handle: object })?;
        self.put(object, name, outer)
    }

    fn put(&self, object: ObjectHandle, name: Name, outer: ObjectHandle) -> Result<(), RenameError> {
        let mut store = self.store.borrow_mut();
        let Store { slots, naming, .. } = &mut *store;
        let Some(tenant) = slots.get_mut(object) else { return Err(RenameError::Stale { handle: object }) };
        naming.give_back(&self.names, tenant.label, tenant.outer, object);
        tenant.label = naming.give(&self.names, name, outer, object);
        tenant.outer = outer;
        slots.show(object.index());
        self.look_again(object);
        Ok(())
    }

    fn may_move(&self, object: ObjectHandle, name: &str, outer: ObjectHandle) -> Result<(), RenameError> {
        let fixed = |what| Err(RenameError::Fixed { object, what });
        let flags = self.flags(object).ok_or(RenameError::Stale { handle: object })?;
        if flags & (object_flags::CDO | object_flags::IN_CDO) != 0 {
            return fixed("a class default object or a part of one");
        }
        if flags & object_flags::SUBOBJECT != 0 {
            return fixed("a default subobject");
        }
        if !outer.is_none() && !self.is_alive(outer) {
            return Err(RenameError::Stale { handle: outer });
        }
        if self.predates_shadow(object) {
            return Err(RenameError::DuringReload { object });
        }
        // No object lies in itself, so this ends.
        let mut around = std::iter::successors(Some(outer), |around| self.outer(*around));
        if around.any(|around| around == object) {
            return Err(RenameError::Circle { object, outer });
        }
        match self.find(outer, name).filter(|holder| *holder != object) {
            Some(holder) => Err(RenameError::Taken { object, name: name.into(), holder }),
            None => Ok(()),
        }
    }
}

impl Store {
    fn find(&self, objects: &Objects, outer: ObjectHandle, name: &str) -> Option<ObjectHandle> {
        let lies_there = |object: &ObjectHandle| self.slots.get(*object).is_some_and(|tenant| tenant.outer == outer);
        self.naming.holders(&objects.names, outer, name).find(lies_there)
    }
}
