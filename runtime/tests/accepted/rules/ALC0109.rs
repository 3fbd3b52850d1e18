//! ALC0109, kept.
#![allow(unused)]
use alcedo_runtime::ObjectHandle;
use alcedo_runtime::native::{This, uclass};

#[uclass(package = "Engine")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[begin_destroy]
    fn end(&mut self) {
        if cfg!(unix) {}
    }
}

fn main() {}
