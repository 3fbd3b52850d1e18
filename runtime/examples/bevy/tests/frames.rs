//! Runs frames of a Bevy app without a window, and replaces the plugin between the frames.

#[path = "../../../tests/support/builds.rs"]
#[expect(dead_code, reason = "these tests use a part of it")]
mod builds;

use std::path::PathBuf;

use alcedo::{ObjectHandle, ReloadReport, Runtime, Value};
use alcedo_glue::{Glue, Origin};
use bevy_app::{App, AppExit, Update};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_host::{AlcedoPlugin, PluginCode, Position, Reloaded, Script, Scripted, Step, SystemFailed, Velocity};
use expect_test::expect_file;

const ENTITIES: u16 = 1000;
/// Game time of a frame in seconds. A binary float represents this number exactly.
const STEP: f32 = 0.25;
const BIRD: &str = "/Script/Game.Bird";

/// A component of the app that plugins cannot access.
#[derive(Component)]
struct Number(u16);

/// Birds at x = 0, 1, 2, … that fly upward.
struct Flock {
    app: App,
    /// Entities, in the order of their numbers.
    birds: Vec<Entity>,
}

fn flock(names: &[&str]) -> PathBuf {
    builds::plugin("flock", names)
}

impl Flock {
    fn new(libraries: &[PathBuf]) -> Self {
        let runtime = bevy_host::builder().build().unwrap_or_else(|error| panic!("{error}"));
        runtime.create_master(libraries).unwrap_or_else(|error| panic!("{error}"));
        let mut app = App::new();
        app.insert_non_send(runtime).insert_resource(Step(STEP)).add_plugins(AlcedoPlugin);
        let bird = |number| {
            let (position, velocity) = (Position { x: f32::from(number), y: 0.0 }, Velocity { x: 0.0, y: 1.0 });
            (Number(number), Script(BIRD.to_owned()), position, velocity)
        };
        let birds = app.world_mut().spawn_batch((0..ENTITIES).map(bird)).collect();
        Self { app, birds }
    }

    fn runtime(&self) -> &Runtime {
        self.app.world().non_send::<Runtime>()
    }

    fn frames(&mut self, count: usize) {
        (0..count).for_each(|_| self.app.update());
    }

    /// Runs one frame that reloads these libraries, and returns the report.
    fn reload(&mut self, libraries: Vec<PathBuf>) -> ReloadReport {
        self.runtime().request_reload(libraries);
        self.app.update();
        let mut reloads: Vec<_> = self.app.world_mut().resource_mut::<Messages<Reloaded>>().drain().collect();
        assert_eq!(reloads.len(), 1);
        reloads.remove(0).0
    }

    fn failures(&mut self) -> Vec<SystemFailed> {
        self.app.world_mut().resource_mut::<Messages<SystemFailed>>().drain().collect()
    }

    fn object(&self, entity: Entity) -> ObjectHandle {
        self.app.world().get::<Scripted>(entity).expect("it has an object").object()
    }

    fn value(&self, entity: Entity, property: &str) -> Result<Value, String> {
        self.runtime().objects().get(self.object(entity), property).map_err(|error| error.to_string())
    }

    /// Checks the components and property values of all entities.
    fn check(&self, y: f32, frames: u32) {
        for (entity, number) in self.birds.iter().zip(0..) {
            let bird = self.app.world().entity(*entity);
            assert_eq!(bird.get::<Number>().map(|number| number.0), Some(number));
            assert_eq!(bird.get::<Position>(), Some(&Position { x: f32::from(number), y }));
            assert_eq!(self.value(*entity, "frames"), Ok(Value::U32(frames)));
        }
    }

    fn count(&mut self) -> usize {
        self.app.world_mut().query::<&Scripted>().iter(self.app.world()).count()
    }
}

#[test]
fn entities_and_their_values_survive_three_builds() {
    let mut flight = Flock::new(&[flock(&[])]);
    let objects = |app: &Flock| app.birds.iter().map(|bird| app.object(*bird)).collect::<Vec<_>>();
    flight.frames(4);
    flight.check(1.0, 4);
    let before = objects(&flight);

    // The changed code runs in the frame of the reload.
    assert!(flight.reload(vec![flock(&["gust"])]).is_committed());
    flight.check(1.5, 5);

    // The new property has its default value, and the new system runs.
    let report = flight.reload(vec![flock(&["weary"])]);
    assert!(report.is_committed(), "{report}");
    flight.check(1.75, 6);
    let strength = |app: &Flock| app.value(app.birds[7], "strength");
    assert_eq!(strength(&flight), Ok(Value::F32(9.75)));
    flight.frames(2);
    flight.check(2.25, 8);
    assert_eq!(strength(&flight), Ok(Value::F32(9.25)));

    // After the reload of the first build, the system does not run.
    assert!(flight.reload(vec![flock(&[])]).is_committed());
    flight.frames(3);
    flight.check(3.25, 12);
    assert!(strength(&flight).is_err());

    // The host has kept the value of the removed property, and restores the value when a build declares the property again.
    assert!(flight.reload(vec![flock(&["weary"])]).is_committed());
    assert_eq!(strength(&flight), Ok(Value::F32(9.0)));
    assert_eq!(objects(&flight), before);
    assert_eq!(flight.failures().len(), 0);
}

#[test]
fn a_build_that_panics_is_rolled_back_within_a_frame() {
    let mut flight = Flock::new(&[flock(&[])]);
    flight.frames(1);
    let report = flight.reload(vec![flock(&["panic-in-constructor"])]);
    assert!(!report.is_committed() && report.to_string().contains("a broken wing"), "{report}");
    // The reload was rolled back, and the old code ran in the same frame.
    flight.check(0.5, 2);
    assert!(flight.reload(vec![flock(&["gust"])]).is_committed());
    flight.check(1.0, 3);
}

#[test]
fn a_panic_in_a_system_affects_only_its_object() {
    let mut flight = Flock::new(&[flock(&[])]);
    flight.frames(1);
    assert!(flight.reload(vec![flock(&["panic-at-the-fence"])]).is_committed());
    let failures = flight.failures();
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert_eq!((failures[0].system.as_str(), failures[0].objects), ("uf:/Script/Game.Bird:fly", 500));
    assert!(failures[0].error.contains("the fence"), "{failures:?}");
    let height = |app: &Flock, bird: usize| app.app.world().get::<Position>(app.birds[bird]).expect("it lives").y;
    assert_eq!((height(&flight, 499), height(&flight, 500)), (0.5, 0.25));
    // The system of the first build runs for all objects.
    assert!(flight.reload(vec![flock(&[])]).is_committed());
    assert_eq!((height(&flight, 499), height(&flight, 500)), (0.75, 0.5));
    assert_eq!(flight.failures().len(), 0);
}

#[test]
fn entities_and_objects_are_created_and_destroyed_together() {
    let mut flight = Flock::new(&[flock(&["weary"])]);
    flight.frames(1);
    let [parent, gone, tired] = [3, 4, 5].map(|number| flight.birds[number]);
    let objects = [gone, tired].map(|bird| flight.object(bird));
    let runtime = flight.runtime();
    runtime.objects().set(flight.object(parent), "eggs", &Value::U32(1)).expect("a property");
    runtime.objects().set(objects[1], "strength", &Value::F32(STEP)).expect("a property");
    // The app destroys an entity.
    flight.app.world_mut().despawn(gone);
    flight.frames(1);
    assert_eq!(objects.map(|object| flight.runtime().objects().is_alive(object)), [false; 2]);
    // The plugin destroyed an object.
    assert!(flight.app.world().get_entity(tired).is_err());
    assert_eq!(flight.count(), usize::from(ENTITIES) - 1);
    let mut all = flight.app.world_mut().query::<(Entity, &Script, &Position, Option<&Number>)>();
    let chicks: Vec<_> = all.iter(flight.app.world()).filter(|(.., number)| number.is_none()).collect();
    let (chick, script, position, _) = chicks[0];
    assert_eq!((chicks.len(), script.0.as_str(), *position), (1, BIRD, Position { x: 3.0, y: 0.5 }));
    // The object survives a collection, and its system runs in the next frame.
    flight.runtime().collection().collect().expect("a safe point");
    flight.frames(1);
    assert_eq!(flight.value(chick, "frames"), Ok(Value::U32(1)));
}

#[test]
fn an_entity_that_is_despawned_while_its_object_is_created_leaves_no_object() {
    // The despawn is applied after `create_missing` has run, and before the component is inserted.
    fn despawn_new(new: Query<Entity, (With<Number>, Without<Scripted>)>, mut commands: Commands) {
        new.iter().for_each(|entity| commands.entity(entity).despawn());
    }

    let mut flight = Flock::new(&[flock(&[])]);
    flight.app.add_systems(Update, despawn_new.before_ignore_deferred(PluginCode));
    flight.frames(2);
    assert_eq!((flight.count(), flight.runtime().objects().iter().len()), (0, 0));
}

#[test]
fn an_entity_whose_component_is_inserted_again_keeps_its_object() {
    let mut flight = Flock::new(&[flock(&[])]);
    flight.frames(1);
    let bird = flight.birds[3];
    let scripted = *flight.app.world().get::<Scripted>(bird).expect("it has an object");
    flight.app.world_mut().entity_mut(bird).remove::<Scripted>().insert(scripted);
    flight.frames(1);
    flight.check(0.5, 2);
}

#[test]
fn a_disabled_entity_keeps_its_object() {
    let mut flight = Flock::new(&[flock(&[])]);
    flight.frames(1);
    let bird = flight.birds[3];
    flight.app.world_mut().entity_mut(bird).insert(Disabled);
    // The new object changes the list of objects, so the pairs are checked.
    flight.app.world_mut().spawn(Script(BIRD.to_owned()));
    flight.frames(1);
    assert!(flight.runtime().objects().is_alive(flight.object(bird)));
    flight.app.world_mut().entity_mut(bird).remove::<Disabled>();
    flight.frames(1);
    assert_eq!(flight.count(), usize::from(ENTITIES) + 1);
}

#[test]
fn entities_wait_for_a_class_and_keep_the_objects_of_a_removed_one() {
    let other = builds::plugin("server-handler", &[]);
    let mut flight = Flock::new(std::slice::from_ref(&other));
    flight.frames(2);
    assert_eq!(flight.count(), 0);
    assert!(flight.reload(vec![other.clone(), flock(&[])]).is_committed());
    flight.check(0.25, 1);
    // The objects are dormant, so no system runs for them.
    assert!(flight.reload(vec![other.clone()]).is_committed());
    flight.frames(2);
    assert_eq!(flight.count(), usize::from(ENTITIES));
    assert!(flight.reload(vec![other, flock(&[])]).is_committed());
    flight.check(0.5, 2);
}

#[test]
fn systems_of_the_app_and_of_plugins_run_in_the_order_of_their_sets() {
    fn lift(mut birds: Query<&mut Position>) {
        birds.iter_mut().for_each(|mut bird| bird.y += 10.0);
    }
    fn note(birds: Query<(&Position, &Number), Changed<Position>>, mut heights: ResMut<Heights>) {
        let first = birds.iter().find(|(_, number)| number.0 == 0);
        heights.0.push((birds.iter().count(), first.map_or(0.0, |(position, _)| position.y)));
    }
    #[derive(Resource, Default)]
    struct Heights(Vec<(usize, f32)>);

    let mut flight = Flock::new(&[flock(&[])]);
    flight.app.init_resource::<Heights>();
    flight.app.add_systems(Update, (lift.before(PluginCode), note.after(PluginCode)));
    flight.frames(2);
    let all = usize::from(ENTITIES);
    assert_eq!(flight.app.world().resource::<Heights>().0, [(all, 10.25), (all, 20.5)]);
}

#[test]
fn code_that_runs_in_the_tick_moves_a_flying_bird() {
    let mut flight = Flock::new(&[flock(&[])]);
    flight.frames(2);
    let bird = flight.birds[3];
    let object = flight.object(bird);
    // The closure runs in the tick of the next frame, like a timer of a plugin.
    let land = move |runtime: &Runtime| {
        runtime.objects().set(object, "y", &Value::F32(0.0)).expect("a property");
    };
    assert!(flight.runtime().post_handle().post(land));
    flight.frames(1);
    assert_eq!(flight.app.world().get::<Position>(bird), Some(&Position { x: 3.0, y: STEP }));
}

#[test]
fn the_last_frame_unloads_the_plugins() {
    let mut flight = Flock::new(&[flock(&[])]);
    flight.frames(1);
    let contexts = flight.runtime().downgrade();
    flight.app.world_mut().write_message(AppExit::Success);
    flight.frames(1);
    assert_eq!(flight.app.should_exit(), Some(AppExit::Success));
    assert!(contexts.upgrade().is_none());
}

/// Compares the glue file with the declarations. `UPDATE_EXPECT=1` writes the file.
#[test]
fn the_glue_of_the_plugin_is_up_to_date() {
    let declared = bevy_host::builder().declared().unwrap_or_else(|error| panic!("{error}"));
    let source = Glue::default().only("Bevy").for_plugins(&Origin::host("bevy-host"), &declared);
    let path = builds::folder("flock").join("src/app.rs");
    expect_file![path].assert_eq(&source.unwrap_or_else(|error| panic!("{error}")));
}
