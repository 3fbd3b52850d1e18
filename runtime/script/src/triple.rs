//! Vectors and rotators: structs of three numbers, and what operators make of them.

use std::sync::Arc;

use alcedo_reflect::property::PropertyType;
use alcedo_reflect::value::Value;
use alcedo_reflect::values::ptr::Ptr;
use alcedo_uc::hir::{Num, Op, Operand};

use crate::value::{Number, number, to_num, triple_of};

/// Three numbers, and the names and kind of the fields they are in.
#[derive(Clone, Debug)]
pub(crate) struct Three {
    pub(crate) of: [f64; 3],
    names: [Arc<str>; 3],
    num: Num,
}

impl Three {
    /// The three numbers of a value.
    pub(crate) fn of(at: Ptr<'_>) -> Option<Self> {
        let PropertyType::Struct(ty) = at.ty() else { return None };
        let num = triple_of(ty)?;
        let mut of = [0.0; 3];
        for (to, field) in of.iter_mut().zip(ty.fields()) {
            *to = match number(&at.field(field)?.read())? {
                Number::Whole(it) => it as f64,
                Number::Float(it) => it,
            };
        }
        let name = |place: usize| Arc::from(&*ty.fields()[place].text);
        Some(Self { of, names: [name(0), name(1), name(2)], num })
    }

    /// What `make` makes of each.
    pub(crate) fn map(&self, make: impl Fn(f64) -> f64) -> Self {
        Self { of: self.of.map(make), ..self.clone() }
    }

    /// The struct.
    pub(crate) fn value(&self) -> Value {
        // Whole numbers wrap, as they do alone.
        let make = |it: f64| match self.num.is_float() {
            true => to_num(Number::Float(it), self.num),
            false => to_num(Number::Whole(it as i128), self.num),
        };
        let [one, two, three] = &self.names;
        let [x, y, z] = self.of.map(make);
        Value::Struct(vec![(one.clone(), x), (two.clone(), y), (three.clone(), z)])
    }

    /// The same numbers in the fields of another struct of three.
    pub(crate) fn value_of(&self, like: Ptr<'_>) -> Option<Value> {
        let like = Self::of(like)?;
        Some(Self { of: self.of, ..like }.value())
    }

    /// The numbers as their kind has them: what an `f32` loses is lost after each step.
    fn rounded(self) -> Self {
        match self.num {
            Num::F32 => self.map(|it| f64::from(it as f32)),
            _ => self,
        }
    }
}

/// What an operator makes of two values, one of which is a triple.
pub(crate) fn binary(op: Op, on: &Operand, left: Ptr<'_>, right: Ptr<'_>) -> Option<Value> {
    let scalar = |at: Ptr<'_>| match number(&at.read()) {
        Some(Number::Whole(it)) => Some(it as f64),
        Some(Number::Float(it)) => Some(it),
        None => None,
    };
    match on {
        Operand::TripleScalar(_) => {
            let (three, by) = (Three::of(left)?, scalar(right)?);
            let made = match op {
                Op::Mul => three.map(|it| it * by),
                Op::Div if three.num.is_float() => three.map(|it| it / by),
                Op::Div if by != 0.0 => three.map(|it| (it / by).trunc()),
                Op::Div => three.map(|_| 0.0),
                _ => return None,
            };
            Some(made.rounded().value())
        }
        Operand::ScalarTriple(_) => {
            let (by, three) = (scalar(left)?, Three::of(right)?);
            (op == Op::Mul).then(|| three.map(|it| by * it).rounded().value())
        }
        Operand::Turned(..) => {
            let (vector, rotator) = (Three::of(left)?, Three::of(right)?);
            let axes = axes_of(&rotator);
            let [x, y, z] = vector.of;
            let dot = |axis: [f64; 3]| x * axis[0] + y * axis[1] + z * axis[2];
            let [a, b, c] = axes;
            let of = match op {
                Op::Shr => [0, 1, 2].map(|at| a[at] * x + b[at] * y + c[at] * z),
                Op::Shl => [dot(a), dot(b), dot(c)],
                _ => return None,
            };
            Some(Three { of, ..vector }.rounded().value())
        }
        _ => triples(op, &Three::of(left)?, &Three::of(right)?),
    }
}

fn triples(op: Op, one: &Three, two: &Three) -> Option<Value> {
    let each = |make: fn(f64, f64) -> f64| {
        let [a, b, c] = [0, 1, 2].map(|at| make(one.of[at], two.of[at]));
        Three { of: [a, b, c], ..one.clone() }.rounded().value()
    };
    let ([ax, ay, az], [bx, by, bz]) = (one.of, two.of);
    Some(match op {
        Op::Add => each(|one, two| one + two),
        Op::Sub => each(|one, two| one - two),
        Op::Mul => each(|one, two| one * two),
        Op::Div => each(|one, two| one / two),
        Op::Eq => Value::Bool(one.of == two.of),
        Op::Ne => Value::Bool(one.of != two.of),
        Op::Dot => to_num(Number::Float(ax * bx + ay * by + az * bz), one.num),
        Op::Cross => {
            let of = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
            Three { of, ..one.clone() }.rounded().value()
        }
        _ => return None,
    })
}

/// Radians of an angle: whole numbers have 65536 a turn, floats are degrees.
fn radians(angle: f64, num: Num) -> f64 {
    if num.is_float() { angle.to_radians() } else { angle * (std::f64::consts::TAU / 65536.0) }
}

/// The axes of what is turned by a rotator.
fn axes_of(rotator: &Three) -> [[f64; 3]; 3] {
    let [pitch, yaw, roll] = rotator.of.map(|angle| radians(angle, rotator.num));
    let ((sp, cp), (sy, cy), (sr, cr)) = (pitch.sin_cos(), yaw.sin_cos(), roll.sin_cos());
    [
        [cp * cy, cp * sy, sp],
        [sr * sp * cy - cr * sy, sr * sp * sy + cr * cy, -sr * cp],
        [-(cr * sp * cy + sr * sy), cy * sr - cr * sp * sy, cr * cp],
    ]
}

/// The vector of length 1 along a rotator.
pub(crate) fn direction_of(rotator: Three) -> Three {
    let of = axes_of(&rotator)[0];
    Three { of, ..rotator }
}

/// The rotator that looks along a vector, with angles of that kind.
pub(crate) fn rotator_of(vector: Three, num: Num) -> Three {
    let [x, y, z] = vector.of;
    let angle = |radians: f64| match num.is_float() {
        true => radians.to_degrees(),
        false => (radians * (65536.0 / std::f64::consts::TAU)).trunc(),
    };
    let of = [angle(z.atan2(x.hypot(y))), angle(y.atan2(x)), 0.0];
    Three { of, ..vector }
}
