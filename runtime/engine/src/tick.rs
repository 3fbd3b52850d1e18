//! What drives the objects: begin play when one is first seen, tick once a frame, end play before one goes. An event
//! that fails is written to the log and concerns only its object: the frame goes on.

use alcedo_runtime::native::{Natives, This};
use alcedo_runtime::{CallError, Error, ObjectHandle, Runtime};

use crate::actor::Actor;
use crate::component::ActorComponent;
use crate::world::World;

pub(crate) fn drive(natives: Natives) -> Natives {
    natives.ticker(tick).before_destroy(end_play)
}

fn tick(runtime: &Runtime, seconds: f32) {
    let objects = runtime.objects();
    for object in objects.all() {
        // An event before may have destroyed it, and nothing happens to one that sleeps.
        if !objects.is_alive(object) || objects.dormant_class(object).is_some() {
            continue;
        }
        if let Some(actor) = objects.as_a::<Actor>(object) {
            log(runtime, object, objects.with(actor, begin_actor));
            log(
                runtime,
                object,
                objects.with(actor, |actor| match actor.can_tick() {
                    true => actor.try_receive_tick(seconds),
                    false => Ok(()),
                }),
            );
        } else if let Some(component) = objects.as_a::<ActorComponent>(object) {
            log(runtime, object, objects.with(component, begin_component));
            log(
                runtime,
                object,
                objects.with(component, |component| match component.can_tick() {
                    true => component.try_component_tick(seconds),
                    false => Ok(()),
                }),
            );
        } else if let Some(world) = objects.as_a::<World>(object) {
            log(runtime, object, objects.with(world, |world| world.try_set_time(world.time() + f64::from(seconds))));
        }
    }
}

fn begin_actor(actor: This<'_, Actor>) -> Result<(), CallError> {
    if actor.has_begun_play() {
        return Ok(());
    }
    actor.try_set_has_begun_play(true)?;
    actor.try_receive_begin_play()
}

fn begin_component(component: This<'_, ActorComponent>) -> Result<(), CallError> {
    if component.has_begun_play() {
        return Ok(());
    }
    component.try_set_has_begun_play(true)?;
    component.try_component_begin_play()
}

fn end_play(runtime: &Runtime, object: ObjectHandle) {
    let Some(actor) = runtime.objects().as_a::<Actor>(object) else { return };
    let ended = runtime.objects().with(actor, |actor| match actor.has_begun_play() {
        true => actor.try_receive_end_play(),
        false => Ok(()),
    });
    log(runtime, object, ended);
}

fn log(runtime: &Runtime, object: ObjectHandle, result: Result<Result<(), CallError>, Error>) {
    if let Err(error) = result.and_then(|done| done.map_err(Error::from)) {
        tracing::warn!(%error, "an event of {} failed", runtime.objects().describe(object));
    }
}
