//! A Bevy app without a window. Its birds are objects of a plugin. The plugin can be replaced while the app runs.
//!
//! `cargo run --bin bevy-host -- libflock.so` starts the app, and Ctrl-C ends it.
//! `alcedo dev --host target/debug/bevy-host example-plugins/flock` also builds the plugin, and reloads it after each save.

use std::process::ExitCode;
use std::time::Duration;

use alcedo::{Error, printable};
use bevy_app::{App, AppExit, ScheduleRunnerPlugin, Startup, TerminalCtrlCHandlerPlugin, Update};
use bevy_ecs::prelude::*;
use bevy_host::{AlcedoPlugin, PluginCode, Position, Reloaded, Script, Velocity};

const FRAME: Duration = Duration::from_micros(16_667);
const BIRDS: u16 = 1000;

fn main() -> ExitCode {
    // The host first loads new code in a canary process. In a canary process, this call does not return.
    alcedo::canary::run_if_child();
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    match run() {
        Ok(AppExit::Success) => ExitCode::SUCCESS,
        Ok(AppExit::Error(code)) => ExitCode::from(code.get()),
        Err(error) => {
            eprintln!("{}", printable(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<AppExit, Error> {
    let libraries: Result<Vec<_>, _> = std::env::args_os().skip(1).map(std::path::absolute).collect();
    let libraries = libraries.map_err(|source| Error::System { doing: "finding the current folder".into(), source })?;
    let runtime = bevy_host::builder().development().build()?;
    runtime.create_master(&libraries)?;
    runtime.watch()?;
    let exit = App::new()
        .insert_non_send(runtime)
        .add_plugins((ScheduleRunnerPlugin::run_loop(FRAME), TerminalCtrlCHandlerPlugin, AlcedoPlugin))
        .add_systems(Startup, spawn_birds)
        .add_systems(Update, (turn_back.before(PluginCode), report.after(PluginCode)))
        .run();
    Ok(exit)
}

fn spawn_birds(mut commands: Commands) {
    for number in 0..BIRDS {
        let (x, y) = (f32::from(number % 100), f32::from(number / 100));
        commands.spawn((Script("/Script/Game.Bird".into()), Position { x, y }, Velocity { x: 1.0, y: 0.0 }));
    }
}

/// Turns birds back at the edges of the field. This system belongs to the app.
fn turn_back(mut birds: Query<(&Position, &mut Velocity)>) {
    for (position, mut velocity) in &mut birds {
        let inward = if position.x < 0.0 { velocity.x.abs() } else { -velocity.x.abs() };
        if !(0.0..=100.0).contains(&position.x) && velocity.x != inward {
            velocity.x = inward;
        }
    }
}

fn report(mut reloads: MessageReader<Reloaded>, birds: Query<&Script>) {
    for Reloaded(report) in reloads.read() {
        eprintln!("{}", printable(&report.to_string()));
        eprintln!("{} entities", birds.iter().count());
    }
}
