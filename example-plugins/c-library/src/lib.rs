//! Classes whose functions have their bodies in C libraries. `build.rs` compiles these libraries into the folder `user-code` next to the
//! module. A host must name this folder, and thereby vouches for its content.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

module! { name: "c_library" }

/// A position. In C, this type is a struct of three floats.
#[ustruct(pod, package = "Game")]
#[derive(Debug, Default, PartialEq)]
pub struct Vector {
    /// To the right.
    pub x: f32,
    /// Up.
    pub y: f32,
    /// Ahead.
    pub z: f32,
}

/// The three example functions from the page that documents DLLBind of UnrealScript.
#[uclass(package = "Game", dll_bind = "TestDLL")]
#[derive(Default)]
pub struct TestDll {}

#[uclass]
impl TestDll {
    /// Reverses a string.
    #[dll_import(name = "CallDLL1")]
    fn call_dll1(&self, s: &mut String);

    /// Returns a vector of its arguments.
    #[dll_import(name = "CallDLL2")]
    fn call_dll2(&self, x: f32, y: f32, z: f32) -> Vector;

    /// Reads and changes a string, an array, a float and a struct.
    #[dll_import(name = "CallDLL3")]
    fn call_dll3(&self, s: String, i: [i32; 2], f: &mut f32, v: &mut Vector) -> bool;

    /// Returns the number of calls since the library was opened. This function needs no working directory.
    #[dll_import(no_cwd)]
    fn calls(&self) -> i32;

    /// Calls these three functions, and returns a description of their results.
    #[ufunction(blueprint_callable)]
    fn tour(&self, this: This<Self>, text: String) -> String {
        let mut turned = text.clone();
        this.call_dll1(&mut turned);
        let made = this.call_dll2(1.5, -2.0, 0.25);
        let (mut f, mut v) = (0.5, Vector { x: 4.0, ..made });
        let is_ok = this.call_dll3(text, [7, -8], &mut f, &mut v);
        format!("{turned}; {made:?}; {is_ok} {f} {v:?}")
    }
}

/// A player in the memory layout that C expects. A string is a pointer, a length and a capacity.
#[ustruct(package = "Game")]
pub struct MyPlayerStruct {
    /// A name.
    player_name: String,
    /// A secret.
    player_password: String,
    /// From 0 to 100.
    health: f32,
    /// Points.
    score: f32,
}

/// Passes a struct with strings to C and back.
#[uclass(package = "Game", dll_bind = "StringDLL")]
#[derive(Default)]
pub struct StringDll {}

#[uclass]
impl StringDll {
    /// Truncates the strings that are too long.
    #[dll_import(name = "Login")]
    fn login(&self, player: &mut MyPlayerStruct);
}

/// Prime numbers that C writes.
#[ustruct(package = "Game")]
pub struct Primes {
    /// Primes that C has found, up to the capacity of the array.
    found: UArray<i32>,
}

/// An array that the host grows between two calls.
#[uclass(package = "Game", dll_bind = "ArrayDLL")]
#[derive(Default)]
pub struct ArrayDll {}

#[uclass]
impl ArrayDll {
    /// Writes as many primes as the array can hold. Returns the number of all primes below `limit`.
    #[dll_import(name = "PrimesBelow")]
    fn primes_below(&self, primes: &mut Primes, limit: i32) -> i32;
}

/// zlib.
#[uclass(package = "Game", dll_bind = "Zlib")]
#[derive(Default)]
pub struct Zlib {}

#[uclass]
impl Zlib {
    /// `uLong crc32(uLong crc, const Bytef *buf, uInt len)`
    #[dll_import(name = "zlib_crc32", no_cwd)]
    fn crc32(&self, crc: u64, buf: [u8; 256], len: u32) -> u64;

    /// `int compress(Bytef *dest, uLongf *destLen, const Bytef *source, uLong sourceLen)`
    #[dll_import(name = "zlib_compress", no_cwd)]
    fn compress(&self, dest: &mut [u8; 512], dest_len: &mut u64, source: [u8; 256], source_len: u64) -> i32;

    /// `int uncompress(Bytef *dest, uLongf *destLen, const Bytef *source, uLong sourceLen)`
    #[dll_import(name = "zlib_uncompress", no_cwd)]
    fn uncompress(&self, dest: &mut [u8; 256], dest_len: &mut u64, source: [u8; 512], source_len: u64) -> i32;

    /// Compresses and decompresses a string. Returns its checksum, its compressed size and the decompressed string.
    #[ufunction(blueprint_callable)]
    fn pack(&self, this: This<Self>, text: String) -> String {
        let len = text.len().min(256);
        let mut source = [0; 256];
        source[..len].copy_from_slice(&text.as_bytes()[..len]);
        let checksum = this.crc32(0, source, len as u32);
        let (mut packed, mut packed_len) = ([0; 512], 512);
        let wrong = this.compress(&mut packed, &mut packed_len, source, len as u64);
        let (mut unpacked, mut unpacked_len) = ([0; 256], 256);
        let wrong = wrong | this.uncompress(&mut unpacked, &mut unpacked_len, packed, packed_len);
        let out = String::from_utf8_lossy(&unpacked[..unpacked_len as usize]);
        format!("{wrong} {checksum:#x} {packed_len} {}", out == text)
    }
}

/// SQLite, called through a few lines of C.
#[uclass(package = "Game", dll_bind = "Database")]
#[derive(Default)]
pub struct Database {}

#[uclass]
impl Database {
    /// Returns the version of SQLite.
    #[dll_import(name = "Version")]
    fn version(&self) -> String;

    /// Runs statements. The capacity of `answer` limits the size of the answer.
    #[dll_import(name = "Query")]
    fn query(&self, statements: String, answer: &mut String) -> i32;

    /// Returns the answer to a query, or the error message of SQLite.
    #[ufunction(blueprint_callable)]
    fn evaluate(&self, this: This<Self>, statements: String) -> Result<String, String> {
        let mut answer = " ".repeat(256);
        match this.query(statements, &mut answer) {
            0 => Ok(answer),
            wrong => Err(format!("SQLite error {wrong}")),
        }
    }
}
