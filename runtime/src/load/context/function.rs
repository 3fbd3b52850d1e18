//! Calls from any thread into contexts. A call uses an address only after entering the gate of the current generation. The lookup of the
//! generation takes no lock. If the generation is sealed before the call enters, the call is retried with the next generation.
#![expect(unsafe_code, reason = "calls functions whose image a lease keeps, with slots that fit their signature")]

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Weak};
use std::time::Duration;

use alcedo_abi::describe::ZCallInvoke;
use alcedo_abi::direct::DirectTrampoline;
use arc_swap::ArcSwapOption;

use crate::boundary::{CallError, mismatch};
use crate::bridge::dynamic_call;
use crate::bridge::fast_paths::HotTrampoline;
use crate::lease::{Lease, LeaseKind, Leases, Sealed, location_text};
use crate::load::context::free_context::FreeContext;
use crate::load::context::free_generation::{FreeGeneration, Target};
use crate::load::context::lookup;
use crate::load::context::registry::ContextRegistry;
use crate::load::context::scope;
use crate::load::context_id::ContextId;
use crate::load::error::LoadError;
use crate::load::error::context::ContextError;
use crate::load::tables::{self, Table};
use crate::object::native_value::{NativeResult, ValueParams, signature_of};
use crate::object::value::Value;
use crate::signature::Signature;

/// Function of a context, by name. Calls use the current generation of the context. If a dependency in a different context provides the
/// function, each call keeps that context loaded. The resolved function is cached per generation. A `ContextFunction` does not keep the
/// context alive. Usable on any thread. Cloning only increments a reference count. Clones refer to the same function.
///
/// # Examples
/// ```rust,no_run
/// use alcedo_runtime::{ContextError, ContextFunction, LoadContext, Value};
///
/// /// Looks the function up once; each call runs in the current generation.
/// fn pages(reports: &LoadContext, names: &[String]) -> Result<(), ContextError> {
///     let render: ContextFunction = reports.function("Report", "render", "String -> String")?;
///     for name in names {
///         println!("{:?}", render.call(&[Value::Text(name.clone())])?);
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct ContextFunction {
    named: Arc<NamedFunction>,
}

struct NamedFunction {
    registry: Weak<ContextRegistry>,
    line: Arc<FreeContext>,
    type_path: String,
    method: String,
    signature: Signature,
    /// Set if calls on a thread in a scope of the context use the generation of that scope.
    follows_scope: bool,
    bound: ArcSwapOption<Target>,
}

/// Resolves a function in a generation, and checks the signature of the function.
fn find(
    registry: impl Fn() -> Result<Arc<ContextRegistry>, ContextError>,
    generation: &Arc<FreeGeneration>,
    type_path: &str,
    method: &str,
    signature: &Signature,
) -> Result<Target, ContextError> {
    let target = lookup::function(generation, registry, type_path, method)?;
    let export = &target.export;
    // Also compares the signatures, because two different signatures may have equal fingerprints.
    let is_other = |words: Signature| words != *signature;
    if export.fingerprint != signature.fingerprint() || export.signature.parse().is_ok_and(is_other) {
        return Err(mismatch(&export.full, &export.signature, signature).into());
    }
    signature.needs_no_runtime(&export.full)?;
    Ok(target)
}

impl ContextFunction {
    /// Resolves the function and checks its signature. `here` is the generation whose scope this thread has entered, if any. If `here` is
    /// set, resolves the function in that generation. Later calls on threads in a scope of the context `line` then use the generation of
    /// that scope. Returns an error if the context is unloading, the function does not exist, or the signature differs.
    pub(super) fn new(
        registry: &ContextRegistry,
        line: &Arc<FreeContext>,
        here: Option<&Arc<FreeGeneration>>,
        (type_path, method): (&str, &str),
        signature: &str,
    ) -> Result<Self, ContextError> {
        let signature: Signature = signature.parse()?;
        let current =
            here.map_or_else(|| line.open(format!("looking up {type_path}:{method}")), |here| Ok(Arc::clone(here)))?;
        let named = NamedFunction {
            registry: registry.weak(),
            line: Arc::clone(line),
            type_path: type_path.to_owned(),
            method: method.to_owned(),
            signature,
            follows_scope: here.is_some(),
            bound: ArcSwapOption::empty(),
        };
        named.bind(&current)?;
        Ok(Self { named: Arc::new(named) })
    }

    /// Calls the function on this thread. Arguments and results are strings or plain values.
    ///
    /// # Errors
    /// Returns [`ContextError::ContextUnloading`] once the context is unloading, and [`CallError::TooDeep`] if the stack of the thread is
    /// nearly exhausted. Fails if the arguments do not match the signature. Fails if the current generation lacks the function or declares
    /// another signature. Returns errors and panics of the callee.
    #[track_caller]
    pub fn call(&self, arguments: &[Value]) -> Result<Option<Value>, ContextError> {
        let (named, from) = (&*self.named, Location::caller());
        let call = |bound: &Target| {
            dynamic_call::call_plainly(&bound.export.full, &named.signature, arguments, |buffer| {
                // SAFETY: the image stays mapped until this call returns. Either a lease keeps the generation of the scope (below),
                // or this thread is inside the gate of the generation that owns the image or has borrowed the module. A generation
                // keeps borrowed modules while calls are active. The slots were created from the signature whose fingerprint the
                // function has.
                unsafe { bound.export.call(buffer) }
            })
        };
        if let Some((generation, scope)) = named.entered() {
            let bound = named.bind(&generation)?;
            let owner = Arc::clone(&bound.export.full);
            let _inside = bound.enter_by(scope.again(LeaseKind::Call, owner, Some(location_text(from))))?;
            return Ok(call(&bound)?);
        }
        loop {
            let current = named.line.load_current();
            let Some(generation) = &*current else { return Err(named.line.unloading(named.action())) };
            // Reads the cache without a write to shared memory. Cloning the `Arc` would write the shared reference count.
            let (cached, fresh) = (named.bound.load(), &mut None);
            let bound = match &*cached {
                Some(bound) if bound.resolved_in == generation.gate.number() => bound,
                _ => &*fresh.insert(named.bind(generation)?),
            };
            let inside = match bound.enter(Some(from))? {
                // The current generation keeps its borrowed modules, even if the owner of a borrowed module is unloading.
                None => bound.enter_borrowed(generation, Some(from))?,
                inside => inside,
            };
            let Some(_inside) = inside else {
                named.check_replaced(generation)?;
                continue;
            };
            return Ok(call(bound)?);
        }
    }

    /// Returns the address of the function in the current generation. The generation stays mapped while the returned value exists.
    ///
    /// # Errors
    /// Returns [`ContextError::ContextUnloading`] once the context is unloading. Fails if the current generation lacks the function
    /// or declares another signature.
    #[track_caller]
    pub fn pointer(&self) -> Result<FunctionPointer, ContextError> {
        let (named, from) = (&*self.named, Location::caller());
        let owner = |bound: &Target| format!("pointer to {}", bound.export.full);
        let (bound, lease) = match named.entered() {
            Some((generation, scope)) => {
                let bound = named.bind(&generation)?;
                let lease = scope.again(LeaseKind::Borrow, owner(&bound), Some(location_text(from)));
                (bound, lease)
            }
            None => loop {
                let generation = named.line.open(named.action())?;
                let bound = named.bind(&generation)?;
                let take =
                    |leases: &Arc<Leases>| leases.take_at(LeaseKind::Borrow, owner(&bound), Some(location_text(from)));
                let borrowed = |sealed| bound.borrowed_slot.map_or(Err(sealed), |_| take(&generation.leases));
                match take(&bound.leases).or_else(borrowed) {
                    Ok(lease) => break (bound, lease),
                    Err(_sealed) => named.check_replaced(&generation)?,
                }
            },
        };
        Ok(FunctionPointer { bound, signature: named.signature.clone(), lease })
    }
}

impl NamedFunction {
    /// Returns the generation whose scope the thread has entered, with the lease of the scope. Returns `None` if the scope belongs to a
    /// different context.
    fn entered(&self) -> Option<(Arc<FreeGeneration>, Arc<Lease>)> {
        let is_of_context = |generation: &FreeGeneration| Arc::ptr_eq(&generation.resolvers, &self.line.resolvers);
        self.follows_scope.then(scope::entered).flatten().filter(|(generation, _)| is_of_context(generation))
    }

    /// Checks that a newer generation has replaced `resolved_in`. Called if the gate of `resolved_in` is closed.
    fn check_replaced(&self, resolved_in: &Arc<FreeGeneration>) -> Result<(), ContextError> {
        match &*self.line.load_current() {
            Some(current) if !Arc::ptr_eq(current, resolved_in) => Ok(()),
            _ => Err(self.line.unloading(self.action())),
        }
    }

    fn bind(&self, generation: &Arc<FreeGeneration>) -> Result<Arc<Target>, ContextError> {
        let registry = || self.registry.upgrade().ok_or_else(|| self.line.unloading("using it after its runtime"));
        let bound = find(registry, generation, &self.type_path, &self.method, &self.signature)?;
        let bound = Arc::new(bound);
        self.bound.store(Some(Arc::clone(&bound)));
        Ok(bound)
    }

    fn action(&self) -> String {
        format!("calling {}:{}", self.type_path, self.method)
    }
}

impl fmt::Debug for ContextFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.named.action(), self.named.line.title())
    }
}

/// Address of an exported function. Holds a lease that keeps the address valid. Usable on any thread.
///
/// # Examples
/// ```rust,no_run
/// use alcedo_runtime::{Error, LoadContext, Value};
///
/// /// Keeps the generation mapped while the pointer exists.
/// fn double(slim: &LoadContext, number: i64) -> Result<Option<Value>, Error> {
///     let pointer = slim.get_function_pointer("Math", "double", "i64 -> i64")?;
///     Ok(pointer.call(&[Value::I64(number)])?)
/// }
/// ```
pub struct FunctionPointer {
    bound: Arc<Target>,
    signature: Signature,
    lease: Lease,
}

impl FunctionPointer {
    /// Returns the address of the function. The address is valid while this value exists. The function has two parameters. The first is a
    /// buffer of slots, and the second is a record for the failure. All functions that are called by name have this calling convention.
    #[must_use]
    pub fn address(&self) -> *const () {
        self.bound.export.invoke.0 as *const ()
    }

    /// Returns the function pointer, for callers that fill the slots themselves.
    #[must_use]
    pub fn invoke(&self) -> ZCallInvoke {
        self.bound.export.invoke
    }

    /// Calls the function on this thread, even if the context is unloading.
    ///
    /// # Errors
    /// Fails if the arguments do not match the signature, or if the callee fails. Returns [`CallError::TooDeep`] if the stack of the thread
    /// is nearly exhausted.
    #[track_caller]
    pub fn call(&self, arguments: &[Value]) -> Result<Option<Value>, CallError> {
        let (export, from) = (&self.bound.export, Location::caller());
        let again = || self.lease.again(LeaseKind::Call, Arc::clone(&export.full), Some(location_text(from)));
        let _inside = self.bound.enter(Some(from))?.map_or_else(|| self.bound.enter_by(again()), Ok)?;
        dynamic_call::call_plainly(&export.full, &self.signature, arguments, |buffer| {
            // SAFETY: the lease keeps the image mapped. The slots were created from the signature whose fingerprint the function has.
            unsafe { export.call(buffer) }
        })
    }

    /// Returns the id of the generation that owns the function.
    #[must_use]
    pub fn context(&self) -> ContextId {
        self.bound.owner
    }
}

impl fmt::Debug for FunctionPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pointer to {} of context {}", self.bound.export.full, self.bound.owner)
    }
}

/// Module that implements a function table, in one generation of a context.
#[doc(hidden)]
pub struct TableModule {
    registry: Arc<ContextRegistry>,
    generation: Arc<FreeGeneration>,
    module: String,
}

impl TableModule {
    /// Finds the module in the current generation, and compares its function table with the table of the host. Returns an error if the
    /// context is unloading, or if the module is missing. Returns an error if the module lacks the table or has a different table.
    pub(super) fn new(
        registry: &Arc<ContextRegistry>,
        line: &FreeContext,
        module: &str,
        table: &Table,
    ) -> Result<Self, ContextError> {
        let generation = line.open(format!("taking the table {} of {module}", table.name))?;
        let modules = generation.modules();
        let no_such = |offered: Vec<&str>| ContextError::NoSuchFunction {
            context: generation.title(),
            function: format!("{module}:{}", table.name),
            offered: if offered.is_empty() { "nothing".to_owned() } else { offered.join(", ") },
        };
        let Some(found) = modules.iter().find(|found| found.name() == module) else {
            return Err(no_such(modules.iter().map(|module| module.name()).collect()));
        };
        if !tables::implements(module, found.described().tables, table).map_err(LoadError::from)? {
            return Err(no_such(found.exports.iter().map(|export| &*export.full).collect()));
        }
        Ok(Self { registry: Arc::clone(registry), generation, module: module.to_owned() })
    }

    /// Returns an entry of the table. Fails if the module lacks an entry with this signature.
    pub(crate) fn entry<A: ValueParams, R: NativeResult>(
        &self,
        table: &str,
        entry: &str,
    ) -> Result<TableEntry, ContextError> {
        let (type_path, signature) = (format!("{}:{table}", self.module), Signature(signature_of::<A, R>()?));
        let registry = || Ok(Arc::clone(&self.registry));
        let bound = find(registry, &self.generation, &type_path, entry, &signature)?;
        let no_code = || CallError::other(format!("`{}` has no code for direct calls", bound.export.full));
        let trampoline = bound.export.direct.ok_or_else(no_code)?;
        Ok(TableEntry { bound: Arc::new(bound), trampoline, count: A::COUNT })
    }
}

/// Entry of a function table in one generation of a context. Does not keep the generation alive. Usable on any thread. Clones refer to the
/// same entry.
#[derive(Clone)]
pub(crate) struct TableEntry {
    bound: Arc<Target>,
    trampoline: DirectTrampoline,
    /// Number of parameters.
    count: usize,
}

impl TableEntry {
    /// Calls `code` with the address of the function. An unload of the generation waits until `code` has returned. Returns
    /// [`ContextError::ContextUnloading`] once the generation is unloading, and [`CallError::TooDeep`] if the stack of the thread is nearly
    /// exhausted.
    #[inline]
    pub(crate) fn within<T>(
        &self,
        from: &'static Location<'static>,
        code: impl FnOnce(&HotTrampoline<'_>) -> T,
    ) -> Result<T, ContextError> {
        let Some(_inside) = self.bound.enter(Some(from))? else { return Err(self.gone()) };
        // SAFETY: this thread is inside the gate of the generation that owns the image, so the image stays mapped until `code` has
        // returned. The trampoline belongs to the export, whose signature has `count` parameters.
        Ok(code(&unsafe { HotTrampoline::new(self.trampoline, self.count) }))
    }

    #[cold]
    fn gone(&self) -> ContextError {
        let (leases, action) = (&self.bound.leases, format!("calling {}", self.bound.export.full));
        // Covers the moment between closing the gate and sealing the leases, in which the generation is already unloading.
        let just_now = || Sealed { owner: leases.owner().to_owned(), kind: LeaseKind::Call, since: Duration::ZERO };
        let sealed = leases.take(LeaseKind::Call, &*action).err().unwrap_or_else(just_now);
        ContextError::sealed(sealed, action)
    }
}

impl fmt::Debug for TableEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of context {}", self.bound.export.full, self.bound.owner)
    }
}
