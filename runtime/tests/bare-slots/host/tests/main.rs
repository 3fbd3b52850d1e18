//! Runs the call tests of `runtime/tests/grid` in a host without slot types. Checks that this host refuses plugins with slot types.

mod support;

#[path = "../../../grid/main.rs"]
mod grid;

use alcedo_abi::zcall::{Slot, SlotType};

#[test]
fn a_buffer_is_half_as_large_and_has_no_types() {
    assert_eq!(size_of::<Slot>(), 8);
    assert_eq!(Slot::from_bits(SlotType::I32, 7).kind(), None);
}

#[test]
fn a_plugin_that_was_built_with_types_is_refused_from_its_file() {
    let typed = support::plugin("switchboard", &["slot-types"]);
    let bare = support::plugin("switchboard", &[]);
    let host = support::builder().build().expect("a host");
    let refused = host.create_master(&[typed]).expect_err("the two sides differ").to_string();
    assert!(
        refused.contains(
            "was built with the feature slot-types, this host was built the other way: use the same features for both"
        ),
        "{refused}"
    );
    host.create_master(&[bare]).expect("both alike");
}
