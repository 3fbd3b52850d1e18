//! Cells in which the host stores numbers. The Rust type of a cell determines the meaning of its number.
#![expect(unsafe_code, reason = "finds properties at the offsets that the host has put into cells")]

use core::marker::PhantomData;

use alcedo_abi::describe::Cell;

use crate::direct::DirectCell;
use crate::ptr::{PtrMut, Viewable};
use crate::validity_token::ValidityToken;
use crate::{Class, This, Value};

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

/// Cell that receives the offset of a property of type `T` in objects of class `C`.
pub struct PropertyCell<C, T>(pub(crate) Cell, PhantomData<fn() -> (C, T)>);

impl<C, T> PropertyCell<C, T> {
    /// Creates an empty cell.
    ///
    /// # Safety
    /// The cell is part of a class description or of an import that the module registers. The host fills a registered cell before any code
    /// of the module runs, so code that accesses the property does not check that the cell is filled.
    #[must_use]
    pub const unsafe fn new() -> Self {
        Self(Cell::new(), PhantomData)
    }
}

/// Promise by the caller of [`Cells::new`] that each property cell created with this value belongs to a registered description.
#[derive(Clone, Copy)]
pub struct Cells(());

impl Cells {
    /// Creates the promise.
    ///
    /// # Safety
    /// Each cell created with this value meets the requirements of [`PropertyCell::new`].
    #[must_use]
    pub const unsafe fn new() -> Self {
        Self(())
    }

    /// Creates an empty cell for the property at `_position`.
    #[must_use]
    pub const fn at<C, T>(self, _position: usize) -> PropertyCell<C, T> {
        // SAFETY: the creator of `self` promises that each cell meets the requirements.
        unsafe { PropertyCell::new() }
    }
}

/// Returns a property's offset in an object. The host has stored this offset in the cell. All classes share the code.
#[inline]
fn offset_in(cell: &Cell, class: &str) -> usize {
    let offset = cell.get();
    debug_assert_ne!(offset, Cell::UNFILLED, "the host has not placed a property of {class}");
    offset as usize
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

impl<'f, C: Class> This<'f, C> {
    /// Returns a pointer to a property of the object. The caller must check that writes are allowed before it writes through the pointer.
    #[inline]
    pub(crate) fn property<T: Value>(
        &self,
        cell: &PropertyCell<C, T>,
    ) -> Viewable<'f, T, impl FnOnce() -> ValidityToken<'f>> {
        let (object, memory) = (self.object, self.memory);
        // SAFETY: the creator of the cell promised that the host has filled it with the offset of a property of exactly this
        // type in every object of this class. The token proves that the object is live, and a property is
        // live as long as its object.
        unsafe {
            let value = PtrMut::new(memory.add(offset_in(&cell.0, C::PATH)).cast());
            Viewable::new(value, move || ValidityToken::of_object(object))
        }
    }
}
