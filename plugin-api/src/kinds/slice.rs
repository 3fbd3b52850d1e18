//! The values of an array as a slice, straight in host memory, for the length of a closure. Only for types that have the
//! same form on both sides and own nothing; while it runs nothing else may touch what is lent.

use alcedo_rt::{CallError, fail};

use super::UArray;
use crate::{Lent, Plain, Value};

impl<T: Value> Lent<'_, UArray<T>> {
    /// Lends the values as a slice while `code` runs. Calls to the host and writes are refused meanwhile; logging works.
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

    /// Lends the values as a slice, or says why not.
    ///
    /// # Errors
    /// `EXPIRED`; `LENT` inside of `with_slice_mut`.
    pub fn try_with_slice<R>(&self, code: impl FnOnce(&[T]) -> R) -> Result<R, CallError>
    where
        T: Plain,
    {
        self.ptr()?.lend(code)
    }

    /// Lends the values to be changed while `code` runs. Calls to the host and all other views are refused meanwhile;
    /// logging works.
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

    /// Lends the values to be changed, or says why not.
    ///
    /// # Errors
    /// `EXPIRED`; `DURING_REBUILD`; `LENT` inside of another such closure.
    pub fn try_with_slice_mut<R>(&self, code: impl FnOnce(&mut [T]) -> R) -> Result<R, CallError>
    where
        T: Plain,
    {
        self.ptr_mut()?.lend_mut(code)
    }
}
