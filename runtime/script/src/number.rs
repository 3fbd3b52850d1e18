//! Operators of the language on numbers of each kind, and on vectors and rotators: structs of three consecutive numbers of one kind. The
//! operators read and write the numbers in registers.
#![expect(unsafe_code, reason = "reads and writes numbers in registers")]
#![expect(clippy::unnecessary_cast, reason = "only some kinds of numbers are of the type already")]

use alcedo_reflect::property::PropertyType;
use alcedo_uc::hir::{Num, Op};

use crate::value::triple_of;

/// Tolerance of the `~=` operator on floats.
const NEAR: f64 = 0.0001;

/// Operators on one number kind.
pub(crate) trait Number: Copy + PartialOrd {
    /// Computes `op`. The flag is true for a division by zero.
    fn binary(op: Op, left: Self, right: Self, places: i32) -> (Self, bool);

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
fn clockwise_from(left: i32, right: i32) -> bool {
    let (left, right) = (left & 0xffff, right & 0xffff);
    if (left - right).abs() > 0x8000 { left < right } else { left > right }
}

/// Returns true for operators that are defined for two numbers.
pub(crate) fn takes_numbers(op: Op) -> bool {
    match op {
        Op::Concat | Op::ConcatSpaced | Op::TextWithout | Op::Dot | Op::Cross => false,
        Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem | Op::Pow | Op::Shl | Op::Shr | Op::Ushr => true,
        Op::BitAnd | Op::BitOr | Op::BitXor | Op::Xor | Op::ClockwiseFrom => true,
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Near => true,
    }
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

/// Returns the number kind of a vector or rotator struct whose numbers are consecutive. Returns `None` for all other types.
pub(crate) fn kind_of(ty: &PropertyType) -> Option<Num> {
    let PropertyType::Struct(of) = ty else { return None };
    let num = triple_of(of)?;
    let size = of.fields().first()?.ty.size();
    let in_order = of.fields().iter().enumerate().all(|(at, field)| field.offset as usize == at * size);
    in_order.then_some(num)
}

/// Operations on triples, with the number kinds of the operands and the result. The loader creates these operations and checks the kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TripleOp {
    /// Operator on two triples of one kind. The result is a triple, a `bool` for comparisons, or a number for the dot product.
    OfTwo(Op, Num),
    /// Operator on a triple of the first kind and a number of the second kind.
    Scaled(Op, Num, Num),
    /// Rotation of a vector of the first kind by a rotator of the second kind.
    Turned(Op, Num, Num),
    Negative(Num),
    Converted(Num, Num),
    /// Rotator of the second number kind, in the direction of a vector of the first kind.
    RotatorOf(Num, Num),
    /// Unit vector of the second number kind, in the direction of a rotator of the first kind.
    DirectionOf(Num, Num),
    /// True if a component is nonzero.
    IsNotZero(Num),
}

impl TripleOp {
    pub(crate) fn is_known(self) -> bool {
        match self {
            Self::OfTwo(op, _) => {
                matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Eq | Op::Ne | Op::Dot | Op::Cross)
            }
            Self::Scaled(op, ..) => matches!(op, Op::Mul | Op::Div),
            Self::Turned(op, ..) => matches!(op, Op::Shl | Op::Shr),
            _ => true,
        }
    }

    /// Computes the operation.
    ///
    /// # Safety
    /// `left` and `right` must point to values of the types that the variant specifies. Unary operations do not use `right`. `to` must be
    /// valid for writes of the result, and may overlap an operand.
    pub(crate) unsafe fn put(self, to: *mut u8, left: *const u8, right: *const u8) {
        // SAFETY: the caller promised values of these types, and all operands are read before the result is written.
        unsafe {
            match self {
                Self::OfTwo(op, num) => {
                    let (one, two) = (read(left, num), read(right, num));
                    match op {
                        Op::Eq => *to = u8::from(one == two),
                        Op::Ne => *to = u8::from(one != two),
                        Op::Dot => with_num!(num, N => *to.cast::<N>() = dot(one, two) as N),
                        Op::Cross => write(to, num, cross(one, two)),
                        Op::Add => write(to, num, each(|at| one[at] + two[at])),
                        Op::Sub => write(to, num, each(|at| one[at] - two[at])),
                        // A float cannot represent the product of two large integers, whose low bits are the result.
                        Op::Mul if num == Num::I32 => {
                            write(to, num, each(|at| f64::from((one[at] as i32).wrapping_mul(two[at] as i32))));
                        }
                        Op::Mul => write(to, num, each(|at| one[at] * two[at])),
                        _ => write(to, num, each(|at| scaled(op, num, one[at], two[at]))),
                    }
                }
                Self::Scaled(op, num, by) => {
                    let (one, by) = (read(left, num), with_num!(by, N => *right.cast::<N>() as f64));
                    write(to, num, each(|at| scaled(op, num, one[at], by)));
                }
                Self::Turned(op, num, angle) => {
                    let (vector, axes) = (read(left, num), axes(read(right, angle), angle));
                    let [x, y, z] = vector;
                    let of = match op {
                        Op::Shr => each(|at| axes[0][at] * x + axes[1][at] * y + axes[2][at] * z),
                        _ => axes.map(|axis| dot(vector, axis)),
                    };
                    write(to, num, of);
                }
                Self::Negative(num) => write(to, num, read(left, num).map(|it| -it)),
                Self::Converted(from, num) => write(to, num, read(left, from)),
                Self::RotatorOf(from, num) => write(to, num, rotator_of(read(left, from), num)),
                Self::DirectionOf(from, num) => write(to, num, axes(read(left, from), from)[0]),
                Self::IsNotZero(num) => *to = u8::from(read(left, num).iter().any(|it| *it != 0.0)),
            }
        }
    }
}

#[inline]
fn each(make: impl Fn(usize) -> f64) -> [f64; 3] {
    [make(0), make(1), make(2)]
}

fn dot(one: [f64; 3], two: [f64; 3]) -> f64 {
    one[0] * two[0] + one[1] * two[1] + one[2] * two[2]
}

fn cross([ax, ay, az]: [f64; 3], [bx, by, bz]: [f64; 3]) -> [f64; 3] {
    [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]
}

/// Multiplies or divides one component by a number. The division of an integer by zero returns zero.
fn scaled(op: Op, num: Num, it: f64, by: f64) -> f64 {
    match op {
        Op::Mul => it * by,
        _ if num.is_float() => it / by,
        _ if by == 0.0 => 0.0,
        _ => (it / by).trunc(),
    }
}

#[inline]
unsafe fn read(at: *const u8, num: Num) -> [f64; 3] {
    with_num!(num, N => {
        let at = at.cast::<N>();
        // SAFETY: the caller promised three numbers of this type.
        unsafe { [*at as f64, *at.wrapping_add(1) as f64, *at.wrapping_add(2) as f64] }
    })
}

#[inline]
unsafe fn write(to: *mut u8, num: Num, of: [f64; 3]) {
    with_num!(num, N => {
        let to = to.cast::<N>();
        for (at, it) in of.into_iter().enumerate() {
            // Integers wrap, as in scalar operations.
            let it = if num.is_float() { it as N } else { it as i128 as N };
            // SAFETY: the caller promised space for three numbers of this type.
            unsafe { *to.wrapping_add(at) = it };
        }
    });
}

/// Converts an angle to radians. An integer angle has 65536 units per turn. A float angle is in degrees.
fn radians(angle: f64, num: Num) -> f64 {
    if num.is_float() { angle.to_radians() } else { angle * (std::f64::consts::TAU / 65536.0) }
}

/// Returns the three axes of the coordinate system that the rotator defines.
pub(crate) fn axes(rotator: [f64; 3], num: Num) -> [[f64; 3]; 3] {
    let [pitch, yaw, roll] = rotator.map(|angle| radians(angle, num));
    let ((sp, cp), (sy, cy), (sr, cr)) = (pitch.sin_cos(), yaw.sin_cos(), roll.sin_cos());
    [
        [cp * cy, cp * sy, sp],
        [sr * sp * cy - cr * sy, sr * sp * sy + cr * cy, -sr * cp],
        [-(cr * sp * cy + sr * sy), cy * sr - cr * sp * sy, cr * cp],
    ]
}

/// Returns the rotator that points along a vector. `num` is the kind of its angles.
fn rotator_of([x, y, z]: [f64; 3], num: Num) -> [f64; 3] {
    let angle = |radians: f64| match num.is_float() {
        true => radians.to_degrees(),
        false => (radians * (65536.0 / std::f64::consts::TAU)).trunc(),
    };
    [angle(z.atan2(x.hypot(y))), angle(y.atan2(x)), 0.0]
}

#[cfg(test)]
mod tests {
    use alcedo_uc::hir::{Num, Op};

    use super::{Number as _, TripleOp, clockwise_from, compare};

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

    /// Computes an operation on two triples of floats.
    fn apply(op: TripleOp, left: [f32; 3], right: [f32; 3]) -> [f32; 3] {
        let mut to = [0.0_f32; 3];
        // SAFETY: each pointer points to three floats.
        unsafe { op.put(to.as_mut_ptr().cast(), left.as_ptr().cast(), right.as_ptr().cast()) };
        to
    }

    #[test]
    fn a_result_may_lie_in_an_operand() {
        let mut at = [1.0_f32, 2.0, 3.0];
        let by = [0.0_f32, 0.0, 1.0];
        // SAFETY: each pointer points to three floats.
        unsafe {
            let place = at.as_mut_ptr().cast::<u8>();
            TripleOp::OfTwo(Op::Cross, Num::F32).put(place, place, by.as_ptr().cast());
        }
        assert_eq!(at, [2.0, -1.0, 0.0]);
    }

    #[test]
    fn whole_triples_wrap_and_are_zero_where_they_are_divided_by_zero() {
        let mut to = [i32::MAX, -7, 5];
        let place = to.as_mut_ptr().cast::<u8>();
        // SAFETY: the pointers point to three integers and to one float.
        unsafe {
            TripleOp::OfTwo(Op::Add, Num::I32).put(place, place, place);
            assert_eq!(to, [-2, -14, 10]);
            TripleOp::Scaled(Op::Div, Num::I32, Num::F64).put(place, place, (&raw const HALF).cast());
            assert_eq!(to, [-4, -28, 20]);
            TripleOp::Scaled(Op::Div, Num::I32, Num::F64).put(place, place, (&raw const NOTHING).cast());
        }
        assert_eq!(to, [0, 0, 0]);
    }

    #[test]
    fn whole_triples_divided_by_triples_are_zero_where_the_divisor_is_zero() {
        let (mut to, by) = ([5_i32, 5, -5], [0_i32, 1, 2]);
        let place = to.as_mut_ptr().cast::<u8>();
        // SAFETY: each pointer points to three integers.
        unsafe { TripleOp::OfTwo(Op::Div, Num::I32).put(place, place, by.as_ptr().cast()) };
        assert_eq!(to, [0, 5, -2]);
    }

    #[test]
    fn products_of_whole_triples_wrap_as_products_of_numbers_do() {
        let mut to = [i32::MAX, i32::MIN, -3];
        let place = to.as_mut_ptr().cast::<u8>();
        // SAFETY: each pointer points to three integers.
        unsafe { TripleOp::OfTwo(Op::Mul, Num::I32).put(place, place, place) };
        assert_eq!(to, [1, 0, 9]);
    }

    static HALF: f64 = 0.5;
    static NOTHING: f64 = 0.0;

    #[test]
    fn turning_a_vector_back_restores_it() {
        let (vector, quarter) = ([1.0, 2.0, 3.0], [0.0, 90.0, 0.0]);
        let there = apply(TripleOp::Turned(Op::Shr, Num::F32, Num::F32), vector, quarter);
        let near = |one: [f32; 3], two: [f32; 3]| one.iter().zip(two).all(|(one, two)| (one - two).abs() < 1e-5);
        assert!(near(there, [-2.0, 1.0, 3.0]), "{there:?}");
        let back = apply(TripleOp::Turned(Op::Shl, Num::F32, Num::F32), there, quarter);
        assert!(near(back, vector), "{back:?}");
    }
}
