//! Object that the host may destroy while a reload saves the kept field of the object.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use alcedo_plugin_api::prelude::*;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Set once a foal is dropped.
static IS_DROPPED: AtomicBool = AtomicBool::new(false);

/// Calls `ex:/host.kill` while it is serialized. The serialization fails if the foal is dropped before the serialization ends.
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
        // Waits, so that another thread has enough time to destroy the object during the save.
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

/// Class with a kept field.
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

    /// Returns `true` if a foal was dropped since the last save began.
    #[zmethod]
    fn is_foal_dropped() -> bool {
        IS_DROPPED.load(Ordering::SeqCst)
    }
}
