//! Tables of types by path. One table has the live types. During a reload, a shadow has the types of the new modules. Lookups prefer the
//! types of the shadow.

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
    /// All classes by id, in order of declaration, except classes that `Types::forget` removed.
    pub(crate) by_id: BTreeMap<ClassId, Rc<Class>>,
    pub(crate) live: Table,
    pub(crate) shadow: Option<Shadow>,
    /// Shadow that `Types::lower_shadow` has temporarily deactivated.
    pub(crate) lowered: Option<Shadow>,
}

/// Declared types by path. A path belongs to at most one type, regardless of the category.
pub(crate) type Paths = FxHashMap<Rc<str>, Type>;

/// Category of declared types, such as structs.
pub(crate) trait Category: Sized {
    /// Name of the category. Each category has a different name.
    const NAME: &'static str;

    /// Returns the type. Returns `None` if the type does not belong to the category.
    fn of(ty: &Type) -> Option<&Rc<Self>>;
}

macro_rules! categories {
    ($($category:ident: $ty:ty),*) => {
        /// Declared type of any category.
        #[derive(Debug)]
        pub(crate) enum Type {
            $($category(Rc<$ty>),)*
        }

        impl Type {
            pub(crate) fn path(&self) -> &Rc<str> {
                match self {
                    $(Self::$category(of) => &of.path,)*
                }
            }

            pub(crate) fn origin(&self) -> Origin {
                match self {
                    $(Self::$category(of) => of.origin,)*
                }
            }
        }

        $(
            impl Category for $ty {
                const NAME: &'static str = stringify!($category);

                fn of(ty: &Type) -> Option<&Rc<Self>> {
                    if let Type::$category(of) = ty { Some(of) } else { None }
                }
            }

            impl From<Rc<$ty>> for Type {
                fn from(of: Rc<$ty>) -> Self {
                    Self::$category(of)
                }
            }
        )*
    };
}
categories! { Class: Class, Enum: EnumType, Delegate: DelegateType, Struct: StructType, Interface: Interface }

#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) types: Paths,
    pub(crate) redirects: Redirects,
}

#[derive(Debug, Default)]
pub(crate) struct Shadow {
    pub(crate) table: Table,
    pub(crate) hidden: FxHashSet<Rc<str>>,
}

impl Registry {
    /// Returns the table to which new declarations are added.
    pub(crate) fn open_table(&mut self) -> &mut Table {
        match &mut self.shadow {
            Some(shadow) => &mut shadow.table,
            None => &mut self.live,
        }
    }

    /// Returns the type at a path: the type in the shadow, or a live type that the shadow does not hide.
    fn current(&self, path: &str) -> Option<&Type> {
        let live = self.live.types.get(path);
        match &self.shadow {
            Some(shadow) => shadow.table.types.get(path).or_else(|| live.filter(|_| !shadow.hidden.contains(path))),
            None => live,
        }
    }

    /// Returns the current type of a category at a path.
    pub(crate) fn visible<T: Category>(&self, path: &str) -> Option<&Rc<T>> {
        self.current(path).and_then(T::of)
    }

    /// Returns the live class at a path, if the active shadow hides this class.
    pub(crate) fn hidden_class(&self, path: &str) -> Option<&Rc<Class>> {
        let is_hidden = self.shadow.as_ref().is_some_and(|shadow| shadow.hidden.contains(path));
        self.live.types.get(path).filter(|_| is_hidden).and_then(Class::of)
    }

    /// Returns all current types of a category, in order of their paths.
    pub(crate) fn all<T: Category>(&self) -> Vec<Rc<T>> {
        let types = self.live.types.iter().chain(self.shadow.iter().flat_map(|shadow| &shadow.table.types));
        let paths: BTreeSet<_> = types.filter(|(_, ty)| T::of(ty).is_some()).map(|(path, _)| path).collect();
        paths.into_iter().filter_map(|path| self.visible::<T>(path).cloned()).collect()
    }

    /// Returns the type of a category at a path. Also resolves the earlier path of a renamed type.
    pub(crate) fn find<T: Category>(&self, path: &str) -> Option<Rc<T>> {
        self.resolve_with(path, |path| self.visible::<T>(path).cloned())
    }

    /// Checks if no current type has the path.
    pub(crate) fn is_free(&self, path: &str) -> bool {
        self.current(path).is_none()
    }
}
