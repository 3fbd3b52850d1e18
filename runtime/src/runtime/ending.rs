//! How a host waits for finalizers, and how it ends: in order, and with a report of what was left.

use std::fmt;
use std::time::{Duration, Instant};

use super::{Inner, Runtime};
use crate::border::CallError;
use crate::bridge::tasks::JobInfo;
use crate::callback::{Registered, Site, let_go};
use crate::conjugate::BlackCount;
use crate::error::Error;
use crate::lease::Blocker;
use crate::load::master;
use crate::unload::naps::Naps;

/// How far the finalizer thread has come during a wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Plugin parts that were dropped meanwhile.
    pub dropped: u64,
    /// Those that were not: of the one whose finalizer runs, of those behind it, and of modules that were given up.
    pub pending: u64,
    /// Finalizers that panicked meanwhile, with their module. Their plugin parts count as dropped.
    pub failures: Vec<String>,
    /// The finalizer that runs on, when the deadline has passed.
    pub running: Option<Blocker>,
    /// Whether all that was handed over before has been dropped.
    pub is_complete: bool,
    /// How long it took.
    pub took: Duration,
}

/// How a runtime ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shutdown {
    /// What could not be ended, one line each: images that stay mapped, and Slims that are still unloading, and why.
    pub left: Vec<String>,
    /// Black conjugates that were not dropped, even if they were released in the end: what plugins forgot, or keep in
    /// statics, and what the host itself holds.
    pub blacks: Vec<BlackCount>,
    /// Plugin parts whose finalizers did not run or have not returned.
    pub plugin_parts: u64,
    /// Tasks, timers and posted closures that had not ended when the shutdown began. They were dropped with their module.
    pub jobs: Vec<JobInfo>,
    /// What kept code from being unmapped: of the Master's when the host gave it up, of Slims' while it waited for
    /// them.
    pub leases: Vec<Blocker>,
    /// Objects that lived when all modules were gone: those of native classes.
    pub objects: u64,
}

impl fmt::Display for Drained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dropped, pending, failures, running, is_complete, took } = self;
        let far = if *is_complete { "drained" } else { "not drained" };
        write!(f, "{far} in {:.1} s · {dropped} plugin parts dropped · {pending} wait", took.as_secs_f64())?;
        running.iter().try_for_each(|running| write!(f, "\n  {running}"))?;
        failures.iter().try_for_each(|failure| write!(f, "\n  {failure}"))
    }
}

impl Shutdown {
    /// Whether everything could be ended, as a result.
    ///
    /// # Errors
    /// What could not.
    pub fn into_result(self) -> Result<(), Error> {
        if self.left.is_empty() {
            return Ok(());
        }
        Err(CallError::other(format!("not all could be ended: {}", self.left.join("; "))).into())
    }
}

impl fmt::Display for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { left, blacks, plugin_parts, jobs, leases, objects } = self;
        let forgotten: u64 = blacks.iter().map(|count| count.count).sum();
        write!(
            f,
            "ended · {} images stay · {forgotten} black conjugates never dropped · {plugin_parts} plugin parts not finalized \
             · {} jobs cut short · {objects} objects left",
            left.len(),
            jobs.len(),
        )?;
        left.iter().try_for_each(|line| write!(f, "\n  {line}"))?;
        leases.iter().try_for_each(|lease| write!(f, "\n  {lease}"))?;
        blacks.iter().try_for_each(|count| write!(f, "\n{count}"))?;
        jobs.iter().try_for_each(|job| {
            let JobInfo { module, generation, kind, place, .. } = job;
            write!(f, "\n  {kind} of {module}, generation {generation}, from {place}")
        })
    }
}

impl Inner {
    /// Notes the failures of finalizers since the last call, and returns them. The finalizer thread has logged them.
    pub(super) fn hear_finalizers(&self) -> Vec<String> {
        let failures = self.core.finalizer.failures().into_iter();
        let noted = failures.map(|failure| {
            let problem = format!("a finalizer of {} {}", failure.module, failure.error);
            self.loads.unloads.note(failure.generation, problem.clone());
            problem
        });
        noted.collect()
    }

    /// The callbacks that may own something, a handle to this runtime for instance.
    fn sites(&self) -> Vec<Site> {
        let mut sites = self.tickers.sites();
        sites.extend(self.before_destroy.sites());
        sites.extend(self.loads.observers.sites());
        sites.extend(self.loads.unloads.callbacks.sites());
        sites.extend(self.functions.borrow().iter().map(|function| function.site));
        sites.extend(self.resolvers.borrow().iter().map(|resolver| resolver.site));
        sites.extend(self.closures.sites());
        sites.retain(Site::owns);
        sites
    }

    /// Lets every callback go, because the host has ended.
    pub(super) fn let_go(&self) {
        self.has_ended.set(true);
        self.core.world.mode.close_direct();
        let host = self.loads.registry.id();
        let_go(host, self.tickers.take());
        let_go(host, self.before_destroy.take());
        let_go(host, self.loads.observers.take());
        let_go(host, self.loads.unloads.callbacks.take());
        let_go(host, self.on_hang.take());
        // These stay registered under their names, and answer that the runtime has ended.
        let functions = self.functions.take().into_iter();
        let_go(host, functions.map(|Registered { code, site }| Registered { code: code.take(), site }));
        let resolvers = self.resolvers.take().into_iter();
        let_go(host, resolvers.map(|Registered { code, site }| Registered { code: code.take(), site }));
        let_go(host, self.closures.take());
        self.loads.registry.let_go();
    }

    fn drain(&self, deadline: Duration) -> Drained {
        let (core, begun) = (&self.core, Instant::now());
        let dropped = core.finalizer.dropped();
        core.finalizer.release();
        let mark = core.finalizer.mark();
        let mut naps = Naps::default();
        let is_complete = loop {
            if mark.is_passed() {
                break true;
            }
            if begun.elapsed() >= deadline {
                break false;
            }
            core.meanwhile();
            naps.sleep();
        };
        // What the finalizers have dropped of blacks.
        core.blacks.flush_all();
        Drained {
            dropped: core.finalizer.dropped() - dropped,
            pending: core.finalizer.pending(),
            failures: self.hear_finalizers(),
            running: core.finalizer.running(),
            is_complete,
            took: begun.elapsed(),
        }
    }
}

impl Runtime {
    /// The callbacks that may own a handle to this.
    pub(super) fn callbacks_that_own(&self) -> Vec<Site> {
        self.inner.sites()
    }

    /// Waits until the finalizer thread has dropped every plugin part that was handed to it, as far as `deadline` allows.
    /// Closures that were posted to the game thread are run meanwhile: a finalizer may wait for one.
    ///
    /// # Errors
    /// When plugin code is on the stack.
    pub fn drain_finalizers(&self, deadline: Duration) -> Result<Drained, Error> {
        let _busy = self.at_safe_point("draining the finalizer thread")?;
        Ok(self.inner.drain(deadline))
    }

    /// Ends the runtime in order: the Master is unloaded, then every Slim; finalizers are waited for, and what could not be
    /// ended, or was left behind, is reported. Listeners to the Default are called last. Other handles to the runtime
    /// see a host without modules.
    ///
    /// The drop of the last handle does the same without a report. It is not done by [`std::process::exit`], nor where the
    /// last handle is never dropped: see [`Contexts::tell_at_exit`](crate::Contexts::tell_at_exit) for what can be had then.
    ///
    /// Last, as in the drop of the last handle, every callback is dropped: tickers, listeners, unloading callbacks,
    /// registered functions, resolvers and handlers of its load contexts. That opens the circle that a callback closes
    /// which owns a handle to this host, see [`Runtime::downgrade`]: it is named in the log, as a warning, with its
    /// kind and the place where it was registered. Where several own a handle together, in an `Rc` for one, it is the
    /// last of them.
    ///
    /// While plugin code is on the stack, or something is under way, nothing is done, and the report's `left` says so.
    pub fn shutdown(self) -> Shutdown {
        let inner = &self.inner;
        let _busy = match self.at_safe_point("shutting down") {
            Ok(busy) => busy,
            Err(error) => return Shutdown { left: vec![error.to_string()], ..Shutdown::default() },
        };
        let _none = inner.watch.take();
        let jobs = self.jobs();
        let unloaded =
            if self.generation() == 0 { Ok(()) } else { master::unload(&inner.core, &inner.loads).map(drop) };
        inner.core.world.objects.free_graveyard();
        let mut leases = inner.end_unloads();
        let slims = inner.loads.registry.close(inner.loads.unloads.policy.shutdown);
        leases.extend(slims.blockers);
        // Those of objects that were collected before; a generation's own were waited for with its images.
        let drained = inner.drain(inner.loads.unloads.policy.shutdown);
        let masters = match unloaded {
            Ok(()) => inner.loads.unloads.parked(),
            Err(error) => vec![error.to_string()],
        };
        let left: Vec<String> = masters.into_iter().chain(slims.left).collect();
        let report = self.conjugates().blacks();
        let blacks = inner.core.blacks.left().into_iter().chain(report.undropped).chain(report.live).collect();
        let objects = self.objects().all().len() as u64;
        if let Some(agent) = inner.agent.get() {
            agent.tell_end(Vec::clone(&left));
        }
        inner.let_go();
        Shutdown { left, blacks, plugin_parts: drained.pending, jobs, leases, objects }
    }
}
