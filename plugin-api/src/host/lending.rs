//! Guards for borrowed slices of host memory. While plugin code holds a slice, calls to the host and writes through other views are
//! refused. While plugin code holds a mutable slice, reads are also refused. The host counts the slices as well, so that it also refuses
//! writes that do not originate from calls of this module, for example writes by a logger.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering};

use alcedo_abi::call::FailureKind;
use alcedo_abi::host::Slices;
use alcedo_rt::{CallError, slices};

/// Number of slices held on all threads; usually zero.
static OUT: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Strongest access of the slices held by this thread. Only the game thread holds slices. The type needs no destructor.
    static HERE: Cell<Option<Access>> = const { Cell::new(None) };
}

/// Access to host memory that code requests. The stronger access is greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Access {
    Read,
    /// Write to host memory, or call to the host.
    Write,
}

impl Access {
    /// Returns true if the access is allowed while `held` is the strongest access of the held slices.
    fn is_allowed(self, held: Option<Self>) -> bool {
        held.is_none_or(|held| held == Self::Read && self == Self::Read)
    }
}

/// Slice that plugin code holds. Dropping this value releases the slice, even during a panic.
pub(crate) struct Lending {
    before: Option<Access>,
    /// Counter of the host, its value before this slice was created, and the module that held the previous slice.
    host: Option<(&'static Slices, u64, u64)>,
}

impl Lending {
    /// Adds a slice to those held. The caller has checked that the held slices allow the access.
    ///
    /// # Errors
    /// Fails with `WRONG_STACK` on the stack of a coroutine, because slices must be released in the reverse order of their creation.
    pub(crate) fn begin(access: Access) -> Result<Self, CallError> {
        alcedo_rt::may_open_scope("lending a slice")?;
        let before = HERE.get();
        HERE.set(before.max(Some(access)));
        OUT.fetch_add(1, Ordering::Relaxed);
        alcedo_rt::close_direct_calls(true);
        Ok(Self { before, host: Self::register_with_host(access) })
    }

    fn register_with_host(access: Access) -> Option<(&'static Slices, u64, u64)> {
        let (slices, this_module) = slices()?;
        let (out, module) = (slices.out.load(Ordering::Relaxed), slices.module.load(Ordering::Relaxed));
        let more = match access {
            Access::Read => 1,
            Access::Write => Slices::EXCLUSIVE,
        };
        slices.out.store(out + more, Ordering::Relaxed);
        slices.module.store(this_module, Ordering::Relaxed);
        Some((slices, out, module))
    }
}

impl Drop for Lending {
    fn drop(&mut self) {
        if let Some((slices, out, module)) = self.host {
            slices.out.store(out, Ordering::Relaxed);
            slices.module.store(module, Ordering::Relaxed);
        }
        HERE.set(self.before);
        if OUT.fetch_sub(1, Ordering::Relaxed) == 1 {
            alcedo_rt::close_direct_calls(false);
        }
    }
}

/// Returns true if no thread holds a slice. All accesses are then allowed.
#[inline]
fn no_slices_are_borrowed() -> bool {
    OUT.load(Ordering::Relaxed) == 0
}

/// Returns an error if a held slice forbids the access.
#[inline]
pub(crate) fn allows(access: Access, action: &str) -> Result<(), CallError> {
    if no_slices_are_borrowed() || access.is_allowed(HERE.get()) { Ok(()) } else { Err(refusal(action)) }
}

/// Returns an error if a held slice forbids calls to the host.
#[inline]
pub(crate) fn allows_calls(action: &str) -> Result<(), CallError> {
    allows(Access::Write, action)
}

#[cold]
fn refusal(action: &str) -> CallError {
    let message = format!(
        "{action} is refused while a slice of host memory is lent: finish the closure of `with_slice` first, and let it \
         return what is to be done"
    );
    CallError::new(FailureKind::BORROWED, message)
}

#[cfg(test)]
mod tests {
    use super::{Access, Lending, allows};

    #[test]
    fn slices_exclude_what_could_see_or_make_a_change() {
        let (read, write) = (Access::Read, Access::Write);
        for (held, may_read, may_write) in [(None, true, true), (Some(read), true, false), (Some(write), false, false)]
        {
            assert_eq!((read.is_allowed(held), write.is_allowed(held)), (may_read, may_write), "{held:?}");
        }
        assert_eq!(Some(write).max(Some(read)), Some(write), "a shared slice inside an exclusive one");
    }

    #[test]
    fn a_slice_ends_after_a_panic_and_affects_only_its_thread() {
        let lending = std::panic::catch_unwind(|| {
            let _slice = Lending::begin(Access::Write).expect("a test has a stack of its own");
            assert!(allows(Access::Read, "get").is_err());
            let elsewhere = std::thread::spawn(|| allows(Access::Write, "post").is_ok());
            assert!(elsewhere.join().expect("the closure does not panic"), "another thread may post at the same time");
            panic!("the closure ends");
        });
        assert!(lending.is_err());
        assert!(allows(Access::Write, "set").is_ok());
    }
}
