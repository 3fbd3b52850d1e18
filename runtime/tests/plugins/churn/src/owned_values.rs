//! Values owned by plugin code: up to four values of every kind. Also contains the handles of destroyed things.

use std::array;

use alcedo_plugin_api::Kind;
use alcedo_plugin_api::prelude::*;

use crate::Yard;
use crate::ops::{SLOTS, kinds};
use crate::thing::{Sheet, Speaks, Thing};
use crate::threads::Workers;

/// Slots for values of one kind.
pub(crate) type Slots<K> = [Option<K>; SLOTS as usize];

/// State of the yard outside host memory. Each reload creates new state, and the old state is dropped with its generation.
#[derive(Default)]
pub(crate) struct Own {
    pub(crate) owned_values: OwnedValues,
    /// The last destroyed things.
    pub(crate) graves: Vec<Obj<Thing>>,
    pub(crate) workers: Workers,
}

impl Own {
    /// Records a destroyed thing.
    pub(crate) fn bury(&mut self, thing: Obj<Thing>) {
        if self.graves.len() == 200 {
            self.graves.remove(0);
        }
        self.graves.push(thing);
    }
}

/// Runs on the finalizer thread after the end of the generation. At that time all values must have expired.
impl Drop for Own {
    fn drop(&mut self) {
        let (expired, usable) = self.owned_values.count_expired();
        tracing::info!(target: "churn", "{}, {expired} expired", if usable == 0 { "none is left" } else { "some are left" });
        self.workers.end();
    }
}

fn expired<K: Kind>(slots: &Slots<K>, is_expired: impl Fn(&K) -> bool) -> (usize, usize) {
    let all = slots.iter().flatten().count();
    let expired = slots.iter().flatten().filter(|black| is_expired(black)).count();
    (expired, all - expired)
}

macro_rules! owned_values {
    ($($name:ident: $ty:ty, $model:ty;)*) => {
        /// Slots for the values of all kinds.
        pub(crate) struct OwnedValues {
            $(pub(crate) $name: Slots<$ty>,)*
        }

        impl Default for OwnedValues {
            fn default() -> Self {
                Self { $($name: array::from_fn(|_| None),)* }
            }
        }

        impl OwnedValues {
            /// Returns the number of expired values and the number of usable values.
            fn count_expired(&self) -> (usize, usize) {
                let counts = [$(expired(&self.$name, |black| black.is_expired())),*];
                counts.into_iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1))
            }

            /// Copies the values in a slot into a thing. Bit `n` of the result is set if the slot has a value of kind `n`.
            pub(crate) fn show(&self, _this: &This<Yard>, mirror: &This<Thing>, slot: usize) -> u64 {
                let (mut bits, mut bit) = (0, 1);
                $(
                    if let Some(black) = &self.$name[slot] {
                        mirror.$name().assign(black);
                        bits |= bit;
                    }
                    bit <<= 1;
                )*
                let _all_done = bit;
                bits
            }
        }
    };
}
kinds!(owned_values);
