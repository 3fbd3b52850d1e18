//! The registry of types. By path it finds what is declared now; by number it also finds what was replaced, for as long
//! as somebody uses it. While a shadow is up, new declarations of dynamic types stand beside the old ones and are found
//! instead of them, until the shadow is committed or dropped.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::cells::RefCell;
use alcedo_base::handles::ClassId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::class::Class;
use crate::compile::{Declared, Known, check_kinds, compile};
use crate::decl::Batch;
use crate::delegates::DelegateType;
use crate::enums::EnumType;
use crate::interface::Interface;
use crate::names::Names;
use crate::origin::Origin;
use crate::refusal::DeclareError;
use crate::structs::StructType;
use crate::typing::TypeResolver;

mod redirects;

pub use redirects::OldNames;
use redirects::Redirects;

/// The types of a world. Game thread only.
#[derive(Debug, Default)]
pub struct Types {
    registry: RefCell<Registry>,
    stamp: Cell<u64>,
}

/// The shadow is down until this is dropped.
#[must_use = "the shadow is up again when this is dropped"]
#[derive(Debug)]
pub struct Lowered<'a>(&'a Types);

impl Drop for Lowered<'_> {
    fn drop(&mut self) {
        self.0.has_changed();
        let mut registry = self.0.registry.borrow_mut();
        registry.shadow = registry.lowered.take();
    }
}

/// The stamp given out last. Every registry of the process takes its stamps from here, so that none has another's.
static LAST_STAMP: AtomicU64 = AtomicU64::new(0);

#[derive(Debug, Default)]
struct Registry {
    packages: BTreeSet<Rc<str>>,
    last_id: u32,
    /// Every class that is not forgotten, in order of declaration.
    by_id: BTreeMap<ClassId, Rc<Class>>,
    live: Table,
    shadow: Option<Shadow>,
    /// The shadow, while it is lowered.
    lowered: Option<Shadow>,
}

/// Types of one kind, by their paths.
type Paths<T> = FxHashMap<Rc<str>, Rc<T>>;

#[derive(Debug, Default)]
struct Table {
    classes: Paths<Class>,
    enums: Paths<EnumType>,
    delegates: Paths<DelegateType>,
    structs: Paths<StructType>,
    interfaces: Paths<Interface>,
    redirects: Redirects,
}

#[derive(Debug, Default)]
struct Shadow {
    table: Table,
    hidden: FxHashSet<Rc<str>>,
}

impl Types {
    /// A registry without packages.
    pub fn new() -> Self {
        Self::default()
    }

    /// As long as this is the same, every path leads where it did. No two registries ever say the same, but for new ones,
    /// in which no path leads anywhere.
    #[inline]
    pub fn stamp(&self) -> u64 {
        self.stamp.get()
    }

    /// Paths may lead elsewhere from now on.
    fn has_changed(&self) {
        self.stamp.set(LAST_STAMP.fetch_add(1, Ordering::Relaxed) + 1);
    }

    /// Makes a package known, so that types can be declared in it. Doing so again changes nothing.
    #[inline]
    pub fn declare_package(&self, name: &str) {
        self.registry.borrow_mut().packages.insert(name.into());
    }

    /// Whether that package is declared in the host.
    #[cfg(test)]
    pub(crate) fn has_package(&self, name: &str) -> bool {
        self.registry.borrow().packages.contains(name)
    }

    /// Checks that this host defines the kinds of all properties and parameters of a batch, as [`Types::declare`] does first.
    ///
    /// # Errors
    /// Returns [`DeclareError::UnknownKind`] with the first other member.
    pub fn check_kinds(batch: &Batch) -> Result<(), DeclareError> {
        check_kinds(batch)
    }

    /// Declares all types of a batch, or none, with redirects from the earlier names that the batch lists. Runs no code of theirs.
    ///
    /// # Errors
    /// [`DeclareError`] for the first declaration that cannot be; the registry is as it was.
    pub fn declare(&self, names: &Names, batch: &Batch) -> Result<Declared, DeclareError> {
        self.has_changed();
        let mut registry = self.registry.borrow_mut();
        let first = ClassId(registry.last_id + 1);
        let declared = compile(names, &*registry, batch, first)?;
        registry.last_id += declared.classes.len() as u32;
        registry.by_id.extend(declared.classes.iter().map(|class| (class.id, class.clone())));
        let table = registry.open_table();
        table.interfaces.extend(declared.interfaces.iter().map(|found| (found.path.clone(), found.clone())));
        table.enums.extend(declared.enums.iter().map(|found| (found.path.clone(), found.clone())));
        table.delegates.extend(declared.delegates.iter().map(|found| (found.path.clone(), found.clone())));
        table.structs.extend(declared.structs.iter().map(|structure| (structure.path.clone(), structure.clone())));
        table.classes.extend(declared.classes.iter().map(|class| (class.path.clone(), class.clone())));
        table.redirects.add_renames(batch);
        Ok(declared)
    }

    /// The class of that number, replaced ones included.
    #[inline]
    pub fn class(&self, id: ClassId) -> Option<Rc<Class>> {
        self.registry.borrow().by_id.get(&id).cloned()
    }

    /// The class of that path now.
    #[inline]
    pub fn class_by_path(&self, path: &str) -> Option<Rc<Class>> {
        self.registry.borrow().class(path)
    }

    /// The struct of that path now.
    #[inline]
    pub fn struct_by_path(&self, path: &str) -> Option<Rc<StructType>> {
        self.registry.borrow().structure(path)
    }

    /// The enum of that path now.
    #[inline]
    pub fn enum_by_path(&self, path: &str) -> Option<Rc<EnumType>> {
        self.registry.borrow().enumeration(path)
    }

    /// The delegate of that path now.
    #[inline]
    pub fn delegate_by_path(&self, path: &str) -> Option<Rc<DelegateType>> {
        self.registry.borrow().delegate(path)
    }

    /// The interface of that path now.
    #[inline]
    pub fn interface_by_path(&self, path: &str) -> Option<Rc<Interface>> {
        self.registry.borrow().interface(path)
    }

    /// All classes that can be found by path now, in order of declaration, so a base before what is derived from it.
    #[inline]
    pub fn classes(&self) -> Vec<Rc<Class>> {
        let registry = self.registry.borrow();
        let found = |class: &&Rc<Class>| {
            registry.visible(|table| &table.classes, &class.path).is_some_and(|seen| Rc::ptr_eq(seen, class))
        };
        registry.by_id.values().filter(found).cloned().collect()
    }

    /// All structs that can be found by path now, in order of their paths.
    #[inline]
    pub fn structs(&self) -> Vec<Rc<StructType>> {
        self.registry.borrow().all(|table| &table.structs)
    }

    /// All enums that can be found by path now, in order of their paths.
    #[inline]
    pub fn enums(&self) -> Vec<Rc<EnumType>> {
        self.registry.borrow().all(|table| &table.enums)
    }

    /// All delegates with a name that can be found by path now, in order of their paths.
    #[inline]
    pub fn delegates(&self) -> Vec<Rc<DelegateType>> {
        self.registry.borrow().all(|table| &table.delegates)
    }

    /// All interfaces that can be found by path now, in order of their paths.
    #[inline]
    pub fn interfaces(&self) -> Vec<Rc<Interface>> {
        self.registry.borrow().all(|table| &table.interfaces)
    }

    /// All classes that are not forgotten, replaced ones included, in order of declaration.
    #[inline]
    pub fn all_classes(&self) -> Vec<Rc<Class>> {
        self.registry.borrow().by_id.values().cloned().collect()
    }

    /// Puts a shadow up.
    ///
    /// # Panics
    /// When one is up already.
    #[inline]
    pub fn begin_shadow(&self) {
        self.has_changed();
        let mut registry = self.registry.borrow_mut();
        assert!(registry.shadow.is_none(), "one shadow of types at a time");
        registry.shadow = Some(Shadow::default());
    }

    /// Takes the shadow down until what is given back is dropped: meanwhile every path leads where it did before it, and
    /// what is declared is declared for good.
    ///
    /// # Panics
    /// When no shadow is up.
    pub fn lower_shadow(&self) -> Lowered<'_> {
        self.has_changed();
        let mut registry = self.registry.borrow_mut();
        let shadow = registry.shadow.take().expect("a shadow is lowered after it was begun");
        registry.lowered = Some(shadow);
        Lowered(self)
    }

    /// While the shadow is up, the dynamic types of these paths are not found, unless they are declared anew in it. They
    /// are gone when it is committed.
    ///
    /// # Panics
    /// When no shadow is up.
    pub fn hide_in_shadow<'a>(&self, paths: impl IntoIterator<Item = &'a str>) {
        self.has_changed();
        let mut registry = self.registry.borrow_mut();
        let Registry { live, shadow, .. } = &mut *registry;
        let shadow = shadow.as_mut().expect("types are hidden in a shadow");
        shadow.hidden.extend(paths.into_iter().filter(|path| live.origin(path) != Some(Origin::Native)).map(Rc::from));
    }

    /// What the shadow declares becomes what is there. The classes it replaced or hid, in order of declaration: they
    /// are still found by number. Cannot fail.
    ///
    /// # Panics
    /// When no shadow is up.
    pub fn commit_shadow(&self) -> Vec<Rc<Class>> {
        self.has_changed();
        let mut registry = self.registry.borrow_mut();
        let Shadow { table, hidden } = registry.shadow.take().expect("a shadow is committed after it was begun");
        let mut replaced = Vec::new();
        let declared = table.classes.keys().chain(table.structs.keys()).chain(table.interfaces.keys());
        let declared = declared.chain(table.enums.keys()).chain(table.delegates.keys());
        for path in hidden.iter().chain(declared) {
            replaced.extend(registry.live.classes.remove(path));
            registry.live.enums.remove(path);
            registry.live.delegates.remove(path);
            registry.live.structs.remove(path);
            registry.live.interfaces.remove(path);
        }
        registry.live.interfaces.extend(table.interfaces);
        registry.live.classes.extend(table.classes);
        registry.live.enums.extend(table.enums);
        registry.live.delegates.extend(table.delegates);
        registry.live.structs.extend(table.structs);
        registry.live.redirects.extend(table.redirects);
        replaced.sort_by_key(|class| class.id);
        replaced
    }

    /// Everything is found as before the shadow. The classes it had declared, now forgotten, in order of declaration.
    ///
    /// # Panics
    /// When no shadow is up.
    pub fn drop_shadow(&self) -> Vec<Rc<Class>> {
        self.has_changed();
        let mut registry = self.registry.borrow_mut();
        let shadow = registry.shadow.take().expect("a shadow is dropped after it was begun");
        let mut dropped: Vec<_> = shadow.table.classes.into_values().collect();
        dropped.sort_by_key(|class| class.id);
        for class in &dropped {
            registry.by_id.remove(&class.id);
        }
        dropped
    }

    /// Forgets a class that was replaced, when its last user is gone. One that can be found by path stays.
    pub fn forget(&self, id: ClassId) {
        let mut registry = self.registry.borrow_mut();
        let Some(class) = registry.by_id.get(&id) else { return };
        let tables = [Some(&registry.live), registry.shadow.as_ref().map(|shadow| &shadow.table)];
        let is_current = |table: &Table| table.classes.get(&class.path).is_some_and(|found| found.id == id);
        if !tables.into_iter().flatten().any(is_current) {
            registry.by_id.remove(&id);
        }
    }
}

/// The types that are found by path now.
impl TypeResolver for Types {
    fn structure(&self, path: &str) -> Option<Rc<StructType>> {
        self.struct_by_path(path)
    }

    fn enumeration(&self, path: &str) -> Option<Rc<EnumType>> {
        self.enum_by_path(path)
    }

    fn delegate_words(&self, path: &str) -> Option<(PropertyKind, Rc<str>)> {
        self.delegate_by_path(path).map(|found| (found.kind, Rc::clone(&found.words)))
    }

    fn knows_class(&self, path: &str) -> bool {
        self.class_by_path(path).is_some()
    }

    fn knows_interface(&self, path: &str) -> bool {
        self.interface_by_path(path).is_some()
    }
}

impl Registry {
    /// Where declarations go now.
    fn open_table(&mut self) -> &mut Table {
        match &mut self.shadow {
            Some(shadow) => &mut shadow.table,
            None => &mut self.live,
        }
    }

    /// Returns the type of a kind that is found by that path now.
    fn visible<T>(&self, kind: impl Fn(&Table) -> &Paths<T>, path: &str) -> Option<&Rc<T>> {
        let live = || kind(&self.live).get(path);
        match &self.shadow {
            Some(shadow) => kind(&shadow.table).get(path).or_else(|| live().filter(|_| shadow.shows(path))),
            None => live(),
        }
    }

    /// Returns all types of a kind that are found by path now, in order of their paths.
    fn all<T>(&self, kind: impl Fn(&Table) -> &Paths<T>) -> Vec<Rc<T>> {
        let shadow = self.shadow.iter().flat_map(|shadow| kind(&shadow.table).keys());
        let paths: BTreeSet<_> = kind(&self.live).keys().chain(shadow).collect();
        paths.into_iter().filter_map(|path| self.visible(&kind, path).cloned()).collect()
    }
}

impl Shadow {
    /// Whether what was there before is found through the shadow.
    fn shows(&self, path: &str) -> bool {
        !self.hidden.contains(path) && self.table.origin(path).is_none()
    }
}

impl Table {
    fn origin(&self, path: &str) -> Option<Origin> {
        let class = self.classes.get(path).map(|class| class.origin);
        let structure = || self.structs.get(path).map(|structure| structure.origin);
        let enumeration = || self.enums.get(path).map(|found| found.origin);
        let delegate = || self.delegates.get(path).map(|found| found.origin);
        class
            .or_else(structure)
            .or_else(enumeration)
            .or_else(delegate)
            .or_else(|| self.interfaces.get(path).map(|interface| interface.origin))
    }
}

impl Known for Registry {
    fn packages(&self) -> Vec<Rc<str>> {
        self.packages.iter().cloned().collect()
    }

    fn class(&self, path: &str) -> Option<Rc<Class>> {
        self.lead(path, |path| self.visible(|table| &table.classes, path).cloned())
    }

    fn structure(&self, path: &str) -> Option<Rc<StructType>> {
        self.lead(path, |path| self.visible(|table| &table.structs, path).cloned())
    }

    fn enumeration(&self, path: &str) -> Option<Rc<EnumType>> {
        self.lead(path, |path| self.visible(|table| &table.enums, path).cloned())
    }

    fn delegate(&self, path: &str) -> Option<Rc<DelegateType>> {
        self.lead(path, |path| self.visible(|table| &table.delegates, path).cloned())
    }

    fn interface(&self, path: &str) -> Option<Rc<Interface>> {
        self.lead(path, |path| self.visible(|table| &table.interfaces, path).cloned())
    }

    fn is_free(&self, path: &str) -> bool {
        match &self.shadow {
            Some(shadow) => {
                shadow.table.origin(path).is_none()
                    && (self.live.origin(path).is_none() || shadow.hidden.contains(path))
            }
            None => self.live.origin(path).is_none(),
        }
    }
}

#[cfg(test)]
mod tests;
