//! The loader: its list of libraries, lookups by address and name, and references to libraries.
#![expect(unsafe_code, reason = "opens libraries, walks the loader's list, and looks up names and addresses in it")]

use std::borrow::Cow;
use std::ffi::{CStr, OsStr, c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL, RTLD_NOW};
use object::elf::{DT_NULL, DynamicTag};

use super::peek;

/// Maximum length of a name that is read from writable memory.
const LONGEST_NAME: usize = 1 << 16;

/// Library on the loader's list, or the program. The library stays mapped during the borrow.
pub(in crate::imp::linux) struct Listed<'a> {
    /// Name in the loader's list. Empty for the program.
    pub(in crate::imp::linux) name: &'a CStr,
    /// Difference between an address in memory and the corresponding address in the file.
    pub(in crate::imp::linux) base: usize,
    pub(in crate::imp::linux) headers: &'a [libc::Elf64_Phdr],
}

impl Listed<'_> {
    /// Returns the memory range of the part that a program header describes.
    pub(in crate::imp::linux) fn range(&self, header: &libc::Elf64_Phdr) -> Range<usize> {
        let start = self.base.wrapping_add(header.p_vaddr as usize);
        start..start.saturating_add(header.p_memsz as usize)
    }

    pub(in crate::imp::linux) fn of_kind(&self, kind: u32) -> impl Iterator<Item = &libc::Elf64_Phdr> + Clone {
        self.headers.iter().filter(move |header| header.p_type == kind)
    }

    /// Returns the memory range of the first part of this kind.
    pub(in crate::imp::linux) fn part(&self, kind: u32) -> Option<Range<usize>> {
        self.of_kind(kind).map(|header| self.range(header)).next()
    }

    /// Returns the executable segments.
    pub(in crate::imp::linux) fn code(&self) -> Vec<Range<usize>> {
        let executable = self.of_kind(libc::PT_LOAD).filter(|header| header.p_flags & libc::PF_X != 0);
        executable.map(|header| self.range(header)).collect()
    }

    /// Returns the entries of the library's dynamic table: tags with a number or an address.
    pub(in crate::imp::linux) fn dynamic(&self) -> impl Iterator<Item = (DynamicTag, usize)> {
        let start = self.part(libc::PT_DYNAMIC).map(|range| range.start);
        let table = start.and_then(|start| self.bytes(start)).unwrap_or_default();
        let [tags, values] = [0, 1].map(|at| peek::words(table).skip(at).step_by(2));
        tags.map(|tag| DynamicTag(tag as i64)).zip(values).take_while(|(tag, _)| *tag != DT_NULL)
    }

    /// Returns the value of the first entry of the dynamic table with that tag.
    pub(in crate::imp::linux) fn value(&self, tag: DynamicTag) -> Option<usize> {
        self.dynamic().find(|entry| entry.0 == tag).map(|entry| entry.1)
    }

    /// Converts the value of a dynamic table entry to an address. The loader has relocated most entries, unless the table is read-only.
    pub(in crate::imp::linux) fn address(&self, value: usize) -> usize {
        if value < self.base { self.base.wrapping_add(value) } else { value }
    }

    /// Reads a zero-terminated string. Returns an empty string on failure.
    pub(in crate::imp::linux) fn string(&self, address: usize) -> Vec<u8> {
        match self.bytes(address) {
            Some(bytes) => {
                CStr::from_bytes_until_nul(bytes).map(|string| string.to_bytes().to_vec()).unwrap_or_default()
            }
            None => peek::string(address, LONGEST_NAME).unwrap_or_default(),
        }
    }

    /// Returns up to `len` bytes at an address, as a copy if these bytes are in a writable part. A tool that edits libraries may have moved
    /// the symbol and relocation tables to such a part.
    pub(in crate::imp::linux) fn read(&self, address: usize, len: usize) -> Cow<'_, [u8]> {
        if let Some(bytes) = self.bytes(address) {
            return Cow::Borrowed(&bytes[..len.min(bytes.len())]);
        }
        let end = self.segments().filter(|segment| segment.contains(&address)).map(|segment| segment.end).max();
        let mut copy = vec![0; len.min(end.map_or(0, |end| end - address))];
        let read = peek::read(address, &mut copy);
        copy.truncate(read);
        Cow::Owned(copy)
    }

    /// Returns the bytes after an address in a part that is constant while the library is on the list. Excludes parts that become read-only
    /// only after the loader has relocated the library.
    fn bytes(&self, address: usize) -> Option<&[u8]> {
        let is_constant = |header: &&libc::Elf64_Phdr| match header.p_type {
            libc::PT_LOAD => header.p_flags & (libc::PF_R | libc::PF_W) == libc::PF_R,
            kind => kind == libc::PT_DYNAMIC,
        };
        let constant = self.headers.iter().filter(is_constant).map(|header| self.range(header));
        let end = constant.filter(|range| range.contains(&address)).map(|range| range.end).max()?;
        let first = ptr::with_exposed_provenance(address);
        // SAFETY: the library is mapped during the borrow. According to its headers, these bytes are in a read-only part, or in the
        // dynamic table, which the loader modifies only before the library is on the list.
        Some(unsafe { std::slice::from_raw_parts(first, end - address) })
    }

    pub(in crate::imp::linux) fn segments(&self) -> impl Iterator<Item = Range<usize>> + Clone {
        self.of_kind(libc::PT_LOAD).map(|header| self.range(header))
    }
}

/// Visits all libraries, the program first, until the callback returns `true`. No library is unmapped during the walk.
pub(in crate::imp::linux) fn walk(mut is_enough: impl FnMut(&Listed<'_>) -> bool) {
    let mut see: &mut dyn FnMut(&Listed<'_>) -> bool = &mut is_enough;
    // SAFETY: `visit` interprets its last argument as a reference of this type, which lives until the walk returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut see).cast()) };
}

/// Calls `of` for each library, the program first, and returns the results.
pub(in crate::imp::linux) fn all<T>(of: impl Fn(&Listed<'_>) -> T) -> Vec<T> {
    let mut found = Vec::new();
    walk(|listed| {
        found.push(of(listed));
        false
    });
    found
}

/// Returns the segments of all libraries and of the program.
pub(in crate::imp::linux) fn all_segments() -> Vec<Range<usize>> {
    all(|listed| listed.segments().collect::<Vec<_>>()).concat()
}

/// Visits one library of the loader's list. A nonzero result ends the walk.
///
/// # Safety
///
/// `info` is the record that `dl_iterate_phdr` passes to this call. `see` is the reference that `walk` passes. `walk` does not use the
/// reference during this call.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, see: *mut c_void) -> c_int {
    // SAFETY: `dl_iterate_phdr` passes a whole record that is live during this call, and `walk` a live reference.
    let (info, see) = unsafe { (&*info, &mut *see.cast::<&mut dyn FnMut(&Listed<'_>) -> bool>()) };
    if info.dlpi_name.is_null() || info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the loader, which is locked during the walk, stores a C string as the name, and `dlpi_phnum` headers.
    let (name, headers) = unsafe {
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        (CStr::from_ptr(info.dlpi_name), headers)
    };
    c_int::from(see(&Listed { name, base: info.dlpi_addr as usize, headers }))
}

/// Returns the file from which the memory at an address was mapped, as listed by the loader. For an address of the program, returns the
/// name with which the program was started. Returns `None` for addresses outside of all images.
#[must_use]
pub fn file_at(address: usize) -> Option<PathBuf> {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: the loader only compares the address, and fills the record if it finds an image. The name in the record is a C string that
    // exists while the image is mapped.
    let name = unsafe {
        if libc::dladdr(ptr::without_provenance(address), info.as_mut_ptr()) == 0 {
            return None;
        }
        let name = info.assume_init().dli_fname;
        (!name.is_null()).then(|| CStr::from_ptr(name))
    }?;
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

/// Opens a library, binds all its symbols and runs its initializers.
///
/// # Safety
///
/// The initializers and the finalizers of the file are sound to run.
pub(crate) unsafe fn open_library(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: promised by our caller.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
}

/// Returns the address of a symbol of the library or of its dependencies.
pub(in crate::imp::linux) fn symbol(library: &Library, name: &CStr) -> Result<*mut c_void, libloading::Error> {
    // SAFETY: any symbol has an address; its target is not read here.
    unsafe { library.get::<*mut c_void>(name) }.map(|symbol| *symbol)
}

/// Returns the address of a symbol in the default scope.
pub(in crate::imp::linux) fn address_of(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the loader reads a C string. The address is not dereferenced.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// Returns the size of an exported function of the C library in bytes. Returns zero for other addresses.
#[cfg(target_arch = "x86_64")]
pub(in crate::imp::linux) fn len_of(function: usize) -> usize {
    const SYMBOL: c_int = 1;
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    let mut symbol: *mut c_void = ptr::null_mut();
    let address = ptr::without_provenance::<c_void>(function);
    // SAFETY: the loader compares the address and fills both variables. The symbol is in the table of the C library, which is never
    // unmapped.
    let symbol = unsafe {
        if libc::dladdr1(address, info.as_mut_ptr(), &raw mut symbol, SYMBOL) == 0 || symbol.is_null() {
            return 0;
        }
        symbol.cast::<libc::Elf64_Sym>().read()
    };
    symbol.st_size as usize
}

/// Returns the start of the function that contains this address, according to the unwind tables.
pub(in crate::imp::linux) fn enclosing(address: usize) -> Option<usize> {
    // Adds one, because the unwinder expects a return address and looks up the byte before its argument.
    let found = _Unwind_FindEnclosingFunction(ptr::without_provenance_mut(address + 1));
    (!found.is_null()).then(|| found.addr())
}

/// Adds a reference to a library, which keeps the library mapped until the result is dropped. Returns `None` if the library is not mapped.
pub(in crate::imp::linux) fn share(name: &[u8]) -> Option<Library> {
    // SAFETY: with `RTLD_NOLOAD` the loader maps nothing and runs no initializer. The code that mapped the library vouches for its
    // finalizers.
    unsafe { Library::open(Some(OsStr::from_bytes(name)), libc::RTLD_NOLOAD | RTLD_LAZY) }.ok()
}

// SAFETY: the unwinder only searches its tables for the address.
unsafe extern "C" {
    safe fn _Unwind_FindEnclosingFunction(address: *mut c_void) -> *mut c_void;
}
