//! Reads the declarations of a module from its file, without running its code, or from its loaded image. The declarations are
//! constants in lists that the linker creates in the library.

use alcedo_abi::describe::{
    ClassDesc, DelegateDesc, EnumDesc, ExportDesc, ImportDesc, InterfaceDesc, MetaDesc, StructDesc,
};
use alcedo_sys::{Constants, ImageFile};

use super::{Declarations, Declared};
use crate::emit::described::Described;
use crate::emit::read::{Copied, MOST, WORD, all, batch_of};
use crate::object::decl::Batch;

/// Prefix of the sections in which `linkme` lists declarations.
const LISTS: &str = if cfg!(windows) { ".linkme_" } else { "linkme_" };

/// Reads the declarations of the module `module` from its file. Returns an error that names the unreadable declaration.
pub(crate) fn of_file(module: &str, image: &ImageFile) -> Result<Declarations, String> {
    let from = &image.constants().ok_or("its headers cannot be read a second time")?;
    // Without debug information, the linker cuts the section names of a PE file to 8 bytes. All lists then have the name `.linkme_`.
    if from.section(LISTS).is_some() {
        return Err("the names of its lists are cut off; build it with debug information".to_owned());
    }
    let batch = Batch {
        interfaces: each::<InterfaceDesc>(from, "INTERFACES")?,
        enums: each::<EnumDesc>(from, "ENUMS")?,
        delegates: each::<DelegateDesc>(from, "DELEGATES")?,
        structs: each::<StructDesc>(from, "STRUCTS")?,
        classes: each::<ClassDesc>(from, "CLASSES")?,
        earlier_names: each::<MetaDesc>(from, "EARLIER_NAMES")?,
    };
    let (exports, imports) = (each::<ExportDesc>(from, "EXPORTS")?, each::<ImportDesc>(from, "IMPORTS")?);
    Ok(Declarations::new(module, batch, exports, imports))
}

/// Copies the declarations of the loaded module `module`.
pub(crate) fn of_loaded(module: &str, described: Described) -> Declared {
    let (exports, imports) = (all(described.exports), all(&described.all_imports()));
    Declarations::new(module, batch_of(described), exports, imports).declared()
}

/// Copies the declarations from one linker-created list.
fn each<T: Copied>(from: &Constants<'_>, list: &str) -> Result<Vec<T::Own>, String> {
    let Some((start, size)) = from.section(&format!("{LISTS}{list}")) else { return Ok(Vec::new()) };
    // On Windows, each list begins and ends with one machine word that is not an entry.
    let (start, size) = if cfg!(windows) { (start + WORD, size.saturating_sub(2 * WORD)) } else { (start, size) };
    let entry = |at: u64| {
        let described = start.checked_add(at * WORD).and_then(|at| T::read(from, from.address(at)?));
        described.ok_or_else(|| format!("entry {at} of its list {list} cannot be read"))
    };
    (0..(size / WORD).min(MOST)).map(entry).collect()
}
