//! What drives the objects: begin play when one is first seen, tick once a frame, end play before one goes. An event
//! that fails is told in the log and concerns only its object: the frame goes on.

use alcedo_runtime::native::Natives;
use alcedo_runtime::{Error, ObjectHandle, Runtime, Value};

use crate::actor::HAS_BEGUN_PLAY;
use crate::{ACTOR, ACTOR_COMPONENT, WORLD};

pub(crate) fn drive(natives: Natives) -> Natives {
    natives.ticker(tick).before_destroy(end_play)
}

fn tick(runtime: &Runtime, seconds: f32) {
    for object in runtime.objects().all() {
        // An event before may have destroyed it, and nothing happens to one that sleeps.
        if !runtime.objects().is_alive(object) || runtime.objects().dormant_class(object).is_some() {
            continue;
        }
        if runtime.objects().is_a(object, ACTOR) {
            begin_play(runtime, object, "receive_begin_play");
            tick_one(runtime, object, "receive_tick", seconds);
        } else if runtime.objects().is_a(object, ACTOR_COMPONENT) {
            begin_play(runtime, object, "component_begin_play");
            tick_one(runtime, object, "component_tick", seconds);
        } else if runtime.objects().is_a(object, WORLD) {
            let time = runtime.objects().get(object, "time");
            if let Ok(Value::F64(time)) = time {
                tell(
                    runtime,
                    object,
                    "time",
                    runtime.objects().set(object, "time", &Value::F64(time + f64::from(seconds))),
                );
            }
        }
    }
}

fn begin_play(runtime: &Runtime, object: ObjectHandle, event: &str) {
    if matches!(runtime.objects().get(object, HAS_BEGUN_PLAY), Ok(Value::Bool(false))) {
        tell(runtime, object, HAS_BEGUN_PLAY, runtime.objects().set(object, HAS_BEGUN_PLAY, &Value::Bool(true)));
        tell(runtime, object, event, runtime.objects().call(object, event, &[]));
    }
}

fn tick_one(runtime: &Runtime, object: ObjectHandle, event: &str, seconds: f32) {
    if matches!(runtime.objects().get(object, "can_tick"), Ok(Value::Bool(true))) {
        tell(runtime, object, event, runtime.objects().call(object, event, &[Value::F32(seconds)]));
    }
}

fn end_play(runtime: &Runtime, object: ObjectHandle) {
    if runtime.objects().is_a(object, ACTOR)
        && matches!(runtime.objects().get(object, HAS_BEGUN_PLAY), Ok(Value::Bool(true)))
    {
        tell(runtime, object, "receive_end_play", runtime.objects().call(object, "receive_end_play", &[]));
    }
}

fn tell<T>(runtime: &Runtime, object: ObjectHandle, event: &str, result: Result<T, Error>) {
    if let Err(error) = result {
        tracing::warn!(event, %error, "an event of {} failed", runtime.objects().describe(object));
    }
}
