//! Tests the lifecycle of a module without a library. The lifecycle must equal that of a library.

use std::rc::Rc;
use std::sync::Arc;

use super::testing::{GENERATION, tag, tale};
use crate::bridge::core::Core;
use crate::conjugate::gate::Gate;
use crate::emit::batch::emit;
use crate::lease::LeaseKind;
use crate::load::canary::Canary;
use crate::load::context::registry::LoadSettings;
use crate::load::master::{self, GenerationUnload, Loads, generation, in_progress};
use crate::load::module::master::MasterModule;
use crate::unload::state::ContextState;
use crate::unload::steps::UnloadCause;

/// Loads and unloads a Master that has only this module.
#[test]
fn a_non_library_module_loads_and_unloads_in_the_master() {
    let core = Core::new().expect("a finalizer thread");
    let mut settings = LoadSettings { args: vec!["once".into()], ..LoadSettings::default() };
    settings.rehearsal.canary = Canary::Off;
    let loads = Loads::new(&core, settings).expect("a folder");
    let (module, log) = tale(tag(), &core.logs);
    let modules = [MasterModule::new(module, Gate::new(tag()))];
    let [module] = &modules;
    core.tasks.admit(module.gate(), Arc::clone(module.leases()));
    core.owned_values.admit(module.gate(), Arc::clone(module.leases()));
    loads.registry.masters.begin(GENERATION);
    loads.show(GENERATION, modules.iter());

    let declarers = master::declarers(&modules);
    core.world.types.declare_package("Tale");
    core.world.types.begin_shadow();
    emit(&core, &declarers, &declarers).expect("its types are declared");
    core.world.types.commit_shadow();
    assert!(core.world.types.interface_by_path("/Script/Tale.Speaker").is_some());
    assert!(master::start(&core, &loads, GENERATION, &modules, &[]).is_ok());
    assert_eq!(log.all(), ["main once"]);

    let lease = module.leases().take(LeaseKind::Borrow, "a reader").expect("it lives");
    let unload =
        GenerationUnload { cause: UnloadCause::Unloaded, generation: GENERATION, modules: &modules, is_known: true };
    let ticket = generation::unload(&core, &loads, &unload, &mut |_| {});
    assert_eq!(log.all(), ["main once", "asked to stop", "exit", "thread-locals end"]);
    let blocked = ticket.report();
    assert_eq!((blocked.state, &*blocked.blockers[0].owner), (ContextState::Blocked, "a reader"));
    assert!(module.leases().take(LeaseKind::Borrow, "too late").is_err());

    drop(lease);
    in_progress::tend_all(&core, &loads);
    assert_eq!(log.all()[4..], ["lets go of its host", "gone"]);
    assert_eq!(ticket.end_report().expect("it is gone").modules[0].module, "tale");
    assert_eq!(loads.registry.masters.states(), []);
    assert_eq!(Rc::strong_count(module), 1);
}

/// Checks that the exit hook runs only if the main has run. Also checks that a module without an unload keeps its dependencies.
#[test]
fn unstarted_modules_are_disposed_of_and_dropped_ones_keep_dependencies() {
    let logs = Arc::default();
    let (module, log) = tale(tag(), &logs);
    module.exit().expect("it has nothing to do");
    assert_eq!(log.all(), ["dispose"]);
    let (other, _) = tale(tag(), &logs);
    let code = other.leases().take(LeaseKind::Dependent, "tale").expect("it lives");
    module.need(super::Need { use_of: None, code });
    drop(module);
    assert_eq!(other.leases().count(), 1);
}
