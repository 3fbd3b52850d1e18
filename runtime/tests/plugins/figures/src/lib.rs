//! Optional dependency of the module `reports`. This module declares no class, so any context accepts it.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

#[cfg(all(feature = "misnamed", not(feature = "needs-reports")))]
module! { name: "figurines", main: started, exit: ended }
#[cfg(all(feature = "misnamed", feature = "needs-reports"))]
module! { name: "figurines", main: started, exit: ended, dependencies: [("reports", "^0.1")] }
#[cfg(all(feature = "needs-reports", not(feature = "misnamed")))]
module! { name: "figures", main: started, exit: ended, dependencies: [("reports", "^0.1")] }
#[cfg(not(any(feature = "needs-reports", feature = "misnamed")))]
module! { name: "figures", main: started, exit: ended }

fn started() {
    tracing::info!(target: "reports", "main figures");
}

fn ended() {
    tracing::info!(target: "reports", "exit figures");
}

/// Functions on numbers.
pub struct Sum;

#[zmethods]
impl Sum {
    /// Returns the sum.
    #[zmethod]
    fn of(one: i64, other: i64) -> i64 {
        one.wrapping_add(other)
    }

    /// Returns the tag of this build.
    #[zmethod]
    fn build_tag() -> u64 {
        fixture::tag()
    }
}
