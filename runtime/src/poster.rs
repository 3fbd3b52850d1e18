//! Handle with which other threads of the host run closures on the game thread.

use std::any::Any;
use std::sync::Arc;

use crate::bridge::tasks::Inbox;
use crate::callback::Guarded;
use crate::runtime::Runtime;

/// Posts closures to the game thread. Can be used on any thread. A clone posts to the same runtime. Does not keep the runtime alive.
///
/// # Examples
/// ```rust
/// use std::cell::Cell;
///
/// use alcedo_runtime::Runtime;
///
/// thread_local! {
///     static SCORE: Cell<u32> = const { Cell::new(0) };
/// }
///
/// let runtime = Runtime::builder().build()?;
/// let poster = runtime.post_handle();
/// // A network thread sends the closure, and the game thread runs it.
/// let network = std::thread::spawn(move || poster.post(|_| SCORE.set(7)));
/// assert!(network.join().unwrap());
/// assert_eq!(SCORE.get(), 0);
/// runtime.safe_point();
/// assert_eq!(SCORE.get(), 7);
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Poster {
    inbox: Arc<Inbox>,
}

impl Poster {
    pub(crate) fn new(inbox: &Arc<Inbox>) -> Self {
        Self { inbox: Arc::clone(inbox) }
    }

    /// Runs `code` on the game thread at the next safe point, after all earlier posted closures. Returns `false` if the runtime was
    /// dropped. Dropping the runtime also drops the pending closures.
    ///
    /// Waits such as [`Runtime::drain_finalizers`] also run the closures. During a wait, `code` may create objects, but cannot start an
    /// exclusive operation such as a reload.
    ///
    /// A panic of `code` is logged and does not propagate. If `code` itself runs a safe point, the nested safe point runs the closures that
    /// were posted after `code`. Safe points can be nested up to a depth of 8.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let poster = runtime.post_handle();
    /// drop(runtime);
    /// // The runtime was dropped.
    /// assert!(!poster.post(|_| unreachable!()));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn post(&self, code: impl FnOnce(&Runtime) + Send + 'static) -> bool {
        let code = Guarded::new(code);
        self.inbox.post_host(Box::new(move |runtime: &dyn Any| {
            if let Some(runtime) = runtime.downcast_ref::<Runtime>() {
                (code.take())(runtime);
            }
        }))
    }
}

impl std::fmt::Debug for Poster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a poster to the game thread")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use crate::runtime::Runtime;

    #[test]
    fn a_waiting_host_wakes_only_for_posted_closures() {
        let runtime = Runtime::builder().build().expect("a host without natives");
        assert!(!runtime.wait(Duration::from_millis(1)));
        let poster = runtime.post_handle();
        let (sender, ran) = channel();
        let posting =
            std::thread::spawn(move || poster.post(move |_runtime| sender.send(()).expect("it is waited for")));
        assert!(runtime.wait(Duration::MAX));
        assert!(ran.try_recv().is_err(), "it runs at a safe point");
        runtime.safe_point();
        assert_eq!(ran.try_recv(), Ok(()));
        assert!(posting.join().expect("it posts"));
        assert!(!runtime.wait(Duration::from_millis(1)));
    }
}
