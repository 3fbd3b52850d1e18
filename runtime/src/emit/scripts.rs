//! Compiles the source of a script package into classes. The package is checked against the types that are already declared, and is
//! declared as a separate batch. Then its function bodies are compiled and linked. A call from outside of the package enters the gate of
//! the package's module and opens a red frame, as a call into a library does.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use alcedo_script::library;
use alcedo_uc::{Diagnostic, Options, Parsed, Source, hir};

use crate::bridge::core::Core;
use crate::bridge::module_thunk::script_thunk;
use crate::conjugate::gate::Gate;
use crate::emit::c_bodies::{self, Layouts};
use crate::emit::error::EmitError;
use crate::lease::Leases;
use crate::object::World;
use crate::object::class::Class;
use crate::object::refusal::DeclareError;
use crate::object::types::Types;
use crate::script::declare::batch;
use crate::script::package::{Package, rendered};

/// Checked package without errors, with its warnings.
pub(crate) struct CheckedSources {
    pub(crate) package: hir::Package,
    /// Warnings, one paragraph each.
    pub(crate) warnings: String,
}

/// Checks a package against `types`. `refused` maps each name that a module with errors declares to a description of the module.
///
/// # Errors
/// Returns all errors of the source.
fn check(types: &Types, package: &Package, refused: &HashMap<String, String>) -> Result<CheckedSources, EmitError> {
    let found = check_sources(types, &package.name, &package.sources, package.take_parsed(), refused);
    found.map_err(|found| wrong(package, rendered(&found, &package.sources)))
}

/// Checks the sources of a package.
///
/// # Errors
/// Returns all errors and warnings of the sources.
pub(crate) fn check_sources(
    types: &Types,
    package: &str,
    sources: &[Source],
    parsed: Parsed,
    refused: &HashMap<String, String>,
) -> Result<CheckedSources, Vec<Diagnostic>> {
    let options = Options { refused: refused.clone(), ..options() };
    let checked = alcedo_uc::check_parsed(package, sources, parsed, types, &options)?;
    Ok(CheckedSources { package: checked.package, warnings: rendered(&checked.warnings, sources) })
}

/// Checks a package and declares its types without bodies. Used by tools that inspect sources.
///
/// # Errors
/// Returns the errors of the source, or a declaration error.
pub(crate) fn check_and_declare(
    world: &World,
    package: &Package,
    refused: &HashMap<String, String>,
    layouts: &Layouts,
) -> Result<CheckedSources, EmitError> {
    let checked = check(&world.types, package, refused)?;
    let (batch, _bodies) = batch(&checked.package, 0);
    let refused = |source| EmitError::Declare { modules: package.name.clone(), source };
    let declared = world.types.declare(&world.names, &batch).map_err(refused)?;
    check_imports(package, &checked.package, layouts, &declared.classes)?;
    Ok(checked)
}

/// Checks that C can represent the types of `dllimport` functions.
fn check_imports(
    package: &Package,
    checked: &hir::Package,
    layouts: &Layouts,
    classes: &[Rc<Class>],
) -> Result<(), EmitError> {
    let found = c_bodies::unreadable(classes, layouts).into_iter().map(|(class, function, error)| {
        let class = checked.classes.iter().find(|known| known.name == class);
        let known = class.and_then(|class| class.functions.iter().find(|known| known.name == function));
        let at = (class.map_or(0, |class| class.file as usize), known.map_or(1, |known| known.line));
        Diagnostic::at_name("uc-dll-import", &package.sources, at, &function, error)
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() { Ok(()) } else { Err(wrong(package, rendered(&found, &package.sources))) }
}

fn wrong(package: &Package, diagnostics: String) -> EmitError {
    EmitError::Script { package: package.name.clone(), diagnostics }
}

/// Declares the types of a package. `refused` creates the error for a batch that reflection rejects.
///
/// # Errors
/// Returns the errors of the source, a declaration error, or the error of a body that cannot be linked.
pub(super) fn declare(
    core: &Rc<Core>,
    (gate, leases): (&Rc<Gate>, &Arc<Leases>),
    package: &Package,
    refused: &dyn Fn(DeclareError) -> EmitError,
) -> Result<Vec<Rc<Class>>, EmitError> {
    let mut checked = check(&core.world.types, package, &HashMap::new())?;
    if !checked.warnings.is_empty() {
        log!(WARN, package = package.name, "{}", checked.warnings);
    }
    let unlinked = |errors: Vec<alcedo_script::CompileError>| {
        let errors: Vec<_> = errors.iter().map(|error| format!("error: {error}")).collect();
        wrong(package, errors.join("\n"))
    };
    let code = alcedo_script::compile(&mut checked.package).map_err(unlinked)?;
    let (mut batch, bodies) = batch(&checked.package, gate.tag().id.0);
    for class in &mut batch.classes {
        // Calls from outside of the package pass through the gate.
        for function in &mut class.functions {
            let what = format!("{}.{}:{}", class.package, class.name, function.name).into();
            function.thunk = script_thunk(Rc::downgrade(core), Rc::clone(gate), Rc::clone(&function.thunk), what);
        }
    }
    #[cfg(feature = "dll-bind")]
    let in_c: Vec<_> = batch.classes.iter_mut().flat_map(|class| c_bodies::attach(core, Some(leases), class)).collect();
    #[cfg(not(feature = "dll-bind"))]
    batch.classes.iter_mut().for_each(|class| c_bodies::attach(core, Some(leases), class));
    let declared = core.world.types.declare(&core.world.names, &batch).map_err(refused)?;
    check_imports(package, &checked.package, &c_bodies::layouts(core), &declared.classes)?;
    #[cfg(feature = "dll-bind")]
    c_bodies::bind(&in_c, &declared.classes)
        .map_err(|source| EmitError::Bind { modules: package.name.clone(), source })?;
    let compiled = core.machine().load(&core.world, code).map_err(unlinked)?;
    bodies.fill(|path| compiled.thunk(path));
    let classes = declared.classes.iter().map(|class| class.id).collect();
    core.scripts.keep(gate.tag().id, compiled, classes);
    Ok(declared.classes)
}

/// Returns compiler options that list the classes of the script library. Scripts can call static functions of these classes without a class
/// name.
pub(crate) fn options() -> Options {
    Options { libraries: library::PATHS.iter().map(|path| (*path).to_owned()).collect(), ..Options::default() }
}

/// Base class of the classes in the script library.
pub(crate) const ROOT: &str = "/Script/Core.Object";

/// Declares the script library, unless it is already declared. Hosts that load no scripts do not declare the library. No
/// shadow may be active.
///
/// # Errors
/// Returns an error if a path of the library is already declared.
pub(crate) fn declare_library(world: &World) -> Result<Vec<Rc<Class>>, DeclareError> {
    if library::PATHS.iter().all(|path| world.types.class_by_path(path).is_some()) {
        return Ok(Vec::new());
    }
    world.types.declare_package(library::PACKAGE);
    Ok(world.types.declare(&world.names, &library::batch(ROOT))?.classes)
}
