//! Type parameters of types: a path, the types in a container, a struct or an enum.

use std::rc::Rc;

use crate::enums::EnumType;
use crate::nested::{ElementType, EntryType};
use crate::structs::StructType;

/// Type parameters that a type carries. `()` for a type without parameters.
pub(crate) trait Parameters {
    /// Returns the parameters as text. The text is the path of the struct or class, the types in a container, or the signature of a
    /// delegate.
    fn path(&self) -> &str;

    /// Checks if two types of one kind with these parameters are equal.
    fn is_same_as(&self, other: &Self) -> bool;
}

macro_rules! parameters {
    ($($ty:ty, |$of:pat_param| $path:expr, |$one:pat_param, $two:pat_param| $is_same:expr;)*) => {$(
        impl Parameters for $ty {
            #[inline]
            fn path(&self) -> &str {
                let $of = self;
                $path
            }

            #[inline]
            fn is_same_as(&self, other: &Self) -> bool {
                let ($one, $two) = (self, other);
                $is_same
            }
        }
    )*};
}
parameters! {
    (), |_| "", |_, _| true;
    Rc<str>, |of| of, |one, two| one == two;
    Rc<ElementType>, |of| of.text(), |one, two| one.ty() == two.ty();
    Rc<EntryType>, |of| of.text(), |one, two| one.key() == two.key() && one.value() == two.value();
    Rc<StructType>, |of| &of.path, |one, two| StructType::is_same(one, two);
    Rc<EnumType>, |of| &of.path, |one, two| Rc::ptr_eq(one, two) || one.same_numbers(two);
}
