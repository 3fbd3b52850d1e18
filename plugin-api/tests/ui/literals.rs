//! Literals out of range. A lint reports them only in code without other errors. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod default_out_of_range {
    //! A default must be in the range of its property type.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Odd {
        #[uproperty(default = 300)]
        small: u8,
    }
}

fn main() {}
