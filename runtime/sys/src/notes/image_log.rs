//! Content of the notes: the current images and the most recently unmapped images. Older images are dropped to limit the length over many
//! reloads. This file formats the lines, and `notes.rs` writes them to the file.
//!
//! A line consists of words with single spaces between them. Each line ends with `.`, to distinguish complete lines from partial lines:
//! `stage <folder> .`, `module <generation> <name> <copy> .`, `mapped <copy> <begin>-<end>… .`, `gone <milliseconds> <copy> .`, `forgotten
//! <modules> .`. External strings are escaped: spaces, backslashes and all bytes outside of printable ASCII appear as `\` and two hex
//! digits.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MOST_GONE: usize = 512;

/// Minimum number of superfluous lines before the file is rewritten.
const SLACK: usize = 512;

#[derive(Debug, Default)]
struct Image {
    module: String,
    mapped: String,
    gone: String,
}

impl Image {
    fn lines(&self) -> impl Iterator<Item = &str> {
        [&self.module, &self.mapped, &self.gone].into_iter().map(String::as_str).filter(|line| !line.is_empty())
    }
}

#[derive(Debug, Default)]
pub(super) struct ImageLog {
    stages: Vec<PathBuf>,
    /// Images that are mapped or about to be mapped, by the path of their copy.
    here: BTreeMap<PathBuf, Image>,
    /// Unmapped images, oldest first.
    gone: VecDeque<Image>,
    forgotten: u64,
    written: usize,
}

impl ImageLog {
    /// Adds a folder of copies, and drops the folders for which `is_there` returns `false`. Returns the line to write to the file.
    pub(super) fn stage(&mut self, folder: &Path, is_there: impl Fn(&Path) -> bool) -> String {
        self.stages.retain(|known| is_there(known));
        self.stages.push(folder.to_owned());
        self.line(stage_line(folder))
    }

    /// Adds a module that is about to be mapped from a copy.
    pub(super) fn module(&mut self, generation: u64, name: &str, copy: &Path) -> String {
        let line = format!("module {generation} {} {} .\n", escaped(name.as_bytes()), of_path(copy));
        self.here.entry(copy.to_owned()).or_default().module.clone_from(&line);
        self.line(line)
    }

    pub(super) fn mapped(&mut self, copy: &Path, ranges: &[Range<usize>]) -> String {
        let mut line = format!("mapped {}", of_path(copy));
        for range in ranges {
            let _infallible = write!(line, " {:x}-{:x}", range.start, range.end);
        }
        line += " .\n";
        self.here.entry(copy.to_owned()).or_default().mapped.clone_from(&line);
        self.line(line)
    }

    /// Marks a copy as unmapped. Returns the line to write, or `None` for an unknown copy.
    pub(super) fn gone(&mut self, copy: &Path, now: Duration) -> Option<String> {
        let mut image = self.here.remove(copy)?;
        let line = format!("gone {} {} .\n", now.as_millis(), of_path(copy));
        image.gone.clone_from(&line);
        self.gone.push_back(image);
        if self.gone.len() > MOST_GONE {
            let oldest = self.gone.pop_front();
            self.forgotten += u64::from(oldest.is_some_and(|image| !image.module.is_empty()));
        }
        Some(self.line(line))
    }

    /// Checks if the file has enough superfluous lines to be rewritten.
    pub(super) fn is_long(&self) -> bool {
        let images = self.here.values().chain(&self.gone);
        let needed = self.stages.len() + images.map(|image| image.lines().count()).sum::<usize>();
        // Requires that the rewrite removes at least half of the lines.
        self.written > SLACK && self.written > 2 * needed + SLACK
    }

    /// Returns the complete content of the file.
    pub(super) fn whole(&mut self) -> String {
        let mut content = format!("forgotten {} .\n", self.forgotten);
        content.extend(self.stages.iter().map(|folder| stage_line(folder)));
        // Lists the unmapped images first, because the current images were mapped later.
        content.extend(self.gone.iter().chain(self.here.values()).flat_map(Image::lines));
        self.written = content.lines().count();
        content
    }

    fn line(&mut self, line: String) -> String {
        self.written += 1;
        line
    }
}

fn stage_line(folder: &Path) -> String {
    format!("stage {} .\n", of_path(folder))
}

fn of_path(path: &Path) -> String {
    escaped(path.as_os_str().as_encoded_bytes())
}

fn escaped(bytes: &[u8]) -> String {
    let mut escaped = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'\\' | 0..=b' ' | 0x7f.. => {
                let _infallible = write!(escaped, "\\{byte:02x}");
            }
            _ => escaped.push(char::from(*byte)),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use super::{ImageLog, MOST_GONE, SLACK, escaped};

    fn copy(number: usize) -> PathBuf {
        PathBuf::from(format!("/tmp/s/cube.{number}.so"))
    }

    #[test]
    fn each_note_is_a_single_line_for_any_names() {
        let mut log = ImageLog::default();
        let unusual = Path::new("/tmp/a b\n\\c");
        assert_eq!(log.stage(unusual, |_| true), "stage /tmp/a\\20b\\0a\\5cc .\n");
        assert_eq!(log.module(3, "cube gone 1", unusual), "module 3 cube\\20gone\\201 /tmp/a\\20b\\0a\\5cc .\n");
        let ranges = [0x7000..0x8000, 0x9000..0xa001];
        assert_eq!(log.mapped(Path::new("/x"), &ranges), "mapped /x 7000-8000 9000-a001 .\n");
        assert_eq!(log.gone(Path::new("/x"), Duration::from_millis(1500)).unwrap(), "gone 1500 /x .\n");
        assert_eq!(log.gone(Path::new("/x"), Duration::ZERO), None, "it goes once");
        assert_eq!(escaped("ü".as_bytes()), "\\c3\\bc");
        assert_eq!(escaped(b""), "");
    }

    #[test]
    fn the_file_remains_short_over_a_hundred_thousand_reloads() {
        let mut log = ImageLog::default();
        let pinned = Path::new("/tmp/s/stays.so");
        let added = log.stage(Path::new("/tmp/s"), |_| true) + &log.module(1, "stays", pinned);
        let (mut lines, mut longest, mut rewritten) = (added.lines().count(), 0, 0);
        for reload in 0..100_000 {
            let mut added = log.module(reload as u64, "cube", &copy(reload));
            added += &log.mapped(&copy(reload), &[0x7000..0x8000, 0x9000..0xa000]);
            if let Some(last) = reload.checked_sub(1) {
                added += &log.gone(&copy(last), Duration::from_millis(last as u64)).unwrap();
            }
            lines += added.lines().count();
            if log.is_long() {
                rewritten += 1;
                lines = log.whole().lines().count();
            }
            longest = longest.max(lines);
        }
        assert!(longest <= 2 * (3 * MOST_GONE + 4) + SLACK + 4, "{longest} lines");
        assert!(rewritten < 1_000, "rewritten {rewritten} times: that costs more than it saves");
        let whole = log.whole();
        assert!(whole.contains("stage /tmp/s .\n"));
        assert!(whole.contains("module 1 stays /tmp/s/stays.so .\n"), "what is mapped is never forgotten");
        assert!(whole.contains(&format!("forgotten {} .\n", 99_999 - MOST_GONE)));
        assert!(
            whole.contains("gone 99998 /tmp/s/cube.99998.so .\n")
                && whole.contains("cube.99999.so 7000-8000 9000-a000 .\n")
        );
        assert_eq!(log.gone.len(), MOST_GONE);
    }

    #[test]
    fn removed_folders_do_not_lengthen_the_file() {
        let mut log = ImageLog::default();
        let (mut lines, mut longest) = (0, 0);
        for number in 0..10_000 {
            let line = log.stage(Path::new(&format!("/tmp/{number}")), |folder| folder == Path::new("/tmp/0"));
            lines += line.lines().count();
            if log.is_long() {
                lines = log.whole().lines().count();
            }
            longest = longest.max(lines);
        }
        assert!(longest <= SLACK + 8, "{longest} lines");
        assert_eq!(log.whole(), "forgotten 0 .\nstage /tmp/0 .\nstage /tmp/9999 .\n");
    }

    #[test]
    fn unloaded_images_are_listed_before_loaded_ones() {
        let mut log = ImageLog::default();
        for number in [1, 2] {
            log.module(number, "cube", &copy(number as usize));
        }
        assert!(log.gone(&copy(2), Duration::ZERO).is_some());
        let whole = log.whole();
        let at = |line: &str| whole.find(line).expect("it is listed");
        assert!(at("gone 0 /tmp/s/cube.2.so .") < at("module 1 cube"), "{whole}");
    }

    #[test]
    fn images_that_failed_to_map_are_forgotten_too() {
        let mut log = ImageLog::default();
        log.module(7, "broken", &copy(7));
        assert!(log.gone(&copy(7), Duration::ZERO).is_some());
        assert!(log.here.is_empty());
    }
}
