//! Module without classes that calls other modules only by name. In a Slim, it calls functions of the modules in that Slim, on any thread.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::zcall;

#[cfg(feature = "needs-reports")]
module! { name: "relay", main: started, exit: ended, dependencies: [("reports", "^0.1")] }
#[cfg(not(feature = "needs-reports"))]
module! { name: "relay", exit: ended }

/// Makes a call from the main, and logs the reply.
#[cfg(feature = "needs-reports")]
fn started() {
    let answer = format_result(zcall::<_, String>("nm:/reports:Report:render", ("the start".to_owned(), 1_u32)));
    tracing::info!(target: "reports", "main relay: {answer}");
    if fixture::on!("panic-in-main") {
        panic!("broken on purpose: main");
    }
}

/// Makes a call from the exit hook, and logs the reply.
fn ended() {
    let answer = format_result(zcall::<_, String>("nm:/reports:Report:render", ("the end".to_owned(), 1_u32)));
    tracing::info!(target: "reports", "exit relay: {answer}");
}

/// Returns its argument. Exported as `ex:/relay.echo`.
#[zcall(ex = "relay.echo")]
fn echo(text: String) -> String {
    text
}

/// Forwards calls. Errors are returned as strings.
pub struct Relay;

#[zmethods]
impl Relay {
    /// Calls a function that returns a line.
    #[zmethod]
    fn render(name: String, target: String, times: u32) -> String {
        format_result(zcall::<_, String>(&name, (target, times)))
    }

    /// Calls a function that returns a number.
    #[zmethod]
    fn number(name: String) -> String {
        format_result(zcall::<_, u64>(&name, ()))
    }

    /// Forwards a string.
    #[zmethod]
    fn text(name: String, text: String) -> String {
        format_result(zcall::<_, String>(&name, (text,)))
    }

    /// Calls a function that returns a flag.
    #[zmethod]
    fn wait_for(name: String, path: String) -> String {
        format_result(zcall::<_, bool>(&name, (path,)))
    }

    /// Calls itself by name until the host refuses a call. Returns the depth, counted from `depth`, and the refusal.
    #[zmethod]
    fn again(depth: u32) -> String {
        let deeper = zcall::<_, String>("nm:/relay:Relay:again", (depth + 1,));
        deeper.unwrap_or_else(|error| format!("{depth} deep: {error}"))
    }
}

/// Functions that each take or return one kind of value. The host decides which kinds may be passed off the game thread.
pub struct Kinds;

#[zmethods]
impl Kinds {
    /// Returns the same handle.
    #[zmethod]
    fn object(value: Obj<Object>) -> Obj<Object> {
        value
    }

    /// Returns the same name.
    #[zmethod]
    fn name(value: UName) -> UName {
        value
    }

    /// Takes integers of every size, each passed in one slot.
    #[zmethod]
    #[expect(clippy::too_many_arguments, reason = "one parameter of each kind")]
    fn plain(a: u8, b: u16, c: u32, d: u64, e: i8, f: i16, g: i32, h: i64) -> String {
        format!("{a} {b} {c} {d} {e} {f} {g} {h}")
    }

    /// Takes values of the remaining plain types.
    #[zmethod]
    fn more(a: f32, b: f64, c: bool) -> String {
        format!("{a} {b} {c}")
    }

    /// Receives ownership of a value in host memory.
    #[zmethod]
    fn array(_value: UArray<f64>) {}

    /// Receives ownership of a value in host memory.
    #[zmethod]
    fn list(_value: Vec<f64>) {}

    /// Receives ownership of a value in host memory.
    #[zmethod]
    fn optional(_value: UOptional<f64>) {}

    /// Receives ownership of a value in host memory.
    #[zmethod]
    fn localized(_value: UText) {}

    /// Receives ownership of a value in host memory.
    #[zmethod]
    fn soft_object(_value: SoftObject<Object>) {}

    /// Receives ownership of a value in host memory.
    #[zmethod]
    fn subclass(_value: SubclassOf<Object>) {}

    /// Returns a value in host memory.
    #[zmethod]
    fn numbers() -> Vec<f64> {
        Vec::new()
    }
}

fn format_result<T: ToString>(result: Result<T, CallError>) -> String {
    result.map_or_else(|error| format!("refused: {error}"), |value| value.to_string())
}
