//! Rust types of module classes, for use by a host. `alcedo glue --for-host` generates these types, called glue, as invocations of
//! [`host_class!`](crate::host_class). Glue is compiled into the host, and may be older than the loaded module. The first use of a member
//! therefore checks that the class has this member. The first use after a reload repeats the check. Glue does not keep a module loaded, and
//! always calls the code of the current generation.
//!
//! ```no_run
//! use alcedo_runtime::host::*;
//!
//! host_class! {
//!     /// Turns.
//!     pub Cube: Object = "/Script/Game.Cube", members CubeMembers, extends [Cube, Object];
//!     properties {
//!         /// Degrees a second.
//!         speed / set_speed "speed": f64;
//!     }
//!     values {}
//!     delegates {}
//!     functions {
//!         /// Turns the cube, and returns the angle.
//!         turn "turn"(seconds: f64) -> f64;
//!     }
//!     dynamic {}
//! }
//!
//! # fn main() -> Result<(), Error> {
//! # let runtime = Runtime::builder().build()?;
//! let cube = Cube::create(&runtime)?;
//! cube.set_speed(&runtime, 3.0)?;
//! assert_eq!(cube.turn(&runtime, 2.0)?, 6.0);
//! # Ok(())
//! # }
//! ```

mod batch;
mod class_macro;
mod closures;
mod delegate;
pub(crate) mod function;
mod list;
mod member;
mod property;

pub use std::collections::{HashMap, HashSet};

pub use crate::error::Error;
pub use crate::handles::{Name, ObjectHandle};
pub use crate::native::{Class, Delegate, Obj, Object, udelegate, uenum};
pub use crate::object::host_value::HostValue;
#[doc(hidden)]
pub use crate::object::native_out::Out;
pub use crate::object::native_value::{NativeParams, NativeResult, NativeValue};
pub use crate::object::typed_values::words::*;
pub use crate::object::typed_values::{AnsiString, Utf8String};
pub use crate::object::value::{LocalText, Value};
pub use crate::runtime::Runtime;
pub use crate::{host_class, host_struct, plain_struct};

pub use batch::{BatchFunction, BatchReport};
pub use closures::Listener;
pub use delegate::DelegateOf;
pub use function::{HotFunction, TypedFunction};
pub use list::{ClassList, ObjectList};
#[doc(hidden)]
pub use member::{DynamicFunctionOf, FunctionOf, PropertyOf};
pub use property::TypedProperty;

/// Marks `B` and each class that extends `B` according to the glue.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::host::{Class, Extends, Obj};
///
/// /// Returns a reference of the base class to the same object.
/// fn upcast<B: Class, C: Extends<B>>(object: Obj<C>) -> Obj<B> {
///     Obj::new(object.handle())
/// }
/// ```
pub trait Extends<B>: Class {}

/// A reference to an object of any class.
pub trait Reference: Copy {
    /// Returns the handle.
    #[doc(hidden)]
    fn to_handle(self) -> ObjectHandle;
}

impl Reference for ObjectHandle {
    fn to_handle(self) -> ObjectHandle {
        self
    }
}

impl<C: Class> Reference for Obj<C> {
    fn to_handle(self) -> ObjectHandle {
        self.handle()
    }
}
