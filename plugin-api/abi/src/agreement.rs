//! Compares the layouts of the root modules of a host and of a module, with all types that their functions mention. The host makes this
//! comparison after it has mapped the module, and before its first call.

use abi_stable::abi_stability::abi_checking::{CheckingGlobals, check_layout_compatibility_with_globals};
use abi_stable::type_layout::TypeLayout;

/// Checks that the layouts agree. A table of functions may have more functions at its end on one of the two sides.
///
/// The checker accepts longer tables only in its second argument. This function therefore compares the layouts in both directions: the
/// tables of an older module are shorter than the tables of the host. Each comparison has its own globals, because the checker's global
/// cache would keep pointers into images that are unmapped later.
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
