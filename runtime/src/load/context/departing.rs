//! How a generation of a Slim ends. First everybody who is inside comes out and every lease ends, then the exit hooks
//! run, dependents first, and then the images go. Whoever holds the ticket may drive it, and the reaper does.

use std::sync::{Arc, Weak};

use crate::lease::Blocker;
use crate::load::context::free_module::FreeModule;
use crate::load::context::hub::Hub;
use crate::load::context::space::Space;
use crate::load::end_order::{End, EndStep};
use crate::load::leaving::{Leaving, kept_by};
use crate::load::policy::UnloadPolicy;
use crate::load::ticket::{Departed, Departure, Progress};

/// Runs the exit hooks of modules that nobody calls any more, dependents first, on this thread; what is left is what
/// becomes of their images. `modules` are in the order in which they were loaded; what goes wrong is told to `note`.
pub(super) fn leave(modules: &[Arc<FreeModule>], policy: &UnloadPolicy, mut note: impl FnMut(String)) -> Box<Leaving> {
    for step in End::Slim.steps() {
        match step {
            // Before the exit hooks: one of them may wait for a thread that waits for this.
            EndStep::ShutGates => modules.iter().for_each(|module| module.ask_to_stop()),
            EndStep::ExitHooks => {
                for module in modules.iter().rev() {
                    if let Err(error) = module.exit() {
                        tracing::error!(module = module.name(), %error, "an exit hook failed");
                        note(format!("the exit hook of {} {error}", module.name()));
                    }
                }
            }
            EndStep::EndThreadLocals => modules.iter().rev().for_each(|module| module.end_thread_locals_here()),
            // The door was shut, and leases were sealed, when the unload was asked for; the images are what is left.
            _ => {}
        }
    }
    images(modules, policy)
}

/// What becomes of the images of modules, without another call into them.
fn images(modules: &[Arc<FreeModule>], policy: &UnloadPolicy) -> Box<Leaving> {
    Leaving::new(modules.iter().rev().filter_map(|module| module.leave(policy)).collect(), None)
}

/// A generation on its way out.
pub(super) struct SpaceDeparture {
    hub: Weak<Hub>,
    space: Arc<Space>,
    policy: UnloadPolicy,
    images: Option<Box<Leaving>>,
}

impl SpaceDeparture {
    /// Of a generation that takes nothing new.
    pub(super) fn new(hub: &Weak<Hub>, space: &Arc<Space>, policy: UnloadPolicy) -> Box<Self> {
        Box::new(Self { hub: Weak::clone(hub), space: Arc::clone(space), policy, images: None })
    }

    fn kept(blockers: Vec<Blocker>) -> Progress {
        Progress::Waiting { blockers, drained: false }
    }

    fn over(&self, departed: &Departed) {
        self.space.return_borrowed();
        let parked: Vec<_> = departed.parked.iter().map(|image| image.line(&self.space.title())).collect();
        if let Some(hub) = self.hub.upgrade() {
            hub.ended(&self.space, parked);
        }
    }
}

impl Departure for SpaceDeparture {
    fn advance(&mut self) -> Progress {
        if self.images.is_none() {
            // Another thread may hold the ticket while those who listen are still being told.
            if !self.space.is_announced() {
                return Self::kept(Vec::new());
            }
            let blockers = self.space.held_by();
            if !blockers.is_empty() {
                return Self::kept(blockers);
            }
            let space = &self.space;
            let note = |problem| space.ticket().into_iter().for_each(|ticket| ticket.note(String::clone(&problem)));
            self.images = Some(leave(&space.modules(), &self.policy, note));
        }
        let Some(images) = &mut self.images else { return Self::kept(Vec::new()) };
        let progress = images.advance();
        if let Progress::Ended(departed) = &progress {
            self.over(departed);
        }
        progress
    }

    fn park(&mut self) -> Departed {
        // Those who are inside go on in images that stay; the exit hooks would end what they use.
        let departed = match self.images.take() {
            Some(mut images) => images.park(),
            None => {
                let mut departed = images(&self.space.modules(), &self.policy).park();
                let blockers = self.space.held_by();
                if !blockers.is_empty() {
                    departed.parked.iter_mut().for_each(|image| image.reason = kept_by(&blockers));
                }
                departed
            }
        };
        self.over(&departed);
        departed
    }
}
