//! Runs systems of plugins: functions with the metadata `system`, as in `#[ufunction(meta(system = "1"))]`. Systems run in ascending order
//! of the metadata value, a number. Systems with equal numbers run in the order of their modules and declarations.

use alcedo::host::{BatchFunction, ClassList};
use alcedo::{Declared, Error, Runtime};
use bevy_ecs::prelude::*;

use crate::Step;

/// Sent if a system of a plugin failed in this frame with an error or a panic. A failure does not stop other objects and systems.
#[derive(Message, Clone, Debug)]
pub struct SystemFailed {
    /// Name of the function, or path of the class whose object could not be created.
    pub system: String,
    /// Number of objects for which the system failed.
    pub objects: usize,
    /// Error of the first object for which the system failed.
    pub error: String,
}

/// A system of a plugin, with the objects of its class.
struct PluginSystem {
    function: BatchFunction<(f32,), ()>,
    objects: ClassList,
}

/// Systems of the loaded plugins, in call order.
#[derive(Default)]
pub(crate) struct PluginSystems {
    generation: u64,
    systems: Vec<PluginSystem>,
}

impl PluginSystems {
    /// Looks up the systems again after a reload. Returns one failure for each system that cannot run.
    fn refresh(&mut self, runtime: &Runtime) -> Vec<SystemFailed> {
        if self.generation == runtime.generation() {
            return Vec::new();
        }
        self.generation = runtime.generation();
        let modules = runtime.modules();
        let declared = modules.iter().filter_map(|module| runtime.types().declared_by(&module.name));
        let (mut found, mut failed) = (Vec::new(), Vec::new());
        for (name, class, order) in declared.flat_map(|declared| declared_systems(&declared)) {
            let system = order.parse::<i32>().map_err(|_| format!("`system = \"{order}\"` is not a number"));
            let system = system.and_then(|order| {
                let function = runtime.batch(&name).map_err(|error| error.to_string())?;
                Ok((order, PluginSystem { function, objects: runtime.list(&class) }))
            });
            match system {
                Ok(system) => found.push(system),
                Err(error) => failed.push(SystemFailed { system: name, objects: 0, error }),
            }
        }
        // The sort is stable, so systems with equal numbers stay in declaration order.
        found.sort_by_key(|(order, _)| *order);
        self.systems = found.into_iter().map(|(_, system)| system).collect();
        failed
    }
}

/// Lists the systems that a module declares: the name of the function, the path of the class, and the order number of each.
fn declared_systems(declared: &Declared) -> Vec<(String, String, String)> {
    let functions =
        declared.classes.iter().flat_map(|class| class.functions.iter().map(move |function| (class, function)));
    let systems = functions.filter_map(|(class, function)| {
        let order = function.meta.get("system")?;
        Some((format!("uf:{}:{}", class.path, function.name), class.path.clone(), order.clone()))
    });
    systems.collect()
}

/// Runs each system for all objects of its class.
pub(crate) fn run(
    runtime: NonSend<Runtime>,
    step: Res<Step>,
    mut systems: NonSendMut<PluginSystems>,
    mut failed: MessageWriter<SystemFailed>,
) {
    failed.write_batch(systems.refresh(&runtime));
    for PluginSystem { function, objects } in &mut systems.systems {
        // `refresh` changes the list only if objects were created or destroyed.
        objects.refresh(&runtime);
        match function.call_list(objects.list(), (step.0,)) {
            Ok(report) => {
                runtime.objects().log_failures(function.name(), &report);
                if let Some((_, error)) = report.failed.first() {
                    failed.write(failure(function.name(), report.failed.len(), error));
                }
            }
            Err(error) => {
                failed.write(failure(function.name(), 0, &error));
            }
        }
    }
}

fn failure(system: &str, objects: usize, error: &Error) -> SystemFailed {
    SystemFailed { system: system.to_owned(), objects, error: error.to_string() }
}
