//! Declares the types of all modules of one load, in batches. A batch contains several libraries, because libraries may refer to types of
//! each other. Each script package is a separate batch, because its source is checked against types that are already declared. On success,
//! all types are declared, and the cells that modules use to access types are filled. After an error, the caller drops the shadow (the set
//! of new types), so that no type is declared.

use std::rc::Rc;
use std::sync::Arc;

use crate::bridge::core::Core;
use crate::bridge::exports::{Export, ModuleExport};
use crate::bridge::module_thunk::export_call;
use crate::conjugate::class_hook_table::{ClassHooks, HookNames};
use crate::conjugate::gate::Gate;
use crate::emit::described::Described;
use crate::emit::error::EmitError;
use crate::emit::order::{ModuleNeeds, batches};
#[cfg(feature = "script")]
use crate::emit::scripts;
use crate::emit::{c_bodies, conversions, imports, read};
use crate::faults::{self, ReloadStep};
use crate::lease::Leases;
use crate::object::class::Class;
use crate::object::decl::Batch;
use crate::object::refusal::DeclareError;
use crate::signature::honest_words;

/// Module whose types are declared.
#[derive(Clone)]
pub(crate) struct Declarer<'a> {
    pub(crate) name: &'a str,
    /// Name, version and build, for errors about types that are declared twice.
    pub(crate) title: String,
    /// Gate of the module's code.
    pub(crate) gate: &'a Rc<Gate>,
    /// Leases that keep the code mapped.
    pub(crate) leases: &'a Arc<Leases>,
    /// Types, imports and exports that the module describes.
    pub(crate) described: Described,
    /// Source of the types, if the module is a script package.
    #[cfg(feature = "script")]
    pub(crate) scripts: Option<&'a Arc<crate::script::package::Package>>,
    /// Names of the required modules.
    pub(crate) needs: Vec<&'a str>,
}

impl Declarer<'_> {
    /// Returns the facts that determine the batch of the module.
    fn module_needs(&self) -> ModuleNeeds<'_> {
        #[cfg(feature = "script")]
        let is_script = self.scripts.is_some();
        #[cfg(not(feature = "script"))]
        let is_script = false;
        ModuleNeeds { name: self.name, is_script, needs: &self.needs }
    }

    /// Counts how often the module declares the type path `path`.
    fn declares(&self, path: &str) -> usize {
        #[cfg(feature = "script")]
        if let Some(package) = self.scripts {
            let alcedo_uc::Outline { types, delegates, .. } = &package.outline;
            return types.iter().chain(delegates).filter(|declared| **declared == *path).count();
        }
        let is_it = |package: &str, name: &str| path == format!("/Script/{package}.{name}");
        let Described { interfaces, enums, delegates, structs, classes, .. } = self.described;
        interfaces.iter().filter(|it| is_it(&it.package, &it.name)).count()
            + enums.iter().filter(|it| is_it(&it.package, &it.name)).count()
            + delegates.iter().filter(|it| it.class.is_empty() && is_it(&it.package, &it.name)).count()
            + structs.iter().filter(|it| is_it(&it.package, &it.name)).count()
            + classes.iter().filter(|it| is_it(&it.package, &it.name)).count()
    }
}

/// Declares the types of `modules`, and fills the `Cell`s of these modules with ids, offsets and handles. Returns the declared classes,
/// base classes first. `all` contains all modules of the generation, including modules that stay loaded.
///
/// # Errors
/// Returns the first declaration error, or the first import that cannot be resolved.
pub(crate) fn emit(
    core: &Rc<Core>,
    modules: &[Declarer<'_>],
    all: &[Declarer<'_>],
) -> Result<Vec<Rc<Class>>, EmitError> {
    let mut classes = Vec::new();
    for batch in batches(&modules.iter().map(Declarer::module_needs).collect::<Vec<_>>()) {
        let batch: Vec<_> = batch.into_iter().map(|at| &modules[at]).collect();
        classes.extend(declare(core, &batch, all)?);
    }
    faults::at(ReloadStep::Declare)?;
    for module in modules {
        enroll(core, module)?;
        faults::at(ReloadStep::Enroll)?;
    }
    for module in modules {
        let all = module.described.all_imports();
        for import in &all {
            imports::fill_import(core, module.name, import, &all)?;
        }
        faults::at(ReloadStep::FillCells)?;
    }
    Ok(classes)
}

/// Declares the types of one batch: several libraries, or one script package.
fn declare(core: &Rc<Core>, modules: &[&Declarer<'_>], all: &[Declarer<'_>]) -> Result<Vec<Rc<Class>>, EmitError> {
    #[cfg(feature = "script")]
    if let [module] = modules
        && let Some(package) = module.scripts
    {
        return scripts::declare(core, (module.gate, module.leases), package, &|source| refused(modules, all, source));
    }
    let mut batch = Batch::default();
    #[cfg(feature = "dll-bind")]
    let mut bodies = Vec::new();
    for module in modules {
        let before = batch.classes.len();
        read::add(&mut batch, &Rc::downgrade(core), module.gate, module.described)?;
        for class in &mut batch.classes[before..] {
            #[cfg(feature = "dll-bind")]
            bodies.extend(c_bodies::attach(core, Some(module.leases), class));
            #[cfg(not(feature = "dll-bind"))]
            c_bodies::attach(core, Some(module.leases), class);
        }
    }
    let declared =
        core.world.types.declare(&core.world.names, &batch).map_err(|source| refused(modules, all, source))?;
    #[cfg(feature = "dll-bind")]
    c_bodies::bind(&bodies, &declared.classes).map_err(|source| EmitError::Bind { modules: names(modules), source })?;
    Ok(declared.classes)
}

/// Returns the error for a rejected batch. If a path is declared twice, the error names both owners.
fn refused(modules: &[&Declarer<'_>], all: &[Declarer<'_>], source: DeclareError) -> EmitError {
    if let DeclareError::Duplicate { path } = &source {
        let declaring = all.iter().flat_map(|module| std::iter::repeat_n(&module.title, module.declares(path)));
        let mut declaring: Vec<_> = declaring.cloned().collect();
        // If the modules declare the path only once, the host has declared the path before.
        if declaring.len() == 1 {
            declaring.insert(0, "the host".to_owned());
        }
        if let [first, second, ..] = declaring.as_slice() {
            return EmitError::Clash { path: path.clone(), first: first.clone(), second: second.clone() };
        }
    }
    EmitError::Declare { modules: names(modules), source }
}

fn names(modules: &[&Declarer<'_>]) -> String {
    modules.iter().map(|module| module.name).collect::<Vec<_>>().join(", ")
}

/// Registers the classes and exports of a module, checks its structs, and fills the `Cell`s of its own classes.
fn enroll(core: &Rc<Core>, module: &Declarer<'_>) -> Result<(), EmitError> {
    for described in module.described.structs {
        let path = format!("/Script/{}.{}", described.package, described.name);
        let Some(found) = core.world.types.struct_by_path(&path) else { continue };
        imports::check_own(module.name, described, &found)?;
    }
    for described in module.described.classes {
        let path = format!("/Script/{}.{}", described.package, described.name);
        let Some(class) = core.world.types.class_by_path(&path) else { continue };
        let hooks = ClassHooks {
            class: class.id,
            path: Rc::clone(&class.path),
            hooks: described.hooks,
            gate: Rc::clone(module.gate),
            direct: read::direct_methods(described),
            names: HookNames::new(&format!("{}.{}", described.package, described.name)),
        };
        core.hooks.borrow_mut().insert(class.id, hooks);
        imports::fill_own(core, module.name, described, &class)?;
        conversions::check(module.name, &class)?;
    }
    core.chain.modules().set_title(module.gate.tag().id, &module.title);
    for described in module.described.exports {
        let signature = honest_words(described.signature.as_str(), described.fingerprint).into();
        let function = ModuleExport { signature, ..ModuleExport::of(module.name, described) };
        let export = Export { gate: Rc::clone(module.gate), function };
        if export.type_path.is_empty() {
            let name = Arc::clone(&export.name);
            let registered = core.explicit.register(&name, export_call(export, &Rc::downgrade(core)));
            registered.map_err(|error| EmitError::Export { module: module.name.to_owned(), error })?;
        } else {
            core.exports.add(export);
        }
    }
    Ok(())
}
