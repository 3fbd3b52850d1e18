//! The loader: what it has on its list, what lies at an address, where a name is, and shares of libraries.
#![expect(unsafe_code, reason = "walks the loader's list, and asks it by names and addresses")]

use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr, c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::ptr;

use object::elf::{DT_NULL, DynamicTag};

use super::peek;

/// Upper limit of a name in memory that is written to.
const LONGEST_NAME: usize = 1 << 16;

/// A library on the loader's list, or the program. It is mapped for as long as this is lent.
pub(in crate::imp::linux) struct Listed<'a> {
    /// The name that the loader has for it; empty for the program.
    pub(in crate::imp::linux) name: &'a CStr,
    /// What addresses in its file are counted from.
    pub(in crate::imp::linux) base: usize,
    pub(in crate::imp::linux) headers: &'a [libc::Elf64_Phdr],
}

impl Listed<'_> {
    /// Where the part of the file is that a header describes.
    pub(in crate::imp::linux) fn range(&self, header: &libc::Elf64_Phdr) -> Range<usize> {
        let start = self.base.wrapping_add(header.p_vaddr as usize);
        start..start.saturating_add(header.p_memsz as usize)
    }

    /// The headers of one sort.
    pub(in crate::imp::linux) fn of_kind(&self, kind: u32) -> impl Iterator<Item = &libc::Elf64_Phdr> + Clone {
        self.headers.iter().filter(move |header| header.p_type == kind)
    }

    /// Returns its table for the loader: tags, each with a number or an address.
    pub(in crate::imp::linux) fn dynamic(&self) -> impl Iterator<Item = (DynamicTag, usize)> {
        let start = self.of_kind(libc::PT_DYNAMIC).map(|header| self.range(header).start).next();
        let table = start.and_then(|start| self.bytes(start)).unwrap_or_default();
        let [tags, values] = [0, 1].map(|at| peek::words(table).skip(at).step_by(2));
        tags.map(|tag| DynamicTag(tag as i64)).zip(values).take_while(|(tag, _)| *tag != DT_NULL)
    }

    /// An address in that table. The loader writes addresses over most offsets, but not where the table cannot be written to.
    pub(in crate::imp::linux) fn address(&self, value: usize) -> usize {
        if value < self.base { self.base.wrapping_add(value) } else { value }
    }

    /// The text that ends with a zero byte; empty where there is none.
    pub(in crate::imp::linux) fn text(&self, address: usize) -> Vec<u8> {
        match self.bytes(address) {
            Some(bytes) => CStr::from_bytes_until_nul(bytes).map(|text| text.to_bytes().to_vec()).unwrap_or_default(),
            None => peek::text(address, LONGEST_NAME).unwrap_or_default(),
        }
    }

    /// Returns so many bytes at an address, or as many as there are: tools that edit libraries move tables of the loader into parts
    /// that are written to, and of these this is a copy.
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

    /// Returns the bytes after an address in a part that is constant once the library is on the list: not in one that becomes so
    /// when the loader has relocated the library, which it does later.
    fn bytes(&self, address: usize) -> Option<&[u8]> {
        let is_constant = |header: &&libc::Elf64_Phdr| match header.p_type {
            libc::PT_LOAD => header.p_flags & (libc::PF_R | libc::PF_W) == libc::PF_R,
            kind => kind == libc::PT_DYNAMIC,
        };
        let constant = self.headers.iter().filter(is_constant).map(|header| self.range(header));
        let end = constant.filter(|range| range.contains(&address)).map(|range| range.end).max()?;
        let place = ptr::with_exposed_provenance(address);
        // SAFETY: the library is mapped for as long as this is lent. Its headers have these bytes in a part that is read and not
        // written to, or in the loader's own table, which the loader adjusts before the library is on the list.
        Some(unsafe { std::slice::from_raw_parts(place, end - address) })
    }

    /// Where its segments are.
    pub(in crate::imp::linux) fn segments(&self) -> impl Iterator<Item = Range<usize>> + Clone {
        self.of_kind(libc::PT_LOAD).map(|header| self.range(header))
    }
}

/// Shows everything that is mapped, the program first, until told `true`. Nothing is unmapped meanwhile.
pub(in crate::imp::linux) fn walk(mut is_enough: impl FnMut(&Listed<'_>) -> bool) {
    let mut see: &mut dyn FnMut(&Listed<'_>) -> bool = &mut is_enough;
    // SAFETY: `visit` takes its last argument for such a reference, which lives until the walk returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut see).cast()) };
}

/// One image of the loader's list; anything but zero ends the walk.
///
/// # Safety
///
/// `info` is what `dl_iterate_phdr` lends for this call, `see` what `walk` hands over, which it does not use meanwhile.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, see: *mut c_void) -> c_int {
    // SAFETY: `dl_iterate_phdr` lends a whole record for this call, and `walk` a live reference.
    let (info, see) = unsafe { (&*info, &mut *see.cast::<&mut dyn FnMut(&Listed<'_>) -> bool>()) };
    if info.dlpi_name.is_null() || info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the loader, which is locked during the walk, keeps a C string for a name, and `dlpi_phnum` headers.
    let (name, headers) = unsafe {
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        (CStr::from_ptr(info.dlpi_name), headers)
    };
    c_int::from(see(&Listed { name, base: info.dlpi_addr as usize, headers }))
}

/// The image an address lies in, by the name the loader has for it.
pub(crate) fn file_at(address: usize) -> Option<PathBuf> {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: the loader compares the address, and has filled the record when it says that it has found the image; its name
    // of an image is a C string that it keeps while the image is mapped.
    let name = unsafe {
        if libc::dladdr(ptr::without_provenance(address), info.as_mut_ptr()) == 0 {
            return None;
        }
        let name = info.assume_init().dli_fname;
        (!name.is_null()).then(|| CStr::from_ptr(name))
    }?;
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

/// The address of a symbol, as whatever in the process finds it first.
pub(in crate::imp::linux) fn address_of(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the loader reads a C string, and only the address that it gives is looked at.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// How long an exported function of the C library is, as the loader knows; zero for what is none.
#[cfg(target_arch = "x86_64")]
pub(in crate::imp::linux) fn len_of(function: usize) -> usize {
    const SYMBOL: c_int = 1;
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    let mut symbol: *mut c_void = ptr::null_mut();
    let address = ptr::without_provenance::<c_void>(function);
    // SAFETY: the loader compares the address and fills both places. What it finds leads to the table of a library that is
    // never unmapped, the one that all others need.
    let symbol = unsafe {
        if dladdr1(address, info.as_mut_ptr(), &raw mut symbol, SYMBOL) == 0 || symbol.is_null() {
            return 0;
        }
        symbol.cast::<libc::Elf64_Sym>().read()
    };
    symbol.st_size as usize
}

/// The beginning of the function that has code at this address.
#[cfg(target_arch = "x86_64")]
pub(in crate::imp::linux) fn enclosing(address: usize) -> Option<usize> {
    // SAFETY: the unwinder only searches its table of records; it looks for the byte before the one it is told.
    let found = unsafe { _Unwind_FindEnclosingFunction(ptr::without_provenance_mut(address + 1)) };
    (!found.is_null()).then(|| found.addr())
}

/// A share of a library, which stays mapped at least until this is dropped.
pub(in crate::imp::linux) struct Share(*mut c_void);

// SAFETY: the loader takes a share back from any thread.
unsafe impl Send for Share {}

impl Share {
    /// `None` for a library that is not mapped.
    pub(in crate::imp::linux) fn of(name: &[u8]) -> Option<Self> {
        let name = CString::new(name).ok()?;
        // SAFETY: with `RTLD_NOLOAD` the loader maps nothing and runs no initialiser.
        let share = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        (!share.is_null()).then(|| Self(share))
    }

    /// The address of a symbol of the library, or of one that it needs.
    pub(in crate::imp::linux) fn address(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: the loader reads a C string, and the share is held.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        // SAFETY: the loader gave the share to this value, which gives it back once. Whoever drops it has seen that nothing
        // leads into the library that he would still use.
        unsafe { libc::dlclose(self.0) };
    }
}

#[cfg(target_arch = "x86_64")]
unsafe extern "C" {
    fn _Unwind_FindEnclosingFunction(address: *mut c_void) -> *mut c_void;
    fn dladdr1(address: *const c_void, info: *mut libc::Dl_info, extra: *mut *mut c_void, flags: c_int) -> c_int;
}
