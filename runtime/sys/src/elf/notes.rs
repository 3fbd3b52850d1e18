//! Checks the notes of a file. The loader reads requirements on the system and the processor from notes.

use object::elf::{NT_GNU_PROPERTY_TYPE_0, PT_GNU_PROPERTY, PT_NOTE};

use super::{Elf, FormatError, ensure, read_u32, slice};

/// Size of a note header. The header contains the length of the name, the length of the descriptor, and the type.
const HEADER: usize = 12;

/// Checks that every note segment is a sequence of whole notes.
pub(super) fn check(elf: &Elf<'_>) -> Result<(), FormatError> {
    for segment in elf.segments.iter().filter(|segment| [PT_NOTE, PT_GNU_PROPERTY].contains(&segment.kind)) {
        let at = segment.addr;
        ensure(elf.mapped(at, segment.filesz).is_some(), || format!("the notes at {at:#x} are not mapped"))?;
        // The loader ignores notes with an alignment other than 4 or 8.
        let align = usize::try_from(segment.align).ok().filter(|align| [4, 8].contains(align));
        let raw = slice(elf.bytes, segment.offset, segment.filesz).unwrap_or_default();
        let whole = align.is_none_or(|align| walk(raw, align).is_some());
        ensure(whole, || format!("the notes at {at:#x} are not a whole row"))?;
    }
    Ok(())
}

/// Walks the notes as the loader does. Returns `None` if a note extends past the end of the segment.
fn walk(raw: &[u8], align: usize) -> Option<()> {
    let mut at = 0;
    while at < raw.len() {
        let [name_len, len, kind] = [read_u32(raw, at)?, read_u32(raw, at + 4)?, read_u32(raw, at + 8)?];
        let name = at + HEADER;
        let start = name.checked_add(name_len as usize)?.checked_next_multiple_of(align)?;
        let end = start.checked_add(len as usize)?;
        let content = raw.get(start..end)?;
        if kind == NT_GNU_PROPERTY_TYPE_0.0 && raw.get(name..start)? == b"GNU\0" {
            walk_properties(content)?;
        }
        // The padding of the last note may be missing.
        at = end.checked_next_multiple_of(align)?;
    }
    Some(())
}

/// Walks the processor properties. Each property has a type, a size, and data that is padded to eight bytes.
fn walk_properties(raw: &[u8]) -> Option<()> {
    let mut at = 0;
    while at < raw.len() {
        let end = (at + 8).checked_add(read_u32(raw, at + 4)? as usize)?;
        raw.get(at..end)?;
        at = end.checked_next_multiple_of(8)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::walk;

    fn note(name: &[u8], kind: u32, content: &[u8]) -> Vec<u8> {
        let mut note = [name.len() as u32, content.len() as u32, kind].map(u32::to_le_bytes).concat();
        note.extend_from_slice(name);
        note.resize(note.len().next_multiple_of(4), 0);
        note.extend_from_slice(content);
        note.resize(note.len().next_multiple_of(4), 0);
        note
    }

    #[test]
    fn notes_end_with_their_segment() {
        let records = [note(b"GNU\0", 3, &[7; 20]), note(b"GNU\0", 1, &[0; 16])].concat();
        assert!(walk(&records, 4).is_some());
        assert!(walk(&[], 4).is_some());
        for cut in (1..records.len()).filter(|cut| *cut != 36) {
            assert!(walk(&records[..cut], 4).is_none(), "cut to {cut}");
        }
        for (at, what) in [(0, "name"), (4, "content"), (3, "name by gigabytes"), (7, "content by gigabytes")] {
            let mut damaged = records.clone();
            damaged[36 + at] = 0xff;
            assert!(walk(&damaged, 4).is_none(), "{what} reaches outside");
        }
    }

    #[test]
    fn properties_end_with_their_note() {
        let property = |size: u32| [0xc000_0002_u32, size, 3, 0].map(u32::to_le_bytes).concat();
        let whole = |content: &[u8]| walk(&note(b"GNU\0", 5, content), 8).is_some();
        assert!(whole(&property(4)) && whole(&[property(4), property(8)].concat()));
        assert!(!whole(&property(9)) && !whole(&property(u32::MAX)));
        assert!(!whole(&property(4)[..12 - 5]), "cut within its header");
    }
}
