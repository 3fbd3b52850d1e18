//! Unloading of Master generations, for code of the host: requests, progress, waits and parking.

use std::rc::Rc;
use std::time::Duration;

use super::{Inner, Runtime};
use crate::callback::{LocalRegistration, Registered, Site};
use crate::error::Error;
use crate::handles::Generation;
use crate::lease::{Blocker, Lease, LeaseKind, ModuleBlocker};
use crate::load::error::LoadError;
use crate::load::master::{Unload, UnloadingCallback, in_progress};
use crate::load::module::master::MasterModule;
use crate::reload::requests::Request;
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;

impl Inner {
    /// Waits for unloads in progress when the host ends. If an unload exceeds the time limit, parks its generation. Returns the blockers of
    /// the parked generations.
    pub(super) fn end_unloads(&self) -> Vec<Blocker> {
        let deadline = self.loads.policy().shutdown;
        if in_progress::wait_for_all(&self.core, &self.loads, deadline) {
            return Vec::new();
        }
        let unloads = self.loads.unloads.in_progress.borrow().clone();
        let kept = unloads.iter().flat_map(|unload| unload.ticket.report().blockers).collect();
        in_progress::park(&self.core, &self.loads, None);
        kept
    }
}

/// Access to unloads of Master generations; see [`Runtime::unloads`]. Game thread only.
///
/// ```
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// # use std::time::Duration;
/// let runtime = alcedo_runtime::Runtime::builder().build()?;
/// // After a reload: checks if the images of the old generation are unmapped.
/// let is_gone = runtime.unloads().wait(Duration::from_secs(1))?;
/// for ticket in runtime.unloads().tickets() {
///     println!("{}", ticket.report());
/// }
/// assert!(is_gone && runtime.unloads().parked().is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Unloads<'a>(pub(super) &'a Runtime);

impl Unloads<'_> {
    /// Adds a callback that runs before a generation ends. The callback receives the number of this generation. The callback runs in each
    /// unload and in each reload. The reload may still be rolled back after the callback has run. Callbacks run in ascending order of
    /// priority. Callbacks with equal priorities run in the order of registration. A panic of a callback is recorded in the ticket of the
    /// unload, and the remaining callbacks run.
    ///
    /// The callback stays registered until the host calls [`Registration::remove`](crate::Registration::remove) or [`Runtime::shutdown`],
    /// or until the runtime ends. The callback should use its `&Runtime` argument and own no handle of the runtime; see
    /// [`Runtime::downgrade`].
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let saving = runtime.unloads().on_unloading(0, |runtime, generation| {
    ///     println!("generation {generation} ends with {} objects", runtime.counters().objects);
    /// });
    /// assert_eq!(runtime.registrations().len(), 1);
    /// saving.remove();
    /// assert!(runtime.registrations().is_empty());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[track_caller]
    pub fn on_unloading(&self, priority: i32, callback: impl Fn(&Runtime, u64) + 'static) -> LocalRegistration {
        let site = Site::new("unloading callback", &callback);
        let weak = self.0.downgrade();
        let code: UnloadingCallback = Rc::new(move |generation| {
            // Always succeeds, because a handle exists until the last generation has ended; see the `Drop` of `Runtime`.
            weak.upgrade().iter().for_each(|runtime| callback(runtime, generation));
        });
        self.0.inner.loads.unloads.callbacks.add(priority, Registered { code, site });
        self.0.registration(site, |inner, site| inner.loads.unloads.callbacks.remove(site))
    }

    /// Keeps a module of the current Master mapped until the returned lease is dropped. Intended for hosts that borrow data of the module.
    /// Any thread may hold and drop the lease. Reports list `owner` as the holder of the lease.
    ///
    /// # Errors
    /// Fails if the module is unknown or unloading.
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # let runtime = alcedo_runtime::Runtime::builder().build()?;
    /// runtime.create_master(&["/opt/game/plugins/libweather.so"])?;
    /// let lease = runtime.unloads().lease("weather", "the renderer draws its clouds")?;
    /// for held in runtime.unloads().leases() {
    ///     println!("{held}");
    /// }
    /// drop(lease);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn lease(&self, module: &str, owner: &str) -> Result<Lease, Error> {
        let modules = self.0.inner.loads.modules();
        let found = modules.iter().find(|other| other.name() == module);
        let found = found.ok_or_else(|| LoadError::NoModule { module: module.to_owned() })?;
        Ok(found.leases().take(LeaseKind::Borrow, owner)?)
    }

    /// Keeps all modules of the current Master mapped until the returned lease is dropped. See [`Unloads::lease`].
    ///
    /// # Errors
    /// Fails if no Master is loaded, or if the Master is unloading.
    #[track_caller]
    pub fn lease_master(&self, owner: &str) -> Result<Lease, Error> {
        let master = self.0.inner.loads.master().ok_or(LoadError::NoMaster)?;
        let mut leases = Vec::with_capacity(master.modules.len());
        for module in &master.modules {
            leases.push(module.leases().take(LeaseKind::Borrow, owner)?);
        }
        Ok(Lease::of_all(leases).ok_or(LoadError::NoMaster)?)
    }

    /// Returns all leases on modules of the current Master, each with the name of its module.
    pub fn leases(&self) -> Vec<ModuleBlocker> {
        let of = |module: &Rc<MasterModule>| {
            let name = module.name().to_owned();
            module.leases().report().into_iter().map(move |blocker| ModuleBlocker { module: name.clone(), blocker })
        };
        self.0.inner.loads.modules().iter().flat_map(of).collect()
    }

    /// Returns the tickets of all generations that are unloading or parked, oldest first.
    pub fn tickets(&self) -> Vec<UnloadTicket> {
        self.0.inner.loads.registry.masters.unloads().into_iter().map(|(_, ticket)| ticket).collect()
    }

    /// Waits until all unloading generations are unmapped or parked. Waits at most for `deadline`. Returns `false` if a generation is still
    /// unloading. Raises events of the Master during the wait. Exit handlers of a module can extend the wait beyond the deadline.
    ///
    /// # Errors
    /// Fails if plugin code is on the stack.
    ///
    /// # Examples
    /// ```rust,no_run
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # use std::time::Duration;
    /// # let runtime = alcedo_runtime::Runtime::builder().build()?;
    /// runtime.reload(&["/opt/game/plugins/libweather.so"])?;
    /// if !runtime.unloads().wait(Duration::from_secs(1))? {
    ///     for ticket in runtime.unloads().tickets() {
    ///         eprintln!("{}", ticket.report());
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait(&self, deadline: Duration) -> Result<bool, Error> {
        let _busy = self.0.at_safe_point("waiting for unloads")?;
        Ok(in_progress::wait_for_all(&self.0.inner.core, &self.0.inner.loads, deadline))
    }

    /// Parks a generation whose unload is blocked: its images stay mapped until the process ends. [`Unloads::parked`] lists these images.
    ///
    /// # Errors
    /// Fails if the generation is not unloading, or if plugin code is on the stack.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// // This generation is not unloading.
    /// assert!(runtime.unloads().park(7).is_err());
    /// assert!(runtime.unloads().generations().is_empty());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn park(&self, generation: u64) -> Result<(), Error> {
        let _busy = self.0.at_safe_point("parking a generation")?;
        match in_progress::park(&self.0.inner.core, &self.0.inner.loads, Some(Generation(generation))) {
            0 => Err(LoadError::NotUnloading { generation }.into()),
            _ => Ok(()),
        }
    }

    /// Returns the number and the state of each generation of the Master that is still mapped, including generations that stay mapped
    /// permanently.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{ContextState, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let generations = runtime.unloads().generations();
    /// assert!(generations.iter().all(|(_generation, state)| *state != ContextState::Blocked));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn generations(&self) -> Vec<(u64, ContextState)> {
        let states = self.0.inner.loads.registry.masters.states().into_iter();
        states.map(|(generation, state)| (generation.0, state)).collect()
    }

    /// Returns the parked images, each with the reason.
    pub fn parked(&self) -> Vec<String> {
        self.0.inner.loads.registry.parked()
    }
}

impl Runtime {
    /// Requests an unload of the Master at the next safe point, and discards pending reload requests. [`Runtime::take_unloads`] returns the
    /// result.
    pub fn request_unload(&self) {
        self.inner.requests.borrow_mut().push(Request::Unload);
    }

    /// Removes and returns the results of unloads at safe points, oldest first. The runtime stores the last 64 unloads.
    pub fn take_unloads(&self) -> Vec<Unload> {
        self.inner.unloads.take()
    }

    /// Advances the unloads in progress. Must be called at a safe point.
    pub(super) fn tend_unloads(&self) {
        if let Ok(_busy) = self.at_safe_point("the end of a generation") {
            in_progress::tend_all(&self.inner.core, &self.inner.loads);
        }
        alcedo_sys::checkpoint();
    }
}
