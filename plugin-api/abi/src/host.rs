//! Context that a module receives from its host, and the table of host functions. The table is a prefix type: new functions at the end of
//! the table do not break older plugins. A macro generates the table from a list in [`crate::list`].
#![allow(unsafe_code, reason = "derived accessors of functions that an older host may lack read by offset")]

use core::sync::atomic::{AtomicU32, AtomicU64};

use abi_stable::StableAbi;
use abi_stable::std_types::RStr;

use crate::call::{Failure, Status};
use crate::handles::{ClassId, Name, ObjectHandle, PartPtr, ZCallHandle};
use crate::host_direct::{DirectCallee, EachCall};
use crate::log::{LogLevel, LogRecord, SpanStep};
use crate::protocols::{ProtocolDesc, ResolverDesc};
use crate::stack::StackSpan;
use crate::task::{Job, JobId};
use crate::value::{TextRaw, TextSink, TextView};
use crate::values::ValueTableRef;
use crate::zcall::{ZCallBuffer, ZCallStatus};

/// Opaque pointer that identifies the host. A plugin passes the pointer back in each host call. Valid until the module is unmapped.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct HostRef(pub *const ());

// SAFETY: a plugin only passes the pointer back. Host functions that may be called on any thread are documented as such.
// All other host functions check the calling thread before they dereference the host pointer.
#[expect(unsafe_code, reason = "the word is passed to functions that check the thread themselves")]
unsafe impl Send for HostRef {}
// SAFETY: a plugin shares only the pointer, and the host's functions check the thread that passes the pointer back.
#[expect(unsafe_code, reason = "the word is passed to functions that check the thread themselves")]
unsafe impl Sync for HostRef {}

/// Values of the host's mode word. Code of a module reads the mode before every write to a property.
pub mod mode {
    /// Writes go directly to memory.
    pub const NORMAL: u32 = 0;
    /// A collection is marking objects: modules call the host before each write.
    pub const MARKING: u32 = 1;
    /// A reload rebuilds conjugates: modules call the host before each write.
    pub const REBUILDING: u32 = 2;
    /// The host is loading modules, and a rollback is still possible: modules call the host before each write.
    pub const STAGING: u32 = 3;
}

/// Object data that a module may read on the game thread without a call. The host keeps the data current. The address of the directory
/// is constant.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Directory {
    /// Array with an entry for each object slot. The host reallocates the array to add entries.
    pub entries: *const DirectoryEntry,
    /// Number of entries.
    pub len: u32,
    /// Incremented whenever an object is destroyed or an object's memory is replaced. Addresses inside objects remain valid until this
    /// count changes. The count cannot overflow in the lifetime of a process.
    pub ends: u64,
}

/// Counter of the slices of host memory that code of all modules holds. While code holds a slice, no code may move or change the memory of
/// the slice. A module increments the counter on the game thread when it creates a slice, and the host checks the counter. The counter is
/// stored in host memory, so the host reads it without calling a module.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct Slices {
    /// Number of read-only slices, plus [`Slices::EXCLUSIVE`] for each mutable slice.
    pub out: AtomicU64,
    /// Number ([`ModuleContext::module`]) of the module that created the newest held slice.
    pub module: AtomicU64,
}

impl Slices {
    /// Amount by which a mutable slice increments [`Slices::out`].
    pub const EXCLUSIVE: u64 = 1 << 32;

    /// Creates the counter of a host whose modules hold no slices.
    #[must_use]
    pub const fn none() -> Self {
        Self { out: AtomicU64::new(0), module: AtomicU64::new(0) }
    }
}

/// Entry of an object slot in the [`Directory`].
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DirectoryEntry {
    /// Serial of the live object in the slot; zero for an empty slot.
    pub serial: u32,
    /// Class of the object.
    pub class: ClassId,
    /// Memory of the object.
    pub memory: *mut u8,
}

/// Addresses of owned values. A module may look up these addresses on the game thread without a call. The address of the directory is
/// constant. The directory contains no stale address, because the host removes the entry of a destroyed value.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct BlackDirectory {
    /// Array with an entry for each slot of an owned value. The host reallocates the array to add entries.
    pub entries: *const BlackEntry,
    /// Number of entries.
    pub len: u32,
    /// Incremented, with wraparound, whenever an owned value is destroyed. Addresses of existing values remain valid until this count
    /// changes.
    pub ends: u32,
}

/// Entry of a slot for an owned value in the [`BlackDirectory`].
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct BlackEntry {
    /// Serial of the live value in the slot; zero for an empty slot.
    pub serial: u32,
    /// Address of the value. The value does not move.
    pub at: *mut u8,
}

/// Context that a module receives when it is attached.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct ModuleContext {
    /// Pointer that the module passes back in each host call.
    pub host: HostRef,
    /// Host functions.
    pub table: HostTableRef,
    /// Host functions for values.
    pub values: ValueTableRef,
    /// Number that the host assigned to the module, for logs and errors.
    pub module: u64,
    /// Generation of the module.
    pub generation: u64,
    /// Mode word of the host: see [`mode`].
    pub mode: *const AtomicU32,
    /// Directory of objects; null for a module without objects.
    pub directory: *const Directory,
    /// Counter of the slices that plugin code holds; null for a module without objects.
    pub slices: *const Slices,
    /// Directory of owned values; null for a module that may not own values.
    pub owned_values: *const BlackDirectory,
    /// Version of direct calls, or [`CLOSED`](crate::host_direct::CLOSED) while direct calls are closed, for example before a commit. If
    /// the version has changed, a module looks up its functions again. A module reads the version on the game thread. A module that is not
    /// bound to a thread may read the version on any thread: for such a module, the host keeps the version until the module is unmapped,
    /// and closes direct calls when the module ends.
    pub direct: *const AtomicU64,
    /// Stack of the game thread. Scopes that must nest, such as red frames and slices, begin only on this stack. [`StackSpan::ANY`] for a
    /// module without objects.
    pub stack: StackSpan,
    /// Most verbose log level for which the host has a listener.
    pub level: LogLevel,
}

crate::host_functions!(crate::list::table);
