//! Contains one file of `runtime/src/development`.

#[expect(unused_imports, reason = "its sockets are replaced below")]
#[path = "../../../src/development/link.rs"]
pub(crate) mod link;

mod stream {
    /// Stub: this crate makes no connection.
    pub fn is_of_this_user() {}
}
