//! ALC0054.
#![allow(unused)]
use alcedo_plugin_api::prelude::*;

macro_rules! of_its_own {
    ($($tokens:tt)*) => {
        #[uinterface(package = "Game")]
        $($tokens)*
    };
}
of_its_own! { pub auto trait Hears {} }

fn main() {}
