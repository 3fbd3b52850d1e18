//! Functions of classes that are implemented in a C library. The library is opened and each function is bound when its class is
//! declared. Dropping the class closes the library.

use std::sync::Arc;

use alcedo_abi::kinds::function_flags;

use crate::bridge::core::Core;
#[cfg(feature = "dll-bind")]
use crate::lease::LeaseKind;
use crate::lease::Leases;
use crate::object::decl::{ClassDecl, FunctionDecl};
#[cfg(feature = "dll-bind")]
use crate::object::origin::Origin;

#[cfg(feature = "dll-bind")]
pub(crate) use alcedo_dll_bind::Layouts;
#[cfg(all(feature = "dll-bind", feature = "script"))]
pub(crate) use bound::unreadable;
#[cfg(feature = "dll-bind")]
pub(crate) use bound::{CBody, bind};

/// C layouts of a host that calls no C libraries.
#[cfg(all(feature = "script", not(feature = "dll-bind")))]
#[derive(Debug, Default)]
pub(crate) struct Layouts {}

#[cfg(all(feature = "script", not(feature = "dll-bind")))]
impl Layouts {
    fn floats(self, _structure: &str) -> Self {
        self
    }
}

/// The stated C layouts of structs.
#[cfg(feature = "script")]
pub(crate) fn layouts(core: &Core) -> Layouts {
    #[cfg(feature = "dll-bind")]
    let layouts = core.c_layouts.get().cloned().unwrap_or_default();
    #[cfg(not(feature = "dll-bind"))]
    let layouts = {
        let _ = core;
        Layouts {}
    };
    layouts
}

/// The layouts of structs whose `f64` fields are `float` in C.
#[cfg(any(feature = "dll-bind", feature = "script"))]
pub(crate) fn floats(structs: &[String]) -> Layouts {
    structs.iter().fold(Layouts::default(), |layouts, path| layouts.floats(path))
}

/// The key of a function's metadata that names its library.
pub(crate) const LIBRARY: &str = "DllBind";
/// The key of the function's symbol, if it differs from the name.
#[cfg(feature = "dll-bind")]
pub(crate) const SYMBOL: &str = "DllSymbol";
/// The key of a parameter's metadata that holds the length of an array.
#[cfg(any(feature = "dll-bind", feature = "script"))]
pub(crate) const LEN: &str = "ArrayDim";

pub(crate) fn value_of<'a>(meta: &'a [(String, String)], key: &str) -> Option<&'a str> {
    meta.iter().find(|(known, _)| known == key).map(|(_, value)| &**value)
}

/// Returns an empty list: a host without the feature binds no function.
#[cfg(all(feature = "script", not(feature = "dll-bind")))]
pub(crate) fn unreadable(
    _: &[ClassDecl],
    _: &[std::rc::Rc<crate::object::class::Class>],
    _: &Layouts,
) -> Vec<(String, String, String)> {
    Vec::new()
}

fn is_import(function: &FunctionDecl) -> bool {
    function.flags & function_flags::DLL_IMPORT != 0
}

/// Binds the functions of a class that are in a C library. If the library is missing or the host calls no C libraries, one warning
/// is logged, and the functions do nothing.
#[cfg(feature = "dll-bind")]
pub(crate) fn attach(core: &Core, leases: Option<&Arc<Leases>>, decl: &mut ClassDecl) -> Vec<CBody> {
    let Some(name) = decl.functions.iter().filter(|known| is_import(known)).find_map(|it| value_of(&it.meta, LIBRARY))
    else {
        return Vec::new();
    };
    let Some(code) = core.user_code.get() else {
        warn(decl, name);
        return Vec::new();
    };
    let library = code.open_with(name, core.c_layouts.get().cloned().unwrap_or_default());
    // The lease keeps the module alive while its library is open, and reports name the library. An ending module grants no lease.
    let owner = format!("{name} of {}.{}", decl.package, decl.name);
    let lease = leases.and_then(|leases| leases.take_at(LeaseKind::Library, owner, None).ok());
    lease.into_iter().for_each(|lease| library.keep(lease));
    let (package, class) = (decl.package.clone(), decl.name.clone());
    let imports = decl.functions.iter_mut().filter(|known| is_import(known));
    let of_script = decl.origin == Origin::Script;
    imports.map(|function| CBody::attach((&package, &class), &library, function, of_script)).collect()
}

#[cfg(not(feature = "dll-bind"))]
pub(crate) fn attach(_core: &Core, _leases: Option<&Arc<Leases>>, decl: &mut ClassDecl) {
    let library = decl.functions.iter().filter(|known| is_import(known)).find_map(|it| value_of(&it.meta, LIBRARY));
    library.into_iter().for_each(|library| warn(decl, library));
}

fn warn(decl: &ClassDecl, library: &str) {
    let class = format!("{}.{}", decl.package, decl.name);
    tracing::warn!(
        class,
        library,
        "a class was not bound: this host calls no C libraries (`Builder::user_code`), so calls of its functions do nothing"
    );
}

#[cfg(feature = "dll-bind")]
mod bound {
    use std::rc::Rc;

    use alcedo_abi::kinds::function_flags;
    #[cfg(feature = "script")]
    use alcedo_dll_bind::Layouts;
    use alcedo_dll_bind::{BindError, Body, BoolWidth, Library, Manner};

    use super::{LEN, SYMBOL, value_of};
    use crate::object::class::Class;
    use crate::object::decl::{ClassDecl, FunctionDecl};

    /// A body that is bound once its class is declared.
    pub(crate) struct CBody {
        /// Package and name of the class.
        class: (String, String),
        function: String,
        body: Rc<Body>,
    }

    impl CBody {
        /// Creates the body of a function of that class.
        pub(crate) fn attach(
            (package, class): (&str, &str),
            library: &Library,
            function: &mut FunctionDecl,
            of_script: bool,
        ) -> Self {
            let body = Body::new(library, manner(function, of_script));
            function.thunk = body.thunk();
            Self { class: (package.to_owned(), class.to_owned()), function: function.name.clone(), body }
        }

        pub(crate) fn is_of(&self, decl: &ClassDecl) -> bool {
            (&self.class.0, &self.class.1) == (&decl.package, &decl.name)
        }
    }

    /// Returns the C calling convention that a declaration specifies.
    fn manner(function: &FunctionDecl, of_script: bool) -> Manner {
        let is = |flag| function.flags & flag != 0;
        let len = |meta: &[(String, String)]| value_of(meta, LEN)?.parse().ok();
        Manner {
            symbol: value_of(&function.meta, SYMBOL).map(str::to_owned),
            lens: function.params.iter().filter_map(|param| Some((param.name.clone(), len(&param.meta)?))).collect(),
            bool_width: match (is(function_flags::BOOL8), is(function_flags::BOOL32)) {
                (true, _) => BoolWidth::One,
                (false, true) => BoolWidth::Four,
                (false, false) => BoolWidth::Unstated,
            },
            no_cwd: is(function_flags::NO_CWD),
            of_script,
        }
    }

    /// Returns class, function and error of each imported function of these script classes that C cannot call. Needs no library.
    #[cfg(feature = "script")]
    pub(crate) fn unreadable(
        decls: &[ClassDecl],
        classes: &[Rc<Class>],
        layouts: &Layouts,
    ) -> Vec<(String, String, String)> {
        let mut found = Vec::new();
        for decl in decls {
            let class = classes.iter().find(|class| *class.package == *decl.package && *class.name == *decl.name);
            let functions = class.map(|class| &*class.own_functions).unwrap_or_default();
            for import in decl.functions.iter().filter(|known| super::is_import(known)) {
                let function = functions.iter().find(|function| *function.text == *import.name);
                let checked = function.map(|function| alcedo_dll_bind::check(function, &manner(import, true), layouts));
                if let Some(Err(error)) = checked {
                    found.push((decl.name.clone(), import.name.clone(), error.to_string()));
                }
            }
        }
        found
    }

    /// Binds the bodies to the functions of the declared classes.
    pub(crate) fn bind(bodies: &[CBody], classes: &[Rc<Class>]) -> Result<(), BindError> {
        for CBody { class: (package, name), function, body } in bodies {
            let class = classes.iter().find(|class| *class.package == **package && *class.name == **name);
            let function = class.and_then(|class| class.own_functions.iter().find(|found| *found.text == **function));
            function.map_or(Ok(()), |function| body.bind(function))?;
        }
        Ok(())
    }
}
