//! A scope selects the context for operations that name no context. A scope belongs to one thread or one task. Leaving a scope restores the
//! scope that was active before, even if guards are dropped out of order. A lease keeps the context of a scope loaded.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use crate::lease::{Lease, LeaseKind};
use crate::load::context::free_generation::FreeGeneration;
use crate::load::error::context::ContextError;

/// Generation that a thread has entered, with the lease of the scope. `None` outside of scopes.
type Here = Option<(Weak<FreeGeneration>, Weak<Lease>)>;

thread_local! {
    static HERE: RefCell<Here> = const { RefCell::new(None) };
}

pub(super) fn here() -> Option<Arc<FreeGeneration>> {
    at(|(generation, _lease)| generation.upgrade())
}

/// Returns the generation whose scope this thread has entered, and the lease of the scope. While the lease is held, code of the generation
/// may be called.
pub(super) fn entered() -> Option<(Arc<FreeGeneration>, Arc<Lease>)> {
    at(|(generation, lease)| Some((generation.upgrade()?, lease.upgrade()?)))
}

fn at<T>(of: impl FnOnce(&(Weak<FreeGeneration>, Weak<Lease>)) -> Option<T>) -> Option<T> {
    // Returns `None` on an ending thread that has already dropped this thread-local.
    HERE.try_with(|here| here.borrow().as_ref().and_then(of)).ok().flatten()
}

/// Scope of a context on this thread. Dropping the guard leaves the scope and restores the previous state.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Contexts, Runtime};
///
/// let runtime = Runtime::builder().build()?;
/// let reports = runtime.contexts().create_slim("reports")?;
/// {
///     let _scope = reports.enter()?;
///     // Types are resolved in the Slim.
///     assert!(runtime.contexts().resolve_type("Report").is_err());
/// }
/// assert!(Contexts::current().is_none());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[must_use = "the scope is left when this is dropped"]
pub struct ContextScope {
    before: Here,
    _lease: Option<Arc<Lease>>,
    /// Restricts the guard to the thread that entered the scope.
    not_send: PhantomData<*const ()>,
}

impl ContextScope {
    /// Enters the scope of a generation. Returns an error if the generation is unloading.
    #[track_caller]
    pub(super) fn enter(generation: &Arc<FreeGeneration>) -> Result<Self, ContextError> {
        let lease = lease(generation)?;
        let here = (Arc::downgrade(generation), Arc::downgrade(&lease));
        Ok(Self { before: swap(Some(here)), _lease: Some(lease), not_send: PhantomData })
    }

    /// Leaves all scopes of this thread until the guard is dropped.
    pub(super) fn none() -> Self {
        Self { before: swap(None), _lease: None, not_send: PhantomData }
    }
}

impl Drop for ContextScope {
    fn drop(&mut self) {
        swap(self.before.take());
    }
}

impl fmt::Debug for ContextScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = self.before.as_ref().and_then(|(generation, _lease)| generation.upgrade());
        write!(f, "a scope; before it: {}", before.map_or_else(|| "none".to_owned(), |generation| generation.title()))
    }
}

/// Future that enters a context on every poll, on any thread. The context stays loaded until the future is dropped.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{ContextError, Contexts, LoadContext, Scoped};
///
/// /// Prints the context in which the future is polled.
/// fn task(slim: &LoadContext) -> Result<Scoped<impl Future<Output = ()>>, ContextError> {
///     slim.scope(async { println!("{:?}", Contexts::current()) })
/// }
/// ```
#[must_use = "a future does nothing until it is polled"]
pub struct Scoped<F> {
    future: Pin<Box<F>>,
    generation: Arc<FreeGeneration>,
    lease: Arc<Lease>,
}

impl<F: Future> Scoped<F> {
    /// Creates a future that enters `generation`. Returns an error if the context is unloading.
    #[track_caller]
    pub(super) fn new(generation: Arc<FreeGeneration>, future: F) -> Result<Self, ContextError> {
        let lease = lease(&generation)?;
        Ok(Self { future: Box::pin(future), generation, lease })
    }
}

impl<F: Future> Future for Scoped<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // The guard needs no separate lease, because the future holds a lease on the context.
        let before = swap(Some((Arc::downgrade(&self.generation), Arc::downgrade(&self.lease))));
        let _scope = ContextScope { before, _lease: None, not_send: PhantomData };
        self.future.as_mut().poll(context)
    }
}

impl<F> fmt::Debug for Scoped<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a future in {}", self.generation.title())
    }
}

#[track_caller]
fn lease(generation: &Arc<FreeGeneration>) -> Result<Arc<Lease>, ContextError> {
    let lease = generation.leases.take(LeaseKind::Scope, "a contextual scope");
    lease.map(Arc::new).map_err(|sealed| ContextError::sealed(sealed, "entering its scope"))
}

fn swap(here: Here) -> Here {
    // The thread-local `HERE` may already be destroyed, because a thread-local that owns a scope guard may be dropped after `HERE`.
    HERE.try_with(|cell| cell.replace(here)).ok().flatten()
}
