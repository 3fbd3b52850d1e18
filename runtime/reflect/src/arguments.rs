//! Where the parameters of a call lie: in a block, as its function lays it out, or wherever a script that makes the call says,
//! one step after the other.
#![expect(unsafe_code, reason = "the arguments of a call are values at addresses that its caller vouches for")]

use std::fmt;

use alcedo_abi::kinds::function_flags;
use alcedo_base::border::CallError;

use crate::containers::{array_ref, keyed};
use crate::function::Function;
use crate::property::{Property, PropertyType};
use crate::slices::LentSlices;
use crate::storage::View;
use crate::typed::FrameValue;
use crate::value::Value;
use crate::values::ansi_text::AnsiText;
use crate::values::ptr::{Ptr, PtrMut};
use crate::values::text::{Text, Utf8Text};

/// An argument: what it is, and where.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    pub(crate) property: &'a Property,
    at: *mut u8,
}

/// A parameter that was stepped to and is looked at later. Of the frame that gave it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param(pub(crate) usize);

/// A caller that evaluates its arguments when they are asked for.
///
/// # Safety
/// What `step` gives out for different parameters lies apart from each other wherever one of them is an out parameter, and
/// apart from what `result` gives out. A number below the count of the function's parameters gives the same place each time, if nothing
/// was changed meanwhile. What is given out for a number that `keeper` answers for is valid until anything is changed that
/// [`LentSlices::allow_change`] guards; for any other, until the call returns.
pub unsafe trait Steps<'a> {
    /// Evaluates the argument of that number.
    ///
    /// # Errors
    /// What goes wrong in that.
    fn step(&mut self, at: usize) -> Result<Argument<'a>, CallError>;

    /// Where the argument of that number lies in an object, so that others may move it: what keeps them from that.
    fn keeper(&self, at: usize) -> Option<&'a LentSlices>;

    /// Where the result is to lie; none for a caller that does not want it.
    fn result(&mut self) -> Option<Argument<'a>>;
}

/// Where the parameters come from.
pub(crate) enum Source<'a> {
    /// A block that is laid out as the function says.
    Block(View<'a>),
    /// A script.
    Steps(&'a mut dyn Steps<'a>),
}

/// A sort of types that a parameter may be of.
pub trait Wanted {
    /// In words.
    const WORDS: &'static str;

    /// Whether a type is of the sort.
    fn is(ty: &PropertyType) -> bool;
}

/// Any type.
#[derive(Clone, Copy, Debug)]
pub enum AnyValue {}

/// Any struct.
#[derive(Clone, Copy, Debug)]
pub enum AnyStruct {}

/// Any array.
#[derive(Clone, Copy, Debug)]
pub enum AnyArray {}

/// Any set.
#[derive(Clone, Copy, Debug)]
pub enum AnySet {}

/// Any map.
#[derive(Clone, Copy, Debug)]
pub enum AnyMap {}

macro_rules! wanted {
    ($($sort:ident, $words:literal: $pattern:pat,)*) => {$(
        impl Wanted for $sort {
            const WORDS: &'static str = $words;

            fn is(ty: &PropertyType) -> bool {
                matches!(ty, $pattern)
            }
        }
    )*};
}
wanted! {
    AnyValue, "value": _,
    AnyStruct, "struct": PropertyType::Struct(_),
    AnyArray, "array": PropertyType::Array(_),
    AnySet, "set": PropertyType::Set(_),
    AnyMap, "map": PropertyType::Map(_),
}

impl<'a> Argument<'a> {
    /// An argument that is a value of the type of `property`, at `at`.
    ///
    /// # Safety
    /// As for [`PtrMut::new`], for as long as [`Steps`] says, or until the call that it is an argument of returns; but where the caller has
    /// several arguments at one place, all of which are only read, each of them may be read.
    #[inline]
    pub unsafe fn new(property: &'a Property, at: *mut u8) -> Self {
        Self { property, at }
    }

    #[inline]
    pub(crate) fn ptr<'p>(self) -> Ptr<'p>
    where
        'a: 'p,
    {
        // SAFETY: `new` was promised a value of the type. A frame lends what it makes of this as it is lent itself, so nothing is
        // written through it meanwhile.
        unsafe { Ptr::new(self.at, &self.property.ty) }
    }

    #[inline]
    pub(crate) fn ptr_mut<'p>(self) -> PtrMut<'p>
    where
        'a: 'p,
    {
        // SAFETY: `new` was promised a value of the type, and `Steps` that an out parameter and the result lie apart from all others.
        // A frame lends what it makes of this as it is lent itself, to be written.
        unsafe { PtrMut::new(self.at, &self.property.ty) }
    }

    /// The value.
    pub(crate) fn read(self) -> Value {
        self.ptr().read()
    }

    /// Overwrites the value.
    pub(crate) fn write(self, value: &Value) -> Result<(), CallError> {
        self.ptr_mut().write(value).map_err(|error| CallError::Signature {
            name: self.name(),
            found: error.wanted,
            wanted: error.found,
        })
    }

    /// Overwrites the value by its Rust type.
    #[inline]
    pub(crate) fn store<T: FrameValue>(self, value: T) -> Result<(), CallError> {
        match self.ptr_mut().set(value) {
            true => Ok(()),
            false => Err(self.mismatch(&T::describe())),
        }
    }

    /// That its type is of a sort.
    pub(crate) fn expect<W: Wanted>(self) -> Result<(), CallError> {
        if W::is(&self.property.ty) { Ok(()) } else { Err(self.mismatch(W::WORDS)) }
    }

    #[cold]
    pub(crate) fn mismatch(self, wanted: &str) -> CallError {
        let (found, wanted) = (self.property.ty.to_string(), wanted.to_owned());
        CallError::Signature { name: self.name(), found, wanted }
    }

    fn name(self) -> String {
        format!("{}:{}", self.property.owner, self.property.text)
    }
}

impl<'a> Source<'a> {
    /// The argument of a parameter of `function`.
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

    /// What keeps an argument where it lies, if that is not certain.
    #[inline]
    pub(crate) fn keeper(&self, at: usize) -> Option<&'a LentSlices> {
        match self {
            Self::Block(_) => None,
            Self::Steps(steps) => steps.keeper(at),
        }
    }

    /// A parameter, or the result, of a function without wildcards, in a block.
    #[inline]
    pub(crate) fn plain_argument(&self, function: &Function, param: &'a Property) -> Option<Argument<'a>> {
        match self {
            Self::Block(view) if function.flags & function_flags::CUSTOM_THUNK == 0 => Some(in_block(*view, param)),
            _ => None,
        }
    }

    /// Where the result lies.
    #[inline]
    pub(crate) fn result(&mut self, function: &'a Function, result: &'a Property) -> Result<Argument<'a>, CallError> {
        match self {
            Self::Block(_) if function.is_wildcard(result) => Err(wildcard_in_block(function, result)),
            Self::Block(view) => Ok(in_block(*view, result)),
            Self::Steps(steps) => steps.result().ok_or_else(|| {
                CallError::other(format!("the caller of {} keeps no place for its result", function.path))
            }),
        }
    }
}

#[inline]
fn in_block<'a>(view: View<'a>, param: &'a Property) -> Argument<'a> {
    // SAFETY: frames are made of blocks of their own function only, whose properties lie where they say, apart from each other.
    unsafe { Argument::new(param, view.start().wrapping_add(param.offset as usize)) }
}

#[cold]
fn wildcard_in_block(function: &Function, param: &Property) -> CallError {
    CallError::Signature {
        name: format!("{}:{}", function.path, param.text),
        found: "a wildcard, whose type the call in a script decides".to_owned(),
        wanted: format!("{} in a parameter block", param.ty),
    }
}

impl Ptr<'_> {
    /// The value by its Rust type; none when it is of another.
    #[inline]
    pub fn get<T: FrameValue>(self) -> Option<T> {
        // What the type carries is looked up once where that is all there is to a match.
        self.to().filter(|_| T::matches(self.ty())).map(T::load)
    }

    /// How many values there are, in an array, a set or a map; none for all else.
    #[inline]
    pub fn count(self) -> Option<u32> {
        array_ref(self).map(|rows| rows.len()).or_else(|| keyed(self).map(|rows| rows.len()))
    }

    /// How many bytes a text has; none for all else.
    pub fn text_bytes(self) -> Option<usize> {
        match self.ty() {
            PropertyType::Text => self.to::<Text>().map(|at| at.raw().len),
            PropertyType::Utf8Text => self.to::<Utf8Text>().map(|at| at.raw().len),
            PropertyType::AnsiText => self.to::<AnsiText>().map(|at| at.raw().len),
            _ => None,
        }
    }
}

impl PtrMut<'_> {
    /// Overwrites the value by its Rust type; whether it is of that.
    #[inline]
    pub fn set<T: FrameValue>(self, value: T) -> bool {
        let place = if T::matches(self.as_ptr().ty()) { self.to() } else { None };
        place.map(|place| value.store(place)).is_some()
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
