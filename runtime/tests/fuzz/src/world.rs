//! Compiles the files of `runtime/src/world` that convert bytes to records of a world, for the fuzz targets.

#[path = "../../../src/world/canonical.rs"]
mod canonical;
#[path = "../../../src/world/check.rs"]
mod check;
#[path = "../../../src/world/file_value.rs"]
pub(crate) mod file_value;
#[path = "../../../src/world/format.rs"]
mod format;
#[path = "../../../src/world/records.rs"]
pub(crate) mod records;

/// Returns a file with this body and a valid length and digest.
pub(crate) fn sealed(body: &[u8]) -> Vec<u8> {
    let (version, len) = (format::VERSION.to_le_bytes(), (body.len() as u64).to_le_bytes());
    let mut bytes = [&format::MAGIC, &version[..], &[0; 4], &len, body].concat();
    bytes.extend(format::digest(&bytes[..format::HEAD], body).to_le_bytes());
    bytes
}

pub(crate) fn body(file: &records::WorldFile<'_>) -> Vec<u8> {
    let bytes = file.encode().expect("records are written");
    bytes[format::HEAD..bytes.len() - 8].to_vec()
}
