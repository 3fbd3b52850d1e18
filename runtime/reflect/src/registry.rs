//! Tables of types by path: the current types, and the types of an active shadow. Lookups prefer the types of the shadow.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use alcedo_base::handles::ClassId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::class::Class;
use crate::delegates::DelegateType;
use crate::enums::EnumType;
use crate::interface::Interface;
use crate::origin::Origin;
use crate::structs::StructType;

mod redirects;

use redirects::Redirects;
pub use redirects::{CurrentNames, OldNames};

#[derive(Debug, Default)]
pub(crate) struct Registry {
    pub(crate) packages: BTreeSet<Rc<str>>,
    pub(crate) last_id: u32,
    /// All classes in order of declaration, except forgotten classes.
    pub(crate) by_id: BTreeMap<ClassId, Rc<Class>>,
    pub(crate) live: Table,
    pub(crate) shadow: Option<Shadow>,
    /// The shadow, if it is deactivated.
    pub(crate) lowered: Option<Shadow>,
}

/// Types of one category (such as structs), by path.
type Paths<T> = FxHashMap<Rc<str>, Rc<T>>;

#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) classes: Paths<Class>,
    pub(crate) enums: Paths<EnumType>,
    pub(crate) delegates: Paths<DelegateType>,
    pub(crate) structs: Paths<StructType>,
    pub(crate) interfaces: Paths<Interface>,
    pub(crate) redirects: Redirects,
}

#[derive(Debug, Default)]
pub(crate) struct Shadow {
    pub(crate) table: Table,
    pub(crate) hidden: FxHashSet<Rc<str>>,
}

impl Registry {
    /// Returns the table for new declarations.
    pub(crate) fn open_table(&mut self) -> &mut Table {
        match &mut self.shadow {
            Some(shadow) => &mut shadow.table,
            None => &mut self.live,
        }
    }

    /// Returns the current type of a category at a path. `kind` selects the category.
    pub(crate) fn visible<T>(&self, kind: impl Fn(&Table) -> &Paths<T>, path: &str) -> Option<&Rc<T>> {
        let live = || kind(&self.live).get(path);
        match &self.shadow {
            Some(shadow) => kind(&shadow.table).get(path).or_else(|| live().filter(|_| shadow.shows(path))),
            None => live(),
        }
    }

    /// Returns the class at a path that the active shadow hides.
    pub(crate) fn hidden_class(&self, path: &str) -> Option<&Rc<Class>> {
        let is_hidden = self.shadow.as_ref().is_some_and(|shadow| shadow.hidden.contains(path));
        self.live.classes.get(path).filter(|_| is_hidden)
    }

    /// Returns all current types of a category, in order of their paths. `kind` selects the category.
    pub(crate) fn all<T>(&self, kind: impl Fn(&Table) -> &Paths<T>) -> Vec<Rc<T>> {
        let shadow = self.shadow.iter().flat_map(|shadow| kind(&shadow.table).keys());
        let paths: BTreeSet<_> = kind(&self.live).keys().chain(shadow).collect();
        paths.into_iter().filter_map(|path| self.visible(&kind, path).cloned()).collect()
    }

    /// Returns the class at a path, even after a rename.
    pub(crate) fn class(&self, path: &str) -> Option<Rc<Class>> {
        self.resolve_with(path, |path| self.visible(|table| &table.classes, path).cloned())
    }

    /// Returns the struct at a path, even after a rename.
    pub(crate) fn structure(&self, path: &str) -> Option<Rc<StructType>> {
        self.resolve_with(path, |path| self.visible(|table| &table.structs, path).cloned())
    }

    /// Returns the enum at a path, even after a rename.
    pub(crate) fn enumeration(&self, path: &str) -> Option<Rc<EnumType>> {
        self.resolve_with(path, |path| self.visible(|table| &table.enums, path).cloned())
    }

    /// Returns the delegate at a path, even after a rename.
    pub(crate) fn delegate(&self, path: &str) -> Option<Rc<DelegateType>> {
        self.resolve_with(path, |path| self.visible(|table| &table.delegates, path).cloned())
    }

    /// Returns the interface at a path, even after a rename.
    pub(crate) fn interface(&self, path: &str) -> Option<Rc<Interface>> {
        self.resolve_with(path, |path| self.visible(|table| &table.interfaces, path).cloned())
    }

    /// Returns true if a new type may have the path.
    pub(crate) fn is_free(&self, path: &str) -> bool {
        match &self.shadow {
            Some(shadow) => {
                shadow.table.origin(path).is_none()
                    && (self.live.origin(path).is_none() || shadow.hidden.contains(path))
            }
            None => self.live.origin(path).is_none(),
        }
    }
}

impl Shadow {
    /// Returns true if the shadow neither hides nor redeclares the path. The type from before the shadow is then visible.
    fn shows(&self, path: &str) -> bool {
        !self.hidden.contains(path) && self.table.origin(path).is_none()
    }
}

impl Table {
    pub(crate) fn origin(&self, path: &str) -> Option<Origin> {
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
