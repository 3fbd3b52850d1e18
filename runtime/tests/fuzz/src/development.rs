//! A file of `runtime/src/development`.

#[expect(unused_imports, reason = "its sockets are replaced below")]
#[path = "../../../src/development/link.rs"]
pub(crate) mod link;

mod stream {
    /// Stands in: nothing is connected here.
    pub fn is_of_this_user() {}
}
