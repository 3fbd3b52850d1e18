//! ALC0109.
#![allow(unused)]
use alcedo_runtime::ObjectHandle;
use alcedo_runtime::native::{This, uclass};

#[uclass(package = "Engine")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Thing {
    #[cfg(unix)]
    #[begin_destroy]
    fn end(&mut self) {}
}

fn main() {}
