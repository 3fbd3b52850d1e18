//! Delays inside a task. A delay is a timer that calls the waker of the most recent poll, so delays also work inside combinators that have
//! their own wakers.

use core::cell::{Cell, RefCell};
use core::future::Future;
use core::panic::Location;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::rc::Rc;

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::task::JobKind;

use super::{Module, TaskHandle, Work, hand_over, once, site};

/// Future that [`delay`] and [`next_tick`] return, ready when its time has passed. Dropping the future earlier cancels its timer.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use std::time::Duration;
///
/// /// Waits for two delays, one after the other.
/// async fn wait_for_both(first: task::Delay, second: task::Delay) {
///     first.await;
///     second.await;
/// }
///
/// let _unpolled = wait_for_both(task::delay(Duration::from_secs(2)), task::next_tick());
/// ```
#[derive(Debug)]
#[must_use = "a delay has no effect unless awaited"]
pub struct Delay {
    after: Duration,
    location: &'static Location<'static>,
    timer: Option<(TaskHandle, Rc<Bell>)>,
}

#[derive(Debug, Default)]
struct Bell {
    has_rung: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// Waits until `after` of game time has passed since the first poll, and at least until the next tick. Intended for tasks: a poll on any
/// thread except the game thread ends the running call with an error.
///
/// # Examples
/// ```
/// # use alcedo_plugin_api::prelude::*;
///
/// use std::time::Duration;
///
/// fn count_down(this: This<'_, Object>) {
///     task::spawn(this, async {
///         for seconds in (1..=3).rev() {
///             tracing::info!("{seconds}");
///             task::delay(Duration::from_secs(1)).await;
///         }
///     });
/// }
/// ```
#[track_caller]
pub fn delay(after: Duration) -> Delay {
    Delay { after, location: Location::caller(), timer: None }
}

/// Waits until the next tick.
///
/// # Examples
/// ```
/// # use alcedo_plugin_api::prelude::*;
///
/// fn wait_for(file: &'static str) -> task::TaskHandle {
///     task::spawn(task::Module, async move {
///         while !std::path::Path::new(file).exists() {
///             task::next_tick().await;
///         }
///         tracing::info!("{file} exists");
///     })
/// }
/// ```
#[track_caller]
pub fn next_tick() -> Delay {
    Delay { after: Duration::ZERO, location: Location::caller(), timer: None }
}

impl Future for Delay {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some((_, bell)) = &self.timer else {
            let bell = Rc::new(Bell::default());
            bell.waker.replace(Some(context.waker().clone()));
            let ringer = Rc::clone(&bell);
            let work = Work::Closure(once(Module, move |_module| ringer.wake()));
            let timer = hand_over(work, JobKind::AFTER, ObjectHandle::NONE, self.after, site(self.location));
            self.timer = Some((timer.unwrap_or_else(|error| alcedo_rt::fail(error)), bell));
            return Poll::Pending;
        };
        if bell.has_rung.get() {
            return Poll::Ready(());
        }
        let mut waker = bell.waker.borrow_mut();
        if !waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            *waker = Some(context.waker().clone());
        }
        Poll::Pending
    }
}

impl Bell {
    fn wake(&self) {
        self.has_rung.set(true);
        let waker = self.waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Drop for Delay {
    fn drop(&mut self) {
        if let Some((timer, bell)) = &self.timer
            && !bell.has_rung.get()
        {
            timer.cancel();
        }
    }
}
