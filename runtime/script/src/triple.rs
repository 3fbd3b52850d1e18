//! Vectors and rotators: structs of three consecutive numbers of one kind. Operators read and write these three numbers directly.
#![expect(unsafe_code, reason = "reads and writes numbers in registers")]
#![expect(clippy::unnecessary_cast, reason = "only some kinds of numbers are of the type already")]

use alcedo_reflect::property::PropertyType;
use alcedo_uc::hir::{Num, Op};

use crate::number::with_num;
use crate::value::triple_of;

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
    /// Rotator with the second number kind that points along a vector with the first kind.
    RotatorOf(Num, Num),
    /// Unit vector with the second number kind along a rotator with the first kind.
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
                        Op::Mul => write(to, num, each(|at| one[at] * two[at])),
                        _ => write(to, num, each(|at| one[at] / two[at])),
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

/// Multiplies or divides one component by a number.
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

    use super::TripleOp;

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
