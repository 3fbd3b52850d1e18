//! Distinguishes programs from libraries. A position-independent program has the ELF type of a library, but its dynamic table has a flag
//! and a slot for debuggers, which linkers do not write to libraries.

use object::LittleEndian as LE;
use object::elf::{DF_1_PIE, DT_DEBUG, DT_FLAGS_1, DT_NULL, Dyn64, ET_CORE, ET_EXEC, ET_REL, FileType, PT_DYNAMIC};
use object::pod::slice_from_all_bytes;

use super::{Elf, FormatError, slice};

pub(super) fn named(kind: FileType) -> String {
    match kind {
        ET_EXEC => "a program".to_owned(),
        ET_REL => "an object file".to_owned(),
        ET_CORE => "a core dump".to_owned(),
        other => format!("ELF type {}", other.0),
    }
}

/// Rejects a program that has the ELF type of a library. Accepts an unreadable dynamic table, which another check rejects.
pub(super) fn refuse(elf: &Elf<'_>) -> Result<(), FormatError> {
    let dynamic = elf.segment_of_kind(PT_DYNAMIC);
    let raw = dynamic.and_then(|segment| slice(elf.bytes, segment.offset, segment.filesz)).unwrap_or_default();
    let entries: &[Dyn64<LE>] = slice_from_all_bytes(raw).unwrap_or_default();
    let mut entries = entries.iter().map(|entry| (entry.d_tag.get(LE), entry.d_val.get(LE)));
    let is_of_program = |(tag, value): (_, u64)| tag == DT_DEBUG || (tag == DT_FLAGS_1 && value & DF_1_PIE.0 != 0);
    match entries.by_ref().take_while(|(tag, _)| *tag != DT_NULL).any(is_of_program) {
        true => Err(FormatError::WrongKind { found: named(ET_EXEC) }),
        false => Ok(()),
    }
}
