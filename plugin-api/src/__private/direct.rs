//! Direct trampolines of functions whose parameters and result are plain values. The host passes these values in registers. A direct
//! trampoline copies the values into a parameter block on its stack, which the compiler optimizes away. The code is generic over the
//! function, so a plugin has one direct trampoline per function.
#![expect(unsafe_code, reason = "converts data borrowed from the host into references and values")]

use core::mem::{MaybeUninit, transmute};

use alcedo_abi::abi_stable::std_types::ROption;
use alcedo_abi::call::{Failure, Status};
use alcedo_abi::direct::{
    Batch, BatchItem, BatchTrampoline, DirectAnswer, DirectMethod, DirectStatus, DirectTrampoline, MOST_WORDS,
};
use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::host::Directory;
use alcedo_abi::zcall::{Slot, SlotType};
use alcedo_rt::{CallError, catch_panics_directly};

use super::returned::Returned;
use super::trampolines::{Code, Export, MethodBody, Methods, Receiver, StaticMethod, perform, perform_static};
use crate::class::Part;
use crate::ptr::{ArgumentSlots, BlockLayout, ResultSlot};
use crate::signature::{Params, ReturnValue, ValueType};

type Failed = MaybeUninit<Failure>;

/// Parameter block for plain values: the parameters and a result. Each value has at most one machine word.
#[repr(C, align(8))]
struct WordBlock([u8; size_of::<u64>() * (MOST_WORDS + 1)]);

/// Returns true if all parameters and the result are plain values and fit into a [`WordBlock`].
const fn are_plain<A: Params, R: ReturnValue>() -> bool {
    let mut at = 0;
    while at < A::TYPES.len() {
        if A::TYPES[at].is_out || !A::TYPES[at].kind.fits_slot() {
            return false;
        }
        at += 1;
    }
    let returns_plain = match R::VALUE {
        Some(ValueType { kind, .. }) => kind.fits_slot(),
        None => true,
    };
    returns_plain && A::COUNT <= MOST_WORDS
}

macro_rules! arities {
    ($($count:literal $method:ident $static:ident $export:ident ($($word:ident)*);)*) => {
        $(
            /// # Safety
            /// See [`DirectTrampoline`].
            unsafe extern "C" fn $method<B, const AT: usize, K, A, X, F>(
                object: ObjectHandle,
                memory: *mut u8,
                part: *mut (),
                $($word: u64,)*
                failure: &mut Failed,
            ) -> DirectAnswer
            where
                B: Methods<Class: Part>,
                K: Receiver,
                A: Params,
                X: Returned,
                F: MethodBody<B, K, A, X>,
            {
                let signature = (A::TYPES, <X::Value as ReturnValue>::VALUE);
                // SAFETY: the caller fulfills the contract of `DirectTrampoline`; there is one word per parameter.
                unsafe {
                    guarded_words(failure, (object, memory, part), &[$($word),*], signature, perform::<B, AT, K, A, X, F>)
                }
            }

            /// # Safety
            /// See [`DirectTrampoline`].
            unsafe extern "C" fn $static<M: StaticMethod>($($word: u64,)* failure: &mut Failed) -> DirectAnswer {
                let signature = (M::Args::TYPES, <<M::Returned as Returned>::Value as ReturnValue>::VALUE);
                // SAFETY: a static function has no object; there is one word per parameter.
                unsafe { guarded_words(failure, NO_OBJECT, &[$($word),*], signature, perform_static::<M>) }
            }

            /// # Safety
            /// See [`DirectTrampoline`].
            unsafe extern "C" fn $export<E: Export>($($word: u64,)* failure: &mut Failed) -> DirectAnswer {
                // SAFETY: an exported function has no object; there is one word per parameter.
                unsafe { guarded(failure, &[$($word),*], run_export::<E>) }
            }
        )*

        /// Returns the trampoline for one call of a method with plain values.
        const fn method_trampoline<B, const AT: usize, K, A, X, F>() -> ROption<DirectTrampoline>
        where
            B: Methods<Class: Part>,
            K: Receiver,
            A: Params,
            X: Returned,
            F: MethodBody<B, K, A, X>,
        {
            ROption::RSome(match A::COUNT {
                $($count => arities!(@trampoline $method::<B, AT, K, A, X, F>, [ObjectHandle, *mut u8, *mut ()] $($word)*),)*
                _ => return ROption::RNone,
            })
        }

        const fn static_trampoline<M: StaticMethod>() -> ROption<DirectTrampoline> {
            ROption::RSome(match M::Args::COUNT {
                $($count => arities!(@trampoline $static::<M>, [] $($word)*),)*
                _ => return ROption::RNone,
            })
        }

        const fn export_trampoline<E: Export>() -> ROption<DirectTrampoline> {
            ROption::RSome(match E::Args::COUNT {
                $($count => arities!(@trampoline $export::<E>, [] $($word)*),)*
                _ => return ROption::RNone,
            })
        }
    };
    (@trampoline $trampoline:expr, [$($target:ty),*] $($word:ident)*) => {{
        let trampoline: unsafe extern "C" fn(
            $($target,)* $(arities!(@word $word),)* &mut Failed
        ) -> DirectAnswer = $trampoline;
        // SAFETY: callers cast the pointer back to its type, as `DirectTrampoline` requires.
        DirectTrampoline(unsafe {
            transmute::<
                unsafe extern "C" fn($($target,)* $(arities!(@word $word),)* &mut Failed) -> DirectAnswer,
                unsafe extern "C" fn(),
            >(trampoline)
        })
    }};
    (@word $word:ident) => { u64 };
}
arities! {
    0 method_0 static_0 export_0 ();
    1 method_1 static_1 export_1 (a);
    2 method_2 static_2 export_2 (a b);
    3 method_3 static_3 export_3 (a b c);
    4 method_4 static_4 export_4 (a b c d);
    5 method_5 static_5 export_5 (a b c d e);
    6 method_6 static_6 export_6 (a b c d e f);
    7 method_7 static_7 export_7 (a b c d e f g);
    8 method_8 static_8 export_8 (a b c d e f g h);
}

/// Returns the direct trampolines of a method. Returns `RNone` if a parameter or the result is not a plain value.
pub(super) const fn of_method<B, const AT: usize, K, A, X, F>() -> ROption<DirectMethod>
where
    B: Methods<Class: Part>,
    K: Receiver,
    A: Params,
    X: Returned,
    F: MethodBody<B, K, A, X>,
{
    if !are_plain::<A, X::Value>() {
        return ROption::RNone;
    }
    match method_trampoline::<B, AT, K, A, X, F>() {
        ROption::RSome(call) => {
            let batch = ROption::RSome(BatchTrampoline(batch::<B, AT, K, A, X, F>));
            ROption::RSome(DirectMethod { call, batch })
        }
        ROption::RNone => ROption::RNone,
    }
}

/// Returns the direct trampoline of a static function. Returns `RNone` if a parameter or the result is not a plain value.
pub(super) const fn of_static<M: StaticMethod>() -> ROption<DirectMethod> {
    if !are_plain::<M::Args, <M::Returned as Returned>::Value>() {
        return ROption::RNone;
    }
    match static_trampoline::<M>() {
        ROption::RSome(call) => ROption::RSome(DirectMethod { call, batch: ROption::RNone }),
        ROption::RNone => ROption::RNone,
    }
}

/// Returns the direct trampoline of an exported function. Returns `RNone` if a parameter or the result is not a plain value.
pub(super) const fn of_export<E: Export>() -> ROption<DirectTrampoline> {
    if are_plain::<E::Args, E::Result>() { export_trampoline::<E>() } else { ROption::RNone }
}

/// Object of a call, with its memory and its plugin part.
type Target = (ObjectHandle, *mut u8, *mut ());

const NO_OBJECT: Target = (ObjectHandle::NONE, core::ptr::null_mut(), core::ptr::null_mut());

/// Types of the parameters and of the result.
type Words = (&'static [ValueType], Option<ValueType>);

/// Calls an exported function in a panic guard. Like the guard of trampolines with a parameter block, this function is not generic.
/// Optimized builds always inline this function. The compiler can therefore also inline `run`.
///
/// # Safety
/// See [`DirectTrampoline`]; `run` has the same requirements.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn guarded(
    failure: &mut Failed,
    words: &[u64],
    run: unsafe fn(&[u64]) -> Result<u64, CallError>,
) -> DirectAnswer {
    // SAFETY: the caller fulfills the requirements of `run`.
    catch_panics_directly(failure, || unsafe { run(words) })
}

/// Calls `code` with plain values in a panic guard, like [`guarded`].
///
/// # Safety
/// See [`in_words`].
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn guarded_words(
    failure: &mut Failed,
    target: Target,
    words: &[u64],
    signature: Words,
    code: Code,
) -> DirectAnswer {
    let in_words: InWords = in_words;
    // SAFETY: the caller fulfills the requirements.
    catch_panics_directly(failure, || unsafe { in_words(target, words, signature, code) })
}

/// Type of [`in_words`]. The closures of panic guards call this function by a pointer, so they are small enough that the compiler inlines
/// them into a trampoline. The signature is constant there, so the compiler then also inlines the function, without its loops.
type InWords = unsafe fn(Target, &[u64], Words, Code) -> Result<u64, CallError>;

/// Copies `words` into a parameter block, calls `code` with this block, and returns the result as a word.
///
/// # Safety
/// `words` contains one word per type, and the target meets the requirements of `code`.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn in_words(
    (object, memory, part): Target,
    words: &[u64],
    (types, result): Words,
    code: Code,
) -> Result<u64, CallError> {
    let mut block = WordBlock::ZERO;
    let before = block.fill(types, words);
    // SAFETY: the caller promises the object; the block is on this stack, has room for all words, and was filled above.
    unsafe { code(object, memory, part, block.0.as_mut_ptr()) }?;
    Ok(block.word(before, result))
}

/// Calls an exported function with plain values.
///
/// # Safety
/// There is one word per parameter.
#[inline(always)]
unsafe fn run_export<E: Export>(words: &[u64]) -> Result<u64, CallError> {
    let mut slots = [Slot::EMPTY; MOST_WORDS];
    let mut at = 0;
    while at < words.len() {
        // All parameters are plain values, as `of_export` ensures.
        let kind = SlotType::of_kind(E::Args::TYPES[at].kind).unwrap_or(SlotType::EMPTY);
        slots[at] = Slot::from_bits(kind, words[at]);
        at += 1;
    }
    let mut result = Slot::EMPTY;
    // SAFETY: no slot is a pointer slot, because the trampoline exists only for functions with plain values.
    let (args, waiting) = unsafe { (ArgumentSlots::new(&slots[..at]), ResultSlot::new(&mut result)) };
    E::run(E::Args::from_slots(args)?).crossing(E::LOCATION)?.into_result_slot(waiting)?;
    Ok(result.bits())
}

impl WordBlock {
    const ZERO: Self = Self([0; size_of::<Self>()]);

    /// Stores each word at the offset of its parameter. Returns the layout of the parameters, after which the result is stored.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fill(&mut self, types: &[ValueType], words: &[u64]) -> BlockLayout {
        let (mut layout, mut at) = (BlockLayout::EMPTY, 0);
        while at < words.len() {
            let ValueType { size, align, .. } = types[at];
            let (offset, next) = layout.place(size, align);
            let (location, word) = (&mut self.0[offset..offset + size], words[at]);
            match size {
                1 => location.copy_from_slice(&(word as u8).to_ne_bytes()),
                2 => location.copy_from_slice(&(word as u16).to_ne_bytes()),
                4 => location.copy_from_slice(&(word as u32).to_ne_bytes()),
                _ => location.copy_from_slice(&word.to_ne_bytes()),
            }
            (layout, at) = (next, at + 1);
        }
        layout
    }

    /// Returns the result, stored after the parameters, as a word. Returns zero for `()`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn word(&self, before: BlockLayout, result: Option<ValueType>) -> u64 {
        let Some(ValueType { size, align, .. }) = result else { return 0 };
        let (offset, _) = before.place(size, align);
        let mut word = [0; size_of::<u64>()];
        let start = if cfg!(target_endian = "big") { word.len() - size } else { 0 };
        word[start..start + size].copy_from_slice(&self.0[offset..offset + size]);
        u64::from_ne_bytes(word)
    }
}

/// Calls a method on many objects in one host call.
///
/// # Safety
/// See [`BatchTrampoline`].
unsafe extern "C" fn batch<B, const AT: usize, K, A, X, F>(batch: &mut Batch) -> Status
where
    B: Methods<Class: Part>,
    K: Receiver,
    A: Params,
    X: Returned,
    F: MethodBody<B, K, A, X>,
{
    let signature = (A::TYPES, <X::Value as ReturnValue>::VALUE);
    // SAFETY: the caller fulfills the contract of `BatchTrampoline`.
    unsafe { guarded_batch(batch, signature, perform::<B, AT, K, A, X, F>) }
}

/// # Safety
/// See [`batch`]; `code` is a method with this signature.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn guarded_batch(batch: &mut Batch, signature: Words, code: Code) -> Status {
    let count = signature.0.len();
    // Reads the fields of the batch once, because the compiler cannot prove that the author's code leaves these fields unchanged.
    let Batch { items, len, at, results, directory, ends, condition, .. } = *batch;
    let mut words = [0; MOST_WORDS];
    // SAFETY: the caller provides storage for a failure, and a word for each parameter.
    // The trampoline exists only for functions with at most `MOST_WORDS` parameters.
    let failure = unsafe {
        words[..count].copy_from_slice(core::slice::from_raw_parts(batch.words, count));
        &mut *batch.failure.cast::<Failed>()
    };
    let (mut next, behind) = (items.wrapping_add(at), items.wrapping_add(len));
    // The directory is read only if an object has been destroyed since the batch began.
    while next != behind {
        let here = next;
        next = here.wrapping_add(1);
        // SAFETY: `here` points to an item, and the directory is live for the call.
        let (BatchItem { object, memory, part }, is_alive) = unsafe {
            let item = *here;
            (item, lives(directory, item.object, ends))
        };
        if !is_alive {
            batch.ended += 1;
            continue;
        }
        // SAFETY: the object is alive, so its memory has a byte at the offset of one of its properties.
        if condition != Batch::UNCONDITIONAL && unsafe { memory.add(condition).read() } == 0 {
            batch.unmet += 1;
            continue;
        }
        let in_words: InWords = in_words;
        // SAFETY: the caller promises a plugin part and the requirements of `code` for each live object.
        let answer = catch_panics_directly(failure, || unsafe {
            core::hint::assert_unchecked(!part.is_null());
            in_words((object, memory, part), &words[..count], signature, code)
        });
        // SAFETY: both pointers are in the array of items or at its end.
        let location = || unsafe { here.offset_from_unsigned(items) };
        if answer.status != DirectStatus::DONE {
            batch.at = location() + 1;
            return Status::FAILED;
        }
        if !results.is_null() {
            // SAFETY: the caller promises room for one result per item.
            unsafe { results.add(location()).write(answer) };
        }
    }
    batch.at = len;
    Status::OK
}

/// Returns true if an object is still alive. The object must have been alive when the directory's count of destroyed objects was `then`.
///
/// # Safety
/// The directory is live.
#[inline(always)]
unsafe fn lives(directory: *const Directory, object: ObjectHandle, then: u64) -> bool {
    // SAFETY: the caller promises a live directory, which has `len` entries. Each object that was ever alive has an entry.
    unsafe {
        let Directory { entries, len, ends } = directory.read();
        ends == then || object.index() < len && (*entries.add(object.index() as usize)).serial == object.serial()
    }
}
