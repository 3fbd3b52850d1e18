//! Sets its own loggers in `main` with common crates, like a program that became a plugin. If a crate returns an error, `main` fails.

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use alcedo_plugin_api::prelude::*;

#[cfg(not(feature = "said"))]
module! { name: "loggers", main: started }

#[cfg(feature = "said")]
module! { name: "loggers", main: started, logger: own }

/// Lines that the loggers of the plugin have written.
static WRITTEN: Mutex<String> = Mutex::new(String::new());

/// Appends to `WRITTEN`.
#[derive(Clone, Copy)]
struct Writer;

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).push_str(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn started() {
    log::info!("a line of log before");
    tracing::info!("a line of tracing before");
    if let Err(error) = set() {
        panic!("{error}");
    }
    log::info!("a line of log in main");
    tracing::info!("a line of tracing in main");
}

#[cfg(feature = "env_logger")]
fn set() -> Result<(), Box<dyn Error>> {
    let mut builder = env_logger::Builder::new();
    builder.filter_level(log::LevelFilter::Info).target(env_logger::Target::Pipe(Box::new(Writer)));
    Ok(builder.try_init()?)
}

#[cfg(feature = "fern")]
fn set() -> Result<(), Box<dyn Error>> {
    let dispatch = fern::Dispatch::new().level(log::LevelFilter::Info).chain(Box::new(Writer) as Box<dyn Write + Send>);
    Ok(dispatch.apply()?)
}

#[cfg(feature = "tracing-subscriber")]
fn set() -> Result<(), Box<dyn Error>> {
    let subscriber = tracing_subscriber::fmt().with_writer(|| Writer).without_time().with_ansi(false).finish();
    Ok(tracing::subscriber::set_global_default(subscriber)?)
}

#[cfg(feature = "by-hand")]
fn set() -> Result<(), Box<dyn Error>> {
    struct Own;
    impl log::Log for Own {
        fn enabled(&self, _metadata: &log::Metadata<'_>) -> bool {
            true
        }

        fn log(&self, record: &log::Record<'_>) {
            let _written = writeln!(Writer, "{}", record.args());
        }

        fn flush(&self) {}
    }
    log::set_logger(&Own)?;
    log::set_max_level(log::LevelFilter::Info);
    Ok(())
}

#[cfg(not(any(feature = "env_logger", feature = "fern", feature = "tracing-subscriber", feature = "by-hand")))]
fn set() -> Result<(), Box<dyn Error>> {
    writeln!(Writer, "it sets none")?;
    Ok(())
}

/// Logs one line through `log` and one line through `tracing`, in a span whose field has the name of the message of an event.
#[zcall(ex = "loggers.write")]
fn write(what: String) {
    let _inside = tracing::info_span!("write", message = what.as_str()).entered();
    log::info!("{what} of log");
    tracing::info!("{what} of tracing");
}

/// Returns the names of the current spans inside of two spans, after the inner span, and outside.
#[zcall(ex = "loggers.spans")]
fn spans() -> String {
    let current = || tracing::Span::current().metadata().map_or("none", |span| span.name());
    let outer = tracing::info_span!("outer").entered();
    let inside = tracing::info_span!("inner").in_scope(current);
    let after = current();
    drop(outer);
    format!("{inside} {after} {}", current())
}

/// Returns the lines that the plugin's own loggers have written.
#[zcall(ex = "loggers.written")]
fn written() -> String {
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
