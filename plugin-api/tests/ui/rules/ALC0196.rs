//! ALC0196.
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
    fn sent(&mut self, archive: &mut NetArchive, _map: &mut NetMap) -> (bool, bool) {
        (true, true)
    }

    #[net_serialize]
    fn read(&mut self, archive: &mut NetArchive, _map: &mut NetMap) -> (bool, bool) {
        (true, true)
    }
}

fn main() {}
