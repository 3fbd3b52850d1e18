//! What a third attacker tries in a Slim, in safe code.
#![forbid(unsafe_code)]
#![allow(missing_docs)]

use std::cell::RefCell;

use alcedo_plugin_api::prelude::*;

module! { name: "siege_slim" }

struct Late(u64);

impl Drop for Late {
    fn drop(&mut self) {
        let _called: Result<u64, _> = zcall("nm:/siege_slim:Slim:plus", (self.0, 1_u64));
        let _called: Result<u64, _> = zcall("ex:/host.suspend", (self.0,));
    }
}

thread_local! {
    static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
}

pub struct Slim;

#[zmethods]
impl Slim {
    /// Calls the host, which may suspend below.
    #[zmethod]
    fn through(number: u64) -> u64 {
        let words = vec![number; 64];
        let back: Result<u64, _> = zcall("ex:/host.suspend", (number,));
        words.iter().sum::<u64>() + back.unwrap_or(1000)
    }

    #[zmethod]
    fn plus(one: u64, two: u64) -> u64 {
        one + two
    }

    /// Leaves something for the end of the thread.
    #[zmethod]
    fn leave(number: u64) {
        LATE.set(Some(Late(number)));
    }
}
