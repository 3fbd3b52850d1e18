//! Tests library files with manual changes that only a complete host can detect.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::fs;
use std::path::PathBuf;

use alcedo_runtime::{Error, LoadError, seal_file};

use super::support::elf::{number, section};
use super::{assert_works, attacker, host, support};

/// Size of the seal that is appended to a library: magic and digest.
const SEAL: usize = 24;

/// Returns the attacker's library with a changed symbol and a new seal, and the folder that contains it.
fn with_symbol(name: &str, change: impl FnOnce(&[u8], usize) -> u64) -> (tempfile::TempDir, PathBuf) {
    let mut bytes = fs::read(attacker(&[])).expect("just built");
    bytes.truncate(bytes.len() - SEAL);
    let (symbols, names) = (section(&bytes, ".dynsym"), section(&bytes, ".dynstr"));
    let is_it = |at: &usize| {
        let rest = &bytes[names.start + number(&bytes, *at, 4)..];
        rest.starts_with(name.as_bytes()) && rest.get(name.len()) == Some(&0)
    };
    let at = symbols.step_by(24).find(is_it).unwrap_or_else(|| panic!("there is no {name}"));
    let value = change(&bytes, number(&bytes, at + 8, 8));
    bytes[at + 8..at + 16].copy_from_slice(&value.to_le_bytes());
    bytes[at + 16..at + 24].fill(0);
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("libattacker.so");
    fs::write(&path, &bytes).expect("the folder is writable");
    seal_file(&path).expect("it can be sealed");
    (dir, path)
}

/// Returns the end address that the last segment of a library has in memory.
fn end(elf: &[u8]) -> u64 {
    let headers = (0..number(elf, 56, 2)).map(|index| number(elf, 32, 8) + index * 56);
    let loads = headers.filter(|at| number(elf, *at, 4) == 1);
    loads.map(|at| number(elf, at + 16, 8) + number(elf, at + 40, 8)).max().expect("it has some") as u64
}

#[test]
fn a_root_module_out_of_bounds_or_misaligned_is_refused() {
    const ROOT: &str = "alcedo_root_module";
    let host = host();
    let addresses: [fn(&[u8], usize) -> u64; 3] =
        [|elf, _| end(elf) - 8, |elf, _| end(elf) - 64 - end(elf) % 8, |_, at| at as u64 + 1];
    for address in addresses {
        let (_dir, path) = with_symbol(ROOT, address);
        let created = support::builder().build().expect("a host").create_master(std::slice::from_ref(&path));
        let error = created.expect_err("it is refused");
        assert!(matches!(error, Error::Load(LoadError::Map(_))), "{error:?}");
        assert!(error.to_string().contains("which is not a valid address for"), "{error}");
        let report = host.reload(&[path]).expect("a report");
        assert!(report.to_string().contains("which is not a valid address for"), "{report}");
        assert_eq!(host.generation(), 1);
    }
    assert_works(&host);
}
