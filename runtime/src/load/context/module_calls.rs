//! Calls by name from a module of a Slim, a pinned context or the Default to what its context has: first what is its
//! own, then what it has of other contexts, then what the Default has. A call goes through the gate of the generation
//! that has the function, like one of the host, so it never meets an image that is gone.
//!
//! It loads nothing: a module that calls may be in the middle of a load itself. What a name was found to mean it means
//! for the rest of the caller's life.
#![expect(unsafe_code, reason = "calls functions whose image a gate keeps, with slots that fit their fingerprint")]

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use crate::border::CallError;
use crate::bridge::nm::{Method, is_type};
use crate::bridge::protocols::built_in;
use crate::handles::ZCallHandle;
use crate::load::context::calls::{Calling, EntryGate};
use crate::load::context::free_generation::FreeGeneration;
use crate::load::context::free_module::{FreeExport, FreeModule};
use crate::load::context::id::ContextId;
use crate::load::context::registry::ContextRegistry;
use crate::signature::Signature;
use crate::zcall::buffer::BufferMut;
use crate::zcall::free::FreeCalls;
use crate::zcall::name::ZCallName;

/// The calls of one module. Any thread; no lock is held while a callee runs.
pub(super) struct ModuleCalls {
    /// The generation that the module is of.
    generation: Weak<FreeGeneration>,
    registry: Weak<ContextRegistry>,
    table: RwLock<Table>,
}

#[derive(Default)]
struct Table {
    /// Handle -1 is the first: a module implements what is called.
    bound: Vec<Arc<Bound>>,
    handles: HashMap<ZCallName, ZCallHandle>,
}

/// A function as the generation has it that answers.
struct Bound {
    /// The gate of that generation.
    gate: Arc<EntryGate>,
    /// Its place there.
    place: u64,
    export: FreeExport,
}

/// A module, and the generation that it is of.
type Held = (Arc<FreeModule>, ContextId);

impl ModuleCalls {
    /// None yet, for a module of `generation`.
    pub(super) fn new(generation: &Arc<FreeGeneration>, registry: &Weak<ContextRegistry>) -> Self {
        Self { generation: Arc::downgrade(generation), registry: Weak::clone(registry), table: RwLock::default() }
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
        let (module, home, at) = find(&generation, &registry, name)?;
        let home = match home == generation.id {
            true => generation,
            false => registry.generation(home).ok_or_else(gone)?,
        };
        let place = home.place(&module, at).ok_or_else(gone)?;
        Ok(Bound { gate: Arc::clone(&home.gate), place, export: module.exports()[at].clone() })
    }
}

impl FreeCalls for ModuleCalls {
    fn resolve(&self, name: &str, fingerprint: u64) -> Result<ZCallHandle, CallError> {
        let name = built_in().read(name)?;
        if let Some((handle, bound)) = self.known(&name) {
            return bound.export.agree(fingerprint).map(|()| handle);
        }
        let bound = self.bind(&name)?;
        bound.export.agree(fingerprint)?;
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have come first; then its answer is the one.
        if let Some(&handle) = table.handles.get(&name) {
            return table.find(handle).map_or(Ok(()), |bound| bound.export.agree(fingerprint)).map(|()| handle);
        }
        table.bound.push(Arc::new(bound));
        let handle = ZCallHandle(-(table.bound.len() as u64).cast_signed());
        table.handles.insert(name, handle);
        Ok(handle)
    }

    fn call(&self, handle: ZCallHandle, buffer: BufferMut<'_>) -> Result<(), CallError> {
        let bound = self.table.read().unwrap_or_else(PoisonError::into_inner).find(handle);
        let bound = bound.ok_or_else(|| CallError::NotFound {
            message: format!("call handle {} was never given out: resolve a name first", handle.0),
        })?;
        // Where a module calls from is a place in its own image, which no report may point into.
        let calling = Calling { function: bound.place, from: None };
        let _inside = bound
            .gate
            .enter(calling, || Arc::clone(&bound.export.full))
            .ok_or_else(|| CallError::Unavailable { what: format!("`{}`", bound.export.full) })?;
        // SAFETY: this thread is inside the gate of the generation whose image it is, so that stays mapped until it
        // leaves; the caller made the slots for the fingerprint that was compared when the name was resolved.
        unsafe { bound.export.call(buffer) }
    }
}

impl Table {
    fn find(&self, handle: ZCallHandle) -> Option<Arc<Bound>> {
        let at = usize::try_from(handle.0.checked_neg()?).ok()?.checked_sub(1)?;
        self.bound.get(at).cloned()
    }
}

impl FreeExport {
    /// Whether a caller of that fingerprint may call it, and whether modules without objects can call it at all.
    ///
    /// # Errors
    /// [`CallError::Signature`] when it cannot.
    fn agree(&self, wanted: u64) -> Result<(), CallError> {
        if wanted == 0 {
            let way_out = "call it with values whose types are its own, as `zcall` does";
            return Err(CallError::other(format!("`{}`: no values of any type go to it here; {way_out}", self.full)));
        }
        if wanted != self.fingerprint {
            return Err(CallError::Signature {
                name: format!("`{}`", self.full),
                found: format!("{}, fingerprint {:016x}", self.signature, self.fingerprint),
                wanted: format!("fingerprint {wanted:016x}"),
            });
        }
        self.signature.parse::<Signature>()?.needs_no_runtime(&self.full)
    }
}

/// The function of that name, in the first step that has it.
fn find(
    generation: &Arc<FreeGeneration>,
    registry: &ContextRegistry,
    name: &ZCallName,
) -> Result<(Arc<FreeModule>, ContextId, usize), CallError> {
    let default = registry.default_generation();
    let (own, others): (Vec<Held>, _) = generation.held().into_iter().partition(|(_, home)| *home == generation.id);
    let steps = [own, others, default.held()];
    let method = Method::of(name);
    let is_meant = |module: &FreeModule, export: &FreeExport| match method {
        None => export.type_path.is_empty() && *export.name == *name.rest(),
        Some(Method { module: wanted, type_path, method }) => {
            *wanted == *module.name() && *export.name == *method && is_type(&export.type_path, type_path)
        }
    };
    if method.is_none() && name.protocol() != "ex" {
        let why =
            "its protocol leads to objects, which are the game thread's; modules here call `nm:/` and `ex:/` names";
        return Err(CallError::NotFound {
            message: format!("`{name}` cannot be called in {}: {why}", generation.title()),
        });
    }
    for held in &steps {
        let all = held.iter().flat_map(|(module, home)| {
            let exports = module.exports().iter().enumerate();
            exports.map(move |(at, export)| (module, *home, at, export))
        });
        let mut found: Vec<_> = all.filter(|(module, _, _, export)| is_meant(module, export)).collect();
        match found.len() {
            // A module that is named and there is the one that was meant.
            0 if names_one_of(name, held) => break,
            0 => {}
            1 => {
                let (module, home, at, _) = found.remove(0);
                return Ok((Arc::clone(module), home, at));
            }
            _ => {
                let who: Vec<_> = found
                    .iter()
                    .map(|(module, _, _, export)| format!("{} of {}", export.full, module.summary()))
                    .collect();
                let message = format!("`{name}` may be {}: name the module, or the whole type", who.join(" or "));
                return Err(CallError::NotFound { message });
            }
        }
    }
    let mut offered: Vec<_> =
        steps.iter().flatten().flat_map(|(module, _)| module.exports()).map(|export| &*export.full).collect();
    offered.dedup();
    let offered = if offered.is_empty() { "nothing".to_owned() } else { offered.join(", ") };
    let message = format!(
        "`{name}` leads nowhere in {}: complete modules of it, of those that it depends on and of the Default offer {offered}",
        generation.title()
    );
    Err(CallError::NotFound { message })
}

fn names_one_of(name: &ZCallName, held: &[Held]) -> bool {
    let Some(Method { module: wanted, .. }) = Method::of(name) else { return false };
    held.iter().any(|(module, _)| *module.name() == *wanted)
}
