//! What drives the objects: begin play when one is first seen, tick once a frame, end play before one goes. An event that fails is
//! written to the log and concerns only its object: the frame goes on. One that fails in every frame is written down once, and then
//! counted.
//!
//! A frame asks nothing of an object by name. The objects are in lists by class, which are looked for anew when some object has
//! begun or ended, and the ticks of all objects of a class are one call over the border.

use std::cell::Cell;
use std::rc::Rc;

use alcedo_base::repeats::{Repeats, times};
use alcedo_runtime::host::{BatchFunction, BatchReport, ClassList, ObjectList, TypedProperty};
use alcedo_runtime::native::{Class, Natives, This};
use alcedo_runtime::{CallError, Error, ObjectHandle, Runtime};

use crate::actor::Actor;
use crate::component::ActorComponent;
use crate::world::World;

pub(crate) fn drive(natives: Natives) -> Natives {
    let mut known = None;
    let failures = Rc::new(Failures::default());
    let of_ends = Rc::clone(&failures);
    let tick = move |runtime: &Runtime, seconds: f32| match &mut known {
        Some(frame) => Frame::tick(frame, runtime, seconds),
        None => match Frame::new(runtime, Rc::clone(&failures)) {
            Ok(frame) => known.insert(frame).tick(runtime, seconds),
            Err(error) => tracing::warn!(%error, "nothing ticks"),
        },
    };
    natives.ticker(tick).before_destroy(move |runtime, object| end_play(runtime, object, &of_ends))
}

/// The objects that a frame goes through, and what it calls on them.
struct Frame {
    actors: ClassList,
    components: ClassList,
    worlds: ClassList,
    actor_tick: BatchFunction<(f32,), ()>,
    component_tick: BatchFunction<(f32,), ()>,
    actor_has_begun: TypedProperty<bool>,
    component_has_begun: TypedProperty<bool>,
    time: TypedProperty<f64>,
    /// Whether some object could not begin to play in the last frame.
    is_waiting: bool,
    failures: Rc<Failures>,
}

impl Frame {
    fn new(runtime: &Runtime, failures: Rc<Failures>) -> Result<Self, Error> {
        // What an event does where nobody overrides it is nothing.
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
            failures,
        })
    }

    fn tick(&mut self, runtime: &Runtime, seconds: f32) {
        self.worlds.refresh(runtime);
        for world in self.worlds.list().objects() {
            let passed = self.time.get(*world).and_then(|time| self.time.set(*world, time + f64::from(seconds)));
            self.failures.log(runtime, *world, passed);
        }
        // Both, so no short circuit.
        let is_new = self.actors.refresh(runtime) | self.components.refresh(runtime);
        if is_new || self.is_waiting {
            self.is_waiting = false;
            self.is_waiting |= begin(runtime, self.actors.list(), &self.actor_has_begun, begin_actor, &self.failures);
            self.is_waiting |=
                begin(runtime, self.components.list(), &self.component_has_begun, begin_component, &self.failures);
        }
        self.failures.log_all(runtime, self.actor_tick.call_list(self.actors.list(), (seconds,)));
        self.failures.log_all(runtime, self.component_tick.call_list(self.components.list(), (seconds,)));
    }
}

/// Lets those begin that have not. Whether one of them could not.
fn begin<C: Class>(
    runtime: &Runtime,
    list: &ObjectList,
    has_begun: &TypedProperty<bool>,
    begin: impl Fn(This<'_, C>) -> Result<(), CallError>,
    failures: &Failures,
) -> bool {
    let mut has_failed = false;
    for object in list.objects() {
        // Of ten thousand nearly all have.
        if has_begun.get(*object).is_ok_and(|has_begun| has_begun) {
            continue;
        }
        // One before it may have destroyed it.
        let Some(typed) = runtime.objects().as_a::<C>(*object) else { continue };
        let begun = runtime.objects().with(typed, &begin).and_then(|begun| begun.map_err(Error::from));
        has_failed |= begun.is_err();
        failures.log(runtime, *object, begun);
    }
    has_failed
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

fn end_play(runtime: &Runtime, object: ObjectHandle, failures: &Failures) {
    let Some(actor) = runtime.objects().as_a::<Actor>(object) else { return };
    let ended = runtime.objects().with(actor, |actor| match actor.has_begun_play() {
        true => actor.try_receive_end_play(),
        false => Ok(()),
    });
    failures.log(runtime, object, ended.and_then(|ended| ended.map_err(Error::from)));
}

/// Events that failed, and how often.
#[derive(Default)]
struct Failures {
    told: Repeats,
    /// The generation whose failures they are: another one has other code.
    generation: Cell<u64>,
}

impl Failures {
    fn log_all(&self, runtime: &Runtime, report: Result<BatchReport, Error>) {
        match report {
            Ok(report) => report.failed.into_iter().for_each(|(object, error)| self.log(runtime, object, Err(error))),
            Err(error) => tracing::warn!(%error, "a tick was not done"),
        }
    }

    /// Writes it down where it is new; of one that is there again and again, how often.
    fn log(&self, runtime: &Runtime, object: ObjectHandle, result: Result<(), Error>) {
        let Err(error) = result else { return };
        if self.generation.replace(runtime.generation()) != runtime.generation() {
            self.told.forget();
        }
        let class = runtime.objects().class_of(object);
        if let Some(count) = self.told.note(&(class, place(&error), without_numbers(&error.to_string()))) {
            let (object, times) = (runtime.objects().describe(object), times(count));
            tracing::warn!(%error, "an event of {object} failed{times}");
        }
    }
}

/// Where a script failed.
fn place(error: &Error) -> Option<(&str, u32)> {
    let Error::Call(CallError::InScript { stack, .. }) = error else { return None };
    stack.first().map(|place| (&*place.function, place.line))
}

/// The sentence is the same for each object, but for the numbers that objects are named by.
fn without_numbers(sentence: &str) -> String {
    sentence.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use alcedo_runtime::{CallError, Error, Runtime};

    use super::{Failures, ObjectHandle, place, without_numbers};

    #[test]
    fn the_failure_of_another_object_in_the_same_place_is_the_same() {
        let failure = |object| Error::from(CallError::Stale { handle: ObjectHandle::new(object, 1) });
        let told = [3, 12].map(|object| without_numbers(&failure(object).to_string()));
        assert_eq!(told[0], told[1]);
        assert_ne!(told[0], without_numbers(&Error::from(CallError::other("another")).to_string()));
        assert_eq!(place(&failure(3)), None);
    }

    #[test]
    fn what_fails_again_and_again_is_counted_until_there_is_another_generation() {
        let runtime = Runtime::builder().build().expect("a host");
        let failures = Failures::default();
        let fail = || failures.log(&runtime, ObjectHandle::NONE, Err(CallError::other("no luck").into()));
        (0..20).for_each(|_| fail());
        let key = (None::<String>, None::<(&str, u32)>, without_numbers("no luck"));
        let at_100 = (21..=100).filter_map(|_| failures.told.note(&key)).collect::<Vec<_>>();
        assert_eq!(at_100, [100], "20 were counted before");
        failures.generation.set(7);
        fail();
        assert_eq!((2..=10).filter_map(|_| failures.told.note(&key)).collect::<Vec<_>>(), [10], "it began anew");
    }
}
