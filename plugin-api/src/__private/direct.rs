//! Direct trampolines, for functions of plain values that the host passes in registers. They work like the other trampolines,
//! but with a parameter block on their own stack, which the compiler optimizes away. A trampoline exists only for a function
//! without other values; its code is generic over the function, so a plugin has one direct trampoline per function.
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
use super::trampolines::{Export, Method, Receiver, StaticMethod, cell_of};
use crate::This;
use crate::blocks::{ArgumentSlots, Block, BlockLayout, ResultSlot};
use crate::signature::{Params, ReturnValue, ValueType};

type Failed = MaybeUninit<Failure>;

/// A parameter block of plain values: the parameters and a result, of at most one machine word each.
#[repr(C, align(8))]
struct WordBlock([u8; size_of::<u64>() * (MOST_WORDS + 1)]);

/// Returns true if all parameters and the result are plain and fit into a [`WordBlock`].
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
            unsafe extern "C" fn $method<M: Method>(
                object: ObjectHandle,
                memory: *mut u8,
                part: *mut (),
                $($word: u64,)*
                failure: &mut Failed,
            ) -> DirectAnswer {
                // SAFETY: promised by the caller; there is one word per parameter.
                catch_panics_directly(failure, || unsafe { run::<M>(object, memory, part, &[$($word),*]) })
            }

            /// # Safety
            /// See [`DirectTrampoline`].
            unsafe extern "C" fn $static<M: StaticMethod>($($word: u64,)* failure: &mut Failed) -> DirectAnswer {
                catch_panics_directly(failure, || run_static::<M>(&[$($word),*]))
            }

            /// # Safety
            /// See [`DirectTrampoline`].
            unsafe extern "C" fn $export<E: Export>($($word: u64,)* failure: &mut Failed) -> DirectAnswer {
                catch_panics_directly(failure, || run_export::<E>(&[$($word),*]))
            }
        )*

        /// Returns the trampoline for one call of a method of plain values.
        const fn method_trampoline<M: Method>() -> ROption<DirectTrampoline> {
            ROption::RSome(match M::Args::COUNT {
                $($count => {
                    let trampoline: unsafe extern "C" fn(
                        ObjectHandle, *mut u8, *mut () $(, arities!(@word $word))*, &mut Failed
                    ) -> DirectAnswer = $method::<M>;
                    // SAFETY: callers cast the pointer back to its type, as `DirectTrampoline` requires.
                    DirectTrampoline(unsafe {
                        transmute::<
                            unsafe extern "C" fn(
                                ObjectHandle, *mut u8, *mut () $(, arities!(@word $word))*, &mut Failed
                            ) -> DirectAnswer,
                            unsafe extern "C" fn(),
                        >(trampoline)
                    })
                })*
                _ => return ROption::RNone,
            })
        }

        const fn static_trampoline<M: StaticMethod>() -> ROption<DirectTrampoline> {
            ROption::RSome(match M::Args::COUNT {
                $($count => arities!(@trampoline $static::<M>, $($word)*),)*
                _ => return ROption::RNone,
            })
        }

        const fn export_trampoline<E: Export>() -> ROption<DirectTrampoline> {
            ROption::RSome(match E::Args::COUNT {
                $($count => arities!(@trampoline $export::<E>, $($word)*),)*
                _ => return ROption::RNone,
            })
        }
    };
    (@trampoline $trampoline:expr, $($word:ident)*) => {{
        let trampoline: unsafe extern "C" fn($(arities!(@word $word),)* &mut Failed) -> DirectAnswer = $trampoline;
        // SAFETY: callers cast the pointer back to its type, as `DirectTrampoline` requires.
        DirectTrampoline(unsafe {
            transmute::<
                unsafe extern "C" fn($(arities!(@word $word),)* &mut Failed) -> DirectAnswer,
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

/// Returns the direct trampolines of a method of plain values; `RNone` for other methods.
pub(super) const fn of_method<M: Method>() -> ROption<DirectMethod> {
    if !are_plain::<M::Args, M::Result>() {
        return ROption::RNone;
    }
    match method_trampoline::<M>() {
        ROption::RSome(call) => {
            ROption::RSome(DirectMethod { call, batch: ROption::RSome(BatchTrampoline(batch::<M>)) })
        }
        ROption::RNone => ROption::RNone,
    }
}

/// Returns the direct trampoline of a static function of plain values; `RNone` for other functions.
pub(super) const fn of_static<M: StaticMethod>() -> ROption<DirectMethod> {
    if !are_plain::<M::Args, M::Result>() {
        return ROption::RNone;
    }
    match static_trampoline::<M>() {
        ROption::RSome(call) => ROption::RSome(DirectMethod { call, batch: ROption::RNone }),
        ROption::RNone => ROption::RNone,
    }
}

/// Returns the direct trampoline of an exported function of plain values; `RNone` for other functions.
pub(super) const fn of_export<E: Export>() -> ROption<DirectTrampoline> {
    if are_plain::<E::Args, E::Result>() { export_trampoline::<E>() } else { ROption::RNone }
}

/// Calls a method of plain values once.
///
/// # Safety
/// See [`DirectTrampoline`] for a method; there is one word per parameter.
#[inline(always)]
unsafe fn run<M: Method>(
    object: ObjectHandle,
    memory: *mut u8,
    part: *mut (),
    words: &[u64],
) -> Result<u64, CallError> {
    let mut block = WordBlock::ZERO;
    let result = block.fill(M::Args::TYPES, words);
    let at = block.0.as_mut_ptr();
    // SAFETY: object and memory are live for the call, which is the frame, and the part is the one that this module created for
    // the class, as the caller promises. The block is on this stack, has room for all words, and was filled above.
    let (this, cell, args, result_at) = unsafe {
        let this = This::<M::Class>::new(object, memory);
        let cell = cell_of::<M::Class>(part, object)?;
        (this, cell, Block::new(at, BlockLayout::EMPTY), Block::new(at, M::Args::LAYOUT))
    };
    let args = M::Args::open(args);
    let returned = <M::Receiver as Receiver>::with::<M, _>(cell, object, |part| M::run(part, this, args))?;
    returned.crossing(M::LOCATION)?.store_result(result_at)?;
    Ok(block.word(result, M::Result::VALUE))
}

/// Calls a static function of plain values once.
#[inline(always)]
fn run_static<M: StaticMethod>(words: &[u64]) -> Result<u64, CallError> {
    let mut block = WordBlock::ZERO;
    let result = block.fill(M::Args::TYPES, words);
    let at = block.0.as_mut_ptr();
    // SAFETY: the block is on this stack, has room for all words, and was filled above.
    let (args, result_at) = unsafe { (Block::new(at, BlockLayout::EMPTY), Block::new(at, M::Args::LAYOUT)) };
    M::run(M::Args::open(args)).crossing(M::LOCATION)?.store_result(result_at)?;
    Ok(block.word(result, M::Result::VALUE))
}

/// Calls an exported function of plain values once.
#[inline(always)]
fn run_export<E: Export>(words: &[u64]) -> Result<u64, CallError> {
    let mut slots = [Slot::EMPTY; MOST_WORDS];
    let mut at = 0;
    while at < words.len() {
        // All parameters are plain, otherwise this trampoline would not exist.
        let kind = SlotType::of_kind(E::Args::TYPES[at].kind).unwrap_or(SlotType::EMPTY);
        slots[at] = Slot::from_bits(kind, words[at]);
        at += 1;
    }
    let mut result = Slot::EMPTY;
    // SAFETY: no slot is a pointer slot: the trampoline exists only for functions of plain values.
    let (args, waiting) = unsafe { (ArgumentSlots::new(&slots[..at]), ResultSlot::new(&mut result)) };
    E::run(E::Args::from_slots(args)?).crossing(E::LOCATION)?.into_result_slot(waiting)?;
    Ok(result.bits())
}

impl WordBlock {
    const ZERO: Self = Self([0; size_of::<Self>()]);

    /// Stores the words at the offsets of values of these types. Returns the layout in front of the result.
    #[inline(always)]
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

    /// Returns the word of the result behind the parameters; zero for `()`.
    #[inline(always)]
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
unsafe extern "C" fn batch<M: Method>(batch: &mut Batch) -> Status {
    // Fields used by the loop are read once: they do not change while the author's code runs, but the compiler cannot prove that.
    let Batch { items, len, at, results, directory, ends, condition, .. } = *batch;
    let mut words = [0; MOST_WORDS];
    // SAFETY: the caller lends storage for a failure, and a word for each parameter; the trampoline exists only for at most
    // `MOST_WORDS` parameters.
    let failure = unsafe {
        words[..M::Args::COUNT].copy_from_slice(core::slice::from_raw_parts(batch.words, M::Args::COUNT));
        &mut *batch.failure.cast::<Failed>()
    };
    let (mut next, behind) = (items.wrapping_add(at), items.wrapping_add(len));
    // Objects are looked up only if an object has been destroyed since the batch began.
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
        // SAFETY: the caller promises this for each live object, and that there is a plugin part.
        let answer = catch_panics_directly(failure, || unsafe {
            core::hint::assert_unchecked(!part.is_null());
            run::<M>(object, memory, part, &words[..M::Args::COUNT])
        });
        // SAFETY: both pointers are in the array of items or at its end.
        let location = || unsafe { here.offset_from_unsigned(items) };
        if answer.status != DirectStatus::DONE {
            batch.at = location() + 1;
            return Status::FAILED;
        }
        if !results.is_null() {
            // SAFETY: there is room for the result of each item.
            unsafe { results.add(location()).write(answer) };
        }
    }
    batch.at = len;
    Status::OK
}

/// Returns true if an object, which was alive when `then` objects had been destroyed, is still alive.
///
/// # Safety
/// The directory is live.
#[inline(always)]
unsafe fn lives(directory: *const Directory, object: ObjectHandle, then: u64) -> bool {
    // SAFETY: promised by the caller; there are `len` entries, and an object that was ever alive has one.
    unsafe {
        let Directory { entries, len, ends } = directory.read();
        ends == then || object.index() < len && (*entries.add(object.index() as usize)).serial == object.serial()
    }
}
