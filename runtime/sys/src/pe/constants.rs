//! Reads constants of a Windows library from its file. The library is not mapped. Its code does not run.

use std::collections::HashMap;

use super::{Pe, read, tables};

/// Constants of one library. Addresses are relative to the start of the library.
#[derive(Debug)]
pub(crate) struct Constants<'a> {
    pe: Pe<'a>,
    /// Map from each relocated location to the address that the loader will store there.
    addresses: HashMap<u32, u32>,
}

impl<'a> Constants<'a> {
    /// Parses the headers and relocations of a valid file. Returns `None` if these cannot be parsed.
    pub(crate) fn of(bytes: &'a [u8]) -> Option<Self> {
        let (pe, mut addresses) = (read(bytes).ok()?, HashMap::new());
        let visited = tables::each_relocation(&pe, |at, target| {
            addresses.insert(at, target);
        });
        visited.ok().map(|()| Self { pe, addresses })
    }

    pub(crate) fn section(&self, name: &str) -> Option<(u64, u64)> {
        let section = self.pe.sections.iter().find(|section| section.name == name && section.size > 0)?;
        Some((section.addr.into(), section.size.into()))
    }

    pub(crate) fn bytes(&self, addr: u64, len: u64) -> Option<&'a [u8]> {
        self.pe.mapped(addr.try_into().ok()?, len.try_into().ok()?)
    }

    pub(crate) fn address(&self, at: u64) -> Option<u64> {
        self.addresses.get(&at.try_into().ok()?).map(|addr| (*addr).into())
    }
}
