//! The names of things, as the whole runtime uses them. Their layout is fixed by the border crate.

pub(crate) use alcedo_abi::handles::{ClassId, PartPtr};
pub use alcedo_abi::handles::{Name, ObjectHandle, ZCallHandle};

/// Which Master load context a thing belongs to. The host itself, whose things never end, is generation zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Generation(pub u64);

impl Generation {
    /// The host's own.
    pub const HOST: Self = Self(0);
}

impl std::fmt::Display for Generation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// How many tenants a slot of objects or conjugates has, one after the other. With the feature `tiny-serials` there are
/// few, so that a test can see all slots used up.
pub(crate) const LAST_SERIAL: u32 = if cfg!(feature = "tiny-serials") { u8::MAX as u32 } else { u32::MAX };

/// One loaded module, counted over the life of the runtime. A module that is loaded again has a new number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct ModuleId(pub u64);

impl ModuleId {
    /// Stands for the host itself, whose things never end.
    pub(crate) const HOST: Self = Self(0);
}
