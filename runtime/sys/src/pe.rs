//! Checks that a file is a complete Windows library (PE) for this host. Uses only the bytes of the file.
//!
//! The loader maps each section at the address in its header, and follows the tables of the data directories. Every address in these tables
//! must be valid for its purpose. In a truncated or corrupted file, the headers, the tables and the length of the file are inconsistent.
//! The linker GNU ld also stores a checksum of the whole file. This module only compares data, and maps no memory.

mod constants;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::mem::offset_of;
use std::ops::Range;

use object::LittleEndian as LE;
use object::pe::{
    IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR, IMAGE_DIRECTORY_ENTRY_SECURITY, IMAGE_FILE_DLL, IMAGE_FILE_MACHINE_AMD64,
    IMAGE_FILE_MACHINE_ARM64, IMAGE_FILE_MACHINE_UNKNOWN, IMAGE_FILE_RELOCS_STRIPPED, IMAGE_NT_SIGNATURE,
    IMAGE_SCN_MEM_EXECUTE, ImageDosHeader, ImageFileHeader, ImageNtHeaders64, ImageOptionalHeader64,
    ImageSectionHeader, ImageSymbolBytes, Machine,
};
use object::pod::from_bytes;
use object::read::pe::{ImageNtHeaders as _, PeFile64};

pub(crate) use constants::constants;

use crate::facts::{
    Facts, FormatError, Pinning, SectionFacts, ensure, ensure_host, ensure_whole, family, malformed, read_u32,
};

/// Machine type of Windows libraries for this processor.
const HOST: Machine = if cfg!(target_arch = "x86_64") {
    IMAGE_FILE_MACHINE_AMD64
} else if cfg!(target_arch = "aarch64") {
    IMAGE_FILE_MACHINE_ARM64
} else {
    IMAGE_FILE_MACHINE_UNKNOWN
};

/// Smallest page size of any supported host.
const PAGE: u32 = 4096;

/// Maximum number of sections that the loader accepts.
const MOST_SECTIONS: usize = 96;

/// Number of bytes that [`glance`] needs.
pub(crate) const HEAD: usize = size_of::<ImageDosHeader>();

#[derive(Debug)]
struct Section<'a> {
    name: &'a str,
    addr: u32,
    /// Size in memory.
    size: u32,
    /// Bytes in the file, at most `size`. Memory after these bytes is zero.
    file: Range<usize>,
    is_code: bool,
}

/// File to be checked, with its parsed headers.
#[derive(Debug)]
struct Pe<'a> {
    bytes: &'a [u8],
    file: PeFile64<'a>,
    /// Sections in address order.
    sections: Vec<Section<'a>>,
}

/// Checks the DOS header of a possible library for this host. `head` contains the first bytes of a file of `len` bytes.
pub(crate) fn glance(head: &[u8], len: u64) -> Result<(), FormatError> {
    ensure_host(head.starts_with(&b"MZ"[..head.len().min(2)]), || family(head))?;
    let what = "the PE header";
    let Ok((dos, _)) = from_bytes::<ImageDosHeader>(head) else {
        return Err(FormatError::Truncated { what: what.to_owned(), need: HEAD as u64 });
    };
    ensure_whole(len, what, u64::from(dos.nt_headers_offset()) + size_of::<ImageNtHeaders64>() as u64)
}

/// Checks the whole file and returns its [`Facts`]. The error contains the first defect.
pub(crate) fn survey(bytes: &[u8]) -> Result<Facts, FormatError> {
    let pe = read(bytes)?;
    tables::check_exports(&pe)?;
    tables::check_thread_locals(&pe)?;
    tables::check_unwinding(&pe)?;
    let mut relocated = BTreeSet::new();
    tables::each_relocation(&pe, |at, _| {
        relocated.extend(pe.section_at(at).map(|section| section.addr));
    })?;
    let (needed, imports, libraries) = tables::imports(&pe)?;
    let sections = pe.sections.iter().filter(|section| !section.file.is_empty()).map(|section| SectionFacts {
        name: section.name.to_owned(),
        range: section.file.clone(),
        is_relocated: relocated.contains(&section.addr),
    });
    let pinning = Pinning { libraries, ..Pinning::default() };
    Ok(Facts { sections: sections.collect(), needed, imports, pinning })
}

pub(crate) fn expected() -> String {
    format!("a 64-bit Windows DLL for {}", std::env::consts::ARCH)
}

/// Returns the names of the sections. Returns an empty list if a header is invalid.
pub(crate) fn section_names(bytes: &[u8]) -> Vec<String> {
    let sections = read(bytes).map(|pe| pe.sections).unwrap_or_default();
    sections.into_iter().map(|section| section.name.to_owned()).collect()
}

fn read(bytes: &[u8]) -> Result<Pe<'_>, FormatError> {
    glance(bytes, bytes.len() as u64)?;
    let start = from_bytes::<ImageDosHeader>(bytes).map_or(0, |(dos, _)| dos.nt_headers_offset() as usize);
    let rest = bytes.get(start..).unwrap_or_default();
    let (nt, _) = from_bytes::<ImageNtHeaders64>(rest).map_err(|()| malformed("the PE header cannot be read"))?;
    ensure_host(nt.signature.get(LE) == IMAGE_NT_SIGNATURE, || "a DOS program")?;
    let header = &nt.file_header;
    let (machine, flags) = (header.machine.get(LE), header.characteristics.get(LE));
    let is_ours = machine == HOST && HOST != IMAGE_FILE_MACHINE_UNKNOWN;
    ensure_host(is_ours, || format!("a Windows file for machine {:#06x}", machine.0))?;
    if !flags.contains(IMAGE_FILE_DLL) {
        return Err(FormatError::WrongKind { found: "a program".to_owned() });
    }
    let relocates = !flags.contains(IMAGE_FILE_RELOCS_STRIPPED);
    ensure(relocates, || "it has no relocations, so a second copy could not be mapped")?;
    let count = usize::from(header.number_of_sections.get(LE));
    ensure(0 < count && count <= MOST_SECTIONS, || format!("it has {count} sections"))?;
    let table = start + offset_of!(ImageNtHeaders64, optional_header);
    let table = table + usize::from(header.size_of_optional_header.get(LE));
    let need = table + count * size_of::<ImageSectionHeader>();
    ensure_whole(bytes.len() as u64, "the section headers", need as u64)?;
    let file = PeFile64::parse(bytes).map_err(damaged)?;
    check_sizes(&file, need)?;
    check_end(bytes, &file)?;
    let sections = sections(bytes, &file)?;
    let pe = Pe { bytes, file, sections };
    let entry = nt.optional_header.address_of_entry_point.get(LE);
    ensure(entry == 0 || pe.is_code(entry), || format!("entry point {entry:#x} is outside the code"))?;
    ensure(pe.directory(IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR).is_none(), || "it is a .NET assembly")?;
    check_sum(bytes, start, nt.optional_header.check_sum.get(LE))?;
    Ok(pe)
}

/// Checks the alignments, and the sizes of the headers and the image.
fn check_sizes(file: &PeFile64<'_>, headers: usize) -> Result<(), FormatError> {
    let optional = &file.nt_headers().optional_header;
    let (memory, disk) = (optional.section_alignment.get(LE), optional.file_alignment.get(LE));
    ensure(memory.is_power_of_two() && memory >= PAGE, || format!("its sections have alignment {memory}"))?;
    let is_valid = disk.is_power_of_two() && disk <= memory;
    ensure(is_valid, || format!("its sections have alignment {disk} in the file"))?;
    let (image, header) = (optional.size_of_image.get(LE), optional.size_of_headers.get(LE));
    ensure(image % memory == 0, || format!("its size in memory is {image:#x}"))?;
    let is_valid = headers as u64 <= u64::from(header) && header <= image;
    ensure(is_valid, || format!("its headers have a size of {header:#x}"))?;
    // The loader can move the image only by whole units of 64 KiB.
    let base = optional.image_base.get(LE);
    let is_valid = base % 0x1_0000 == 0 && base.checked_add(u64::from(image)).is_some();
    ensure(is_valid, || format!("its address is {base:#x}"))
}

/// Checks that the file contains all sections, symbols and certificates, and ends after the last of these.
fn check_end(bytes: &[u8], file: &PeFile64<'_>) -> Result<(), FormatError> {
    let mut end = 0;
    for (at, section) in file.section_table().iter().enumerate() {
        let raw = u64::from(section.pointer_to_raw_data.get(LE)) + u64::from(section.size_of_raw_data.get(LE));
        ensure_whole(bytes.len() as u64, &format!("section {}", at + 1), raw)?;
        end = end.max(raw);
    }
    end = end.max(end_of_symbols(bytes, &file.nt_headers().file_header)?);
    if let Some(certificates) = file.data_directory(IMAGE_DIRECTORY_ENTRY_SECURITY) {
        let (at, size) = certificates.address_range();
        end = end.max(u64::from(at) + u64::from(size));
        ensure_whole(bytes.len() as u64, "the certificates", end)?;
    }
    let padding = u64::from(file.nt_headers().optional_header.file_alignment.get(LE));
    ensure(bytes.len() as u64 - end < padding, || "the file does not end with its last part")
}

/// Returns the end of the symbols and of their names in the file. Returns 0 without symbols.
fn end_of_symbols(bytes: &[u8], header: &ImageFileHeader) -> Result<u64, FormatError> {
    let start = u64::from(header.pointer_to_symbol_table.get(LE));
    if start == 0 {
        return Ok(0);
    }
    let symbols = u64::from(header.number_of_symbols.get(LE)) * size_of::<ImageSymbolBytes>() as u64;
    let names = start + symbols;
    ensure_whole(bytes.len() as u64, "the symbols", names + 4)?;
    let end = names + u64::from(read_u32(bytes, names as usize).unwrap_or_default());
    ensure_whole(bytes.len() as u64, "the names of the symbols", end)?;
    Ok(end)
}

/// Reads the section headers. Sections must be in address order, and must not overlap in memory or in the file.
fn sections<'a>(bytes: &'a [u8], file: &PeFile64<'a>) -> Result<Vec<Section<'a>>, FormatError> {
    let optional = &file.nt_headers().optional_header;
    let strings = file.nt_headers().symbols(bytes).map_err(damaged)?.strings();
    let (memory, disk) = (optional.section_alignment.get(LE), optional.file_alignment.get(LE));
    let headers = optional.size_of_headers.get(LE);
    let (mut free, mut in_file) = (headers.next_multiple_of(memory), u64::from(headers));
    let mut sections = Vec::new();
    for (index, raw) in file.section_table().iter().enumerate() {
        let name = raw.name(strings).ok().and_then(|name| str::from_utf8(name).ok());
        let name = name.ok_or_else(|| malformed(format!("section {} has no valid name", index + 1)))?;
        let (addr, size) = raw.pe_address_range();
        let (at, len) = (raw.pointer_to_raw_data.get(LE), raw.size_of_raw_data.get(LE));
        ensure(addr % memory == 0 && addr >= free, || format!("section {name} overlaps another"))?;
        let end = addr.checked_add(size).filter(|end| *end <= optional.size_of_image.get(LE));
        free = end.ok_or_else(|| malformed(format!("section {name} reaches past the image")))?;
        let has_bytes = len > 0 && at > 0;
        if has_bytes {
            ensure(at % disk == 0 && u64::from(at) >= in_file, || {
                format!("section {name} overlaps another in the file")
            })?;
            in_file = u64::from(at) + u64::from(len);
        }
        let used = if has_bytes { len.min(size) as usize } else { 0 };
        let is_code = raw.characteristics.get(LE).contains(IMAGE_SCN_MEM_EXECUTE);
        sections.push(Section { name, addr, size, file: at as usize..at as usize + used, is_code });
    }
    Ok(sections)
}

/// Compares the checksum in the header with the file. Linkers may omit the checksum.
fn check_sum(bytes: &[u8], start: usize, expected: u32) -> Result<(), FormatError> {
    let field = start + offset_of!(ImageNtHeaders64, optional_header) + offset_of!(ImageOptionalHeader64, check_sum);
    let Some((before, after)) = bytes.split_at_checked(field).filter(|_| expected != 0 && field.is_multiple_of(2))
    else {
        return Ok(());
    };
    let words = |bytes: &[u8]| {
        let (words, last) = bytes.as_chunks::<2>();
        let last = last.first().map_or(0, |byte| u64::from(*byte));
        words.iter().map(|word| u64::from(u16::from_le_bytes(*word))).sum::<u64>() + last
    };
    let mut sum = words(before) + words(after.get(4..).unwrap_or_default());
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    let is_equal = sum + bytes.len() as u64 == u64::from(expected);
    ensure(is_equal, || "its checksum does not match its content")
}

impl<'a> Pe<'a> {
    /// Returns the section whose memory contains the address.
    fn section_at(&self, addr: u32) -> Option<&Section<'a>> {
        let behind = self.sections.partition_point(|section| section.addr <= addr);
        let section = &self.sections[behind.checked_sub(1)?];
        (addr - section.addr < section.size).then_some(section)
    }

    /// Checks if a section's memory contains `size` bytes at the address.
    fn holds(&self, addr: u32, size: u32) -> bool {
        self.section_at(addr).is_some_and(|section| size <= section.size - (addr - section.addr))
    }

    fn is_code(&self, addr: u32) -> bool {
        self.section_at(addr).is_some_and(|section| section.is_code)
    }

    /// Returns the bytes of the file that are mapped at the address, up to the end of its section.
    fn mapped_from(&self, addr: u32) -> Option<&'a [u8]> {
        let section = self.section_at(addr)?;
        self.bytes.get(section.file.clone())?.get((addr - section.addr) as usize..)
    }

    fn mapped(&self, addr: u32, size: u32) -> Option<&'a [u8]> {
        self.mapped_from(addr)?.get(..size as usize)
    }

    fn base(&self) -> u64 {
        self.file.nt_headers().optional_header.image_base.get(LE)
    }

    /// Converts an address of the preferred location to an address relative to the image.
    fn relative(&self, addr: u64) -> Option<u32> {
        addr.checked_sub(self.base()).and_then(|addr| u32::try_from(addr).ok())
    }

    /// Returns the address and the size of a data directory.
    fn directory(&self, index: usize) -> Option<(u32, u32)> {
        self.file.data_directory(index).map(|directory| directory.address_range())
    }
}

fn damaged(error: object::read::Error) -> FormatError {
    malformed(error.to_string())
}
