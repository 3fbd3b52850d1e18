//! Tests that damaged libraries are refused before they are mapped. The initializer of each library creates a file, which would prove that
//! the library was mapped.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "accepted files are mapped in a child to check that they are harmless")]

use crate::common;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use alcedo_sys::{Image, ImageError, ImageFile, StageDir, Unmapped};
use tempfile::TempDir;

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;

/// Fields in which a flipped bit may remain unnoticed, because no code reads this bit to map the file.
const HARMLESS: &[(&str, &str)] = &[
    // The entry point of a library is never called, so any address of code is accepted.
    ("ELF header", "e_entry"),
    // Page permissions are defined by the flags of load segments only. The loader does not read the flags of the following segments.
    ("DYNAMIC", "p_flags"),
    ("GNU_EH_FRAME", "p_flags"),
    ("GNU_PROPERTY", "p_flags"),
    ("GNU_RELRO", "p_flags"),
    ("NOTE", "p_flags"),
    ("PHDR", "p_flags"),
    ("TLS", "p_flags"),
    // The loader protects `p_memsz` bytes of this segment and ignores `p_filesz`.
    ("GNU_RELRO", "p_filesz"),
    // The system aligns stacks without reading this field.
    ("GNU_STACK", "p_align"),
];

/// Environment variable that marks the child process and contains the path to map.
const CHILD: &str = "ALCEDO_SYS_TEST_MAPS";

struct Libraries {
    dir: TempDir,
    all: Vec<(PathBuf, Vec<u8>)>,
}

fn libraries() -> Libraries {
    let dir = TempDir::new().expect("a temporary directory");
    let paths = [common::c_library(dir.path(), "c", 42, &[]), rust_library(dir.path())];
    let all = paths.map(|path| (path.clone(), fs::read(&path).expect("just built"))).to_vec();
    Libraries { dir, all }
}

/// Builds a Rust cdylib that links std, with the toolchain of this test.
fn rust_library(dir: &Path) -> PathBuf {
    let (source, library) = (dir.join("plugin.rs"), dir.join("libplugin.so"));
    let text = "#[unsafe(no_mangle)] pub extern \"C\" fn answer() -> i32 { println!(\"hello\"); 42 }";
    fs::write(&source, text).expect("the test directory is writable");
    let mut rustc = Command::new(env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned()));
    rustc.args(["--edition=2024", "--crate-type=cdylib", "-Cstrip=debuginfo", "-o"]).arg(&library);
    common::run(rustc.arg(&source));
    library
}

/// Returns the error for the bytes. Returns `None` if the bytes are accepted.
fn refusal(bytes: Vec<u8>) -> Option<ImageError> {
    ImageFile::from_bytes(Path::new("damaged.so"), bytes).err()
}

fn flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

fn number(bytes: &[u8], at: usize, size: usize) -> usize {
    bytes[at..at + size].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

/// Returns the header and the field that contain a byte of the file.
fn field(bytes: &[u8], at: usize) -> (String, &'static str) {
    if at < HEADER {
        let name = match at {
            0..16 => "e_ident",
            24..32 => "e_entry",
            _ => "other",
        };
        return ("ELF header".to_owned(), name);
    }
    let start = HEADER + (at - HEADER) / PROGRAM_HEADER * PROGRAM_HEADER;
    let names = ["p_type", "p_offset", "p_vaddr", "p_paddr", "p_filesz", "p_memsz", "p_align"];
    let name = if (4..8).contains(&(at - start)) { "p_flags" } else { names[(at - start) / 8] };
    let kind = match number(bytes, start, 4) {
        1 => "LOAD",
        2 => "DYNAMIC",
        4 => "NOTE",
        6 => "PHDR",
        7 => "TLS",
        0x6474_e550 => "GNU_EH_FRAME",
        0x6474_e551 => "GNU_STACK",
        0x6474_e552 => "GNU_RELRO",
        0x6474_e553 => "GNU_PROPERTY",
        _ => "unknown",
    };
    (kind.to_owned(), name)
}

#[test]
fn intact_libraries_are_accepted() {
    for (path, bytes) in libraries().all {
        let image = ImageFile::read(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(image.bytes(), bytes);
        assert!(image.needed().iter().any(|name| name.starts_with("libc.so")), "{:?}", image.needed());
        assert_eq!(image.links_std_dynamically(), None);
        assert!(image.section(".text").is_some_and(|text| !text.is_empty()));
        assert_eq!(image.section(".bss"), None);
        assert_eq!(image.section(".no_such_section"), None);
    }
}

#[test]
fn digests_differ_by_a_single_bit() {
    let libraries = libraries();
    let (path, bytes) = &libraries.all[0];
    let image = ImageFile::read(path).expect("whole");
    let text = image.section(".comment").expect("gcc signs its work");
    let at = text.as_ptr().addr() - image.bytes().as_ptr().addr();
    let other = ImageFile::from_bytes(path, flipped(bytes, at * 8)).expect("nothing reads that section");
    assert_eq!(image.digest(), ImageFile::read(path).expect("whole").digest());
    assert_ne!(image.digest(), other.digest());
    assert_eq!(image.digest().to_string().len(), 32);
}

#[test]
fn a_library_cut_anywhere_is_refused() {
    for (path, bytes) in libraries().all {
        let near_the_ends = (0..200).chain(bytes.len() - 200..bytes.len());
        for length in (0..bytes.len()).step_by(4096).chain(near_the_ends) {
            let error = refusal(bytes[..length].to_vec());
            let right = matches!(error, Some(ImageError::Truncated { .. } | ImageError::Empty { .. }));
            assert!(right, "{} cut to {length}: {error:?}", path.display());
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(refusal(longer).is_some(), "{} with a byte more", path.display());
    }
}

#[test]
fn every_bit_of_the_headers_counts_or_is_known_to_be_harmless() {
    let libraries = libraries();
    for (path, bytes) in &libraries.all {
        let end = HEADER + number(bytes, 56, 2) * PROGRAM_HEADER;
        let mut accepted: BTreeMap<(String, &str), Vec<usize>> = BTreeMap::new();
        for bit in 0..end * 8 {
            if refusal(flipped(bytes, bit)).is_none() {
                accepted.entry(field(bytes, bit / 8)).or_default().push(bit);
            }
        }
        let unknown: Vec<_> =
            accepted.iter().filter(|((header, name), _)| !HARMLESS.contains(&(header.as_str(), name))).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", path.display());
        for bit in accepted.into_values().flatten() {
            let damaged = libraries.dir.path().join(format!("flipped-{bit}.so"));
            fs::write(&damaged, flipped(bytes, bit)).expect("the test directory is writable");
            assert!(child_maps(&damaged), "{} with bit {bit} flipped", path.display());
        }
    }
}

#[test]
fn flipped_bits_in_the_dynamic_table_are_refused_without_a_crash() {
    let libraries = libraries();
    for (path, bytes) in &libraries.all {
        let image = ImageFile::read(path).expect("whole");
        let table = image.section(".dynamic").expect("a library has one");
        let start = table.as_ptr().addr() - image.bytes().as_ptr().addr();
        let accepted = (start * 8..(start + table.len()) * 8).filter(|bit| refusal(flipped(bytes, *bit)).is_none());
        let damaged = libraries.dir.path().join("flipped.so");
        for bit in accepted {
            fs::write(&damaged, flipped(bytes, bit)).expect("the test directory is writable");
            let (at, status) = (bit / 8 - start, child(&damaged));
            assert!(status.code().is_some(), "{}: bit {} of byte {at}: {status}", path.display(), bit % 8);
        }
    }
}

#[test]
fn a_loaded_section_cannot_move_and_no_flip_breaks_the_check_itself() {
    const LOADED: usize = 2;
    const NO_BITS: usize = 8;
    for (path, bytes) in libraries().all {
        for header in (number(&bytes, 40, 8)..bytes.len()).step_by(64) {
            let (kind, flags) = (number(&bytes, header + 4, 4), number(&bytes, header + 8, 8));
            let loaded = flags & LOADED != 0 && kind != NO_BITS && number(&bytes, header + 32, 8) > 0;
            // Flips only the bits of the address and the offset, because most other fields of a section are for tools, not for the loader.
            for bit in (header + 16) * 8..(header + 32) * 8 {
                let refused = !loaded || refusal(flipped(&bytes, bit)).is_some();
                assert!(refused, "{}: bit {bit} of the header at {header}", path.display());
            }
            for bit in (header * 8..(header + 64) * 8).step_by(29) {
                let _either = refusal(flipped(&bytes, bit)); // the call must return, with any result
            }
        }
    }
}

#[test]
fn a_refused_library_never_ran() {
    let libraries = libraries();
    let (path, bytes) = &libraries.all[0];
    let witness = libraries.dir.path().join("witness.up");
    let mut refused = 0;
    for byte in (0..bytes.len()).step_by(7) {
        refused += usize::from(refusal(flipped(bytes, byte * 8 + byte % 8)).is_some());
    }
    assert!(refused > 0, "nothing was refused");
    assert!(!witness.exists(), "something of a refused library ran");
    assert!(child_maps(path), "the library as built can be mapped");
    assert!(witness.exists(), "the witness works");
}

#[test]
fn files_other_than_libraries_are_described() {
    let dir = TempDir::new().expect("a temporary directory");
    let check = |bytes: &[u8], expected: &str| {
        let error = ImageFile::from_bytes(Path::new("it"), bytes.to_vec()).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(b"", "it is empty");
    check(b"\x7fELF", "it is cut short: 64 bytes are required for the ELF header, the file has 4");
    check(b"MZ and so on", "it is a Windows file");
    check(b"!<arch>\n", "it is a static archive");
    check(b"some text", "it is not an ELF file");
    check(&fs::read("/proc/self/exe").expect("this program")[..16], "it is cut short");
    let object = dir.path().join("x.o");
    let source = dir.path().join("x.c");
    fs::write(&source, "int x;").expect("the test directory is writable");
    let built = Command::new("gcc").arg("-c").arg(&source).arg("-o").arg(&object).status().expect("gcc runs");
    assert!(built.success());
    check(&fs::read(object).expect("just built"), "it is an object file, not a shared library");
    let missing = ImageFile::read(&dir.path().join("nowhere.so"));
    assert!(matches!(missing, Err(ImageError::Io { .. })));
}

/// Returns true if another process can map and unmap the file.
fn child_maps(path: &Path) -> bool {
    child(path).success()
}

fn child(path: &Path) -> ExitStatus {
    let mut child = Command::new(env::current_exe().expect("this program"));
    child.args(["--exact", "refusal::a_child_maps_its_argument"]).env(CHILD, path).env("RUST_BACKTRACE", "0");
    child.output().expect("this program runs").status
}

/// Returns immediately unless this process was started as a child.
#[test]
fn a_child_maps_its_argument() {
    let Some(path) = env::var_os(CHILD) else { return };
    let stage = StageDir::new().expect("a stage directory");
    let image = ImageFile::read(Path::new(&path)).expect("the parent found it whole");
    let staged = stage.stage(&image, "given").expect("the copy can be written");
    // SAFETY: the file is one of `libraries()`, with at most one flipped bit, which this call proves to be harmless.
    let image = unsafe { Image::map(staged, None) }.expect("the loader accepts it");
    // SAFETY: both libraries export `answer` with this type, and the pointer is used before unmapping.
    let answer = unsafe { image.symbol::<extern "C" fn() -> i32>(c"answer") }.expect("exported");
    assert!([42, 47].contains(&answer()));
    // SAFETY: `answer` is not used again.
    assert_eq!(unsafe { image.unmap() }, Unmapped::Gone);
}
