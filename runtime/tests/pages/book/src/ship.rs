//! Code fences of the book's page about shipping a host. Relative to the key file, this file is located like `host/src/main.rs` in a
//! workspace.

use std::time::Duration;

use alcedo_runtime::Runtime;

use super::Done;

mod my_game_host {
    use alcedo_runtime::{Builder, Runtime};

    pub fn builder() -> Builder {
        Runtime::builder()
    }
}

/// The key whose libraries a release accepts.
const KEY: &str = include_str!("../../release.key.pub");

pub(super) fn run() -> Done {
    let builder = my_game_host::builder();
    let builder = match cfg!(debug_assertions) {
        true => builder.development(),
        false => builder.require_seal(true).trust(KEY.parse().expect("a public key")),
    };
    let runtime = builder.build()?;
    blockers(&runtime);
    Ok(runtime.shutdown().into_result()?)
}

fn production() -> Result<Runtime, Box<dyn std::error::Error>> {
    let runtime = my_game_host::builder()
        .require_seal(true)
        .trust(KEY.parse().expect("a public key"))
        .watchdog(Duration::from_secs(1))
        .park_after(Duration::from_secs(10))
        .parked_budget(16)
        .build()?;
    Ok(runtime)
}

fn blockers(runtime: &Runtime) {
    for ticket in runtime.contexts().unloads() {
        eprintln!("{}", ticket.report());
    }
}
