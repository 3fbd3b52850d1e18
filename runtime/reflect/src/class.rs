//! A class: its chain, its properties and where they lie, its functions and which of them an event leads to.

use alcedo_base::handles::{ClassId, ObjectHandle};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use crate::function::Function;
use crate::hooks::{AddReferences, EndHook, NativeHook};
use crate::origin::Origin;
use crate::path::short;
use crate::property::Property;
use crate::storage::Schema;

/// An object that every object of a class has of its own.
#[derive(Clone, Debug)]
pub struct Subobject {
    /// The property that refers to it.
    pub property: Rc<Property>,
    /// Its name in the owner.
    pub name: Rc<str>,
    /// Path of its class, unless a subclass names another.
    pub class_path: Rc<str>,
    /// Whether it is what the owner's other components hang on.
    pub role: SubobjectRole,
}

/// What a subobject is to its owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubobjectRole {
    /// One of its parts.
    Part,
    /// The root component of an actor.
    Root,
}

impl Subobject {
    /// Whether the owner's class is to treat it as its root.
    #[inline]
    pub fn is_root(&self) -> bool {
        self.role == SubobjectRole::Root
    }
}

/// A class, immutable once declared but for its CDO.
pub struct Class {
    /// Its number, never used for another class.
    pub id: ClassId,
    /// `/Script/Package.Name`.
    pub path: Rc<str>,
    /// Its name in the package.
    pub name: Rc<str>,
    /// The package, without `/Script/`.
    pub package: Rc<str>,
    /// Its base class; a root has none.
    pub base: Option<Rc<Class>>,
    /// Where it was declared.
    pub origin: Origin,
    /// Bits of [`alcedo_abi::kinds::class_flags`].
    pub flags: u64,
    /// The doc comment.
    pub doc: Rc<str>,
    /// The properties it adds, in order.
    pub own_properties: Vec<Rc<Property>>,
    /// All properties, base first.
    pub properties: Vec<Rc<Property>>,
    /// The functions it declares itself, in order.
    pub own_functions: Vec<Rc<Function>>,
    /// The function each event leads to, by the event's slot.
    pub vtable: Vec<Rc<Function>>,
    /// The subobjects it adds, in order.
    pub subobjects: Vec<Subobject>,
    /// Classes it names in place of those its bases gave their subobjects: name of the subobject, path of the class.
    pub subobject_overrides: Vec<(Rc<str>, Rc<str>)>,
    /// Defaults it names in place of those its bases, or the classes of its subobjects, gave: a path of names, text of the value.
    pub default_overrides: Vec<(Rc<str>, Rc<str>)>,
    /// What a script class makes of its class default object, when that has the values of its base's.
    pub script_defaults: Option<NativeHook>,
    /// Paths of the interfaces it implements itself.
    pub interfaces: Vec<Rc<str>>,
    /// The constructor of a native class.
    pub native_constructor: Option<NativeHook>,
    /// PostInitProperties of a native class.
    pub native_post_init: Option<NativeHook>,
    /// What runs before an object of a native class ends.
    pub begin_destroy: Option<EndHook>,
    /// What else objects of a native class refer to.
    pub add_references: Option<AddReferences>,
    /// A number that means nothing here; higher floors say which module and hooks it belongs to.
    pub tag: u64,
    /// The class default object, or none.
    pub cdo: Cell<ObjectHandle>,
    pub(super) members: Members,
}

/// Which hooks an object of a class meets in its construction. The classes of a chain have theirs from their declaration on.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConstructionPlan {
    /// Whether any class has a constructor, and so sees the object before it has its values.
    pub(super) has_constructors: bool,
    /// Whether any class has a PostInitProperties.
    pub(super) has_post_init: bool,
    /// How many of the classes are dynamic.
    pub(super) dynamic: u64,
}

/// What a class finds by name and by number; computed when it is declared.
pub(super) struct Members {
    pub(super) schema: Rc<Schema>,
    /// Bytes up to the last property, where a derived class goes on.
    pub(super) end: usize,
    /// Numbers of the classes from the root to this one.
    pub(super) chain: Vec<ClassId>,
    /// The classes from the root to its base.
    pub(super) bases: Vec<Rc<Class>>,
    /// Whether a class of its chain is dynamic.
    pub(super) has_plugin_part: bool,
    /// Whether a class of its chain is a module's.
    pub(super) needs_module: bool,
    /// Whether a class of its chain has subobjects.
    pub(super) has_subobjects: bool,
    pub(super) properties: FxHashMap<Rc<str>, Rc<Property>>,
    pub(super) functions: FxHashMap<Rc<str>, Rc<Function>>,
    /// Which hooks an object of the class meets in its construction; found out at the first.
    pub(super) construction: Cell<Option<ConstructionPlan>>,
    /// Set while the CDO is being made, so that a class whose CDO needs itself is noticed.
    pub(super) cdo_in_making: Cell<bool>,
}

impl Class {
    /// Bytes of an object.
    #[inline]
    pub fn size(&self) -> usize {
        self.members.schema.size()
    }

    /// Alignment of an object in bytes.
    #[inline]
    pub fn align(&self) -> usize {
        self.members.schema.align()
    }

    /// What lies in an object.
    #[inline]
    pub fn schema(&self) -> &Rc<Schema> {
        &self.members.schema
    }

    /// Bytes up to the end of the last property, without padding.
    #[inline]
    pub fn end(&self) -> usize {
        self.members.end
    }

    /// How many classes its chain has; a root's has one.
    #[inline]
    pub fn depth(&self) -> usize {
        self.members.chain.len()
    }

    /// Whether it is `other` or derived from it.
    #[inline]
    pub fn is_a(&self, other: &Self) -> bool {
        self.members.chain.get(other.depth() - 1) == Some(&other.id)
    }

    /// Numbers of the classes from the root to this one.
    #[inline]
    pub fn chain_ids(&self) -> &[ClassId] {
        &self.members.chain
    }

    /// The classes from the root to this one.
    #[inline]
    pub fn chain(self: &Rc<Self>) -> Vec<Rc<Self>> {
        self.lineage().cloned().collect()
    }

    /// The classes from the root to this one, lent.
    #[inline]
    pub fn lineage(self: &Rc<Self>) -> impl DoubleEndedIterator<Item = &Rc<Self>> {
        self.members.bases.iter().chain(std::iter::once(self))
    }

    /// Whether it, or a class above it, implements the interface of that path.
    #[inline]
    pub fn implements(&self, interface: &str) -> bool {
        let mut chain = std::iter::successors(Some(self), |class| class.base.as_deref());
        chain.any(|class| class.interfaces.iter().any(|path| **path == *interface))
    }

    /// Whether a module has a share in objects of the class: it, or a class above it, is dynamic.
    #[inline]
    pub fn has_plugin_part(&self) -> bool {
        self.members.has_plugin_part
    }

    /// Whether a module declares the class, or a class above it.
    #[inline]
    pub fn needs_module(&self) -> bool {
        self.members.needs_module
    }

    /// Whether objects of the class have subobjects from its construction on.
    pub(super) fn has_subobjects(&self) -> bool {
        self.members.has_subobjects
    }

    /// The dynamic classes of its chain, base first: each has a part in the plugin part.
    #[inline]
    pub fn dynamic_chain(self: &Rc<Self>) -> Vec<Rc<Self>> {
        self.lineage().filter(|class| class.origin == Origin::Dynamic).cloned().collect()
    }

    /// The classes of its chain that modules declare, dynamic ones and those of scripts, base first.
    #[inline]
    pub fn module_chain(self: &Rc<Self>) -> Vec<Rc<Self>> {
        self.lineage().filter(|class| class.origin != Origin::Native).cloned().collect()
    }

    /// The most derived native class of its chain.
    #[inline]
    pub fn nearest_native(self: &Rc<Self>) -> Option<Rc<Self>> {
        self.lineage().rfind(|class| class.origin == Origin::Native).cloned()
    }

    /// The most derived class that both chains have.
    #[inline]
    pub fn common_base(self: &Rc<Self>, other: &Self) -> Option<Rc<Self>> {
        self.lineage().rfind(|class| other.is_a(class)).cloned()
    }

    /// The property of that name, own or inherited.
    #[inline]
    pub fn find_property(&self, name: &str) -> Option<&Rc<Property>> {
        self.members.properties.get(name)
    }

    /// The function of that name; of those in the chain, the nearest.
    #[inline]
    pub fn find_function(&self, name: &str) -> Option<&Rc<Function>> {
        self.members.functions.get(name)
    }

    /// What a call of `function` on an object of this class runs: the nearest override of an event, the function itself
    /// otherwise.
    #[inline]
    pub fn dispatch<'a>(&'a self, function: &'a Rc<Function>) -> &'a Rc<Function> {
        function.vslot.and_then(|slot| self.vtable.get(slot as usize)).unwrap_or(function)
    }

    /// Path of the class that the subobject has in objects of this class: the one that the most derived class names.
    #[inline]
    pub fn subobject_class(&self, subobject: &Subobject) -> Rc<str> {
        let mut classes = std::iter::successors(Some(self), |class| class.base.as_deref());
        let asked =
            classes.find_map(|class| class.subobject_overrides.iter().find(|(name, _)| *name == subobject.name));
        asked.map_or_else(|| subobject.class_path.clone(), |(_, class)| class.clone())
    }

    /// The path without its root, as reports and generated names show it: `Game.MagicCube`.
    #[inline]
    pub fn short_path(&self) -> &str {
        short(&self.path)
    }
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path, self.id.0)
    }
}
