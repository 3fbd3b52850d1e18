//! A Bevy plugin that hosts Alcedo plugins. Bevy and Alcedo share the data and the systems of a frame as follows:
//!
//! * An entity with [`Script`] has an **object** of a plugin class. The plugin declares the properties of the object. The property values
//!   outlive the code of the class.
//! * A function of the class with `meta(system = "1")` is a **system**. Once a frame, one call across the ABI boundary runs the system for
//!   all objects of the class. New and removed systems take effect in the frame of the reload.
//! * [`Position`] and [`Velocity`] are components of Bevy. While plugin code runs, properties of [`Behavior`] contain copies of both
//!   components.
//!
//! The runtime must stay on the thread that built it, and is therefore non-send data. Bevy runs systems with [`NonSend`] on the main
//! thread.

mod entities;
mod mirror;
mod systems;

use alcedo::native::uclass;
use alcedo::{Budget, Builder, ReloadReport, Runtime, natives};
use bevy_app::{App, AppExit, First, Last, Plugin, Update};
use bevy_ecs::prelude::*;

pub use entities::{Script, Scripted};
pub use mirror::{Position, Velocity};
pub use systems::SystemFailed;

/// Native class that plugins extend to script entities.
#[uclass(package = "Bevy", blueprintable)]
pub struct Behavior {
    /// Position to the right.
    #[uproperty(edit_anywhere)]
    x: f32,
    /// Position upward.
    #[uproperty(edit_anywhere)]
    y: f32,
    /// Velocity to the right, per second.
    #[uproperty(edit_anywhere)]
    velocity_x: f32,
    /// Velocity upward, per second.
    #[uproperty(edit_anywhere)]
    velocity_y: f32,
}

/// Returns a builder of runtimes for [`AlcedoPlugin`], with the native class [`Behavior`]. The types of plugins belong to the package
/// `Game`.
pub fn builder() -> Builder {
    Runtime::builder().package("Game").natives(natives![Behavior])
}

/// Runs the code of Alcedo plugins in the schedules [`First`], [`Update`] and [`Last`]. The app must contain a [`Runtime`] as non-send data
/// before this plugin is added.
pub struct AlcedoPlugin;

/// System set in [`Update`]. Contains all systems of plugins. Timers and tasks of plugins run earlier, in the schedule [`First`].
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PluginCode;

/// Game time of a frame in seconds, for timers and systems of plugins. Apps with `bevy_time` must set this value in each frame.
#[derive(Resource, Clone, Copy, Debug)]
pub struct Step(pub f32);

impl Default for Step {
    fn default() -> Self {
        Self(Budget::frame().seconds)
    }
}

/// Sent for each reload that was committed or rolled back in this frame.
#[derive(Message, Debug)]
pub struct Reloaded(pub ReloadReport);

impl Plugin for AlcedoPlugin {
    fn build(&self, app: &mut App) {
        let runtime = app.world().get_non_send::<Runtime>().cloned();
        let runtime = runtime.expect("`app.insert_non_send(runtime)` comes before `add_plugins(AlcedoPlugin)`");
        let mirror =
            mirror::Mirror::new(&runtime).unwrap_or_else(|error| panic!("use `bevy_host::builder()`: {error}"));
        app.init_resource::<Step>()
            .add_message::<Reloaded>()
            .add_message::<SystemFailed>()
            .insert_non_send(mirror)
            .insert_non_send(entities::Links::new(&runtime))
            .insert_non_send(systems::PluginSystems::default())
            .add_systems(First, (mirror::copy_in, tick, mirror::copy_out).chain())
            .add_systems(
                Update,
                (
                    entities::destroy_removed,
                    entities::create_missing,
                    mirror::copy_in,
                    systems::run,
                    mirror::copy_out,
                    entities::adopt,
                )
                    .chain()
                    .in_set(PluginCode),
            )
            .add_systems(Last, end.run_if(on_message::<AppExit>));
    }
}

/// Runs timers and tasks of plugins, and then the safe point, at which reloads happen. Runs before the later schedules of the frame.
fn tick(
    runtime: NonSend<Runtime>,
    step: Res<Step>,
    mut reloaded: MessageWriter<Reloaded>,
    mut exit: MessageWriter<AppExit>,
) {
    runtime.tick(Budget::seconds(step.0));
    reloaded.write_batch(runtime.take_reloads().into_iter().map(Reloaded));
    if runtime.shutdown_requested() {
        exit.write(AppExit::Success);
    }
}

/// Shuts the runtime down in the last frame. The shutdown unloads all plugins.
fn end(world: &mut World) -> Result {
    if let Some(runtime) = world.remove_non_send::<Runtime>() {
        runtime.shutdown().into_result()?;
    }
    Ok(())
}
