//! Reads and writes the arguments of a call. The arguments are stored in a parameter block with the function's layout, or a calling script
//! evaluates the arguments one by one.
#![expect(unsafe_code, reason = "the arguments of a call are values at addresses that its caller vouches for")]

use std::fmt;

use alcedo_abi::kinds::function_flags;
use alcedo_base::boundary::{CallError, mismatch};

use crate::containers::{Rows, array_ref, keyed, owns_memory};
use crate::fixed;
use crate::function::Function;
use crate::property::{Property, PropertyType};
use crate::slices::BorrowedSlices;
use crate::storage::View;
use crate::typed::FrameValue;
use crate::value::Value;
use crate::values::ansi_text::AnsiText;
use crate::values::local_text::LocalTextKind;
use crate::values::optional::Optional;
use crate::values::ptr::{Ptr, PtrMut, Ref};
use crate::values::structure::{Struct, fix_length};
use crate::values::text::{Text, Utf8Text};

/// Argument of a call: the property that declares its parameter, and the address of its value.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    pub(crate) property: &'a Property,
    at: *mut u8,
}

/// Index of a parameter whose argument a frame has already evaluated. The index is valid only for that frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param(pub(crate) usize);

/// Caller that evaluates each argument only when the thunk steps to the parameter.
///
/// # Safety
/// The memory of an out parameter must not overlap the memory of other parameters. No argument may overlap the location that `result`
/// returns. Repeated calls of `step` for one parameter return equal addresses if no value changed between the calls. If `borrow_counter`
/// returns a counter for an argument, the argument is valid until a change that [`BorrowedSlices::allow_change`] guards. All other
/// arguments are valid until the call returns.
pub unsafe trait Steps<'a> {
    /// Evaluates the argument of the parameter with index `at`.
    ///
    /// # Errors
    /// Returns the error of the evaluation.
    fn step(&mut self, at: usize) -> Result<Argument<'a>, CallError>;

    /// Returns the borrow counter of an argument inside an object. The argument is not moved while the counter counts a borrow. Returns
    /// `None` for arguments outside objects.
    fn borrow_counter(&self, at: usize) -> Option<&'a BorrowedSlices>;

    /// Returns the location where the thunk stores the result. Returns `None` if the caller discards the result.
    fn result(&mut self) -> Option<Argument<'a>>;
}

pub(crate) enum Source<'a> {
    /// Block with the layout of the function.
    Block(View<'a>),
    /// Script that evaluates the arguments.
    Steps(&'a mut dyn Steps<'a>),
}

/// Category of parameter types that a thunk accepts.
///
/// # Examples
/// ```
/// use alcedo_reflect::property::PropertyType;
/// use alcedo_reflect::thunk::ArgumentKind;
///
/// enum AnyNumber {}
///
/// impl ArgumentKind for AnyNumber {
///     const DESCRIPTION: &'static str = "number";
///
///     fn is(ty: &PropertyType) -> bool {
///         matches!(ty, PropertyType::I32 | PropertyType::F64)
///     }
/// }
/// assert!(AnyNumber::is(&PropertyType::F64) && !AnyNumber::is(&PropertyType::Bool));
/// ```
pub trait ArgumentKind {
    /// Name of the category in messages.
    const DESCRIPTION: &'static str;

    /// Checks if a type belongs to the category.
    fn is(ty: &PropertyType) -> bool;
}

/// Category that accepts any type.
///
/// # Examples
/// ```
/// use alcedo_base::boundary::CallError;
/// use alcedo_reflect::thunk::{AnyValue, Frame};
///
/// fn is_zero(frame: &mut Frame<'_>) -> Result<(), CallError> {
///     let param = frame.step_compiled_in::<AnyValue>()?;
///     frame.finish()?;
///     let is_zero = frame.value(param).get::<i32>() == Some(0);
///     frame.set_result(is_zero)
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub enum AnyValue {}

/// Category that accepts any struct.
///
/// # Examples
/// ```
/// use alcedo_base::boundary::CallError;
/// use alcedo_reflect::thunk::{AnyStruct, Frame};
///
/// /// Returns the path of the struct that the caller passed.
/// fn path_of(frame: &mut Frame<'_>) -> Result<(), CallError> {
///     let param = frame.step_compiled_in::<AnyStruct>()?;
///     frame.finish()?;
///     let path = frame.property(param).ty.type_path().to_owned();
///     frame.set_result(path)
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub enum AnyStruct {}

/// Category that accepts any array.
///
/// # Examples
/// ```
/// use alcedo_base::boundary::CallError;
/// use alcedo_reflect::containers::array_ref;
/// use alcedo_reflect::thunk::{AnyArray, Frame};
///
/// fn is_empty(frame: &mut Frame<'_>) -> Result<(), CallError> {
///     let param = frame.step_compiled_in::<AnyArray>()?;
///     frame.finish()?;
///     let is_empty = array_ref(frame.value(param)).is_none_or(|rows| rows.len() == 0);
///     frame.set_result(is_empty)
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub enum AnyArray {}

/// Category that accepts any set.
///
/// # Examples
/// ```
/// use alcedo_base::boundary::CallError;
/// use alcedo_reflect::containers::keyed;
/// use alcedo_reflect::thunk::{AnySet, Frame};
///
/// fn len(frame: &mut Frame<'_>) -> Result<(), CallError> {
///     let param = frame.step_compiled_in::<AnySet>()?;
///     frame.finish()?;
///     let len = keyed(frame.value(param)).map_or(0, |set| set.len());
///     frame.set_result(len as i32)
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub enum AnySet {}

/// Category that accepts any map.
///
/// # Examples
/// ```
/// use alcedo_base::boundary::CallError;
/// use alcedo_reflect::containers::keyed_mut;
/// use alcedo_reflect::thunk::{AnyMap, Frame};
///
/// /// Removes the entries of any map, an out parameter.
/// fn clear(frame: &mut Frame<'_>) -> Result<(), CallError> {
///     let param = frame.step_compiled_in_ref::<AnyMap>()?;
///     frame.finish()?;
///     if let Some(mut map) = keyed_mut(frame.value_mut(param)?) {
///         map.clear();
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub enum AnyMap {}

macro_rules! expected_types {
    ($($sort:ident, $words:literal: $pattern:pat,)*) => {$(
        impl ArgumentKind for $sort {
            const DESCRIPTION: &'static str = $words;

            fn is(ty: &PropertyType) -> bool {
                matches!(ty, $pattern)
            }
        }
    )*};
}
expected_types! {
    AnyValue, "value": _,
    AnyStruct, "struct": PropertyType::Struct(_),
    AnyArray, "array": PropertyType::Array(_),
    AnySet, "set": PropertyType::Set(_),
    AnyMap, "map": PropertyType::Map(_),
}

impl<'a> Argument<'a> {
    /// Creates an argument from the value at address `at`. The value must have the type of `property`.
    ///
    /// # Safety
    /// The caller fulfills the conditions of [`PtrMut::new`] until the call with this argument returns. An argument that [`Steps::step`]
    /// returns may become invalid earlier if [`Steps::borrow_counter`] returns a counter for this argument. Arguments of one call may share
    /// a location if the call only reads them.
    #[inline]
    pub unsafe fn new(property: &'a Property, at: *mut u8) -> Self {
        Self { property, at }
    }

    #[inline]
    pub(crate) fn ptr<'p>(self) -> Ptr<'p>
    where
        'a: 'p,
    {
        // SAFETY: the caller of `new` promised a value of the type.
        // The pointer borrows its frame, so no write happens through the argument.
        unsafe { Ptr::new(self.at, &self.property.ty) }
    }

    #[inline]
    pub(crate) fn ptr_mut<'p>(self) -> PtrMut<'p>
    where
        'a: 'p,
    {
        // SAFETY: the caller of `new` promised a value of the type.
        // `Steps` promises that an out parameter and the result do not overlap other arguments.
        // A frame returns the pointer with its own exclusive borrow.
        unsafe { PtrMut::new(self.at, &self.property.ty) }
    }

    pub(crate) fn read(self) -> Value {
        self.ptr().read()
    }

    pub(crate) fn write(self, value: &Value) -> Result<(), CallError> {
        let mut at = self.ptr_mut();
        at.reborrow().write(value).map_err(|error| error.in_call(self.property.path()))?;
        fix_length(self.property, at);
        Ok(())
    }

    /// Overwrites the argument with a value of the matching Rust type. Adjusts a fixed array to the declared length.
    #[inline]
    pub(crate) fn store<T: FrameValue>(self, value: T) -> Result<(), CallError> {
        if !self.ptr_mut().set(value) {
            return Err(self.mismatch(&T::describe()));
        }
        if let PropertyType::Array(_) = self.property.ty {
            fix_length(self.property, self.ptr_mut());
        }
        Ok(())
    }

    /// Restores the declared length of a fixed array after a write in place.
    ///
    /// # Errors
    /// Returns [`CallError::Other`] if the write has changed the length.
    pub(crate) fn restore_length(self) -> Result<(), CallError> {
        let Some(fixed) = fixed::dim(self.property) else { return Ok(()) };
        match self.ptr().count() {
            Some(len) if len != fixed => {
                fix_length(self.property, self.ptr_mut());
                Err(fixed::wrong_length(self.property, fixed, len))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the type of the argument belongs to category `W`.
    pub(crate) fn expect<W: ArgumentKind>(self) -> Result<(), CallError> {
        if W::is(&self.property.ty) { Ok(()) } else { Err(self.mismatch(W::DESCRIPTION)) }
    }

    #[cold]
    pub(crate) fn mismatch(self, expected: &str) -> CallError {
        mismatch(&self.property.path(), &self.property.ty, &expected)
    }
}

impl<'a> Source<'a> {
    /// Returns the argument for one parameter of `function`.
    #[inline]
    pub(crate) fn argument(
        &mut self,
        function: &'a Function,
        at: usize,
        param: &'a Property,
    ) -> Result<Argument<'a>, CallError> {
        match self {
            Self::Steps(steps) => steps.step(at),
            Self::Block(_) if function.is_wildcard(param) => Err(wildcard_in_block(function, param)),
            Self::Block(view) => Ok(in_block(*view, param)),
        }
    }

    /// Returns the borrow counter of an argument inside an object. The argument is not moved while the counter counts a borrow. Returns
    /// `None` for arguments outside objects.
    #[inline]
    pub(crate) fn borrow_counter(&self, at: usize) -> Option<&'a BorrowedSlices> {
        match self {
            Self::Block(_) => None,
            Self::Steps(steps) => steps.borrow_counter(at),
        }
    }

    /// Returns the argument of a parameter, or the location of the result. Returns `None` if a script evaluates the arguments, or if the
    /// function has a custom thunk.
    #[inline]
    pub(crate) fn plain_argument(&self, function: &Function, param: &'a Property) -> Option<Argument<'a>> {
        match self {
            Self::Block(view) if function.flags & function_flags::CUSTOM_THUNK == 0 => Some(in_block(*view, param)),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn result(&mut self, function: &'a Function, result: &'a Property) -> Result<Argument<'a>, CallError> {
        match self {
            Self::Block(_) if function.is_wildcard(result) => Err(wildcard_in_block(function, result)),
            Self::Block(view) => Ok(in_block(*view, result)),
            Self::Steps(steps) => steps.result().ok_or_else(|| {
                CallError::other(format!("the caller of {} has no memory for its result", function.path))
            }),
        }
    }
}

#[inline]
fn in_block<'a>(view: View<'a>, param: &'a Property) -> Argument<'a> {
    // SAFETY: a frame is created only from a block of its own function, whose properties are at their offsets and do not overlap.
    unsafe { Argument::new(param, view.start().wrapping_add(param.offset as usize)) }
}

#[cold]
fn wildcard_in_block(function: &Function, param: &Property) -> CallError {
    let (name, expected) = (format!("{}:{}", function.path, param.text), format!("{} in a parameter block", param.ty));
    mismatch(&name, &"a wildcard, whose type the call in a script decides", &expected)
}

impl Ptr<'_> {
    /// Returns the value as a Rust type. Returns `None` if the argument has a different type.
    #[inline]
    pub fn get<T: FrameValue>(self) -> Option<T> {
        // `to` checks only the kind. The filter checks the complete type, including the element type of an array.
        self.to().filter(|_| T::matches(self.ty())).map(T::load)
    }

    /// Returns the number of values in an array, set or map. Returns `None` for other types.
    #[inline]
    pub fn count(self) -> Option<u32> {
        array_ref(self).map(|rows| rows.len()).or_else(|| keyed(self).map(|rows| rows.len()))
    }

    /// Returns the length of a string in bytes. Returns `None` for other types.
    pub fn text_bytes(self) -> Option<usize> {
        match self.ty() {
            PropertyType::Text => self.to::<Text>().map(|at| at.raw().len),
            PropertyType::Utf8Text => self.to::<Utf8Text>().map(|at| at.raw().len),
            PropertyType::AnsiText => self.to::<AnsiText>().map(|at| at.raw().len),
            PropertyType::LocalText => self.to::<LocalTextKind>().map(|at| at.raw().display.len),
            _ => None,
        }
    }

    /// Returns the content of an optional. Returns `None` for an empty optional, and for other types.
    #[inline]
    pub fn content(self) -> Option<Self> {
        self.to::<Optional>().and_then(Ref::inner)
    }

    /// Calls `visit` with each value directly inside this value, if the type of the inner value owns memory. Inner values are the fields of
    /// a struct, the elements of an array or a set, the keys and values of a map, and the content of an optional.
    pub fn visit_owning(self, visit: &mut dyn FnMut(Ptr<'_>)) {
        let visit = |inner: Ptr<'_>| {
            if inner.ty().owns_memory() {
                visit(inner);
            }
        };
        match self.ty() {
            ty if !ty.owns_memory() => {}
            PropertyType::Struct(_) => self.to::<Struct>().into_iter().flat_map(Ref::fields).for_each(visit),
            ty if ty.row().is_some_and(|row| !owns_memory(row)) => {}
            PropertyType::Array(_) => array_ref(self).into_iter().flat_map(Rows::keys).for_each(visit),
            PropertyType::Set(_) | PropertyType::Map(_) => {
                let entries =
                    keyed(self).into_iter().flat_map(|rows| (0..rows.len()).filter_map(move |at| rows.get(at)));
                entries.flat_map(|(key, value)| std::iter::once(key).chain(value)).for_each(visit);
            }
            _ => self.content().into_iter().for_each(visit),
        }
    }
}

impl PtrMut<'_> {
    /// Overwrites the content of an optional with a copy of `content`. Returns `false` if the value is not an optional of the type of
    /// `content`.
    pub fn set_content(self, content: Ptr<'_>) -> bool {
        let Some(to) = self.to::<Optional>().filter(|to| to.of().ty() == content.ty()) else { return false };
        to.inner().copy_from(content);
        to.set(1);
        true
    }

    /// Overwrites the argument with a Rust value. Returns `false` if the argument has a different type.
    #[inline]
    pub fn set<T: FrameValue>(self, value: T) -> bool {
        let target = if T::matches(self.as_ptr().ty()) { self.to() } else { None };
        target.map(|target| value.store(target)).is_some()
    }
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block(view) => view.fmt(f),
            Self::Steps(_) => f.write_str("the arguments of a script"),
        }
    }
}
