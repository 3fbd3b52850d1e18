//! Out parameters of native functions. A signature declares an out parameter as `&mut T`, as in plugins.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, property_flags};
use alcedo_base::boundary::CallError;

use crate::decl::PropertyDecl;
use crate::native_value::{NativeParam, NativeValue, each_tuple};
use crate::property::PropertyType;
use crate::thunk::{Frame, ParamBlock};
use crate::value::Value;

/// Out parameter that a caller passes. Refers to the variable that a successful call overwrites.
#[derive(Debug)]
pub struct Out<'a, T>(&'a mut T);

impl<'a, T> Out<'a, T> {
    /// Creates an out parameter that writes to `target`.
    pub fn to(target: &'a mut T) -> Self {
        Self(target)
    }
}

/// Out parameter that a function body receives.
pub struct OutValue<T> {
    value: T,
    kept: Rc<Cell<Option<T>>>,
}

impl<T> OutValue<T> {
    /// Stores the current value as the result of the out parameter. A successful call writes this result to the caller's variable.
    pub fn keep(self) {
        self.kept.set(Some(self.value));
    }
}

impl<T> Deref for OutValue<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for OutValue<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<'a, T: NativeValue + Clone> NativeParam for Out<'a, T> {
    const KIND: PropertyKind = T::KIND;
    const TYPE_PATH: &'static str = T::TYPE_PATH;
    const IS_OUT: bool = true;
    type Seen = OutValue<T>;
    type Kept = Rc<Cell<Option<T>>>;
    type Back = &'a mut T;
    type Slotted = T::Raw;

    fn declared(name: &str) -> PropertyDecl {
        T::declared(name).with_flags(property_flags::OUT)
    }

    fn into_slotted(self) -> (T::Raw, &'a mut T) {
        (self.0.clone().into_raw(), self.0)
    }

    fn from_slotted(slotted: T::Raw) -> (OutValue<T>, Self::Kept) {
        let kept = Rc::default();
        (OutValue { value: T::from_raw(slotted), kept: Rc::clone(&kept) }, kept)
    }

    fn give(kept: Self::Kept, frame: &mut Frame<'_>, at: usize) -> Result<(), CallError> {
        kept.take().map_or(Ok(()), |value| frame.set_out_as(at, value.into_raw()))
    }

    fn take_back(back: &'a mut T, block: &ParamBlock<'_>, at: usize) -> Result<(), CallError> {
        *back = T::from_raw(block.get_as(at)?);
        Ok(())
    }

    fn into_value(self, ty: Option<&PropertyType>) -> Result<Value, CallError> {
        // A call by name returns its out values in a separate list. The variable is therefore only read here.
        self.0.clone().into_value(ty)
    }
}

/// Values of the out parameters after a call, as a tuple of up to eight values.
pub trait OutValues: Sized + 'static {
    /// Number of values.
    const COUNT: usize;

    /// Reads the values from a parameter block. `from` contains the index of each out parameter.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if a parameter has a different type. Returns [`CallError::Other`] if `from` is too short.
    fn read(block: &ParamBlock<'_>, from: &[usize]) -> Result<Self, CallError>;
}

macro_rules! tuples {
    ($(($($value:ident $at:tt),*))*) => {$(
        #[allow(unused_variables, clippy::unused_unit, reason = "unused for an empty tuple")]
        impl<$($value: NativeValue),*> OutValues for ($($value,)*) {
            const COUNT: usize = <[usize]>::len(&[$($at),*]);

            fn read(block: &ParamBlock<'_>, from: &[usize]) -> Result<Self, CallError> {
                let too_few = || CallError::other("a C function has fewer out parameters than its caller expects");
                Ok(($($value::from_raw(block.get_as(*from.get($at).ok_or_else(too_few)?)?),)*))
            }
        }
    )*};
}
each_tuple!(tuples);
