//! Tests the checks of PE files. The tests assemble a small library, so that they need no linker and run on each platform.

use object::LittleEndian as LE;
use object::pe::{
    IMAGE_DIRECTORY_ENTRY_BASERELOC, IMAGE_DIRECTORY_ENTRY_EXCEPTION, IMAGE_DIRECTORY_ENTRY_EXPORT,
    IMAGE_DIRECTORY_ENTRY_IMPORT, IMAGE_DIRECTORY_ENTRY_TLS, IMAGE_FILE_EXECUTABLE_IMAGE, IMAGE_FILE_MACHINE_I386,
    ImageDataDirectory, ImageExportDirectory, ImageImportDescriptor,
};
use object::pod::from_bytes_mut;

use super::{
    FormatError, HEAD, HOST, IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR, IMAGE_FILE_DLL, IMAGE_FILE_MACHINE_AMD64,
    IMAGE_FILE_RELOCS_STRIPPED, IMAGE_NT_SIGNATURE, IMAGE_SCN_MEM_EXECUTE, ImageDosHeader, ImageNtHeaders64,
    ImageOptionalHeader64, ImageSectionHeader, check_sum, constants, glance, section_names, survey, tables,
};

const BASE: u64 = 0x1_8000_0000;
const DISK: usize = 512;
const MEMORY: u32 = 4096;
const DIRECTORIES: usize = 16;
const SECTIONS: usize = HEAD + size_of::<ImageNtHeaders64>() + DIRECTORIES * size_of::<ImageDataDirectory>();

/// Offsets of the sections in the file. Each section has one unit of the file, and one page of memory.
const TEXT: usize = 2 * DISK;
const DATA: usize = 3 * DISK;
const EXPORTS: usize = 4 * DISK;
const IMPORTS: usize = 5 * DISK;
const RELOCATIONS: usize = 6 * DISK;
const SYMBOLS: usize = 7 * DISK;

/// Address in memory of an offset in the file.
fn addr(offset: usize) -> u32 {
    (offset / DISK - 1) as u32 * MEMORY + (offset % DISK) as u32
}

fn put(bytes: &mut [u8], at: usize, part: &[u8]) {
    bytes[at..at + part.len()].copy_from_slice(part);
}

fn header(bytes: &mut [u8]) -> &mut ImageNtHeaders64 {
    from_bytes_mut(&mut bytes[HEAD..]).expect("it is long enough").0
}

fn section(bytes: &mut [u8], index: usize) -> &mut ImageSectionHeader {
    let at = SECTIONS + index * size_of::<ImageSectionHeader>();
    from_bytes_mut(&mut bytes[at..]).expect("it is long enough").0
}

fn directory(bytes: &mut [u8], index: usize) -> &mut ImageDataDirectory {
    let at = HEAD + size_of::<ImageNtHeaders64>() + index * size_of::<ImageDataDirectory>();
    from_bytes_mut(&mut bytes[at..]).expect("it is long enough").0
}

/// Returns a library with the sections `.text`, `.alcman`, `.edata`, `.idata` and `.a-long-name`. The last contains the relocations. The
/// library exports `root`, and imports two functions.
fn library() -> Vec<u8> {
    let mut bytes = vec![0; SYMBOLS];
    let dos: &mut ImageDosHeader = from_bytes_mut(&mut bytes).expect("it is long enough").0;
    dos.e_magic.set(LE, u16::from_le_bytes(*b"MZ"));
    dos.e_lfanew.set(LE, HEAD as u32);
    let nt = header(&mut bytes);
    nt.signature.set(LE, IMAGE_NT_SIGNATURE);
    nt.file_header.machine.set(LE, HOST);
    nt.file_header.number_of_sections.set(LE, 5);
    nt.file_header.pointer_to_symbol_table.set(LE, SYMBOLS as u32);
    let size = size_of::<ImageOptionalHeader64>() + DIRECTORIES * size_of::<ImageDataDirectory>();
    nt.file_header.size_of_optional_header.set(LE, size as u16);
    nt.file_header.characteristics.set(LE, IMAGE_FILE_DLL | IMAGE_FILE_EXECUTABLE_IMAGE);
    let optional = &mut nt.optional_header;
    optional.magic.set(LE, 0x20b);
    optional.address_of_entry_point.set(LE, addr(TEXT));
    optional.image_base.set(LE, BASE);
    optional.section_alignment.set(LE, MEMORY);
    optional.file_alignment.set(LE, DISK as u32);
    optional.size_of_image.set(LE, 6 * MEMORY);
    optional.size_of_headers.set(LE, TEXT as u32);
    optional.number_of_rva_and_sizes.set(LE, DIRECTORIES as u32);
    let names: [(&[u8], usize, u32); 5] = [
        (b".text", TEXT, 16),
        (b".alcman", DATA, 24),
        (b".edata", EXPORTS, 64),
        (b".idata", IMPORTS, 160),
        (b"/4", RELOCATIONS, 12),
    ];
    for (index, (name, offset, size)) in names.into_iter().enumerate() {
        let section = section(&mut bytes, index);
        section.name[..name.len()].copy_from_slice(name);
        section.virtual_address.set(LE, addr(offset));
        section.virtual_size.set(LE, size);
        section.pointer_to_raw_data.set(LE, offset as u32);
        section.size_of_raw_data.set(LE, DISK as u32);
    }
    section(&mut bytes, 0).characteristics.set(LE, IMAGE_SCN_MEM_EXECUTE);
    put(&mut bytes, DATA, b"manifest");
    put(&mut bytes, DATA + 8, &(BASE + u64::from(addr(TEXT))).to_le_bytes());

    let exports: &mut ImageExportDirectory = from_bytes_mut(&mut bytes[EXPORTS..]).expect("it is long enough").0;
    exports.base.set(LE, 1);
    exports.number_of_functions.set(LE, 1);
    exports.number_of_names.set(LE, 1);
    exports.address_of_functions.set(LE, addr(EXPORTS + 40));
    exports.address_of_names.set(LE, addr(EXPORTS + 44));
    exports.address_of_name_ordinals.set(LE, addr(EXPORTS + 48));
    put(&mut bytes, EXPORTS + 40, &addr(DATA).to_le_bytes());
    put(&mut bytes, EXPORTS + 44, &addr(EXPORTS + 50).to_le_bytes());
    put(&mut bytes, EXPORTS + 50, b"root\0");

    let descriptor: &mut ImageImportDescriptor = from_bytes_mut(&mut bytes[IMPORTS..]).expect("it is long enough").0;
    descriptor.original_first_thunk.set(LE, addr(IMPORTS + 40));
    descriptor.name.set(LE, addr(IMPORTS + 104));
    descriptor.first_thunk.set(LE, addr(IMPORTS + 64));
    for list in [IMPORTS + 40, IMPORTS + 64] {
        put(&mut bytes, list, &u64::from(addr(IMPORTS + 120)).to_le_bytes());
        put(&mut bytes, list + 8, &(1 << 63 | 7_u64).to_le_bytes());
    }
    put(&mut bytes, IMPORTS + 104, b"KERNEL32.dll\0");
    put(&mut bytes, IMPORTS + 122, b"Sleep\0");

    put(&mut bytes, RELOCATIONS, &addr(DATA).to_le_bytes());
    put(&mut bytes, RELOCATIONS + 4, &12_u32.to_le_bytes());
    put(&mut bytes, RELOCATIONS + 8, &(10_u16 << 12 | 8).to_le_bytes());
    for (index, offset, size) in [
        (IMAGE_DIRECTORY_ENTRY_EXPORT, EXPORTS, 64),
        (IMAGE_DIRECTORY_ENTRY_IMPORT, IMPORTS, 40),
        (IMAGE_DIRECTORY_ENTRY_BASERELOC, RELOCATIONS, 12),
    ] {
        directory(&mut bytes, index).virtual_address.set(LE, addr(offset));
        directory(&mut bytes, index).size.set(LE, size);
    }
    bytes.extend(17_u32.to_le_bytes());
    bytes.extend(b".a-long-name\0");
    bytes
}

fn refusal(bytes: &[u8]) -> String {
    match survey(bytes).expect_err("it is damaged") {
        FormatError::Truncated { what, need } => format!("{what} needs {need}"),
        FormatError::Foreign { found } => format!("foreign: {found}"),
        FormatError::WrongKind { found } => format!("kind: {found}"),
        FormatError::Malformed { what } => what,
    }
}

/// Returns the message about a library that `change` has damaged.
fn damaged(change: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = library();
    change(&mut bytes);
    refusal(&bytes)
}

#[test]
fn a_whole_library_is_read() {
    let bytes = library();
    glance(&bytes[..HEAD], bytes.len() as u64).expect("it is whole");
    let facts = survey(&bytes).unwrap_or_else(|_| panic!("{}", refusal(&bytes)));
    let names: Vec<_> = facts.sections.iter().map(|section| section.name.as_str()).collect();
    assert_eq!(names, [".text", ".alcman", ".edata", ".idata", ".a-long-name"]);
    assert_eq!(section_names(&bytes), names);
    let manifest = &facts.sections[1];
    assert_eq!(&bytes[manifest.range.clone()][..8], b"manifest");
    let relocated: Vec<_> = facts.sections.iter().map(|section| section.is_relocated).collect();
    assert_eq!(relocated, [false, true, false, false, false]);
    assert_eq!(facts.needed, ["KERNEL32.dll"]);
    assert_eq!(facts.imports, ["Sleep", "#7"]);
    assert!(facts.pinning.libraries.iter().all(|library| library.as_deref() == Some("KERNEL32.dll")));
}

#[test]
fn constants_are_read_at_their_addresses() {
    let bytes = library();
    let constants = constants(&bytes).expect("it is whole");
    let (start, size) = constants.section(".alcman").expect("it is loaded");
    assert_eq!((start, size), (addr(DATA).into(), 24));
    assert_eq!(constants.bytes(start, 8), Some(&b"manifest"[..]));
    assert_eq!(constants.address(start + 8), Some(addr(TEXT).into()));
    assert_eq!(constants.address(start), None);
    assert_eq!(constants.bytes(start, 25), None);
    assert!(constants.section(".absent").is_none());
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let bytes = library();
    for len in 0..bytes.len() {
        assert!(survey(&bytes[..len]).is_err(), "cut to {len}");
        assert!(section_names(&bytes[..len]).is_empty(), "cut to {len}");
    }
    assert_eq!(refusal(&bytes[..HEAD + 8]), format!("the PE header needs {}", HEAD + size_of::<ImageNtHeaders64>()));
    assert_eq!(refusal(&bytes[..IMPORTS]), format!("section 4 needs {}", IMPORTS + DISK));
    assert_eq!(refusal(&bytes[..SYMBOLS]), format!("the symbols needs {}", SYMBOLS + 4));
    assert_eq!(refusal(&[bytes, vec![0; DISK]].concat()), "the file does not end with its last part");
}

#[test]
fn a_file_of_another_kind_is_named() {
    assert_eq!(refusal(b"\x7fELF\x02\x01\x01"), "foreign: an ELF file");
    assert_eq!(refusal(b"!<arch>\n"), "foreign: a static archive");
    assert_eq!(damaged(|bytes| header(bytes).signature.set(LE, 0)), "foreign: a DOS program");
    let machine = damaged(|bytes| header(bytes).file_header.machine.set(LE, IMAGE_FILE_MACHINE_I386));
    assert_eq!(machine, "foreign: a Windows file for machine 0x014c");
    let program = damaged(|bytes| header(bytes).file_header.characteristics.set(LE, IMAGE_FILE_EXECUTABLE_IMAGE));
    assert_eq!(program, "kind: a program");
}

#[test]
fn damaged_headers_are_refused() {
    let check = |change: &dyn Fn(&mut Vec<u8>), expected: &str| assert_eq!(damaged(|bytes| change(bytes)), expected);
    check(&|b| header(b).file_header.number_of_sections.set(LE, 0), "it has 0 sections");
    check(&|b| header(b).optional_header.section_alignment.set(LE, 12), "its sections have alignment 12");
    check(&|b| header(b).optional_header.size_of_image.set(LE, 7), "its size in memory is 0x7");
    check(&|b| header(b).optional_header.size_of_headers.set(LE, 8), "its headers have a size of 0x8");
    check(&|b| header(b).optional_header.image_base.set(LE, 12), "its address is 0xc");
    check(
        &|b| header(b).optional_header.address_of_entry_point.set(LE, addr(DATA)),
        "entry point 0x2000 is outside the code",
    );
    check(&|b| section(b, 1).virtual_address.set(LE, addr(TEXT)), "section .alcman overlaps another");
    check(&|b| section(b, 1).pointer_to_raw_data.set(LE, TEXT as u32), "section .alcman overlaps another in the file");
    check(&|b| section(b, 4).virtual_size.set(LE, 2 * MEMORY), "section .a-long-name reaches past the image");
    check(&|b| section(b, 0).name = *b"/99\0\0\0\0\0", "section 1 has no valid name");
}

#[test]
fn damaged_tables_are_refused() {
    let check = |at: usize, with: &[u8], expected: &str| assert_eq!(damaged(|bytes| put(bytes, at, with)), expected);
    check(EXPORTS + 40, &[0xff; 4], "root is outside the image");
    check(EXPORTS + 50, &[0], "an exported name is invalid");
    check(IMPORTS + 104, &[0], "the name of a library is invalid");
    check(IMPORTS + 122, &[0xff], "an imported name is invalid");
    check(IMPORTS + 16, &[0; 4], "the addresses of KERNEL32.dll are stored outside the image");
    check(RELOCATIONS + 9, &[0xb0], "relocation 0x2008 has type 11");
    check(RELOCATIONS + 8, &[20], "relocation 0x2014 is outside the image");
    check(DATA + 8, &[0xff; 8], "relocation 0x2008 refers to another image");
}

#[test]
fn libraries_without_imports_are_limited() {
    const DESCRIPTOR: usize = size_of::<ImageImportDescriptor>();
    let survey_of = |count: usize| {
        let size = (64 + (count + 1) * DESCRIPTOR).next_multiple_of(MEMORY as usize);
        let mut bytes = library();
        bytes.truncate(RELOCATIONS + DISK);
        bytes.resize(RELOCATIONS + size, 0);
        header(&mut bytes).file_header.pointer_to_symbol_table.set(LE, 0);
        header(&mut bytes).optional_header.size_of_image.set(LE, 5 * MEMORY + size as u32);
        let last = section(&mut bytes, 4);
        last.name = *b".more\0\0\0";
        last.virtual_size.set(LE, size as u32);
        last.size_of_raw_data.set(LE, size as u32);
        put(&mut bytes, RELOCATIONS + 32, b"A\0");
        for at in 0..count {
            let at = RELOCATIONS + 64 + at * DESCRIPTOR;
            let descriptor: &mut ImageImportDescriptor = from_bytes_mut(&mut bytes[at..]).expect("it is long enough").0;
            descriptor.name.set(LE, addr(RELOCATIONS + 32));
            descriptor.first_thunk.set(LE, addr(RELOCATIONS + 40));
        }
        directory(&mut bytes, IMAGE_DIRECTORY_ENTRY_IMPORT).virtual_address.set(LE, addr(RELOCATIONS + 64));
        survey(&bytes).map(|facts| facts.needed.len()).map_err(|_| refusal(&bytes))
    };
    assert_eq!(survey_of(tables::MOST_IMPORTS), Ok(tables::MOST_IMPORTS));
    assert_eq!(survey_of(tables::MOST_IMPORTS + 1), Err("it has too many imports".to_owned()));
}

#[test]
fn damaged_directories_are_refused() {
    let check = |index: usize, expected: &str| {
        let message = damaged(|bytes| {
            directory(bytes, index).virtual_address.set(LE, addr(DATA));
            directory(bytes, index).size.set(LE, 12);
        });
        assert_eq!(message, expected);
    };
    check(IMAGE_DIRECTORY_ENTRY_TLS, "the directory of thread-locals is invalid");
    check(IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR, "it is a .NET assembly");
    if HOST == IMAGE_FILE_MACHINE_AMD64 {
        check(IMAGE_DIRECTORY_ENTRY_EXCEPTION, "the entry of function 0x696e616d is invalid");
    }
    let fixed = damaged(|bytes| {
        let flags = IMAGE_FILE_DLL | IMAGE_FILE_RELOCS_STRIPPED;
        header(bytes).file_header.characteristics.set(LE, flags);
    });
    assert_eq!(fixed, "it has no relocations, so a second copy could not be mapped");
}

#[test]
fn a_changed_byte_does_not_match_the_checksum() {
    for len in [99, 100] {
        let bytes: Vec<u8> = (0..len).collect();
        let start = 0;
        let whole = |bytes: &[u8]| (1..1 << 17).find(|sum| check_sum(bytes, start, *sum).is_ok());
        let sum = whole(&bytes).expect("there is one");
        let mut other = bytes.clone();
        *other.last_mut().expect("it has bytes") ^= 1;
        assert!(check_sum(&other, start, sum).is_err());
        assert!(check_sum(&other, start, 0).is_ok(), "none was stored");
        other[0] = 9;
        assert_ne!(whole(&other), Some(sum));
    }
}

#[test]
fn no_changed_byte_makes_the_check_panic() {
    let whole = library();
    for at in 0..whole.len() {
        for with in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = with;
            let is_valid = survey(&bytes).is_ok();
            assert!(!is_valid || constants(&bytes).is_some(), "byte {at} is {with}");
            let _names = section_names(&bytes);
        }
    }
}
