//! Mathematical functions.

use std::cell::Cell;
use std::hash::{BuildHasher as _, RandomState};

use alcedo_base::boundary::CallError;
use alcedo_reflect::World;
use alcedo_reflect::decl::{FunctionDecl, RESULT_NAME};
use alcedo_reflect::property::{Property, PropertyType};
use alcedo_reflect::thunk::{AnyStruct, Frame, Param};
use alcedo_reflect::value::Value;

use super::build::{any_struct, custom, out, plain, problem, result};
use crate::number::{axes, kind_of};
use crate::value::{Number, number, to_num};

pub(super) fn functions() -> Vec<FunctionDecl> {
    let vector = || any_struct("v");
    vec![
        custom("v_size", "Returns the length of a vector.", vec![vector(), result::<f32>()], |_world, frame| {
            let square = square(frame)?;
            frame.set_result(square.sqrt() as f32)
        }),
        custom(
            "v_size_sq",
            "Returns the square of the length of a vector.",
            vec![vector(), result::<f32>()],
            |_world, frame| {
                let square = square(frame)?;
                frame.set_result(square as f32)
            },
        ),
        custom(
            "normal",
            "Returns the unit vector in the direction of a vector; zero for zero.",
            vec![vector(), any_struct(RESULT_NAME)],
            |_world, frame| {
                let (at, numbers) = numbers(frame)?;
                frame.finish()?;
                let size = numbers.iter().map(|it| it * it).sum::<f64>().sqrt();
                let ty = frame.property(at).ty.clone();
                give(frame, &ty, numbers.map(|it| if size < 1e-8 { 0.0 } else { it / size }))
            },
        ),
        custom(
            "v_rand",
            "Returns a unit vector in a random direction.",
            vec![any_struct(RESULT_NAME)],
            |_world, frame| {
                frame.finish()?;
                let ty = frame.result_property()?.ty.clone();
                let z = f64::from(fraction()) * 2.0 - 1.0;
                let (sin, cos) = (f64::from(fraction()) * std::f64::consts::TAU).sin_cos();
                let flat = (1.0 - z * z).sqrt();
                give(frame, &ty, [flat * cos, flat * sin, z])
            },
        ),
        custom(
            "get_axes",
            "Returns the axes of a rotator.",
            vec![any_struct("r"), out(any_struct("x")), out(any_struct("y")), out(any_struct("z"))],
            get_axes,
        ),
        plain!("abs", "Returns the absolute value.", |a: f32| -> f32 { a.abs() }),
        plain!("sin", "Returns the sine of an angle in radians.", |a: f32| -> f32 { a.sin() }),
        plain!("cos", "Returns the cosine of an angle in radians.", |a: f32| -> f32 { a.cos() }),
        plain!("tan", "Returns the tangent of an angle in radians.", |a: f32| -> f32 { a.tan() }),
        plain!("asin", "Returns the angle of a sine, in radians.", |a: f32| -> f32 { a.asin() }),
        plain!("acos", "Returns the angle of a cosine, in radians.", |a: f32| -> f32 { a.acos() }),
        plain!(
            "atan",
            "Returns the angle of a tangent, or of the point (b, a), in radians.",
            |a: f32, b: f32 = "1"| -> f32 { a.atan2(b) }
        ),
        plain!("atan2", "Returns the angle of the point (x, y), in radians.", |y: f32, x: f32| -> f32 { y.atan2(x) }),
        plain!("exp", "Returns e to the power of a.", |a: f32| -> f32 { a.exp() }),
        plain!("loge", "Returns the natural logarithm.", |a: f32| -> f32 { a.ln() }),
        plain!("sqrt", "Returns the square root.", |a: f32| -> f32 { a.sqrt() }),
        plain!("square", "Returns a times a.", |a: f32| -> f32 { a * a }),
        plain!("min", "Returns the smaller number.", |a: i32, b: i32| -> i32 { a.min(b) }),
        plain!("max", "Returns the larger number.", |a: i32, b: i32| -> i32 { a.max(b) }),
        plain!("clamp", "Limits a value to the range from a to b.", |v: i32, a: i32, b: i32| -> i32 {
            v.max(a).min(b)
        }),
        plain!("fmin", "Returns the smaller number.", |a: f32, b: f32| -> f32 { a.min(b) }),
        plain!("fmax", "Returns the larger number.", |a: f32, b: f32| -> f32 { a.max(b) }),
        plain!("fclamp", "Limits a value to the range from a to b.", |v: f32, a: f32, b: f32| -> f32 {
            v.max(a).min(b)
        }),
        plain!("lerp", "Interpolates linearly from a to b by alpha.", |a: f32, b: f32, alpha: f32| -> f32 {
            a + (b - a) * alpha
        }),
        plain!("round", "Rounds to the nearest integer; halves away from zero.", |a: f32| -> i32 { a.round() as i32 }),
        plain!("ffloor", "Rounds down to an integer.", |a: f32| -> i32 { a.floor() as i32 }),
        plain!("fceil", "Rounds up to an integer.", |a: f32| -> i32 { a.ceil() as i32 }),
        plain!("rand", "Returns a random integer from 0 to below max; 0 if max is not above 0.", |max: i32| -> i32 {
            below(max.max(0) as u32) as i32
        }),
        plain!(
            "rand_range",
            "Returns a random number from min to below max; min if max is not above.",
            |min: f32, max: f32| -> f32 {
                if max > min { (min + (max - min) * fraction()).min(max.next_down()) } else { min }
            }
        ),
        plain!("sign", "Returns -1, 0 or 1 for a number below, equal to or above zero; 0 for NaN.", |a: f32| -> f32 {
            if a == 0.0 || a.is_nan() { 0.0 } else { a.signum() }
        }),
        plain!("frac", "Returns the fractional part, with the sign of the number.", |a: f32| -> f32 { a.fract() }),
        plain!("frand", "Returns a random number from 0 to below 1.", || -> f32 { fraction() }),
    ]
}

/// Reads the next argument, a vector or rotator.
fn numbers(frame: &mut Frame<'_>) -> Result<(Param, [f64; 3]), CallError> {
    let param = frame.step_compiled_in::<AnyStruct>()?;
    let at = frame.value(param);
    let PropertyType::Struct(of) = at.ty() else {
        return Err(problem(frame, format_args!("a {} is not a vector", at.ty())));
    };
    if kind_of(at.ty()).is_none() {
        return Err(problem(frame, format_args!("a {} is not a vector", of.path)));
    }
    let read = |field: &Property| match at.field(field).and_then(|at| number(&at.read())) {
        Some(Number::Whole(it)) => it as f64,
        Some(Number::Float(it)) => it,
        None => 0.0,
    };
    let fields = of.fields();
    Ok((param, [read(&fields[0]), read(&fields[1]), read(&fields[2])]))
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

fn get_axes(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let (rotator, angles) = numbers(frame)?;
    let targets = [(); 3].map(|()| frame.step_compiled_in_ref::<AnyStruct>());
    frame.finish()?;
    let num = kind_of(&frame.property(rotator).ty).ok_or_else(|| problem(frame, "r has to be a rotator"))?;
    for (to, axis) in targets.into_iter().zip(axes(angles, num)) {
        let to = to?;
        let value = triple_value(frame, &frame.property(to).ty, axis)?;
        frame.value_mut(to)?.write(&value).map_err(|error| CallError::other(error.to_string()))?;
    }
    Ok(())
}

/// Returns the sum of the squared components of the vector argument.
fn square(frame: &mut Frame<'_>) -> Result<f64, CallError> {
    let (_, numbers) = numbers(frame)?;
    frame.finish()?;
    Ok(numbers.iter().map(|it| it * it).sum())
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
