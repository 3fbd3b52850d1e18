//! Reads the kernel's reports on this process from `/proc/self`: mappings, and ids of threads and descriptors.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Maximum size in bytes of a mapping list that is read only for reports. A list of this size has about five thousand mappings and takes
/// four milliseconds to read.
const LONGEST_LIST: usize = 1 << 18;

pub(super) struct Maps(Vec<u8>);

/// Mapping, parsed from one line of `/proc/self/maps`. The line consists of range, permissions, offset, device, inode and name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Mapped<'a> {
    pub(super) range: Range<usize>,
    pub(super) rights: &'a [u8],
    pub(super) device: &'a str,
    pub(super) inode: &'a str,
    pub(super) name: &'a [u8],
}

impl Maps {
    pub(super) fn read() -> io::Result<Self> {
        fs::read("/proc/self/maps").map(Self)
    }

    /// Reads a mapping list for reports. Returns `None` if the list is too long or not available.
    pub(super) fn read_short() -> Option<Self> {
        let mut text = Vec::new();
        fs::File::open("/proc/self/maps").ok()?.take(LONGEST_LIST as u64).read_to_end(&mut text).ok()?;
        Some(Self(text)).filter(Self::is_short)
    }

    pub(super) fn is_short(&self) -> bool {
        self.0.len() < LONGEST_LIST
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Mapped<'_>> + Clone {
        self.0.split(|byte| *byte == b'\n').filter_map(Mapped::of)
    }
}

impl<'a> Mapped<'a> {
    pub(super) fn of(line: &'a [u8]) -> Option<Self> {
        let mut fields = line.splitn(6, |byte| *byte == b' ');
        let mut next = || std::str::from_utf8(fields.next()?).ok();
        let (start, end) = next()?.split_once('-')?;
        let hex = |text: &str| usize::from_str_radix(text, 16).ok();
        let (range, rights, _offset) = (hex(start)?..hex(end)?, next()?.as_bytes(), next()?);
        let (device, inode) = (next()?, next()?);
        Some(Self { range, rights, device, inode, name: fields.next().unwrap_or_default().trim_ascii() })
    }

    pub(super) fn is_writable(&self) -> bool {
        self.rights.get(1) == Some(&b'w')
    }

    pub(super) fn is_code(&self) -> bool {
        self.rights.get(2) == Some(&b'x')
    }

    /// Returns the path of the mapped file, without the suffix for a deleted file.
    pub(super) fn file(&self) -> Option<&'a Path> {
        let name = self.name.strip_suffix(b" (deleted)").unwrap_or(self.name);
        name.starts_with(b"/").then(|| Path::new(OsStr::from_bytes(name)))
    }
}

/// Returns the numeric entry names of a folder in `/proc/self`: `task`, `fd`.
pub(super) fn numbers(folder: &str) -> io::Result<Vec<i32>> {
    let entries = fs::read_dir(format!("/proc/self/{folder}"))?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}

/// Returns the number after `name` in a `status` file.
pub(super) fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Mapped, field};

    #[test]
    fn list_lines_are_parsed_with_any_name() {
        let check = |line: &str, file: Option<&str>, is_code| {
            let mapped = Mapped::of(line.as_bytes()).expect("it is a line");
            assert_eq!((mapped.file().and_then(|file| file.to_str()), mapped.is_code()), (file, is_code), "{line}");
            mapped.range
        };
        let range = check("7f0-7f1 r-xp 00001000 fe:00 123            /tmp/a.so", Some("/tmp/a.so"), true);
        assert_eq!(range, 0x7f0..0x7f1);
        check("7f0-7f1 r--p 00000000 fe:00 123            /tmp/a b.so (deleted)", Some("/tmp/a b.so"), false);
        check("7f0-7f1 rw-p 00000000 00:00 0 ", None, false);
        check("7f0-7f1 rw-p 00000000 00:00 0              [heap]", None, false);
        let line = b"7f425d400000-7f425d401000 rw-s 00000000 00:10 85305                      anon_inode:[io_uring]";
        let mapped = Mapped::of(line).expect("it is a line");
        assert_eq!((mapped.device, mapped.inode, mapped.is_writable()), ("00:10", "85305", true));
        assert_eq!((Mapped::of(b""), Mapped::of(b"no line")), (None, None));
    }

    #[test]
    fn a_field_is_the_number_after_its_name() {
        assert_eq!(field("Name:\tx\nVmRSS:\t    1960 kB\n", "VmRSS:"), Some(1960));
        assert_eq!(field("Name:\tx\n", "VmRSS:"), None);
    }
}
