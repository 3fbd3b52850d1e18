//! Linux with glibc, where `dlclose` may unmap an image and may as well decide not to, without a word.
#![expect(unsafe_code, reason = "mapping, unmapping and asking the loader are calls into C")]

mod altstack;
mod async_fds;
mod before;
mod c_heap;
mod children;
mod companions;
mod cpp;
mod crash;
mod environment;
mod evict;
mod exits;
mod fds;
mod fork;
mod frames;
mod handlers;
pub(crate) mod hooks;
mod lease;
mod lent;
mod loaded;
mod locals;
mod memory;
mod names;
mod notices;
mod onstack;
mod panics;
mod peek;
mod random;
mod ranges;
mod records;
mod requests;
mod rings;
mod robust;
mod scan;
mod signal_hooks;
mod signal_sets;
mod signals;
mod sources;
mod stacks;
mod strays;
mod streams;
mod system_log;
#[cfg(target_arch = "x86_64")]
mod tails;
mod threads;
mod timers;
mod vacated;

pub(crate) use crash::{clock, report_crashes};
pub(crate) use exits::at_exit;
pub(crate) use lease::Lease;
pub(crate) use names::told_name;
pub(crate) use panics::{panics_are_told, report_panics, tell_panic};
pub(crate) use records::Records;
pub(crate) use rings::own_ring;

use std::error::Error as _;
use std::ffi::{CStr, OsStr, c_int, c_void};
use std::fs;
use std::io;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    wanted: Wanted<'a>,
    ranges: Vec<Range<usize>>,
}

enum Wanted<'a> {
    Name(&'a [u8]),
    Around(usize),
}

impl Mapping {
    /// # Safety
    ///
    /// The file's initialisers are sound to run.
    pub(crate) unsafe fn open(path: &Path) -> Result<Self, String> {
        let reserved = vacated::reserve();
        // SAFETY: our caller promises that the initialisers are sound to run.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(in_words)?;
        drop(reserved);
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

    /// Where it is, segment by segment.
    pub(crate) fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    pub(crate) fn contains(&self, address: usize) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }

    /// Whether so many bytes behind an address all lie in one segment of the image.
    pub(crate) fn has_room(&self, address: usize, size: usize) -> bool {
        let end = address.checked_add(size);
        self.ranges.iter().any(|range| range.contains(&address) && end.is_some_and(|end| end <= range.end))
    }

    /// Closes and looks whether the image is really gone, and then whether nothing else maps its file either; the error is
    /// the reason why it is not gone.
    ///
    /// # Safety
    ///
    /// Nothing of the image is used afterwards, and its finalisers are sound to run.
    pub(crate) unsafe fn close(self, path: &Path) -> Result<bool, String> {
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
                Ok(false)
            }
            (false, false, false) => {
                vacated::note(&self.ranges);
                Ok(true)
            }
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

pub(crate) fn thread_names() -> io::Result<Vec<(i32, String)>> {
    let tasks = fs::read_dir("/proc/self/task")?.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok());
    // One that ends meanwhile has no name any more.
    Ok(tasks.filter_map(|tid| Some((tid, thread_name(tid)?))).collect())
}

/// The number of the calling thread.
pub(crate) fn thread_number() -> Option<i32> {
    // SAFETY: asking for one's own number has no conditions.
    Some(unsafe { libc::gettid() })
}

/// The name of a thread as it is now, in full where the thread is an image's; `None` when there is no such thread.
pub(crate) fn thread_name(tid: i32) -> Option<String> {
    let short = fs::read(format!("/proc/self/task/{tid}/comm")).ok()?;
    let short = short.strip_suffix(b"\n").unwrap_or(&short);
    Some(names::in_full(tid, short).unwrap_or_else(|| String::from_utf8_lossy(short).into_owned()))
}

pub(crate) fn fds() -> io::Result<Vec<(i32, String)>> {
    // The directory itself takes one for as long as it is read; it is gone when its link is.
    let numbers: Vec<i32> =
        fs::read_dir("/proc/self/fd")?.filter_map(|fd| fd.ok()?.file_name().to_str()?.parse().ok()).collect();
    let mut fds: Vec<_> = numbers.into_iter().filter_map(|fd| Some((fd, fd_target(fd)?))).collect();
    fds.sort_unstable();
    Ok(fds)
}

/// What a descriptor leads to; `None` when it is not open.
pub(crate) fn fd_target(fd: i32) -> Option<String> {
    Some(fs::read_link(format!("/proc/self/fd/{fd}")).ok()?.to_string_lossy().into_owned())
}

pub(crate) fn keys_in_use() -> io::Result<usize> {
    let mut taken = Vec::new();
    loop {
        let mut key = 0;
        // SAFETY: `key` is a place for a key, and no destructor is named.
        if unsafe { libc::pthread_key_create(&raw mut key, None) } != 0 {
            break;
        }
        taken.push(key);
    }
    let free = taken.len();
    for key in taken {
        // SAFETY: the key was made above and nobody else knows it.
        unsafe { libc::pthread_key_delete(key) };
    }
    Ok(MOST_KEYS.saturating_sub(free))
}

/// `PTHREAD_KEYS_MAX` of glibc.
const MOST_KEYS: usize = 1024;

/// Wakes the threads that wait on this word as on a futex.
pub(crate) fn wake_all(word: &AtomicU32) {
    let everybody = c_int::MAX;
    // SAFETY: the word is live, and waking touches nothing behind it.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, everybody) };
    // SAFETY: as above; who waits privately is kept apart from who shares.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, everybody) };
}

/// How many images are about to go.
static ENDING: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn ending_begins() {
    ENDING.fetch_add(1, Ordering::SeqCst);
}

pub(crate) fn ending_is_over() {
    ENDING.fetch_sub(1, Ordering::SeqCst);
}

pub(crate) fn checkpoint() -> u64 {
    children::reap_ended();
    if ENDING.load(Ordering::Relaxed) == 0 { 0 } else { locals::settle_ending() }
}

/// The calling thread's error number.
fn errno() -> c_int {
    io::Error::last_os_error().raw_os_error().unwrap_or_default()
}

fn set_errno(error: c_int) {
    // SAFETY: asking for the place has no conditions.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: the place of the thread's error number is always there.
    unsafe { place.write(error) };
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this process has a thread of that number.
fn thread_exists(tid: i32) -> bool {
    // SAFETY: asking for one's own number has no conditions.
    let process = unsafe { libc::getpid() };
    // SAFETY: signal zero is never sent; the call only looks for the thread.
    unsafe { libc::syscall(libc::SYS_tgkill, process, tid, 0) == 0 }
}

/// The image an address lies in, by the name the loader has for it.
pub(crate) fn file_at(address: usize) -> Option<PathBuf> {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: the loader only compares the address, and fills the record that outlives the call.
    let found = unsafe { libc::dladdr(std::ptr::without_provenance(address), info.as_mut_ptr()) };
    if found == 0 {
        return None;
    }
    // SAFETY: the loader says that it has found the image, so it has filled the record.
    let info = unsafe { info.assume_init() };
    if info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's name of an image is a C string that it keeps while the image is mapped.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
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
    search(Wanted::Name(path.as_os_str().as_bytes()))
}

/// The segments of the image that has something at this address.
fn ranges_around(address: usize) -> Vec<Range<usize>> {
    search(Wanted::Around(address))
}

fn search(wanted: Wanted<'_>) -> Vec<Range<usize>> {
    let mut search = Search { wanted, ranges: Vec::new() };
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
    // SAFETY: the loader says that there are `dlpi_phnum` headers at `dlpi_phdr`.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let loads = headers.iter().filter(|header| header.p_type == libc::PT_LOAD).map(|header| {
        let start = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
        start..start.saturating_add(header.p_memsz as usize)
    });
    let is_wanted = match search.wanted {
        Wanted::Name(wanted) => name.to_bytes() == wanted,
        Wanted::Around(address) => loads.clone().any(|range| range.contains(&address)),
    };
    if !is_wanted {
        return 0;
    }
    search.ranges.extend(loads);
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
