//! Parses the files that `alcedo_sys::crash` writes in a crashing host. The files for a panic have the same format.

use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use alcedo_runtime::development::plain_file;

/// Maximum size of a file that a host's crash guard writes.
const LARGEST: u64 = 1 << 28;

/// An image that the host had mapped, or was about to map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ImageRecord {
    /// Path of the private copy that was mapped.
    pub(super) copy: PathBuf,
    /// Name and generation of the module, if the image is a module.
    pub(super) module: Option<(String, u64)>,
    /// Address ranges of the segments. Empty if the image was not yet mapped.
    pub(super) ranges: Vec<Range<u64>>,
    /// Time at which the image was unmapped, on the clock of [`CrashDump::time`].
    pub(super) unmapped: Option<Duration>,
}

/// A mapped part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    pub(super) range: Range<u64>,
    pub(super) offset: u64,
    pub(super) executable: bool,
    pub(super) path: PathBuf,
}

/// Parsed contents of the files that a host has written for a crash or a panic.
#[derive(Debug, Default)]
pub(super) struct CrashDump {
    pub(super) signal: i32,
    /// Set if code sent the signal, for example through `abort`. Unset if a faulting instruction caused the signal.
    pub(super) sent: bool,
    pub(super) address: u64,
    pub(super) pc: u64,
    pub(super) sp: u64,
    pub(super) fp: u64,
    /// Link register, on processors that have a link register.
    pub(super) lr: u64,
    pub(super) thread: String,
    /// Address of the first byte of `stack`.
    pub(super) stack_begin: u64,
    pub(super) stack: Vec<u8>,
    pub(super) maps: Vec<Mapped>,
    /// All mapped ranges, in order. Empty if the list of mappings is missing or incomplete.
    pub(super) mapped_ranges: Vec<Range<u64>>,
    /// Time of the crash, on the clock that the host also uses for the times at which images are unmapped.
    pub(super) time: Option<Duration>,
    /// Mapped and recently unmapped images.
    pub(super) images: Vec<ImageRecord>,
    /// Number of modules whose records the host discarded, because the modules had been unmapped long before the crash.
    pub(super) forgotten: u64,
    pub(super) stages: Vec<PathBuf>,
    /// Side and owner of a buffer, after a fault in the fence of this buffer. A fence is the inaccessible memory around a buffer.
    pub(super) fence: Option<String>,
    /// The module whose thread-local was being dropped.
    pub(super) local: Option<String>,
    /// File, line and column of a panic.
    pub(super) at: (String, u32, u32),
    /// Message of a panic, in one line.
    pub(super) message: String,
    /// Set if the file is complete.
    pub(super) is_whole: bool,
}

impl CrashDump {
    /// Returns true if the host has armed its crash guard, which creates the files that the crash handler fills.
    pub(super) fn is_armed(folder: &Path) -> bool {
        folder.join("crash").is_file()
    }

    /// Reads the files that the host has written for a crash. Returns `None` if no such files exist.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        Self::read_files(folder, "")
    }

    /// Reads the files that the host has written for a panic. Returns `None` if a file is missing or incomplete, or if the host overwrites
    /// a file while it is read.
    pub(super) fn read_panic(folder: &Path, slot: u32) -> Option<Self> {
        let ending = format!("-{slot:02}");
        let crash = || plain_file::read(&folder.join(format!("crash{ending}")), LARGEST).ok();
        let before = crash()?;
        let dump = Self::read_files(folder, &ending).filter(|dump| dump.is_whole)?;
        (crash()? == before).then_some(dump)
    }

    fn read_files(folder: &Path, ending: &str) -> Option<Self> {
        let bytes = |name: &str| plain_file::read(&folder.join(format!("{name}{ending}")), LARGEST).unwrap_or_default();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let crash = text(bytes("crash"));
        let notes = text(plain_file::read(&folder.join("notes"), LARGEST).unwrap_or_default());
        let mut dump = Self::parse(&crash, &text(bytes("maps")), &notes);
        dump.stack = bytes("stack");
        (!crash.is_empty()).then_some(dump)
    }

    fn parse(crash: &str, maps: &str, notes: &str) -> Self {
        let mut dump = Self { maps: maps.lines().filter_map(mapped).collect(), ..Self::default() };
        dump.mapped_ranges = maps.lines().filter_map(|line| range(line.split(' ').next()?)).collect();
        dump.is_whole = crash.ends_with("\nend\n");
        // Length of the list of mappings in the host, in bytes.
        let mut maps_len: Option<usize> = None;
        for (name, value) in crash.lines().filter_map(|line| line.split_once(' ')) {
            let hex = || u64::from_str_radix(value, 16).unwrap_or_default();
            match name {
                "signal" => dump.signal = value.parse().unwrap_or_default(),
                "sent" => dump.sent = value == "1",
                "time" => dump.time = value.parse().ok().map(Duration::from_millis),
                "address" => dump.address = hex(),
                "pc" => dump.pc = hex(),
                "sp" => dump.sp = hex(),
                "fp" => dump.fp = hex(),
                "lr" => dump.lr = hex(),
                "stack" => dump.stack_begin = hex(),
                "maps" => maps_len = value.parse().ok(),
                "place" => dump.at.0 = value.to_owned(),
                "line" => dump.at.1 = value.parse().unwrap_or_default(),
                "message" => dump.message = value.trim_end().to_owned(),
                "column" => dump.at.2 = value.parse().unwrap_or_default(),
                "name" => dump.thread = value.to_owned(),
                "fence" => dump.fence = Some(value.to_owned()),
                "local" => dump.local = Some(value.to_owned()),
                _ => {}
            }
        }
        // Discards a truncated list, because an incomplete list cannot prove that an address is unmapped.
        if maps_len != Some(maps.len()) {
            dump.mapped_ranges.clear();
        }
        notes.lines().for_each(|line| dump.note(line));
        dump
    }

    /// Parses a line of the notes that the host has written. Incomplete or invalid lines are ignored.
    fn note(&mut self, line: &str) {
        let fields: Vec<_> = line.split(' ').collect();
        match fields[..] {
            ["stage", folder, "."] => self.stages.extend(path(folder)),
            ["forgotten", modules, "."] => self.forgotten = modules.parse().unwrap_or_default(),
            ["module", generation, name, copy, "."] => {
                let name = unescaped(name).map(|name| String::from_utf8_lossy(&name).into_owned());
                if let (Ok(generation), Some(name), Some(copy)) = (generation.parse(), name, path(copy)) {
                    self.image(copy).module = Some((name, generation));
                }
            }
            ["mapped", copy, ref ranges @ .., "."] => {
                let ranges: Option<Vec<_>> = ranges.iter().map(|text| range(text)).collect();
                if let (Some(ranges), Some(copy)) = (ranges, path(copy)) {
                    self.image(copy).ranges = ranges;
                }
            }
            ["gone", at, copy, "."] => {
                if let (Ok(at), Some(copy)) = (at.parse(), path(copy)) {
                    self.image(copy).unmapped = Some(Duration::from_millis(at));
                }
            }
            _ => {}
        }
    }

    /// Returns the record of a mapped file. If the file has no record, adds a record. Names of private copies are unique, but a library of
    /// the system may be unloaded and loaded again, so records of unmapped files are skipped. Searches from the end, because most lines
    /// concern a recent image.
    fn image(&mut self, copy: PathBuf) -> &mut ImageRecord {
        let is_it = |image: &ImageRecord| image.copy == copy && image.unmapped.is_none();
        let at = self.images.iter().rposition(is_it).unwrap_or_else(|| {
            self.images.push(ImageRecord { copy, ..ImageRecord::default() });
            self.images.len() - 1
        });
        &mut self.images[at]
    }

    /// Returns the name and the generation of the module that was mapped from this copy.
    pub(super) fn module(&self, copy: &Path) -> Option<&(String, u64)> {
        self.images.iter().rev().find(|image| image.copy == copy)?.module.as_ref()
    }

    /// Returns the number of modules loaded so far.
    pub(super) fn modules(&self) -> u64 {
        self.forgotten + self.images.iter().filter(|image| image.module.is_some()).count() as u64
    }

    /// Returns true for a stack overflow. In this case, the faulting address is near the stack pointer and below the recorded stack.
    pub(super) fn is_overflow(&self) -> bool {
        const NEAR: u64 = 64 * 1024;
        let is_fault = !self.sent && self.signal == signal_hook::consts::SIGSEGV;
        is_fault && self.address.abs_diff(self.sp) < NEAR && self.stack_begin > self.address
    }

    /// Reads eight bytes at an address of the stack.
    pub(super) fn word_at(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.stack_begin)?).ok()?;
        let bytes = self.stack.get(at..at.checked_add(8)?)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }
}

/// Parses `<begin>-<end>`, both in hex.
fn range(text: &str) -> Option<Range<u64>> {
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (begin, end) = text.split_once('-')?;
    Some(hex(begin)?..hex(end)?)
}

fn path(field: &str) -> Option<PathBuf> {
    unescaped(field).map(|bytes| PathBuf::from(OsString::from_vec(bytes)))
}

/// Decodes a field of the notes, in which `\` and two hex digits represent one byte.
fn unescaped(field: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'\\' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            bytes.push((digit()? * 16 + digit()?) as u8);
        } else {
            bytes.push(byte);
        }
    }
    Some(bytes)
}

/// Parses a line in the host's list of mappings. Returns `None` if the line does not describe a mapped file.
fn mapped(line: &str) -> Option<Mapped> {
    let mut fields = line.splitn(6, ' ');
    let range = range(fields.next()?)?;
    let permissions = fields.next()?;
    let offset = fields.next()?;
    let path = fields.nth(2)?.trim_start();
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    path.starts_with('/').then_some(())?;
    Some(Mapped {
        range,
        offset: hex(offset)?,
        executable: permissions.as_bytes().get(2) == Some(&b'x'),
        path: PathBuf::from(path),
    })
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::{CrashDump, ImageRecord, Mapped};
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    const MAPS: &str = "\
        10000-12000 r--p 00000000 fe:00 1      /tmp/alcedo-stage-x/cube.1.so\n\
        12000-13000 r-xp 00002000 fe:00 1      /tmp/alcedo-stage-x/cube.1.so\n\
        7ff0-7ff1 rw-p 00000000 00:00 0        [stack]\n\
        7ff2-7ff3 rw-p 00000000 00:00 0 \n";

    #[test]
    fn last_words_are_read_as_they_were_written() {
        let len = MAPS.len();
        let crash = format!(
            "signal 11\nsent 0\nthread 7\ntime 1500\naddress 8\npc 12010\nsp 7ff000\nfp 1\nlr 0\nname main\nlocal cube\nstack 7ff000\nmaps {len}\nend\n"
        );
        let notes = "stage /tmp/alcedo-stage-x .\nmodule 2 cube /tmp/alcedo-stage-x/cube.1.so .\nmodule broken\n";
        let mut dump = CrashDump::parse(&crash, MAPS, notes);
        dump.stack = [1_u64.to_ne_bytes(), 2_u64.to_ne_bytes()].concat();
        let path = PathBuf::from("/tmp/alcedo-stage-x/cube.1.so");
        assert_eq!((dump.signal, dump.sent, dump.address, dump.pc), (11, false, 8, 0x12010));
        assert_eq!((dump.thread.as_str(), dump.is_overflow()), ("main", false));
        assert_eq!(dump.local.as_deref(), Some("cube"));
        assert_eq!(dump.module(&path), Some(&("cube".to_owned(), 2)));
        assert_eq!(dump.time, Some(Duration::from_millis(1500)));
        assert!(CrashDump::parse(&crash, &MAPS[..len - 40], notes).mapped_ranges.is_empty(), "the list is cut short");
        assert_eq!(dump.mapped_ranges, [0x10000..0x12000, 0x12000..0x13000, 0x7ff0..0x7ff1, 0x7ff2..0x7ff3]);
        assert_eq!(dump.stages, [PathBuf::from("/tmp/alcedo-stage-x")]);
        let second = Mapped { range: 0x12000..0x13000, offset: 0x2000, executable: true, path };
        assert_eq!((dump.maps.len(), &dump.maps[1]), (2, &second));
        let at = |address| dump.word_at(address);
        assert_eq!(
            [at(0x7fe_fff), at(0x7ff_000), at(0x7ff_008), at(0x7ff_009), at(u64::MAX)],
            [None, Some(1), Some(2), None, None]
        );
    }

    #[test]
    fn a_stack_that_is_full_is_known_by_where_it_was_touched() {
        let crash = "signal 11\nsent 0\naddress 7fe0ff8\nsp 7fe1000\nstack 7fe2000\n";
        assert!(CrashDump::parse(crash, "", "").is_overflow());
        assert!(!CrashDump::parse(&crash.replace("sent 0", "sent 1"), "", "").is_overflow());
        assert!(!CrashDump::parse(&crash.replace("address 7fe0ff8", "address 10"), "", "").is_overflow());
    }

    fn images(notes: &str) -> Vec<ImageRecord> {
        CrashDump::parse("", "", notes).images
    }

    #[test]
    fn a_library_that_comes_again_is_another_image() {
        let notes = "mapped /lib/libx.so 7000-8000 .\ngone 1000 /lib/libx.so .\nmapped /lib/libx.so 9000-a000 .\n";
        let first = ImageRecord {
            copy: "/lib/libx.so".into(),
            ranges: iter::once(0x7000..0x8000).collect(),
            unmapped: Some(Duration::from_secs(1)),
            ..ImageRecord::default()
        };
        let second = ImageRecord { ranges: iter::once(0x9000..0xa000).collect(), unmapped: None, ..first.clone() };
        assert_eq!(images(notes), [first.clone(), second.clone()]);
        let unmapped = ImageRecord { unmapped: Some(Duration::from_secs(2)), ..second };
        assert_eq!(images(&format!("{notes}gone 2000 /lib/libx.so .\n")), [first, unmapped]);
    }

    #[test]
    fn images_are_parsed_from_whole_lines_only() {
        let notes = "forgotten 40 .\nmodule 2 cube /s/cube.1.so .\nmapped /s/cube.1.so 7000-8000 9000-9fff .\n\
                     gone 1500 /s/cube.1.so .\nmodule 2 a\\20b\\0a /s\\20x/\\c3\\bc.so .\n";
        let cube = ImageRecord {
            copy: "/s/cube.1.so".into(),
            module: Some(("cube".into(), 2)),
            ranges: vec![0x7000..0x8000, 0x9000..0x9fff],
            unmapped: Some(Duration::from_millis(1500)),
        };
        let strange =
            ImageRecord { copy: "/s x/ü.so".into(), module: Some(("a b\n".into(), 2)), ..ImageRecord::default() };
        assert_eq!(images(notes), [cube, strange]);
        assert_eq!(CrashDump::parse("", "", notes).modules(), 42);
        // Checks that the parser neither panics nor returns wrong data for a truncated file.
        for len in 0..notes.len() {
            for image in images(&notes[..len]) {
                let whole = images(notes);
                let written = whole.iter().find(|other| other.copy == image.copy);
                let written = written.unwrap_or_else(|| panic!("{image:?} at {len}"));
                assert!(image.ranges.is_empty() || image.ranges == written.ranges, "{len}: {image:?}");
                assert!(image.unmapped.is_none() || image.unmapped == written.unmapped, "{len}: {image:?}");
                assert!(image.module.is_none() || image.module == written.module, "{len}: {image:?}");
            }
            // A line appended to a partial line is invalid.
            let joined = format!("{}gone 7 /s/other.so .\n", &notes[..len]);
            let ends_a_line = len == 0 || notes[..len].ends_with('\n');
            let other = images(&joined).into_iter().any(|image| image.copy == Path::new("/s/other.so"));
            assert_eq!(other, ends_a_line, "{len}");
        }
        for nonsense in
            ["mapped", "mapped .", "mapped /x 1-2-3 .", "mapped /x 1 .", "mapped /x\\f 1-2 .", "gone x /x ."]
        {
            assert_eq!(images(nonsense), [], "{nonsense}");
        }
    }
}
