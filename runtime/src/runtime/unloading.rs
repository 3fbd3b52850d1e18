//! What a host can ask about unloads: begin one, look at those that are under way, wait for them, give them up.

use std::rc::Rc;
use std::time::Duration;

use super::{Inner, Runtime};
use crate::callback::{LocalRegistration, Registered, Site};
use crate::error::Error;
use crate::handles::Generation;
use crate::lease::{Blocker, Lease, LeaseKind, ModuleBlocker};
use crate::load::error::LoadError;
use crate::load::master::Unload;
use crate::load::module::master::MasterModule;
use crate::reload::requests::Request;
use crate::unload::state::GenerationInfo;
use crate::unload::ticket::UnloadTicket;
use crate::unload::under_way;
use crate::unload::unloads::UnloadingCallback;

impl Inner {
    /// The host ends: what is still unloading is waited for, and then given up. Returns what kept that.
    pub(super) fn end_unloads(&self) -> Vec<Blocker> {
        let deadline = self.loads.unloads.policy.shutdown;
        if under_way::settle(&self.core, &self.loads, deadline) {
            return Vec::new();
        }
        let kept = self.loads.unloads.tickets().iter().flat_map(|ticket| ticket.report().blockers).collect();
        under_way::park(&self.core, &self.loads, None);
        kept
    }
}

/// How generations of the Master end: [`Runtime::unloads`]. Game thread only.
///
/// ```
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// # use std::time::Duration;
/// let runtime = alcedo_runtime::Runtime::builder().build()?;
/// // After a reload: are the images of the old generation gone?
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
    /// Is called before a generation ends, with its number: in an unload, and in each reload, which may yet be rolled
    /// back. Smaller priorities are called first, equal ones in the order they came. A panic in one is not another's: it
    /// is noted on the ticket of the unload.
    ///
    /// The callback stays until [`LocalRegistration`] removes it, until [`Runtime::shutdown`], or as long as the runtime, and should own no handle to it: it is given one, and
    /// [`Runtime::downgrade`] says why.
    #[track_caller]
    pub fn on_unloading(&self, priority: i32, callback: impl Fn(&Runtime, u64) + 'static) -> LocalRegistration {
        let site = Site::new("unloading callback", &callback);
        let weak = self.0.downgrade();
        let code: UnloadingCallback = Rc::new(move |generation| {
            // There is a handle until the last generation has ended: see its drop.
            weak.upgrade().iter().for_each(|runtime| callback(runtime, generation));
        });
        self.0.inner.loads.unloads.callbacks.add(priority, Registered { code, site });
        self.0.registration(site, |inner, site| inner.loads.unloads.callbacks.remove(site))
    }

    /// Keeps a module of the living Master mapped for as long as the lease is held, on whichever thread: for a host
    /// that has borrowed data of it. `owner` is how reports name the reason.
    ///
    /// # Errors
    /// When there is no such module, or it is unloading.
    #[track_caller]
    pub fn lease(&self, module: &str, owner: &str) -> Result<Lease, Error> {
        let modules = self.0.inner.loads.master().map(|master| master.modules).unwrap_or_default();
        let found = modules.iter().find(|other| other.name() == module);
        let found = found.ok_or_else(|| LoadError::NoModule { module: module.to_owned() })?;
        Ok(found.leases().take(LeaseKind::Borrow, owner)?)
    }

    /// Keeps all modules of the living Master mapped, as [`Unloads::lease`] does one of them.
    ///
    /// # Errors
    /// When there is no Master, or it is unloading.
    #[track_caller]
    pub fn lease_master(&self, owner: &str) -> Result<Lease, Error> {
        let master = self.0.inner.loads.master().ok_or(LoadError::NoMaster)?;
        let mut leases = Vec::with_capacity(master.modules.len());
        for module in &master.modules {
            leases.push(module.leases().take(LeaseKind::Borrow, owner)?);
        }
        Ok(Lease::of_all(leases).ok_or(LoadError::NoMaster)?)
    }

    /// Why the modules of the living Master would have to stay mapped now: each reason with its module.
    pub fn leases(&self) -> Vec<ModuleBlocker> {
        let modules = self.0.inner.loads.master().map(|master| master.modules).unwrap_or_default();
        let of = |module: &Rc<MasterModule>| {
            let name = module.name().to_owned();
            module.leases().report().into_iter().map(move |blocker| ModuleBlocker { module: name.clone(), blocker })
        };
        modules.iter().flat_map(of).collect()
    }

    /// The tickets of all generations that have begun to unload and are not dead, oldest first; parked ones stay in the
    /// list.
    pub fn tickets(&self) -> Vec<UnloadTicket> {
        self.0.inner.loads.unloads.tickets()
    }

    /// Waits until every generation that unloads is dead or parked, as far as `deadline` allows; returns whether all are.
    /// The events of the Master are raised meanwhile. The longest time of one look at a generation is that of the module's
    /// own exit handlers.
    ///
    /// # Errors
    /// When plugin code is on the stack.
    pub fn wait(&self, deadline: Duration) -> Result<bool, Error> {
        let _busy = self.0.at_safe_point("waiting for unloads")?;
        Ok(under_way::settle(&self.0.inner.core, &self.0.inner.loads, deadline))
    }

    /// Gives up a generation that does not come to its end: its images stay mapped until the process ends, counted and
    /// listed.
    ///
    /// # Errors
    /// When it is not on its way out, or plugin code is on the stack.
    pub fn park(&self, generation: u64) -> Result<(), Error> {
        let _busy = self.0.at_safe_point("parking a generation")?;
        match under_way::park(&self.0.inner.core, &self.0.inner.loads, Some(Generation(generation))) {
            0 => Err(LoadError::NotUnloading { generation }.into()),
            _ => Ok(()),
        }
    }

    /// Every generation of the Master that is not dead, and how far its life has come; one whose images cannot be
    /// unmapped stays in the list.
    pub fn generations(&self) -> Vec<GenerationInfo> {
        let states = self.0.inner.loads.unloads.states().into_iter();
        states.map(|(generation, state)| GenerationInfo { number: generation.0, state }).collect()
    }

    /// Images that stay mapped, and why.
    pub fn parked(&self) -> Vec<String> {
        let slims = self.0.inner.loads.registry.parked();
        self.0.inner.loads.unloads.parked().into_iter().chain(slims).collect()
    }
}

impl Runtime {
    /// Requests an unload of the Master at the next safe point. A reload that was requested and not yet done is
    /// dropped. What became of it comes out of [`Runtime::take_unloads`].
    pub fn request_unload(&self) {
        self.inner.requests.borrow_mut().push(Request::Unload);
    }

    /// The unloads done at safe points since the last time, oldest first; of more than 64 the last.
    pub fn take_unloads(&self) -> Vec<Unload> {
        self.inner.unloads.take()
    }

    /// Looks at the generations that unload. The caller stands at a safe point.
    pub(super) fn tend_unloads(&self) {
        if let Ok(_busy) = self.at_safe_point("the end of a generation") {
            under_way::tend_all(&self.inner.core, &self.inner.loads);
        }
        alcedo_sys::checkpoint();
    }
}
