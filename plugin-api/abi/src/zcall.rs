//! Buffer of a ZCall. Each slot contains a value of eight bytes and, with the feature `slot-types`, a type byte.

use abi_stable::StableAbi;

use crate::handles::{ConjugateHandle, Name, ObjectHandle};
use crate::kinds::PropertyKind;

/// Type of the value in a slot.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SlotType(pub u8);

impl SlotType {
    /// Type of a result slot before the call.
    pub const EMPTY: Self = Self(0);
    /// Type `u8`, also used for booleans.
    pub const U8: Self = Self(1);
    /// Type `u16`.
    pub const U16: Self = Self(2);
    /// Type `u32`, also used for names.
    pub const U32: Self = Self(3);
    /// Type `u64`.
    pub const U64: Self = Self(4);
    /// Type `i8`.
    pub const I8: Self = Self(5);
    /// Type `i16`.
    pub const I16: Self = Self(6);
    /// Type `i32`.
    pub const I32: Self = Self(7);
    /// Type `i64`.
    pub const I64: Self = Self(8);
    /// Type `f32`.
    pub const F32: Self = Self(9);
    /// Type `f64`.
    pub const F64: Self = Self(10);
    /// Address of a value. For `String`, an argument is the address of a [`crate::value::TextView`], and a result is the address of a
    /// [`crate::value::TextSink`]. For all other kinds that do not fit a slot (`PropertyKind::fits_slot`), the slot contains the address of
    /// a live value. The caller keeps an argument alive while the callee reads it. The memory for a result is all zero before the call. The
    /// callee overwrites this memory, and the caller owns the result.
    pub const POINTER: Self = Self(11);
    /// Handle of a conjugate, which may be an object.
    pub const CONJUGATE: Self = Self(13);

    /// Returns the slot type for values of a kind, or `None` if slots cannot store such values.
    #[must_use]
    #[inline]
    pub const fn of_kind(kind: PropertyKind) -> Option<Self> {
        Some(match kind {
            PropertyKind::BOOL => Self::U8,
            PropertyKind::NAME => Self::U32,
            PropertyKind::OBJECT => Self::CONJUGATE,
            // The slot type of a number equals the kind of the number.
            _ if kind.is_number() => Self(kind.0),
            _ => return None,
        })
    }

    /// Returns the name of the slot type, for errors.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self.0 {
            0 => "empty",
            number @ 1..=10 => match PropertyKind(number).text() {
                Some(text) => text,
                None => "unknown",
            },
            11 => "pointer",
            12 => "gc_handle",
            13 => "conjugate",
            _ => "unknown",
        }
    }
}

/// Parameter or result of a ZCall. A slot has 16 bytes with the type byte, and 8 bytes without it.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Slot {
    #[cfg(feature = "slot-types")]
    kind: SlotType,
    bits: u64,
}

impl Slot {
    /// Slot for a result that the callee has not written yet.
    pub const EMPTY: Self = Self::from_bits(SlotType::EMPTY, 0);

    /// Creates a slot of `kind` with the value in the low bytes of `bits`.
    ///
    /// The caller is responsible for the address in a slot of type [`SlotType::POINTER`]. Safe code of plugins and hosts cannot create
    /// slots of this type.
    #[must_use]
    #[cfg_attr(not(feature = "slot-types"), expect(unused_variables, reason = "the type byte is compiled away"))]
    #[inline]
    pub const fn from_bits(kind: SlotType, bits: u64) -> Self {
        Self {
            #[cfg(feature = "slot-types")]
            kind,
            bits,
        }
    }

    /// Returns the bytes of the value, zero-extended to 64 bits.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.bits
    }

    /// Returns the type of the slot, if slots of this build have a type byte.
    #[inline]
    #[must_use]
    pub const fn kind(self) -> Option<SlotType> {
        #[cfg(feature = "slot-types")]
        {
            Some(self.kind)
        }
        #[cfg(not(feature = "slot-types"))]
        {
            None
        }
    }

    /// Returns true if the slot has the type `expected`. Always returns true if this build has no type bytes.
    #[inline]
    #[must_use]
    pub const fn is(self, expected: SlotType) -> bool {
        match self.kind() {
            Some(kind) => kind.0 == expected.0,
            None => true,
        }
    }
}

/// Plain value that fits one slot.
pub trait SlotValue: Copy {
    /// Slot type of the value.
    const SLOT: SlotType;
    /// Converts the value into the bytes of a slot. Signed integers are sign-extended, other integers are zero-extended, and floats keep
    /// their bits.
    fn into_bits(self) -> u64;
    /// Converts the bytes of a slot into a value. Ignores the bits above the size of the value.
    fn from_bits(bits: u64) -> Self;
}

macro_rules! slot_values {
    ($($rust:ty => $slot:ident, |$value:ident| $into:expr, |$bits:ident| $from:expr;)*) => {$(
        impl SlotValue for $rust {
            const SLOT: SlotType = SlotType::$slot;

            #[inline]
            fn into_bits(self) -> u64 {
                let $value = self;
                $into
            }
            #[inline]
            fn from_bits($bits: u64) -> Self {
                $from
            }
        }
    )*};
}
slot_values! {
    u8 => U8, |value| value as u64, |bits| bits as Self;
    u16 => U16, |value| value as u64, |bits| bits as Self;
    u32 => U32, |value| value as u64, |bits| bits as Self;
    u64 => U64, |value| value, |bits| bits;
    i8 => I8, |value| value as u64, |bits| bits as Self;
    i16 => I16, |value| value as u64, |bits| bits as Self;
    i32 => I32, |value| value as u64, |bits| bits as Self;
    i64 => I64, |value| value as u64, |bits| bits as Self;
    f32 => F32, |value| u64::from(value.to_bits()), |bits| Self::from_bits(bits as u32);
    f64 => F64, |value| value.to_bits(), |bits| Self::from_bits(bits);
    bool => U8, |value| u64::from(value), |bits| bits & 0xff != 0;
    Name => U32, |value| u64::from(value.0), |bits| Self(bits as u32);
    ObjectHandle => CONJUGATE, |value| value.0, |bits| Self(bits);
    ConjugateHandle => CONJUGATE, |value| value.0, |bits| Self(bits);
}

/// Slots borrowed for one call. The parameters are first, followed by the result, if any.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct ZCallBuffer {
    /// Address of the first slot; never read if `len` is zero.
    pub slots: *mut Slot,
    /// Number of slots.
    pub len: usize,
}

/// Status of a ZCall.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[must_use]
pub struct ZCallStatus(pub u8);

impl ZCallStatus {
    /// The call succeeded, and the out slots are written.
    pub const SUCCESS: Self = Self(0);
    /// The load context cannot accept calls; out slots are unchanged.
    pub const CONTEXT_UNAVAILABLE: Self = Self(1);
    /// The handle is zero, or was never issued.
    pub const INVALID_HANDLE: Self = Self(2);
    /// The handle is valid, but its generation has ended.
    pub const DISPATCHER_NOT_FOUND: Self = Self(3);
    /// The dispatcher refused the call, for example because of a wrong thread, a stale object or a re-entrant borrow.
    pub const DISPATCHER_ERROR: Self = Self(4);
    /// The number or the types of the slots are wrong.
    pub const BUFFER_ERROR: Self = Self(5);
    /// The callee panicked; the failure contains message and location.
    pub const EXTERNAL_ERROR: Self = Self(6);
}
