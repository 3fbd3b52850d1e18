//! ALC0110.
#![allow(unused)]
use alcedo_runtime::ObjectHandle;
use alcedo_runtime::native::{This, uclass};

#[uclass(package = "Engine")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[add_references]
    fn references(&mut self, visit: &mut dyn FnMut(ObjectHandle)) {}
}

fn main() {}
