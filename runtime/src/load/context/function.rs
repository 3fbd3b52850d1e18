//! Calls into contexts that belong to no thread. Each call is a lease first and a look at the address second; it finds
//! the current generation without a lock, and goes on to the next one where it comes too late for the last.
#![expect(unsafe_code, reason = "calls functions whose image a lease keeps, with slots that fit their signature")]

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use alcedo_abi::describe::ZCallInvoke;
use alcedo_abi::direct::DirectShell;
use arc_swap::ArcSwapOption;

use crate::border::CallError;
use crate::bridge::dynamic_call;
use crate::bridge::ways::HotShell;
use crate::entry_gate::{Calling, EntryGate};
use crate::lease::{Lease, LeaseKind, Leases, Sealed, place_of};
use crate::load::context::free_context::FreeContext;
use crate::load::context::free_generation::FreeGeneration;
use crate::load::context::free_module::FreeExport;
use crate::load::context::lookup::{self, Target};
use crate::load::context::registry::ContextRegistry;
use crate::load::context::scope;
use crate::load::context_id::ContextId;
use crate::load::error::LoadError;
use crate::load::error::context::ContextError;
use crate::load::tables::{self, Table};
use crate::object::native_value::{NativeResult, ValueParams, signature_of};
use crate::object::value::Value;
use crate::signature::Signature;

/// A function of a context, by name: whichever generation of the context is the current one answers. One that it has of
/// another context is called there, and a call keeps that one. What the name was found to mean it means for the rest of
/// the generation. It keeps nothing alive. Any thread; a clone is another handle to the same function, and costs one count.
#[derive(Clone)]
pub struct ContextFunction {
    named: Arc<NamedFunction>,
}

/// A function as it was requested.
struct NamedFunction {
    line: Arc<FreeContext>,
    type_path: String,
    method: String,
    signature: Signature,
    /// Calls the generation of a scope of the context from a thread in that scope.
    follows_scope: bool,
    /// What it was in the generation that answered last.
    bound: ArcSwapOption<Bound>,
}

/// A function as one generation has it.
struct Bound {
    /// The number of the gate of the generation in which it was looked up.
    asked: u64,
    /// The gate of the generation that has it, which may be another context's.
    gate: Arc<EntryGate>,
    /// Its place there.
    place: u64,
    /// The place in the generation that was searched; none for an own module of that generation.
    lent: Option<u64>,
    export: FreeExport,
    /// The generation that has it, and its leases.
    home: ContextId,
    leases: Arc<Leases>,
}

impl Bound {
    /// Looks a function up in a generation, and compares the signature.
    fn find(
        line: &FreeContext,
        generation: &Arc<FreeGeneration>,
        type_path: &str,
        method: &str,
        signature: &Signature,
    ) -> Result<Self, ContextError> {
        let Target { home, place, lent, export } =
            lookup::function(generation, || ContextRegistry::of(line), type_path, method)?;
        // Two signatures may have one number, by chance or on purpose; they have not one text.
        let is_other = |words: Signature| words != *signature;
        if export.fingerprint != signature.fingerprint() || export.signature.parse().is_ok_and(is_other) {
            return Err(CallError::Signature {
                name: export.full.to_string(),
                found: export.signature.to_string(),
                wanted: signature.to_string(),
            }
            .into());
        }
        signature.needs_no_runtime(&export.full)?;
        let (gate, leases) = (Arc::clone(&home.gate), Arc::clone(&home.leases));
        Ok(Self { asked: generation.gate.number(), gate, place, lent, export, home: home.id, leases })
    }
}

impl ContextFunction {
    /// Looks the function up, and compares the signature.
    ///
    /// # Errors
    /// When the context is unloading, offers no such function, or offers it with another signature.
    pub(super) fn new(
        line: &Arc<FreeContext>,
        type_path: &str,
        method: &str,
        signature: &Signature,
    ) -> Result<Self, ContextError> {
        let generation = line.open(format!("looking up {type_path}:{method}"))?;
        Self::of(line, &generation, type_path, method, signature, false)
    }

    /// Looks the function up in this generation, and compares the signature. One that follows scopes is called, on a thread in a scope of
    /// `line`, in the generation of that scope.
    ///
    /// # Errors
    /// Returns the errors of [`ContextFunction::new`].
    pub(super) fn of(
        line: &Arc<FreeContext>,
        generation: &Arc<FreeGeneration>,
        type_path: &str,
        method: &str,
        signature: &Signature,
        follows_scope: bool,
    ) -> Result<Self, ContextError> {
        let named = NamedFunction {
            line: Arc::clone(line),
            type_path: type_path.to_owned(),
            method: method.to_owned(),
            signature: signature.clone(),
            follows_scope,
            bound: ArcSwapOption::empty(),
        };
        named.bind(generation)?;
        Ok(Self { named: Arc::new(named) })
    }

    /// Calls it on this thread, with text and plain values.
    ///
    /// # Errors
    /// [`ContextError::ContextUnloading`] once the context unloads; what the arguments do not fit; a function that the
    /// current generation has no more, or with another signature; what the callee fails with, its panic included.
    #[track_caller]
    pub fn call(&self, arguments: &[Value]) -> Result<Option<Value>, ContextError> {
        self.named.call(arguments, Location::caller())
    }

    /// The function's address in the current generation, which stays mapped while the guard is held.
    ///
    /// # Errors
    /// As [`ContextFunction::call`].
    #[track_caller]
    pub fn pointer(&self) -> Result<FunctionPointer, ContextError> {
        self.named.pointer(Location::caller())
    }
}

impl NamedFunction {
    fn call(&self, arguments: &[Value], from: &'static Location<'static>) -> Result<Option<Value>, ContextError> {
        if let Some((generation, scope)) = self.entered() {
            let bound = self.bind(&generation)?;
            let owner = Arc::clone(&bound.export.full);
            let _inside = scope.again(LeaseKind::Call, owner, Some(place_of(from)));
            let called = dynamic_call::call_plainly(&bound.export.full, &self.signature, arguments, |buffer| {
                // SAFETY: the lease keeps the generation, and so the image, which is its own or one that it was lent. The
                // slots were made by the signature whose fingerprint the function has.
                unsafe { bound.export.call(buffer) }
            });
            return Ok(called?);
        }
        loop {
            let current = self.line.load_current();
            let Some(generation) = &*current else { return Err(self.line.unloading(self.action())) };
            // Nothing that threads share is written here: not even the count of a share.
            let (cached, fresh) = (self.bound.load(), &mut None);
            let bound = match &*cached {
                Some(bound) if bound.asked == generation.gate.number() => bound,
                _ => &*fresh.insert(self.bind(generation)?),
            };
            let calling = |function| Calling { function, from: Some(from) };
            let name = || Arc::clone(&bound.export.full);
            // A generation keeps a module that it was lent, also while the lender unloads.
            let lent = || bound.lent.and_then(|place| generation.gate.enter(calling(place), name));
            let Some(_inside) = bound.gate.enter(calling(bound.place), name).or_else(lent) else {
                self.look_again(generation)?;
                continue;
            };
            let called = dynamic_call::call_plainly(&bound.export.full, &self.signature, arguments, |buffer| {
                // SAFETY: this thread is inside the gate of the generation whose image it is, or of one that was lent the
                // module and keeps it while calls are inside. So the image stays mapped until this thread leaves. The slots
                // were made by the signature whose fingerprint the function has.
                unsafe { bound.export.call(buffer) }
            });
            return Ok(called?);
        }
    }

    fn pointer(&self, from: &'static Location<'static>) -> Result<FunctionPointer, ContextError> {
        let owner = |bound: &Bound| format!("pointer to {}", bound.export.full);
        let (bound, lease) = match self.entered() {
            Some((generation, scope)) => {
                let bound = self.bind(&generation)?;
                let lease = scope.again(LeaseKind::Borrow, owner(&bound), Some(place_of(from)));
                (bound, lease)
            }
            None => loop {
                let generation = self.line.open(self.action())?;
                let bound = self.bind(&generation)?;
                let take =
                    |leases: &Arc<Leases>| leases.take_at(LeaseKind::Borrow, owner(&bound), Some(place_of(from)));
                let lent = |sealed| bound.lent.map_or(Err(sealed), |_| take(&generation.leases));
                match take(&bound.leases).or_else(lent) {
                    Ok(lease) => break (bound, lease),
                    Err(_sealed) => self.look_again(&generation)?,
                }
            },
        };
        let (export, signature) = (bound.export.clone(), self.signature.clone());
        Ok(FunctionPointer { export, signature, context: bound.home, _lease: lease })
    }

    /// The generation of this context whose scope the thread is in, and the lease of the scope.
    fn entered(&self) -> Option<(Arc<FreeGeneration>, Arc<Lease>)> {
        let is_of_context = |generation: &FreeGeneration| Arc::ptr_eq(&generation.resolvers, &self.line.resolvers);
        self.follows_scope.then(scope::entered).flatten().filter(|(generation, _)| is_of_context(generation))
    }

    /// The generation in which it was looked up is sealed: checks that a newer one is there.
    fn look_again(&self, asked: &Arc<FreeGeneration>) -> Result<(), ContextError> {
        match &*self.line.load_current() {
            Some(current) if !Arc::ptr_eq(current, asked) => Ok(()),
            _ => Err(self.line.unloading(self.action())),
        }
    }

    fn bind(&self, generation: &Arc<FreeGeneration>) -> Result<Arc<Bound>, ContextError> {
        let bound = Bound::find(&self.line, generation, &self.type_path, &self.method, &self.signature)?;
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

/// The address of an exported function, and the lease that keeps it good. Any thread.
pub struct FunctionPointer {
    export: FreeExport,
    signature: Signature,
    context: ContextId,
    _lease: Lease,
}

impl FunctionPointer {
    /// Where the function is. It takes a buffer of slots and a failure to fill, as every function called by name does,
    /// and is good as long as this value lives.
    #[must_use]
    pub fn address(&self) -> *const () {
        self.export.address()
    }

    /// The function itself, for callers that fill slots themselves.
    #[must_use]
    pub fn invoke(&self) -> ZCallInvoke {
        self.export.invoke()
    }

    /// Calls it on this thread.
    ///
    /// # Errors
    /// When the arguments do not fit, or the callee fails.
    pub fn call(&self, arguments: &[Value]) -> Result<Option<Value>, CallError> {
        dynamic_call::call_plainly(&self.export.full, &self.signature, arguments, |buffer| {
            // SAFETY: the lease keeps the image; the slots were made by the signature whose fingerprint the function has.
            unsafe { self.export.call(buffer) }
        })
    }

    /// The generation it is of.
    #[must_use]
    pub fn context(&self) -> ContextId {
        self.context
    }
}

impl fmt::Debug for FunctionPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pointer to {} of context {}", self.export.full, self.context)
    }
}

/// A module that implements a table, in one generation of a context.
#[doc(hidden)]
pub struct TableModule {
    line: Arc<FreeContext>,
    generation: Arc<FreeGeneration>,
    module: String,
}

impl TableModule {
    /// Finds the module in the current generation, and compares its table with that of the host.
    ///
    /// # Errors
    /// When the context is unloading, has no such module, or that implements no such table or another one.
    pub(super) fn new(line: &Arc<FreeContext>, module: &str, table: &Table) -> Result<Self, ContextError> {
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
            return Err(no_such(found.exports().iter().map(|export| &*export.full).collect()));
        }
        Ok(Self { line: Arc::clone(line), generation, module: module.to_owned() })
    }

    /// Binds an entry of the table.
    ///
    /// # Errors
    /// When the module does not have it with this signature.
    pub(crate) fn entry<A: ValueParams, R: NativeResult>(
        &self,
        table: &str,
        entry: &str,
    ) -> Result<TableEntry, ContextError> {
        let (type_path, signature) = (format!("{}:{table}", self.module), Signature(signature_of::<A, R>()?));
        let bound = Bound::find(&self.line, &self.generation, &type_path, entry, &signature)?;
        let no_code = || CallError::other(format!("`{}` has no code for direct calls", bound.export.full));
        let shell = bound.export.direct.ok_or_else(no_code)?;
        Ok(TableEntry { bound: Arc::new(bound), shell, count: A::COUNT })
    }
}

/// An entry of a table in one generation of a context. It keeps nothing alive. Any thread; a clone is the same.
#[derive(Clone)]
pub(crate) struct TableEntry {
    bound: Arc<Bound>,
    shell: DirectShell,
    /// Number of its parameters.
    count: usize,
}

impl TableEntry {
    /// Runs `code` with the pointer of the entry. The unload of its generation waits until `code` has returned.
    ///
    /// # Errors
    /// [`ContextError::ContextUnloading`] once its generation unloads.
    #[inline]
    pub(crate) fn within<T>(
        &self,
        from: &'static Location<'static>,
        code: impl FnOnce(&HotShell<'_>) -> T,
    ) -> Result<T, ContextError> {
        let calling = Calling { function: self.bound.place, from: Some(from) };
        let Some(_inside) = self.bound.gate.enter(calling, || Arc::clone(&self.bound.export.full)) else {
            return Err(self.gone());
        };
        // SAFETY: this thread is inside the gate of the generation whose image it is, so that stays mapped until `code` has returned. The
        // shell is that of the export, whose signature has so many parameters.
        Ok(code(&unsafe { HotShell::new(self.shell, self.count) }))
    }

    #[cold]
    fn gone(&self) -> ContextError {
        let (leases, action) = (&self.bound.leases, format!("calling {}", self.bound.export.full));
        // The gate is shut just before the leases are sealed.
        let just_now = || Sealed { owner: leases.owner().to_owned(), kind: LeaseKind::Call, since: Duration::ZERO };
        let sealed = leases.take(LeaseKind::Call, &*action).err().unwrap_or_else(just_now);
        ContextError::sealed(sealed, action)
    }
}

impl fmt::Debug for TableEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of context {}", self.bound.export.full, self.bound.home)
    }
}
