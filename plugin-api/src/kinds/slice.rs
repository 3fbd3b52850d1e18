//! Slices of array elements in host memory, valid during a closure. The elements must own no memory, and their type must have the same
//! layout in host and plugin. Code outside the closure cannot change the elements while the closure runs.

use alcedo_rt::{CallError, fail};

use super::UArray;
use crate::{Borrowed, Plain, Value};

impl<T: Value> Borrowed<'_, UArray<T>> {
    /// Passes the values to `code` as a slice. While `code` runs, host calls and writes are rejected; logging is
    /// allowed.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Thing {
    /// #     #[uproperty]
    /// #     samples: UArray<f64>,
    /// # }
    /// # fn show(this: This<'_, Thing>) {
    /// let sum: f64 = this.samples().with_slice(|samples| samples.iter().sum());
    /// # }
    /// ```
    pub fn with_slice<R>(&self, code: impl FnOnce(&[T]) -> R) -> R
    where
        T: Plain,
    {
        self.try_with_slice(code).unwrap_or_else(|error| fail(error))
    }

    /// Passes the values to `code` as a slice.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the array no longer exists, with `BORROWED` inside a closure of `with_slice_mut`, or with `WRONG_STACK` on
    /// a coroutine's stack.
    pub fn try_with_slice<R>(&self, code: impl FnOnce(&[T]) -> R) -> Result<R, CallError>
    where
        T: Plain,
    {
        self.ptr()?.with_slice(code)
    }

    /// Passes the values to `code` as a mutable slice. While `code` runs, host calls and all accesses through views are
    /// rejected; logging is allowed.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Thing {
    /// #     #[uproperty]
    /// #     samples: UArray<f64>,
    /// # }
    /// # fn show(this: This<'_, Thing>) {
    /// this.samples().with_slice_mut(|samples| samples.sort_by(f64::total_cmp));
    /// # }
    /// ```
    pub fn with_slice_mut<R>(&self, code: impl FnOnce(&mut [T]) -> R) -> R
    where
        T: Plain,
    {
        self.try_with_slice_mut(code).unwrap_or_else(|error| fail(error))
    }

    /// Passes the values to `code` as a mutable slice.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the array no longer exists, with `DURING_REBUILD` while the host refuses writes to its owner, with
    /// `BORROWED` inside another closure that holds a slice, or with `WRONG_STACK` on a coroutine's stack.
    pub fn try_with_slice_mut<R>(&self, code: impl FnOnce(&mut [T]) -> R) -> Result<R, CallError>
    where
        T: Plain,
    {
        self.ptr_mut()?.with_slice_mut(code)
    }
}
