//! A minimal host without an engine. Declares a class with an event, and loads the plugins named on its command line. When one of the
//! plugin files changes, reloads all plugins.
//!
//! `cargo run -p alcedo-runtime --example host -- path/to/libplugin.so`
//!
//! `alcedo dev --host target/debug/examples/host path/to/plugin` builds the plugin and runs this host with it.

use std::process::ExitCode;
use std::time::Duration;

use alcedo::native::{This, uclass, uenum};
use alcedo::{Budget, ContextEvent, Error, Runtime, crash_guard, natives, printable};

/// Reaction of an object to a greeting.
#[uenum(package = "Host")]
#[repr(u8)]
pub enum Greeting {
    /// Only counts the greetings.
    Quiet,
    /// Prints the number of greetings.
    Talkative,
}

/// Base class for classes of plugins.
#[uclass(package = "Host", blueprintable)]
pub struct Thing {
    /// Reaction to greetings. Plugins read and write this property by the name of an enum entry.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    greeting: Greeting,
    /// Number of greetings. This plain Rust field belongs to the host, so reloads do not change it.
    greeted: u32,
}

#[uclass]
impl Thing {
    /// Called for each greeting. Counts the greeting if no plugin overrides this event.
    #[ufunction(blueprint_native_event)]
    fn greet(&self);
    fn greet_implementation(&mut self, this: This<Self>) {
        self.greeted += 1;
        match this.greeting() {
            Greeting::Quiet => {}
            Greeting::Talkative => eprintln!("{} was greeted {} times", this.name(), self.greeted),
        }
    }
}

fn main() -> ExitCode {
    // The host first loads new code in a canary process. In a canary process, this call does not return.
    alcedo::canary::run_if_child();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", printable(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Error> {
    // Under `alcedo guard`, reports a crash with its module and function. Otherwise this call has no effect.
    crash_guard::arm_if_supervised().map_err(|source| Error::System { doing: "arming the guard".into(), source })?;
    let libraries: Result<Vec<_>, _> = std::env::args_os().skip(1).map(std::path::absolute).collect();
    let libraries = libraries.map_err(|source| Error::System { doing: "finding the current folder".into(), source })?;
    let runtime = Runtime::builder()
        .package("Game")
        .natives(natives![Thing, Greeting])
        .development()
        .on_event(|event: &ContextEvent| eprintln!("[{}]", printable(&event.to_string())))
        .build()?;
    runtime.create_master(&libraries)?;
    runtime.watch()?;
    let mut things = Vec::new();
    for class in runtime.types().dynamic_classes() {
        match runtime.objects().spawn(&class) {
            Ok(thing) => things.push(thing),
            // For example, the class is abstract.
            Err(error) => eprintln!("{}", printable(&error.to_string())),
        }
    }
    // The host exits when its standard input is closed, for example by Ctrl-D. `alcedo dev` can also end the host.
    let (closed, input) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        let _all = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        drop(closed);
    });
    while input.recv_timeout(Duration::from_millis(16)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
        && !runtime.shutdown_requested()
    {
        runtime.tick(Budget::frame());
        for report in runtime.take_reloads() {
            eprintln!("{}", printable(&report.to_string()));
            eprintln!("{} objects live on", things.iter().filter(|thing| runtime.objects().is_alive(**thing)).count());
        }
    }
    runtime.shutdown().into_result()
}
