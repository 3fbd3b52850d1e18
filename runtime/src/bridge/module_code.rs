//! Direct calls between plugins, without slots. The host opens the red frame, performs the checks that every call into a module requires,
//! and passes the register arguments to the module's trampoline. Each handle caches its resolved target. If the cached target is no longer
//! valid, the target is resolved again.
#![expect(unsafe_code, reason = "enters modules through cached targets, from the core of its context")]

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::rc::Rc;

use alcedo_abi::direct::DirectAnswer;
use alcedo_abi::host::DirectoryEntry;
use alcedo_abi::host_direct::{DirectBits, DirectBody};

use crate::bridge::callees::{Callee, Callees, answer_of, clean_up};
use crate::bridge::calls::Dispatch;
use crate::bridge::core::Core;
use crate::bridge::direct::{export_fast_path, parameters};
use crate::bridge::exports::Export;
use crate::bridge::fast_paths::{FastPaths, MethodFastPath, StaticFastPath, Word};
use crate::bridge::host_direct::NOT_DONE;
use crate::handles::ObjectHandle;
use crate::object::function::Function;
use crate::zcall::black_code::BlackCode;

/// Data that the code for a direct call receives. The code uses this data only while a red frame is open. The open frame guarantees that
/// the data exists.
pub(crate) struct Context<T> {
    pub fast_paths: FastPaths,
    core: NonNull<Core>,
    pub target: T,
}

/// Function that caches its resolved targets.
pub(crate) trait Target<Bits>: Sized {
    /// Calls the cached target. Returns `None` if no valid target is cached for this object. A red frame is open. The caller may run in a
    /// coroutine, where no target may be called.
    ///
    /// # Safety
    /// `bits` must have one word for each parameter of the function.
    unsafe fn enter(found: &Context<Self>, object: ObjectHandle, bits: Bits) -> Option<DirectAnswer>;

    fn resolve(found: &Context<Self>, object: ObjectHandle);
}

struct StaticTarget {
    /// Version of direct calls at which the target was resolved.
    version: Cell<u64>,
    fast_path: Cell<Option<StaticFastPath>>,
    export: Export,
    what: Rc<str>,
    /// Number of argument words that callers pass.
    count: usize,
}

/// Code that calls the cached target of a function.
pub(crate) struct CodeOf<T>(PhantomData<T>);

/// Slow path of [`CodeOf`]: resolves the target, then calls it.
struct Unresolved<T>(PhantomData<T>);

impl<Bits: DirectBits, T: Target<Bits>> DirectBody<Bits> for CodeOf<T> {
    /// Context that is stored with the code. The runtime's table owns the context, and the caller guarantees that the runtime exists. `run`
    /// checks that a red frame is open. While a red frame is open, the runtime and the table exist.
    type Context = Context<T>;

    // Handles slow cases by tail calls of separate functions, so that the fast path needs no stack frame.
    #[inline(always)]
    unsafe fn run(found: &Context<T>, object: ObjectHandle, bits: Bits) -> DirectAnswer {
        // The red frame that a call into a module opens checks the stack. A target that opens no frame checks the stack itself.
        if !found.fast_paths.has_frame() {
            return NOT_DONE;
        }
        // SAFETY: callers pass one word for each parameter.
        match unsafe { T::enter(found, object, bits) } {
            Some(answer) => answer,
            // SAFETY: the caller of `run` makes the same promises.
            None => unsafe { bits.apart::<Unresolved<T>>(found, object) },
        }
    }
}

impl<Bits: DirectBits, T: Target<Bits>> DirectBody<Bits> for Unresolved<T> {
    type Context = Context<T>;

    #[cold]
    unsafe fn run(found: &Context<T>, object: ObjectHandle, bits: Bits) -> DirectAnswer {
        T::resolve(found, object);
        // SAFETY: as in `CodeOf::run`.
        unsafe { T::enter(found, object, bits) }.unwrap_or(NOT_DONE)
    }
}

impl<T> Context<T> {
    /// Creates the context of code for `target`.
    ///
    /// # Safety
    /// Only the table of `core` may own the context.
    pub(crate) unsafe fn new(core: &Rc<Core>, target: T) -> Self {
        Self { fast_paths: (*core.fast_paths).clone(), core: NonNull::from(&**core), target }
    }

    #[inline(always)]
    pub(crate) fn core(&self) -> &Core {
        // SAFETY: the table of this core owns the context, as the caller of `new` promised, so the core exists.
        unsafe { self.core.as_ref() }
    }

    /// Returns the directory entry of an object, and the cached target for its class. Returns `None` if no valid target is cached.
    #[inline(always)]
    pub(crate) fn callee(&self, callees: &Callees, object: ObjectHandle) -> Option<(DirectoryEntry, Callee)> {
        let entry = self.fast_paths.columns().find(object)?;
        Some((entry, callees.known(&self.fast_paths, entry.class)?))
    }

    /// Calls the target of a method in a module.
    ///
    /// # Safety
    /// [`Context::callee`] must just have returned `fast_path` and the memory of the object. The number of words must match the method's
    /// parameters.
    #[inline(always)]
    pub(crate) unsafe fn enter_module(
        &self,
        fast_path: MethodFastPath,
        (object, memory): (ObjectHandle, *mut u8),
        words: &[impl Word],
    ) -> DirectAnswer {
        // SAFETY: the target was resolved for the object's class at the current version. The caller promises the number of words.
        let called = unsafe {
            self.fast_paths.enter_on(fast_path, (object, memory), words, |height| clean_up(self.core(), height))
        };
        answer_of(called)
    }
}

impl<Bits: DirectBits> Target<Bits> for Callees {
    #[inline(always)]
    unsafe fn enter(found: &Context<Self>, object: ObjectHandle, bits: Bits) -> Option<DirectAnswer> {
        let (entry, callee) = found.callee(&found.target, object)?;
        Some(match callee {
            // SAFETY: `entry` and `fast_path` were found for the object just now. The caller promises the number of words.
            Callee::Module(fast_path) => unsafe { found.enter_module(fast_path, (object, entry.memory), bits.words()) },
            Callee::Itself | Callee::WithSlots => NOT_DONE,
        })
    }

    fn resolve(found: &Context<Self>, object: ObjectHandle) {
        let _kept = found.target.resolve(found.core(), object);
    }
}

impl<Bits: DirectBits> Target<Bits> for StaticTarget {
    #[inline(always)]
    unsafe fn enter(found: &Context<Self>, _object: ObjectHandle, bits: Bits) -> Option<DirectAnswer> {
        let words = bits.words();
        let fast_path =
            found.target.fast_path.get().filter(|_| found.fast_paths.is_version(found.target.version.get()))?;
        // SAFETY: the target was resolved at the current version, and has one parameter for each word.
        Some(answer_of(unsafe { found.fast_paths.enter(&fast_path, words, |height| clean_up(found.core(), height)) }))
    }

    fn resolve(found: &Context<Self>, _object: ObjectHandle) {
        let (target, version) = (&found.target, found.fast_paths.module_version());
        let fast_path = version.and_then(|_| export_fast_path(found.core(), &target.export, &target.what));
        target.fast_path.set(fast_path.filter(|fast_path| fast_path.accepts(target.count)));
        target.version.set(version.unwrap_or(u64::MAX));
    }
}

/// Returns the address of the code that runs `B` with arguments of type `Bits`.
pub(crate) fn address<Bits: DirectBits, B: DirectBody<Bits>>() -> *const () {
    Bits::address(Bits::code_of::<B>())
}

/// Returns the address of the code that runs `B` with `count` argument words. Returns `None` if this number of words is not supported.
pub(crate) fn code<B>(count: usize) -> Option<*const ()>
where
    B: DirectBody<[u64; 0]> + DirectBody<[u64; 1]> + DirectBody<[u64; 2]> + DirectBody<[u64; 3]> + DirectBody<[u64; 4]>,
    B: DirectBody<[u64; 5]> + DirectBody<[u64; 6]> + DirectBody<[u64; 7]> + DirectBody<[u64; 8]>,
{
    Some(match count {
        0 => address::<[u64; 0], B>(),
        1 => address::<[u64; 1], B>(),
        2 => address::<[u64; 2], B>(),
        3 => address::<[u64; 3], B>(),
        4 => address::<[u64; 4], B>(),
        5 => address::<[u64; 5], B>(),
        6 => address::<[u64; 6], B>(),
        7 => address::<[u64; 7], B>(),
        8 => address::<[u64; 8], B>(),
        _ => return None,
    })
}

/// Creates the code with a context for `target`.
///
/// # Safety
/// `code` must be the code for contexts of `T`, and for the number of arguments of the target. The arguments and the result of the target
/// must fit in slots.
unsafe fn code_of<T: 'static>(core: &Rc<Core>, code: *const (), target: T) -> BlackCode {
    // SAFETY: the caller ensures the form of the code. The core that the context refers to also stores the context in its table.
    unsafe { BlackCode::new(code, Some(Rc::new(Context::new(core, target)))) }
}

/// Returns the code with which plugins call an object function directly. Returns `None` if direct calls are impossible.
pub(crate) fn method_code(core: &Rc<Core>, function: &Rc<Function>, dispatch: Dispatch) -> Option<BlackCode> {
    let callees = Callees::of_module(function, dispatch)?;
    let code = code::<CodeOf<Callees>>(function.arguments().len())?;
    // SAFETY: `code` is for `Callees` and the function's number of arguments. `Callees::of_module` ensures that all values fit in slots.
    Some(unsafe { code_of(core, code, callees) })
}

/// Returns the code with which plugins call a static function of a module directly. Returns `None` if direct calls are impossible.
pub(crate) fn static_code(core: &Rc<Core>, export: &Export, what: &Rc<str>) -> Option<BlackCode> {
    export.direct?;
    let count = parameters(export)?;
    let (version, fast_path) = (Cell::new(u64::MAX), Cell::new(None));
    let target = StaticTarget { version, fast_path, export: export.clone(), what: Rc::clone(what), count };
    let code = code::<CodeOf<StaticTarget>>(count)?;
    // SAFETY: `code` is for `StaticTarget` and the function's number of arguments. Modules have direct trampolines only for functions
    // whose values fit in slots.
    Some(unsafe { code_of(core, code, target) })
}
