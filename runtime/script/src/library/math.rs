//! Library functions for mathematics: vectors, angles, powers, limits, rounding and random numbers.

use std::cell::Cell;
use std::hash::{BuildHasher as _, RandomState};

use alcedo_base::boundary::CallError;
use alcedo_reflect::decl::FunctionDecl;
use alcedo_reflect::property::{Property, PropertyType};
use alcedo_reflect::thunk::{AnyStruct, Frame, Param};
use alcedo_reflect::value::Value;

use super::build::{library, problem};
use crate::number::{axes, kind_of};
use crate::value::{Number, number, to_num};

pub(super) fn functions() -> Vec<FunctionDecl> {
    library! { world, frame:
        /// Returns the length of a vector.
        fn v_size(v: AnyStruct) -> f32 { square(numbers(frame, v)?).sqrt() as f32 }

        /// Returns the square of the length of a vector.
        fn v_size_sq(v: AnyStruct) -> f32 { square(numbers(frame, v)?) as f32 }

        /// Returns the unit vector in the direction of a vector; zero for zero.
        fn normal(v: AnyStruct) => AnyStruct {
            let numbers = numbers(frame, v)?;
            let (ty, size) = (&frame.property(v).ty, square(numbers).sqrt());
            give(frame, ty, numbers.map(|it| if size < 1e-8 { 0.0 } else { it / size }))?;
        }

        /// Returns a unit vector in a random direction.
        fn v_rand() => AnyStruct {
            let z = f64::from(fraction()) * 2.0 - 1.0;
            let (sin, cos) = (f64::from(fraction()) * std::f64::consts::TAU).sin_cos();
            let flat = (1.0 - z * z).sqrt();
            let ty = &frame.result_property()?.ty;
            give(frame, ty, [flat * cos, flat * sin, z])?;
        }

        /// Returns the axes of a rotator.
        fn get_axes(r: AnyStruct, x: &mut AnyStruct, y: &mut AnyStruct, z: &mut AnyStruct) {
            let angles = numbers(frame, r)?;
            let num = kind_of(&frame.property(r).ty).ok_or_else(|| problem(frame, "r has to be a rotator"))?;
            for (to, axis) in [x, y, z].into_iter().zip(axes(angles, num)) {
                let value = triple_value(frame, &frame.property(to).ty, axis)?;
                frame.value_mut(to)?.write(&value).map_err(|error| CallError::other(error.to_string()))?;
            }
        }

        /// Returns the absolute value.
        fn abs(a: f32) -> f32 { a.abs() }

        /// Returns the sine of an angle in radians.
        fn sin(a: f32) -> f32 { a.sin() }

        /// Returns the cosine of an angle in radians.
        fn cos(a: f32) -> f32 { a.cos() }

        /// Returns the tangent of an angle in radians.
        fn tan(a: f32) -> f32 { a.tan() }

        /// Returns the angle of a sine, in radians.
        fn asin(a: f32) -> f32 { a.asin() }

        /// Returns the angle of a cosine, in radians.
        fn acos(a: f32) -> f32 { a.acos() }

        /// Returns the angle of a tangent, or of the point (b, a), in radians.
        fn atan(a: f32, b: f32 = "1") -> f32 { a.atan2(b) }

        /// Returns the angle of the point (x, y), in radians.
        fn atan2(y: f32, x: f32) -> f32 { y.atan2(x) }

        /// Returns e to the power of a.
        fn exp(a: f32) -> f32 { a.exp() }

        /// Returns the natural logarithm.
        fn loge(a: f32) -> f32 { a.ln() }

        /// Returns the square root.
        fn sqrt(a: f32) -> f32 { a.sqrt() }

        /// Returns a times a.
        fn square(a: f32) -> f32 { a * a }

        /// Returns the smaller number.
        fn min(a: i32, b: i32) -> i32 { a.min(b) }

        /// Returns the larger number.
        fn max(a: i32, b: i32) -> i32 { a.max(b) }

        /// Limits a value to the range from a to b.
        fn clamp(v: i32, a: i32, b: i32) -> i32 { v.max(a).min(b) }

        /// Returns the smaller number.
        fn fmin(a: f32, b: f32) -> f32 { a.min(b) }

        /// Returns the larger number.
        fn fmax(a: f32, b: f32) -> f32 { a.max(b) }

        /// Limits a value to the range from a to b.
        fn fclamp(v: f32, a: f32, b: f32) -> f32 { v.max(a).min(b) }

        /// Interpolates linearly from a to b by alpha.
        fn lerp(a: f32, b: f32, alpha: f32) -> f32 { a + (b - a) * alpha }

        /// Rounds to the nearest integer; halves away from zero.
        fn round(a: f32) -> i32 { a.round() as i32 }

        /// Rounds down to an integer.
        fn ffloor(a: f32) -> i32 { a.floor() as i32 }

        /// Rounds up to an integer.
        fn fceil(a: f32) -> i32 { a.ceil() as i32 }

        /// Returns a random integer from 0 to below max; 0 if max is not above 0.
        fn rand(max: i32) -> i32 { below(max.max(0) as u32) as i32 }

        /// Returns a random number from min to below max; min if max is not above.
        fn rand_range(min: f32, max: f32) -> f32 {
            if max > min { (min + (max - min) * fraction()).min(max.next_down()) } else { min }
        }

        /// Returns -1, 0 or 1 for a number below, equal to or above zero; 0 for NaN.
        fn sign(a: f32) -> f32 { if a == 0.0 || a.is_nan() { 0.0 } else { a.signum() } }

        /// Returns the fractional part, with the sign of the number.
        fn frac(a: f32) -> f32 { a.fract() }

        /// Returns a random number from 0 to below 1.
        fn frand() -> f32 { fraction() }
    }
}

/// Reads the components of a vector or rotator.
fn numbers(frame: &Frame<'_>, param: Param) -> Result<[f64; 3], CallError> {
    let at = frame.value(param);
    let (PropertyType::Struct(of), Some(_)) = (at.ty(), kind_of(at.ty())) else {
        return Err(problem(frame, format_args!("a {} is not a vector", at.ty())));
    };
    let read = |field: &Property| match at.field(field).and_then(|at| number(&at.read())) {
        Some(Number::Whole(it)) => it as f64,
        Some(Number::Float(it)) => it,
        None => 0.0,
    };
    let fields = of.fields();
    Ok([read(&fields[0]), read(&fields[1]), read(&fields[2])])
}

/// Returns the sum of the squared components.
fn square(numbers: [f64; 3]) -> f64 {
    numbers.iter().map(|it| it * it).sum()
}

fn triple_value(frame: &Frame<'_>, ty: &PropertyType, numbers: [f64; 3]) -> Result<Value, CallError> {
    let (PropertyType::Struct(of), Some(num)) = (ty, kind_of(ty)) else {
        return Err(problem(frame, format_args!("expected a vector, found {ty}")));
    };
    let fields = of.fields().iter().zip(numbers);
    Ok(Value::Struct(fields.map(|(field, it)| (field.text.as_ref().into(), to_num(Number::Float(it), num))).collect()))
}

fn give(frame: &mut Frame<'_>, ty: &PropertyType, numbers: [f64; 3]) -> Result<(), CallError> {
    let value = triple_value(frame, ty, numbers)?;
    frame.set_result_value(&value)
}

thread_local! {
    static STATE: Cell<u64> = Cell::new(RandomState::new().hash_one(0u8) | 1);
}

/// Returns a pseudorandom number that is unsuitable for cryptography.
fn random() -> u64 {
    STATE.with(|state| {
        // SplitMix64, by Sebastiano Vigna.
        let next = state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        state.set(next);
        let mixed = (next ^ (next >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

fn fraction() -> f32 {
    (random() >> 40) as f32 / (1u64 << 24) as f32
}

/// Returns a random number in `0..end`. Returns 0 if `end` is 0.
pub(super) fn below(end: u32) -> u32 {
    ((u128::from(random()) * u128::from(end)) >> 64) as u32
}
