//! A module without classes that calls others by name only: in a Slim it calls what the modules beside it offer, on
//! whatever thread it is called.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::zcall;

#[cfg(feature = "needs-reports")]
module! { name: "relay", exit: ended, dependencies: [("reports", "^0.1")] }
#[cfg(not(feature = "needs-reports"))]
module! { name: "relay", exit: ended }

/// What the context that ends has to say to the last call of its module, for the log.
fn ended() {
    let answer = told(zcall::<_, String>("nm:/reports:Report:render", ("the end".to_owned(), 1_u32)));
    tracing::info!(target: "reports", "exit relay: {answer}");
}

/// Offered as `ex:/relay.echo`.
#[zcall(ex = "relay.echo")]
fn echo(text: String) -> String {
    text
}

/// Hands calls on. A refusal comes back as its sentence.
pub struct Relay;

#[zmethods]
impl Relay {
    /// Asks for a line.
    #[zmethod]
    fn render(name: String, whom: String, times: u32) -> String {
        told(zcall::<_, String>(&name, (whom, times)))
    }

    /// Asks for a number.
    #[zmethod]
    fn number(name: String) -> String {
        told(zcall::<_, u64>(&name, ()))
    }

    /// Hands a text on.
    #[zmethod]
    fn text(name: String, text: String) -> String {
        told(zcall::<_, String>(&name, (text,)))
    }

    /// Asks for whether something came to pass.
    #[zmethod]
    fn wait_for(name: String, path: String) -> String {
        told(zcall::<_, bool>(&name, (path,)))
    }
}

/// A function for each kind of value that a function called by name may take: which of them a host can call off the game
/// thread is for the host to say.
pub struct Kinds;

#[zmethods]
impl Kinds {
    /// A handle that is handed back.
    #[zmethod]
    fn object(value: Obj<Object>) -> Obj<Object> {
        value
    }

    /// A name that is handed back.
    #[zmethod]
    fn name(value: UName) -> UName {
        value
    }

    /// Everything that lies in a slot, but for the above, and text.
    #[zmethod]
    #[expect(clippy::too_many_arguments, reason = "one of each kind")]
    fn plain(a: u8, b: u16, c: u32, d: u64, e: i8, f: i16, g: i32, h: i64) -> String {
        format!("{a} {b} {c} {d} {e} {f} {g} {h}")
    }

    /// The rest of these.
    #[zmethod]
    fn more(a: f32, b: f64, c: bool) -> String {
        format!("{a} {b} {c}")
    }

    /// Lies in memory.
    #[zmethod]
    fn array(_value: UArray<f64>) {}

    /// Lies in memory.
    #[zmethod]
    fn list(_value: Vec<f64>) {}

    /// Lies in memory.
    #[zmethod]
    fn optional(_value: UOptional<f64>) {}

    /// Lies in memory.
    #[zmethod]
    fn localized(_value: UText) {}

    /// Lies in memory.
    #[zmethod]
    fn soft_object(_value: SoftObject<Object>) {}

    /// Lies in memory.
    #[zmethod]
    fn subclass(_value: SubclassOf<Object>) {}

    /// Gives what lies in memory.
    #[zmethod]
    fn numbers() -> Vec<f64> {
        Vec::new()
    }
}

fn told<T: ToString>(result: Result<T, CallError>) -> String {
    result.map_or_else(|error| format!("refused: {error}"), |value| value.to_string())
}
