//! Calls by name. The plugin exports functions to callers that know only a name, and calls functions that others export. Calls of generated
//! methods are faster. A name, however, can refer to a function that was written after the plugin.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

module! { name: "switchboard" }

/// Returns the sum. Exported as `ex:/switchboard.add`.
#[zcall(ex = "switchboard.add")]
fn add(one: i32, other: i32) -> i32 {
    one.wrapping_add(other)
}

/// Returns a greeting. Exported as `ex:/switchboard.greet`.
#[zcall(ex = "switchboard.greet")]
fn greet(target: String) -> String {
    format!("hello, {target}")
}

/// A telephone line.
#[uclass(package = "Game", base = Object, blueprintable)]
pub struct Line {
    /// Number of the line.
    #[uproperty(edit_anywhere, default = 7)]
    number: i32,
    /// Note on the line.
    #[uproperty(edit_anywhere, default = "free")]
    note: String,

    /// Number of calls.
    rings: u32,
}

#[uclass]
impl Line {
    /// Answers a call.
    #[ufunction(blueprint_native_event, blueprint_callable)]
    fn answer(&self, caller: String) -> String;
    fn answer_implementation(&mut self, this: This<Self>, caller: String) -> String {
        self.rings += 1;
        format!("line {} answers {caller}", this.number())
    }

    /// Returns the number of calls.
    #[ufunction(blueprint_pure)]
    fn rings(&self) -> u32 {
        self.rings
    }

    /// Returns the common office of all lines: `nm:/switchboard:Line:office`.
    #[zmethod]
    fn office() -> String {
        "the office".to_owned()
    }

    /// Returns the tag of this build.
    #[zmethod]
    fn build_tag() -> u64 {
        fixture::tag()
    }

    /// Returns the sum: `nm:/switchboard:Line:sum`.
    #[zmethod]
    fn sum(one: i32, other: i32) -> i32 {
        one.wrapping_add(other)
    }

    /// Calls the function `name` with the argument `caller`. Returns the result or the error.
    #[ufunction(blueprint_callable)]
    fn query(&mut self, this: This<Self>, name: String, caller: String) -> String {
        // Lends the fields, because the callee is unknown and may call this line.
        format_result(this.lend(self, |this| this.zcall::<_, String>(&name, (caller,))))
    }

    /// Adds two numbers with the function `name`.
    #[ufunction(blueprint_callable)]
    fn add_by(&self, this: This<Self>, name: String, one: i32, other: i32) -> String {
        format_result(this.zcall::<_, i32>(&name, (one, other)))
    }

    /// Adds two numbers by dynamic call. A dynamic call checks each slot.
    #[ufunction(blueprint_callable)]
    fn add_any(&self, this: This<Self>, name: String, one: i32, other: i32) -> String {
        format_result(this.zcall_any::<_, i32>(&name, (one, other)))
    }

    /// Calls a method without parameters.
    #[ufunction(blueprint_callable)]
    fn query_office(&self, this: This<Self>, name: String) -> String {
        format_result(this.zcall::<_, String>(&name, ()))
    }

    /// Reads a number property by path.
    #[ufunction(blueprint_callable)]
    fn look_up(&self, this: This<Self>, property: String) -> String {
        format_result(this.read_property::<i32>(&property))
    }

    /// Writes a number property by path.
    #[ufunction(blueprint_callable)]
    fn renumber(&self, this: This<Self>, property: String, number: i32) -> String {
        format_result(this.write_property(&property, &number).map(|()| "written"))
    }

    /// Writes a string property by path, and then reads the property.
    #[ufunction(blueprint_callable)]
    fn annotate(&self, this: This<Self>, property: String, note: String) -> String {
        let written = this.write_property(&property, &note);
        format_result(written.and_then(|()| this.read_property::<String>(&property)))
    }
}

/// A line with an override.
#[uclass(package = "Game", base = Line, blueprintable)]
pub struct DirectLine {}

#[uclass]
impl DirectLine {
    #[overrides(Line)]
    fn answer(&mut self, this: This<Self>, caller: String) -> String {
        format!("directly: {}", this.base_answer(caller))
    }
}

fn format_result<T: ToString>(result: Result<T, CallError>) -> String {
    result.map_or_else(|error| format!("refused: {error}"), |value| value.to_string())
}
