//! Names and outers of objects. Looks up objects by name and outer.

use std::fmt;
use std::rc::Rc;

use alcedo_abi::kinds::class_flags;
use alcedo_base::boundary::CallError;
use alcedo_base::escape::line;
use alcedo_base::handles::{Name, ObjectHandle};
use thiserror::Error;

use crate::class::Class;
use crate::names::{Names, PartName};
use crate::naming::{GeneratedName, Label, Naming, name_problem};
use crate::objects::{Objects, Part, PartNames, Store, object_flags};
use crate::slots::Tenant;

/// Formats an object for messages. Created by [`Objects::display`].
#[derive(Clone, Copy)]
pub struct ObjectDisplay<'a> {
    objects: &'a Objects,
    object: ObjectHandle,
}

impl fmt::Display for ObjectDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.objects.class(self.object), self.objects.name(self.object)) {
            (Some(class), Some(name)) => {
                write!(f, "{} ({})", class.short_path(), line(&self.objects.names.text(name)))
            }
            _ => write!(f, "{}, which is gone", self.object),
        }
    }
}

/// Reason why an object cannot be renamed or moved.
///
/// # Examples
/// ```
/// use alcedo_base::handles::ObjectHandle;
/// use alcedo_reflect::objects::RenameError;
///
/// fn hint(error: &RenameError) -> String {
///     match error {
///         RenameError::InUse { name, .. } => format!("`{name}` is taken: add a number"),
///         other => other.to_string(),
///     }
/// }
/// let (object, holder) = (ObjectHandle::new(1, 1), ObjectHandle::new(2, 1));
/// assert_eq!(hint(&RenameError::InUse { object, name: "Gate".into(), holder }), "`Gate` is taken: add a number");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum RenameError {
    /// The object or the new outer does not exist.
    #[error("{handle} is gone: it can be neither renamed nor the outer of an object")]
    Stale {
        /// Handle of the missing object.
        handle: ObjectHandle,
    },
    /// The name is already used in the outer.
    #[error(
        "{object} cannot be called `{name}`: {holder} in the same outer already has this name; choose another name, or \
         rename {holder} first"
    )]
    InUse {
        /// Object to rename.
        object: ObjectHandle,
        /// Requested name.
        name: Rc<str>,
        /// Object that already has the name.
        holder: ObjectHandle,
    },
    /// The new outer is the object itself or is inside the object.
    #[error("{object} cannot be moved into {outer}, which is the same object or inside it: move {outer} out first")]
    Circle {
        /// Object to move.
        object: ObjectHandle,
        /// Requested outer.
        outer: ObjectHandle,
    },
    /// The new outer is a class default object or a part of one. A reload replaces these objects.
    #[error(
        "{object} cannot be moved into {outer}, a class default object or a part of one, which contains only default subobjects: move it \
         into an object of the class"
    )]
    Template {
        /// Object to move.
        object: ObjectHandle,
        /// Requested outer.
        outer: ObjectHandle,
    },
    /// The class of the object is contextual, so the object requires an outer.
    #[error("{object} cannot leave its outer, because its class is contextual: move it into another object")]
    Contextual {
        /// Object to move.
        object: ObjectHandle,
    },
    /// The object is a class default object or a default subobject.
    #[error("{object} is {what}, which cannot be moved or renamed: create an object of your own instead")]
    Fixed {
        /// Object to rename.
        object: ObjectHandle,
        /// Description of the object for the message.
        what: &'static str,
    },
    /// The name is not allowed.
    #[error("{object} cannot be called \"{}\": {problem}", line(name))]
    BadName {
        /// Object to rename.
        object: ObjectHandle,
        /// Requested name.
        name: Rc<str>,
        /// Reason why the name is not allowed.
        problem: &'static str,
    },
    /// A reload is in progress, and its rollback could not undo the change.
    #[error("{object} keeps its name while a reload is in progress: rename it afterwards")]
    DuringReload {
        /// Object to rename.
        object: ObjectHandle,
    },
}

impl Objects {
    /// Returns the name of the object. If the name is a generated name, creates its text.
    #[inline]
    pub fn name(&self, object: ObjectHandle) -> Option<Name> {
        let store = self.store.borrow();
        let label = store.slots.get(object)?.label;
        Some(store.naming.name(&self.names, label))
    }

    /// Returns the generated name of the object if the name is allowed and no other object has this name. Interns no name.
    pub fn unique_name(&self, object: ObjectHandle) -> Option<GeneratedName> {
        let store = self.store.borrow();
        store.naming.unique(store.slots.get(object)?.label)
    }

    /// Variant of [`Objects::allocate_as`] for an object without an outer that a load creates in a shadow. If `name` has the form of a
    /// generated name, the object receives `name` as its generated name, if possible. A name that a different object of the load has, or an
    /// older object inside an outer, remains an explicit name. `room` is the number of generated names that the load may still add.
    pub fn allocate_saved(&self, class: &Rc<Class>, name: &str, constructed: usize, room: &mut usize) -> ObjectHandle {
        let mut store = self.store.borrow_mut();
        let Some(claimed) = store.claimable(name, room) else {
            drop(store);
            return self.allocate_as(class, Some(self.names.intern(name)), ObjectHandle::NONE, 0, constructed);
        };
        let label = |naming: &mut Naming, object| naming.claim(claimed, object);
        let object = store.create(class, ObjectHandle::NONE, 0, constructed, label);
        self.with_marker(|marker| marker.add_created(object));
        object
    }

    /// Separates an old object that is still alive after a load from a loaded object with an equal name. If a search by this name does not
    /// find `old`, the name of `old` becomes an explicit name, so that no spawned object receives the name. The name of the found object
    /// then also becomes explicit, and a search still finds this object first. A save renames one of the objects. Has no effect on an
    /// object in an outer.
    pub fn separate_name(&self, old: ObjectHandle) {
        let Some(name) = self.name(old).filter(|_| self.outer(old) == Some(ObjectHandle::NONE)) else { return };
        let found = self.find(ObjectHandle::NONE, &self.names.text(name));
        if found == Some(old) {
            return;
        }
        for object in std::iter::once(old).chain(found) {
            let _moved = self.move_to(object, ObjectHandle::NONE);
        }
    }

    /// Replaces `text` by a generated name.
    pub fn write_name(&self, name: GeneratedName, text: &mut String) {
        text.clear();
        self.store.borrow().naming.write(name, text);
    }

    /// Formats an object for messages: `Game.Cube (Cube_1)`. If the object does not exist, formats the handle. The text is created only
    /// when the result is formatted.
    #[inline]
    pub fn display(&self, object: ObjectHandle) -> ObjectDisplay<'_> {
        ObjectDisplay { objects: self, object }
    }

    /// Returns the object with that name in `outer`, in constant time. If `outer` is none, searches the objects without an outer.
    #[inline]
    pub fn find(&self, outer: ObjectHandle, name: &str) -> Option<ObjectHandle> {
        self.store.borrow().find(self, outer, name)
    }

    /// Renames an object and moves the object to `outer`. References remain valid. The paths of the object and of all objects inside the
    /// object change.
    ///
    /// # Errors
    /// Returns [`RenameError`] with the reason. The object is then unchanged.
    pub fn rename(&self, object: ObjectHandle, name: &str, outer: ObjectHandle) -> Result<(), RenameError> {
        if let Some(problem) = name_problem(name, outer.is_none()) {
            return Err(RenameError::BadName { object, name: name.into(), problem });
        }
        self.may_move(object, name, outer)?;
        self.put(object, self.names.intern(name), outer)
    }

    /// Moves an object to `outer` without checks. The object keeps its name. Used while a world is loaded, because loading creates objects
    /// before their outers.
    ///
    /// # Errors
    /// Returns [`RenameError::Stale`] if the object does not exist.
    #[inline]
    pub fn move_to(&self, object: ObjectHandle, outer: ObjectHandle) -> Result<(), RenameError> {
        let name = self.name(object).ok_or(RenameError::Stale { handle: object })?;
        self.put(object, name, outer)
    }

    fn put(&self, object: ObjectHandle, name: Name, outer: ObjectHandle) -> Result<(), RenameError> {
        let mut store = self.store.borrow_mut();
        let Store { slots, naming, .. } = &mut *store;
        let Some(tenant) = slots.get_mut(object) else { return Err(RenameError::Stale { handle: object }) };
        naming.release(tenant.label, tenant.outer, object);
        tenant.label = naming.assign(&self.names, name, outer, object);
        tenant.outer = outer;
        slots.show(object.index());
        self.rescan(object);
        Ok(())
    }

    /// Checks that code may create an object of `class` in `outer`.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if `outer` is destroyed. Returns an error if `outer` is a class default object or a part of one, which a
    /// reload replaces.
    #[inline]
    pub fn may_contain(&self, outer: ObjectHandle, class: &Class) -> Result<(), CallError> {
        if outer.is_none() { Ok(()) } else { self.check_outer(outer, class) }
    }

    fn check_outer(&self, outer: ObjectHandle, class: &Class) -> Result<(), CallError> {
        match self.inspect(outer, Tenant::is_template) {
            None => Err(CallError::Stale { handle: outer }),
            Some(true) => Err(CallError::other(format!(
                "a {} cannot be created in {}, a class default object or a part of one, which contains only default subobjects: \
                 create it in an object of the class, or declare a default subobject",
                class.short_path(),
                self.display(outer)
            ))),
            Some(false) => Ok(()),
        }
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
        if self.is_template(outer) {
            return Err(RenameError::Template { object, outer });
        }
        // An object whose outer was destroyed can still be renamed.
        let has_outer = || self.outer(object).is_some_and(|outer| self.is_alive(outer));
        let is_contextual = || self.class(object).is_some_and(|class| class.flags & class_flags::CONTEXTUAL != 0);
        if outer.is_none() && has_outer() && is_contextual() {
            return Err(RenameError::Contextual { object });
        }
        if self.predates_shadow(object) {
            return Err(RenameError::DuringReload { object });
        }
        // The iteration terminates, because no object is inside itself.
        let mut around = std::iter::successors(Some(outer), |around| self.outer(*around));
        if around.any(|around| around == object) {
            return Err(RenameError::Circle { object, outer });
        }
        let holder = self.find(outer, name).filter(|holder| *holder != object);
        holder.map_or(Ok(()), |holder| Err(RenameError::InUse { object, name: name.into(), holder }))
    }
}

impl Store {
    /// Returns the generated name `text`, if a loaded object without an outer can claim this name. The previous holder must be an older
    /// object without an outer, because a search by name finds only the new holder. A rollback restores the previous holder.
    fn claimable(&mut self, text: &str, room: &mut usize) -> Option<GeneratedName> {
        let Self { slots, naming, shadow, .. } = self;
        let shadow = shadow.as_mut()?;
        let (name, holder) = naming.claimable(text, room)?;
        if let Some(holder) = holder {
            let older = slots.get(slots.handle(holder))?;
            if older.construction > shadow.first_construction || !older.outer.is_none() {
                return None;
            }
            shadow.claimed.push((name, holder));
        }
        Some(name)
    }

    /// Renames a default subobject, and its entry in the list of its owner. Returns the previous names. Returns `None` if the owner or the
    /// subobject does not exist, or if the owner does not list the subobject.
    pub(super) fn rename_part(
        &mut self,
        names: &Names,
        (owner, part): Part,
        (listed, name): PartNames,
    ) -> Option<PartNames> {
        let Self { slots, naming, .. } = self;
        let before = slots.any_mut(owner)?.subobjects.rename(part, listed)?;
        let tenant = slots.any_mut(part)?;
        let before = (before, naming.name(names, tenant.label));
        naming.release(tenant.label, tenant.outer, part);
        tenant.label = match listed == name {
            true => naming.assign_part(names, PartName::of(names, &names.text(name)), tenant.outer, part),
            false => naming.assign(names, name, tenant.outer, part),
        };
        Some(before)
    }

    fn find(&self, objects: &Objects, outer: ObjectHandle, name: &str) -> Option<ObjectHandle> {
        let is_inside = |object: &ObjectHandle| self.slots.get(*object).is_some_and(|tenant| tenant.outer == outer);
        let is_labeled = |(known, part): &(Name, ObjectHandle)| {
            self.slots.get(*part).is_some_and(|tenant| tenant.label == Label::Part(*known) && tenant.outer == outer)
        };
        let mut parts = self.slots.get(outer).into_iter().flat_map(|owner| owner.subobjects.iter().rev());
        let part = parts.find(|part| objects.names.has_text(part.0, name) && is_labeled(part));
        let holders = || self.naming.holders(&objects.names, outer, name, |index| self.slots.handle(index));
        part.map(|(_, part)| part).or_else(|| holders().find(is_inside))
    }
}
