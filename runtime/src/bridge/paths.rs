//! Syntax of reflection paths in ZCall names: `/Script/Package.Type:Member`.

use crate::zcall::reader::{NameError, Reader};

/// Parses `/Script/Package.Type`.
pub(super) fn script_type(address: &mut Reader<'_>) -> Result<(), NameError> {
    address.fixed("/Script/")?;
    address.word("package")?;
    address.fixed(".")?;
    address.word("type")?;
    Ok(())
}

/// Parses `/Script/Package.Type:Member`. Accepts a second leading `/`, which the canonical form omits.
pub(super) fn member_path(address: &mut Reader<'_>, what: &'static str) -> Result<String, NameError> {
    if address.rest().starts_with("//") {
        address.fixed("/")?;
    }
    let start = address.at();
    script_type(address)?;
    address.fixed(":")?;
    address.word(what)?;
    Ok(address.since(start).to_owned())
}
