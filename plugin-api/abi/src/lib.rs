//! Types that cross the ABI boundary between a host and a plugin.
//!
//! Host and plugin link separate copies of this crate. `#[repr(C)]`, the layout check of `abi_stable`, and [`LAYOUT_HASH`]
//! in the manifest section ensure that the layouts of both copies agree. The code of this crate is independent of the host.
//! Rust enums, `bool`, `String`, `Vec`, closures and trait objects never cross the boundary directly.

pub mod accessor_check;
pub mod agreement;
pub mod borrows;
pub mod call;
pub mod default_part;
pub mod describe;
pub mod direct;
mod direct_answer;
pub mod enums;
pub mod fingerprint;
pub mod handles;
pub mod hooks;
pub mod host;
pub mod host_direct;
pub mod interface_check;
pub mod kinds;
pub mod list;
pub mod log;
pub mod manifest;
pub mod module;
pub mod names;
pub mod net;
pub mod override_check;
pub mod permissions;
pub mod protocols;
mod sections;
pub mod stack;
pub mod task;
pub mod type_text;
pub mod value;
pub mod values;
pub mod words;
pub mod zcall;

mod layout;

pub use abi_stable;
pub use layout::LAYOUT_HASH;

/// Version of the ABI. The number changes when hosts can no longer load older plugins.
pub const ABI_NUMBER: u32 = 1;

/// Oldest host API with which a plugin built with this crate works.
pub const API_OLDEST: u32 = 1;

/// Host API of this crate. Each function that is added to [`host::HostTable`] or [`values::ValueTable`] increments the number.
pub const API_CURRENT: u32 =
    4 + added(host::HostTable::NAMES, MARKED_HOST_FUNCTIONS) + added(values::ValueTable::NAMES, MARKED_VALUE_FUNCTIONS);

/// Number of functions that [`host::HostTable`] had at host API 4. The last of these functions has the mark `last_prefix_field`.
const MARKED_HOST_FUNCTIONS: usize = 23;
/// Number of functions that [`values::ValueTable`] had at host API 4.
const MARKED_VALUE_FUNCTIONS: usize = 35;

const fn added(names: &[&str], before: usize) -> u32 {
    (names.len() - before) as u32
}

/// True if this build has a type byte in each slot of a ZCall buffer.
pub const SLOT_TYPES: bool = cfg!(feature = "slot-types");
