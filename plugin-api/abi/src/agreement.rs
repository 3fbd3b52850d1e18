//! Compares two layouts of the root module and of all types in the signatures of its functions: the layout in the host and the layout in
//! the module. The host makes this comparison after it has mapped the module, and before it calls the module.

use abi_stable::abi_stability::abi_checking::{CheckingGlobals, check_layout_compatibility_with_globals};
use abi_stable::type_layout::TypeLayout;

/// Checks that the layouts agree. The function tables of either side may have additional functions at their end.
///
/// The checker accepts additional functions only in its second argument. Either side may be older and have the shorter tables, so this
/// function compares the layouts in both directions. Each comparison has its own `CheckingGlobals`, because the global cache of the checker
/// would retain pointers into images that are unmapped later.
///
/// # Errors
/// Returns the differences if the comparison fails in both directions.
pub fn agree(host: &'static TypeLayout, module: &'static TypeLayout) -> Result<(), String> {
    let compare = |shorter: &'static TypeLayout, longer: &'static TypeLayout| {
        check_layout_compatibility_with_globals(shorter, longer, &CheckingGlobals::new())
    };
    compare(host, module).or_else(|differences| compare(module, host).map_err(|_| differences.to_string()))
}

#[cfg(test)]
mod tests;
