//! Number operators of the language, for each kind of number.
#![expect(unsafe_code, reason = "reads and writes numbers in registers")]

use alcedo_uc::hir::{Num, Op};

/// Tolerance of the `~=` operator on floats.
const NEAR: f64 = 0.0001;

/// Operators on one number kind.
pub(crate) trait Number: Copy + PartialOrd {
    /// Computes `op`. The flag is true for a division by zero.
    fn binary(op: Op, left: Self, right: Self, places: i32) -> (Self, bool);

    /// Compares with the tolerance of `~=`.
    fn is_near(self, other: Self) -> bool;
}

macro_rules! whole {
    ($($ty:ident, $unsigned:ident;)*) => {$(
        impl Number for $ty {
            #[inline]
            fn binary(op: Op, left: Self, right: Self, places: i32) -> (Self, bool) {
                let places = places as u32 & ($ty::BITS - 1);
                let value = match op {
                    Op::Add => left.wrapping_add(right),
                    Op::Sub => left.wrapping_sub(right),
                    Op::Mul => left.wrapping_mul(right),
                    Op::Div | Op::Rem if right == 0 => return (0, true),
                    Op::Div => left.wrapping_div(right),
                    Op::Rem => left.wrapping_rem(right),
                    Op::Shl => left.wrapping_shl(places),
                    Op::Shr => left.wrapping_shr(places),
                    Op::Ushr => (left as $unsigned).wrapping_shr(places) as Self,
                    Op::BitAnd => left & right,
                    Op::BitOr => left | right,
                    Op::BitXor => left ^ right,
                    _ => left,
                };
                (value, false)
            }

            #[inline]
            fn is_near(self, other: Self) -> bool {
                self == other
            }
        }
    )*};
}
whole! { u8, u8; u16, u16; u32, u32; u64, u64; i8, u8; i16, u16; i32, u32; i64, u64; }

macro_rules! floats {
    ($($ty:ident)*) => {$(
        impl Number for $ty {
            #[inline]
            fn binary(op: Op, left: Self, right: Self, _places: i32) -> (Self, bool) {
                let value = match op {
                    Op::Add => left + right,
                    Op::Sub => left - right,
                    Op::Mul => left * right,
                    Op::Div => left / right,
                    Op::Rem => left % right,
                    Op::Pow => left.powf(right),
                    _ => left,
                };
                (value, false)
            }

            #[inline]
            fn is_near(self, other: Self) -> bool {
                f64::from((self - other).abs()) < NEAR
            }
        }
    )*};
}
floats! { f32 f64 }

#[inline]
pub(crate) fn compare<N: Number>(op: Op, left: N, right: N) -> bool {
    match op {
        Op::Eq => left == right,
        Op::Ne | Op::Xor => left != right,
        Op::Lt => left < right,
        Op::Le => left <= right,
        Op::Gt => left > right,
        Op::Ge => left >= right,
        Op::Near => left.is_near(right),
        _ => false,
    }
}

/// Returns true if the left angle is clockwise from the right angle. A full turn has 65536 units.
pub(crate) fn clockwise_from(left: i32, right: i32) -> bool {
    let (left, right) = (left & 0xffff, right & 0xffff);
    if (left - right).abs() > 0x8000 { left < right } else { left > right }
}

/// Returns true for operators with a `bool` result.
pub(crate) fn compares(op: Op) -> bool {
    matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Near | Op::Xor | Op::ClockwiseFrom)
}

/// Evaluates the body with the Rust type of a number kind.
macro_rules! with_num {
    (@arms $num:expr, $ty:ident => $body:expr; $($kind:ident $rust:ident)*) => {
        match $num {
            $(Num::$kind => {
                type $ty = $rust;
                $body
            })*
        }
    };
    ($num:expr, $ty:ident => $body:expr) => {
        with_num!(@arms $num, $ty => $body; U8 u8 U16 u16 U32 u32 U64 u64 I8 i8 I16 i16 I32 i32 I64 i64 F32 f32 F64 f64)
    };
}
pub(crate) use with_num;

/// Computes `to = left op right`. Returns true for a division by zero.
///
/// # Safety
/// `left` and `right` must point to numbers of the kind. For shifts, `right` must point to an `i32`. `to` must be valid for writes of a
/// number of the kind. For comparisons, `to` must be valid for writes of a `bool`.
pub(crate) unsafe fn arithmetic(op: Op, num: Num, to: *mut u8, left: *const u8, right: *const u8) -> bool {
    // SAFETY: the caller promised numbers of this kind.
    unsafe {
        if compares(op) {
            *to = u8::from(compare_bits(op, num, left, right));
            return false;
        }
        let is_shift = matches!(op, Op::Shl | Op::Shr | Op::Ushr);
        let places = if is_shift { *right.cast::<i32>() } else { 0 };
        with_num!(num, N => {
            let left = *left.cast::<N>();
            let right = if is_shift { left } else { *right.cast::<N>() };
            let (value, by_zero) = N::binary(op, left, right, places);
            *to.cast::<N>() = value;
            by_zero
        })
    }
}

/// Evaluates a comparison of two numbers.
///
/// # Safety
/// Both pointers must point to numbers of the kind.
#[inline]
pub(crate) unsafe fn compare_bits(op: Op, num: Num, left: *const u8, right: *const u8) -> bool {
    // SAFETY: the caller promised numbers of this kind.
    unsafe {
        if op == Op::ClockwiseFrom && num == Num::I32 {
            return clockwise_from(*left.cast(), *right.cast());
        }
        with_num!(num, N => compare(op, *left.cast::<N>(), *right.cast::<N>()))
    }
}

#[cfg(test)]
mod tests {
    use alcedo_uc::hir::Op;

    use super::{Number as _, clockwise_from, compare};

    #[test]
    fn integers_wrap_and_division_by_zero_returns_zero() {
        assert_eq!(i32::binary(Op::Add, i32::MAX, 1, 0), (i32::MIN, false));
        assert_eq!(i32::binary(Op::Div, i32::MIN, -1, 0), (i32::MIN, false));
        assert_eq!(i32::binary(Op::Div, 7, 0, 0), (0, true));
        assert_eq!(i32::binary(Op::Rem, -7, 3, 0), (-1, false));
        assert_eq!(i32::binary(Op::Shl, 1, 0, 33), (2, false));
        assert_eq!(i32::binary(Op::Ushr, -1, 0, 28), (15, false));
    }

    #[test]
    fn floats_are_near_and_angles_go_round() {
        assert!(compare(Op::Near, 1.0_f32, 1.00005) && !compare(Op::Near, 1.0_f32, 1.001));
        assert!(clockwise_from(10, 5) && !clockwise_from(5, 10) && clockwise_from(5, 65530));
    }
}
