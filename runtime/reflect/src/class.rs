//! Classes: base classes, property layout and functions. Each class has a table that maps events to the functions that implement them.

use alcedo_base::cells::RefCell;
use alcedo_base::handles::{ClassId, ObjectHandle};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use crate::function::Function;
use crate::hooks::{AddReferences, EndHook, NativeHook};
use crate::names::PartName;
use crate::origin::Origin;
use crate::path::short;
use crate::property::Property;
use crate::storage::Schema;

/// Subobject that each object of a class owns.
#[derive(Clone, Debug)]
pub struct Subobject {
    /// Property that refers to the subobject.
    pub property: Rc<Property>,
    /// Name within the owner.
    pub name: Rc<str>,
    /// Path of the subobject's class. A class derived from the owner's class may override the path.
    pub class_path: Rc<str>,
    /// True for the root component of an actor. All further components of the actor are attached to the root component.
    pub is_root: bool,
}

/// Class of the object model. After the declaration, only the CDO and the cached construction plans change.
pub struct Class {
    /// Id. Each class has a different id, and ids are never reused.
    pub id: ClassId,
    /// Path, such as `/Script/Package.Name`.
    pub path: Rc<str>,
    /// Name within the package.
    pub name: Rc<str>,
    /// Name of the package, without the prefix `/Script/`.
    pub package: Rc<str>,
    /// Base class. `None` for a root.
    pub base: Option<Rc<Class>>,
    /// Source of the declaration: native code, a module or a script.
    pub origin: Origin,
    /// Bits of [`alcedo_abi::kinds::class_flags`].
    pub flags: u64,
    /// Doc comment of the declaration.
    pub doc: Rc<str>,
    /// Properties that the class itself declares, in order of declaration.
    pub own_properties: Vec<Rc<Property>>,
    /// All properties, including inherited properties. The properties of the base are first.
    pub properties: Vec<Rc<Property>>,
    /// Functions that the class itself declares, in order of declaration.
    pub own_functions: Vec<Rc<Function>>,
    /// Function that each event resolves to, indexed by the event's slot.
    pub vtable: Vec<Rc<Function>>,
    /// Subobjects that the class itself declares, in order of declaration.
    pub subobjects: Vec<Subobject>,
    /// Overridden classes of inherited subobjects. Each entry has the subobject name and the class path.
    pub subobject_overrides: Vec<(Rc<str>, Rc<str>)>,
    /// Overridden defaults of inherited properties and of subobject properties. Each entry has the dotted path of the property and the
    /// value as text.
    pub default_overrides: Vec<(Rc<str>, Rc<str>)>,
    /// Hook of a script class. The hook sets values in the class default object (CDO), after the values of the base's CDO have been copied.
    pub script_defaults: Option<NativeHook>,
    /// Paths of the interfaces that the class itself implements.
    pub interfaces: Vec<Rc<str>>,
    /// Constructor of a native class.
    pub native_constructor: Option<NativeHook>,
    /// PostInitProperties of a native class.
    pub native_post_init: Option<NativeHook>,
    /// Hook of a native class. The hook runs before an object of the class is destroyed, or after a reload has moved the object out of the
    /// class.
    pub begin_destroy: Option<EndHook>,
    /// Hook of a native class. The hook reports references to the garbage collector, in addition to the references in the object's
    /// properties.
    pub add_references: Option<AddReferences>,
    /// Opaque number that higher layers map to the module and the hooks of the class.
    pub tag: u64,
    /// Handle of the class default object, or `ObjectHandle::NONE`.
    pub cdo: Cell<ObjectHandle>,
    pub(super) members: Members,
}

/// Summary of the construction hooks in a class chain. The hooks do not change after the declaration of the classes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConstructionPlan {
    /// True if any class of the chain has a constructor. A constructor can read the object before the copy of the template's values.
    pub(super) has_constructors: bool,
    pub(super) has_post_init: bool,
    /// Number of dynamic classes in the chain.
    pub(super) dynamic: u32,
}

// Limits the size of the summary, so that it is loaded into one register.
const _: () = assert!(size_of::<Option<ConstructionPlan>>() == 8);

/// Plan for the construction of an object with subobjects from the CDO of its class. The plan is computed once per epoch of the types. The
/// plan stores only the ids of classes, and therefore keeps no class alive.
#[derive(Debug)]
pub(super) struct PartsPlan {
    /// Epoch of the types and CDO for which the plan was computed.
    pub(super) key: (u64, ObjectHandle),
    /// The constructed object, followed by its direct and indirect subobjects in order of creation. Empty if construction uses the slow
    /// path.
    pub(super) members: Box<[Member]>,
    pub(super) steps: Box<[PartStep]>,
    /// Indices of the members whose PostInitProperties is called, in the order of the calls.
    pub(super) inits: Box<[usize]>,
    /// Number of dynamic classes in the chains of those members whose chains have no constructors.
    pub(super) dynamic: u64,
}

/// Object that a [`PartsPlan`] constructs: the requested object or one of its subobjects.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) class: ClassId,
    /// Object whose values are copied to the member. The object has the same class as the member.
    pub(super) template: ObjectHandle,
    /// Location in the owner. `None` for the first member, which is the requested object.
    pub(super) part: Option<PartLocation>,
    /// Offsets of the member's references to its own subobjects.
    pub(super) own: Vec<u32>,
    /// True if properties outside `own` may refer to objects.
    pub(super) names_others: bool,
    pub(super) has_plugin_part: bool,
    pub(super) has_constructors: bool,
    pub(super) has_post_init: bool,
    /// True if the plan has [`PartStep::End`] for this member.
    pub(super) has_end: bool,
}

/// Location of a subobject in its owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartLocation {
    /// Index of the owner among the members of the plan.
    pub(super) owner: usize,
    pub(super) name: PartName,
    /// Offset of the owner's reference to the subobject.
    pub(super) offset: u32,
}

/// Step of a [`PartsPlan`] before the final copy of all values. The plan contains a step only if later code can observe the effect of the
/// step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PartStep {
    /// Allocates a member and builds its plugin part.
    Begin(usize),
    /// Sets the defaults of one class in the member's chain, and runs the constructor of that class. `turn` is the index of the class,
    /// counted from the root.
    Turn { member: usize, turn: usize, sets_defaults: bool, constructs: bool },
    /// Copies the values of the member and of its subobjects from their templates, and sets the owner's reference.
    End(usize),
}

/// Lookup tables of a class, computed at its declaration.
pub(super) struct Members {
    pub(super) schema: Rc<Schema>,
    /// Offset of the end of the last property, in bytes. The properties of a derived class start at this offset.
    pub(super) end: usize,
    pub(super) chain: Vec<ClassId>,
    /// Base classes, from the root to the direct base.
    pub(super) bases: Vec<Rc<Class>>,
    /// True if a class of the chain is dynamic.
    pub(super) has_plugin_part: bool,
    /// True if the nearest dynamic class has [`LAZY_REBUILD`](alcedo_abi::kinds::class_flags::LAZY_REBUILD).
    pub(super) is_rebuilt_lazily: bool,
    /// True if a class of the chain is declared by a module.
    pub(super) needs_module: bool,
    pub(super) has_subobjects: bool,
    pub(super) properties: FxHashMap<Rc<str>, Rc<Property>>,
    pub(super) functions: FxHashMap<Rc<str>, Rc<Function>>,
    /// Summary of the construction hooks, computed when the first object is constructed.
    pub(super) construction: Cell<Option<ConstructionPlan>>,
    /// Plan for constructing an object with subobjects, computed when the first object is constructed.
    pub(super) parts: RefCell<Option<Rc<PartsPlan>>>,
    /// True while the CDO is being created. Used to detect a construction of the CDO that requires the CDO itself.
    pub(super) cdo_in_making: Cell<bool>,
}

impl Class {
    /// Returns the size of an object in bytes.
    #[inline]
    pub fn size(&self) -> usize {
        self.members.schema.size()
    }

    /// Returns the alignment of an object in bytes.
    #[inline]
    pub fn align(&self) -> usize {
        self.members.schema.align()
    }

    /// Returns the memory layout of an object.
    #[inline]
    pub fn schema(&self) -> &Rc<Schema> {
        &self.members.schema
    }

    /// Returns the end of the last property in bytes, without padding.
    #[inline]
    pub fn end(&self) -> usize {
        self.members.end
    }

    /// Returns the number of classes in the chain. Returns one for a root class.
    #[inline]
    pub fn depth(&self) -> usize {
        self.members.chain.len()
    }

    /// Checks if the class is `other` or derives from `other`.
    #[inline]
    pub fn is_a(&self, other: &Self) -> bool {
        self.members.chain.get(other.depth() - 1) == Some(&other.id)
    }

    /// Returns the ids of the classes from the root to this class.
    #[inline]
    pub fn chain_ids(&self) -> &[ClassId] {
        &self.members.chain
    }

    /// Returns the classes from the root to this class.
    #[inline]
    pub fn chain(self: &Rc<Self>) -> Vec<Rc<Self>> {
        self.lineage().cloned().collect()
    }

    /// Iterates over the classes from the root to this class.
    #[inline]
    pub fn lineage(self: &Rc<Self>) -> impl DoubleEndedIterator<Item = &Rc<Self>> {
        self.members.bases.iter().chain(std::iter::once(self))
    }

    /// Checks if the class or a base class implements the interface with that path.
    #[inline]
    pub fn implements(&self, interface: &str) -> bool {
        let mut chain = std::iter::successors(Some(self), |class| class.base.as_deref());
        chain.any(|class| class.interfaces.iter().any(|path| **path == *interface))
    }

    /// Checks if objects of the class have a plugin part, because the class or a base class is dynamic.
    #[inline]
    pub fn has_plugin_part(&self) -> bool {
        self.members.has_plugin_part
    }

    /// Checks if the plugin part of an object of the class is built at its first use after a reload. The flag of the nearest dynamic class
    /// applies.
    #[inline]
    pub fn is_rebuilt_lazily(&self) -> bool {
        self.members.is_rebuilt_lazily
    }

    /// Checks if a module declares the class or a base class.
    #[inline]
    pub fn needs_module(&self) -> bool {
        self.members.needs_module
    }

    /// Returns the dynamic classes of the chain, base first. The plugin part of an object has one section for each of these classes.
    #[inline]
    pub fn dynamic_chain(self: &Rc<Self>) -> Vec<Rc<Self>> {
        self.lineage().filter(|class| class.origin == Origin::Dynamic).cloned().collect()
    }

    /// Returns the classes of the chain that modules declare (dynamic and script classes), base first.
    #[inline]
    pub fn module_chain(self: &Rc<Self>) -> Vec<Rc<Self>> {
        self.lineage().filter(|class| class.origin != Origin::Native).cloned().collect()
    }

    /// Returns the most derived native class of the chain.
    #[inline]
    pub fn nearest_native(self: &Rc<Self>) -> Option<&Rc<Self>> {
        self.lineage().rfind(|class| class.origin == Origin::Native)
    }

    /// Returns the most derived class that both chains contain.
    #[inline]
    pub(crate) fn common_base(self: &Rc<Self>, other: &Self) -> Option<Rc<Self>> {
        self.lineage().rfind(|class| other.is_a(class)).cloned()
    }

    /// Returns the declared or inherited property with that name.
    #[inline]
    pub fn find_property(&self, name: &str) -> Option<&Rc<Property>> {
        self.members.properties.get(name)
    }

    /// Returns the nearest function with that name in the chain.
    #[inline]
    pub fn find_function(&self, name: &str) -> Option<&Rc<Function>> {
        self.members.functions.get(name)
    }

    /// Returns the function that a call of `function` on an object of this class runs. For an event, returns the most derived override. For
    /// other functions, returns `function` itself.
    #[inline]
    pub fn dispatch<'a>(&'a self, function: &'a Rc<Function>) -> &'a Rc<Function> {
        function.vslot.and_then(|slot| self.vtable.get(slot as usize)).unwrap_or(function)
    }

    /// Returns the path of the subobject's class in objects of this class. If several classes of the chain override the path, the most
    /// derived override applies.
    #[inline]
    pub fn subobject_class(&self, subobject: &Subobject) -> Rc<str> {
        let mut classes = std::iter::successors(Some(self), |class| class.base.as_deref());
        let overridden =
            classes.find_map(|class| class.subobject_overrides.iter().find(|(name, _)| *name == subobject.name));
        overridden.map_or_else(|| subobject.class_path.clone(), |(_, class)| class.clone())
    }

    /// Returns the path without the prefix `/Script/`, as used in reports and generated names: `Game.MagicCube`.
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
