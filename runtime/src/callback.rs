//! Callbacks that a host has registered. Each callback has a kind, and a location in the source of the host.
//!
//! A callback that owns a handle of its own host forms a reference cycle with the host. The reference count of the host does not indicate
//! if a callback owns a handle. A runtime or context that ends therefore drops its callbacks one by one, and counts the handles that each
//! drop releases. Dropping the callbacks breaks every cycle. The log lists the callbacks that owned a handle.

use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use crate::panic_guard;
use crate::sync::lock;

/// Name prefix of the classes that the host generates for closures bound to delegates. These classes exist only in this process. World
/// files contain no objects of these classes, and the declarations of the host do not contain these classes.
pub(crate) const CLOSURE: &str = "HostClosure";

/// Checks if the class with this path represents a closure of the host.
pub(crate) fn is_closure(class: &str) -> bool {
    class.strip_prefix("/Script/Core.").is_some_and(|name| name.starts_with(CLOSURE))
}

/// Identity and source location of a registered callback.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// Number of the registration, unique in the process.
    number: u64,
    kind: &'static str,
    name: Option<&'static str>,
    location: &'static Location<'static>,
    /// True if the callback has captures.
    pub owns: bool,
}

impl Site {
    /// Creates the site of a callback that the caller registers. All functions between the host's call and this function must be
    /// `#[track_caller]`.
    #[track_caller]
    pub(crate) fn new<C>(kind: &'static str, callback: &C) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        Self { number, kind, name: None, location: Location::caller(), owns: size_of_val(callback) != 0 }
    }

    pub(crate) fn name_newest<'a>(sites: impl Iterator<Item = &'a mut Self>, name: &'static str) {
        match sites.max_by_key(|site| site.number) {
            Some(site) => site.name = Some(name),
            None => log!(WARN, name, "no callback is named: `named` follows `ticker`, `on_event` and the like"),
        }
    }

    /// Checks if both sites belong to one registration.
    pub(crate) fn is(&self, other: Self) -> bool {
        self.number == other.number
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, location, .. } = self;
        self.name.iter().try_for_each(|name| write!(f, "`{name}`, a "))?;
        write!(f, "{kind} from {}:{}", location.file(), location.line())
    }
}

#[derive(Clone)]
pub(crate) struct Registered<C> {
    pub code: C,
    pub site: Site,
}

/// Callbacks of one kind in call order: by ascending priority, then in the order of registration. Can be used on any thread if `C` is
/// `Send` and `Sync`.
pub(crate) struct Callbacks<C>(Mutex<Listed<C>>);

/// Callbacks with their priorities. A round of calls uses the list that exists at the start of the round.
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
        lock(&self.0)
    }

    pub(crate) fn sites(&self) -> Vec<Site> {
        self.list().iter().map(|(_priority, callback)| callback.site).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list().is_empty()
    }
}

impl<C: Clone> Callbacks<C> {
    pub(crate) fn add(&self, priority: i32, callback: Registered<C>) {
        let mut list = self.list();
        let at = list.partition_point(|(other, _)| *other <= priority);
        Arc::make_mut(&mut list).insert(at, (priority, callback));
    }

    pub(crate) fn remove(&self, site: Site) {
        let mut list = self.list();
        let at = list.iter().position(|(_priority, callback)| callback.site.is(site));
        let removed = at.map(|at| Arc::make_mut(&mut list).remove(at));
        drop(list);
        removed.into_iter().for_each(|(_priority, callback)| drop_caught(callback));
    }

    pub(crate) fn take(&self) -> Vec<Registered<C>> {
        let list = std::mem::take(&mut *self.list());
        Arc::unwrap_or_clone(list).into_iter().map(|(_priority, callback)| callback).collect()
    }

    /// Calls each callback and passes its priority. Skips callbacks that are removed during the round. No lock is held during a call. If
    /// the list has changed during the round, returns the callbacks of the old list. The caller must then drop these callbacks.
    #[must_use]
    pub(crate) fn round(&self, mut call: impl FnMut(i32, &Registered<C>)) -> Vec<Registered<C>> {
        let round = {
            let list = self.list();
            if list.is_empty() {
                return Vec::new();
            }
            Arc::clone(&*list)
        };
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

    /// Calls each callback like [`Callbacks::round`], and drops the returned callbacks.
    pub(crate) fn each(&self, call: impl FnMut(i32, &Registered<C>)) {
        self.round(call).into_iter().for_each(drop_caught);
    }
}

/// A registered callback. Only `remove` removes the callback. Dropping this value has no effect.
///
/// After the removal, later events do not call the callback. A round of calls that has already begun on another thread may still call the
/// callback. The captures of the callback are dropped when the last of these calls has returned. Removal has no effect if the context or
/// runtime has ended, or if the callback was already removed or replaced.
///
/// Methods that register a callback with a running host return this type. [`Runtime::registrations`](crate::Runtime::registrations) also
/// returns the registrations made with a [`Builder`](crate::Builder) or [`Natives`](crate::native::Natives).
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Registration, Runtime};
///
/// let runtime = Runtime::builder().build()?;
/// let registration: Registration = runtime.contexts().on_event(|event| println!("{event}"));
/// registration.remove();
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub struct Registration<F: ?Sized + FnOnce() = dyn FnOnce() + Send + Sync> {
    site: Site,
    remove: Box<F>,
}

/// A [`Registration`] of a callback with a runtime. Game thread only.
pub type LocalRegistration = Registration<dyn FnOnce()>;

impl<F: ?Sized + FnOnce()> Registration<F> {
    pub(crate) fn new(site: Site, remove: Box<F>) -> Self {
        Self { site, remove }
    }

    /// Returns the name of the callback. Returns `None` if the host set no name with [`Builder::named`](crate::Builder::named).
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        self.site.name
    }

    /// Removes the callback. See [`Registration`] for calls in progress on other threads.
    pub fn remove(self) {
        (self.remove)();
    }

    /// Returns a guard that removes the callback when dropped.
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

/// Removes a callback when dropped; see [`Registration::guard`].
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
///
/// let runtime = Runtime::builder().build()?;
/// {
///     let _guard = runtime.unloads().on_unloading(0, |_, generation| println!("{generation} ends")).guard();
///     assert_eq!(runtime.registrations().len(), 1);
/// }
/// assert!(runtime.registrations().is_empty());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[must_use = "the callback is removed when this is dropped"]
#[derive(Debug)]
pub struct RegistrationGuard<F: ?Sized + FnOnce() = dyn FnOnce() + Send + Sync>(Option<Registration<F>>);

impl<F: ?Sized + FnOnce()> Drop for RegistrationGuard<F> {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(Registration::remove);
    }
}

/// Identity of a host. A runtime and its load contexts have equal identities.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HostId(usize);

impl HostId {
    /// Returns the identity of the host that owns `shared`. Hosts that exist at the same time have different identities.
    pub(crate) fn of<T>(shared: &Weak<T>) -> Self {
        Self(shared.as_ptr().addr())
    }
}

/// Owned or shared code of the host. Dropping this value does not panic: panics of captured values are logged.
pub(crate) struct Guarded<C>(Option<C>);

/// Reference to a callback during a call. If the callback is removed during the call, dropping this reference drops the captures of the
/// callback.
pub(crate) type Share<C> = Guarded<Arc<C>>;

impl<C> Guarded<C> {
    pub(crate) fn new(code: C) -> Self {
        Self(Some(code))
    }

    pub(crate) fn take(mut self) -> C {
        self.0.take().expect("it is set until it is taken")
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
        self.0.as_ref().expect("it is set until it is taken")
    }
}

impl<C> Drop for Guarded<C> {
    fn drop(&mut self) {
        let code = self.0.take();
        if let Err(message) = panic_guard::caught(|| drop(code)) {
            log!(ERROR, message, "a value owned by a callback panicked when it was dropped");
        }
    }
}

thread_local! {
    /// Host for which this thread currently counts dropped handles, and the number of handles dropped so far.
    static COUNTED: Cell<(Option<HostId>, u32)> = const { Cell::new((None, 0)) };
}

/// Counts the drop of a handle. Calls `host` only while this thread counts handles.
#[inline]
pub(crate) fn handle_goes(host: impl FnOnce() -> HostId) {
    let (counted, count) = COUNTED.get();
    if counted.is_some() && counted == Some(host()) {
        COUNTED.set((counted, count + 1));
    }
}

/// Runs `code`, and returns the number of handles of `host` that `code` drops on this thread.
fn handles_that_go(host: HostId, code: impl FnOnce()) -> u32 {
    let before = COUNTED.replace((Some(host), 0));
    code();
    let (_, count) = COUNTED.replace(before);
    // A drop during a nested call of this function also counts for the outer call.
    if let (Some(outer), so_far) = before
        && outer == host
    {
        COUNTED.set((before.0, so_far + count));
    }
    count
}

/// Drops callbacks of `host` one by one, and logs the callbacks that owned a handle of `host`. The caller must hold no lock and no borrow
/// of the callbacks, because destructors of captures may access the callbacks.
pub(crate) fn let_go<C>(host: HostId, callbacks: impl IntoIterator<Item = Registered<C>>) {
    for Registered { code, site } in callbacks {
        let handles = handles_that_go(host, || drop_caught(Registered { code, site }));
        if handles != 0 {
            log!(
                WARN,
                callback = %site,
                handles,
                "a callback owned a handle to its own host, so neither would have been dropped: use the handle that is \
                 passed to the callback, or let the callback own the result of `downgrade`"
            );
        }
    }
}

/// Drops a callback with its captures. The caller must hold no lock, because destructors of captures may call this module again.
pub(crate) fn drop_caught<C>(Registered { code, site }: Registered<C>) {
    if let Err(message) = panic_guard::caught(|| drop(code)) {
        log!(ERROR, callback = %site, message, "a value owned by a callback panicked when it was dropped");
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
    fn handles_count_only_for_their_host_and_in_enclosing_drops() {
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
    fn a_panic_in_a_callback_drop_does_not_stop_other_drops() {
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
