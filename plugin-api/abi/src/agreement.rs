//! Compares the root module's layout in the host with its layout in the module. The comparison covers all types in the signatures of the
//! functions. The host compares the layouts after it has mapped the module, and before it calls the module.

use abi_stable::abi_stability::abi_checking::{CheckingGlobals, check_layout_compatibility_with_globals};
use abi_stable::type_layout::TypeLayout;

/// Checks that the layouts agree. A function table of one side may have additional functions at its end.
///
/// The checker accepts longer tables only in its second argument. This function therefore compares the layouts in both directions: the
/// tables of an older module are shorter than the tables of the host. Each comparison uses its own globals. The checker's global cache
/// would retain pointers into images that are unmapped later.
///
/// # Errors
/// Returns the differences if the layouts agree in neither direction.
pub fn agree(host: &'static TypeLayout, module: &'static TypeLayout) -> Result<(), String> {
    let compare = |shorter: &'static TypeLayout, longer: &'static TypeLayout| {
        check_layout_compatibility_with_globals(shorter, longer, &CheckingGlobals::new())
    };
    compare(host, module).or_else(|differences| compare(module, host).map_err(|_| differences.to_string()))
}

#[cfg(test)]
mod tests;
