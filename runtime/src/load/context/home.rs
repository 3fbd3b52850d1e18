//! The way from what a callback is given back to the context that it is about. It keeps nothing alive, so whatever holds a
//! request or an event closes no circle.

use std::fmt;
use std::sync::Weak;

use crate::load::context::free_context::FreeContext;
use crate::load::context::handle::{Contexts, LoadContext};
use crate::load::context::registry::ContextRegistry;

/// A context of a host. The one of nothing leads nowhere.
#[derive(Clone, Default)]
pub(super) struct Home {
    registry: Weak<ContextRegistry>,
    line: Weak<FreeContext>,
}

impl Home {
    /// The way to a context.
    pub(super) fn new(registry: &Weak<ContextRegistry>, line: &Weak<FreeContext>) -> Self {
        Self { registry: Weak::clone(registry), line: Weak::clone(line) }
    }

    /// All contexts, while there is a handle to them.
    pub(super) fn contexts(&self) -> Option<Contexts> {
        self.registry.upgrade().as_ref().map(Contexts::of)
    }

    /// The context, while there is a handle to it.
    pub(super) fn load_context(&self) -> Option<LoadContext> {
        let (registry, line) = (self.registry.upgrade()?, self.line.upgrade()?);
        LoadContext::of(&registry, &line)
    }
}

/// Two requests, or events, are equal by what they say.
impl PartialEq for Home {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Home {}

impl fmt::Debug for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match Weak::strong_count(&self.line) {
            0 => "gone",
            _ => "there",
        })
    }
}
