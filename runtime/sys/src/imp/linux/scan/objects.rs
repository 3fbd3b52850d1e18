//! Libraries that the loader has mapped, with the address ranges of their variables.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use object::elf::{DT_FINI, DT_INIT, DT_JMPREL, DT_PLTRELSZ, DT_RELA, DT_RELASZ, DT_STRSZ, DT_STRTAB, DynamicTag};

use super::super::c::loader::{self, Listed};
use super::super::companions;
use super::super::ranges::Ranges;

const HEADER: usize = size_of::<libc::Elf64_Ehdr>();

#[derive(Debug)]
pub(super) struct Object {
    /// Name in the loader's list. Empty for the program.
    pub(super) path: PathBuf,
    /// Difference between an address in memory and the address in the file.
    pub(super) base: usize,
    /// Variables, including zeroed variables. Excludes variables that are constant after mapping.
    pub(super) variables: Vec<Range<usize>>,
    pub(super) code: Vec<Range<usize>>,
    pub(super) dynamic: Option<usize>,
    /// Parts that only the loader reads or calls, which the scan does not count as targets. Free memory contains many stale addresses of
    /// these parts: copies of the loader's record of an image, and of the host's lists of segments.
    pub(super) for_loader: Vec<Range<usize>>,
}

impl Object {
    fn of(listed: &Listed<'_>) -> Self {
        let constant: Vec<_> = listed.of_kind(libc::PT_GNU_RELRO).map(|header| listed.range(header)).collect();
        let writable = listed.of_kind(libc::PT_LOAD).filter(|header| header.p_flags & libc::PF_W != 0);
        Self {
            path: PathBuf::from(OsStr::from_bytes(listed.name.to_bytes())),
            base: listed.base,
            variables: writable.flat_map(|header| without(listed.range(header), &constant)).collect(),
            code: listed.code(),
            dynamic: listed.part(libc::PT_DYNAMIC).map(|range| range.start),
            for_loader: for_loader(listed),
        }
    }

    pub(super) fn name(&self) -> String {
        match self.path.file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => "the program".to_owned(),
        }
    }

    pub(super) fn is_program(&self) -> bool {
        self.path.as_os_str().is_empty()
    }

    pub(super) fn is_c_library(&self) -> bool {
        self.name().starts_with("libc.so")
    }

    /// Returns `true` for the loader, the unwinder and thread pools, whose variables refer to images only as records and not as callbacks.
    /// The loader lists every image until the image is closed. The unwinder may cache an image's tables, but queries the loader before it
    /// uses a cached table. Explicitly registered tables are recorded elsewhere. A thread pool stores its last task even after the task has
    /// completed.
    pub(super) fn lists_images(&self) -> bool {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let is_known = ["ld-linux", "ld.so", "ld64.so", "libgcc_s.so"].iter().any(|start| name.starts_with(start));
        is_known || companions::is_name_of_pool(&name)
    }
}

pub(super) fn mapped() -> Vec<Object> {
    loader::all(Object::of)
}

/// Returns the parts of an image that only the loader reads or calls. These are the headers and tables at the start of the first segment,
/// the dynamic table, initial values of thread-locals, and the entry and exit functions of old C runtimes.
fn for_loader(listed: &Listed<'_>) -> Vec<Range<usize>> {
    let address = |tag| listed.value(tag).map(|at| listed.address(at));
    let tables = listed.part(libc::PT_LOAD).map(|first| {
        let end = |(start, len): (DynamicTag, DynamicTag)| {
            address(start)?.checked_add(listed.value(len)?).filter(|end| first.contains(end))
        };
        let ends = [(DT_STRTAB, DT_STRSZ), (DT_RELA, DT_RELASZ), (DT_JMPREL, DT_PLTRELSZ)].into_iter().filter_map(end);
        first.start..ends.max().unwrap_or(first.start + HEADER).min(first.end)
    });
    let called = [DT_INIT, DT_FINI].into_iter().filter_map(address).map(|at| at..at + 1);
    tables.into_iter().chain(listed.part(libc::PT_DYNAMIC)).chain(listed.part(libc::PT_TLS)).chain(called).collect()
}

/// Returns the parts of `range` that are outside of `others`.
pub(super) fn without(range: Range<usize>, others: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut parts = Ranges::default();
    parts.insert(range);
    for other in others {
        parts.remove(other.clone());
    }
    parts.take()
}

#[cfg(test)]
mod tests {
    use super::mapped;

    #[test]
    fn loader_only_memory_contains_tables_but_no_code_or_constants() {
        static CONSTANT: [u8; 4096] = [7; 4096];
        let objects = mapped();
        let program = objects.iter().find(|object| object.is_program()).expect("it is mapped");
        let has = |at: usize| program.for_loader.iter().any(|range| range.contains(&at));
        assert!(has(program.dynamic.expect("it is linked dynamically")), "{program:?}");
        // The part is longer than the file headers, because names and relocations follow the headers.
        assert!(program.for_loader[0].len() > 4096, "{program:?}");
        assert!(!has(CONSTANT.as_ptr().addr()) && !has((mapped as fn() -> _ as *const ()).addr()), "{program:?}");
    }

    #[test]
    fn the_program_and_the_c_library_have_variables() {
        let objects = mapped();
        for name in ["the program", "libc.so.6"] {
            let object = objects.iter().find(|object| object.name() == name).expect("it is mapped");
            assert!(!object.variables.is_empty() && object.dynamic.is_some(), "{object:?}");
        }
        assert_eq!(objects.iter().filter(|object| object.is_program()).count(), 1);
        assert_eq!(
            objects.iter().filter(|object| object.name().starts_with("ld-linux") && object.lists_images()).count(),
            1
        );
    }
}
