//! Checks the tables that the loader follows: exports, imports, relocations, thread-locals and unwinding.

use object::LittleEndian as LE;
use object::pe::{
    IMAGE_DIRECTORY_ENTRY_EXCEPTION, IMAGE_DIRECTORY_ENTRY_TLS, IMAGE_FILE_MACHINE_AMD64, IMAGE_REL_BASED_ABSOLUTE,
    IMAGE_REL_BASED_DIR64, ImageNtHeaders64, ImageRuntimeFunctionEntry, ImageTlsDirectory64,
};
use object::pod::{from_bytes, slice_from_all_bytes};
use object::read::pe::Import;

use super::{HOST, Pe, damaged};
use crate::facts::{FormatError, ensure, malformed};

const LONGEST_NAME: usize = 4096;

/// Maximum number of imports and libraries. Their names and lists may overlap, so this limit also bounds the time and memory of the check.
pub(super) const MOST_IMPORTS: usize = 1 << 16;

const MOST_CALLBACKS: usize = 64;

const WORD: u32 = 8;

/// Libraries, imported names, and the library of each name.
type Imports = (Vec<String>, Vec<String>, Vec<Option<String>>);

/// Checks that the exported names are sorted, because the loader performs a binary search, and that each name has an address.
pub(super) fn check_exports(pe: &Pe<'_>) -> Result<(), FormatError> {
    let Some(table) = pe.file.export_table().map_err(damaged)? else { return Ok(()) };
    let mut last: &[u8] = &[];
    for (pointer, index) in table.name_iter() {
        let name = text(table.name_from_pointer(pointer).map_err(damaged)?, "an exported name")?;
        ensure(last <= name.as_bytes(), || format!("the exported name {name} is not in order"))?;
        last = name.as_bytes();
        let addr = table.address_by_index(index).map_err(damaged)?;
        ensure(table.is_forward(addr) || pe.holds(addr, 1), || format!("{name} is outside the image"))?;
    }
    Ok(())
}

/// Returns the imports. An import without a name is listed as `#` and its number.
pub(super) fn imports(pe: &Pe<'_>) -> Result<Imports, FormatError> {
    let (mut needed, mut names, mut libraries) = (Vec::new(), Vec::new(), Vec::new());
    let Some(table) = pe.file.import_table().map_err(damaged)? else { return Ok((needed, names, libraries)) };
    let mut descriptors = table.descriptors().map_err(damaged)?;
    while let Some(descriptor) = descriptors.next().map_err(damaged)? {
        let library = text(table.name(descriptor.name.get(LE)).map_err(damaged)?, "the name of a library")?;
        needed.push(library.to_owned());
        let is_bounded = |imports: &[String]| imports.len() + needed.len() <= MOST_IMPORTS;
        ensure(is_bounded(&names), || "it has too many imports")?;
        let (list, written) = (descriptor.original_first_thunk.get(LE), descriptor.first_thunk.get(LE));
        let mut thunks = table.thunks(if list == 0 { written } else { list }).map_err(damaged)?;
        let mut room = 0;
        while let Some(thunk) = thunks.next::<ImageNtHeaders64>().map_err(damaged)? {
            names.push(match table.import::<ImageNtHeaders64>(thunk).map_err(damaged)? {
                Import::Name(_, name) => text(name, "an imported name")?.to_owned(),
                Import::Ordinal(number) => format!("#{number}"),
            });
            libraries.push(Some(library.to_owned()));
            room += WORD;
            ensure(is_bounded(&names), || "it has too many imports")?;
        }
        ensure(pe.holds(written, room), || format!("the addresses of {library} are stored outside the image"))?;
    }
    Ok((needed, names, libraries))
}

/// Calls `visit` with the location of each relocation, and with the relative address that the loader will store there.
pub(super) fn each_relocation(pe: &Pe<'_>, mut visit: impl FnMut(u32, u32)) -> Result<(), FormatError> {
    let blocks = pe.file.data_directories().relocation_blocks(pe.bytes, &pe.file.section_table());
    let image = pe.file.nt_headers().optional_header.size_of_image.get(LE);
    for block in blocks.map_err(damaged)?.into_iter().flatten() {
        for relocation in block.map_err(damaged)?.filter(|one| one.typ != IMAGE_REL_BASED_ABSOLUTE) {
            let (at, kind) = (relocation.virtual_address, relocation.typ);
            ensure(kind == IMAGE_REL_BASED_DIR64, || format!("relocation {at:#x} has type {}", kind.0))?;
            let word = pe.mapped(at, WORD).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
            let word = word.ok_or_else(|| malformed(format!("relocation {at:#x} is outside the image")))?;
            let target = pe.relative(word).filter(|target| *target <= image);
            visit(at, target.ok_or_else(|| malformed(format!("relocation {at:#x} refers to another image")))?);
        }
    }
    Ok(())
}

/// Checks the template of the thread-locals, and the functions that the loader calls for each thread.
pub(super) fn check_thread_locals(pe: &Pe<'_>) -> Result<(), FormatError> {
    let Some((at, _)) = pe.directory(IMAGE_DIRECTORY_ENTRY_TLS) else { return Ok(()) };
    let bad = || malformed("the directory of thread-locals is invalid");
    let (directory, _) =
        pe.mapped_from(at).and_then(|bytes| from_bytes::<ImageTlsDirectory64>(bytes).ok()).ok_or_else(bad)?;
    let holds = |at: u64, size: u64| match (pe.relative(at), u32::try_from(size)) {
        (Some(at), Ok(size)) => pe.holds(at, size),
        _ => false,
    };
    let (start, end) = (directory.start_address_of_raw_data.get(LE), directory.end_address_of_raw_data.get(LE));
    let size = end.checked_sub(start).ok_or_else(bad)?;
    ensure(size == 0 || holds(start, size), || "the thread-locals are outside the image")?;
    let is_valid = holds(directory.address_of_index.get(LE), 4);
    ensure(is_valid, || "the index of the thread-locals is outside the image")?;
    let callbacks = directory.address_of_call_backs.get(LE);
    if callbacks == 0 {
        return Ok(());
    }
    let bytes = pe.relative(callbacks).and_then(|at| pe.mapped_from(at)).ok_or_else(bad)?;
    let (words, _) = bytes.as_chunks::<{ WORD as usize }>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let called: Vec<_> = words.take(MOST_CALLBACKS).take_while(|word| *word != 0).collect();
    ensure(called.len() < MOST_CALLBACKS, || "the list of callbacks has no end")?;
    let is_valid = called.into_iter().all(|addr| pe.relative(addr).is_some_and(|addr| pe.is_code(addr)));
    ensure(is_valid, || "a callback is outside the code")
}

/// Checks the sorted table of functions that unwinding uses. Only the format of x86-64 is checked.
pub(super) fn check_unwinding(pe: &Pe<'_>) -> Result<(), FormatError> {
    let Some((at, size)) = pe.directory(IMAGE_DIRECTORY_ENTRY_EXCEPTION) else { return Ok(()) };
    if HOST != IMAGE_FILE_MACHINE_AMD64 {
        return Ok(());
    }
    let entries = pe.mapped(at, size).and_then(|bytes| slice_from_all_bytes::<ImageRuntimeFunctionEntry>(bytes).ok());
    let mut last = 0;
    for entry in entries.ok_or_else(|| malformed("the table of functions is invalid"))? {
        let (begin, end) = (entry.begin_address.get(LE), entry.end_address.get(LE));
        let is_valid = last <= begin && begin < end && pe.is_code(begin) && pe.is_code(end - 1);
        let is_valid = is_valid && pe.holds(entry.unwind_info_address_or_data.get(LE) & !1, 4);
        ensure(is_valid, || format!("the entry of function {begin:#x} is invalid"))?;
        last = end;
    }
    Ok(())
}

fn text<'a>(bytes: &'a [u8], what: &str) -> Result<&'a str, FormatError> {
    let text = str::from_utf8(bytes).ok().filter(|text| !text.is_empty() && text.len() <= LONGEST_NAME);
    text.ok_or_else(|| malformed(format!("{what} is invalid")))
}
