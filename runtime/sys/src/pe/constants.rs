//! Reads constants of a Windows library from its file. The library is not mapped. Its code does not run.

use std::collections::HashMap;

use super::{read, tables};
use crate::facts::Constants;

/// Parses the headers and relocations of a valid file. Returns `None` if these cannot be parsed.
pub(crate) fn constants(bytes: &[u8]) -> Option<Constants<'_>> {
    let (pe, mut addresses) = (read(bytes).ok()?, HashMap::new());
    let visited = tables::each_relocation(&pe, |at, target| {
        addresses.insert(u64::from(at), u64::from(target));
    });
    visited.ok()?;
    let sections = pe.sections.iter().filter(|section| section.size > 0);
    let sections = sections.map(|section| (section.name, u64::from(section.addr), u64::from(section.size))).collect();
    let part = |section: &super::Section<'_>| Some((u64::from(section.addr), bytes.get(section.file.clone())?));
    Some(Constants { sections, parts: pe.sections.iter().filter_map(part).collect(), addresses })
}
