//! Symbol tables with the members of classes and structs, and with the names of a function. Reflected types and types of the package are
//! represented by the same symbols. Lookups ignore case. Lookups of reflected names also ignore `_`.

use std::rc::Rc;

use alcedo_reflect::type_text::SignatureText;

use crate::ast;
use crate::hash::{HashMap, HashSet};
use crate::hir::{Access, Const, Num, Param, Path, Type};
use crate::source::Span;
use crate::token::lower;

/// Maximum depth of inheritance of classes and structs.
pub(super) const MAX_EXTENSION_DEPTH: usize = 256;

/// Location in the sources: index of the file, and span.
pub(crate) type At = (usize, Span);

/// Case-insensitive map by name.
#[derive(Clone, Debug)]
pub(crate) struct Named<T> {
    /// Maps the name in lower case to the declared name and its entry.
    exact: HashMap<String, (String, T)>,
    /// Maps the name in lower case without `_` to its entry. The entry is `None` if several names have this key.
    squashed: HashMap<String, Option<T>>,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self { exact: HashMap::default(), squashed: HashMap::default() }
    }
}

/// Looks up a name in a map with lower-case keys. Allocates memory only for long names.
pub(crate) fn get_caseless<'m, T>(map: &'m HashMap<String, T>, name: &str) -> Option<&'m T> {
    if map.is_empty() { None } else { map.get(&*lower(name, &mut [0; 64])) }
}

/// Returns the name in lower case without `_`. Scripts may use a reflected name in each spelling with an equal result.
pub fn squash(name: &str) -> String {
    name.chars().filter(|letter| *letter != '_').flat_map(char::to_lowercase).collect()
}

impl<T: Clone> Named<T> {
    /// Looks up the name, ignoring case.
    pub(crate) fn exact(&self, name: &str) -> Option<&T> {
        get_caseless(&self.exact, name).map(|(_, what)| what)
    }

    /// Returns the name as its declaration spells it.
    pub(crate) fn spelling(&self, name: &str) -> Option<&String> {
        get_caseless(&self.exact, name).map(|(spelling, _)| spelling)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.exact(name).or_else(|| if self.squashed.is_empty() { None } else { self.squashed(&squash(name)) })
    }

    /// Looks up a name in the form that [`squash`] returns.
    pub(crate) fn squashed(&self, squashed: &str) -> Option<&T> {
        self.squashed.get(squashed)?.as_ref()
    }

    pub(crate) fn insert(&mut self, name: &str, what: T) {
        self.exact.insert(name.to_ascii_lowercase(), (name.to_owned(), what));
    }

    /// Returns the entries of reflected members. Lookups also find their names without `_`.
    pub(crate) fn reflected<'m, M>(members: &'m [M], entry: impl Fn(&'m M) -> (&'m str, T)) -> Self {
        let mut named = Self::default();
        for (name, what) in members.iter().map(entry) {
            let key = name.to_ascii_lowercase();
            named.exact.entry(key).or_insert_with(|| (name.to_owned(), what.clone()));
            named.squashed.entry(squash(name)).and_modify(|known| *known = None).or_insert(Some(what));
        }
        named
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the declared names and their entries in unspecified order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(String, T)> {
        self.exact.values()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct PropSym {
    pub(crate) name: String,
    /// Type of the property. `None` if the type is unknown and its error is already reported.
    pub(crate) ty: Option<Type>,
    pub(crate) owner: Path,
    pub(crate) read: Access,
    pub(crate) write: Access,
    pub(crate) readable: bool,
    /// `Ok` if scripts can write the property. Otherwise, the message states the reason.
    pub(crate) writable: Result<(), &'static str>,
    pub(crate) at: Option<At>,
}

impl PropSym {
    /// Returns a property with read and write access for all scripts.
    pub(crate) fn public(name: String, ty: Option<Type>, owner: Path, at: Option<At>) -> Self {
        let (read, write, readable, writable) = (Access::Public, Access::Public, true, Ok(()));
        Self { name, ty, owner, read, write, readable, writable, at }
    }
}

/// Constraint on the type of the argument for a wildcard parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wild {
    Struct,
    /// Array with the element type of the first array argument.
    Array,
    Set,
    Map,
    /// Any type. If the call also has a set argument, the type is the element type of the set. If the call has a map argument, the type is
    /// the key or value type, depending on the parameter name.
    Any,
    /// Element type of the array.
    Element,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FuncSym {
    pub(crate) name: String,
    pub(crate) path: Path,
    pub(crate) owner: Path,
    pub(crate) params: Vec<Param>,
    /// Type of the result. [`Type::Nothing`] if the type is unknown and its error is already reported.
    pub(crate) result: Option<Type>,
    /// Index of the class parameter that determines the class of the result.
    pub(crate) result_by: Option<usize>,
    pub(crate) is_static: bool,
    /// True if calls dispatch to the nearest override.
    pub(crate) is_virtual: bool,
    pub(crate) is_final: bool,
    pub(crate) callable: bool,
    pub(crate) access: Access,
    /// Path of the function in the most basic class that declares it.
    pub(crate) first: Path,
    pub(crate) wild: Vec<Option<Wild>>,
    pub(crate) wild_result: Option<Wild>,
    pub(crate) at: Option<At>,
}

#[derive(Clone, Debug)]
pub(crate) struct DelegateSym {
    pub(crate) func: Rc<FuncSym>,
    pub(crate) prop: Rc<PropSym>,
}

#[derive(Clone, Debug)]
pub(crate) struct ConstSym {
    pub(crate) value: Rc<ast::Expr>,
    pub(crate) at: At,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ClassSym {
    pub(crate) path: Path,
    pub(crate) name: String,
    pub(crate) base: Option<Path>,
    /// Class in the specifier `within X`. In objects of this class, `Outer` has the type `X`.
    pub(crate) within: Option<Path>,
    /// True if a base class is unknown or could not be parsed completely. The base class may then declare members that seem to be missing.
    pub(crate) broken: bool,
    pub(crate) is_final: bool,
    pub(crate) is_abstract: bool,
    /// Reason why scripts cannot extend the class.
    pub(crate) closed: Option<&'static str>,
    pub(crate) props: Named<Rc<PropSym>>,
    /// Number of values in the properties of the class and of its base classes in the package. Counts each element of a fixed array.
    pub(crate) values: u64,
    pub(crate) funcs: Named<Rc<FuncSym>>,
    pub(crate) delegates: Named<Rc<DelegateSym>>,
    pub(crate) consts: Named<Rc<ConstSym>>,
    pub(crate) interfaces: Vec<Path>,
    /// Declared names and classes of subobjects by name.
    pub(crate) subobjects: Named<(String, Path)>,
}

impl ClassSym {
    /// Returns true if the class itself declares a variable, function or delegate of this name.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.props.exact(name).is_some() || self.funcs.exact(name).is_some() || self.delegates.exact(name).is_some()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct StructSym {
    pub(crate) base: Option<Path>,
    /// All fields. Inherited fields are first.
    pub(crate) fields: Vec<Rc<PropSym>>,
    pub(crate) by_name: Named<Rc<PropSym>>,
    /// Number of values of the struct. Counts each element of a fixed array and each field of a nested struct.
    pub(crate) values: u64,
    /// Defaults that the package specifies for fields, by field name.
    pub(crate) defaults: HashMap<String, Rc<Const>>,
    /// True if a part of the struct or of a base struct could not be parsed. The struct may then have unknown fields.
    pub(crate) broken: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct EnumSym {
    pub(crate) path: Path,
    pub(crate) name: String,
    pub(crate) num: Num,
    pub(crate) entries: Vec<(String, i128)>,
    pub(crate) at: Option<At>,
}

impl EnumSym {
    pub(crate) fn entry(&self, name: &str) -> Option<&(String, i128)> {
        self.entries.iter().find(|(entry, _)| entry.eq_ignore_ascii_case(name)).or_else(|| {
            let key = squash(name);
            let mut found = self.entries.iter().filter(|(entry, _)| self.at.is_none() && squash(entry) == key);
            found.next().filter(|_| found.next().is_none())
        })
    }

    /// Returns true if the name denotes the number of entries of the enum. Such a name consists of the enum name or the common prefix of
    /// all entries, followed by `_MAX`.
    pub(crate) fn is_count(&self, name: &str) -> bool {
        let split = name.len().checked_sub(4).and_then(|at| name.split_at_checked(at));
        let Some((before, _)) = split.filter(|(_, end)| end.eq_ignore_ascii_case("_max")) else { return false };
        let begins = |(entry, _): &(String, i128)| {
            let split = entry.split_at_checked(before.len());
            split.is_some_and(|(front, rest)| front.eq_ignore_ascii_case(before) && rest.starts_with('_'))
        };
        self.name.eq_ignore_ascii_case(before) || (!self.entries.is_empty() && self.entries.iter().all(begins))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Enums {
    pub(crate) by_path: HashMap<Path, Rc<EnumSym>>,
    /// Enums by the names of their entries, and by the names that denote the number of their entries. The keys omit `_`. Enums of the
    /// package are first.
    called: HashMap<String, Vec<Rc<EnumSym>>>,
}

impl Enums {
    pub(crate) fn insert(&mut self, symbol: EnumSym) {
        let symbol = Rc::new(symbol);
        self.by_path.insert(symbol.path.clone(), symbol.clone());
        let entries = symbol.entries.iter().map(|(entry, _)| entry.as_str());
        let first = entries.clone().next().unwrap_or_default();
        let starts = first.match_indices('_').map(|(at, _)| &first[..at]);
        let counts = starts.chain([symbol.name.as_str()]).map(|start| squash(start) + "max");
        let names: HashSet<_> = entries.map(squash).chain(counts).collect();
        for name in names {
            let called = self.called.entry(name).or_default();
            let at = if symbol.at.is_some() { 0 } else { called.len() };
            called.insert(at, symbol.clone());
        }
    }

    /// Returns the enums that have an entry of this name, or for which this name denotes the number of entries.
    pub(crate) fn called(&self, name: &str) -> Vec<Rc<EnumSym>> {
        let called = self.called.get(&squash(name)).into_iter().flatten();
        called.filter(|found| found.entry(name).is_some() || found.is_count(name)).cloned().collect()
    }
}

impl FuncSym {
    /// Creates a function that overrides no other function.
    pub(crate) fn new(name: String, path: Path, owner: &Path, params: Vec<Param>, result: Option<Type>) -> Self {
        let (first, owner) = (path.clone(), owner.clone());
        Self { name, path, owner, params, result, first, is_virtual: true, callable: true, ..Self::default() }
    }

    /// Returns the signature in the format of delegate types. Returns `None` if a type is unknown.
    pub(crate) fn signature(&self) -> Option<SignatureText> {
        let arguments = self.params.iter().map(|param| param.ty.type_text()).collect::<Option<Vec<_>>>()?;
        let out_parameters = self.params.iter().enumerate().filter(|(_, param)| param.out).map(|(at, _)| at).collect();
        let result = match &self.result {
            Some(result) => Some(Box::new(result.type_text()?)),
            None => None,
        };
        Some(SignatureText { arguments, out_parameters, result })
    }
}
