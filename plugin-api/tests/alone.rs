//! Tests that the unit tests of a plugin run without a host: functions that need a host return an error.

use alcedo_plugin_api::prelude::*;
use alcedo_plugin_api::{FailureKind, HostEntries, Value};

/// A struct that is stored in host memory.
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

alcedo_plugin_api::entry_table! {
    /// A table of the host. The name of its entry is a keyword.
    pub host struct Sorter {
        /// Returns a number.
        r#type: fn(u32) -> u32,
    }
}

#[test]
fn an_entry_named_by_a_keyword_has_no_prefix() {
    let (entries, table) = (<Sorter as HostEntries>::table(), <Sorter as HostEntries>::TABLE.expect("a table"));
    let name = table.entries.iter().map(|entry| entry.name.as_str()).next();
    assert_eq!((entries.r#type.name(), name), ("ex:/Sorter/type", Some("type")));
}

pub mod with_traits_of_the_author {
    //! Traits whose methods have the names of functions that the macros call. A call of a method would select these traits.

    use alcedo_plugin_api::__private::{PtrMut, Temp, Viewable};
    use alcedo_plugin_api::Value;
    use alcedo_plugin_api::prelude::*;

    /// A struct that is passed by value.
    #[ustruct(pod, package = "Game")]
    #[derive(Debug, PartialEq)]
    pub struct Weight {
        grams: u64,
    }

    /// An enum.
    #[uenum(package = "Game")]
    #[repr(u8)]
    #[derive(Debug, PartialEq)]
    pub enum Mood {
        /// The first entry.
        Calm,
        /// The second entry.
        Angry,
    }

    #[allow(dead_code, reason = "the macros call none of the functions")]
    trait Replaced: Sized {
        fn store_field<F, V>(self, _field: F, _value: V) -> Result<(), CallError> {
            panic!("the macro called a method")
        }

        fn ptr<P>(self) -> P {
            panic!("the macro called a method")
        }

        fn alcedo_number(&self) -> u8 {
            panic!("the macro called a method")
        }
    }

    impl Replaced for PtrMut<'_, Weight> {}
    impl<F> Replaced for Viewable<'_, Weight, F> {}
    impl Replaced for Mood {}

    #[test]
    fn values_are_copied_without_a_trait_of_the_author() {
        let (weight, mood) = (Temp::of(&Weight { grams: 7 }), Temp::of(&Mood::Angry));
        assert_eq!((Weight::load(weight.ptr()), Mood::load(mood.ptr())), (Weight { grams: 7 }, Mood::Angry));
    }
}
