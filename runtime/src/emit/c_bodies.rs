//! Class functions that a C library implements. The declaration of a class opens the library and binds each function. Dropping the class
//! closes the library.

use std::sync::Arc;

use alcedo_abi::describe::c_keys;
use alcedo_abi::kinds::function_flags;

#[cfg(feature = "dll-bind")]
use crate::bridge::core::BoundLibrary;
use crate::bridge::core::Core;
#[cfg(feature = "dll-bind")]
use crate::lease::LeaseKind;
use crate::lease::Leases;
use crate::object::decl::{ClassDecl, FunctionDecl};
use crate::object::meta::value_of;
#[cfg(feature = "dll-bind")]
use crate::object::origin::Origin;

#[cfg(feature = "dll-bind")]
pub(crate) use alcedo_dll_bind::Layouts;
#[cfg(all(feature = "dll-bind", feature = "script"))]
pub(crate) use bound::unreadable;
#[cfg(feature = "dll-bind")]
pub(crate) use bound::{CBody, bind};

/// Placeholder for C layouts in a host without the feature `dll-bind`.
#[cfg(all(feature = "script", not(feature = "dll-bind")))]
#[derive(Debug, Default)]
pub(crate) struct Layouts {}

#[cfg(all(feature = "script", not(feature = "dll-bind")))]
impl Layouts {
    fn floats(self, _structure: &str) -> Self {
        self
    }
}

/// Returns the C layouts that the host has specified for structs.
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

/// Returns C layouts that represent the `f64` fields of these structs as `float`.
#[cfg(any(feature = "dll-bind", feature = "script"))]
pub(crate) fn floats(structs: &[String]) -> Layouts {
    structs.iter().fold(Layouts::default(), |layouts, path| layouts.floats(path))
}

/// Returns an empty list. A host without the feature `dll-bind` binds no functions.
#[cfg(all(feature = "script", not(feature = "dll-bind")))]
pub(crate) fn unreadable(_: &[std::rc::Rc<crate::object::class::Class>], _: &Layouts) -> Vec<(String, String, String)> {
    Vec::new()
}

/// Returns true if the content of a C library of the module with these leases has changed since the library was opened. Only a reload of
/// the module opens the new file. Reads a file only if its stamp has changed. A file that is missing or is being written counts as
/// unchanged: the opened library remains in use until a linker has written its output. A library that was not opened because its file was
/// being written, or because it could not be copied, has changed as soon as the file is complete.
#[cfg(feature = "dll-bind")]
pub(crate) fn has_changed_library(core: &Core, leases: &Arc<Leases>) -> bool {
    let Some(code) = core.user_code.get() else { return false };
    let of_module = |bound: &&BoundLibrary| bound.leases.as_ptr() == Arc::as_ptr(leases);
    let has_changed = |bound: &BoundLibrary| {
        code.stamp(&bound.name) != bound.stamp
            && code.digest(&bound.name).is_some_and(|digest| Some(digest) != bound.digest)
    };
    core.bound_libraries.borrow().iter().filter(of_module).any(has_changed)
}

#[cfg(not(feature = "dll-bind"))]
pub(crate) fn has_changed_library(_core: &Core, _leases: &Arc<Leases>) -> bool {
    false
}

fn is_import(function: &FunctionDecl) -> bool {
    function.flags & function_flags::DLL_IMPORT != 0
}

/// Returns the name of the C library of a class. Returns `None` if the class imports no function from a C library.
fn library_of(decl: &ClassDecl) -> Option<&str> {
    decl.functions.iter().filter(|known| is_import(known)).find_map(|known| value_of(&known.meta, c_keys::LIBRARY))
}

/// Binds the class functions that a C library implements. If the library is missing, or if the host does not support C libraries, logs one
/// warning. Calls to these functions then have no effect.
#[cfg(feature = "dll-bind")]
pub(crate) fn attach(core: &Core, leases: Option<&Arc<Leases>>, decl: &mut ClassDecl) -> Vec<CBody> {
    let Some(name) = library_of(decl) else { return Vec::new() };
    let Some(code) = core.user_code.get() else {
        warn(decl, name);
        return Vec::new();
    };
    let stamp = code.stamp(name);
    let library = code.open_with(name, core.c_layouts.get().cloned().unwrap_or_default());
    if let Some(leases) = leases {
        let (leases, digest) = (Arc::downgrade(leases), library.digest());
        // Discards the stamp, which need not change before the library can be opened.
        let stamp = stamp.filter(|_| !library.may_open_later());
        let mut bound = core.bound_libraries.borrow_mut();
        bound.retain(|bound| bound.leases.strong_count() > 0);
        bound.push(BoundLibrary { leases, name: name.to_owned(), stamp, digest });
    }
    // The lease keeps the module loaded while the library is open. Reports list the library as the holder of the lease. If the module is
    // already unloading, no lease can be taken.
    let owner = format!("{name} of {}.{}", decl.package, decl.name);
    let lease = leases.and_then(|leases| leases.take_at(LeaseKind::Library, owner, None).ok());
    lease.into_iter().for_each(|lease| library.keep(lease));
    let (class, of_script) = (decl.path(), decl.origin == Origin::Script);
    let imports = decl.functions.iter_mut().filter(|known| is_import(known));
    imports.map(|function| CBody::attach(&class, &library, function, of_script)).collect()
}

#[cfg(not(feature = "dll-bind"))]
pub(crate) fn attach(_core: &Core, _leases: Option<&Arc<Leases>>, decl: &mut ClassDecl) {
    library_of(decl).into_iter().for_each(|library| warn(decl, library));
}

fn warn(decl: &ClassDecl, library: &str) {
    let class = format!("{}.{}", decl.package, decl.name);
    log!(
        WARN,
        class,
        library,
        "a class was not bound: this host calls no C libraries, so calls of its functions do nothing: name their folder with \
         `Builder::user_code`, or `--user-code` of `alcedo`"
    );
}

#[cfg(feature = "dll-bind")]
mod bound {
    use std::rc::Rc;

    #[cfg(feature = "script")]
    use alcedo_abi::kinds::function_flags;
    #[cfg(feature = "script")]
    use alcedo_dll_bind::Layouts;
    use alcedo_dll_bind::{BindError, Body, Library};

    use crate::object::class::Class;
    use crate::object::decl::{ClassDecl, FunctionDecl};

    /// Body of a class function that a C library implements. The body is bound to the C function when its class is declared.
    pub(crate) struct CBody {
        /// Path of the class.
        class: String,
        function: String,
        body: Rc<Body>,
    }

    impl CBody {
        /// Creates the body of `function`. `class` is the path of the class that declares the function.
        pub(crate) fn attach(class: &str, library: &Library, function: &mut FunctionDecl, of_script: bool) -> Self {
            let body = Body::new(library, of_script);
            function.thunk = body.thunk();
            Self { class: class.to_owned(), function: function.name.clone(), body }
        }

        pub(crate) fn is_of(&self, decl: &ClassDecl) -> bool {
            self.class == decl.path()
        }
    }

    /// Checks the imported functions of these script classes. Returns the functions whose signature C cannot represent, each with its class
    /// and the error. Opens no library.
    #[cfg(feature = "script")]
    pub(crate) fn unreadable(classes: &[Rc<Class>], layouts: &Layouts) -> Vec<(String, String, String)> {
        let mut found = Vec::new();
        for class in classes {
            for function in class.own_functions.iter().filter(|known| known.flags & function_flags::DLL_IMPORT != 0) {
                if let Err(error) = alcedo_dll_bind::check(function, layouts) {
                    found.push((class.name.to_string(), function.text.to_string(), error.to_string()));
                }
            }
        }
        found
    }

    /// Binds the bodies to the functions of the declared classes.
    pub(crate) fn bind(bodies: &[CBody], classes: &[Rc<Class>]) -> Result<(), BindError> {
        for CBody { class: path, function, body } in bodies {
            let class = classes.iter().find(|class| *class.path == **path);
            let function = class.and_then(|class| class.own_functions.iter().find(|found| *found.text == **function));
            function.map_or(Ok(()), |function| body.bind(function))?;
        }
        Ok(())
    }
}
