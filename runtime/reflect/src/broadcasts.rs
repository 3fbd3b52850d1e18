//! Calls of delegates in progress, with the bindings that each broadcast has not called yet. Calls of single delegates are listed only for
//! the limit of nested calls. A write to a multicast delegate removes the bindings that the new value lacks from the broadcasts of this
//! delegate. All writes by hosts, plugins and scripts call [`Broadcasts::before_write`] and [`Broadcasts::after_write`]. Exceptions are
//! writes to a whole struct or container that contains the delegate, and writes by custom thunks to out parameters. These writes do not
//! affect broadcasts in progress.

use std::cell::Cell;
use std::num::NonZeroU32;

use alcedo_base::cells::{Entered, InProgress};
use alcedo_base::nesting::{CallPosition, outer_calls};

use crate::value::{Binding, Value};
use crate::values::ptr::{Ptr, PtrMut};

/// Number that is stored in a delegate, and identifies the delegate even if the delegate moves in memory. `None` for single delegates, and
/// for delegates before their first call.
pub type DelegateMark = Option<NonZeroU32>;

/// Calls of delegates in progress. Game thread only.
///
/// # Examples
/// ```
/// use alcedo_base::nesting::CallPosition;
/// use alcedo_reflect::broadcasts::Broadcasts;
/// use alcedo_reflect::value::Binding;
///
/// let broadcasts = Broadcasts::default();
/// let position = CallPosition::new(None);
/// let broadcast = broadcasts.enter(broadcasts.fresh_mark(), vec![Binding::default()], position);
/// assert_eq!(broadcast.next_binding(), Some(Binding::default()));
/// assert_eq!(broadcast.next_binding(), None);
/// ```
#[derive(Debug, Default)]
pub struct Broadcasts {
    running: InProgress<Running>,
    /// Latest mark. Zero before the first mark.
    marked: Cell<u32>,
}

#[derive(Debug)]
struct Running {
    mark: DelegateMark,
    /// Remaining bindings, in reverse call order.
    left: Vec<Binding>,
    position: CallPosition,
    /// Set if the call counts toward the limit of nested calls.
    is_counted: bool,
}

/// Call of a delegate in progress. Dropping this value ends the call.
#[derive(Debug)]
#[must_use = "the call ends when this is dropped"]
pub struct Broadcast<'a> {
    of: &'a Broadcasts,
    running: Entered<'a, Running>,
}

impl Broadcasts {
    /// Begins a call of the delegate with this mark. `left` contains the bindings to call, in reverse call order.
    pub fn enter(&self, mark: DelegateMark, left: Vec<Binding>, position: CallPosition) -> Broadcast<'_> {
        Broadcast { of: self, running: self.running.enter(Running { mark, left, position, is_counted: true }) }
    }

    /// Begins a call like [`Broadcasts::enter`] that does not count toward the limit of nested calls.
    pub fn enter_uncounted(&self, mark: DelegateMark, left: Vec<Binding>, position: CallPosition) -> Broadcast<'_> {
        Broadcast { of: self, running: self.running.enter(Running { mark, left, position, is_counted: false }) }
    }

    /// Returns the number of calls in progress.
    #[inline]
    pub fn count(&self) -> usize {
        self.running.len()
    }

    /// Returns the positions of the calls in progress that count toward the limit of nested calls, oldest first.
    pub fn positions(&self) -> Vec<CallPosition> {
        self.running
            .with_all(|calls| calls.filter(|running| running.is_counted).map(|running| running.position).collect())
    }

    /// Removes the remaining bindings of the calls that contain a call at `inner`, except those of the outermost call.
    pub fn end_nested(&self, inner: CallPosition) {
        self.running.with_all(|calls| {
            let outer = outer_calls(calls.collect(), |running| running.position, inner);
            outer.into_iter().skip(1).for_each(|running| running.left.clear());
        });
    }

    /// Returns a mark for the first call of a delegate. Marks wrap around at `u32::MAX`, far above the number of active calls.
    pub fn fresh_mark(&self) -> DelegateMark {
        let mark = NonZeroU32::new(self.marked.get().wrapping_add(1)).unwrap_or(NonZeroU32::MIN);
        self.marked.set(mark.get());
        Some(mark)
    }

    /// Returns the mark of a value before a write, for [`Broadcasts::after_write`]. A sparse delegate loses its mark with its last binding.
    /// Returns `None` if no call is in progress, or if the value is not a multicast delegate.
    #[inline]
    pub fn before_write(&self, at: PtrMut<'_>) -> DelegateMark {
        if self.count() == 0 { None } else { at.delegate_mark(|| None) }
    }

    /// Removes the bindings that a written delegate lacks from its calls in progress. `mark` is the mark before the write.
    #[inline]
    pub fn after_write(&self, mark: DelegateMark, at: Ptr<'_>) {
        if mark.is_some() {
            self.remove_missing(mark, at);
        }
    }

    #[cold]
    fn remove_missing(&self, mark: DelegateMark, at: Ptr<'_>) {
        let (Value::Multicast(kept) | Value::Sparse(kept)) = at.read() else { return };
        self.running.with_all(|calls| {
            for running in calls.filter(|running| running.mark == mark) {
                running.left.retain(|binding| kept.contains(binding));
            }
        });
    }
}

impl Broadcast<'_> {
    /// Returns the next binding to call. Returns `None` if no binding remains.
    pub fn next_binding(&self) -> Option<Binding> {
        self.of.running.with(self.running.number(), |running| running.left.pop()).flatten()
    }
}
