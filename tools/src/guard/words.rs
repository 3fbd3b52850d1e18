//! The last words of a host that crashed, as `alcedo_sys::crash` writes them, and those of a panic, which are written alike.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A file, or a part of it, that was mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    pub(super) range: Range<u64>,
    pub(super) offset: u64,
    pub(super) executable: bool,
    pub(super) path: PathBuf,
}

/// What was written down.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) signal: i32,
    /// Whether it was sent, by `abort` for one, rather than caused by an instruction.
    pub(super) sent: bool,
    pub(super) address: u64,
    pub(super) pc: u64,
    pub(super) sp: u64,
    pub(super) fp: u64,
    /// Of machines that have it.
    pub(super) lr: u64,
    pub(super) thread: String,
    /// The address of the first byte of the stack.
    pub(super) stack_begin: u64,
    pub(super) stack: Vec<u8>,
    pub(super) maps: Vec<Mapped>,
    /// Copies of modules: path, name, generation.
    pub(super) modules: Vec<(PathBuf, String, u64)>,
    /// Folders of copies.
    pub(super) stages: Vec<PathBuf>,
    /// Of a panic: file, line and column.
    pub(super) at: (String, u32, u32),
    /// Whether all was written.
    is_whole: bool,
}

impl Words {
    /// Reads them; nothing if the host did not get to its first word.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        Self::read_files(folder, "")
    }

    /// Reads those of a panic; nothing if the host is writing over them.
    pub(super) fn read_panic(folder: &Path, slot: u32) -> Option<Self> {
        let ending = format!("-{slot:02}");
        let crash = || fs::read(folder.join(format!("crash{ending}"))).ok();
        let before = crash()?;
        let words = Self::read_files(folder, &ending).filter(|words| words.is_whole)?;
        (crash()? == before).then_some(words)
    }

    fn read_files(folder: &Path, ending: &str) -> Option<Self> {
        let bytes = |name: &str| fs::read(folder.join(format!("{name}{ending}"))).unwrap_or_default();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let crash = text(bytes("crash"));
        let notes = text(fs::read(folder.join("notes")).unwrap_or_default());
        let mut words = Self::parse(&crash, &text(bytes("maps")), &notes);
        words.stack = bytes("stack");
        (!crash.is_empty()).then_some(words)
    }

    fn parse(crash: &str, maps: &str, notes: &str) -> Self {
        let mut words = Self { maps: maps.lines().filter_map(mapped).collect(), ..Self::default() };
        words.is_whole = crash.ends_with("\nend\n");
        for (name, value) in crash.lines().filter_map(|line| line.split_once(' ')) {
            let hex = || u64::from_str_radix(value, 16).unwrap_or_default();
            match name {
                "signal" => words.signal = value.parse().unwrap_or_default(),
                "sent" => words.sent = value == "1",
                "address" => words.address = hex(),
                "pc" => words.pc = hex(),
                "sp" => words.sp = hex(),
                "fp" => words.fp = hex(),
                "lr" => words.lr = hex(),
                "stack" => words.stack_begin = hex(),
                "place" => words.at.0 = value.to_owned(),
                "line" => words.at.1 = value.parse().unwrap_or_default(),
                "column" => words.at.2 = value.parse().unwrap_or_default(),
                "name" => words.thread = value.to_owned(),
                _ => {}
            }
        }
        for (name, value) in notes.lines().filter_map(|line| line.split_once(' ')) {
            match name {
                "module" => words.modules.extend(module(value)),
                "stage" => words.stages.push(PathBuf::from(value)),
                _ => {}
            }
        }
        words
    }

    /// Whether the stack was full: what was touched lies just about where the stack pointer stands, and nothing is
    /// mapped there.
    pub(super) fn is_overflow(&self) -> bool {
        const NEAR: u64 = 64 * 1024;
        let is_fault = !self.sent && self.signal == signal_hook::consts::SIGSEGV;
        is_fault && self.address.abs_diff(self.sp) < NEAR && self.stack_begin > self.address
    }

    /// The eight bytes at an address of the stack.
    pub(super) fn word_at(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.stack_begin)?).ok()?;
        let bytes = self.stack.get(at..at.checked_add(8)?)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }
}

/// `<generation> <name> <path>`
fn module(value: &str) -> Option<(PathBuf, String, u64)> {
    let mut fields = value.splitn(3, ' ');
    let (generation, name, path) = (fields.next()?.parse().ok()?, fields.next()?, fields.next()?);
    Some((PathBuf::from(path), name.to_owned(), generation))
}

/// A line of the maps that stands for a file.
fn mapped(line: &str) -> Option<Mapped> {
    let mut fields = line.splitn(6, ' ');
    let (begin, end) = fields.next()?.split_once('-')?;
    let permissions = fields.next()?;
    let offset = fields.next()?;
    let path = fields.nth(2)?.trim_start();
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    path.starts_with('/').then_some(())?;
    Some(Mapped {
        range: hex(begin)?..hex(end)?,
        offset: hex(offset)?,
        executable: permissions.as_bytes().get(2) == Some(&b'x'),
        path: PathBuf::from(path),
    })
}

#[cfg(test)]
mod tests {
    use super::{Mapped, Words};
    use std::path::PathBuf;

    const MAPS: &str = "\
        10000-12000 r--p 00000000 fe:00 1      /tmp/alcedo-stage-x/cube.1.so\n\
        12000-13000 r-xp 00002000 fe:00 1      /tmp/alcedo-stage-x/cube.1.so\n\
        7ff0-7ff1 rw-p 00000000 00:00 0        [stack]\n\
        7ff2-7ff3 rw-p 00000000 00:00 0 \n";

    #[test]
    fn last_words_are_read_as_they_were_written() {
        let crash =
            "signal 11\nsent 0\nthread 7\naddress 8\npc 12010\nsp 7ff000\nfp 1\nlr 0\nname main\nstack 7ff000\nend\n";
        let notes = "stage /tmp/alcedo-stage-x\nmodule 2 cube /tmp/alcedo-stage-x/cube.1.so\nmodule broken\n";
        let mut words = Words::parse(crash, MAPS, notes);
        words.stack = [1_u64.to_ne_bytes(), 2_u64.to_ne_bytes()].concat();
        let path = PathBuf::from("/tmp/alcedo-stage-x/cube.1.so");
        assert_eq!((words.signal, words.sent, words.address, words.pc), (11, false, 8, 0x12010));
        assert_eq!((words.thread.as_str(), words.is_overflow()), ("main", false));
        assert_eq!(words.modules, [(path.clone(), "cube".to_owned(), 2)]);
        assert_eq!(words.stages, [PathBuf::from("/tmp/alcedo-stage-x")]);
        let second = Mapped { range: 0x12000..0x13000, offset: 0x2000, executable: true, path };
        assert_eq!((words.maps.len(), &words.maps[1]), (2, &second));
        let at = |address| words.word_at(address);
        assert_eq!(
            [at(0x7fe_fff), at(0x7ff_000), at(0x7ff_008), at(0x7ff_009), at(u64::MAX)],
            [None, Some(1), Some(2), None, None]
        );
    }

    #[test]
    fn a_stack_that_is_full_is_known_by_where_it_was_touched() {
        let crash = "signal 11\nsent 0\naddress 7fe0ff8\nsp 7fe1000\nstack 7fe2000\n";
        assert!(Words::parse(crash, "", "").is_overflow());
        assert!(!Words::parse(&crash.replace("sent 0", "sent 1"), "", "").is_overflow());
        assert!(!Words::parse(&crash.replace("address 7fe0ff8", "address 10"), "", "").is_overflow());
    }
}
