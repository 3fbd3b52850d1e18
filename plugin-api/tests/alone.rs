//! Tests that the unit tests of a plugin run without a host: functions that need a host return an error.

use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::{FailureKind, Value};

/// A struct that lives in host memory.
#[ustruct(package = "Game")]
pub struct Stats {
    /// A number.
    strength: f64,
    /// Texts.
    titles: UArray<String>,
}

#[test]
fn without_a_host_every_conjugate_has_expired() {
    let nobodys = AnyConjugate::from_number(1 << 32 | 7);
    assert!(nobodys.is_expired() && !nobodys.is_black());
    assert_eq!((nobodys.kind(), nobodys.age(), nobodys.number()), (None, None, 1 << 32 | 7));
    assert_eq!(nobodys.try_clone().expect_err("no host").kind(), FailureKind::UNAVAILABLE);
    assert_eq!(format!("{nobodys:?}"), "unknown 0x100000007, expired");
}

#[test]
fn without_a_host_making_a_value_is_a_typed_error() {
    for (what, error) in [
        ("Array(f64)", UArray::<f64>::new().expect_err("no host")),
        ("Array(f64)", UArray::of([1.0, 2.0]).expect_err("no host")),
        ("String", UString::of("text").expect_err("no host")),
        ("Map(Name, bool)", UMap::<UName, bool>::new().expect_err("no host")),
        ("/Script/Game.Stats", Stats::new().expect_err("no host")),
        ("Delegate(f32 -> bool)", Delegate::<fn(f32) -> bool>::new().expect_err("no host")),
        ("Utf8String", "text".parse::<UUtf8String>().expect_err("no host")),
    ] {
        assert_eq!(error.kind(), FailureKind::UNAVAILABLE, "{what}");
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn a_container_of_std_is_the_hosts_own_to_others() {
    const fn fingerprint<T: Value>() -> u64 {
        alcedo_abi::fingerprint::Fingerprint::START.value(T::KIND, T::TYPE_PATH).finish()
    }
    let described = fingerprint::<UArray<f64>>();
    assert_eq!(described, fingerprint::<Vec<f64>>());
    assert_ne!(described, fingerprint::<Vec<f32>>());
}
