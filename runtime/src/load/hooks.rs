//! Connects a module to its hooks before the first instruction of the module runs. The host writes the address of a hook context into the
//! private copy of the module's file. The hook context refers to the hook functions of `alcedo-sys`. These functions record resources, such
//! as threads and handlers, in the ledger of the module.
#![cfg_attr(
    not(all(target_os = "linux", target_env = "gnu")),
    allow(dead_code, unused_imports, reason = "platforms without hooks write no context")
)]

use std::ffi::c_void;
use std::mem::offset_of;
use std::sync::{Arc, Mutex, Weak};

use alcedo_abi::hooks::{
    HookContext, HookSlot, HookTable, SECTION, SETS_LOG, SETS_TRACING, SLOT_MAGIC, UNHOOKED_SECTION,
};
use alcedo_abi::manifest::Manifest;
use alcedo_sys::{ImageFile, Ledger};

use crate::sync::lock;

/// Table of the hook functions. The compiler checks that the functions in `alcedo-sys` have the signatures of the ABI.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
static TABLE: HookTable = {
    macro_rules! table {
        ($($(#[doc = $doc:tt])* fn $name:ident($($parameter:tt)*) $(-> $result:ty)?;)*) => {
            HookTable { $($name: alcedo_sys::hooks::$name),* }
        };
    }
    alcedo_abi::hook_functions!(table)
};

/// Patch for the private copy of a module's file, and the ledger in which the module's hooks record resources.
pub(crate) struct Attachment {
    /// Ledger of the module. The mapped image of the module owns a reference to the ledger.
    pub ledger: Arc<Ledger>,
    context: usize,
}

/// Pairs of a ledger and its hook context. A mapped image owns its ledger, and the ledger keeps the hook context. A parked image therefore
/// keeps its hook context permanently.
static CONTEXTS: Mutex<Vec<(Weak<Ledger>, Box<HookContext>)>> = Mutex::new(Vec::new());

impl Attachment {
    /// Creates the attachment for a module file. Returns `None` if the file has no hook slot.
    pub(crate) fn new(image: &ImageFile, label: &str) -> Option<Self> {
        has_slot(image.section(SECTION)?).then(|| {
            let sets = sets_loggers(image.section(".strtab").unwrap_or_default());
            Self::to_ledger(Ledger::new(label), sets)
        })?
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn to_ledger(ledger: Arc<Ledger>, sets_loggers: u32) -> Option<Self> {
        let (image, stop) = (ledger.word(), ledger.stop_word());
        let context = Box::new(HookContext { table: &TABLE, image, stop, sets_loggers });
        let address = (&raw const *context).cast::<c_void>().expose_provenance();
        let mut contexts = lock(&CONTEXTS);
        contexts.retain(|(ledger, _)| ledger.strong_count() > 0);
        contexts.push((Arc::downgrade(&ledger), context));
        Some(Self { ledger, context: address })
    }

    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    fn to_ledger(_ledger: Arc<Ledger>, _sets_loggers: u32) -> Option<Self> {
        None
    }

    /// Returns the section, offset and bytes of the patch.
    pub(crate) fn patch(&self) -> (&'static str, usize, [u8; size_of::<usize>()]) {
        (SECTION, offset_of!(HookSlot, context), self.context.to_ne_bytes())
    }
}

/// Checks that the hook slot is unmodified. Accepts a missing slot if the manifest states that the module has no hooks.
///
/// A module without hooks is loaded with a warning, and is never unmapped. If the slot is modified, the file was changed after linking.
/// Returns a description of the defect as an error.
pub(crate) fn check_slot(image: &ImageFile, manifest: &Manifest<'_>) -> Result<(), &'static str> {
    let slot = SlotFacts {
        count: image.count_sections(SECTION),
        is_whole: image.section(SECTION).is_some_and(has_slot),
        is_relocated: image.is_relocated(SECTION),
    };
    judge_slot(&slot, manifest.hooked)
}

struct SlotFacts {
    count: usize,
    is_whole: bool,
    is_relocated: bool,
}

fn judge_slot(slot: &SlotFacts, is_hooked: bool) -> Result<(), &'static str> {
    match slot {
        SlotFacts { count: 0, .. } if is_hooked => Err("is missing, though its manifest states that it has hooks"),
        SlotFacts { count: 0, .. } => Ok(()),
        SlotFacts { count: 2.., .. } => Err("occurs more than once"),
        SlotFacts { is_whole: false, .. } => Err("is damaged"),
        SlotFacts { is_relocated: true, .. } => Err("would be written over while the file is mapped"),
        SlotFacts { .. } => Ok(()),
    }
}

/// Checks if the section contains an unmodified slot. Accepts zeros after the slot, because sanitizers append zeros to every static.
fn has_slot(section: &[u8]) -> bool {
    let mut slot = [0; size_of::<HookSlot>()];
    slot[offset_of!(HookSlot, magic)..][..8].copy_from_slice(&SLOT_MAGIC.to_ne_bytes());
    section.strip_prefix(&slot).is_some_and(|rest| rest.iter().all(|byte| *byte == 0))
}

/// Each entry contains a part of a mangled function name, and the flag of the logger that the function sets. The loggers are the logger of
/// `log` and the subscriber of `tracing`. Includes functions of the crate `tracing-subscriber`.
const LOGGER_SETTERS: [(&str, u32); 3] = [
    ("3log16set_boxed_logger", SETS_LOG),
    ("7tracing10subscriber18set_global_default", SETS_TRACING),
    ("18tracing_subscriber", SETS_TRACING),
];

/// Returns the flags of the loggers that a module may set. Searches `names` for the names of functions that set a logger.
fn sets_loggers(names: &[u8]) -> u32 {
    let is_there = |part: &str| memchr::memmem::find(names, part.as_bytes()).is_some();
    LOGGER_SETTERS.iter().filter(|(part, _)| is_there(part)).fold(0, |all, (_, sets)| all | sets)
}

/// Returns the C functions that `module!` lists as `unhooked`. The module defines these functions itself, and hooks do not record calls
/// to them.
pub(crate) fn unhooked(image: &ImageFile) -> Vec<String> {
    names_of_unhooked(image.section(UNHOOKED_SECTION).unwrap_or_default())
}

fn names_of_unhooked(mut section: &[u8]) -> Vec<String> {
    const OFFSETS: usize = 8;
    let mut names = Vec::new();
    while let Some(name) = section.get(OFFSETS..).and_then(|rest| rest.split(|byte| *byte == 0).next()) {
        names.extend((!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned()));
        section = section.get(OFFSETS + name.len() + 1..).unwrap_or_default();
    }
    names
}

/// Returns the reason why blocks of the module's C heap may be shared with libraries. Returns `None` if only the module owns the blocks.
/// The host does not free shared blocks, because a library may have freed the blocks already.
pub(crate) fn c_heap_shared(image: &ImageFile) -> Option<String> {
    shared_by(image.imports(), image.needed())
}

/// Prefixes of functions of the C library that may move or free a block of the caller. These functions call `realloc` or `free` inside the
/// C library, where no hook records the call. The prefixes `argz_`, `envz_` and `re_` each cover a whole family. The other functions of a
/// family only access blocks, but are rarely called without a function that moves blocks.
const MOVERS: [&str; 9] =
    ["__getdelim", "__libc_free", "__libc_realloc", "argz_", "envz_", "free_", "getdelim", "getline", "re_"];

/// Prefixes of platform libraries and zlib. Each of these libraries frees only its own allocations.
const PLATFORM: [&str; 9] =
    ["libz.so", "libc.so", "libm.so", "libgcc_s.so", "libpthread.so", "libdl.so", "librt.so", "libutil.so", "ld-linux"];

fn shared_by(imports: &[String], needed: &[String]) -> Option<String> {
    let mover = imports.iter().find(|name| MOVERS.iter().any(|prefix| name.starts_with(prefix)));
    let library = needed.iter().find(|library| !is_platform(library));
    let moved = mover.map(|name| format!("`{name}` may have moved or freed them"));
    moved.or_else(|| library.map(|name| format!("{name} may have taken them over")))
}

/// Checks if a library is listed in `PLATFORM`.
pub(crate) fn is_platform(library: &str) -> bool {
    PLATFORM.iter().any(|name| library.starts_with(name))
}

#[cfg(test)]
mod tests {
    use alcedo_abi::hooks::{SETS_LOG, SETS_TRACING, SLOT_MAGIC};

    use super::{SlotFacts, has_slot, judge_slot, names_of_unhooked, sets_loggers, shared_by};

    #[test]
    fn the_names_of_functions_show_which_loggers_a_file_sets() {
        for (names, expected) in [
            ("_ZN3log10set_logger17h0E\0_ZN12tracing_core10dispatcher18set_global_default17h0E\0", 0),
            ("\0_ZN3log16set_boxed_logger17h0E\0", SETS_LOG),
            ("\0_RNvCs1_3log16set_boxed_logger\0", SETS_LOG),
            ("\0_ZN7tracing10subscriber18set_global_default17h0E\0", SETS_TRACING),
            ("_ZN18tracing_subscriber3fmt4init17h0E\0_ZN3log16set_boxed_logger17h0E", SETS_LOG | SETS_TRACING),
        ] {
            assert_eq!(sets_loggers(names.as_bytes()), expected, "{names}");
        }
    }

    #[test]
    fn the_names_of_unhooked_functions_follow_two_offsets_each() {
        let entry = |name: &str| [&[7; 8], name.as_bytes(), &[0]].concat();
        let check = |section: &[u8], expected: &[&str]| assert_eq!(names_of_unhooked(section), expected);
        check(&[], &[]);
        check(&[7; 8], &[]);
        check(&[entry("malloc"), entry("free")].concat(), &["malloc", "free"]);
        check(&[entry("malloc"), vec![7; 5]].concat(), &["malloc"]);
    }

    #[test]
    fn a_block_may_be_foreign_if_another_library_could_free_it() {
        let check = |imports: &[&str], needed: &[&str]| {
            let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
            shared_by(&own(imports), &own(needed))
        };
        let platform = ["libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2"];
        assert_eq!(check(&["write", "fgets"], &platform), None);
        assert_eq!(check(&[], &[]), None);
        assert_eq!(check(&["regcomp", "regfree", "realloc"], &platform), None);
        for name in ["getline", "argz_append", "envz_remove", "re_compile_pattern", "__libc_free"] {
            let moved = format!("`{name}` may have moved or freed them");
            assert_eq!(check(&["write", name], &platform), Some(moved));
        }
        let library = check(&[], &["libc.so.6", "libz.so.1", "libsqlite3.so.0"]);
        assert_eq!(library.as_deref(), Some("libsqlite3.so.0 may have taken them over"));
    }

    #[test]
    fn a_slot_is_there_once_and_as_the_linker_left_it() {
        for hooked in [false, true] {
            for (count, is_whole, is_relocated, expected) in [
                (1, true, false, Ok(())),
                (1, false, false, Err("is damaged")),
                (1, true, true, Err("would be written over while the file is mapped")),
                (2, true, false, Err("occurs more than once")),
            ] {
                assert_eq!(judge_slot(&SlotFacts { count, is_whole, is_relocated }, hooked), expected);
            }
        }
        let none = SlotFacts { count: 0, is_whole: false, is_relocated: false };
        assert_eq!(judge_slot(&none, false), Ok(()));
        assert_eq!(judge_slot(&none, true), Err("is missing, though its manifest states that it has hooks"));
    }

    #[test]
    fn only_an_unwritten_slot_is_valid() {
        let slot = [SLOT_MAGIC.to_ne_bytes(), [0; 8]].concat();
        assert!(has_slot(&slot));
        assert!(has_slot(&[&slot[..], &[0; 16]].concat()));
        assert!(!has_slot(&slot[..15]) && !has_slot(&[&slot[..], &[1]].concat()) && !has_slot(&[]));
        for at in 0..16 {
            let mut other = slot.clone();
            other[at] ^= 1;
            assert!(!has_slot(&other), "byte {at}");
        }
    }
}
