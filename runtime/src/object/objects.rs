//! The object store: which objects there are, and what each is made of. While a shadow is up, a reload puts new bodies
//! beside the old ones; then either all new ones are swapped in or all old ones are as they were.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use crate::border::CallError;
use crate::handles::{Name, ObjectHandle};
use crate::object::class::Class;
use crate::object::mode::ModeWord;
use crate::object::names::Names;
use crate::object::naming::Naming;
use crate::object::property::Property;
use crate::object::slots::{Life, Slots, Tenant};
use crate::object::storage::{Storage, View};
use crate::object::typed::FrameValue;
use crate::object::value::Value;

/// Flag bits of objects.
pub(crate) mod object_flags {
    /// The class default object of its class.
    pub(crate) const CDO: u32 = 1;
    /// A subobject, directly or not, of a CDO.
    pub(crate) const IN_CDO: u32 = 1 << 1;
    /// Made together with its outer.
    pub(crate) const SUBOBJECT: u32 = 1 << 2;
}

/// What an object is made of: its class, its memory, its conjugate. Dropping it destroys the properties and frees the
/// memory.
#[derive(Debug)]
pub struct Body {
    class: Rc<Class>,
    storage: Storage,
    /// A number that means nothing here; higher floors say which conjugate it is. Zero is none.
    pub conjugate: u64,
}

/// The objects of a world. Game thread only; no method calls foreign code.
#[derive(Debug)]
pub struct Objects {
    store: RefCell<Store>,
    mode: ModeWord,
}

#[derive(Debug)]
struct Store {
    slots: Slots,
    births: u64,
    roots: HashSet<ObjectHandle>,
    naming: Naming,
    /// Bodies of objects that ended since the last safe point: a plugin's view may still point into them.
    graveyard: Vec<Body>,
    shadow: Option<Shadow>,
}

#[derive(Debug)]
struct Shadow {
    /// Objects with a later birth were born in the shadow.
    first_birth: u64,
    staged: Vec<ObjectHandle>,
    gone: Vec<ObjectHandle>,
    /// Empty, with room for every staged object, so that the commit need not allocate.
    old: Vec<Body>,
}

impl Body {
    /// A body of that class, all properties at zero, without conjugate.
    pub fn new(class: &Rc<Class>) -> Self {
        Self { class: class.clone(), storage: Storage::new(class.schema().clone()), conjugate: 0 }
    }

    /// Its class.
    pub fn class(&self) -> &Rc<Class> {
        &self.class
    }

    /// Its properties.
    pub fn view(&self) -> View<'_> {
        self.storage.view()
    }

    /// Its first byte. Valid until the body is dropped.
    pub fn memory(&self) -> *mut u8 {
        self.storage.view().start()
    }
}

impl Objects {
    /// An empty store, whose writes test `mode`.
    pub fn new(mode: ModeWord) -> Self {
        Self::with_last_serial(mode, u32::MAX)
    }

    fn with_last_serial(mode: ModeWord, last_serial: u32) -> Self {
        let store = Store {
            slots: Slots::new(last_serial),
            births: 0,
            roots: HashSet::new(),
            naming: Naming::default(),
            graveyard: Vec::new(),
            shadow: None,
        };
        Self { store: RefCell::new(store), mode }
    }

    /// A new object, all properties at zero. Without a name it gets one that no other object has: `MagicCube_17`.
    pub(crate) fn allocate(
        &self,
        names: &Names,
        class: &Rc<Class>,
        name: Option<Name>,
        outer: ObjectHandle,
        flags: u32,
    ) -> ObjectHandle {
        let body = Body::new(class);
        let mut store = self.store.borrow_mut();
        let (name, generated) = match name {
            Some(name) => (name, None),
            None => {
                let (name, number) = store.naming.generate(names, &class.name);
                (name, Some((class.name.clone(), number)))
            }
        };
        store.naming.take(name);
        store.births += 1;
        let birth = store.births;
        store.slots.insert(Tenant {
            body,
            staged: None,
            life: Life::Alive,
            outer,
            name,
            generated,
            flags,
            birth,
            constructed: 0,
            subobjects: Vec::new(),
        })
    }

    /// Whether the handle names an object that is there.
    pub fn is_alive(&self, object: ObjectHandle) -> bool {
        self.ask(object, |_| ()).is_some()
    }

    /// Its class.
    pub fn class(&self, object: ObjectHandle) -> Option<Rc<Class>> {
        self.ask(object, |tenant| tenant.seen().class.clone())
    }

    /// Its first byte. Valid until the object ended and the safe point after that has come, or its body was replaced.
    pub fn memory(&self, object: ObjectHandle) -> Option<*mut u8> {
        self.ask(object, |tenant| tenant.seen().memory())
    }

    /// Its conjugate's number; zero is none.
    pub fn conjugate(&self, object: ObjectHandle) -> Option<u64> {
        self.ask(object, |tenant| tenant.seen().conjugate)
    }

    /// Gives it a conjugate's number. Whether the object is there.
    pub(crate) fn set_conjugate(&self, object: ObjectHandle, conjugate: u64) -> bool {
        self.change(object, |tenant| tenant.seen_mut().conjugate = conjugate).is_some()
    }

    /// The object it lies in, or none.
    pub fn outer(&self, object: ObjectHandle) -> Option<ObjectHandle> {
        self.ask(object, |tenant| tenant.outer)
    }

    /// Bits of [`object_flags`].
    pub fn flags(&self, object: ObjectHandle) -> Option<u32> {
        self.ask(object, |tenant| tenant.flags)
    }

    /// Whether it is a class default object or lies in one.
    pub fn is_template(&self, object: ObjectHandle) -> bool {
        self.flags(object).unwrap_or_default() & (object_flags::CDO | object_flags::IN_CDO) != 0
    }

    /// Its name.
    pub fn name(&self, object: ObjectHandle) -> Option<Name> {
        self.ask(object, |tenant| tenant.name)
    }

    /// Gives it another name, which others may have too. Whether the object is there.
    pub fn rename(&self, object: ObjectHandle, name: Name) -> bool {
        let mut store = self.store.borrow_mut();
        let Store { slots, naming, .. } = &mut *store;
        let Some(tenant) = slots.get_mut(object) else { return false };
        naming.give_back(tenant.name, tenant.generated.take());
        naming.take(name);
        tenant.name = name;
        true
    }

    /// Its default subobjects that are there, in order of creation.
    pub fn children(&self, object: ObjectHandle) -> Vec<ObjectHandle> {
        let store = self.store.borrow();
        let children = store.slots.get(object).into_iter().flat_map(|tenant| &tenant.subobjects);
        children.map(|(_, child)| *child).filter(|child| store.slots.get(*child).is_some()).collect()
    }

    /// Its default subobject of that name.
    pub fn subobject(&self, object: ObjectHandle, name: &str) -> Option<ObjectHandle> {
        let store = self.store.borrow();
        let named = store.slots.get(object)?.subobjects.iter().filter(|(known, _)| **known == *name);
        named.map(|(_, child)| *child).rfind(|child| store.slots.get(*child).is_some())
    }

    /// All objects, CDOs too, in order of creation.
    pub fn alive(&self) -> Vec<ObjectHandle> {
        let store = self.store.borrow();
        let mut alive: Vec<_> = store.slots.iter().map(|(object, tenant)| (tenant.birth, object)).collect();
        alive.sort_unstable();
        alive.into_iter().map(|(_, object)| object).collect()
    }

    /// The objects that live for somebody: all but CDOs and what lies in them, in order of creation.
    pub fn living(&self) -> Vec<ObjectHandle> {
        self.alive().into_iter().filter(|object| !self.is_template(*object)).collect()
    }

    /// How many objects there are, CDOs too.
    pub fn len(&self) -> usize {
        self.store.borrow().slots.iter().count()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The object is gone: its handle is stale from now on. Its memory stays until [`Objects::free_graveyard`]. While a
    /// shadow is up, an object from before comes back if the shadow is dropped. Whether the object was there.
    pub(crate) fn release(&self, object: ObjectHandle) -> bool {
        let mut store = self.store.borrow_mut();
        let Store { slots, graveyard, shadow, .. } = &mut *store;
        let Some(tenant) = slots.get_mut(object) else { return false };
        match shadow {
            Some(shadow) if tenant.birth <= shadow.first_birth => {
                tenant.life = Life::Gone;
                graveyard.extend(tenant.staged.take());
                shadow.gone.push(object);
            }
            _ => store.free(object),
        }
        true
    }

    /// Destroys the properties of ended objects and frees their memory. At safe points only: a plugin's view may point
    /// into it until then. How many bodies there were.
    pub(crate) fn free_graveyard(&self) -> usize {
        let dead = std::mem::take(&mut self.store.borrow_mut().graveyard);
        dead.len()
    }

    /// Keeps an object, and what it refers to, from collection. Whether the object is there.
    pub fn add_root(&self, object: ObjectHandle) -> bool {
        let mut store = self.store.borrow_mut();
        let alive = store.slots.get(object).is_some();
        if alive {
            store.roots.insert(object);
        }
        alive
    }

    /// Takes an object from the root set. Whether it was in it.
    pub fn remove_root(&self, object: ObjectHandle) -> bool {
        self.store.borrow_mut().roots.remove(&object)
    }

    /// Whether an object is in the root set.
    pub fn is_root(&self, object: ObjectHandle) -> bool {
        self.store.borrow().roots.contains(&object)
    }

    /// The root set, in no order.
    pub fn roots(&self) -> Vec<ObjectHandle> {
        let store = self.store.borrow();
        store.roots.iter().copied().filter(|root| store.slots.get(*root).is_some()).collect()
    }

    /// Everything an object keeps alive: what its properties refer to, its outer, its subobjects.
    pub fn references(&self, object: ObjectHandle) -> Vec<ObjectHandle> {
        let collect = |tenant: &Tenant| {
            let mut found = tenant.seen().view().objects();
            found.push(tenant.outer);
            found.extend(tenant.subobjects.iter().map(|(_, child)| *child));
            found
        };
        self.ask(object, collect).unwrap_or_default()
    }

    /// The value of a property, by its Rust type. The property is found by its name in the object's class now, so one
    /// that was looked up before a reload still means the same.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone, [`CallError::NotFound`] when its class has no such property,
    /// [`CallError::Signature`] when it holds other values.
    pub fn get<T: FrameValue>(&self, object: ObjectHandle, property: &Property) -> Result<T, CallError> {
        self.with_property(object, &property.text, |view, property| view.get(property))
    }

    /// Overwrites the value of a property, by its Rust type.
    ///
    /// # Errors
    /// As for [`Objects::get`]; [`CallError::DuringRebuild`] when conjugates are rebuilt and it is not the object's turn.
    pub fn set<T: FrameValue>(&self, object: ObjectHandle, property: &Property, value: T) -> Result<(), CallError> {
        self.mode.may_write(object)?;
        self.with_property(object, &property.text, |view, property| view.set(property, value))
    }

    /// The value of the property of that name.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone, [`CallError::NotFound`] when its class has no such property.
    pub fn read_value(&self, object: ObjectHandle, name: &str) -> Result<Value, CallError> {
        self.with_property(object, name, |view, property| view.read(property))
    }

    /// Overwrites the value of the property of that name.
    ///
    /// # Errors
    /// As for [`Objects::set`].
    pub fn write_value(&self, object: ObjectHandle, name: &str, value: &Value) -> Result<(), CallError> {
        self.mode.may_write(object)?;
        self.write_unasked(object, name, value)
    }

    /// Shows an object's body to `look`, which must not change the store.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone.
    pub fn with_body<T>(&self, object: ObjectHandle, look: impl FnOnce(&Body) -> T) -> Result<T, CallError> {
        self.ask(object, |tenant| look(tenant.seen())).ok_or(CallError::Stale { handle: object })
    }

    fn with_property<T>(
        &self,
        object: ObjectHandle,
        name: &str,
        work: impl FnOnce(View<'_>, &Property) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        self.with_body(object, |body| match body.class.find_property(name) {
            Some(property) => work(body.view(), property),
            None => Err(CallError::NotFound {
                message: format!("{} has no property {name}: look at what the class declares", body.class.path),
            }),
        })?
    }

    fn ask<T>(&self, object: ObjectHandle, question: impl FnOnce(&Tenant) -> T) -> Option<T> {
        self.store.borrow().slots.get(object).map(question)
    }

    fn change<T>(&self, object: ObjectHandle, change: impl FnOnce(&mut Tenant) -> T) -> Option<T> {
        self.store.borrow_mut().slots.get_mut(object).map(change)
    }
}

/// What a birth does to an object; the order is `birth.rs`'s.
impl Objects {
    /// Overwrites a property without testing the mode: the object is being born.
    pub(super) fn write_unasked(&self, object: ObjectHandle, name: &str, value: &Value) -> Result<(), CallError> {
        self.with_property(object, name, |view, property| view.write(property, value))
    }

    /// Overwrites properties that both have with the values of `from`; references that stand in `pairs` become those
    /// beside them. Properties that refer to a subobject of its own keep doing so.
    pub(super) fn copy_values(
        &self,
        object: ObjectHandle,
        from: ObjectHandle,
        properties: &[Rc<Property>],
        pairs: &[(ObjectHandle, ObjectHandle)],
    ) -> Result<(), CallError> {
        let store = self.store.borrow();
        let to = store.slots.get(object).ok_or(CallError::Stale { handle: object })?;
        let from = store.slots.get(from).ok_or(CallError::Stale { handle: from })?;
        let is_own = |property: &Property| to.subobjects.iter().any(|(name, _)| *name == property.text);
        for property in properties.iter().filter(|property| !is_own(property)) {
            to.seen().view().copy_from(property, from.seen().view(), property)?;
            to.seen().view().replace_objects(property, pairs)?;
        }
        Ok(())
    }

    /// `child` is a subobject of `owner` from now on.
    pub(super) fn adopt(&self, owner: ObjectHandle, name: &Rc<str>, child: ObjectHandle) {
        self.change(owner, |tenant| tenant.subobjects.push((name.clone(), child)));
    }

    /// How many classes of its chain, from the root, have constructed it.
    pub(super) fn constructed(&self, object: ObjectHandle) -> usize {
        self.ask(object, |tenant| tenant.constructed).unwrap_or(0)
    }

    pub(super) fn set_constructed(&self, object: ObjectHandle, count: usize) {
        self.change(object, |tenant| tenant.constructed = count);
    }

    /// The object's end begins. Whether it had not begun before.
    pub(super) fn begin_end(&self, object: ObjectHandle) -> bool {
        self.change(object, |tenant| std::mem::replace(&mut tenant.life, Life::Ending) == Life::Alive) == Some(true)
    }
}

/// The shadow of a reload.
impl Objects {
    /// Puts a shadow up: from now on new bodies can be staged, and what is born or ends can be taken back.
    ///
    /// # Panics
    /// When one is up already.
    pub(crate) fn begin_shadow(&self) {
        let mut store = self.store.borrow_mut();
        assert!(store.shadow.is_none(), "one shadow of objects at a time");
        let (staged, gone, old) = Default::default();
        store.shadow = Some(Shadow { first_birth: store.births, staged, gone, old });
    }

    /// Whether a shadow is up and the object was there before it. Its end could not be taken back: its plugin half
    /// would be gone.
    pub(crate) fn predates_shadow(&self, object: ObjectHandle) -> bool {
        let store = self.store.borrow();
        let born_before = |shadow: &Shadow| store.slots.get(object).is_some_and(|it| it.birth <= shadow.first_birth);
        store.shadow.as_ref().is_some_and(born_before)
    }

    /// Gives an object a new body beside the old one, which stays untouched. Until the shadow goes, the new one is seen.
    ///
    /// # Errors
    /// [`CallError::Stale`] when the object is gone.
    ///
    /// # Panics
    /// When no shadow is up.
    pub(crate) fn stage(&self, object: ObjectHandle, body: Body) -> Result<(), CallError> {
        let mut store = self.store.borrow_mut();
        let Store { slots, graveyard, shadow, .. } = &mut *store;
        let shadow = shadow.as_mut().expect("bodies are staged in a shadow");
        let tenant = slots.get_mut(object).ok_or(CallError::Stale { handle: object })?;
        match tenant.staged.replace(body) {
            Some(earlier) => graveyard.push(earlier),
            None => {
                shadow.staged.push(object);
                shadow.old.reserve(shadow.staged.len());
            }
        }
        Ok(())
    }

    /// Swaps all staged bodies in. The old ones, with the conjugates they had. Cannot fail and calls nobody.
    ///
    /// # Panics
    /// When no shadow is up.
    pub(crate) fn commit_shadow(&self) -> Vec<Body> {
        let mut store = self.store.borrow_mut();
        let mut shadow = store.shadow.take().expect("a shadow is committed after it was begun");
        for object in shadow.staged {
            let Some(tenant) = store.slots.get_mut(object) else { continue };
            let Some(staged) = tenant.staged.take() else { continue };
            // A base that was inserted does not construct the living, so whatever the chain is now counts as done.
            tenant.constructed = staged.class.depth();
            shadow.old.push(std::mem::replace(&mut tenant.body, staged));
        }
        for object in shadow.gone {
            store.free(object);
        }
        shadow.old
    }

    /// Everything is as before the shadow, objects that ended meanwhile included. The staged bodies, and the objects
    /// born meanwhile that are still there, in order of creation: to be destroyed by the caller.
    ///
    /// # Panics
    /// When no shadow is up.
    pub(crate) fn drop_shadow(&self) -> (Vec<Body>, Vec<ObjectHandle>) {
        let mut store = self.store.borrow_mut();
        let shadow = store.shadow.take().expect("a shadow is dropped after it was begun");
        let mut staged = shadow.old;
        for object in shadow.staged {
            staged.extend(store.slots.any_mut(object).and_then(|tenant| tenant.staged.take()));
        }
        for object in shadow.gone {
            let Some(tenant) = store.slots.any_mut(object) else { continue };
            tenant.life = Life::Alive;
            if tenant.flags & object_flags::CDO != 0 {
                tenant.body.class.cdo.set(object);
            }
        }
        let born = store.slots.iter().filter(|(_, tenant)| tenant.birth > shadow.first_birth);
        let mut born: Vec<_> = born.map(|(object, tenant)| (tenant.birth, object)).collect();
        born.sort_unstable();
        (staged, born.into_iter().map(|(_, object)| object).collect())
    }
}

impl Store {
    fn free(&mut self, object: ObjectHandle) {
        let Some(tenant) = self.slots.remove(object) else { return };
        self.roots.remove(&object);
        self.naming.give_back(tenant.name, tenant.generated);
        if let Some(owner) = self.slots.any_mut(tenant.outer) {
            owner.subobjects.retain(|(_, child)| *child != object);
        }
        self.graveyard.push(tenant.body);
        self.graveyard.extend(tenant.staged);
    }
}

#[cfg(test)]
mod tests;
