//! Registry of types. A lookup by path returns the current type. A lookup by class id also returns a replaced class that is still in use. A
//! reload activates a shadow. While the shadow is active, new declarations of dynamic types are stored next to the old types. Lookups then
//! return the new declarations instead of the old types.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::cells::RefCell;
use alcedo_base::handles::ClassId;

use crate::class::Class;
use crate::compile::{Declared, check_kinds, compile};
use crate::decl::Batch;
use crate::delegates::DelegateType;
use crate::enums::EnumType;
use crate::function::Function;
use crate::interface::Interface;
use crate::names::Names;
use crate::origin::Origin;
use crate::path::with_paths;
use crate::property::{Property, PropertyType};
use crate::refusal::DeclareError;
use crate::registry::{Category as _, Registry, Shadow, Table, Type};
pub use crate::registry::{CurrentNames, OldNames};
use crate::structs::StructType;
use crate::typing::TypeResolver;

/// All types of a world. Game thread only.
#[derive(Debug, Default)]
pub struct Types {
    registry: RefCell<Registry>,
    epoch: Cell<u64>,
}

/// Guard that deactivates a shadow. Dropping the guard activates the shadow again.
#[must_use = "the shadow is active again when this is dropped"]
#[derive(Debug)]
pub struct Lowered<'a>(&'a Types);

impl Drop for Lowered<'_> {
    fn drop(&mut self) {
        self.0.has_changed();
        let mut registry = self.0.registry.borrow_mut();
        registry.shadow = registry.lowered.take();
    }
}

/// Last assigned epoch. All registries of the process share this counter to keep epochs unique.
static LAST_EPOCH: AtomicU64 = AtomicU64::new(0);

impl Types {
    /// Returns the epoch of the registry. Lookups by path have equal results as long as the epoch does not change. All new registries have
    /// the same initial epoch. All later epochs are unique in the process.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.epoch.get()
    }

    /// Changes the epoch. Called before a change that can affect the results of lookups by path.
    fn has_changed(&self) {
        self.epoch.set(LAST_EPOCH.fetch_add(1, Ordering::Relaxed) + 1);
    }

    /// Registers a package for declarations of types. Idempotent.
    #[inline]
    pub fn declare_package(&self, name: &str) {
        self.registry.borrow_mut().packages.insert(name.into());
    }

    /// Checks that this host defines the kinds of all properties and parameters of a batch. [`Types::declare`] makes this check first.
    ///
    /// # Errors
    /// Returns [`DeclareError::UnknownKind`] for the first member of an unknown kind.
    pub fn check_kinds(batch: &Batch) -> Result<(), DeclareError> {
        check_kinds(batch)
    }

    /// Declares all types of a batch. Adds redirects from the earlier names that the batch lists. The declarations of the batch may use
    /// these names. After an error or a panic, no type of the batch is declared, and no redirect is added. Runs no code of the types.
    ///
    /// # Errors
    /// Returns [`DeclareError`] for the first rejected declaration. The registered types are then unchanged.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_abi::kinds::PropertyKind;
    /// # use alcedo_reflect::World;
    /// # use alcedo_reflect::decl::{Batch, ClassDecl, PropertyDecl};
    /// # use alcedo_reflect::origin::Origin;
    /// # let world = World::new();
    /// # world.types.declare_package("Engine");
    /// let object = ClassDecl::new("Engine", "Object", "", Origin::Native);
    /// let mut lamp = ClassDecl::new("Engine", "Lamp", "/Script/Engine.Object", Origin::Native);
    /// lamp.properties.push(PropertyDecl::new("power", PropertyKind::F64).with_default("60"));
    /// let batch = Batch { classes: vec![object, lamp], ..Batch::default() };
    /// world.types.declare(&world.names, &batch)?;
    /// let lamp = world.types.class_by_path("/Script/Engine.Lamp").expect("declared");
    /// assert!(lamp.find_property("power").is_some());
    /// # Ok::<(), alcedo_reflect::refusal::DeclareError>(())
    /// ```
    pub fn declare(&self, names: &Names, batch: &Batch) -> Result<Declared, DeclareError> {
        self.has_changed();
        let mut registry = self.registry.borrow_mut();
        let first = ClassId(registry.last_id + 1);
        let renames = registry.add_renames(batch);
        let (declared, types) = compile(names, renames.registry(), batch, first)?;
        renames.keep();
        registry.last_id += declared.classes.len() as u32;
        registry.by_id.extend(declared.classes.iter().map(|class| (class.id, class.clone())));
        registry.open_table().types.extend(types);
        Ok(declared)
    }

    /// Returns the class with that id, even if it was replaced.
    #[inline]
    pub fn class(&self, id: ClassId) -> Option<Rc<Class>> {
        self.registry.borrow().by_id.get(&id).cloned()
    }

    /// Returns the current class at a path.
    #[inline]
    pub fn class_by_path(&self, path: &str) -> Option<Rc<Class>> {
        self.registry.borrow().find(path)
    }

    /// Returns the current struct at a path.
    #[inline]
    pub fn struct_by_path(&self, path: &str) -> Option<Rc<StructType>> {
        self.registry.borrow().find(path)
    }

    /// Returns the current enum at a path.
    #[inline]
    pub fn enum_by_path(&self, path: &str) -> Option<Rc<EnumType>> {
        self.registry.borrow().find(path)
    }

    /// Returns the current delegate at a path.
    #[inline]
    pub fn delegate_by_path(&self, path: &str) -> Option<Rc<DelegateType>> {
        self.registry.borrow().find(path)
    }

    /// Returns the current interface at a path.
    #[inline]
    pub fn interface_by_path(&self, path: &str) -> Option<Rc<Interface>> {
        self.registry.borrow().find(path)
    }

    /// Returns all current classes in order of declaration. A base precedes its derived classes.
    #[inline]
    pub fn classes(&self) -> Vec<Rc<Class>> {
        let registry = self.registry.borrow();
        let found =
            |class: &&Rc<Class>| registry.visible::<Class>(&class.path).is_some_and(|seen| Rc::ptr_eq(seen, class));
        registry.by_id.values().filter(found).cloned().collect()
    }

    /// Returns all current structs, in order of their paths.
    #[inline]
    pub fn structs(&self) -> Vec<Rc<StructType>> {
        self.registry.borrow().all()
    }

    /// Returns all current enums, in order of their paths.
    #[inline]
    pub fn enums(&self) -> Vec<Rc<EnumType>> {
        self.registry.borrow().all()
    }

    /// Returns all current named delegates, in order of their paths.
    #[inline]
    pub fn delegates(&self) -> Vec<Rc<DelegateType>> {
        self.registry.borrow().all()
    }

    /// Returns all current interfaces, in order of their paths.
    #[inline]
    pub fn interfaces(&self) -> Vec<Rc<Interface>> {
        self.registry.borrow().all()
    }

    /// Returns all classes in order of declaration, including replaced classes. Excludes classes that [`Types::forget`] removed.
    #[inline]
    pub fn all_classes(&self) -> Vec<Rc<Class>> {
        self.registry.borrow().by_id.values().cloned().collect()
    }

    /// Activates a shadow.
    ///
    /// # Panics
    /// Panics if a shadow is already active.
    #[inline]
    pub fn begin_shadow(&self) {
        self.has_changed();
        let mut registry = self.registry.borrow_mut();
        assert!(registry.shadow.is_none(), "one shadow of types at a time");
        registry.shadow = Some(Shadow::default());
    }

    /// Deactivates the shadow until the returned guard is dropped. During this time, lookups ignore the shadow, and declarations are
    /// permanent.
    ///
    /// # Panics
    /// Panics if no shadow is active.
    pub fn lower_shadow(&self) -> Lowered<'_> {
        self.has_changed();
        let mut registry = self.registry.borrow_mut();
        let shadow = registry.shadow.take().expect("a shadow is lowered after it was begun");
        registry.lowered = Some(shadow);
        Lowered(self)
    }

    /// Hides the dynamic types at the paths `paths` while the shadow is active. A new declaration in the shadow makes its path visible
    /// again. The commit removes the hidden types.
    ///
    /// # Panics
    /// Panics if no shadow is active.
    pub fn hide_in_shadow<'a>(&self, paths: impl IntoIterator<Item = &'a str>) {
        self.has_changed();
        let mut registry = self.registry.borrow_mut();
        let Registry { live, shadow, .. } = &mut *registry;
        let shadow = shadow.as_mut().expect("types are hidden in a shadow");
        let may_hide = |path: &&str| live.types.get(*path).is_none_or(|ty| ty.origin() != Origin::Native);
        shadow.hidden.extend(paths.into_iter().filter(may_hide).map(Rc::from));
    }

    /// Makes the declarations of the shadow permanent. Returns the classes that the shadow replaced or hid, in order of declaration. A
    /// lookup by class id still returns these classes. The commit always succeeds.
    ///
    /// # Panics
    /// Panics if no shadow is active.
    pub fn commit_shadow(&self) -> Vec<Rc<Class>> {
        self.has_changed();
        let mut registry = self.registry.borrow_mut();
        let Shadow { table, hidden } = registry.shadow.take().expect("a shadow is committed after it was begun");
        let mut replaced = Vec::new();
        for path in hidden.iter().chain(table.types.keys()) {
            if let Some(Type::Class(class)) = registry.live.types.remove(path) {
                replaced.push(class);
            }
        }
        registry.live.types.extend(table.types);
        registry.live.redirects.extend(table.redirects);
        replaced.sort_by_key(|class| class.id);
        replaced
    }

    /// Discards the shadow, and removes the classes that were declared in the shadow. Returns these classes in order of declaration.
    ///
    /// # Panics
    /// Panics if no shadow is active.
    pub fn drop_shadow(&self) -> Vec<Rc<Class>> {
        self.has_changed();
        let mut registry = self.registry.borrow_mut();
        let shadow = registry.shadow.take().expect("a shadow is dropped after it was begun");
        let mut dropped: Vec<_> = shadow.table.types.values().filter_map(Class::of).cloned().collect();
        dropped.sort_by_key(|class| class.id);
        for class in &dropped {
            registry.by_id.remove(&class.id);
        }
        dropped
    }

    /// Removes a replaced class that is no longer used. Has no effect on a current class.
    pub fn forget(&self, id: ClassId) {
        let mut registry = self.registry.borrow_mut();
        let Some(class) = registry.by_id.get(&id) else { return };
        let tables = [Some(&registry.live), registry.shadow.as_ref().map(|shadow| &shadow.table)];
        let found = |table: &Table| table.types.get(&class.path).and_then(Class::of).map(|found| found.id);
        if !tables.into_iter().flatten().any(|table| found(table) == Some(id)) {
            registry.by_id.remove(&id);
        }
    }

    /// Checks if a chain of redirects connects the path `from` with the path `to`.
    #[inline]
    pub fn resolves_to(&self, from: &str, to: &str) -> bool {
        self.registry.borrow().redirect_chain(from).any(|target| **target == *to)
    }

    /// Redirects `old`, the path of a type or member, to `new`. A declaration with the path `old` has precedence over the redirect. While a
    /// shadow is active, the redirect belongs to the shadow.
    #[inline]
    pub fn redirect(&self, old: &str, new: &str) {
        self.has_changed();
        self.registry.borrow_mut().open_table().redirects.add(old, new);
    }

    /// Returns the path of the type that `path` resolves to. If `path` resolves to no type, returns `path`.
    #[inline]
    pub fn redirected(&self, path: &str) -> Rc<str> {
        let registry = self.registry.borrow();
        registry
            .resolve_with(path, |path| (!registry.is_free(path)).then(|| path.into()))
            .unwrap_or_else(|| path.into())
    }

    /// Replaces each type path in a text with the result of [`Self::redirected`] for this path.
    pub fn to_current_paths(&self, text: &str) -> String {
        with_paths(text, |path| self.redirected(path))
    }

    /// Returns the renamed members of a class and its bases, as pairs of old and new name.
    pub fn member_redirects(&self, class: &Rc<Class>) -> Vec<(String, String)> {
        self.registry.borrow().member_redirects(class.chain().iter().map(|class| &*class.path))
    }

    /// Returns the current and earlier names of the member `name`. The first name is `name` itself. `owners` are the paths of the member's
    /// type and its bases.
    pub fn names_of_member<'p>(&self, owners: impl Iterator<Item = &'p str>, name: &str) -> Vec<String> {
        OldNames::new(&self.registry.borrow().member_redirects(owners)).of(name)
    }

    /// Returns the function of a class with that name, or with one of its earlier and later names.
    #[doc(hidden)]
    pub fn function_of<'c>(&self, class: &'c Rc<Class>, name: &str) -> Option<&'c Rc<Function>> {
        class.find_function(name).or_else(|| {
            let names = self.names_of_member(class.lineage().map(|class| &*class.path), name);
            names.iter().find_map(|name| class.find_function(name))
        })
    }

    /// Returns the current class that has a redirected path with the name `name`. If several classes have such a path, returns the class of
    /// the first path in alphabetical order.
    pub(crate) fn renamed_class(&self, name: &str) -> Option<Rc<Class>> {
        let registry = self.registry.borrow();
        let has_name = |path: &&Rc<str>| path.rsplit_once('.').is_some_and(|(_, of_class)| of_class == name);
        let paths: BTreeSet<_> = registry.all_redirects().flat_map(|(old, new)| [old, new]).filter(has_name).collect();
        paths.into_iter().find_map(|path| registry.find(path))
    }

    /// Returns the function with that path. The path may name a class that declares or inherits the function, or an interface that declares
    /// the function.
    #[inline]
    pub fn function_by_path(&self, path: &str) -> Option<Rc<Function>> {
        let registry = self.registry.borrow();
        let of_class = registry.member(path, |class, name| class.find_function(name).cloned());
        of_class.or_else(|| {
            let (owner, name) = path.split_once(':')?;
            registry.find::<Interface>(owner)?.find_function(name).cloned()
        })
    }

    /// Checks if the structs and enums in a signature still have the memory layout with which the function was declared. A host function
    /// may outlive types of a module in its signature. A function of a module ends before such types change.
    pub fn have_layout_of(&self, function: &Function) -> bool {
        let has_changed = |ty: &PropertyType| match ty {
            PropertyType::Struct(of) => {
                self.struct_by_path(&of.path).is_none_or(|current| !StructType::is_same(&current, of))
            }
            PropertyType::Enum(of) => {
                self.enum_by_path(&of.path).is_none_or(|current| current.underlying_kind() != of.underlying_kind())
            }
            _ => false,
        };
        !function.params.iter().any(|param| names_module_types(&param.ty) && param.ty.any(&has_changed))
    }

    /// Returns the property with that path. The path names a class that declares or inherits the property.
    #[inline]
    pub fn property_by_path(&self, path: &str) -> Option<Rc<Property>> {
        self.registry.borrow().member(path, |class, name| class.find_property(name).cloned())
    }

    /// Returns all current redirects, sorted by old path.
    #[inline]
    pub fn redirects(&self) -> Vec<(Rc<str>, Rc<str>)> {
        let registry = self.registry.borrow();
        let redirects: BTreeMap<_, _> = registry.all_redirects().collect();
        redirects.into_iter().map(|(from, to)| (from.clone(), to.clone())).collect()
    }
}

/// Checks if a type names structs or enums of modules. A struct of the host contains only types of the host. Allocates no memory, because
/// this check precedes each call of a host function by a module.
fn names_module_types(ty: &PropertyType) -> bool {
    match ty {
        PropertyType::Struct(of) => of.origin != Origin::Native,
        PropertyType::Enum(of) => of.origin != Origin::Native,
        ty => {
            let mut is_named = false;
            ty.inner_types(&mut |inner| is_named = is_named || names_module_types(inner));
            is_named
        }
    }
}

/// Resolves types to the current types of the registry.
impl TypeResolver for Types {
    fn structure(&self, path: &str) -> Option<Rc<StructType>> {
        self.struct_by_path(path)
    }

    fn enumeration(&self, path: &str) -> Option<Rc<EnumType>> {
        self.enum_by_path(path)
    }

    fn delegate_type_text(&self, path: &str) -> Option<(PropertyKind, Rc<str>)> {
        self.delegate_by_path(path).map(|found| (found.kind, Rc::clone(&found.words)))
    }

    fn has_class(&self, path: &str) -> bool {
        self.class_by_path(path).is_some()
    }

    fn has_interface(&self, path: &str) -> bool {
        self.interface_by_path(path).is_some()
    }
}

#[cfg(test)]
mod tests;
