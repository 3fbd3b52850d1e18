//! What a module receives from its host, and the table of the functions that it may call. The table is a prefix type:
//! functions may be added at its end without breaking a plugin that was built before they existed. It is made from its
//! list in [`crate::list`].
#![allow(
    unsafe_code,
    reason = "the derived accessor of a function behind the mark, once there is one, reads it by its offset"
)]

use core::sync::atomic::{AtomicU32, AtomicU64};

use abi_stable::StableAbi;
use abi_stable::std_types::RStr;

use crate::black_direct::{DirectCallee, EachCall};
use crate::call::{Failure, Status};
use crate::handles::{ClassId, Name, ObjectHandle, PartPtr, ZCallHandle};
use crate::log::{LogLevel, LogRecord, SpanStep};
use crate::protocols::{ProtocolDesc, ResolverDesc};
use crate::stack::StackSpan;
use crate::task::{Job, JobId};
use crate::value::{TextRaw, TextSink, TextView};
use crate::values::ValueTableRef;
use crate::zcall::{ZCallBuffer, ZCallStatus};

/// The host as a plugin sees it: a word to hand back. It stays valid until the module is unmapped.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct HostRef(pub *const ());

// SAFETY: a plugin only hands the word back; the functions that accept it on any thread say so, and the others
// check the thread before they follow it.
#[expect(unsafe_code, reason = "the word is passed to functions that check the thread themselves")]
unsafe impl Send for HostRef {}
// SAFETY: what a plugin shares is the word, and the host's functions check the thread that hands it back.
#[expect(unsafe_code, reason = "the word is passed to functions that check the thread themselves")]
unsafe impl Sync for HostRef {}

/// What the host does at the moment; every write tests it.
pub mod mode {
    /// Writes go straight to memory.
    pub const NORMAL: u32 = 0;
    /// A collection is marking: writes call the host first.
    pub const MARKING: u32 = 1;
    /// A reload rebuilds conjugates: writes call the host first.
    pub const REBUILDING: u32 = 2;
    /// New modules come up, and may not last: writes call the host first.
    pub const STAGING: u32 = 3;
}

/// What a module may read of the host's objects without asking, on the game thread. The host writes it, at an address that
/// stays.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Directory {
    /// One entry for each slot of objects; another address whenever the host needs more.
    pub entries: *const DirectoryEntry,
    /// How many there are.
    pub len: u32,
    /// Counted up whenever an object ends or gets another body: while it stands still, addresses inside objects stay
    /// right. It has more counts than a process has time for.
    pub ends: u64,
}

/// The slices of host memory that plugin code holds at the moment, whichever module lent them: while one is out, no
/// code may move or change what it points to. The module that lends counts, the host looks; the game thread only, and
/// in memory of the host's, so that the host finds it by itself.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct Slices {
    /// Those that are only read, plus [`Slices::EXCLUSIVE`] for each that may be written.
    pub out: AtomicU64,
    /// The module that lent the last, as [`ModuleContext::module`] says.
    pub module: AtomicU64,
}

impl Slices {
    /// What a slice that may be written counts.
    pub const EXCLUSIVE: u64 = 1 << 32;

    /// No slice is out.
    #[must_use]
    pub const fn none() -> Self {
        Self { out: AtomicU64::new(0), module: AtomicU64::new(0) }
    }
}

/// What stands in a slot of objects.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DirectoryEntry {
    /// The serial of the object that lives there; zero when none does.
    pub serial: u32,
    /// Its class.
    pub class: ClassId,
    /// Its memory.
    pub memory: *mut u8,
}

/// Where the values lie that plugin code owns, for a module to look up on the game thread without asking. The host writes
/// it, at an address that stays. A number that is not in here is one of nothing, so no address is kept that could be stale.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct BlackDirectory {
    /// One entry for each place of such values; another address whenever the host needs more.
    pub entries: *const BlackEntry,
    /// How many there are.
    pub len: u32,
    /// Counted up, round about, whenever one ends: while it stands still, addresses of those that were there stay right.
    pub ends: u32,
}

/// What stands in a place of values that plugin code owns.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct BlackEntry {
    /// The serial of the value that lies there; zero when none does.
    pub serial: u32,
    /// Its first byte. It does not move.
    pub at: *mut u8,
}

/// What a module receives when it is attached.
#[repr(C)]
#[derive(StableAbi, Clone, Copy)]
pub struct ModuleContext {
    /// The word to hand back.
    pub host: HostRef,
    /// The functions.
    pub table: HostTableRef,
    /// The functions for values.
    pub values: ValueTableRef,
    /// The module's number in the host, for logs and errors.
    pub module: u64,
    /// The generation it belongs to.
    pub generation: u64,
    /// The host mode word: see [`mode`].
    pub mode: *const AtomicU32,
    /// Where the objects are; null for a module that has to do with none.
    pub directory: *const Directory,
    /// Where lent slices are counted; null for a module that has to do with no objects.
    pub slices: *const Slices,
    /// Where the values are that plugin code owns; null for a module that may own none.
    pub blacks: *const BlackDirectory,
    /// The version of what is called directly, or [`CLOSED`](crate::black_direct::CLOSED) while nothing may be: before a commit, say. A
    /// function that was found under another version is looked up again. Read on the game thread; on any thread by a module that belongs
    /// to none, whose host keeps the word as long as the module is mapped and closes it when it ends.
    pub direct: *const AtomicU64,
    /// The stack of the game thread: scopes of objects open only there. [`StackSpan::ANY`] for a module that has to do with no objects.
    pub stack: StackSpan,
    /// The loudest level anybody listens to.
    pub level: LogLevel,
}

crate::host_functions!(crate::list::table);
