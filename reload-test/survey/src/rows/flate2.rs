//! Compresses and decompresses text.

use std::io::{self, Read as _, Write as _};

use crate::local::report;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

fn there_and_back(text: &[u8]) -> io::Result<bool> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text)?;
    let small = encoder.finish()?;
    let mut again = Vec::new();
    GzDecoder::new(&*small).read_to_end(&mut again)?;
    Ok(again == text && small.len() < text.len() / 10)
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    report(there_and_back(&b"one, two, three, and so on ".repeat(1000)))
}

pub(crate) fn end() {}
