//! Image mapped by the loader. The loader may silently keep the image mapped after `dlclose`.
#![expect(unsafe_code, reason = "unmapping runs code of the image")]

use std::ffi::{CStr, c_void};
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use libloading::os::unix::Library;

use super::c::loader::{share, symbol};
use super::proc::Maps;
use super::room::{Room, Unmapping};
use super::{loaded, ranges_where};
use crate::image_error::NativeError;
use crate::{elf, plain_file};

/// Mapped image. Does not implement `Drop`: closing runs code of the image and must be explicit.
#[derive(Debug)]
pub(crate) struct Mapping {
    library: ManuallyDrop<Library>,
    /// Ranges of the image's segments, including zeroed data.
    ranges: Vec<Range<usize>>,
}

impl Mapping {
    /// Maps the file at `path` with `open`, which executes [`open_library`](super::open_library).
    pub(crate) fn open(
        path: &Path,
        open: impl FnOnce(&Path) -> Result<Library, libloading::Error>,
    ) -> Result<Self, String> {
        let room = Room::find();
        let library = open(path);
        drop(room);
        let library = library.map_err(|error| NativeError::of(error).0)?;
        // If the file is already loaded, the loader returns the existing image. The loader lists that image under the path from which it
        // was first loaded, so this path is not listed. Using the existing image would run old code.
        let ranges = ranges_where(|listed| listed.name.to_bytes() == path.as_os_str().as_bytes());
        if ranges.is_empty() {
            // Releases only the reference that was just added. The existing image stays mapped, because its owner holds a separate
            // reference.
            drop(library);
            return Err("the loader takes the file for an image that is mapped already".to_owned());
        }
        Ok(Self { library: ManuallyDrop::new(library), ranges })
    }

    /// Returns the address of a symbol of this image. Returns an error if the loader has found the symbol in a dependency of the image
    /// instead.
    pub(crate) fn address(&self, name: &CStr) -> Result<*mut c_void, String> {
        let address = symbol(&self.library, name).map_err(|error| NativeError::of(error).0)?;
        if self.contains(address.addr()) {
            Ok(address)
        } else {
            Err("another library has a symbol of that name, this library does not".to_owned())
        }
    }

    pub(crate) fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    pub(crate) fn contains(&self, address: usize) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }

    /// Checks if `size` bytes at an address are inside one segment of the image.
    pub(crate) fn has_room(&self, address: usize, size: usize) -> bool {
        let end = address.checked_add(size);
        self.ranges.iter().any(|range| range.contains(&address) && end.is_some_and(|end| end <= range.end))
    }

    /// Closes the image and verifies that it is unmapped. Returns `true` if the image's file has no further mapping, for example as data.
    /// The error is the reason why the image stays mapped.
    ///
    /// # Safety
    ///
    /// The image is not used afterwards, and its finalizers are sound to run.
    pub(crate) unsafe fn close(self, path: &Path) -> Result<bool, String> {
        let unmapping = Unmapping::begin();
        let closed = ManuallyDrop::into_inner(self.library).close();
        // The check may itself unmap the image, by dropping the last reference.
        let known = is_known(path);
        drop(unmapping);
        closed.map_err(|error| NativeError::of(error).0)?;
        let maps = Maps::read().map_err(|error| format!("cannot determine whether it is unmapped: {error}"))?;
        let mut here = maps.all().filter(|mapped| mapped.file() == Some(path)).peekable();
        // A program that reads symbols may keep the file mapped as data. Only mappings of code show that the image is still mapped.
        match (known, here.peek().is_some(), here.any(|mapped| mapped.is_code())) {
            (true, ..) => Err(format!("the loader still counts uses of it: {}", user_of(path))),
            (false, _, true) => Err("the loader has released it, but its code is still mapped".to_owned()),
            (false, true, false) => {
                log!(DEBUG, path = %path.display(), "the image is gone, its file is still mapped as data");
                Ok(false)
            }
            (false, false, false) => Ok(true),
        }
    }
}

/// Describes why the loader keeps an image mapped after closing, according to the loader's list and the image's file.
fn user_of(path: &Path) -> String {
    let all = loaded::all();
    let image = all.iter().find(|library| library.path() == path);
    let needs_it = |library: &&loaded::Loaded| {
        image
            .is_some_and(|image| !library.is(image) && loaded::needs(library, &all).iter().any(|other| other.is(image)))
    };
    if let Some(library) = all.iter().filter(|library| !library.name.is_empty()).find(needs_it) {
        return format!("{} needs it", library.file());
    }
    let facts = plain_file::read(path, plain_file::LARGEST_LIBRARY).ok().and_then(|bytes| elf::survey(&bytes).ok());
    let Some(facts) = facts else { return "the user is unknown, since its file cannot be read any more".to_owned() };
    if let Some(symbol) = facts.pinning.unique.first() {
        return format!("it defines `{symbol}`, of which a process has one");
    }
    if facts.pinning.is_marked {
        return "it was linked with `-z nodelete`".to_owned();
    }
    let registers = ["__cxa_thread_atexit_impl", "__cxa_thread_atexit"];
    match facts.imports.iter().find(|import| registers.contains(&import.as_str())) {
        Some(import) => {
            format!("the user is unknown; it may have destructors of thread-locals by the C library's `{import}`")
        }
        None => "the user is unknown".to_owned(),
    }
}

/// Checks if the loader still lists an image of this name. The check temporarily adds a reference to the image.
fn is_known(path: &Path) -> bool {
    let is_listed = || share(path.as_os_str().as_bytes()).is_some();
    // Checks twice. If the last foreign reference is released during the first check, dropping the temporary reference unmaps the image.
    // The second check then no longer finds the image.
    is_listed() && is_listed()
}
