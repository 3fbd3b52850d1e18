//! Values in host memory: strings, containers, references, delegates, and structs that own memory. Each kind has an owned type, whose
//! values are *black*: plugin code may store these values, and may drop them on any thread. During a call, code on the game thread accesses
//! a value through the view [`Borrowed`].

mod any;
mod array;
mod borrowed;
mod class_reference;
mod delegate;
mod field_path;
mod into_host;
mod kind;
mod map;
pub(crate) mod optional;
pub(crate) mod owned;
pub(crate) mod ptr;
pub(crate) mod reference;
pub(crate) mod row;
mod set;
mod slice;
mod std_types;
mod structure;
mod text;
pub(crate) mod verbs;

pub use crate::ptr::{Ptr, PtrMut, Viewable, blank};
pub use crate::validity_token::ValidityToken;
pub use any::AnyConjugate;
pub use array::UArray;
pub use borrowed::{Borrowed, Red, borrowed_view, with_open};
pub use class_reference::{SoftClass, SubclassOf};
pub use delegate::{Delegate, MulticastDelegate, SparseDelegate};
pub use field_path::FieldPath;
pub use into_host::{IntoHost, Passed};
pub use kind::Kind;
pub use map::UMap;
pub use optional::UOptional;
pub use owned::Owned;
pub use ptr::{Field, FieldPlace, Stored, Temp};
pub use set::USet;
pub use structure::{FieldType, field, set_field};
pub use text::{UAnsiString, UString, UText, UUtf8String};

pub(crate) use into_host::put_in_owner;
pub(crate) use kind::kind;
