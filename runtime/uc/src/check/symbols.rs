//! What names mean: members of classes and structs, in one form for those that reflection has and those that the package
//! declares. Names are found in whatever case they are written; those of reflection also without their `_`.

use std::rc::Rc;

use alcedo_reflect::type_text::SignatureText;

use crate::ast;
use crate::hash::{HashMap, HashSet};
use crate::hir::{Access, Const, Num, Path, Type};
use crate::source::Span;
use crate::token::lower;

/// Classes, or structs, that extend one another in a row.
pub(super) const DEEPEST_EXTENSION: usize = 256;

/// The key of a property's metadata that says that it has so many elements.
pub(crate) const ARRAY_DIM: &str = "array_dim";

/// A place in the sources: the number of the file, and where in it.
pub(crate) type At = (usize, Span);

/// Things by name.
#[derive(Clone, Debug)]
pub(crate) struct Named<T> {
    /// By the name in lower case; the name as it is declared.
    exact: HashMap<String, (String, T)>,
    /// Without `_`; `None` where two are the same then.
    squashed: HashMap<String, Option<T>>,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self { exact: HashMap::default(), squashed: HashMap::default() }
    }
}

/// The value of a name in a map by names in lower case. Allocates for long names only.
pub(crate) fn get_caseless<'m, T>(map: &'m HashMap<String, T>, name: &str) -> Option<&'m T> {
    if map.is_empty() { None } else { map.get(&*lower(name, &mut [0; 64])) }
}

/// A name without `_`, in lower case.
pub(crate) fn squash(name: &str) -> String {
    name.chars().filter(|letter| *letter != '_').flat_map(char::to_lowercase).collect()
}

impl<T: Clone> Named<T> {
    /// By the very name, in whatever case.
    pub(crate) fn exact(&self, name: &str) -> Option<&T> {
        get_caseless(&self.exact, name).map(|(_, what)| what)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.exact(name).or_else(|| if self.squashed.is_empty() { None } else { self.squashed(&squash(name)) })
    }

    /// By the name that [`squash`] returns.
    pub(crate) fn squashed(&self, squashed: &str) -> Option<&T> {
        self.squashed.get(squashed)?.as_ref()
    }

    pub(crate) fn insert(&mut self, name: &str, what: T) {
        self.exact.insert(name.to_ascii_lowercase(), (name.to_owned(), what));
    }

    /// A name of reflection.
    pub(crate) fn insert_reflected(&mut self, name: &str, what: T) {
        let key = name.to_ascii_lowercase();
        self.exact.entry(key).or_insert_with(|| (name.to_owned(), what.clone()));
        self.squashed.entry(squash(name)).and_modify(|known| *known = None).or_insert(Some(what));
    }

    /// The names as they are declared.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.exact.values().map(|(name, _)| name)
    }
}

/// A property of a class or a field of a struct.
#[derive(Clone, Debug)]
pub(crate) struct PropSym {
    pub(crate) name: String,
    /// `None` when it has none that is known, which was told.
    pub(crate) ty: Option<Type>,
    /// Path of the class or struct that declares it.
    pub(crate) owner: Path,
    pub(crate) read: Access,
    pub(crate) write: Access,
    /// Whether scripts may read it at all.
    pub(crate) readable: bool,
    /// Whether scripts may write it at all, and why not.
    pub(crate) writable: Result<(), &'static str>,
    pub(crate) at: Option<At>,
}

/// A parameter.
#[derive(Clone, Debug)]
pub(crate) struct ParamSym {
    pub(crate) name: String,
    pub(crate) ty: Option<Type>,
    pub(crate) out: bool,
    pub(crate) optional: bool,
    pub(crate) coerce: bool,
    /// Whether the function says that it does not change it.
    pub(crate) is_const: bool,
}

/// What a wildcard parameter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wild {
    /// Any struct.
    Struct,
    /// Any array.
    Array,
    /// Any set.
    Set,
    /// Any map.
    Map,
    /// Anything. Of a set or map beside it, an element, a key or a value, as the name of the parameter says.
    Any,
    /// What the elements of the array are.
    Element,
    /// An array of what the elements of the array are.
    SameArray,
}

/// A function.
#[derive(Clone, Debug)]
pub(crate) struct FuncSym {
    pub(crate) name: String,
    /// Where it was declared.
    pub(crate) path: Path,
    /// Path of the class.
    pub(crate) owner: Path,
    pub(crate) params: Vec<ParamSym>,
    pub(crate) result: Option<Type>,
    /// Whether the type of the result is not known, which was told.
    pub(crate) result_unknown: bool,
    /// The parameter that is a class, of which the result is an object.
    pub(crate) result_by: Option<usize>,
    pub(crate) is_static: bool,
    /// Whether the nearest override is called.
    pub(crate) is_virtual: bool,
    pub(crate) is_final: bool,
    /// Whether scripts may call it.
    pub(crate) callable: bool,
    pub(crate) access: Access,
    /// The path of what it overrides, the first in the chain.
    pub(crate) first: Path,
    /// What its parameters take, where the caller decides.
    pub(crate) wild: Vec<Option<Wild>>,
    pub(crate) wild_result: Option<Wild>,
    pub(crate) at: Option<At>,
}

/// A delegate that a class declares.
#[derive(Clone, Debug)]
pub(crate) struct DelegateSym {
    pub(crate) name: String,
    pub(crate) func: Rc<FuncSym>,
    /// Its property.
    pub(crate) prop: Rc<PropSym>,
    /// The path of its body.
    pub(crate) body: Option<Path>,
}

/// A constant of a class.
#[derive(Clone, Debug)]
pub(crate) struct ConstSym {
    pub(crate) value: Rc<ast::Expr>,
    pub(crate) file: usize,
    pub(crate) at: At,
}

/// A class.
#[derive(Clone, Debug)]
pub(crate) struct ClassSym {
    pub(crate) path: Path,
    pub(crate) name: String,
    pub(crate) base: Option<Path>,
    /// The class that its objects lie in one of: `within X`.
    pub(crate) within: Option<Path>,
    /// Whether a class of its chain is not known, so that what is not found may be there.
    pub(crate) broken: bool,
    pub(crate) is_final: bool,
    pub(crate) is_abstract: bool,
    /// Why scripts may not extend it.
    pub(crate) closed: Option<&'static str>,
    pub(crate) props: Named<Rc<PropSym>>,
    /// How many values its variables and those of the classes of the package above have, with all elements of fixed arrays.
    pub(crate) values: u64,
    pub(crate) funcs: Named<Rc<FuncSym>>,
    pub(crate) delegates: Named<Rc<DelegateSym>>,
    pub(crate) consts: Named<Rc<ConstSym>>,
    pub(crate) interfaces: Vec<Path>,
    /// Subobjects by name, with their class.
    pub(crate) subobjects: Named<Path>,
}

/// A struct.
#[derive(Clone, Debug)]
pub(crate) struct StructSym {
    pub(crate) base: Option<Path>,
    /// All fields, those of the bases first.
    pub(crate) fields: Vec<Rc<PropSym>>,
    pub(crate) by_name: Named<Rc<PropSym>>,
    /// How many values it has, with all elements of fixed arrays and all fields of structs in it.
    pub(crate) values: u64,
    /// What its fields begin with, where the package says it.
    pub(crate) defaults: HashMap<String, Rc<Const>>,
    /// Whether it may have fields that are not known.
    pub(crate) broken: bool,
}

/// An enum.
#[derive(Clone, Debug)]
pub(crate) struct EnumSym {
    pub(crate) path: Path,
    pub(crate) name: String,
    pub(crate) num: Num,
    pub(crate) entries: Vec<(String, i128)>,
    pub(crate) at: Option<At>,
}

impl EnumSym {
    /// The entry of that name.
    pub(crate) fn entry(&self, name: &str) -> Option<&(String, i128)> {
        self.entries.iter().find(|(entry, _)| entry.eq_ignore_ascii_case(name)).or_else(|| {
            let wanted = squash(name);
            let mut found = self.entries.iter().filter(|(entry, _)| self.at.is_none() && squash(entry) == wanted);
            found.next().filter(|_| found.next().is_none())
        })
    }

    /// Whether the name is what stands for the number of entries: the name of the enum, or what all entries begin with, and `_MAX`.
    pub(crate) fn is_count(&self, name: &str) -> bool {
        let Some(before) = name
            .len()
            .checked_sub(4)
            .and_then(|at| name.get(at..).filter(|end| end.eq_ignore_ascii_case("_max")).and_then(|_| name.get(..at)))
        else {
            return false;
        };
        let begins = |(entry, _): &(String, i128)| {
            let front = entry.get(..before.len()).is_some_and(|front| front.eq_ignore_ascii_case(before));
            front && entry[before.len()..].starts_with('_')
        };
        self.name.eq_ignore_ascii_case(before) || (!self.entries.is_empty() && self.entries.iter().all(begins))
    }
}

/// All enums.
#[derive(Debug, Default)]
pub(crate) struct Enums {
    pub(crate) by_path: HashMap<Path, Rc<EnumSym>>,
    /// By the names of entries and of the number of entries, without `_`. Those of the package come first.
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

    /// The enums that have an entry of that name, or whose number of entries is called so.
    pub(crate) fn called(&self, name: &str) -> Vec<Rc<EnumSym>> {
        let called = self.called.get(&squash(name)).into_iter().flatten();
        called.filter(|found| found.entry(name).is_some() || found.is_count(name)).cloned().collect()
    }
}

impl FuncSym {
    /// A function of that class without name, parameters and result.
    pub(crate) fn bare(owner: &Path) -> Self {
        Self {
            name: String::new(),
            path: "".into(),
            owner: owner.clone(),
            params: Vec::new(),
            result: None,
            result_unknown: false,
            result_by: None,
            is_static: false,
            is_virtual: true,
            is_final: false,
            callable: true,
            access: Access::Public,
            first: "".into(),
            wild: Vec::new(),
            wild_result: None,
            at: None,
        }
    }

    /// The signature, as the words of delegates have it.
    pub(crate) fn signature(&self) -> Option<SignatureText> {
        let words = |ty: &Option<Type>| ty.as_ref()?.words();
        let arguments = self.params.iter().map(|param| words(&param.ty)).collect::<Option<Vec<_>>>()?;
        let outs = self.params.iter().enumerate().filter(|(_, param)| param.out).map(|(at, _)| at).collect();
        if self.result_unknown {
            return None;
        }
        let result = match &self.result {
            Some(result) => Some(Box::new(result.words()?)),
            None => None,
        };
        Some(SignatureText { arguments, outs, result })
    }
}
