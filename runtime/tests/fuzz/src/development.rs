//! Compiles the file `link.rs` of `runtime/src/development` for the fuzz targets.

#[expect(unused_imports, reason = "its sockets are replaced below")]
#[path = "../../../src/development/link.rs"]
pub(crate) mod link;

mod stream {
    /// Stub: this crate makes no connection.
    pub fn is_of_this_user() {}
}
