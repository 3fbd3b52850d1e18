//! Calls by name from a module of a Slim, a pinned context or the Default. The search order is the generation of the caller, the borrowed
//! modules of this generation, the Default, and the functions of the host. Each call enters the gate of the generation that owns the
//! function. An entered gate keeps the images mapped. After the gate is closed, a call succeeds only if the caller's generation has
//! borrowed the module, or if the caller depends on the module. While a load runs, its modules may call only those of its modules on which
//! they depend: a failed load unloads its modules, although the gate is open.
//!
//! Calls do not load modules, because the calling module may be inside a load. Resolved names are cached while the calling module exists.
#![expect(unsafe_code, reason = "calls functions whose image a gate keeps, with slots that fit their fingerprint")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};

use alcedo_abi::host_direct::DirectCallee;

use crate::boundary::{CallError, mismatch, not_found};
use crate::bridge::exports::{ModuleExport, is_type, prefer_whole_paths};
use crate::bridge::nm::Method;
use crate::bridge::protocols::built_in;
use crate::handles::ZCallHandle;
use crate::lease::{Lease, Leases};
use crate::load::context::free_generation::{FreeGeneration, Target};
use crate::load::context::free_module::FreeModule;
use crate::load::context::host_functions::HostFunction;
use crate::load::context::registry::ContextRegistry;
use crate::signature::Signature;
use crate::zcall::buffer::BufferMut;
use crate::zcall::free::FreeCalls;
use crate::zcall::name::ZCallName;

/// Table of calls by name for one module. Usable on any thread. No lock is held while a callee runs.
pub(super) struct ModuleCalls {
    /// Generation that contains the calling module.
    generation: Weak<FreeGeneration>,
    registry: Weak<ContextRegistry>,
    /// Gate word of the host for direct calls.
    word: Arc<AtomicU64>,
    /// The calling module and its dependencies. Set once the module is mapped.
    caller: OnceLock<(Weak<FreeModule>, Vec<Weak<FreeModule>>)>,
    table: RwLock<Table>,
}

#[derive(Default)]
struct Table {
    /// Resolved functions. Handle -1 refers to the first entry, -2 to the second.
    bound: Vec<Arc<Bound>>,
    handles: HashMap<ZCallName, ZCallHandle>,
}

enum Bound {
    Module(Exported),
    Host(Arc<HostFunction>),
}

struct Exported {
    target: Target,
    users: Arc<Leases>,
}

impl ModuleCalls {
    /// Creates an empty table for a module of `generation`.
    pub(super) fn new(generation: &Arc<FreeGeneration>, registry: &ContextRegistry) -> Arc<Self> {
        let (generation, registry, word) = (Arc::downgrade(generation), registry.weak(), registry.functions.word());
        Arc::new(Self { generation, registry, word, caller: OnceLock::new(), table: RwLock::default() })
    }

    /// Sets the calling module and its dependencies.
    pub(super) fn set_caller(&self, module: &Arc<FreeModule>, needs: Vec<Weak<FreeModule>>) {
        let _first = self.caller.set((Arc::downgrade(module), needs));
    }

    /// Takes a lease on the module of a function for one call. Used if the gate of the owning generation is closed, or if the load of the
    /// module still runs. Returns `None` if the caller does not depend on the module.
    fn use_again(&self, bound: &Exported) -> Option<Lease> {
        let (caller, _needs) = self.caller.get()?;
        caller.upgrade()?.use_again(&bound.users, &bound.target.export.full)
    }

    /// Returns the modules of `generation` itself, its borrowed modules, and the dependencies of the calling module.
    fn held(&self, generation: &FreeGeneration) -> Vec<Arc<FreeModule>> {
        let mut held = generation.held();
        let needs = self.caller.get().into_iter().flat_map(|(_caller, needs)| needs).filter_map(Weak::upgrade);
        for module in needs {
            if !held.iter().any(|known| Arc::ptr_eq(known, &module)) {
                held.push(module);
            }
        }
        held
    }

    fn bound(&self, handle: ZCallHandle) -> Result<Arc<Bound>, CallError> {
        let bound = self.table.read().unwrap_or_else(PoisonError::into_inner).find(handle);
        bound.ok_or_else(|| not_found(format!("call handle {} is unknown: resolve a name first", handle.0)))
    }

    fn known(&self, name: &ZCallName) -> Option<(ZCallHandle, Arc<Bound>)> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let handle = *table.handles.get(name)?;
        Some((handle, table.find(handle)?))
    }

    fn bind(&self, name: &ZCallName) -> Result<Bound, CallError> {
        let gone = || CallError::Unavailable { what: format!("`{name}`") };
        let (generation, registry) =
            (self.generation.upgrade().ok_or_else(gone)?, self.registry.upgrade().ok_or_else(gone)?);
        find(&generation, self.held(&generation), &registry, name, gone)
    }

    fn call_module(&self, exported: &Exported, buffer: BufferMut<'_>) -> Result<(), CallError> {
        let bound = &exported.target;
        if !bound.is_complete()
            && let Some(own) = self.generation.upgrade()
        {
            own.complete(bound, &exported.users);
        }
        // Passes no source location, because the location is a static in the caller's image. A report may be formatted after this image is
        // unmapped.
        let inside = bound.enter(None)?;
        // While a call is active in the caller's generation, the generation keeps its borrowed modules.
        let own = if inside.is_none() && bound.borrowed_slot.is_some() { self.generation.upgrade() } else { None };
        let borrowed = own.as_deref().map_or(Ok(None), |own| bound.enter_borrowed(own, None))?;
        let used = match inside.is_none() && borrowed.is_none() {
            true => self.use_again(exported).map(|lease| bound.enter_by(lease)).transpose()?,
            false => None,
        };
        if inside.is_none() && borrowed.is_none() && used.is_none() {
            return Err(CallError::Unavailable { what: format!("`{}`", bound.export.full) });
        }
        // SAFETY: the image stays mapped until this call returns. Either this thread is inside the gate of the generation that
        // owns the image or of a generation that keeps the module, or this call holds a lease on the module. The caller
        // created the slots for the fingerprint that was compared when the name was resolved.
        unsafe { bound.export.call(buffer) }
    }
}

impl FreeCalls for ModuleCalls {
    fn resolve(&self, name: &str, fingerprint: u64) -> Result<ZCallHandle, CallError> {
        let name = built_in().read(name)?;
        if let Some((handle, bound)) = self.known(&name) {
            return bound.agree(fingerprint).map(|()| handle);
        }
        let bound = self.bind(&name)?;
        bound.agree(fingerprint)?;
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        // If a concurrent thread has resolved the name first, the result of that thread is kept.
        if let Some(&handle) = table.handles.get(&name) {
            return table.find(handle).map_or(Ok(()), |bound| bound.agree(fingerprint)).map(|()| handle);
        }
        table.bound.push(Arc::new(bound));
        let handle = ZCallHandle(-(table.bound.len() as u64).cast_signed());
        table.handles.insert(name, handle);
        Ok(handle)
    }

    fn call(&self, handle: ZCallHandle, mut buffer: BufferMut<'_>) -> Result<(), CallError> {
        match &*self.bound(handle)? {
            Bound::Module(exported) => self.call_module(exported, buffer),
            Bound::Host(function) => function.call(&mut buffer),
        }
    }

    fn direct(&self, handle: ZCallHandle, fingerprint: u64) -> Result<DirectCallee, CallError> {
        let bound = self.bound(handle)?;
        bound.agree(fingerprint)?;
        Ok(match &*bound {
            Bound::Module(_) => DirectCallee::NONE,
            // The address stays valid, because the table keeps the function alive.
            Bound::Host(function) => function.direct(self.word.load(Ordering::SeqCst)),
        })
    }

    fn direct_word(&self) -> &AtomicU64 {
        &self.word
    }
}

impl Table {
    fn find(&self, handle: ZCallHandle) -> Option<Arc<Bound>> {
        let at = usize::try_from(handle.0.checked_neg()?).ok()?.checked_sub(1)?;
        self.bound.get(at).cloned()
    }
}

impl Bound {
    /// Checks the fingerprint that a caller expects. Returns [`CallError::Signature`] if the fingerprint is zero or differs. A fingerprint
    /// of zero would accept values of any type, but modules without objects cannot pass such values.
    fn agree(&self, expected: u64) -> Result<(), CallError> {
        let (full, fingerprint, signature) = match self {
            Self::Module(Exported { target: Target { export, .. }, .. }) => {
                (&export.full, export.fingerprint, &export.signature)
            }
            Self::Host(function) => (&function.full, function.fingerprint, &function.signature),
        };
        if expected == 0 {
            let help = "call it with values whose types are its own, as `zcall` does";
            return Err(CallError::other(format!("`{full}`: values of any type cannot be passed to it here; {help}")));
        }
        if expected != fingerprint {
            return Err(mismatch(
                &format_args!("`{full}`"),
                &format_args!("{signature}, fingerprint {fingerprint:016x}"),
                &format_args!("fingerprint {expected:016x}"),
            ));
        }
        signature.parse::<Signature>()?.needs_no_runtime(full)
    }
}

/// Finds a function by name. Returns the function of the first search step that contains the name. Returns the error `gone` if the owner
/// of the function has ended.
fn find(
    generation: &Arc<FreeGeneration>,
    held: Vec<Arc<FreeModule>>,
    registry: &ContextRegistry,
    name: &ZCallName,
    gone: impl Fn() -> CallError,
) -> Result<Bound, CallError> {
    let default = registry.default_generation();
    let (own, others): (Vec<_>, _) = held.into_iter().partition(|module| module.context == generation.id);
    let steps = [own, others, default.held()];
    let method = Method::of(name);
    let is_meant = |module: &FreeModule, export: &ModuleExport| match method {
        None => export.type_path.is_empty() && *export.name == *name.rest(),
        Some(Method { module: expected, type_path, method }) => {
            *expected == *module.name() && *export.name == *method && is_type(&export.type_path, type_path)
        }
    };
    if method.is_none() && name.protocol() != "ex" {
        let why = "its protocol resolves to objects, which belong to the game thread; modules here call `nm:/` and `ex:/` names";
        return Err(not_found(format!("`{name}` cannot be called in {}: {why}", generation.title())));
    }
    for held in &steps {
        let all = held.iter().flat_map(|module| {
            let exports = module.exports.iter().enumerate();
            exports.map(move |(at, export)| (module, at, export))
        });
        let mut found: Vec<_> = all.filter(|(module, _, export)| is_meant(module, export)).collect();
        let is_whole = |export: &ModuleExport| method.is_some_and(|method| *export.type_path == *method.type_path);
        prefer_whole_paths(&mut found, |(_, _, export)| is_whole(export));
        match found.len() {
            // If the named module is present, the search ends, even if the module lacks the function.
            0 if method.is_some_and(|method| held.iter().any(|module| *module.name() == *method.module)) => break,
            0 => {}
            1 => {
                let (module, at, _) = found.remove(0);
                let owner = match module.context {
                    own if own == generation.id => Arc::clone(generation),
                    other => registry.generation(other).ok_or_else(&gone)?,
                };
                let target = generation.target(&owner, module, at).ok_or_else(&gone)?;
                return Ok(Bound::Module(Exported { target, users: Arc::clone(&module.users) }));
            }
            _ => {
                let candidates =
                    found.iter().map(|(module, _, export)| format!("{} of {}", export.full, module.summary()));
                let candidates = candidates.collect::<Vec<_>>().join(" or ");
                return Err(not_found(format!("`{name}` may be {candidates}: name the module, or the whole type")));
            }
        }
    }
    let of_host = method.is_none().then(|| registry.functions.find(name.rest())).flatten();
    if let Some(function) = of_host {
        return Ok(Bound::Host(function));
    }
    let of_host = registry.functions.names();
    let exports = steps.iter().flatten().flat_map(|module| &module.exports).map(|export| &*export.full);
    let mut offered: Vec<_> = exports.chain(of_host.iter().map(|name| &**name)).collect();
    offered.dedup();
    let offered = if offered.is_empty() { "nothing".to_owned() } else { offered.join(", ") };
    Err(not_found(format!(
        "`{name}` does not resolve in {}: complete modules of this context, of its dependencies and of the Default, and the host offer {offered}",
        generation.title()
    )))
}
