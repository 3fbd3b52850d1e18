//! A file of `runtime/src/development`.

#[expect(unused_imports, reason = "its sockets are replaced below")]
#[path = "../../../src/development/link.rs"]
pub(crate) mod link;

mod stream {
    /// Stub: no connection is made here.
    pub fn is_of_this_user() {}
}
