//! ALC0195.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

#[ustruct(pod, package = "Game")]
#[derive(Default)]
pub struct Size {
    pub height: f64,
}

#[ustruct]
impl Size {
    #[net_serialize]
    fn sent(&mut self, archive: &mut NetArchive) -> bool {
        archive.number(&mut self.height);
        true
    }
}

fn main() {}
