//! Functions with custom thunks that accept any struct or any array from scripts. The thunks step through the parameters themselves.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::thunk::Frame;
use engine_glue::Vector;

module! { name: "wildcards" }

/// Functions for scripts.
#[uclass(package = "Game", blueprint_type)]
#[derive(Default)]
pub struct Wildcards {}

#[uclass]
impl Wildcards {
    /// Returns the average of a field over the elements of any array of structs. Returns 0 if the array is empty.
    #[ufunction(blueprint_pure, custom_thunk = Self::exec_average, array_parm = "target")]
    fn average(target: Vec<i32>, property_name: UName) -> f64;

    fn exec_average(frame: &mut Frame<'_>) -> Result<(), CallError> {
        let (target, property_name) = (frame.step()?, frame.step()?);
        frame.finish()?;
        let (count, field) = (frame.count(target, "")?, frame.text(property_name, "")?);
        let mut sum = 0.0;
        for at in 0..count {
            sum += frame.number(target, &format!("[{at}].{field}"))?;
        }
        frame.set_result(if count == 0 { 0.0 } else { sum / f64::from(count) })
    }

    /// Returns the type and the value of any struct.
    #[ufunction(blueprint_callable, custom_thunk = Self::exec_describe, custom_struct_param = "value")]
    fn describe(value: Vector) -> String;

    fn exec_describe(frame: &mut Frame<'_>) -> Result<(), CallError> {
        let value = frame.step()?;
        frame.finish()?;
        frame.set_result(format!("{} {}", frame.type_of(value, "")?, frame.text(value, "")?))
    }

    /// Doubles an out parameter.
    #[ufunction(blueprint_callable, custom_thunk = Self::exec_double)]
    fn double(number: &mut i32) -> bool;

    fn exec_double(frame: &mut Frame<'_>) -> Result<(), CallError> {
        let number = frame.step()?;
        frame.finish()?;
        let doubled = 2.0 * frame.number(number, "")?;
        frame.set(number, doubled)?;
        frame.set_result(true)
    }

    /// Writes a value, which is passed as a string, to an out parameter of any type.
    #[ufunction(blueprint_callable, custom_thunk = Self::exec_assign, custom_struct_param = "target")]
    fn assign(target: &mut i32, value: String) -> bool;

    fn exec_assign(frame: &mut Frame<'_>) -> Result<(), CallError> {
        let (target, value) = (frame.step()?, frame.step()?);
        frame.finish()?;
        let value = frame.text(value, "")?;
        frame.set(target, value)?;
        frame.set_result(true)
    }

    /// Returns the length of any array before and after a call to the function `called`.
    #[ufunction(blueprint_callable, custom_thunk = Self::exec_count_around, array_parm = "target")]
    fn count_around(target: Vec<i32>, called: String) -> String;

    fn exec_count_around(frame: &mut Frame<'_>) -> Result<(), CallError> {
        let (target, called) = (frame.step()?, frame.step()?);
        frame.finish()?;
        let (before, called) = (frame.count(target, "")?, frame.text(called, "")?);
        let _called: bool = zcall(&called, ())?;
        frame.set_result(format!("{before} {}", frame.count(target, "")?))
    }

    /// Sets a result that has the wrong type, and ignores the error.
    #[ufunction(blueprint_callable, custom_thunk = Self::exec_garbled)]
    fn garbled(number: i32) -> i32;

    fn exec_garbled(frame: &mut Frame<'_>) -> Result<(), CallError> {
        let _number = frame.step()?;
        frame.finish()?;
        let _refused = frame.set_result("a dozen");
        Ok(())
    }

    /// Function whose thunk returns without a call of `Frame::finish`.
    #[ufunction(blueprint_callable, custom_thunk = Self::exec_hasty)]
    fn hasty(number: i32) -> i32;

    fn exec_hasty(frame: &mut Frame<'_>) -> Result<(), CallError> {
        let _number = frame.step()?;
        Ok(())
    }

    /// Steps past the last parameter, and panics with the error that this step returns.
    #[ufunction(blueprint_callable, custom_thunk = Self::exec_greedy)]
    fn greedy(number: i32) -> i32;

    fn exec_greedy(frame: &mut Frame<'_>) -> Result<(), CallError> {
        let _number = frame.step()?;
        match frame.step() {
            Ok(_) => Ok(()),
            Err(error) => panic!("{error}"),
        }
    }
}
