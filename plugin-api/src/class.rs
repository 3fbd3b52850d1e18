//! Compile-time data of classes and interfaces: the path, the base class, and the view type, which provides the operations on an object.
#![expect(unsafe_code, reason = "declares the traits whose promises the views and type names rely on")]

use alcedo_abi::describe::Cell;
use alcedo_abi::handles::ClassId;
use alcedo_abi::interface_check::InterfaceFunction;
use alcedo_abi::type_text::contains;

use crate::keep::packed::{Packer, Unpacker};
use crate::keep::{KeptWriter, unknown_field};
use crate::this::InterfaceThis;
use crate::{Object, ObjectView, This};

/// Reflected class as a Rust type. `#[uclass]` implements this trait.
///
/// # Safety
/// In the host, `Base` is the base of the class at `PATH`, and the class has all members that the view accesses. The description or import
/// of the class contains this base and these members, so that the host checks them before any code of the module runs.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::Class;
///
/// #[uclass(package = "Game")]
/// #[derive(Default)]
/// pub struct Goblin {}
///
/// /// Names the class of objects to create.
/// fn spawner<C: Class>(count: u32) -> String {
///     format!("{count} objects of {}", C::PATH)
/// }
/// assert_eq!(spawner::<Goblin>(3), "3 objects of /Script/Game.Goblin");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a class",
    label = "declare it with `#[uclass(package = \"…\")]`, or take `ScriptInterface<…>` for objects with an interface"
)]
pub unsafe trait Class: Sized + 'static {
    /// Base class. The base of [`crate::Object`] is `Object` itself.
    type Base: Class;
    /// Type to which [`This`] dereferences. The view has the accessors and calls of the class, and dereferences to the view of the base
    /// class.
    type View<'f>: ClassView<'f, Class = Self>;
    /// Path of the class: `/Script/Package.Name`.
    const PATH: &'static str;
    /// Names of the members of the class, for compiler messages only.
    #[doc(hidden)]
    const MEMBERS: Members = Members::NONE;
    /// Names of the events that the class declares, for compiler messages.
    #[doc(hidden)]
    const EVENTS: &'static [&'static str] = &[];
    /// Paths of the interfaces that the class lists, for compiler messages.
    #[doc(hidden)]
    const IMPLEMENTS: &'static [&'static str] = &[];

    /// Name of the C library that contains the functions of the class. Empty for a class without a C library. A class with a C library
    /// cannot be extended.
    #[doc(hidden)]
    const LIBRARY: &'static str = "";

    /// Returns the cell that receives the class id from the host.
    #[doc(hidden)]
    fn cell() -> &'static Cell;

    /// Returns the class id. Returns [`ClassId::NONE`] before the host assigns an id.
    #[doc(hidden)]
    fn id() -> ClassId {
        // A class id has 32 bits. In an unfilled cell, the low 32 bits are zero.
        ClassId((Self::cell().get() & u64::from(u32::MAX)) as u32)
    }
}

/// View of a class. Only the macro that defines the view implements this trait, so no caller of another macro can substitute the view.
///
/// # Safety
/// The type is `#[repr(transparent)]` over `This<'f, Self::Class>`.
#[doc(hidden)]
pub unsafe trait ClassView<'f>: Copy {
    /// Class of the view.
    type Class;
}

/// Class that this module declares, with its plugin part.
///
/// The type must be `Send`, because the finalizer thread drops the plugin part. This bound checks the final type, because attributes after
/// `#[uclass]` may change the fields.
///
/// # Safety
/// The registered description of the class contains the hooks of this implementation.
#[doc(hidden)]
pub unsafe trait Part: Class + Send {
    /// Name of each kept field and the fingerprint of its type. The fingerprint is zero for a type that is saved by name.
    const KEPT: &'static [(&'static str, u64)] = &[];

    /// Builds the plugin part.
    fn red_constructor(this: This<'_, Self>) -> Self;
    /// Saves the kept fields.
    fn save_kept(&self, _writer: &mut KeptWriter<'_>) {}
    /// Restores one kept field.
    fn load_kept(&mut self, name: &str, _data: &[u8]) -> Result<(), crate::CallError> {
        Err(unknown_field(Self::PATH, name))
    }
    /// Writes the kept fields as bytes. Called only if all kept fields can be saved as bytes.
    fn pack_kept(&self, _out: &mut Packer<'_>) {}
    /// Restores the kept fields from bytes. Returns `None` if the bytes are invalid for the types of the fields.
    fn unpack_kept(&mut self, _input: &mut Unpacker<'_>) -> Option<()> {
        Some(())
    }
}

static ROOT: Cell = Cell::new();

// SAFETY: the view is declared as transparent over `This<'f, Object>`.
unsafe impl<'f> ClassView<'f> for ObjectView<'f> {
    type Class = Object;
}

// SAFETY: the view reads no members; the root is its own base.
unsafe impl Class for Object {
    type Base = Self;
    type View<'f> = ObjectView<'f>;
    const PATH: &'static str = "/Script/Core.Object";

    fn cell() -> &'static Cell {
        &ROOT
    }

    // For the host, the id zero means "any class", and every object is an instance of the root class.
    fn id() -> ClassId {
        ClassId::NONE
    }
}

/// Reflected interface as a Rust type. `#[uinterface]` implements this trait.
///
/// A class lists its interfaces in `#[uclass(package = "Game", implements(Heeds))]`, and implements their functions in
/// `#[uclass] impl Heeds for Cat { … }`. A [`ScriptInterface`](crate::ScriptInterface) refers to an object of any implementing
/// class, and provides a view of this object with the functions of the interface.
///
/// # Safety
/// `PATH` has the form `/Script/Package.Name`. The host uses only this path to find the interface of a `ScriptInterface<Self>`.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::Interface;
///
/// #[uinterface(package = "Game")]
/// pub trait Burns {
///     fn ignite(&self, heat: f64);
/// }
///
/// fn light(this: This<'_, Object>) -> Result<(), CallError> {
///     this.as_interface::<Burns>()?.ignite(80.0);
///     Ok(())
/// }
///
/// # fn main() {
/// assert_eq!(<Burns as Interface>::PATH, "/Script/Game.Burns");
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an interface",
    label = "declare it with `#[uinterface(package = \"…\")]`, or take `Obj<Class>` for objects of one class"
)]
pub unsafe trait Interface: Sized + 'static {
    /// View of an object through the interface. The view has the functions of the interface and the operations on any object.
    type View<'f>: Copy;
    /// Path of the interface: `/Script/Package.Name`.
    const PATH: &'static str;
    /// Functions of the interface. The compiler compares these functions with the functions of implementing classes.
    #[doc(hidden)]
    const FUNCTIONS: &'static [InterfaceFunction];
    /// Names of the functions of the interface, for compiler messages.
    #[doc(hidden)]
    const NAMES: &'static str;

    /// Returns the view of an object.
    #[doc(hidden)]
    fn view(this: InterfaceThis<'_, Self>) -> Self::View<'_>;
}

/// Names of the members of a class and its base classes.
#[derive(Clone, Copy, Debug)]
pub struct Members {
    properties: &'static [&'static str],
    fields: &'static [&'static str],
    base: Option<&'static Members>,
}

impl Members {
    /// Empty lists, used for a class whose members are unknown.
    pub const NONE: Self = Self { properties: &[], fields: &[], base: None };

    /// Creates the member names of a class that extends `B`.
    #[must_use]
    pub const fn of<B: Class>(properties: &'static [&'static str], fields: &'static [&'static str]) -> Self {
        Self { properties, fields, base: Some(&B::MEMBERS) }
    }

    /// Returns the properties that the class itself declares.
    pub(crate) const fn properties(&self) -> &'static [&'static str] {
        self.properties
    }

    pub(crate) const fn has_property(&self, name: &str) -> bool {
        // A field of the plugin part hides a property of a base class with the same name.
        if contains(self.fields, name) {
            return false;
        }
        if contains(self.properties, name) {
            return true;
        }
        match self.base {
            Some(base) => base.has_property(name),
            None => false,
        }
    }
}
