//! Attributes of members also apply to the generated methods. The definition of a deprecated member reports no deprecation. An event may
//! have a visibility, and the names of two events may differ only in case. An event has the body whose conditions equal its own conditions.
//! An expected lint is allowed in generated items, including items that do not violate the lint.
#![deny(deprecated, non_snake_case, unfulfilled_lint_expectations)]
#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

/// A struct with a deprecated field.
#[ustruct(package = "Game")]
pub struct Spot {
    #[deprecated = "use `IsNear`"]
    near: bool,
    #[allow(non_snake_case, reason = "the field has the name of the host")]
    IsNear: bool,
}

#[ustruct(pod, package = "Game")]
pub struct Mark {
    at: f64,
    #[uproperty(default = 1.0)]
    #[deprecated = "use `at`"]
    height: f64,
}

#[uenum(package = "Game")]
#[repr(u8)]
pub enum Mood {
    Calm,
    #[deprecated = "use `Calm`"]
    Quiet,
}

#[ustruct]
impl Spot {
    /// Creates a spot.
    #[constructor]
    #[deprecated = "use `Spot::new`"]
    fn far(spot: Borrowed<'_, Self>) {
        spot.set_IsNear(false);
    }
}

#[uclass(package = "Game")]
#[allow(non_snake_case, reason = "the properties have the names of the host")]
pub struct Lamp {
    #[uproperty]
    #[deprecated = "use `Power`"]
    watts: f64,
    #[uproperty]
    Power: f64,
    #[cfg_attr(unix, allow(dead_code, reason = "only one platform reads the field"))]
    seconds: u32,
}

#[uclass]
#[allow(non_snake_case, reason = "the functions have the names of the host")]
impl Lamp {
    #[ufunction]
    #[deprecated = "use `Shine`"]
    fn glow(&mut self, share: f64) -> f64 {
        self.seconds += 1;
        share
    }

    #[ufunction]
    #[deprecated = "no host calls the function"]
    fn count() -> u32 {
        0
    }

    #[ufunction(blueprint_native_event)]
    pub(crate) fn Shine(&self, share: f64) -> f64;
    fn Shine_implementation(&self, share: f64) -> f64 {
        share
    }

    #[ufunction(blueprint_native_event)]
    fn shine(&self) -> f64;
    fn shine_implementation(&self) -> f64 {
        1.0
    }

    #[cfg(unix)]
    #[ufunction(blueprint_native_event)]
    fn blink(&self, times: u32);
    #[cfg(not(unix))]
    #[cfg_attr(not(unix), inline)]
    fn blink_implementation(&self, times: u64) {}
    #[cfg(unix)]
    #[cfg_attr(unix, inline)]
    fn blink_implementation(&self, times: u32) {}

    #[cfg_attr(unix, inline)]
    fn hours(&self) -> u32 {
        self.seconds / 3600
    }
}

#[uenum(package = "Game", flags)]
#[repr(u8)]
#[expect(non_camel_case_types, reason = "the entries have the names of the host")]
pub enum Sides {
    left = 1,
    right = 2,
}

#[ustruct(package = "Game")]
#[expect(non_snake_case, reason = "the field has the name of the host")]
pub struct Beam {
    Width: f64,
}

#[uinterface(package = "Game")]
#[expect(non_snake_case, reason = "the function has the name of the host")]
pub trait Flickers {
    fn Flicker(&self) -> f64;
}

#[uinterface(package = "Game")]
pub trait Glows {
    #[expect(non_snake_case, reason = "the function has the name of the host")]
    fn Glow(&self) -> f64;
}

#[uclass(package = "Game", implements(Flickers))]
#[expect(non_snake_case, reason = "the property has the name of the host")]
pub struct Bulb {
    #[uproperty]
    Power: f64,
    #[uproperty]
    #[expect(non_snake_case, reason = "the property has the name of the host")]
    Color: String,
}

#[uclass]
impl Bulb {
    #[ufunction]
    #[expect(non_snake_case, reason = "the function has the name of the host")]
    fn Shine(&self) -> f64 {
        1.0
    }
}

#[uclass]
#[expect(non_snake_case, reason = "the function has the name of the interface")]
impl Flickers for Bulb {
    fn Flicker(&self) -> f64 {
        0.5
    }
}

#[zcall(ex = "lamps.add")]
#[deprecated = "no host calls the function"]
fn add(one: f64, other: f64) -> f64 {
    one + other
}

/// Defines a class and its `impl` block. The macro captures the name in the `impl` block as a type.
macro_rules! counter {
    ($class:ty, $name:ident, $call:ty) => {
        #[uclass(package = "Game")]
        pub struct $name {
            count: u32,
        }

        #[uclass]
        impl $class {
            #[ufunction]
            fn add(&mut self, by: u32) -> u32 {
                self.count += by;
                self.count
            }
        }

        #[udelegate(multicast, package = "Game")]
        pub type OnCounted = $call;
    };
}

counter! { Counter, Counter, fn(count: u32) }

fn main() {}
