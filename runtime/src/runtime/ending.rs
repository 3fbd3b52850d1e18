//! Waits for finalizers, and shuts a host down. The shutdown report lists the images and Slims that could not be unloaded.

use std::fmt;
use std::time::{Duration, Instant};

use alcedo_base::figures::counted;

use super::{Inner, Runtime};
use crate::boundary::CallError;
use crate::bridge::tasks::JobInfo;
use crate::callback::{Registered, Site, let_go};
use crate::conjugate::BlackCount;
use crate::error::Error;
use crate::lease::Blocker;
use crate::load::master;
use crate::unload::wait::wait_until;

/// Progress of the finalizer thread during [`Runtime::drain_finalizers`].
///
/// # Examples
/// ```rust
/// use std::time::Duration;
///
/// use alcedo_runtime::Runtime;
///
/// let runtime = Runtime::builder().build()?;
/// let drained = runtime.drain_finalizers(Duration::from_secs(1))?;
/// if !drained.is_complete {
///     eprintln!("a plugin part is still being dropped: {drained}");
/// }
/// assert_eq!((drained.pending, drained.failures.len()), (0, 0));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drained {
    /// Number of plugin parts that were dropped during the wait.
    pub dropped: u64,
    /// Number of remaining plugin parts: their finalizers are queued or running, or their modules are parked.
    pub pending: u64,
    /// Finalizers that panicked during the wait, each with its module. `dropped` includes their plugin parts.
    pub failures: Vec<String>,
    /// Finalizer that was still running at the deadline.
    pub running: Option<Blocker>,
    /// Set if the wait has dropped all plugin parts that were in the queue at the start of the wait.
    pub is_complete: bool,
    /// Duration of the wait.
    pub duration: Duration,
}

/// Report of the shutdown of a runtime.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
///
/// let runtime = Runtime::builder().build()?;
/// runtime.objects().spawn("/Script/Core.Object")?;
/// let report = runtime.shutdown();
/// assert!(report.left.is_empty());
/// assert_eq!(report.objects, 1);
/// assert!(report.to_string().starts_with("ended · 0 images not unmapped"));
/// assert!(report.to_string().ends_with("1 object still alive"));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Images that stay mapped, and Slims that are still unloading, each with the reason.
    pub left: Vec<String>,
    /// Black conjugates that their owners did not release before the end of the shutdown. Typical owners are the host, static variables of
    /// plugins, and memory that a plugin has leaked.
    pub owned_values: Vec<BlackCount>,
    /// Number of plugin parts that remain, because their finalizers did not run or have not returned.
    pub plugin_parts: u64,
    /// Non-fatal problems during the unload of the Master, such as exit hooks that ran before finalizers.
    pub problems: Vec<String>,
    /// Pending tasks, timers and posted closures of modules at the start of the shutdown. Each of these jobs was dropped with its module.
    pub jobs: Vec<JobInfo>,
    /// Leases that blocked the unload of a Master until the wait ended, so that this Master was parked. Also contains the leases that still
    /// blocked the unload of Slims when the wait ended.
    pub leases: Vec<Blocker>,
    /// Number of objects that still existed after the unload of all modules. All these objects are of native classes.
    pub objects: u64,
}

impl fmt::Display for Drained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dropped, pending, failures, running, is_complete, duration } = self;
        let far = if *is_complete { "drained" } else { "not drained" };
        write!(f, "{far} in {:.1} s · {dropped} plugin parts dropped · {pending} wait", duration.as_secs_f64())?;
        running.iter().try_for_each(|running| write!(f, "\n  {running}"))?;
        failures.iter().try_for_each(|failure| write!(f, "\n  {failure}"))
    }
}

impl ShutdownReport {
    /// Converts the report to a result.
    ///
    /// # Errors
    /// Fails if `left` is not empty.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::ShutdownReport;
    ///
    /// let mut report = ShutdownReport::default();
    /// report.left.push("libweather.so stays mapped".to_owned());
    /// let error = report.into_result().unwrap_err();
    /// assert!(error.to_string().contains("libweather.so"));
    /// ```
    pub fn into_result(self) -> Result<(), Error> {
        if self.left.is_empty() {
            return Ok(());
        }
        Err(CallError::other(format!("not all could be ended: {}", self.left.join("; "))).into())
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { left, owned_values, plugin_parts, problems, jobs, leases, objects } = self;
        let forgotten: u64 = owned_values.iter().map(|count| count.count).sum();
        write!(
            f,
            "ended · {} not unmapped · {} never dropped · {} not finalized · {} cut short · {} still alive",
            counted(left.len() as u64, "image"),
            counted(forgotten, "black conjugate"),
            counted(*plugin_parts, "plugin part"),
            counted(jobs.len() as u64, "job"),
            counted(*objects, "object"),
        )?;
        left.iter().chain(problems).try_for_each(|line| write!(f, "\n  {line}"))?;
        leases.iter().try_for_each(|lease| write!(f, "\n  {lease}"))?;
        owned_values.iter().try_for_each(|count| write!(f, "\n{count}"))?;
        jobs.iter().try_for_each(|job| {
            let JobInfo { module, generation, kind, place, .. } = job;
            write!(f, "\n  {kind} of {module}, generation {generation}, from {place}")
        })
    }
}

impl Inner {
    /// Records and returns the finalizer failures since the last call of this function. The finalizer thread has already logged these
    /// failures.
    pub(super) fn note_finalizer_failures(&self) -> Vec<String> {
        let failures = self.core.finalizer.failures().into_iter();
        let noted = failures.map(|failure| {
            let problem = format!("a finalizer of {} {}", failure.module, failure.error);
            self.loads.registry.masters.note(failure.generation, problem.clone());
            problem
        });
        noted.collect()
    }

    /// Returns the registration sites of the callbacks that may own a handle of this runtime.
    pub(super) fn sites(&self) -> Vec<Site> {
        let mut sites = self.tickers.sites();
        sites.extend(self.before_destroy.sites());
        sites.extend(self.loads.observers.sites());
        sites.extend(self.loads.unloads.callbacks.sites());
        sites.extend(self.registered.borrow().iter().map(|registered| registered.site));
        sites.extend(self.closures.sites());
        sites.extend(self.health.borrow().iter().map(|watching| watching.site()));
        sites.retain(|site| site.owns);
        sites
    }

    /// Marks the host as ended, and drops all callbacks.
    pub(super) fn let_go(&self) {
        self.has_ended.set(true);
        self.core.world.mode.close_direct();
        let host = self.loads.registry.id();
        let_go(host, self.tickers.take());
        let_go(host, self.before_destroy.take());
        let_go(host, self.loads.observers.take());
        let_go(host, self.loads.unloads.callbacks.take());
        let_go(host, self.on_hang.take());
        // The names of the functions stay registered. Calls of these functions return an error after this point.
        let registered = self.registered.take().into_iter();
        let_go(host, registered.map(|Registered { code, site }| Registered { code: code.take_body(), site }));
        let_go(host, self.closures.take());
        self.drop_health();
        self.loads.registry.let_go();
    }

    /// Drops the health function.
    fn drop_health(&self) {
        if let Some(watching) = self.health.take() {
            watching.let_go(self.loads.registry.id());
        }
    }

    fn drain(&self, deadline: Duration) -> Drained {
        let (core, begun) = (&self.core, Instant::now());
        let dropped = core.finalizer.dropped();
        core.finalizer.release();
        let mark = core.finalizer.mark();
        let is_complete = wait_until(core, || begun.elapsed() >= deadline, || mark.is_passed());
        // Releases black conjugates that finalizers have dropped.
        core.owned_values.flush_all();
        Drained {
            dropped: core.finalizer.dropped() - dropped,
            pending: core.finalizer.pending(),
            failures: self.note_finalizer_failures(),
            running: core.finalizer.running(),
            is_complete,
            duration: begun.elapsed(),
        }
    }
}

impl Runtime {
    /// Waits at most for `deadline` until the finalizer thread has dropped all queued plugin parts. Runs posted closures during the wait,
    /// because a finalizer may wait for a posted closure.
    ///
    /// # Errors
    /// Fails if plugin code is on the stack.
    pub fn drain_finalizers(&self, deadline: Duration) -> Result<Drained, Error> {
        let _busy = self.at_safe_point("draining the finalizer thread")?;
        Ok(self.inner.drain(deadline))
    }

    /// Shuts the runtime down: unloads the Master, then all Slims, and waits for finalizers. Then calls the listeners of the Default.
    /// Returns a report of the images and Slims that could not be unloaded. Remaining handles of the host stay valid, and refer to a host
    /// without modules.
    ///
    /// Dropping the last handle also shuts the runtime down, but returns no report. [`std::process::exit`] does not shut the runtime down.
    /// A handle that is never dropped prevents the shutdown. See [`Contexts::raise_at_exit`](crate::Contexts::raise_at_exit) for both
    /// cases.
    ///
    /// At the end, drops all callbacks: tickers, listeners, unloading callbacks, registered functions, resolvers and handlers of load
    /// contexts. Dropping a callback that owns a handle of this host breaks a reference cycle; see [`Runtime::downgrade`]. The log contains
    /// a warning for each of these callbacks, with kind and registration site. If several callbacks share a handle, for example in an `Rc`,
    /// the log only lists the callback that is dropped last.
    ///
    /// Has no effect while plugin code or a hook of a native class is on the stack, or while an exclusive operation such as a reload is in
    /// progress. In this case, [`ShutdownReport::left`] contains the reason.
    ///
    /// # Examples
    /// ```rust
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    ///
    /// use alcedo_runtime::Runtime;
    ///
    /// let saved = Rc::new(Cell::new(false));
    /// let autosave = Rc::clone(&saved);
    /// let runtime = Runtime::builder().ticker(move |_, _| autosave.set(true)).build()?;
    /// runtime.shutdown().into_result()?;
    /// // The shutdown dropped the ticker and its captures.
    /// assert_eq!(Rc::strong_count(&saved), 1);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn shutdown(self) -> ShutdownReport {
        let inner = &self.inner;
        let _busy = match self.at_safe_point("shutting down") {
            Ok(busy) => busy,
            Err(error) => return ShutdownReport { left: vec![error.to_string()], ..ShutdownReport::default() },
        };
        let _none = inner.watch.take();
        inner.drop_health();
        inner.core.tasks.receive(&inner.core.world, &inner.core.red);
        let jobs = self.jobs();
        let unloaded = match self.generation() {
            0 => Ok(None),
            _ => master::unload(&inner.core, &inner.loads).map(|unload| Some(unload.ticket)),
        };
        inner.core.world.objects.free_graveyard();
        let mut leases = inner.end_unloads();
        let ended = inner.loads.registry.close(&inner.core, inner.loads.policy().shutdown);
        leases.extend(ended.blockers);
        // Waits for plugin parts of objects that a collection destroyed earlier. The unload of the Master has already waited for the plugin
        // parts of the Master's generation.
        let drained = inner.drain(inner.loads.policy().shutdown);
        let (refused, ticket) = match unloaded {
            Ok(ticket) => (None, ticket),
            Err(error) => (Some(error.to_string()), None),
        };
        let problems = ticket.map(|ticket| ticket.report().problems).unwrap_or_default();
        let left: Vec<String> = refused.into_iter().chain(ended.left).collect();
        let report = self.conjugates().owned_values();
        let owned_values =
            inner.core.owned_values.left().into_iter().chain(report.undropped).chain(report.live).collect();
        let objects = inner.core.world.objects.count_living() as u64;
        if let Some(agent) = inner.agent.get() {
            agent.send_end(Vec::clone(&left));
        }
        inner.let_go();
        ShutdownReport { left, owned_values, plugin_parts: drained.pending, problems, jobs, leases, objects }
    }
}
