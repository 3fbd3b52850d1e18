//! Calls the events of objects. Begin play runs in the first frame of an object. Tick runs in each frame. End play runs before an actor is
//! destroyed. A failed event affects only its object. `Objects::log_failure` logs the failure.
//!
//! Frames perform no lookups by name. Objects are listed by class. The lists are refreshed after objects are created or destroyed. For each
//! class, one call across the ABI boundary ticks all objects of the class.

use alcedo_base::log;
use alcedo_runtime::host::{BatchFunction, ClassList, TypedProperty};
use alcedo_runtime::native::{Class, Natives, This};
use alcedo_runtime::{CallError, Error, ObjectHandle, Runtime};

use crate::actor::{Actor, ActorComponent};
use crate::world::World;

pub(crate) fn drive(natives: Natives) -> Natives {
    let mut cached = None;
    let tick = move |runtime: &Runtime, seconds: f32| match &mut cached {
        Some(frame) => Frame::tick(frame, runtime, seconds),
        None => match Frame::new(runtime) {
            Ok(frame) => cached.insert(frame).tick(runtime, seconds),
            Err(error) => log!(WARN, %error, "nothing ticks"),
        },
    };
    natives.ticker(tick).before_destroy(end_play)
}

/// Lists of objects, and the functions that each frame calls on these objects.
struct Frame {
    actors: ClassList,
    components: ClassList,
    worlds: ClassList,
    actor_tick: BatchFunction<(f32,), ()>,
    component_tick: BatchFunction<(f32,), ()>,
    actor_has_begun: TypedProperty<bool>,
    component_has_begun: TypedProperty<bool>,
    time: TypedProperty<f64>,
    /// True if an object could not begin play in the last frame.
    is_waiting: bool,
}

impl Frame {
    fn new(runtime: &Runtime) -> Result<Self, Error> {
        // Calls only overrides of the event, because the body in the base class is empty.
        let tick = |path: &str, event: &str| {
            let tick = runtime.batch(&format!("uf:{path}:{event}"))?;
            Ok::<_, Error>(tick.when("can_tick").only_overrides())
        };
        let has_begun = |path: &str| runtime.property(&format!("up:{path}:has_begun_play"));
        Ok(Self {
            actors: runtime.list(Actor::PATH),
            components: runtime.list(ActorComponent::PATH),
            worlds: runtime.list(World::PATH),
            actor_tick: tick(Actor::PATH, "receive_tick")?,
            component_tick: tick(ActorComponent::PATH, "component_tick")?,
            actor_has_begun: has_begun(Actor::PATH)?,
            component_has_begun: has_begun(ActorComponent::PATH)?,
            time: runtime.property(&format!("up:{}:time", World::PATH))?,
            is_waiting: false,
        })
    }

    fn tick(&mut self, runtime: &Runtime, seconds: f32) {
        self.worlds.refresh(runtime);
        for world in self.worlds.list().objects() {
            let passed = self.time.get(*world).and_then(|time| self.time.set(*world, time + f64::from(seconds)));
            log(runtime, "time", *world, passed);
        }
        // Refreshes both lists. `||` would skip the second list if the first list has changed.
        let is_new = self.actors.refresh(runtime) | self.components.refresh(runtime);
        if is_new || self.is_waiting {
            let [actors, components] = [&self.actors, &self.components].map(|list| match self.is_waiting {
                true => list.list().objects().to_vec(),
                false => list.added(),
            });
            self.is_waiting =
                begin(runtime, &actors, &self.actor_has_begun, |actor: This<'_, Actor>| actor.try_receive_begin_play());
            let begin_component = |component: This<'_, ActorComponent>| component.try_component_begin_play();
            self.is_waiting |= begin(runtime, &components, &self.component_has_begun, begin_component);
        }
        for (tick, list) in [(&self.actor_tick, &self.actors), (&self.component_tick, &self.components)] {
            match tick.call_list(list.list(), (seconds,)) {
                Ok(report) => runtime.objects().log_failures(tick.name(), &report),
                Err(error) => log!(WARN, %error, "a tick was not done"),
            }
        }
    }
}

/// Calls begin play on objects that have not begun play. Returns `true` if an object could not begin play.
fn begin<C: Class>(
    runtime: &Runtime,
    objects: &[ObjectHandle],
    has_begun: &TypedProperty<bool>,
    begin_play: impl Fn(This<'_, C>) -> Result<(), CallError>,
) -> bool {
    let mut has_failed = false;
    // If this stack refuses calls, an error below may mean that no code of the event has run.
    let may_call = runtime.may_call().is_ok();
    for object in objects {
        // Skips objects that have begun play, which are nearly all objects.
        if has_begun.get(*object).is_ok_and(|has_begun| has_begun) {
            continue;
        }
        // An earlier iteration of this loop may have destroyed this object.
        let Some(typed) = runtime.objects().cast::<C>(*object) else { continue };
        let begin = || runtime.objects().with(typed, &begin_play).and_then(|begun| begun.map_err(Error::from));
        let mut begun = has_begun.set(*object, true).and_then(|()| begin());
        has_failed |= begun.is_err();
        // Repeats begin play in the next frame if the call was refused.
        if !may_call && matches!(begun, Err(Error::Call(CallError::WrongStack { .. } | CallError::TooDeep { .. }))) {
            begun = has_begun.set(*object, false).and(begun);
        }
        log(runtime, "begin play", *object, begun);
    }
    has_failed
}

fn end_play(runtime: &Runtime, object: ObjectHandle) {
    let Some(actor) = runtime.objects().cast::<Actor>(object) else { return };
    let ended = runtime.objects().with(actor, |actor| match actor.has_begun_play() {
        true => actor.try_receive_end_play(),
        false => Ok(()),
    });
    log(runtime, "end play", object, ended.and_then(|ended| ended.map_err(Error::from)));
}

fn log(runtime: &Runtime, event: &str, object: ObjectHandle, result: Result<(), Error>) {
    if let Err(error) = result {
        runtime.objects().log_failure(event, object, &error);
    }
}
