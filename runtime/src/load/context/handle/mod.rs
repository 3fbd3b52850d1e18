//! What a host holds: all contexts of a runtime, and one of them. Both may go to any thread.

mod contexts;
mod one;

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Weak};

use alcedo_sys::process;

use crate::callback::handle_goes;
use crate::load::context::event::ContextEvent;
use crate::load::context::free_context::FreeContext;
use crate::load::context::home::{Home, behind};
use crate::load::context::registry::ContextRegistry;
use crate::load::context::resolvers::ModuleRequest;
use crate::load::context_id::ContextKind;

/// The load contexts of one runtime: the Default, every Slim and pinned one, and what any thread may know of the Master. A
/// clone is another handle to the same; it may outlive the runtime, whose end unloads the Slims that there are then. Any
/// thread. How-tos, and each member of .NET's `AssemblyLoadContext` beside ours: `runtime/docs/load-contexts.md`.
#[derive(Clone)]
pub struct Contexts {
    registry: Arc<ContextRegistry>,
}

/// One context that belongs to no thread: a Slim, a pinned one, or the Default. A clone is another handle to it. When the
/// last handle to a Slim is dropped, it begins to unload; a callback of the Slim that owns a handle to it prevents that, see
/// [`LoadContext::downgrade`]. The others stay without a handle. Any thread.
#[derive(Clone)]
pub struct LoadContext {
    kept: Arc<Kept>,
}

/// A handle to the contexts of a runtime that keeps nothing of them: for callbacks. Any thread.
#[derive(Clone)]
pub struct WeakContexts {
    registry: Weak<ContextRegistry>,
}

/// A handle to a context that does not keep it from unloading: for its callbacks. Any thread.
#[derive(Clone)]
pub struct WeakLoadContext {
    registry: Weak<ContextRegistry>,
    line: Weak<FreeContext>,
}

impl WeakContexts {
    /// The contexts, while there is a handle to them, or to one of them, or to their runtime.
    #[must_use]
    pub fn upgrade(&self) -> Option<Contexts> {
        self.registry.upgrade().as_ref().map(Contexts::of)
    }
}

impl WeakLoadContext {
    /// The context: a Slim while there is a handle to it, the Default and a pinned one as long as their runtime is
    /// there.
    #[must_use]
    pub fn upgrade(&self) -> Option<LoadContext> {
        LoadContext::of(&self.registry.upgrade()?, &self.line.upgrade()?)
    }
}

impl Home {
    /// All contexts, while there is a handle to them.
    fn contexts(&self) -> Option<Contexts> {
        behind(&self.registry).as_ref().map(Contexts::of)
    }

    /// The context, while there is a handle to it.
    fn load_context(&self) -> Option<LoadContext> {
        LoadContext::of(&behind(&self.registry)?, &behind(&self.line)?)
    }
}

impl ContextEvent {
    /// The context that this happened to, for as long as there is a handle to it: none for a Slim whose last handle was
    /// dropped, and for the Master, which has no such handle.
    #[must_use]
    pub fn load_context(&self) -> Option<LoadContext> {
        self.home.load_context()
    }

    /// All contexts of its host; none once the last handle to them is gone.
    #[must_use]
    pub fn contexts(&self) -> Option<Contexts> {
        self.home.contexts()
    }
}

impl ModuleRequest {
    /// The context that looks for it, for as long as there is a handle to it.
    #[must_use]
    pub fn load_context(&self) -> Option<LoadContext> {
        self.home.load_context()
    }

    /// All contexts of its host.
    #[must_use]
    pub fn contexts(&self) -> Option<Contexts> {
        self.home.contexts()
    }
}

impl fmt::Debug for WeakContexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a weak handle to load contexts")
    }
}

impl fmt::Debug for WeakLoadContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line.upgrade() {
            Some(line) => write!(f, "a weak handle to {}", line.title()),
            None => f.write_str("a weak handle to a load context that is gone"),
        }
    }
}

/// Lives as long as any handle to the context.
struct Kept {
    /// The registry stays as long as any context in it can be reached.
    registry: Arc<ContextRegistry>,
    line: Arc<FreeContext>,
    made_at: &'static Location<'static>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.line.kind != ContextKind::Slim || !self.line.is_open() {
            return;
        }
        tracing::warn!(
            context = self.line.title(),
            thread = %process::this_thread_in_words(),
            made_at = %self.made_at,
            "the last handle to a load context was dropped, so it unloads"
        );
        let _ticket = self.line.begin_unload(&self.registry, "its last handle was dropped");
    }
}

impl fmt::Debug for Contexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all().iter().map(ToString::to_string)).finish()
    }
}

impl Drop for Contexts {
    fn drop(&mut self) {
        handle_goes(|| self.registry.id());
    }
}

impl Drop for LoadContext {
    fn drop(&mut self) {
        handle_goes(|| self.kept.registry.id());
    }
}

impl fmt::Display for LoadContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line().current() {
            Some(generation) => generation.info().fmt(f),
            None => write!(f, "{} #{}: {}", self.line().title(), self.line().index, self.state()),
        }
    }
}

impl fmt::Debug for LoadContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
