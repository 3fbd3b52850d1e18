//! Objects that a host makes: of a class by its path, or of one that it holds, because it makes many.

use std::rc::{Rc, Weak};

use crate::border::CallError;
use crate::cells::RefCell;
use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::object::birth::{BirthArgs, birth};
use crate::object::class::Class;
use crate::runtime::Runtime;

/// A class that a host makes many objects of, held instead of its path. It stands for what the path leads to when it is
/// used: after a reload that is the new class, and none while there is none. It keeps nothing alive, and another runtime
/// takes it for its own class of that path. Game thread only.
#[derive(Clone, Debug)]
pub struct ClassRef {
    path: Rc<str>,
    found: RefCell<Found>,
}

/// What the path led to, and when.
#[derive(Clone, Debug)]
struct Found {
    stamp: u64,
    class: Weak<Class>,
}

impl ClassRef {
    /// The path it was asked for by.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl Runtime {
    /// The class of this path, for [`Runtime::spawn_of`]: the path is looked up only when types have changed.
    ///
    /// # Errors
    /// When there is no such class.
    pub fn class(&self, path: &str) -> Result<ClassRef, Error> {
        let stamp = self.inner.core.world.types.stamp();
        let class = Rc::downgrade(&self.class_by_path(path)?);
        Ok(ClassRef { path: path.into(), found: RefCell::new(Found { stamp, class }) })
    }

    /// Makes an object of a class, kept until it is destroyed. A callback of [`Runtime::on_unloading`] may do so too, and
    /// what it makes lives on like all others.
    ///
    /// # Errors
    /// When there is no such class, or a step of the birth failed; nothing of the object is left then. While a reload or
    /// the like is under way.
    pub fn spawn(&self, class: &str) -> Result<ObjectHandle, Error> {
        self.spawn_in(class, ObjectHandle::NONE)
    }

    /// Makes an object inside another. What keeps it from collection is a property that refers to it, as for any object
    /// that is no root.
    ///
    /// # Errors
    /// As [`Runtime::spawn`].
    pub fn spawn_in(&self, class: &str, outer: ObjectHandle) -> Result<ObjectHandle, Error> {
        self.bear(&self.class_by_path(class)?, outer)
    }

    /// Makes an object of a class that is held, as [`Runtime::spawn`] does.
    ///
    /// # Errors
    /// As [`Runtime::spawn`]: the class may be gone since it was asked for.
    pub fn spawn_of(&self, class: &ClassRef) -> Result<ObjectHandle, Error> {
        self.spawn_of_in(class, ObjectHandle::NONE)
    }

    /// Makes an object of a class that is held, inside another, as [`Runtime::spawn_in`] does.
    ///
    /// # Errors
    /// As [`Runtime::spawn_of`].
    pub fn spawn_of_in(&self, class: &ClassRef, outer: ObjectHandle) -> Result<ObjectHandle, Error> {
        self.bear(&self.class_now(class)?, outer)
    }

    fn bear(&self, class: &Rc<Class>, outer: ObjectHandle) -> Result<ObjectHandle, Error> {
        let core = &self.inner.core;
        if !outer.is_none() && !self.is_alive(outer) {
            return Err(CallError::Stale { handle: outer }.into());
        }
        core.world.slices.allow_change(&format_args!("spawning a {}", class.path))?;
        if let Some(action) = self.inner.busy.get().filter(|_| !self.inner.loads.is_telling()) {
            return Err(Error::NotASafePoint { action: "spawning an object", frame: action.to_owned() });
        }
        let args = BirthArgs { outer, root: outer.is_none(), ..BirthArgs::default() };
        Ok(birth(&core.world, &core.plugins(), class, args)?)
    }

    fn class_now(&self, class: &ClassRef) -> Result<Rc<Class>, Error> {
        let stamp = self.inner.core.world.types.stamp();
        let known = class.found.borrow();
        if known.stamp == stamp
            && let Some(known) = known.class.upgrade()
        {
            return Ok(known);
        }
        drop(known);
        let now = self.class_by_path(&class.path)?;
        *class.found.borrow_mut() = Found { stamp, class: Rc::downgrade(&now) };
        Ok(now)
    }

    fn class_by_path(&self, path: &str) -> Result<Rc<Class>, Error> {
        let found = self.inner.core.world.types.class_by_path(path);
        found.ok_or_else(|| {
            let waiting = self.inner.core.world.objects.waiting_for(path);
            Error::UnknownClass { path: path.to_owned(), waiting }
        })
    }
}
