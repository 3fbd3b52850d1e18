//! Pairs each entity with an object. Destroying an entity also destroys its object, and destroying an object also despawns its entity.
//! Changes take effect when Bevy applies the commands of a frame, so plugin code never changes Bevy's world while a system runs.

use std::collections::HashMap;

use alcedo::host::ClassList;
use alcedo::native::Class as _;
use alcedo::{ObjectHandle, Runtime};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;

use crate::Behavior;
use crate::mirror::{Mirror, Position, Velocity};
use crate::systems::SystemFailed;

/// Path of a plugin class that extends [`Behavior`]. The entity receives an object of this class in the next frame. If no plugin declares
/// the class, the entity receives its object after the first reload that adds the class.
#[derive(Component, Clone, PartialEq, Eq, Debug)]
#[component(immutable)]
#[require(Position, Velocity)]
pub struct Script(pub String);

/// The object of an entity. An app accesses the properties with [`Runtime::property`], and calls the functions with [`Runtime::objects`].
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug)]
#[component(immutable)]
pub struct Scripted {
    object: ObjectHandle,
}

impl Scripted {
    /// Returns the object.
    #[must_use]
    pub fn object(self) -> ObjectHandle {
        self.object
    }
}

/// Matches entities with an object. Includes disabled entities, which keep their objects.
type Paired = (With<Scripted>, Allow<Disabled>);

/// All pairs of entities and objects, searchable in both directions.
pub(crate) struct Links {
    objects: HashMap<Entity, ObjectHandle>,
    entities: HashMap<ObjectHandle, Entity>,
    /// Objects of [`Behavior`] and of its derived classes.
    list: ClassList,
}

impl Links {
    pub(crate) fn new(runtime: &Runtime) -> Self {
        Self { objects: HashMap::new(), entities: HashMap::new(), list: runtime.list(Behavior::PATH) }
    }

    /// Adds a pair. Returns the previous object of the entity, if the app has removed [`Scripted`] since [`destroy_removed`].
    fn add(&mut self, entity: Entity, object: ObjectHandle) -> Option<ObjectHandle> {
        self.entities.insert(object, entity);
        self.objects.insert(entity, object).inspect(|previous| {
            self.entities.remove(previous);
        })
    }
}

/// Destroys the objects whose entities were despawned or lost [`Scripted`].
pub(crate) fn destroy_removed(
    runtime: NonSend<Runtime>,
    mut links: NonSendMut<Links>,
    paired: Query<(), Paired>,
    mut removed: RemovedComponents<Scripted>,
) {
    // Skips entities whose component was removed and then inserted again.
    for entity in removed.read().filter(|entity| !paired.contains(*entity)) {
        // If the object was destroyed before its entity, `links` no longer contains the pair.
        if let Some(object) = links.objects.remove(&entity) {
            links.entities.remove(&object);
            runtime.objects().destroy(object);
        }
    }
}

/// Creates the objects of entities that have a [`Script`] but no object.
pub(crate) fn create_missing(
    runtime: NonSend<Runtime>,
    mut links: NonSendMut<Links>,
    missing: Query<(Entity, &Script), Without<Scripted>>,
    mut commands: Commands,
    mut failed: MessageWriter<SystemFailed>,
) {
    for (entity, Script(class)) in &missing {
        if !runtime.types().has(class) {
            continue;
        }
        let object = match runtime.objects().spawn(class.as_str()) {
            Ok(object) if runtime.objects().is_a(object, Behavior::PATH) => object,
            other => {
                let error = other.map_or_else(
                    |error| error.to_string(),
                    |object| {
                        runtime.objects().destroy(object);
                        format!("{class} does not extend {}", Behavior::PATH)
                    },
                );
                // Without this removal, each frame would try to create the object again.
                commands.entity(entity).remove::<Script>();
                failed.write(SystemFailed { system: class.clone(), objects: 1, error });
                continue;
            }
        };
        links.add(entity, object).into_iter().for_each(|previous| runtime.objects().destroy(previous));
        // The insertion has no effect if a command of the app has despawned the entity. `adopt` then destroys the object.
        commands.entity(entity).try_insert(Scripted { object });
    }
}

/// Spawns entities for objects that plugin code created. Despawns entities whose objects plugin code destroyed. An object without an outer
/// exists until the app or plugin code destroys the object. If a reload removes the class of an object, the object becomes dormant and
/// keeps its entity. Also destroys new objects whose entities were despawned before the insertion of [`Scripted`].
pub(crate) fn adopt(
    runtime: NonSend<Runtime>,
    mut links: NonSendMut<Links>,
    mirror: NonSend<Mirror>,
    paired: Query<(), Paired>,
    mut commands: Commands,
) {
    let links = &mut *links;
    if !links.list.refresh(&runtime) {
        return;
    }
    let objects = runtime.objects();
    links.objects.retain(|entity, object| {
        let is_alive = objects.is_alive(*object);
        if is_alive && paired.contains(*entity) {
            return true;
        }
        links.entities.remove(object);
        match is_alive {
            true => objects.destroy(*object),
            false => commands.entity(*entity).despawn(),
        }
        false
    });
    for object in links.list.list().objects() {
        if links.entities.contains_key(object) {
            continue;
        }
        let (Some(class), Ok((position, velocity))) = (objects.class_of(*object), mirror.read(*object)) else {
            continue;
        };
        let entity = commands.spawn((Script(class), Scripted { object: *object }, position, velocity)).id();
        links.objects.insert(entity, *object);
        links.entities.insert(*object, entity);
    }
}
