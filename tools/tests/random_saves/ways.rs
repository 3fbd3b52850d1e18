//! Ways in which programs save files.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::record::Part;

/// Method of writing a single file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Style {
    InPlace,
    /// Truncates the file, and writes it in parts with pauses.
    Pieces,
    Rename,
    Unlink,
    /// Renames the old file first, as vim does.
    Backup,
}

/// Kind of save: a single file, several files, or several contents in sequence.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    Source(Style),
    Dependency(Style),
    /// A text file that the source includes.
    Included(Style),
    /// A save of a part, after which the user requests a build.
    Requested(Part, Style),
    /// All modules, each by a rename.
    Switch,
    /// Two contents within a millisecond.
    Twice,
    /// A second content while the first content is built or loaded.
    During,
    /// The new number, first with different white space and then formatted. An editor with a formatter saves in this way.
    Formatted,
    /// Content that does not compile, followed by content that compiles.
    Broken,
    Same(Style),
    Touch,
}

/// Pseudo-random numbers (SplitMix64).
#[derive(Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    /// Returns a number below `limit`.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ (value >> 31)) % limit
    }

    pub(super) fn pause(&mut self, millis: std::ops::Range<u64>) {
        thread::sleep(Duration::from_millis(millis.start + self.below(millis.end - millis.start)));
    }

    fn style(&mut self) -> Style {
        [Style::InPlace, Style::Pieces, Style::Rename, Style::Unlink, Style::Backup][self.below(5) as usize]
    }

    /// Returns every kind of save once, in random order. Selects a random style for each kind that has a style, except `Source`.
    pub(super) fn ways(&mut self) -> Vec<Way> {
        let sources = [Style::InPlace, Style::Pieces, Style::Rename, Style::Unlink, Style::Backup].map(Way::Source);
        let others = [
            Way::Dependency(self.style()),
            Way::Included(self.style()),
            Way::Requested(Part::Environment, self.style()),
            Way::Switch,
            Way::Twice,
            Way::During,
            Way::Formatted,
            Way::Broken,
            Way::Same(self.style()),
            Way::Touch,
        ];
        let mut ways = Vec::new();
        for way in sources.into_iter().chain(others) {
            ways.insert(self.below(ways.len() as u64 + 1) as usize, way);
        }
        ways
    }
}

impl Style {
    pub(super) fn save(self, path: &Path, text: &str, random: &mut Random) {
        match self {
            Self::InPlace => fs::write(path, text).unwrap(),
            Self::Pieces => {
                let mut file = File::create(path).unwrap();
                let mut rest = text.as_bytes();
                while !rest.is_empty() {
                    random.pause(0..40);
                    let (piece, later) = rest.split_at(1 + random.below(rest.len() as u64) as usize);
                    file.write_all(piece).unwrap();
                    rest = later;
                }
            }
            Self::Rename => {
                let new = path.with_extension("new");
                fs::write(&new, text).unwrap();
                fs::rename(new, path).unwrap();
            }
            Self::Unlink => {
                fs::remove_file(path).unwrap();
                random.pause(0..30);
                fs::write(path, text).unwrap();
            }
            Self::Backup => {
                let mut backup = path.as_os_str().to_owned();
                backup.push("~");
                fs::rename(path, &backup).unwrap();
                fs::write(path, text).unwrap();
                fs::remove_file(backup).unwrap();
            }
        }
    }
}
