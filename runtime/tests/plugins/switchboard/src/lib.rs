//! Calls by name: what a plugin offers to callers who know nothing but a name, and how it calls what others offer.
//! A generated method is faster; a name also reaches what did not exist when the plugin was built.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

module! { name: "switchboard" }

/// Offered to everybody as `ex:/switchboard.add`.
#[zcall(ex = "switchboard.add")]
fn add(one: i32, other: i32) -> i32 {
    one.wrapping_add(other)
}

/// Offered to everybody as `ex:/switchboard.greet`.
#[zcall(ex = "switchboard.greet")]
fn greet(whom: String) -> String {
    format!("hello, {whom}")
}

/// A line that can be called.
#[uclass(package = "Game", base = Object, blueprintable)]
pub struct Line {
    /// The number it is called by.
    #[uproperty(edit_anywhere, default = 7)]
    number: i32,
    /// What is written beside it.
    #[uproperty(edit_anywhere, default = "free")]
    note: String,

    /// How often it rang.
    rings: u32,
}

#[uclass]
impl Line {
    /// Somebody calls: the answer is what they hear.
    #[ufunction(blueprint_native_event, blueprint_callable)]
    fn answer(&self, caller: String) -> String;
    fn answer_implementation(&mut self, this: This<Self>, caller: String) -> String {
        self.rings += 1;
        format!("line {} answers {caller}", this.number())
    }

    /// How often it rang.
    #[ufunction(blueprint_pure)]
    fn rings(&self) -> u32 {
        self.rings
    }

    /// The office that all lines belong to: `nm:/switchboard:Line:office`.
    #[zmethod]
    fn office() -> String {
        "the office".to_owned()
    }

    /// Which build this is.
    #[zmethod]
    fn build_tag() -> u64 {
        fixture::tag()
    }

    /// The sum, for whoever knows the module and the type: `nm:/switchboard:Line:sum`.
    #[zmethod]
    fn sum(one: i32, other: i32) -> i32 {
        one.wrapping_add(other)
    }

    /// Asks whatever `name` stands for, with `caller` as its argument; a refusal comes back as its sentence.
    #[ufunction(blueprint_callable)]
    fn ask(&mut self, this: This<Self>, name: String, caller: String) -> String {
        // Nobody knows what a name leads to: it may come back to this very line.
        told(this.lend(self, |this| this.zcall::<_, String>(&name, (caller,))))
    }

    /// Adds two numbers by whatever `name` stands for.
    #[ufunction(blueprint_callable)]
    fn add_by(&self, this: This<Self>, name: String, one: i32, other: i32) -> String {
        told(this.zcall::<_, i32>(&name, (one, other)))
    }

    /// The same without a signature of its own: each slot is looked at when it is called.
    #[ufunction(blueprint_callable)]
    fn add_any(&self, this: This<Self>, name: String, one: i32, other: i32) -> String {
        told(this.zcall_any::<_, i32>(&name, (one, other)))
    }

    /// Asks a method that takes nothing.
    #[ufunction(blueprint_callable)]
    fn ask_office(&self, this: This<Self>, name: String) -> String {
        told(this.zcall::<_, String>(&name, ()))
    }

    /// Reads a number by the path of its property.
    #[ufunction(blueprint_callable)]
    fn look_up(&self, this: This<Self>, property: String) -> String {
        told(this.read_property::<i32>(&property))
    }

    /// Writes a number by the path of its property.
    #[ufunction(blueprint_callable)]
    fn renumber(&self, this: This<Self>, property: String, number: i32) -> String {
        told(this.write_property(&property, &number).map(|()| "written"))
    }

    /// Writes a text by the path of its property, and reads it back.
    #[ufunction(blueprint_callable)]
    fn annotate(&self, this: This<Self>, property: String, note: String) -> String {
        let written = this.write_property(&property, &note);
        told(written.and_then(|()| this.read_property::<String>(&property)))
    }
}

/// A line that goes past the office.
#[uclass(package = "Game", base = Line, blueprintable)]
pub struct DirectLine {}

#[uclass]
impl DirectLine {
    #[overrides(Line)]
    fn answer(&mut self, this: This<Self>, caller: String) -> String {
        format!("directly: {}", this.base_answer(caller))
    }
}

fn told<T: ToString>(result: Result<T, CallError>) -> String {
    result.map_or_else(|error| format!("refused: {error}"), |value| value.to_string())
}
