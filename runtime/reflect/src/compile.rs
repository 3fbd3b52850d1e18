//! Compiles declarations to types. The compilation of a batch of declarations never changes the registry of types. The registry adds the
//! compiled types in a later step that always succeeds.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, property_flags};
use alcedo_base::cells::RefCell;
use alcedo_base::handles::ClassId;

use crate::class::Class;
use crate::compile_enum::compile_enum;
use crate::decl::{Batch, ClassDecl, DelegateDecl, FunctionDecl, PropertyDecl, StructDecl};
use crate::delegate_decl::{check_classes, delegate_type_text};
use crate::delegates::DelegateType;
use crate::enums::EnumType;
use crate::interface::Interface;
use crate::layout::{Placed, place};
use crate::names::Names;
use crate::naming::DEFAULT_PREFIX;
use crate::order;
use crate::path::TypePath;
use crate::property::{Property, PropertyType, display_name};
use crate::refusal::{DeclareError, check_member, check_name};
use crate::registry::{Category, Paths, Registry, Type};
use crate::structs::{Nature, StructType, fingerprint};
use crate::type_text::TypeText;
use crate::typing::{TypeError, TypeResolver};
use crate::value::{Value, names_object};
use crate::values::structure::start_of;
use crate::values::{Entry, name_of};

/// Compiled types of a batch of declarations, each after its dependencies.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// Interfaces.
    pub interfaces: Vec<Rc<Interface>>,
    /// Enums.
    pub enums: Vec<Rc<EnumType>>,
    /// Delegates.
    pub delegates: Vec<Rc<DelegateType>>,
    /// Structs, each after the structs that it contains.
    pub structs: Vec<Rc<StructType>>,
    /// Classes, base first.
    pub classes: Vec<Rc<Class>>,
}

/// State of the compilation of a batch: the types declared before the batch, and the types compiled so far.
pub(super) struct Compiler<'a> {
    pub(super) names: &'a Names,
    /// Types declared before the batch.
    pub(super) known: &'a Registry,
    compiled: Paths,
    /// Maps the path of each delegate to its kind and to the text inside the parentheses of its type.
    delegates: HashMap<String, (PropertyKind, Rc<str>)>,
    /// Maps the path of each struct, interface and class of the batch to [`Category::NAME`]. References and delegates may name types that
    /// are not compiled yet.
    categories: HashMap<String, &'static str>,
    /// Members of the classes compiled so far that hide inherited members, formatted for [`DeclareError::Hides`].
    pub(super) hides: RefCell<Vec<String>>,
}

/// Maximum size of a type in bytes. Offsets have 32 bits. A large property would increase the size of every object.
const MAX_STRUCT_SIZE: usize = 1 << 20;

/// Maximum number of structs without fields in a type. Such a struct adds no bytes, so `MAX_STRUCT_SIZE` does not limit their number.
const MAX_EMPTY_STRUCTS: u64 = 1 << 10;

/// Maximum number of bases of a struct.
const MAX_BASES: u32 = 256;

/// Maximum number of structs that are nested in each other. Functions that visit a value recurse once per struct.
pub(crate) const MAX_STRUCT_DEPTH: u32 = 32;

/// Compiles a batch. `first` is the id of the batch's first class. Later classes receive consecutive ids. Returns the compiled types by
/// category, and a map of these types by path.
pub(super) fn compile(
    names: &Names,
    known: &Registry,
    batch: &Batch,
    first: ClassId,
) -> Result<(Declared, Paths), DeclareError> {
    check_kinds(batch)?;
    check_paths(known, batch)?;
    let structs = batch.structs.iter().map(|decl| (decl.path(), StructType::NAME));
    let interfaces = batch.interfaces.iter().map(|decl| (decl.path(), Interface::NAME));
    let classes = batch.classes.iter().map(|decl| (decl.path(), Class::NAME));
    let categories = structs.chain(interfaces).chain(classes).collect();
    let entry = |decl: &DelegateDecl| Ok((decl.path(), delegate_type_text(decl)?));
    let delegates = batch.delegates.iter().map(entry).collect::<Result<_, DeclareError>>()?;
    let compiled = Paths::default();
    let mut compiler = Compiler { names, known, compiled, delegates, categories, hides: RefCell::default() };
    let mut declared = Declared::default();
    for decl in &batch.enums {
        compiler.add(&mut declared.enums, compile_enum(decl)?);
    }
    for index in struct_order(known, &batch.structs)? {
        let structure = compiler.lay_out(&batch.structs[index])?;
        compiler.add(&mut declared.structs, structure);
    }
    for decl in &batch.delegates {
        let delegate = compiler.delegate(decl)?;
        compiler.add(&mut declared.delegates, delegate);
    }
    for decl in &batch.interfaces {
        let interface = compiler.interface(decl)?;
        compiler.add(&mut declared.interfaces, interface);
    }
    for (count, index) in class_order(known, &batch.classes)?.into_iter().enumerate() {
        let class = compiler.class(&batch.classes[index], ClassId(first.0 + count as u32));
        // A member that hides another may be the reason for the error.
        let class = class.map_err(|error| compiler.check_hides().err().unwrap_or(error))?;
        compiler.add(&mut declared.classes, class);
    }
    compiler.check_hides()?;
    for class in &declared.classes {
        compiler.check_subobjects(class)?;
    }
    Ok((declared, compiler.compiled))
}

/// Checks that this host defines the kinds of all properties and parameters of a batch.
pub(super) fn check_kinds(batch: &Batch) -> Result<(), DeclareError> {
    fn check(members: &[PropertyDecl], owner: impl Fn() -> String) -> Result<(), DeclareError> {
        match members.iter().find(|member| Entry::of(member.kind).is_none()) {
            None => Ok(()),
            Some(PropertyDecl { name, kind, .. }) => {
                Err(DeclareError::UnknownKind { member: format!("{}:{name}", owner()), number: kind.0 })
            }
        }
    }
    batch.structs.iter().try_for_each(|decl| check(&decl.fields, || decl.path()))?;
    batch.delegates.iter().try_for_each(|decl| check(&decl.params, || decl.path()))?;
    batch.classes.iter().try_for_each(|decl| check(&decl.properties, || decl.path()))?;
    let functions = |path: &dyn Fn() -> String, functions: &[FunctionDecl]| {
        functions.iter().try_for_each(|function| check(&function.params, || format!("{}:{}", path(), function.name)))
    };
    batch.interfaces.iter().try_for_each(|decl| functions(&|| decl.path(), &decl.functions))?;
    batch.classes.iter().try_for_each(|decl| functions(&|| decl.path(), &decl.functions))
}

fn check_paths(known: &Registry, batch: &Batch) -> Result<(), DeclareError> {
    let mut seen = HashSet::new();
    let enums = batch.enums.iter().map(|decl| (decl.path(), &decl.package, &decl.name));
    let delegates = batch.delegates.iter().map(|decl| (decl.path(), &decl.package, &decl.name));
    let structs = batch.structs.iter().map(|decl| (decl.path(), &decl.package, &decl.name));
    let classes = batch.classes.iter().map(|decl| (decl.path(), &decl.package, &decl.name));
    let interfaces = batch.interfaces.iter().map(|decl| (decl.path(), &decl.package, &decl.name));
    // Rejects class names with `DEFAULT_PREFIX`, which is reserved for class default objects. The generated name of an object begins with
    // the name of its class, and could otherwise equal the name of a class default object.
    if let Some(decl) = batch.classes.iter().find(|decl| decl.name.starts_with(DEFAULT_PREFIX)) {
        return Err(DeclareError::DefaultName { path: decl.path() });
    }
    for (path, package, name) in interfaces.chain(enums).chain(delegates).chain(structs).chain(classes) {
        if !known.packages.contains(package.as_str()) {
            let known = Vec::from_iter(known.packages.iter().cloned()).join(", ");
            return Err(DeclareError::UnknownPackage { path, package: package.clone(), known });
        }
        check_name(name, package)?;
        if !known.is_free(&path) || !seen.insert(path.clone()) {
            return Err(DeclareError::Duplicate { path });
        }
    }
    check_classes(batch)
}

fn struct_order(known: &Registry, structs: &[StructDecl]) -> Result<Vec<usize>, DeclareError> {
    let paths: Vec<_> = structs.iter().map(StructDecl::path).collect();
    let numbers = numbers(&paths);
    // A struct must not contain itself, even in a container: a recursive visit of its values would not terminate.
    let needs = |index: usize| {
        let mut held = Vec::new();
        let mut hold = |inner: &str| held.extend(declaration_at::<StructType>(known, &numbers, inner));
        hold(&structs[index].base);
        for field in &structs[index].fields {
            // Malformed types are reported when the struct is compiled.
            if let Ok(text) = TypeText::of_declaration(field.kind, &field.type_path) {
                text.each_struct(&mut hold);
            }
        }
        held
    };
    order::by_need(structs.len(), needs)
        .map_err(|cycle| DeclareError::StructCycle { cycle: print_cycle(&cycle, &paths) })
}

fn class_order(known: &Registry, classes: &[ClassDecl]) -> Result<Vec<usize>, DeclareError> {
    let paths: Vec<_> = classes.iter().map(ClassDecl::path).collect();
    let numbers = numbers(&paths);
    let needs = |index: usize| declaration_at::<Class>(known, &numbers, &classes[index].base).into_iter().collect();
    order::by_need(classes.len(), needs).map_err(|cycle| DeclareError::BaseCycle { cycle: print_cycle(&cycle, &paths) })
}

/// Maps paths to their indices.
fn numbers(paths: &[String]) -> HashMap<&str, usize> {
    paths.iter().map(String::as_str).zip(0..).collect()
}

/// Returns the index of the declaration of a category that a path resolves to, as in [`Compiler::find`]. Returns `None` if the path resolves
/// to a type that was declared before the batch, or to no type.
fn declaration_at<T: Category>(known: &Registry, numbers: &HashMap<&str, usize>, path: &str) -> Option<usize> {
    let find = |path: &str| match numbers.get(path) {
        Some(number) => Some(Some(*number)),
        None => known.visible::<T>(path).map(|_| None),
    };
    known.resolve_with(path, find).flatten()
}

fn print_cycle(cycle: &[usize], paths: &[String]) -> String {
    let around = cycle.iter().chain(cycle.first());
    around.map(|&index| paths[index].as_str()).collect::<Vec<_>>().join(" → ")
}

impl TypeResolver for Compiler<'_> {
    fn structure(&self, path: &str) -> Option<Rc<StructType>> {
        self.find(path)
    }

    fn enumeration(&self, path: &str) -> Option<Rc<EnumType>> {
        self.find(path)
    }

    fn delegate_type_text(&self, path: &str) -> Option<(PropertyKind, Rc<str>)> {
        self.known.resolve_with(path, |path| {
            let known = || self.known.visible::<DelegateType>(path).map(|found| (found.kind, Rc::clone(&found.words)));
            self.delegates.get(path).cloned().or_else(known)
        })
    }

    fn has_struct(&self, path: &str) -> bool {
        self.has::<StructType>(path)
    }

    fn has_class(&self, path: &str) -> bool {
        self.has::<Class>(path)
    }

    fn has_interface(&self, path: &str) -> bool {
        self.has::<Interface>(path)
    }
}

impl Compiler<'_> {
    /// Returns the type of a category at a path, from the batch or from the types declared before. Returns `None` if the path resolves to a
    /// type of the batch that is not compiled yet. The resolution of a path is therefore independent of the order of the batch.
    pub(super) fn find<T: Category>(&self, path: &str) -> Option<Rc<T>> {
        let find = |path: &str| {
            let compiled = self.compiled.get(path).and_then(T::of);
            let found = compiled.or_else(|| self.known.visible::<T>(path)).cloned();
            (found.is_some() || self.is_declared::<T>(path)).then_some(found)
        };
        self.known.resolve_with(path, find).flatten()
    }

    /// Checks if a path resolves to a type of a category, from the batch or from the types declared before.
    fn has<T: Category>(&self, path: &str) -> bool {
        let has = |path: &str| self.is_declared::<T>(path) || self.known.visible::<T>(path).is_some();
        self.known.resolve_with(path, |path| has(path).then_some(())).is_some()
    }

    /// Checks if the batch declares a type of a category at a path. Supports structs, interfaces and classes.
    fn is_declared<T: Category>(&self, path: &str) -> bool {
        self.categories.get(path) == Some(&T::NAME)
    }

    /// Adds a compiled type to `compiled`, the map of types by path, and to `list`, the types of its category.
    fn add<T>(&mut self, list: &mut Vec<Rc<T>>, compiled: T)
    where
        Type: From<Rc<T>>,
    {
        let compiled = Rc::new(compiled);
        let ty = Type::from(Rc::clone(&compiled));
        self.compiled.insert(Rc::clone(ty.path()), ty);
        list.push(compiled);
    }

    /// Returns one error for all members that hide inherited members.
    fn check_hides(&self) -> Result<(), DeclareError> {
        let members = self.hides.take().join(", ");
        if members.is_empty() { Ok(()) } else { Err(DeclareError::Hides { members }) }
    }

    fn lay_out(&self, decl: &StructDecl) -> Result<StructType, DeclareError> {
        let path: Rc<str> = decl.path().into();
        let base = match decl.base.as_str() {
            "" => None,
            base => Some(
                self.structure(base)
                    .ok_or_else(|| DeclareError::UnknownBase { class: path.to_string(), base: base.to_owned() })?,
            ),
        };
        let inherited = base.as_deref().map_or(&[][..], StructType::fields);
        if let Some(again) = decl.fields.iter().find(|field| inherited.iter().any(|known| *known.text == *field.name)) {
            return Err(DeclareError::DuplicateMember { owner: path.to_string(), name: again.name.clone() });
        }
        let start = base.as_deref().map_or((0, 1), |base| (base.size(), base.align()));
        let (own, placed) = self.properties(&path, &decl.fields, start)?;
        let fingerprint = fingerprint(base.as_deref(), &own, &placed);
        let fields: Vec<_> = inherited.iter().cloned().chain(own).collect();
        let structure = StructType {
            path: path.clone(),
            name: decl.name.as_str().into(),
            package: decl.package.as_str().into(),
            origin: decl.origin,
            doc: decl.doc.as_str().into(),
            nature: Nature::of(&fields),
            fields,
            size: placed.size,
            align: placed.align,
            fingerprint,
            base,
            same: RefCell::default(),
        };
        if structure.nature.empty_structs > MAX_EMPTY_STRUCTS {
            return Err(DeclareError::TooManyEmptyStructs { path: path.to_string(), limit: MAX_EMPTY_STRUCTS });
        }
        if structure.nature.depth > MAX_STRUCT_DEPTH {
            return Err(DeclareError::TooDeep { path: path.to_string(), limit: MAX_STRUCT_DEPTH });
        }
        if structure.chain().count() > MAX_BASES as usize {
            return Err(DeclareError::TooDeep { path: path.to_string(), limit: MAX_BASES });
        }
        if decl.fingerprint != 0 && decl.fingerprint != structure.fingerprint() {
            return Err(DeclareError::Fingerprint { path: path.to_string(), found: describe_layout(&structure) });
        }
        Ok(structure)
    }

    /// Assigns offsets to the properties of an owner, with the layout rules of a C struct. `start` is the size and the alignment of the
    /// bytes before the properties.
    pub(super) fn properties(
        &self,
        owner: &Rc<str>,
        decls: &[PropertyDecl],
        start: (usize, usize),
    ) -> Result<(Vec<Property>, Placed), DeclareError> {
        self.placed_properties(owner, decls, |things| place(start.0, start.1, things))
    }

    /// Assigns offsets to the properties of an owner. `place` computes the offsets from the sizes and alignments.
    pub(super) fn placed_properties(
        &self,
        owner: &Rc<str>,
        decls: &[PropertyDecl],
        place: impl FnOnce(&[(usize, usize)]) -> Placed,
    ) -> Result<(Vec<Property>, Placed), DeclareError> {
        let mut types = Vec::with_capacity(decls.len());
        let mut seen = HashSet::new();
        for decl in decls {
            check_member(&mut seen, &decl.name, owner)?;
            types.push(self.property_type(decl, || format!("{owner}:{}", decl.name))?);
        }
        // Checks the size before any default is computed, because the defaults of nested structs may need excessive memory.
        let things: Vec<_> = types.iter().map(|ty| (ty.size(), ty.align())).collect();
        let placed = place(&things);
        if placed.size > MAX_STRUCT_SIZE {
            return Err(DeclareError::TooLarge { path: owner.to_string(), size: placed.size });
        }
        let empty_structs = types.iter().fold(0, |sum: u64, ty| sum.saturating_add(ty.nature().empty_structs));
        if empty_structs > MAX_EMPTY_STRUCTS {
            return Err(DeclareError::TooManyEmptyStructs { path: owner.to_string(), limit: MAX_EMPTY_STRUCTS });
        }
        let made = decls.iter().zip(types).zip(&placed.offsets);
        let made = made.map(|((decl, ty), offset)| self.property(owner, decl, ty, *offset as u32));
        Ok((made.collect::<Result<_, _>>()?, placed))
    }

    fn property(
        &self,
        owner: &Rc<str>,
        decl: &PropertyDecl,
        ty: PropertyType,
        offset: u32,
    ) -> Result<Property, DeclareError> {
        let bad_default =
            |problem: String| DeclareError::BadDefault { member: format!("{owner}:{}", decl.name), problem };
        let default = match decl.default.as_str() {
            "" => start_of(&ty),
            text => Some(Value::parse(text, &ty, self.names).map_err(|error| bad_default(error.to_string()))?),
        };
        if default.as_ref().is_some_and(names_object) {
            return Err(bad_default(
                "no object exists when a class is declared; only none can be a default".to_owned(),
            ));
        }
        Ok(Property {
            name: self.names.intern(&decl.name),
            text: decl.name.as_str().into(),
            display: display_name(&decl.name, &decl.meta).into(),
            ty,
            flags: decl.flags,
            default,
            doc: decl.doc.as_str().into(),
            meta: Rc::new(decl.meta.clone()),
            offset,
            owner: owner.clone(),
        })
    }

    fn property_type(&self, decl: &PropertyDecl, member: impl Fn() -> String) -> Result<PropertyType, DeclareError> {
        if matches!(decl.kind, PropertyKind::OBJECT | PropertyKind::STRUCT) {
            let checked = decl.type_path.parse::<TypePath>();
            checked.map_err(|error| DeclareError::BadPath { owner: member(), error })?;
        }
        let parsed = TypeText::of_declaration(decl.kind, &decl.type_path).map_err(TypeError::from);
        parsed.and_then(|text| PropertyType::resolve(&text, self)).map_err(|error| match (decl.kind, error) {
            (kind @ (PropertyKind::OBJECT | PropertyKind::STRUCT), TypeError::Unknown { path, .. }) => {
                let kind = if kind == PropertyKind::OBJECT { "reference" } else { "struct" };
                DeclareError::UnknownType { member: member(), kind, type_path: path }
            }
            (kind, error) => {
                let text = format!("{}({})", name_of(kind), decl.type_path);
                DeclareError::BadType { member: member(), text, error }
            }
        })
    }

    /// Checks the subobjects of a class. Runs after the compilation of all classes, because the batch may list a subobject's class after
    /// its owner's class.
    fn check_subobjects(&self, class: &Rc<Class>) -> Result<(), DeclareError> {
        let own = class.subobjects.iter().map(|subobject| (subobject.clone(), subobject.class_path.clone()));
        let inherited = class.subobject_overrides.iter().filter_map(|(name, requested)| {
            let chain = class.chain();
            let introduced = chain.iter().flat_map(|class| &class.subobjects).find(|subobject| subobject.name == *name);
            introduced.cloned().map(|subobject| (subobject, requested.clone()))
        });
        for (subobject, requested) in own.chain(inherited) {
            let expected = subobject.property.ty.type_path();
            let classes = self.find::<Class>(&requested).zip(self.find::<Class>(expected));
            if !classes.is_some_and(|(requested, expected)| requested.is_a(&expected)) {
                return Err(DeclareError::BadSubobject {
                    member: format!("{}:{}", class.path, subobject.name),
                    problem: format!("{requested} is not a {expected}, which the property refers to"),
                });
            }
        }
        Ok(())
    }
}

fn describe_layout(structure: &StructType) -> String {
    let fields = structure.fields().iter().map(|field| format!("{}: {} at {}", field.text, field.ty, field.offset));
    let fields: Vec<_> = fields.collect();
    let base = structure.base().map(|base| format!("extends {}: ", base.path)).unwrap_or_default();
    format!("{base}{}; {} bytes, aligned to {}", fields.join(", "), structure.size(), structure.align())
}

/// Checks if the property itself declares a subobject.
pub(super) fn declares_subobject(property: &Property) -> bool {
    property.flags & property_flags::DEFAULT_SUBOBJECT != 0
}
