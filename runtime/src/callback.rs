//! What a host has registered to be called: each callback with its kind and the place in the host's source.
//!
//! A callback belongs to its host, so one that owns a handle to that host closes a circle: neither can go by itself, and no
//! reference count distinguishes such a handle from one that is in use elsewhere. What can be observed is which handles
//! are dropped together with a callback. So a runtime or context that ends drops its callbacks one by one, which breaks
//! every circle, and names those that owned a handle.

use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::trap;

/// How the names of the classes begin whose objects are closures that delegates are bound to. They are this process's own: no file of a
/// world has them.
pub(crate) const CLOSURE: &str = "HostClosure";

/// Where a callback comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// Distinguishes it from all other callbacks of the process.
    number: u64,
    kind: &'static str,
    name: Option<&'static str>,
    place: &'static Location<'static>,
    owns: bool,
}

impl Site {
    /// Of this callback and kind, registered by the caller. The callers between this one and the host's own line have to be
    /// `#[track_caller]`, too.
    #[track_caller]
    pub(crate) fn new<C>(kind: &'static str, callback: &C) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        Self { number, kind, name: None, place: Location::caller(), owns: size_of_val(callback) != 0 }
    }

    /// Names the newest of these callbacks.
    pub(crate) fn name_newest<'a>(sites: impl Iterator<Item = &'a mut Self>, name: &'static str) {
        match sites.max_by_key(|site| site.number) {
            Some(site) => site.name = Some(name),
            None => tracing::warn!(name, "no callback is named: `named` follows `ticker`, `on_event` and the like"),
        }
    }

    /// Checks that it is that of the very same registration.
    pub(crate) fn is(&self, other: Self) -> bool {
        self.number == other.number
    }

    /// Whether it may own anything.
    pub(crate) fn owns(&self) -> bool {
        self.owns
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, place, .. } = self;
        self.name.iter().try_for_each(|name| write!(f, "`{name}`, a "))?;
        write!(f, "{kind} from {}:{}", place.file(), place.line())
    }
}

/// A callback and where it comes from.
#[derive(Clone)]
pub(crate) struct Registered<C> {
    /// What is called.
    pub code: C,
    /// Where it comes from.
    pub site: Site,
}

/// Callbacks of one kind: smaller priorities are called first, equal ones in the order they came. Any thread, if the callbacks are.
pub(crate) struct Callbacks<C>(Mutex<Listed<C>>);

/// The callbacks with their priorities. A round shares the list as it was when the round began.
type Listed<C> = Arc<Vec<(i32, Registered<C>)>>;

impl<C> Default for Callbacks<C> {
    fn default() -> Self {
        Self(Mutex::new(Arc::new(Vec::new())))
    }
}

impl<C> FromIterator<Registered<C>> for Callbacks<C> {
    fn from_iter<T: IntoIterator<Item = Registered<C>>>(callbacks: T) -> Self {
        Self(Mutex::new(Arc::new(callbacks.into_iter().map(|callback| (0, callback)).collect())))
    }
}

impl<C> Callbacks<C> {
    fn list(&self) -> MutexGuard<'_, Listed<C>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the site of each callback.
    pub(crate) fn sites(&self) -> Vec<Site> {
        self.list().iter().map(|(_priority, callback)| callback.site).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list().is_empty()
    }
}

impl<C: Clone> Callbacks<C> {
    /// Adds one.
    pub(crate) fn add(&self, priority: i32, callback: Registered<C>) {
        let mut list = self.list();
        let at = list.partition_point(|(other, _)| *other <= priority);
        Arc::make_mut(&mut list).insert(at, (priority, callback));
    }

    /// Takes one back.
    pub(crate) fn remove(&self, site: Site) {
        let mut list = self.list();
        let at = list.iter().position(|(_priority, callback)| callback.site.is(site));
        let removed = at.map(|at| Arc::make_mut(&mut list).remove(at));
        drop(list);
        removed.into_iter().for_each(|(_priority, callback)| drop_caught(callback));
    }

    /// Takes all of them out.
    pub(crate) fn take(&self) -> Vec<Registered<C>> {
        let list = std::mem::take(&mut *self.list());
        Arc::unwrap_or_clone(list).into_iter().map(|(_priority, callback)| callback).collect()
    }

    /// Calls each with its priority, except those that are taken back during the round. No lock is held during a call. Returns the
    /// callbacks of which the round has the last share.
    #[must_use]
    pub(crate) fn round(&self, mut call: impl FnMut(i32, &Registered<C>)) -> Vec<Registered<C>> {
        let round = Arc::clone(&*self.list());
        for (priority, callback) in round.iter() {
            let is_listed = {
                let now = self.list();
                Arc::ptr_eq(&now, &round) || now.iter().any(|(_priority, other)| other.site.is(callback.site))
            };
            if is_listed {
                call(*priority, callback);
            }
        }
        Arc::into_inner(round).into_iter().flatten().map(|(_priority, callback)| callback).collect()
    }

    /// Calls each as [`Callbacks::round`] does.
    pub(crate) fn each(&self, call: impl FnMut(i32, &Registered<C>)) {
        self.round(call).into_iter().for_each(drop_caught);
    }
}

/// A callback that was registered, and the way to take it back. It stays registered when this is dropped.
///
/// A callback that was taken back is not called for later events. A round of calls that has begun on another thread may still call
/// it. What the callback owns is dropped when the last such call has returned. Taking back a callback whose context or runtime has
/// ended, that another one has replaced, or that was taken back before, has no effect.
///
/// Methods that register with a running host return it. For what a [`Builder`](crate::Builder) or
/// [`Natives`](crate::native::Natives) have registered, [`Runtime::registrations`](crate::Runtime::registrations) does.
pub struct Registration<F: ?Sized + FnOnce() = dyn FnOnce() + Send + Sync> {
    site: Site,
    remove: Box<F>,
}

/// A [`Registration`] with a runtime, on its game thread.
pub type LocalRegistration = Registration<dyn FnOnce()>;

impl Registration {
    pub(crate) fn new(site: Site, remove: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self { site, remove: Box::new(remove) }
    }
}

impl LocalRegistration {
    pub(crate) fn local(site: Site, remove: impl FnOnce() + 'static) -> Self {
        Self { site, remove: Box::new(remove) }
    }
}

impl<F: ?Sized + FnOnce()> Registration<F> {
    /// The name of the callback, if it has one: [`Builder::named`](crate::Builder::named).
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        self.site.name
    }

    /// Takes the callback back.
    pub fn remove(self) {
        (self.remove)();
    }

    /// Takes the callback back when the guard is dropped.
    pub fn guard(self) -> RegistrationGuard<F> {
        RegistrationGuard(Some(self))
    }
}

impl<F: ?Sized + FnOnce()> fmt::Debug for Registration<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.site.name {
            Some(_) => write!(f, "the registration of {}", self.site),
            None => write!(f, "the registration of a {}", self.site),
        }
    }
}

/// Takes a callback back when it is dropped: [`Registration::guard`].
#[must_use = "the callback is taken back when this is dropped"]
#[derive(Debug)]
pub struct RegistrationGuard<F: ?Sized + FnOnce() = dyn FnOnce() + Send + Sync>(Option<Registration<F>>);

impl<F: ?Sized + FnOnce()> Drop for RegistrationGuard<F> {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(Registration::remove);
    }
}

/// Which host a handle leads to: the same number for a runtime and for its load contexts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HostId(usize);

impl HostId {
    /// The number of the host that this belongs to. Another host has another one as long as both are there.
    pub(crate) fn of<T>(shared: &Weak<T>) -> Self {
        Self(shared.as_ptr().addr())
    }
}

/// Code of the host, or a share of it, with what it owns. Its drop does not panic: a panic of what it owns is logged.
pub(crate) struct Guarded<C>(Option<C>);

/// A share of a callback, for as long as it is called: the callback may be dropped meanwhile, and then what it owns is
/// dropped with this share.
pub(crate) type Share<C> = Guarded<Arc<C>>;

impl<C> Guarded<C> {
    pub(crate) fn new(code: C) -> Self {
        Self(Some(code))
    }

    /// The code, to be called once.
    pub(crate) fn take(mut self) -> C {
        self.0.take().expect("it goes with this")
    }
}

impl<C: ?Sized> Share<C> {
    pub(crate) fn of(code: &Arc<C>) -> Self {
        Self::new(Arc::clone(code))
    }
}

impl<C> Deref for Guarded<C> {
    type Target = C;

    fn deref(&self) -> &C {
        self.0.as_ref().expect("it goes with this")
    }
}

impl<C> Drop for Guarded<C> {
    fn drop(&mut self) {
        let code = self.0.take();
        if let Err(message) = trap::caught(|| drop(code)) {
            tracing::error!(message, "what a callback owned panicked when it was dropped");
        }
    }
}

thread_local! {
    /// Of which host handles are counted on this thread, and how many of them went.
    static COUNTED: Cell<(Option<HostId>, u32)> = const { Cell::new((None, 0)) };
}

/// A handle to a host is dropped. Which host is looked at only where handles are counted.
#[inline]
pub(crate) fn handle_goes(host: impl FnOnce() -> HostId) {
    let (counted, count) = COUNTED.get();
    if counted.is_some() && counted == Some(host()) {
        COUNTED.set((counted, count + 1));
    }
}

/// How many handles to `host` go while `code` runs on this thread.
fn handles_that_go(host: HostId, code: impl FnOnce()) -> u32 {
    let before = COUNTED.replace((Some(host), 0));
    code();
    let (_, count) = COUNTED.replace(before);
    // What goes inside of what goes counts for both.
    if let (Some(outer), so_far) = before
        && outer == host
    {
        COUNTED.set((before.0, so_far + count));
    }
    count
}

/// Drops callbacks of `host`, one by one, and logs which of them owned a handle to it. They must not be borrowed, and no
/// lock may be held: what they own may come back in here when it is dropped.
pub(crate) fn let_go<C>(host: HostId, callbacks: impl IntoIterator<Item = Registered<C>>) {
    for Registered { code, site } in callbacks {
        let handles = handles_that_go(host, || drop_caught(Registered { code, site }));
        if handles != 0 {
            tracing::warn!(
                callback = %site,
                handles,
                "a callback owned a handle to the host that it belongs to: without this end, neither would have gone; use \
                 the handle that it is given, or let it own what `downgrade` gives"
            );
        }
    }
}

/// Drops a callback, and what it owns. No lock may be held: what it owns may come back in here.
pub(crate) fn drop_caught<C>(Registered { code, site }: Registered<C>) {
    if let Err(message) = trap::caught(|| drop(code)) {
        tracing::error!(callback = %site, message, "what a callback owned panicked when it was dropped");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{HostId, Registered, Site, handle_goes, handles_that_go, let_go};

    struct Handle(HostId);

    impl Drop for Handle {
        fn drop(&mut self) {
            handle_goes(|| self.0);
        }
    }

    #[test]
    fn handles_are_counted_for_their_host_only_and_in_each_drop_that_they_are_part_of() {
        let (one, other) = (Arc::new(1), Arc::new(2));
        let [one, other] = [&one, &other].map(|shared| HostId::of(&Arc::downgrade(shared)));
        let handle = || Handle(one);
        drop(handle());
        assert_eq!(handles_that_go(one, || drop((handle(), Handle(other)))), 1);
        let mut inner = 0;
        let outer = handles_that_go(one, || {
            drop(handle());
            inner = handles_that_go(one, || drop([handle(), handle()]));
            let _not_ours = handles_that_go(other, || drop(handle()));
        });
        assert_eq!((inner, outer), (2, 3));
    }

    #[test]
    fn a_callback_that_panics_when_it_is_dropped_keeps_no_other_from_going() {
        struct Panics;
        impl Drop for Panics {
            fn drop(&mut self) {
                panic!("on purpose");
            }
        }
        let kept = Arc::new(());
        let last = Arc::clone(&kept);
        let callbacks: [Box<dyn Fn()>; 2] = [
            {
                let panics = Panics;
                Box::new(move || {
                    let _owned = &panics;
                })
            },
            Box::new(move || {
                let _owned = &last;
            }),
        ];
        let site = Site::new("test", &());
        let_go(HostId::of(&Arc::downgrade(&kept)), callbacks.map(|code| Registered { code, site }));
        assert_eq!(Arc::strong_count(&kept), 1);
    }
}
