//! Represents a signature by a tuple of parameter types and a result type. Computes the fingerprint, the layout of the parameter block and
//! the slots from these types.
#![expect(unsafe_code, reason = "reads parameter blocks and slots, as the signature prescribes")]

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::host_direct::DirectBits;
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::type_text::{CUT, TypeText};
use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use crate::Value;
use crate::kinds::{ValidityToken, Viewable};
use crate::ptr::{ArgumentSlot, ArgumentSlots, Block, BlockLayout, Ptr, ResultSlot};
use crate::value::plain_slot;

/// Description of the type of a value.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ValueType {
    /// Kind of the value in the host.
    pub kind: PropertyKind,
    /// Path of the struct or class, or the type arguments of a container. Empty for kinds without path and type arguments.
    pub path: &'static str,
    /// Size in memory, in bytes.
    pub size: usize,
    /// Alignment in memory.
    pub align: usize,
    /// Type as a string, with its kind, path and type arguments.
    pub text: &'static str,
    /// True for an out parameter.
    pub is_out: bool,
}

impl ValueType {
    /// Describes the type `T`.
    #[must_use]
    pub const fn of<T: Value>() -> Self {
        Self {
            kind: T::KIND,
            path: T::TYPE_PATH,
            size: size_of::<T::Raw>(),
            align: align_of::<T::Raw>(),
            text: T::TYPE.as_str(),
            is_out: false,
        }
    }

    const fn of_param<P: Param>() -> Self {
        Self { is_out: P::IS_OUT, ..Self::of::<P::Value>() }
    }
}

/// Parameter of a function: a value, or a borrowed view of a value for methods that take [`Borrowed`](crate::Borrowed).
///
/// # Safety
/// Slots are written and read as the ABI prescribes for the kind of `Value`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a property, a parameter or a result",
    label = "the host does not know this type",
    note = "supported types: u8 … u64, i8 … i64, f32, f64, bool, String, UName, Obj<Class>, structs with #[ustruct], UArray, USet, \
            UMap, UOptional and the other kinds of the prelude, Vec, Option, and the sets and maps of std"
)]
pub unsafe trait Param: Sized {
    /// Type of the parameter in the host.
    type Value: Value;
    /// Type that function cells use for this parameter.
    #[doc(hidden)]
    type Declared: Param;
    /// True for an out parameter, which has a second slot after the slots of all parameters.
    #[doc(hidden)]
    const IS_OUT: bool = false;
    #[doc(hidden)]
    type In;
    /// Type that a method receives.
    #[doc(hidden)]
    type Seen<'f>;
    /// Data that the caller stores on its stack until the out parameter is returned.
    #[doc(hidden)]
    type Awaited;
    /// Value of the out parameter after the call.
    #[doc(hidden)]
    type Back;

    #[doc(hidden)]
    fn open<'f>(value: Viewable<'f, Self::Value, impl FnOnce() -> ValidityToken<'f>>) -> Self::Seen<'f>;

    /// Creates the data that the caller stores on its stack until the out parameter is returned.
    #[doc(hidden)]
    fn awaited() -> Self::Awaited;

    /// Returns the slot that receives the out parameter. The slot is valid while `awaited` remains at its address.
    #[doc(hidden)]
    fn slot_back(awaited: &mut Self::Awaited) -> Slot;

    /// Converts the slot and the data, which the callee has filled, into the value of the out parameter.
    ///
    /// # Safety
    /// `awaited()` returned `awaited`, and `slot_back` returned `slot` for `awaited`. A callee that returns this type has
    /// filled `awaited` and `slot`.
    #[doc(hidden)]
    unsafe fn take_back(slot: Slot, awaited: Self::Awaited) -> Result<Self::Back, CallError>;

    /// Assigns the value of the out parameter to the caller's variable.
    #[doc(hidden)]
    fn give_back(&self, back: Self::Back);

    /// See [`Value::stage`].
    ///
    /// # Safety
    /// See [`Value::stage`].
    #[doc(hidden)]
    unsafe fn stage(&self) -> Self::In;

    #[doc(hidden)]
    fn slot_in(&self, staged: &Self::In) -> Slot;

    #[doc(hidden)]
    fn from_slot(slot: ArgumentSlot<'_, Self::Value>) -> Result<Self, CallError>;

    /// Creates the parameter from a copy of the argument in host form.
    #[doc(hidden)]
    fn from_copy(_copy: Ptr<'_, Self::Value>) -> Result<Self, CallError> {
        Err(CallError::other("this parameter is never read from a slot"))
    }

    #[doc(hidden)]
    #[inline]
    fn direct_bits(&self) -> u64 {
        0
    }
}

/// Implements the items of [`Param`] that concern out parameters, for a parameter that is not an out parameter.
macro_rules! only_goes_in {
    () => {
        type Awaited = ();
        type Back = ();

        fn awaited() {}

        fn slot_back((): &mut ()) -> alcedo_abi::zcall::Slot {
            alcedo_abi::zcall::Slot::EMPTY
        }

        unsafe fn take_back(_slot: alcedo_abi::zcall::Slot, (): ()) -> Result<(), alcedo_rt::CallError> {
            Ok(())
        }

        fn give_back(&self, (): ()) {}
    };
}
pub(crate) use only_goes_in;

// SAFETY: all items forward to the items of the value.
unsafe impl<T: Value> Param for T {
    type Value = T;
    type Declared = T;
    type In = T::In;
    type Seen<'f> = T;

    only_goes_in!();

    #[inline]
    fn open<'f>(value: Viewable<'f, T, impl FnOnce() -> ValidityToken<'f>>) -> Self::Seen<'f> {
        T::load(value.ptr())
    }

    unsafe fn stage(&self) -> T::In {
        // SAFETY: the caller promises the thread that `stage` requires.
        unsafe { Value::stage(self) }
    }

    fn slot_in(&self, staged: &T::In) -> Slot {
        Value::slot_in(self, staged)
    }

    #[inline]
    fn from_slot(slot: ArgumentSlot<'_, T>) -> Result<Self, CallError> {
        <T as Value>::from_slot(slot)
    }

    fn from_copy(copy: Ptr<'_, T>) -> Result<Self, CallError> {
        T::try_load(copy)
    }

    #[inline]
    fn direct_bits(&self) -> u64 {
        Value::direct_bits(self)
    }
}

/// Parameters of a function: a tuple of up to eight values.
///
/// # Safety
/// Fingerprint, count and layout match the values, and slots are encoded as the ABI prescribes for the values.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::{Params, ZFunction};
///
/// /// Calls a rule of the host by name. If the rule is missing, everything is allowed.
/// fn is_allowed<A: Params>(rule: &str, args: A) -> bool {
///     let found = ZFunction::<A, bool>::find(&format!("ex:/rules.{rule}"));
///     found.and_then(|rule| rule.call(args)).unwrap_or(true)
/// }
/// assert!(is_allowed("may_jump", (2.5_f64, 1_u32)));
/// ```
pub unsafe trait Params: Sized {
    /// Parameter types in the form that function cells use.
    #[doc(hidden)]
    type Values: Params<Bits = Self::Bits>;
    /// Values as nested pairs. Each pair consists of a value and the pair of the remaining values.
    #[doc(hidden)]
    type List;
    /// Types that a method receives.
    #[doc(hidden)]
    type Seen<'f>;
    #[doc(hidden)]
    const TYPES: &'static [ValueType];
    /// Fingerprint of the parameters, without the result.
    #[doc(hidden)]
    const FINGERPRINT: Fingerprint;
    #[doc(hidden)]
    const COUNT: usize;
    #[doc(hidden)]
    const LAYOUT: BlockLayout;

    /// True if a slot can store each parameter, and no parameter is an out parameter.
    #[doc(hidden)]
    const IN_SLOTS: bool;
    /// Arguments of a direct call as an array of machine words.
    #[doc(hidden)]
    type Bits: DirectBits;

    #[doc(hidden)]
    fn direct_bits(&self) -> Self::Bits;

    /// Reads the parameters at the start of a block, and returns them in the form that a method receives.
    #[doc(hidden)]
    fn open<'f>(block: Block<'f, Self::List>) -> Self::Seen<'f>;

    /// Calls `code` with a buffer of slots: the object, the parameters, the slots of out parameters, and `out`. Assigns the out
    /// parameters to the caller's variables only if `code` succeeds.
    ///
    /// # Safety
    /// The call runs on the game thread, or no value is a [`Kind`](crate::Kind). No slot is used after `code` returns. If
    /// `code` succeeds, a callee has filled all result and out slots.
    #[doc(hidden)]
    unsafe fn with_slots<R>(
        &self,
        object: ObjectHandle,
        out: Slot,
        code: impl FnOnce(&mut [Slot]) -> Result<R, CallError>,
    ) -> Result<R, CallError>;

    #[doc(hidden)]
    fn from_slots(slots: ArgumentSlots<'_, Self::List>) -> Result<Self, CallError>;
}

/// Calls a macro for each possible number of parameters. The arguments are this number and, for each parameter, the position, names for the
/// type and the value, and names for the data during and after a call.
macro_rules! for_each_count {
    ($implement:ident) => {
        $implement!(0:);
        $implement!(1: 0 A a sa da);
        $implement!(2: 0 A a sa da 1 B b sb db);
        $implement!(3: 0 A a sa da 1 B b sb db 2 C c sc dc);
        $implement!(4: 0 A a sa da 1 B b sb db 2 C c sc dc 3 D d sd dd);
        $implement!(5: 0 A a sa da 1 B b sb db 2 C c sc dc 3 D d sd dd 4 E e se de);
        $implement!(6: 0 A a sa da 1 B b sb db 2 C c sc dc 3 D d sd dd 4 E e se de 5 F f sf df);
        $implement!(7: 0 A a sa da 1 B b sb db 2 C c sc dc 3 D d sd dd 4 E e se de 5 F f sf df 6 G g sg dg);
        $implement!(8: 0 A a sa da 1 B b sb db 2 C c sc dc 3 D d sd dd 4 E e se de 5 F f sf df 6 G g sg dg 7 H h sh dh);
    };
}
pub(crate) use for_each_count;

macro_rules! list {
    () => { () };
    ($first:ident $($other:ident)*) => { ($first::Value, list!($($other)*)) };
}

macro_rules! params {
    ($count:literal: $($at:literal $name:ident $value:ident $staged:ident $back:ident)*) => {
        // SAFETY: each parameter fulfills its own contract. The parameters are in order, with the layout of C.
        unsafe impl<$($name: Param),*> Params for ($($name,)*) {
            type Values = ($($name::Declared,)*);
            type List = list!($($name)*);
            type Seen<'f> = ($($name::Seen<'f>,)*);
            const TYPES: &'static [ValueType] = &[$(ValueType::of_param::<$name>()),*];
            const FINGERPRINT: Fingerprint = {
                let print = Fingerprint::START;
                $(let print = print.param($name::IS_OUT, <$name::Value as Value>::KIND, <$name::Value as Value>::TYPE_PATH);)*
                print
            };
            const COUNT: usize = $count;
            const LAYOUT: BlockLayout = BlockLayout::EMPTY$(.place_value::<$name::Value>().1)*;
            const IN_SLOTS: bool = true $(&& <$name::Value as Value>::KIND.fits_slot() && !$name::IS_OUT)*;
            type Bits = [u64; $count];

            #[inline]
            fn direct_bits(&self) -> [u64; $count] {
                let ($($value,)*) = self;
                [$($value.direct_bits()),*]
            }

            #[allow(clippy::unused_unit, reason = "for no parameters")]
            #[inline]
            fn open<'f>(block: Block<'f, Self::List>) -> Self::Seen<'f> {
                $(
                    let (value, block) = block.next();
                    let $value = $name::open(value);
                )*
                let _end = block;
                ($($value,)*)
            }

            #[allow(unused_unsafe, unused_mut, clippy::unused_unit, reason = "for no parameters")]
            unsafe fn with_slots<R>(
                &self,
                object: ObjectHandle,
                out: Slot,
                code: impl FnOnce(&mut [Slot]) -> Result<R, CallError>,
            ) -> Result<R, CallError> {
                let ($($value,)*) = self;
                // SAFETY: the caller promises the thread that `stage` requires.
                let ($($staged,)*) = unsafe { ($($value.stage(),)*) };
                // The staged data remains on this stack until `code` returns.
                let ins = [plain_slot(object), $($value.slot_in(&$staged),)* out];
                if !(false $(|| $name::IS_OUT)*) {
                    let mut slots = ins;
                    return code(&mut slots);
                }
                // The data of an out parameter remains on this stack until the parameter's value is returned.
                $(let mut $back = $name::awaited();)*
                let mut slots = [Slot::EMPTY; 2 * $count + 2];
                let (first, mut len) = (ins.len() - 1, ins.len() - 1);
                slots[..first].copy_from_slice(&ins[..first]);
                $(
                    if $name::IS_OUT {
                        slots[len] = $name::slot_back(&mut $back);
                        len += 1;
                    }
                )*
                slots[len] = out;
                let result = code(&mut slots[..=len])?;
                let mut at = first;
                $(
                    let slot = slots[at];
                    at += usize::from($name::IS_OUT);
                    // SAFETY: the caller promises that a callee has filled the out slots, which are in this order.
                    let $back = unsafe { $name::take_back(slot, $back) }?;
                )*
                let _end = at;
                $($value.give_back($back);)*
                Ok(result)
            }

            #[inline]
            fn from_slots(slots: ArgumentSlots<'_, Self::List>) -> Result<Self, CallError> {
                $(
                    let (slot, slots) = slots.next();
                    let $value = match slot.apart()? {
                        None => Ok($name::from_slot(slot)?),
                        Some(copy) => Err(copy),
                    };
                )*
                let _end = slots;
                // All slots have been read, so code of the author may destroy the values of the caller.
                Ok(($(match $value {
                    Ok(value) => value,
                    Err(copy) => $name::from_copy(copy.ptr())?,
                },)*))
            }
        }
    };
}

for_each_count!(params);

/// Result of a function: a value or `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a reflected function",
    label = "the host does not know this type",
    note = "supported types: (), u8 … u64, i8 … i64, f32, f64, bool, String, UName, Obj<Class>, structs with #[ustruct], UArray, \
            USet, UMap, UOptional and the other kinds of the prelude, Vec, Option, and the sets and maps of std",
    note = "a function that may fail returns `Result<T, E>`, written with this name: an alias such as `type Answer = Result<T, E>` is \
            read as a value"
)]
///
/// # Safety
/// `VALUE` describes the result to the host, and slots are encoded as the ABI prescribes for the result.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::ReturnValue;
///
/// /// Requests a setting from the host.
/// fn setting<R: ReturnValue>(name: &str, default: R) -> R {
///     zcall(&format!("ex:/settings.{name}"), ()).unwrap_or(default)
/// }
/// assert_eq!(setting("volume", 0.8_f64), 0.8, "without a host, the default is returned");
/// ```
pub unsafe trait ReturnValue: Sized {
    /// Description of the value; `None` for `()`.
    #[doc(hidden)]
    const VALUE: Option<ValueType>;
    #[doc(hidden)]
    type Out;

    /// Result as a list of pairs; empty for `()`.
    #[doc(hidden)]
    type List;

    /// Writes the result into a parameter block. `block` starts after the parameters.
    #[doc(hidden)]
    fn store_result(self, block: Block<'_, Self::List>) -> Result<(), CallError>;
    #[doc(hidden)]
    fn out() -> Self::Out;
    #[doc(hidden)]
    fn slot_out(out: &mut Self::Out) -> Slot;
    /// See [`Value::take_out`].
    ///
    /// # Safety
    /// See [`Value::take_out`].
    #[doc(hidden)]
    unsafe fn take_out(slot: Slot, out: Self::Out) -> Result<Self, CallError>;

    #[doc(hidden)]
    fn into_result_slot(self, slot: ResultSlot<'_, Self>) -> Result<(), CallError>;

    /// True if a slot can store the result, or if the result is `()`.
    #[doc(hidden)]
    const IN_SLOT: bool;

    /// Creates the result from the bits that a direct call returned. Returns `None` if a slot cannot store results of this type.
    #[doc(hidden)]
    fn of_direct_bits(bits: u64) -> Option<Self>;

    #[doc(hidden)]
    fn into_direct_bits(self) -> u64;
}

// SAFETY: `()` has no description and no slot.
unsafe impl ReturnValue for () {
    const VALUE: Option<ValueType> = None;
    type Out = ();
    type List = ();

    #[inline]
    fn store_result(self, _block: Block<'_, ()>) -> Result<(), CallError> {
        Ok(())
    }

    fn out() {}

    fn slot_out((): &mut ()) -> Slot {
        Slot::EMPTY
    }

    unsafe fn take_out(_slot: Slot, (): ()) -> Result<(), CallError> {
        Ok(())
    }

    #[inline]
    fn into_result_slot(self, _slot: ResultSlot<'_, ()>) -> Result<(), CallError> {
        Ok(())
    }

    const IN_SLOT: bool = true;

    #[inline]
    fn of_direct_bits(_bits: u64) -> Option<()> {
        Some(())
    }

    #[inline]
    fn into_direct_bits(self) -> u64 {
        0
    }
}

// SAFETY: all items forward to the items of the value.
unsafe impl<T: Value> ReturnValue for T {
    const VALUE: Option<ValueType> = Some(ValueType::of::<T>());
    type Out = T::Out;
    type List = (T, ());

    #[inline]
    fn store_result(self, block: Block<'_, (T, ())>) -> Result<(), CallError> {
        let (target, _token) = block.next().0.into_parts();
        self.store(target)
    }

    fn out() -> T::Out {
        T::out()
    }

    fn slot_out(out: &mut T::Out) -> Slot {
        T::slot_out(out)
    }

    unsafe fn take_out(slot: Slot, out: T::Out) -> Result<T, CallError> {
        // SAFETY: the caller promises that a callee has filled `slot` and `out`.
        unsafe { T::take_out(slot, out) }
    }

    #[inline]
    fn into_result_slot(self, slot: ResultSlot<'_, T>) -> Result<(), CallError> {
        self.into_slot(slot)
    }

    const IN_SLOT: bool = T::KIND.fits_slot();

    #[inline]
    fn of_direct_bits(bits: u64) -> Option<T> {
        <T as Value>::of_direct_bits(bits)
    }

    #[inline]
    fn into_direct_bits(self) -> u64 {
        Value::direct_bits(&self)
    }
}

/// Returns the fingerprint of a function with parameters `A` and result `R`.
#[doc(hidden)]
#[must_use]
pub(crate) const fn fingerprint<A: Params, R: ReturnValue>() -> u64 {
    match R::VALUE {
        None => A::FINGERPRINT.finish(),
        Some(ValueType { kind, path, .. }) => A::FINGERPRINT.result(kind, path).finish(),
    }
}

/// Formats a signature in the host's syntax: `f64, String -> bool`. With `may_be_cut`, a signature that exceeds the capacity is truncated
/// and ends with `…`. Without `may_be_cut`, such a signature is a compile error.
pub(crate) const fn words(params: &[ValueType], result: &Option<ValueType>, may_be_cut: bool) -> TypeText {
    let (mut text, mut at) = (TypeText::joined(&[]), 0);
    while let Some([separator, direction, ty]) = part_of_words(params, result, at) {
        if may_be_cut && !text.has_room_for(separator.len() + direction.len() + ty.len()) {
            return text.and(CUT);
        }
        text = text.and(separator).and(direction).and(ty);
        at += 1;
    }
    text
}

/// Returns three strings for the parameter at index `at`: the separator before the parameter, the direction, and the type. The index after
/// the last parameter selects the result.
pub(crate) const fn part_of_words(
    params: &[ValueType],
    result: &Option<ValueType>,
    at: usize,
) -> Option<[&'static str; 3]> {
    if at < params.len() {
        let ValueType { text, is_out, .. } = params[at];
        return Some([if at == 0 { "" } else { ", " }, if is_out { "out " } else { "" }, text]);
    }
    match result {
        Some(result) if at == params.len() => Some([if at == 0 { "-> " } else { " -> " }, "", result.text]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{BlockLayout, Params, ValueType, fingerprint, words};
    use crate::{Delegate, MulticastDelegate, Obj, Object, SoftObject, UArray, UMap, UName, UOptional, USet, Value};
    use alcedo_abi::fingerprint::Fingerprint;
    use alcedo_abi::kinds::PropertyKind;

    #[test]
    fn a_signature_in_words_is_cut_where_it_has_no_room() {
        let of = ValueType::of::<u8>;
        assert_eq!(
            words(&[of(), ValueType::of::<String>()], &Some(ValueType::of::<bool>()), true).as_str(),
            "u8, String -> bool"
        );
        assert_eq!(words(&[], &Some(of()), true).as_str(), "-> u8");
        assert_eq!(words(&[], &None, true).as_str(), "");
        for (params, result) in [(400, None), (127, Some(of()))] {
            let words = words(&vec![of(); params], &result, true);
            assert!(words.as_str().starts_with("u8, u8, u8") && words.as_str().ends_with(" …"), "{words:?}");
        }
    }

    #[test]
    fn a_block_has_the_c_layout() {
        #[repr(C)]
        struct Block {
            a: u8,
            b: f64,
            c: u16,
        }
        let layout = <(u8, f64, u16) as Params>::LAYOUT;
        assert_eq!((layout.size, layout.align), (std::mem::offset_of!(Block, c) + 2, align_of::<Block>()));
        assert_eq!(BlockLayout::EMPTY.place_value::<u8>().1.place_value::<f64>().0, std::mem::offset_of!(Block, b));
    }

    #[test]
    fn a_fingerprint_is_what_the_host_computes() {
        let host = Fingerprint::START.value(PropertyKind::F32, "").number(0xfeed).value(PropertyKind::BOOL, "");
        assert_eq!(fingerprint::<(f32,), bool>(), host.finish());
        assert_ne!(fingerprint::<(f32,), bool>(), fingerprint::<(f32, bool), ()>());
    }

    fn check<T: Value>(text: &str) {
        assert_eq!(T::TYPE.as_str(), text);
    }

    #[test]
    fn a_type_reads_as_the_host_prints_it() {
        check::<f64>("f64");
        check::<Obj<Object>>("Object(/Script/Core.Object)");
        check::<UArray<f64>>("Array(f64)");
        check::<Vec<f64>>("Array(f64)");
        check::<UOptional<i32>>("Optional(i32)");
        check::<UMap<String, UArray<Obj<Object>>>>("Map(String, Array(Object(/Script/Core.Object)))");
        check::<BTreeMap<UName, BTreeSet<u8>>>("Map(Name, Set(u8))");
        check::<USet<SoftObject<Object>>>("Set(SoftObject(/Script/Core.Object))");
        check::<Delegate<fn(f32, String) -> bool>>("Delegate(f32, String -> bool)");
        check::<Delegate<fn() -> bool>>("Delegate(-> bool)");
        check::<MulticastDelegate<fn()>>("MulticastDelegate()");
        check::<UArray<UArray<UArray<UArray<bool>>>>>("Array(Array(Array(Array(bool))))");
    }
}
