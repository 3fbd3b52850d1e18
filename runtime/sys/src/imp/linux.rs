//! Linux with glibc, where `dlclose` may unmap an image and may as well decide not to, without a word.
#![expect(unsafe_code, reason = "mapping, unmapping and asking the loader are calls into C")]

use std::error::Error as _;
use std::ffi::{CStr, OsStr, c_int, c_void};
use std::fs;
use std::io;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// A mapped image. It has no `Drop`: closing runs code of the image, so it happens only when asked for.
#[derive(Debug)]
pub(crate) struct Mapping {
    library: ManuallyDrop<Library>,
    /// Where its segments are, zeroed data included.
    ranges: Vec<Range<usize>>,
}

/// One line of `/proc/self/maps` that stands for a file.
#[derive(Debug, PartialEq, Eq)]
struct MappedFile {
    path: PathBuf,
    executable: bool,
}

/// What the walk over the loader's list looks for and what it finds.
struct Search<'a> {
    name: &'a [u8],
    ranges: Vec<Range<usize>>,
}

impl Mapping {
    /// # Safety
    ///
    /// The file's initialisers are sound to run.
    pub(crate) unsafe fn open(path: &Path) -> Result<Self, String> {
        // SAFETY: our caller promises that the initialisers are sound to run.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(in_words)?;
        // The loader gives an image that it knows back under the image's first name. Using it would run old code.
        let ranges = ranges_of(path);
        if ranges.is_empty() {
            // Only the use that was just added ends here; the image's first owner holds another.
            drop(library);
            return Err("the loader takes the file for an image that is mapped already".to_owned());
        }
        Ok(Self { library: ManuallyDrop::new(library), ranges })
    }

    /// The address of a symbol of this image; the loader's answer may also come from a library it needs.
    pub(crate) fn address(&self, name: &CStr) -> Result<*mut c_void, String> {
        // SAFETY: an address is read whatever the symbol is; nobody looks behind it here.
        let symbol = unsafe { self.library.get::<*mut c_void>(name) };
        let address = *symbol.map_err(in_words)?;
        if self.contains(address.addr()) {
            Ok(address)
        } else {
            Err("another library has a symbol of that name, this one has not".to_owned())
        }
    }

    pub(crate) fn contains(&self, address: usize) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }

    /// Closes and looks whether the image is really gone; the error is the reason why it is not.
    ///
    /// # Safety
    ///
    /// Nothing of the image is used afterwards, and its finalisers are sound to run.
    pub(crate) unsafe fn close(self, path: &Path) -> Result<(), String> {
        let closed = ManuallyDrop::into_inner(self.library).close();
        closed.map_err(in_words)?;
        let known = is_known(path);
        let here = maps().map_err(|error| format!("cannot see whether it is gone: {error}"))?;
        let mut here = here.iter().filter(|file| file.path == path).peekable();
        // A reader of symbols may keep the file itself mapped; only code pages are the image.
        match (known, here.peek().is_some(), here.any(|file| file.executable)) {
            (true, ..) => Err("the loader still counts uses of it: thread-local destructors that have not run, \
                               another handle, or a unique symbol"
                .to_owned()),
            (false, _, true) => Err("the loader has let go of it but its code is still mapped".to_owned()),
            (false, true, false) => {
                tracing::debug!(path = %path.display(), "the image is gone, its file is still mapped as data");
                Ok(())
            }
            (false, false, false) => Ok(()),
        }
    }
}

/// Every file this process has mapped, code or data, once for each mapping.
pub(crate) fn mapped_files() -> io::Result<Vec<PathBuf>> {
    Ok(maps()?.into_iter().map(|file| file.path).collect())
}

/// The kernel's quick counters lag by some pages for each thread, so the exact sum is asked for first.
pub(crate) fn rss_kib() -> io::Result<u64> {
    let exact = fs::read_to_string("/proc/self/smaps_rollup").ok().and_then(|text| field(&text, "Rss:"));
    match exact {
        Some(kib) => Ok(kib),
        None => status("VmRSS:"),
    }
}

pub(crate) fn open_fds() -> io::Result<usize> {
    // Reading the directory takes one descriptor, which is listed as well.
    Ok(fs::read_dir("/proc/self/fd")?.count().saturating_sub(1))
}

pub(crate) fn threads() -> io::Result<usize> {
    status("Threads:").map(|count| count as usize)
}

/// Whether the loader still has an image of this name. The look itself adds a use and takes it back.
fn is_known(path: &Path) -> bool {
    // SAFETY: with `RTLD_NOLOAD` nothing is mapped and no initialiser runs.
    match unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL | libc::RTLD_NOLOAD) } {
        Ok(again) => {
            // The last other use may have ended meanwhile; then this one unmaps, and the next look sees it.
            drop(again);
            // SAFETY: as above.
            unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL | libc::RTLD_NOLOAD) }.is_ok()
        }
        Err(_) => false,
    }
}

fn ranges_of(path: &Path) -> Vec<Range<usize>> {
    let mut search = Search { name: path.as_os_str().as_bytes(), ranges: Vec::new() };
    // SAFETY: `visit` takes its last argument for a `Search`, which lives until the walk returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.ranges
}

/// One image of the loader's list; anything but zero ends the walk.
///
/// # Safety
///
/// `info` is what `dl_iterate_phdr` lends for this call, `data` the `Search` of `ranges_of`, not used elsewhere.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: `ranges_of` hands over a live `Search` that it does not touch during the walk.
    let search = unsafe { &mut *data.cast::<Search<'_>>() };
    // SAFETY: `dl_iterate_phdr` lends a whole record for the length of this call.
    let info = unsafe { &*info };
    if info.dlpi_name.is_null() || info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: a name that is not null is a C string kept by the loader, which is locked during the walk.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) };
    if name.to_bytes() != search.name {
        return 0;
    }
    // SAFETY: the loader says that there are `dlpi_phnum` headers at `dlpi_phdr`.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    for header in headers.iter().filter(|header| header.p_type == libc::PT_LOAD) {
        let start = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
        search.ranges.push(start..start.saturating_add(header.p_memsz as usize));
    }
    1
}

fn maps() -> io::Result<Vec<MappedFile>> {
    Ok(fs::read("/proc/self/maps")?.split(|byte| *byte == b'\n').filter_map(mapped_file).collect())
}

/// Five fields come first: range, permissions, offset, device, inode. The rest is the path, spaces and all.
fn mapped_file(line: &[u8]) -> Option<MappedFile> {
    let mut fields = line.splitn(6, |byte| *byte == b' ');
    let permissions = fields.nth(1)?;
    let path = fields.nth(3)?.trim_ascii_start();
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    path.starts_with(b"/").then(|| MappedFile {
        path: PathBuf::from(OsStr::from_bytes(path)),
        executable: permissions.get(2) == Some(&b'x'),
    })
}

fn status(name: &str) -> io::Result<u64> {
    let text = fs::read_to_string("/proc/self/status")?;
    field(&text, name)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("no {name} in /proc/self/status")))
}

fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What the loader said; the wrapper alone only says which call failed.
fn in_words(error: libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::{MappedFile, field, mapped_file};

    fn check(line: &str, expected: Option<(&str, bool)>) {
        let expected = expected.map(|(path, executable)| MappedFile { path: path.into(), executable });
        assert_eq!(mapped_file(line.as_bytes()), expected, "{line}");
    }

    #[test]
    fn a_line_of_the_maps_is_a_file_only_if_it_has_a_path() {
        check("7f0-7f1 r-xp 00001000 fe:00 123            /tmp/a.so", Some(("/tmp/a.so", true)));
        check("7f0-7f1 r--p 00000000 fe:00 123            /tmp/a b.so (deleted)", Some(("/tmp/a b.so", false)));
        check("7f0-7f1 rw-p 00000000 00:00 0 ", None);
        check("7f0-7f1 rw-p 00000000 00:00 0              [heap]", None);
        check("", None);
    }

    #[test]
    fn a_field_is_the_number_after_its_name() {
        assert_eq!(field("Name:\tx\nVmRSS:\t    1960 kB\n", "VmRSS:"), Some(1960));
        assert_eq!(field("Name:\tx\n", "VmRSS:"), None);
    }
}
