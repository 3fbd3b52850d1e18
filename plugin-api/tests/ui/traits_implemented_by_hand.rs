//! What an implementation promises is believed, so each needs the word that `forbid(unsafe_code)` refuses.
#![forbid(unsafe_code)]

use alcedo_plugin_api::plumbing::{PtrMut, Slot};
use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::{AnyArgument, IntoHost, Interface, Value};

pub struct Evil;

impl Interface for Evil {
    const PATH: &'static str = "/Script/Game.Innocent), Delegate(Array(u8";
}

impl IntoHost<UArray<u64>> for Evil {
    fn lies_at(&self) -> Result<Option<*const <UArray<u64> as Value>::Raw>, CallError> {
        Ok(Some(std::ptr::without_provenance(0x4141)))
    }

    fn put(&self, _target: PtrMut<'_, UArray<u64>>) -> Result<(), CallError> {
        Ok(())
    }
}

impl AnyArgument for Evil {
    fn slot(&self) -> Slot {
        Slot::EMPTY
    }
}

fn main() {}
