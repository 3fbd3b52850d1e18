//! Handles for hosts: `Contexts` for all contexts of a runtime, `LoadContext` for one context. Usable on any thread.

mod contexts;
mod one;

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Weak};

use alcedo_sys::process;

use crate::callback::handle_goes;
use crate::load::context::event::ContextEvent;
use crate::load::context::free_context::FreeContext;
use crate::load::context::owner::{self, Owner};
use crate::load::context::registry::ContextRegistry;
use crate::load::context::resolvers::ModuleRequest;
use crate::load::context_id::ContextKind;

/// Handle of one runtime's load contexts. These are the Default, every Slim, every pinned context, and a snapshot of the Master. Clones
/// refer to the same contexts. A handle may outlive the runtime, although all Slims are unloaded when the runtime shuts down. Usable on any
/// thread. See `runtime/docs/load-contexts.md` for instructions and a comparison with .NET's `AssemblyLoadContext`.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
///
/// let runtime = Runtime::builder().build()?;
/// let contexts = runtime.contexts();
/// // Any thread may use the handle.
/// let loader = std::thread::spawn(move || contexts.create_pinned("codecs").is_ok());
/// assert!(loader.join().unwrap());
/// assert!(runtime.contexts().pinned("codecs").is_some());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Contexts {
    registry: Arc<ContextRegistry>,
}

/// Handle of a Slim, a pinned context, or the Default. Clones refer to the same context. Dropping the last handle of a Slim starts the
/// unload of the Slim. If a callback of the Slim owns a handle, this unload never starts; see [`LoadContext::downgrade`]. Pinned contexts
/// and the Default exist even without a handle. Usable on any thread.
///
/// # Examples
/// ```rust,no_run
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// # let runtime = alcedo_runtime::Runtime::builder().build()?;
/// use alcedo_runtime::Value;
///
/// let reports = runtime.contexts().create_slim("reports")?;
/// reports.load_path("/srv/plugins/libreports.so")?;
/// let render = reports.function("Report", "render", "String -> String")?;
/// println!("{:?}", render.call(&[Value::Text("Ada".into())])?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct LoadContext {
    kept: Arc<Kept>,
}

/// Weak handle to the contexts of a runtime, for callbacks. Usable on any thread.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
///
/// let runtime = Runtime::builder().build()?;
/// let contexts = runtime.contexts().downgrade();
/// assert!(contexts.upgrade().is_some());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct WeakContexts {
    registry: Weak<ContextRegistry>,
}

/// Weak handle to a context, for callbacks of the context. The context can be unloaded while weak handles exist. Usable on any thread.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
///
/// let runtime = Runtime::builder().build()?;
/// let reports = runtime.contexts().create_slim("reports")?;
/// // A callback of the Slim captures the weak handle.
/// let weak = reports.downgrade();
/// assert_eq!(weak.upgrade().map(|slim| slim.name().to_owned()).as_deref(), Some("reports"));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct WeakLoadContext {
    registry: Weak<ContextRegistry>,
    line: Weak<FreeContext>,
}

impl WeakContexts {
    /// Returns a handle while a strong reference to the contexts exists. The runtime, a [`Contexts`] and a [`LoadContext`] each own a
    /// strong reference.
    #[must_use]
    pub fn upgrade(&self) -> Option<Contexts> {
        self.registry.upgrade().as_ref().map(Contexts::of)
    }

    /// Checks if this handle refers to the contexts of `registry`. Comparing addresses is reliable, because the weak handle keeps the
    /// allocation of its registry.
    pub(crate) fn is_of(&self, registry: &Arc<ContextRegistry>) -> bool {
        self.registry.as_ptr() == Arc::as_ptr(registry)
    }
}

impl WeakLoadContext {
    /// Returns a handle to the context. For a Slim, returns `None` once the last handle was dropped. For the Default and pinned contexts,
    /// returns `None` once the runtime has ended.
    #[must_use]
    pub fn upgrade(&self) -> Option<LoadContext> {
        LoadContext::of(&self.registry.upgrade()?, &self.line.upgrade()?)
    }
}

impl ContextEvent {
    /// Returns the context of the event while a handle to the context exists. Returns `None` for a Slim whose last handle was dropped.
    /// Returns `None` for the Master, because [`LoadContext`] does not support the Master.
    #[must_use]
    pub fn load_context(&self) -> Option<LoadContext> {
        LoadContext::at(&self.owner)
    }

    /// Returns all contexts of the host. Returns `None` once the last handle to the contexts was dropped.
    #[must_use]
    pub fn contexts(&self) -> Option<Contexts> {
        Contexts::at(&self.owner)
    }
}

impl ModuleRequest {
    /// Returns the requesting context. Returns `None` once the last handle to a requesting Slim was dropped. During a replacement, the
    /// handle still refers to the previous generation. If a resolver loads a module through this handle and returns the loaded module, the
    /// new generation borrows the module, and the previous generation cannot be unloaded. Return a file or bytes instead.
    #[must_use]
    pub fn load_context(&self) -> Option<LoadContext> {
        LoadContext::at(&self.owner)
    }

    /// Returns all contexts of the host.
    #[must_use]
    pub fn contexts(&self) -> Option<Contexts> {
        Contexts::at(&self.owner)
    }
}

impl Contexts {
    fn at(owner: &Owner) -> Option<Self> {
        owner::upgrade(&owner.registry).as_ref().map(Self::of)
    }
}

impl LoadContext {
    fn at(owner: &Owner) -> Option<Self> {
        Self::of(&owner::upgrade(&owner.registry)?, &owner::upgrade(&owner.line)?)
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

/// State shared by all handles to one context.
struct Kept {
    /// Keeps the registry alive while a handle to one of its contexts exists.
    registry: Arc<ContextRegistry>,
    line: Arc<FreeContext>,
    made_at: &'static Location<'static>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.line.kind != ContextKind::Slim || !self.line.is_open() {
            return;
        }
        log!(
            WARN,
            context = self.line.title(),
            thread = %process::describe_this_thread(),
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
