//! Call cache for direct calls of object functions. Contains one target for each receiver class: the function's native body, a function of
//! a module, or a call through slots. The cached targets are valid until the version of direct calls (`FastPaths::version`) changes.

use std::any::Any;
use std::rc::Rc;

use alcedo_abi::direct::{DirectAnswer, MOST_WORDS};
use alcedo_abi::kinds::property_flags;
use alcedo_abi::zcall::Slot;

use crate::boundary::CallError;
use crate::bridge::calls::{self, Dispatch};
use crate::bridge::core::Core;
use crate::bridge::direct::MethodCall;
use crate::bridge::fast_paths::{Called, FastPaths, MethodFastPath};
use crate::bridge::host_direct::{NOT_DONE, failed_with};
use crate::handles::{ClassId, ObjectHandle};
use crate::object::World;
use crate::object::function::Function;
use crate::object::property::Property;
use crate::object::row::Row;
use crate::panic_guard::caught;
use crate::zcall::black_code::BlackCode;

/// Target of a call for objects of one class.
#[derive(Clone, Copy)]
pub(crate) enum Callee {
    Itself,
    Module(MethodFastPath),
    /// Slow path with slots, for example for an override in a script.
    WithSlots,
}

/// Cached target for objects of a class, with the version of direct calls at the resolution.
#[derive(Clone, Copy)]
struct Known {
    version: u64,
    class: ClassId,
    callee: Callee,
}

/// Empty cache entry. The version counter never reaches `u64::MAX`.
const NOTHING: Known = Known { version: u64::MAX, class: ClassId::NONE, callee: Callee::Itself };

/// Initial number of cache entries; a power of two.
const FEW: u32 = 8;

/// Maximum number of cache entries.
const MANY: u32 = 1024;

/// Direct-mapped cache, indexed by the low bits of the class id. Reloads assign new ids to classes, so several classes may share an index.
/// The cache grows when two classes that are used in one version have equal indexes.
struct KnownCallees(Row<Known>);

impl KnownCallees {
    fn new() -> Self {
        Self(Row::new(NOTHING))
    }

    /// Returns the cached target of a class, if present.
    #[inline(always)]
    fn of(&self, class: ClassId) -> Option<Known> {
        self.0.get(self.index(class)).filter(|known| known.class == class)
    }

    /// Returns the index of a class. The index is out of range while the cache is empty.
    #[inline(always)]
    fn index(&self, class: ClassId) -> u32 {
        class.0 & self.0.count().wrapping_sub(1)
    }

    fn keep(&self, found: Known) {
        let is_taken = |known: Known| known.version == found.version && known.class != found.class;
        let more = match self.0.get(self.index(found.class)) {
            None => FEW,
            // Growing the cache changes the indexes of some classes. The targets of these classes are resolved again at their next use.
            Some(known) if is_taken(known) && self.0.count() < MANY => self.0.count(),
            Some(_) => 0,
        };
        (0..more).for_each(|_| self.0.push());
        self.0.set(self.index(found.class), found);
    }
}

/// Call cache of one function. Game thread only.
pub(crate) struct Callees {
    function: Rc<Function>,
    /// Resolves fast paths into modules. `None` if the function cannot have a fast path.
    call: Option<MethodCall>,
    /// Set if the function has a native body for direct calls.
    is_native: bool,
    known: KnownCallees,
}

impl Callees {
    /// Creates the call cache of a module's function. Returns `None` if no fast path is possible: a value does not fit in a slot, there are
    /// too many parameters, or the function is static.
    pub(super) fn of_module(function: &Rc<Function>, dispatch: Dispatch) -> Option<Self> {
        Some(Self::new(function, dispatch, false)).filter(|callees| callees.call.is_some())
    }

    fn new(function: &Rc<Function>, dispatch: Dispatch, is_native: bool) -> Self {
        let is_plain =
            |property: &Property| property.ty.kind().fits_slot() && property.flags & property_flags::OUT == 0;
        let fits = function.params.iter().all(is_plain) && function.arguments().len() <= MOST_WORDS;
        let call = (fits && !calls::is_static(function)).then(|| MethodCall::new(function, dispatch));
        Self { function: Rc::clone(function), call, is_native, known: KnownCallees::new() }
    }

    /// Returns the cached target for a class, if valid.
    #[inline(always)]
    pub(crate) fn known(&self, fast_paths: &FastPaths, class: ClassId) -> Option<Callee> {
        let known = self.known.of(class)?;
        fast_paths.is_version(known.version).then_some(known.callee)
    }

    /// Resolves the target for an object and caches the target. Returns `None` if the object is destroyed or dormant, or if direct calls
    /// are currently not allowed.
    #[cold]
    pub(crate) fn resolve(&self, core: &Core, object: ObjectHandle) -> Option<Callee> {
        let (class, version) = (core.world.objects.class(object)?, core.fast_paths.version()?);
        let callee = if self.is_native && Rc::ptr_eq(class.dispatch(&self.function), &self.function) {
            Callee::Itself
        } else {
            core.fast_paths.module_version()?;
            // Caches no target for a dormant object, because objects of its class that are not dormant may have a fast path.
            if core.world.objects.waits_for(object).is_some() {
                return None;
            }
            let fast_path = self.call.as_ref().and_then(|call| call.fast_path(core, object));
            // Callers pass one word for each argument of this function, so an override must have the same number of arguments.
            let fast_path = fast_path.filter(|fast_path| fast_path.accepts(self.function.arguments().len()));
            fast_path.map_or(Callee::WithSlots, Callee::Module)
        };
        self.known.keep(Known { version, class: class.id, callee });
        Some(callee)
    }
}

/// Direct-call support of a native function: creates the code for a resolved name, and contains the function body for calls by the host.
/// Reflection stores this value as `dyn Any`.
pub(crate) struct DirectMaker {
    make: Box<Make>,
    body: Box<OwnBody>,
}

/// Function that creates the code for direct calls of a native function. Receives a call cache if the native function can be overridden.
type Make = dyn Fn(&Rc<Core>, Option<Callees>) -> BlackCode;

/// Runs the body of a native function on an object. The slots must match the function's parameters. Returns the result as a slot. Panics
/// propagate.
pub(crate) type OwnBody = dyn Fn(&World, ObjectHandle, &[Slot]) -> Result<Slot, CallError>;

impl DirectMaker {
    /// Creates the direct-call support of a function, as a type-erased value.
    pub(crate) fn kept(
        make: impl Fn(&Rc<Core>, Option<Callees>) -> BlackCode + 'static,
        body: impl Fn(&World, ObjectHandle, &[Slot]) -> Result<Slot, CallError> + 'static,
    ) -> Rc<dyn Any> {
        Rc::new(Self { make: Box::new(make), body: Box::new(body) })
    }

    #[inline]
    pub(crate) fn body(&self) -> &OwnBody {
        &*self.body
    }
}

/// Returns the code for direct calls of a native function. Returns `None` if the function does not support direct calls.
pub(crate) fn direct_of(core: &Rc<Core>, function: &Rc<Function>, dispatch: Dispatch) -> Option<BlackCode> {
    let maker = function.black_code.as_ref()?.downcast_ref::<DirectMaker>()?;
    let may_be_overridden = dispatch == Dispatch::Virtual && function.vslot.is_some();
    Some((maker.make)(core, may_be_overridden.then(|| Callees::new(function, dispatch, true))))
}

/// Converts the result of a call through a fast path to a `DirectAnswer`.
#[inline(always)]
pub(crate) fn answer_of(called: Called) -> DirectAnswer {
    match called {
        Some(Ok(bits)) => DirectAnswer::done(bits),
        Some(Err(error)) => failed_with(error),
        None => NOT_DONE,
    }
}

/// Performs the operations that remain after the red frame of a direct call has closed. The call itself is then complete, so a panic of
/// these operations is logged, and not returned as an error.
#[cold]
#[inline(never)]
pub(crate) fn clean_up(core: &Core, height: usize) {
    if let Err(message) = caught(|| core.red.clean_up(height)) {
        log!(ERROR, message, "work queued until the end of a plugin call panicked");
    }
}

#[cfg(test)]
mod tests {
    use super::{Callee, FEW, Known, KnownCallees, MANY};
    use crate::handles::ClassId;

    #[test]
    fn classes_have_separate_slots_and_reuse_those_of_earlier_versions() {
        let known = KnownCallees::new();
        assert!(known.of(ClassId(0)).is_none() && known.of(ClassId(7)).is_none());
        let keep = |version, class| known.keep(Known { version, class: ClassId(class), callee: Callee::Itself });
        let version = |class| known.of(ClassId(class)).map(|known| known.version);
        // Simulates many reloads. Each reload assigns the class an id that is far from the previous id.
        for reload in 1..=1000_u32 {
            keep(reload.into(), reload * 1000);
            assert_eq!(version(reload * 1000), Some(reload.into()));
        }
        assert_eq!(known.0.count(), FEW);
        // Uses many classes in one version.
        for _ in 0..12 {
            (0..200).filter(|class| version(*class) != Some(2000)).for_each(|class| keep(2000, class));
        }
        assert!((0..200).all(|class| version(class) == Some(2000)));
        for class in 0..5000 {
            keep(3000, class);
        }
        assert_eq!(known.0.count(), MANY);
        assert_eq!((version(4999), version(4999 - MANY)), (Some(3000), None));
    }
}
