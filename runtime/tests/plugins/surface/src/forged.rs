//! Descriptions that no constructor of the plugin API creates. Modules built without the plugin API may contain such descriptions.
#![allow(unsafe_code, reason = "creates descriptions that safe code cannot")]

use alcedo_abi::abi_stable::std_types::{ROption, RSlice, RStr};
use alcedo_abi::describe::{PropertyDesc, StructDesc};
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::PropertyKind;
use alcedo_plugin_api::__private::{self, Declared};

/// Selects the forged value if the feature is on, and the correct value otherwise.
macro_rules! or {
    ($truth:expr, $feature:literal => $lie:expr) => {
        if cfg!(feature = $feature) { $lie } else { $truth }
    };
}

static FIELDS: [PropertyDesc; 1] = [PropertyDesc {
    name: RStr::from_str(or!("field", "lie-name" => "fi\0eld")),
    kind: or!(or!(PropertyKind::U64, "lie-kind" => PropertyKind(0xee)), "lie-path" => PropertyKind::STRUCT),
    type_path: RStr::from_str(or!("", "lie-path" => "/Script/Game.A), Array(u8")),
    flags: 0,
    default: RStr::from_str(""),
    doc: RStr::from_str(""),
    meta: RSlice::EMPTY,
    offset: or!(0, "lie-offset" => u32::MAX),
    cell: ROption::RNone,
}];

/// Correct fingerprint of the layout.
const TRUE: u64 = Fingerprint::START.number(8).number(8).text("field").value(PropertyKind::U64, "").number(0).finish();

const LIE: StructDesc = StructDesc {
    package: RStr::from_str("Game"),
    name: RStr::from_str("Lie"),
    size: or!(8, "lie-size" => u32::MAX),
    align: or!(8, "lie-size" => 3),
    fields: RSlice::from_slice(&FIELDS),
    fingerprint: or!(TRUE, "lie-fingerprint" => 0),
    doc: RStr::from_str(""),
};

__private::register! {
    STRUCTS: StructDesc = {
        // SAFETY: `Declared` is transparent. The required truth of the description is deliberately violated.
        unsafe { core::mem::transmute::<StructDesc, Declared<StructDesc>>(LIE) }
    }
}
