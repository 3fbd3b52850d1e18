//! Maps types of modules to Rust types in a host. If no Rust type exists, the value is passed as a `Value`. In glue for plugins, a type
//! without a Rust type is an error.

use std::collections::{BTreeMap, BTreeSet};

use alcedo_reflect::type_text::TypeText;
use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::{Declared, DeclaredDelegate, DeclaredProperty, DeclaredStruct};

use crate::text::{identifier, is_name, own_name, parts};

/// Representation of a type in glue for a host.
pub(crate) enum Form {
    /// A Rust type for parameters and results.
    Native(String),
    /// A Rust type for properties only.
    Property(String),
    /// A delegate with these parameters and this result.
    Delegate(Vec<String>, String),
    /// No Rust type. Values are passed as `Value`.
    Value,
}

/// Rust names of the types in glue for a host.
pub(crate) struct HostNames<'a> {
    /// Paths of the types that the generated source contains, by name.
    pub(crate) own: &'a BTreeMap<&'a str, &'a str>,
    /// Rust paths of the glue of other packages, by package name.
    pub(crate) elsewhere: &'a BTreeMap<String, String>,
    pub(crate) declared: &'a Declared,
    /// Structs with the layout of a `plain_struct!`.
    pub(crate) plain: BTreeSet<&'a str>,
    /// Structs with a Rust type: those in `plain`, and structs that are copied field by field.
    structs: BTreeSet<&'a str>,
}

impl<'a> HostNames<'a> {
    /// Collects the names from declarations. A struct has a Rust type only if all its fields have Rust types. Recursive structs therefore
    /// have no Rust type.
    pub(crate) fn new(
        own: &'a BTreeMap<&'a str, &'a str>,
        elsewhere: &'a BTreeMap<String, String>,
        declared: &'a Declared,
    ) -> Self {
        let mut names = Self { own, elsewhere, declared, plain: BTreeSet::new(), structs: BTreeSet::new() };
        loop {
            let is_new = |found: &&DeclaredStruct| !names.structs.contains(&*found.path);
            let known = |found: &&DeclaredStruct| names.fields(found).is_some();
            let found: Vec<_> = declared.structs.iter().filter(is_new).filter(known).collect();
            if found.is_empty() {
                return names;
            }
            // Checks only structs with a Rust type, because a plain struct has a Rust type as soon as the structs of its fields have one.
            let plain: Vec<_> = found.iter().filter(|found| names.is_plain(found)).map(|found| &*found.path).collect();
            names.plain.extend(plain);
            names.structs.extend(found.iter().map(|found| &*found.path));
        }
    }

    /// Returns the Rust path of a class or struct, if it has one.
    pub(crate) fn path(&self, path: &str) -> Option<String> {
        let (package, name) = parts(path);
        if self.own.get(name) == Some(&path) {
            return Some(identifier(name));
        }
        let module = self.elsewhere.get(package).filter(|_| is_name(name))?;
        Some(format!("{module}::{}", identifier(name)))
    }

    /// Returns the Rust name of a class, for `T` in `Obj<T>`. Returns `Object` if the class has no Rust type.
    pub(crate) fn class(&self, path: &str) -> String {
        let is_own_interface = self.declared.interfaces.iter().any(|found| found.path == path);
        self.path(path).filter(|_| !is_own_interface).unwrap_or_else(|| self.of_host("Object"))
    }

    /// Returns a type of the host's API, with its path if the generated source contains a type of this name.
    fn of_host(&self, name: &str) -> String {
        if self.own.contains_key(name) { format!("alcedo::host::{name}") } else { name.to_owned() }
    }

    /// Returns the representation of a type in signature syntax.
    pub(crate) fn of(&self, text: &str) -> Form {
        text.parse().map_or(Form::Value, |ty| self.form(&ty))
    }

    fn form(&self, ty: &TypeText) -> Form {
        let in_property = |of: Option<String>| of.map_or(Form::Value, Form::Property);
        match ty {
            TypeText::Plain(kind) => self.form_of_kind(*kind),
            TypeText::Struct(path) => {
                let is_declared = self.structure(path).is_some();
                let is_known = if is_declared { self.structs.contains(&**path) } else { !self.is_class(path) };
                self.path(path).filter(|_| is_known).map_or(Form::Value, Form::Native)
            }
            TypeText::Reference(PropertyKind::OBJECT, path) => Form::Native(format!("Obj<{}>", self.class(path))),
            TypeText::Reference(PropertyKind::ENUM, path) => self.path(path).map_or(Form::Value, Form::Native),
            TypeText::Reference(kind, _) => in_property(kind.text().map(str::to_owned)),
            TypeText::Container(kind, of) => in_property(match (*kind, &of[..]) {
                (PropertyKind::ARRAY, [of]) => self.property(of).map(|of| format!("Vec<{of}>")),
                (PropertyKind::OPTIONAL, [of]) => self.property(of).map(|of| format!("Option<{of}>")),
                (PropertyKind::SET, [of]) => self.key(of).map(|of| format!("HashSet<{of}>")),
                (PropertyKind::MAP, [key, value]) => {
                    self.key(key).zip(self.property(value)).map(|(key, value)| format!("HashMap<{key}, {value}>"))
                }
                _ => None,
            }),
            TypeText::Delegate(_, _, signature) => {
                let params: Option<Vec<_>> = signature.arguments.iter().map(|param| self.native(param)).collect();
                let result = signature.result.as_deref().map_or(Some("()".to_owned()), |result| self.native(result));
                match (params, result) {
                    (Some(params), Some(result)) if params.len() <= MOST_PARAMS => Form::Delegate(params, result),
                    _ => Form::Value,
                }
            }
        }
    }

    /// Returns the representation of a kind that contains no other type and refers to no declaration, such as numbers and strings.
    fn form_of_kind(&self, kind: PropertyKind) -> Form {
        let name = || self.of_host(kind.text().unwrap_or_default());
        match kind {
            PropertyKind::BOOL | PropertyKind::STRING | PropertyKind::NAME => Form::Native(name()),
            PropertyKind::UTF8_STRING | PropertyKind::ANSI_STRING | PropertyKind::FIELD_PATH => Form::Property(name()),
            PropertyKind::TEXT => Form::Property(self.of_host("LocalText")),
            number if number.is_number() => Form::Native(name()),
            _ => Form::Value,
        }
    }

    /// Returns the Rust type for a result or an `out` parameter.
    pub(crate) fn result(&self, text: &str) -> Option<String> {
        self.native(&text.parse().ok()?)
    }

    fn native(&self, ty: &TypeText) -> Option<String> {
        match self.form(ty) {
            Form::Native(ty) => Some(ty),
            _ => None,
        }
    }

    /// Returns the Rust type for input parameters.
    pub(crate) fn param(&self, text: &str) -> Option<String> {
        let ty: TypeText = text.parse().ok()?;
        let TypeText::Delegate(PropertyKind::DELEGATE, path, _) = &ty else { return self.native(&ty) };
        let Form::Delegate(params, result) = self.form(&ty) else { return None };
        match path {
            Some(path) => self.declared.delegates.iter().find(|found| found.path == *path).and_then(|found| {
                self.delegate(found)?;
                Some(identifier(own_name(path)))
            }),
            None if result == "()" => Some(format!("Delegate<fn({})>", params.join(", "))),
            None => Some(format!("Delegate<fn({}) -> {result}>", params.join(", "))),
        }
    }

    /// Returns the parameters and the result of a single delegate. Returns `None` for other delegates, and for types without a Rust type.
    pub(crate) fn delegate(&self, found: &DeclaredDelegate) -> Option<(Vec<String>, Option<String>)> {
        let owner = found.path.split_once(':').map_or(Some(&*found.path), |(class, _)| self.path(class).map(|_| class));
        let is_own = self.own.get(own_name(&found.path)) == Some(&&*found.path);
        if found.kind != "single" || !is_own || owner.is_none() || found.params.len() > MOST_PARAMS {
            return None;
        }
        let param =
            |param: &DeclaredProperty| Some(format!("{}: {}", identifier(&param.name), self.result(&param.ty)?));
        let params = found.params.iter().map(param).collect::<Option<Vec<_>>>()?;
        let result = found.result.as_deref().map(|result| self.result(result));
        match result {
            Some(None) => None,
            result => Some((params, result.flatten())),
        }
    }

    /// Returns the Rust type for properties and fields.
    fn property(&self, ty: &TypeText) -> Option<String> {
        match self.form(ty) {
            Form::Native(ty) | Form::Property(ty) => Some(ty),
            Form::Delegate(..) | Form::Value => None,
        }
    }

    /// Returns the Rust type for a key of a set or a map. Returns `None` for types that are not comparable and hashable.
    fn key(&self, ty: &TypeText) -> Option<String> {
        let is_key = match ty {
            TypeText::Plain(kind) => ![PropertyKind::F32, PropertyKind::F64, PropertyKind::TEXT].contains(kind),
            TypeText::Reference(kind, _) => *kind != PropertyKind::SCRIPT_INTERFACE,
            TypeText::Struct(_) | TypeText::Container(..) | TypeText::Delegate(..) => false,
        };
        self.property(ty).filter(|_| is_key)
    }

    /// Returns the fields of a struct with their Rust types. Fields of the base are first. Returns `None` if a field has no Rust type, or
    /// if the struct has no fields.
    pub(crate) fn fields(&self, found: &'a DeclaredStruct) -> Option<Vec<(&'a DeclaredProperty, String)>> {
        let mut fields = match &*found.base {
            "" => Vec::new(),
            // Returns `None` if the base is not in `structs` yet. A later iteration in `new` then processes the derived struct again.
            base => self.fields(self.structure(base).filter(|base| self.structs.contains(&*base.path))?)?,
        };
        for field in &found.fields {
            fields.push((field, self.property(&field.ty.parse().ok()?)?));
        }
        (!fields.is_empty()).then_some(fields)
    }

    fn structure(&self, path: &str) -> Option<&'a DeclaredStruct> {
        self.declared.structs.iter().find(|found| found.path == path)
    }

    fn is_class(&self, path: &str) -> bool {
        self.declared.classes.iter().any(|found| found.path == path)
    }

    /// Returns `true` if a struct can be a `plain_struct!`: all fields are numbers, names or known plain structs.
    fn is_plain(&self, found: &DeclaredStruct) -> bool {
        let is_plain_type = |ty: &str| match ty.parse() {
            Ok(TypeText::Plain(kind)) => kind.is_number() || kind == PropertyKind::NAME,
            Ok(TypeText::Struct(path)) => {
                let is_struct = self.path(&path).is_some() && !self.is_class(&path);
                is_struct && (self.plain.contains(&*path) || self.structure(&path).is_none())
            }
            _ => false,
        };
        // Excludes field names that would be raw identifiers in the generated source.
        found.base.is_empty()
            && !found.fields.is_empty()
            && found.fields.iter().all(|field| is_plain_type(&field.ty) && identifier(&field.name) == field.name)
    }
}

/// Maximum number of parameters of a typed function. Functions with more parameters are called with `Value`s.
pub(crate) const MOST_PARAMS: usize = 8;
