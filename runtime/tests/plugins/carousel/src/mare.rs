//! An object that the host may end while its kept field is saved.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use alcedo_plugin_api::prelude::*;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Whether a foal was dropped.
static IS_DROPPED: AtomicBool = AtomicBool::new(false);

/// While it is written it calls `ex:/host.kill`, and looks whether it was dropped in the middle of it.
#[derive(Default)]
struct Foal;

impl Drop for Foal {
    fn drop(&mut self) {
        IS_DROPPED.store(true, Ordering::SeqCst);
    }
}

impl Serialize for Foal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        IS_DROPPED.store(false, Ordering::SeqCst);
        let _done: Result<i32, _> = zcall("ex:/host.kill", (1,));
        // What ends on another thread has had its time then.
        sleep(Duration::from_millis(100));
        if IS_DROPPED.load(Ordering::SeqCst) {
            return Err(S::Error::custom("it was dropped while it was saved"));
        }
        serializer.serialize_i32(1)
    }
}

impl<'de> Deserialize<'de> for Foal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let _number = i32::deserialize(deserializer)?;
        let _done: Result<i32, _> = zcall("ex:/host.kill", (2,));
        Ok(Self)
    }
}

/// Has a foal.
#[uclass(package = "Game", base = Object)]
pub struct Mare {
    #[keep]
    foal: Foal,
}

#[uclass]
impl Mare {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { foal: Foal }
    }

    /// Whether a foal was dropped since one was saved last.
    #[zmethod]
    fn is_foal_dropped() -> bool {
        IS_DROPPED.load(Ordering::SeqCst)
    }
}
