//! A cube that rotates and bobs. Its properties survive every reload of this code.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;
use engine_glue::{Actor, Rotator, SceneComponent, Vector};

module! { name: "magic_cube", main: started, exit: ended }

/// Amplitude of the bobbing, in centimeters.
const BOB_HEIGHT: f64 = 20.0;

/// Bobs per second.
const BOB_RATE: f64 = 0.5;

fn started(args: &[&str]) {
    tracing::info!(?args, "game module started");
}

fn ended() {
    tracing::info!("game module ended");
}

/// A cube that rotates and bobs.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct MagicCube {
    /// Rotation in degrees per second.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write, default = 180.0)]
    rotation_speed: f64,
    /// Visible part of the cube.
    #[uproperty(default_subobject, root_component)]
    mesh: Obj<SceneComponent>,

    /// Seconds since the code of this generation first moved the cube.
    elapsed: f64,
    /// Current height of the bob, which the next step subtracts before it adds the new height.
    #[keep]
    bob: f64,
    /// Number of calls of `say_hello`.
    #[keep]
    greetings: u32,
}

#[uclass]
impl MagicCube {
    /// Runs when the object is constructed, and again in every reload.
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { elapsed: 0.0, bob: 0.0, greetings: 0 }
    }

    /// Runs only once, when the object is constructed.
    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        this.set_can_tick(true);
    }

    /// Runs after the defaults of the class were copied into the object. Gives each cube its own speed.
    #[post_init_properties]
    fn differ(&mut self, this: This<Self>) {
        this.set_rotation_speed(this.rotation_speed() + f64::from(this.seed() % 10));
    }

    /// Greets.
    #[ufunction(blueprint_native_event, blueprint_callable)]
    fn say_hello(&self);
    fn say_hello_implementation(&mut self, this: This<Self>) {
        self.greetings += 1;
        tracing::info!("{} says hello for the {}. time", this.name(), self.greetings);
    }

    /// Returns the number of greetings.
    #[ufunction(blueprint_pure)]
    fn greeting_count(&self) -> u32 {
        self.greetings
    }

    #[overrides(Actor)]
    fn receive_tick(&mut self, this: This<Self>, delta: f32) {
        let delta = f64::from(delta);
        self.elapsed += delta;
        this.add_rotation(Rotator::yaw(this.rotation_speed() * delta));

        let bob = BOB_HEIGHT * (self.elapsed * BOB_RATE * std::f64::consts::TAU).sin();
        this.add_location(Vector::up(bob - self.bob));
        self.bob = bob;
    }

    /// Returns the number of this build.
    #[zmethod]
    fn build_tag() -> u64 {
        fixture::tag()
    }
}

impl Drop for MagicCube {
    // Runs on the finalizer thread, where no `This` exists, so code that uses the engine does not compile here.
    fn drop(&mut self) {
        tracing::trace!(greetings = self.greetings, "a cube's plugin part ends");
    }
}
