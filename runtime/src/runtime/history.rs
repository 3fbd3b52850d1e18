//! Bounded queue for the results of safe points. The queue keeps only the newest results, because some hosts never remove results.

use std::collections::VecDeque;

use crate::cells::RefCell;

/// Queue with at most the last `MOST` results, oldest first. Game thread only.
#[derive(Debug)]
pub(super) struct History<T, const MOST: usize>(RefCell<VecDeque<T>>);

impl<T, const MOST: usize> Default for History<T, MOST> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T, const MOST: usize> History<T, MOST> {
    /// Appends a result. Drops the oldest result if the queue already has `MOST` results.
    pub(super) fn push(&self, value: T) {
        let oldest = {
            let mut row = self.0.borrow_mut();
            let oldest = if row.len() == MOST { row.pop_front() } else { None };
            row.push_back(value);
            oldest
        };
        drop(oldest);
    }

    pub(super) fn take(&self) -> Vec<T> {
        self.0.take().into()
    }
}

#[cfg(test)]
mod tests {
    use super::History;

    #[test]
    fn a_full_history_keeps_the_last_entries_in_order() {
        let history = History::<_, 3>::default();
        assert_eq!(history.take(), [0; 0]);
        (1..=3).for_each(|number| history.push(number));
        assert_eq!(history.take(), [1, 2, 3]);
        (1..=10).for_each(|number| history.push(number));
        assert_eq!((history.take(), history.take()), (vec![8, 9, 10], vec![]));
    }
}
