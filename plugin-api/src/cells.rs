//! Cells in which the host stores ids and handles. The Rust type of a cell determines the meaning of its number.

use core::marker::PhantomData;

use alcedo_abi::describe::Cell;

use crate::direct::DirectCell;

/// Cell that receives the id of class `C`.
pub struct ClassCell<C>(pub(crate) Cell, PhantomData<fn() -> C>);

impl<C> ClassCell<C> {
    /// Creates an empty cell.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "used as the value of a static")]
    pub const fn new() -> Self {
        Self(Cell::new(), PhantomData)
    }

    /// Returns the untyped cell.
    #[must_use]
    pub const fn cell(&self) -> &Cell {
        &self.0
    }
}

/// Cell that receives the handle of a function of class `C` with parameters `A` and result `R`.
pub struct FunctionCell<C, A, R>(pub(crate) Cell, DirectCell<A, R>, PhantomData<fn(C, A) -> R>);

impl<C, A, R> FunctionCell<C, A, R> {
    /// Creates an empty cell. The host refuses calls through an unfilled cell.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "used as the value of a static")]
    pub const fn new() -> Self {
        Self(Cell::new(), DirectCell::new(), PhantomData)
    }

    /// Returns the untyped cell.
    #[must_use]
    pub const fn cell(&self) -> &Cell {
        &self.0
    }

    #[inline]
    pub(crate) fn direct(&self) -> &DirectCell<A, R> {
        &self.1
    }
}

/// Cell that receives the handle of a function of class `C` with parameters `A`, result `R` and out parameters `O`.
pub struct ImportCell<C, A, R, O>(pub(crate) FunctionCell<C, A, R>, PhantomData<fn() -> O>);

impl<C, A, R, O> ImportCell<C, A, R, O> {
    /// Creates an empty cell. The host refuses calls through an unfilled cell.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "used as the value of a static")]
    pub const fn new() -> Self {
        Self(FunctionCell::new(), PhantomData)
    }
}
