//! Compile-time check for functions with the name of a property's accessor. The attribute macros for plugins and hosts expand to this
//! check.

use crate::type_text::{TypeText, contains};

/// Checks that no accessor of a property has the name of a method that an `impl` block defines. Each pair contains the method, and the
/// property that would have this accessor. `properties` lists the properties that the class itself declares.
///
/// # Panics
/// Panics if the class declares one of the properties. The message ends with `id`.
#[track_caller]
pub const fn assert_no_accessor(properties: &[&str], pairs: &[(&str, &str)], id: &str) {
    let mut at = 0;
    while at < pairs.len() {
        let (method, property) = pairs[at];
        assert!(
            !contains(properties, property),
            "{}",
            TypeText::joined(&[
                "the method `",
                method,
                "` is defined twice, for the property `",
                property,
                "` and for a function of this block: rename one of them",
                id,
            ])
            .as_str()
        );
        at += 1;
    }
}
