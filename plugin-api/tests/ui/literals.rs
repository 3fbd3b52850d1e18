//! Literals out of range: a lint, reported where nothing else is wrong. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod default_out_of_range {
    //! A default fits into its property.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Odd {
        #[uproperty(default = 300)]
        small: u8,
    }
}

fn main() {}
