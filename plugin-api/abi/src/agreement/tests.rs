//! Compares root modules with tables of different lengths.
#![allow(
    clippy::ptr_as_ptr,
    dead_code,
    missing_docs,
    unreachable_pub,
    unsafe_code,
    reason = "only the layouts are used; derived accessors of functions that may be missing read by offset"
)]

use abi_stable::StableAbi;
use abi_stable::type_layout::TypeLayout;

use super::agree;
use crate::module::ModuleRef;

/// Declares one root module per version of a table. The root module has a function with a parameter of the table's type.
macro_rules! versions {
    ($($version:ident { $first:ty $(, $second:ident)? })*) => {$(
        mod $version {
            use abi_stable::StableAbi;

            #[repr(C)]
            #[derive(StableAbi)]
            #[sabi(kind(Prefix(prefix_ref = TableRef)))]
            #[sabi(missing_field(panic))]
            pub struct Table {
                #[sabi(last_prefix_field)]
                pub first: extern "C" fn($first),
                $(pub $second: extern "C" fn(),)?
            }

            #[repr(C)]
            #[derive(StableAbi)]
            #[sabi(kind(Prefix(prefix_ref = RootRef)))]
            #[sabi(missing_field(panic))]
            pub struct Root {
                #[sabi(last_prefix_field)]
                pub attach: extern "C" fn(&TableRef),
            }
        }
    )*};
}
versions! {
    short { u8 }
    long { u8, second }
    changed { u16 }
}

static SHORT: &TypeLayout = <short::RootRef as StableAbi>::LAYOUT;
static LONG: &TypeLayout = <long::RootRef as StableAbi>::LAYOUT;
static CHANGED: &TypeLayout = <changed::RootRef as StableAbi>::LAYOUT;

#[test]
fn a_table_may_have_more_functions_on_either_side() {
    let check = |what: &str, host, module, expected: bool| {
        let found = agree(host, module);
        assert_eq!(found.is_ok(), expected, "{what}: {found:?}");
    };
    check("equal tables", SHORT, SHORT, true);
    check("a newer module", SHORT, LONG, true);
    check("an older module", LONG, SHORT, true);
    check("another parameter", SHORT, CHANGED, false);
    check("an older module with another parameter", LONG, CHANGED, false);
    check("a newer module with another parameter", CHANGED, LONG, false);
    let root = <ModuleRef as StableAbi>::LAYOUT;
    check("the root module of this build", root, root, true);
}
