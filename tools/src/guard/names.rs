//! Reads function names and source locations from the symbol table and debug information of a file. Does not read compressed sections and
//! split debug information, so functions in files of these kinds have no source locations. The loader of `addr2line` could read such files,
//! but needs nine more dependencies.

use std::io;
use std::path::Path;
use std::sync::Arc;

use addr2line::{Context, Location, demangle_auto};
use alcedo_runtime::development::plain_file;
use gimli::{Dwarf, EndianArcSlice, Error, LittleEndian};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

/// Symbols and debug information of a file.
pub(super) struct Names {
    lines: Option<Context<EndianArcSlice<LittleEndian>>>,
    /// Symbols, sorted by address.
    symbols: Vec<Symbol>,
}

struct Symbol {
    address: u64,
    /// Size in bytes. Zero if the symbol table does not state the size.
    size: u64,
    name: String,
}

/// Reads a program or library, with its debug information.
pub(super) fn read_image(path: &Path) -> io::Result<Vec<u8>> {
    plain_file::read(path, 1 << 32)
}

impl Names {
    /// Reads a file. Returns `None` if the file cannot be read or parsed.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let bytes = read_image(path).ok()?;
        let file = object::File::parse(bytes.as_slice()).ok()?;
        let named = |symbol: object::Symbol<'_, '_>| {
            let name = symbol.name().ok().filter(|name| !name.is_empty())?.to_owned();
            symbol.is_definition().then(|| Symbol { address: symbol.address(), size: symbol.size(), name })
        };
        let mut symbols: Vec<_> = file.symbols().filter_map(named).collect();
        if symbols.is_empty() {
            symbols = file.dynamic_symbols().filter_map(named).collect();
        }
        symbols.sort_by_key(|symbol| symbol.address);
        Some(Self { lines: lines(&file), symbols })
    }

    /// Returns the function at an address, according to the symbol table.
    pub(super) fn symbol(&self, address: u64) -> Option<String> {
        let behind = self.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = &self.symbols[behind.checked_sub(1)?];
        let is_within = symbol.size == 0 || address - symbol.address < symbol.size;
        is_within.then(|| demangle_auto(symbol.name.as_str().into(), None).into_owned())
    }

    /// Returns the functions at an address with their source locations, according to the debug information. An inlined function precedes
    /// the function into which it was inlined.
    pub(super) fn frames(&self, address: u64) -> Vec<(Option<String>, Option<Location<'_>>)> {
        let mut found = Vec::new();
        let frames = self.lines.as_ref().map(|lines| lines.find_frames(address).skip_all_loads());
        let Some(Ok(mut frames)) = frames else { return found };
        while let Ok(Some(frame)) = frames.next() {
            found.push((frame.function.and_then(|name| Some(name.demangle().ok()?.into_owned())), frame.location));
        }
        found
    }
}

fn lines(file: &object::File<'_>) -> Option<Context<EndianArcSlice<LittleEndian>>> {
    let section = |name: &str| {
        let data = file.section_by_name(name).and_then(|section| section.data().ok()).unwrap_or_default();
        Ok::<_, Error>(EndianArcSlice::new(Arc::from(data), LittleEndian))
    };
    Context::from_dwarf(Dwarf::load(|id| section(id.name())).ok()?).ok()
}
