//! Functions for the host's main loop: ticks, safe points, and waits for work.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use super::{Runtime, unended};
use crate::boundary::CallError;
use crate::bridge::tasks::JobInfo;
use crate::callback::{drop_caught, let_go};
use crate::error::{A_TICK, Error};
use crate::poster::Poster;
use crate::reload::requests::{self, Plan, Request};

/// Game time and time limits of one tick.
///
/// # Examples
/// ```rust
/// use std::time::Duration;
///
/// use alcedo_runtime::{Budget, Runtime};
///
/// let runtime = Runtime::builder().build()?;
/// runtime.tick(Budget::seconds(0.25).with_collection(Duration::from_micros(200)));
/// assert_eq!(runtime.game_time().as_millis(), 250);
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Game time of the tick in seconds. A number that is not a length of time, such as a NaN or a negative number, counts as zero.
    pub seconds: f32,
    /// Time limit for an incremental collection; one millisecond by default. A tick may exceed the limit by the time to destroy one object
    /// with its subobjects, including the hooks that the destruction runs. A tick may also exceed the limit by the time of the
    /// `add_references` hooks of native classes. After the mark phase, these hooks run again in each tick. If code writes references faster
    /// than the collection scans the written objects, the collection finally exceeds the limit, because it would otherwise never complete.
    pub collection: Duration,
}

impl Budget {
    /// Returns the budget of a frame at 60 Hz.
    pub fn frame() -> Self {
        Self::seconds(1.0 / 60.0)
    }

    /// Returns the budget of a tick that advances the game time by `seconds`.
    pub fn seconds(seconds: f32) -> Self {
        Self { seconds, collection: Duration::from_millis(1) }
    }

    /// Sets the time limit for an incremental collection.
    #[must_use]
    pub fn with_collection(self, collection: Duration) -> Self {
        Self { collection, ..self }
    }
}

impl Runtime {
    /// Runs one frame: advances game time, calls all tickers, runs timers and tasks of modules, then runs a safe point. During an exclusive
    /// operation such as a reload, or while plugin code borrows a slice of host memory, only logs a warning. This case occurs if a plugin
    /// calls a host function that runs a tick.
    ///
    /// On the stack of a coroutine, only advances game time and calls tickers, and logs a warning. If the stack is nearly exhausted, timers
    /// and tasks stay due until a later tick.
    ///
    /// # Examples
    /// ```rust
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    ///
    /// use alcedo_runtime::{Budget, Runtime};
    ///
    /// let frames = Rc::new(Cell::new(0));
    /// let counter = Rc::clone(&frames);
    /// let runtime = Runtime::builder().ticker(move |_, _| counter.set(counter.get() + 1)).build()?;
    /// for _ in 0..3 {
    ///     runtime.tick(Budget::frame());
    /// }
    /// assert_eq!(frames.get(), 3);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn tick(&self, budget: Budget) {
        if let Err(error) = self.may_tick() {
            log!(WARN, %error, "a tick was not done");
            return;
        }
        if let Some(agent) = self.inner.agent.get() {
            agent.ticked();
        }
        let seconds = match Duration::try_from_secs_f32(budget.seconds) {
            Ok(_) => budget.seconds,
            Err(error) => {
                log!(WARN, %error, "a tick of {} seconds counts as a tick of zero seconds", budget.seconds);
                0.0
            }
        };
        self.inner.core.tasks.advance(seconds);
        self.call_tickers(seconds);
        let core = &self.inner.core;
        if !self.code_runs() && core.red.hot().stack().is_here() {
            core.tasks.run(&core.world, &core.red);
        }
        self.safe_point_within(budget.collection);
    }

    /// Checks that code of modules can be called on this stack. A host that repeats rejected calls later can thereby distinguish rejected
    /// calls from calls that ran and returned one of these errors.
    ///
    /// # Errors
    /// Returns [`CallError::WrongStack`] on the stack of a coroutine, and [`CallError::TooDeep`] if the stack is nearly exhausted.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// assert!(runtime.may_call().is_ok());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn may_call(&self) -> Result<(), CallError> {
        self.inner.core.red.hot().may_call(&"code of a module")
    }

    /// Checks that no slice is borrowed and no exclusive operation is in progress. Plugin code may be on the stack.
    fn may_tick(&self) -> Result<(), Error> {
        self.inner.core.world.slices.allow_change(&A_TICK)?;
        let not_now = |frame: &str| Err(Error::NotASafePoint { action: A_TICK, frame: frame.to_owned() });
        self.inner.busy.get().map_or(Ok(()), not_now)
    }

    /// Checks if code of a plugin or script, or a hook of a native class, is on the stack. No safe point is possible while such code runs.
    fn code_runs(&self) -> bool {
        let core = &self.inner.core;
        core.code_runs() || core.world.stack.running_hook().is_some()
    }

    /// Calls the tickers, unless a ticker is already running.
    fn call_tickers(&self, seconds: f32) {
        if self.inner.ticking.replace(true) {
            return;
        }
        let mut panic = None;
        let gone = self.inner.tickers.round(|_priority, ticker| {
            if panic.is_none()
                && let Some(mut code) = ticker.code.take()
            {
                panic = catch_unwind(AssertUnwindSafe(|| code(self, seconds))).err();
                ticker.code.set(Some(code));
            }
        });
        self.inner.ticking.set(false);
        match self.inner.has_ended.get() {
            // A ticker has shut the host down during the loop, so the remaining tickers are dropped.
            true => let_go(self.inner.loads.registry.id(), gone),
            false => gone.into_iter().for_each(drop_caught),
        }
        // The panic of a ticker propagates to the host. All tickers stay registered.
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// Runs a safe point: runs posted closures, a requested reload and a requested collection, and frees memory, including values that
    /// plugin code has dropped on other threads. Has no effect while code of a plugin or script, or a hook of a native class, is on the
    /// stack. Only logs a warning on the stack of a coroutine. If the stack is nearly exhausted, posted closures of modules stay queued
    /// until a later safe point. Also ends the hosts of this thread whose last handle was dropped on a coroutine, and waits for their
    /// unloads like a drop of the last handle.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// // A server handles posted closures without advancing the game time.
    /// let runtime = Runtime::builder().build()?;
    /// runtime.post_handle().post(|runtime| println!("{} objects", runtime.counters().objects));
    /// runtime.safe_point();
    /// assert!(runtime.game_time().is_zero());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn safe_point(&self) {
        self.safe_point_within(Budget::frame().collection);
    }

    /// Runs a safe point, with `time` as the limit for an incremental collection.
    fn safe_point_within(&self, time: Duration) {
        let core = &self.inner.core;
        if self.code_runs() || core.world.slices.are_out() || self.inner.busy.get().is_some() {
            return;
        }
        if !core.red.hot().stack().is_here() {
            log!(WARN, "a safe point on the stack of a coroutine does nothing");
            return;
        }
        unended::end_kept();
        core.tasks.end_expired(&core.world, &core.red);
        core.pump_posted(usize::MAX);
        core.finalizer.release();
        let begun = Instant::now();
        core.owned_values.flush(&mut || begun.elapsed());
        self.inner.note_finalizer_failures();
        self.tend_unloads();
        self.inner.loads.log_uses();
        if let Some(agent) = self.inner.agent.get() {
            agent.attend(self);
        }
        // Removes the watch from its cell, because the watch logs, and a log subscriber may call this runtime.
        let is_quiet = self.inner.watch.take().is_some_and(|mut watch| {
            let is_quiet = watch.is_quiet();
            if self.has_other_watch() {
                return false;
            }
            let _none = self.inner.watch.replace(Some(watch));
            is_quiet
        });
        if let Some(master) = self.inner.loads.master().filter(|_| is_quiet) {
            let reload = Request::Reload { libraries: master.paths, scope: self.inner.watch_scope.get() };
            // Precedes the requests of the host, because the merged reload uses the libraries of the last request.
            self.inner.requests.borrow_mut().insert(0, reload);
        }
        self.attend_health();
        let requested = self.inner.requests.take();
        match requests::plan(&requested) {
            Some(Plan::Reload { libraries, scope, answers }) => match self.reload_for(&libraries, scope, answers) {
                Ok(report) => self.inner.reloads.push(report),
                Err(error) => log!(ERROR, %error, "a requested reload was not done"),
            },
            Some(Plan::Unload { moot }) => {
                if moot != 0 {
                    log!(INFO, moot, "requested reloads are skipped: an unload of the Master was also requested");
                }
                match self.unload_master() {
                    Ok(unload) => self.inner.unloads.push(unload),
                    Err(error) => log!(ERROR, %error, "a requested unload was not done"),
                }
            }
            None => {}
        }
        self.tend_collections(time);
        self.inner.core.world.objects.free_graveyard();
    }

    /// Sleeps until another thread has posted a closure or woken a task. Sleeps at most for `timeout`. Returns `true` if a closure or a
    /// woken task is pending. The host then calls [`Runtime::tick`], with zero seconds to keep the game time unchanged.
    /// [`Runtime::safe_point`] runs only the closures, so the next wait returns immediately if a task is pending. Intended for hosts that
    /// are idle between requests, such as servers. The game time, and with it the timers of plugins, does not advance during the wait.
    ///
    /// # Examples
    /// ```rust
    /// use std::time::Duration;
    ///
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let poster = runtime.post_handle();
    /// let worker = std::thread::spawn(move || poster.post(|_| println!("a request has arrived")));
    /// while !runtime.wait(Duration::from_millis(100)) {}
    /// runtime.safe_point();
    /// assert!(worker.join().unwrap());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn wait(&self, timeout: Duration) -> bool {
        !self.inner.requests.borrow().is_empty() || self.inner.core.tasks.wait(timeout)
    }

    /// Returns a [`Poster`]. Other threads use a [`Poster`] to run closures on the game thread.
    pub fn post_handle(&self) -> Poster {
        Poster::new(&self.inner.core.tasks.inbox)
    }

    /// Returns the game time since the runtime was built: the sum of all ticks. Timers and delays of modules use the game time.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Budget, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// runtime.tick(Budget::seconds(0.5));
    /// runtime.tick(Budget::seconds(0.25));
    /// assert_eq!(runtime.game_time().as_millis(), 750);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn game_time(&self) -> Duration {
        self.inner.core.tasks.now()
    }

    /// Returns pending tasks, timers and posted closures of modules, in scheduling order. If a different thread has posted a closure, the
    /// list includes the closure only after the next safe point.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// for job in runtime.jobs() {
    ///     println!("{} of {}, from {}", job.kind, job.module, job.place);
    /// }
    /// // No plugin has started a task.
    /// assert!(runtime.jobs().is_empty());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn jobs(&self) -> Vec<JobInfo> {
        self.inner.core.tasks.infos()
    }
}
