//! What the compiler has of a class: its path, its base, and the view through which its objects are used; and of an
//! interface: its path.
#![expect(unsafe_code, reason = "declares the traits whose promise the views and texts of types rest on")]

use alcedo_abi::describe::Cell;
use alcedo_abi::handles::ClassId;
use alcedo_abi::interface_check::InterfaceFunction;

use crate::keep::Keeper;
use crate::this::InterfaceThis;
use crate::{Object, ObjectView, This};

/// A class of the host's reflection, as a type. `#[uclass]` implements it.
///
/// # Safety
/// `View<'f>` is `#[repr(transparent)]` over `This<'f, Self>`. `Base` is the class that the host knows as the base
/// of the class at `PATH`, and the members that the view reads are the ones the host knows: the load of the module
/// compares them before any of its code runs.
pub unsafe trait Class: Sized + 'static {
    /// The class it extends; [`crate::Object`] is its own.
    type Base: Class;
    /// What [`This`] dereferences to: the accessors and calls of the class, then those of its base.
    type View<'f>: Copy;
    /// `/Script/Package.Name`.
    const PATH: &'static str;
    /// What its members are called: for the messages of the compiler, and for nothing else.
    #[doc(hidden)]
    const MEMBERS: Members = Members::NONE;
    /// Names of the events that it declares, for messages of the compiler.
    #[doc(hidden)]
    const EVENTS: &'static [&'static str] = &[];
    /// Paths of the interfaces that it lists, for messages of the compiler.
    #[doc(hidden)]
    const IMPLEMENTS: &'static [&'static str] = &[];

    /// The C library that its functions are in; empty for most. A class that has one is final.
    #[doc(hidden)]
    const LIBRARY: &'static str = "";

    /// Where the host puts the number of the class.
    #[doc(hidden)]
    fn cell() -> &'static Cell;

    /// The number of the class, or none while no host has given it one.
    #[doc(hidden)]
    fn id() -> ClassId {
        // The host gives out 32-bit numbers; an unfilled cell has none of those bits.
        ClassId((Self::cell().get() & u64::from(u32::MAX)) as u32)
    }
}

/// A class that this module declares, with its plugin part.
///
/// That the type as it finally is can be sent to the finalizer thread, which drops it, is a condition here: other attributes
/// may have changed the fields after `#[uclass]` has looked at them.
///
/// # Safety
/// The hooks of the class are those of this very implementation.
#[doc(hidden)]
pub unsafe trait Part: Class + Send {
    /// Builds the plugin part.
    fn red_constructor(this: This<'_, Self>) -> Self;
    /// Puts the kept fields.
    fn save_kept(&self, keeper: &mut Keeper<'_>);
    /// Takes one kept field back.
    fn load_kept(&mut self, name: &str, data: &[u8]) -> Result<(), crate::CallError>;
}

static ROOT: Cell = Cell::new();

// SAFETY: the view is transparent over `This<'f, Object>` and reads no members; the root is its own base.
unsafe impl Class for Object {
    type Base = Self;
    type View<'f> = ObjectView<'f>;
    const PATH: &'static str = "/Script/Core.Object";

    fn cell() -> &'static Cell {
        &ROOT
    }

    // Zero means "any" to the host, which is just what the root is.
    fn id() -> ClassId {
        ClassId::NONE
    }
}

/// An interface of the host's reflection, as a type. `#[uinterface]` implements it.
///
/// A class lists what it implements, `#[uclass(package = "Game", implements(Hears))]`, and writes the bodies in
/// `#[uclass] impl Hears for Cat { … }`. A [`ScriptInterface`](crate::ScriptInterface) leads to objects of whatever class does,
/// and its functions are called on what it gives.
///
/// # Safety
/// `PATH` is `/Script/Package.Name`, and that path alone says what a `ScriptInterface<Self>` leads to.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no interface",
    label = "declare it with `#[uinterface(package = \"…\")]`, or take `Obj<Class>` for objects of one class"
)]
pub unsafe trait Interface: Sized + 'static {
    /// What an object that is seen as the interface can do: its functions, then what any object can.
    type View<'f>: Copy;
    /// `/Script/Package.Name`.
    const PATH: &'static str;
    /// Its functions, for the compiler to compare classes with.
    #[doc(hidden)]
    const FUNCTIONS: &'static [InterfaceFunction];
    /// What its functions are called, for messages of the compiler.
    #[doc(hidden)]
    const NAMES: &'static str;

    /// That view.
    #[doc(hidden)]
    fn view(this: InterfaceThis<'_, Self>) -> Self::View<'_>;
}

/// The names of the members of a class and its bases.
#[derive(Clone, Copy, Debug)]
pub struct Members {
    properties: &'static [&'static str],
    fields: &'static [&'static str],
    base: Option<&'static Members>,
}

impl Members {
    /// Holds no names.
    pub const NONE: Self = Self { properties: &[], fields: &[], base: None };

    /// Returns the names of a class that extends `B`.
    #[must_use]
    pub const fn of<B: Class>(properties: &'static [&'static str], fields: &'static [&'static str]) -> Self {
        Self { properties, fields, base: Some(&B::MEMBERS) }
    }

    pub(crate) const fn has_property(&self, name: &str) -> bool {
        // A field of the author's own may be called as a property of a base.
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

const fn contains(names: &[&str], name: &str) -> bool {
    let mut at = 0;
    while at < names.len() {
        // A field that is called as a word of the language: the compiler writes `r#type`.
        let known = match names[at].as_bytes() {
            [b'r', b'#', known @ ..] | known => known,
        };
        if equal(known, name.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn equal(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
