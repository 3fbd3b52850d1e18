//! Draws a picture, scales it down, encodes it and decodes it.

use std::io::Cursor;

use crate::local::report;

use image::{ImageError, ImageFormat, Rgb, RgbImage, imageops};

fn there_and_back() -> Result<bool, ImageError> {
    let picture = RgbImage::from_fn(64, 64, |x, y| Rgb([x as u8, y as u8, 9]));
    let small = imageops::resize(&picture, 16, 16, imageops::FilterType::Triangle);
    let mut file = Cursor::new(Vec::new());
    small.write_to(&mut file, ImageFormat::Png)?;
    Ok(image::load_from_memory(file.get_ref())?.to_rgb8() == small)
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    report(there_and_back())
}

pub(crate) fn end() {}
