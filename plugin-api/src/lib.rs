//! API for plugins. Attributes declare classes, structs and other types. A [`This`] provides access to the properties and functions of an
//! object during one call from the host. No reference obtained from a [`This`] outlives this call.
//!
//! A plugin depends only on this crate, declares `#![forbid(unsafe_code)]`, and starts with `use
//! alcedo_plugin_api::prelude::*;`. Files, generations and reloads are not visible in the API.

mod any_call;
mod cells;
mod class;
mod delegate_signature;
mod direct;
mod dispose;
mod host;
mod keep;
mod kinds;
mod name;
mod obj;
mod object;
mod out;
mod part_cell;
mod property;
pub mod protocols;
mod ptr;
mod registered;
mod signature;
mod step;
mod tables;
pub mod task;
mod this;
pub mod thread;
pub mod thunk;
pub mod timer;
mod validity_token;
mod value;
mod zcall;
mod zmethod;

#[doc(hidden)]
pub mod __private;

pub use alcedo_abi::call::FailureKind;
pub use alcedo_abi::handles::ObjectHandle;
pub use alcedo_abi::kinds::PropertyKind;
pub use alcedo_abi::net::{NetArchive, NetMap, NetNumber, NetObject};
/// Makes the crate a module: the unit that a host loads.
///
/// # Examples
/// ```no_run,standalone_crate
/// use alcedo_plugin_api::prelude::*;
///
/// module! { name: "weather", main: started, exit: ended, dependencies: [("terrain", "^1")] }
///
/// fn started() {
///     tracing::info!("the weather begins");
/// }
///
/// fn ended() {
///     tracing::info!("the weather ends");
/// }
/// # fn main() {}
/// ```
///
/// # Reference
pub use alcedo_macros::module;
/// Declares a reflected class, or its methods.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
///
/// #[uclass(package = "Game", blueprintable)]
/// pub struct Torch {
///     #[uproperty(edit_anywhere, default = 90.0)]
///     fuel: f64, // in the object of the host
///     #[keep]
///     uses: u32, // in the plugin part
/// }
///
/// #[uclass]
/// impl Torch {
///     #[ufunction(blueprint_callable)]
///     fn burn(&mut self, this: This<Self>, seconds: f64) -> f64 {
///         self.uses += 1;
///         this.set_fuel((this.fuel() - seconds).max(0.0));
///         this.fuel()
///     }
/// }
/// # fn main() {}
/// ```
///
/// # Reference
pub use alcedo_macros::uclass;
/// Declares a named delegate.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
///
/// #[udelegate(multicast, package = "Game")]
/// pub type OnScored = fn(points: i32, by: Obj<Object>);
///
/// #[uclass(package = "Game")]
/// #[derive(Default)]
/// pub struct Goal {
///     #[uproperty]
///     on_scored: OnScored,
/// }
///
/// fn score(goal: This<'_, Goal>, player: Obj<Object>) {
///     goal.on_scored().broadcast((3, player));
/// }
/// # fn main() {}
/// ```
///
/// # Reference
pub use alcedo_macros::udelegate;
/// Declares a reflected enum.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
///
/// #[uenum(package = "Game")]
/// #[repr(u8)]
/// #[derive(Debug, PartialEq)]
/// pub enum Mood {
///     Calm,
///     Angry,
/// }
///
/// #[uenum(package = "Game", flags)]
/// #[repr(u8)]
/// pub enum Rights {
///     Read = 1,
///     Write = 2,
/// }
///
/// assert_eq!(Mood::Angry as u8, 1);
/// let both = Rights::Read | Rights::Write;
/// assert!(both.contains(Rights::Write));
/// assert_eq!((both - Rights::Read).bits(), 2);
/// ```
///
/// # Reference
pub use alcedo_macros::uenum;
/// Declares an interface.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
///
/// #[uinterface(package = "Game")]
/// pub trait Heeds {
///     fn hear(&self, what: String) -> u32;
/// }
///
/// #[uclass(package = "Game", implements(Heeds))]
/// #[derive(Default)]
/// pub struct Cat {}
///
/// #[uclass]
/// impl Heeds for Cat {
///     fn hear(&self, what: String) -> u32 {
///         what.len() as u32
///     }
/// }
///
/// fn whisper(this: This<'_, Object>) -> Result<u32, CallError> {
///     Ok(this.as_interface::<Heeds>()?.hear("psst".to_owned()))
/// }
/// # fn main() {}
/// ```
///
/// # Reference
pub use alcedo_macros::uinterface;
/// Declares a reflected struct, or its functions.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
///
/// #[ustruct(package = "Game", pod)]
/// #[derive(Debug, PartialEq)]
/// pub struct Size {
///     width: f64,
///     #[uproperty(default = 2.5)]
///     height: f64,
/// }
///
/// #[ustruct]
/// impl Size {
///     #[constructor]
///     fn tall(&mut self, height: f64) {
///         self.height = height;
///     }
/// }
///
/// assert_eq!(Size::default(), Size { width: 0.0, height: 2.5 });
/// assert_eq!(Size::tall(4.0).height, 4.0);
/// ```
///
/// # Reference
pub use alcedo_macros::ustruct;
/// Exports a function by name.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
///
/// /// Hosts and other modules call this function by the name `ex:/math.add`.
/// #[zcall(ex = "math.add")]
/// fn add(a: i32, b: i32) -> i32 {
///     a + b
/// }
///
/// assert_eq!(add(2, 3), 5);
/// ```
///
/// # Reference
pub use alcedo_macros::zcall;
/// Exports methods of a plain type by name.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
///
/// pub struct Report;
///
/// #[zmethods]
/// impl Report {
///     /// Called as `nm:/reports:Report:render` if the module has the name `reports`.
///     #[zmethod]
///     fn render(title: String, pages: u32) -> String {
///         format!("{title}, {pages} pages")
///     }
/// }
///
/// assert_eq!(Report::render("Budget".to_owned(), 3), "Budget, 3 pages");
/// ```
///
/// # Reference
pub use alcedo_macros::zmethods;
#[doc(hidden)]
pub use alcedo_macros::{
    add_references, begin_destroy, class_constructor, dll_import, overrides, post_init_properties, red_constructor,
    ufunction, zmethod,
};
pub use alcedo_rt::{CallError, SourcePlace};
pub use any_call::{AnyArgument, AnyArguments, AnyResult};
pub use class::{Class, Interface};
pub use delegate_signature::Signature;
pub use dispose::auto_dispose;
pub use kinds::reference::*;
pub use kinds::{
    AnyConjugate, Borrowed, Delegate, FieldPath, IntoHost, Kind, MulticastDelegate, SoftClass, SparseDelegate,
    SubclassOf, UAnsiString, UArray, UMap, UOptional, USet, UString, UText, UUtf8String,
};
pub use name::UName;
pub use obj::Obj;
pub use object::{Object, ObjectView};
pub use out::Out;
pub use property::ZProperty;
pub use signature::{Params, ReturnValue};
pub use tables::{HostEntries, HostEntry, ModuleEntries};
pub use this::This;
pub use value::{Plain, Value};
pub use zcall::{HotFunction, ZFunction, zcall};
pub use zmethod::{Each, ZMethod};

/// Items that most plugins use.
pub mod prelude {
    pub use crate::kinds::reference::*;
    pub use crate::{
        AnyConjugate, Borrowed, CallError, FailureKind, NetArchive, NetMap, Obj, Object, Out, PropertyKind, This,
        UName, module, task, timer, uclass, udelegate, uenum, uinterface, ustruct, zcall, zmethods,
    };
    pub use crate::{
        Delegate, FieldPath, MulticastDelegate, SoftClass, SparseDelegate, SubclassOf, UAnsiString, UArray, UMap,
        UOptional, USet, UString, UText, UUtf8String,
    };
    #[doc(hidden)]
    pub use crate::{
        add_references, begin_destroy, class_constructor, dll_import, overrides, post_init_properties, red_constructor,
        ufunction, zmethod,
    };
}
