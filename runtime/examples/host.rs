//! A host in a few lines: loads the plugins named on its command line, and reloads them whenever one of the files changes. Declares
//! a class with an event, and has no engine.
//!
//! `cargo run -p alcedo-runtime --example host -- path/to/libplugin.so`
//!
//! `alcedo dev --host target/debug/examples/host path/to/plugin` runs it with the plugin that the tool builds.

use std::process::ExitCode;
use std::time::Duration;

use alcedo::native::{This, uclass, uenum};
use alcedo::{Budget, Error, MasterEvent, Runtime, crash_guard, natives, printable};

/// Answer to a greeting.
#[uenum(package = "Host")]
#[repr(u8)]
pub enum Greeting {
    /// Counts silently.
    Quiet,
    /// Prints the number of greetings.
    Talkative,
}

/// Base class of plugins.
#[uclass(package = "Host", blueprintable)]
pub struct Thing {
    /// Manner of the answer; plugins read and write it by the name of an entry.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    greeting: Greeting,
    /// Number of greetings: a Rust field of this host, which reloads do not change.
    greeted: u32,
}

#[uclass]
impl Thing {
    /// Called for a greeting. Counts, unless a plugin overrides it.
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
    // New code is first tried in a canary process, which starts here.
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
    // Under `alcedo guard` a crash is reported with module and function; otherwise this does nothing.
    crash_guard::arm_if_supervised().map_err(|source| Error::System { doing: "arming the guard".into(), source })?;
    let libraries: Result<Vec<_>, _> = std::env::args_os().skip(1).map(std::path::absolute).collect();
    let libraries = libraries.map_err(|source| Error::System { doing: "finding the current folder".into(), source })?;
    let runtime = Runtime::builder()
        .package("Game")
        .natives(natives![Thing, Greeting])
        .development()
        .on_event(|event: &MasterEvent| eprintln!("[{}]", printable(&event.to_string())))
        .build()?;
    runtime.create_master(&libraries)?;
    runtime.watch()?;
    let mut things = Vec::new();
    for class in runtime.types().dynamic_classes() {
        things.push(runtime.objects().spawn(&class)?);
    }
    // Ends with the input: close it, or press Ctrl-D. `alcedo dev` can end the host as well.
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
