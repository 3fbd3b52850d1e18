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
#[path = "../../../src/world/testing.rs"]
pub(crate) mod testing;

pub(crate) use testing::sealed;

pub(crate) fn body(file: &testing::WorldFile<'_>) -> Vec<u8> {
    let bytes = file.encode().expect("records are written");
    bytes[format::HEAD..bytes.len() - 8].to_vec()
}
