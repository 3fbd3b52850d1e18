//! Minimal classes for measuring the cost of a reload per object. Each feature makes one change to the classes.

#![forbid(unsafe_code)]

/// Declares a class with one property, in the form that the features of the build select. A field of a reflected class cannot have a
/// `#[cfg]`, so each form declares the whole class.
macro_rules! crowd_class {
    (
        $(#[$($doc:tt)*])*
        $class:ident $($lazy:ident)?, inserted base $base:ident, default $speed:tt, other default $other:tt, fields { $($fields:tt)* }
    ) => {
        /// Inserted base of the class.
        #[cfg(feature = "base-inserted")]
        #[uclass(package = "Game", base = Object, blueprintable)]
        #[derive(Default)]
        pub struct $base {}

        #[cfg(not(any(feature = "other-default", feature = "property-added", feature = "base-inserted")))]
        crowd_class! { $(#[$($doc)*])* $class $($lazy)?, Object, $speed, {} { $($fields)* } }

        #[cfg(feature = "other-default")]
        crowd_class! { $(#[$($doc)*])* $class $($lazy)?, Object, $other, {} { $($fields)* } }

        #[cfg(feature = "property-added")]
        crowd_class! {
            $(#[$($doc)*])* $class $($lazy)?, Object, $speed,
            {
                /// Additional property.
                #[uproperty(default = 0.5)]
                stride: f64,
            }
            { $($fields)* }
        }

        #[cfg(feature = "base-inserted")]
        crowd_class! { $(#[$($doc)*])* $class $($lazy)?, $base, $speed, {} { $($fields)* } }
    };
    ($(#[$($doc:tt)*])* $class:ident $($lazy:ident)?, $base:ident, $speed:tt, { $($added:tt)* } { $($fields:tt)* }) => {
        $(#[$($doc)*])*
        #[uclass(package = "Game", base = $base $(, $lazy)?)]
        pub struct $class {
            /// Speed in meters per second.
            #[uproperty(default = $speed)]
            speed: f64,

            $($added)*
            $($fields)*
        }
    };
}

mod runner;
mod sleeper;
mod walker;

use alcedo_plugin_api::prelude::*;

module! { name: "crowd" }

/// Factor for all distances. One build has another factor.
const SCALE: f64 = if cfg!(feature = "other-constant") { 1.25 } else { 1.0 };
