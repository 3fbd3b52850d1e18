//! What the loader has mapped: where the variables of each library are.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use object::elf::{DT_FINI, DT_INIT, DT_JMPREL, DT_PLTRELSZ, DT_RELA, DT_RELASZ, DT_STRSZ, DT_STRTAB, DynamicTag};

use super::super::{companions, peek};
use super::words;

/// How long the header of a file is.
const HEADER: usize = size_of::<libc::Elf64_Ehdr>();

/// A library, or the program.
#[derive(Debug)]
pub(super) struct Object {
    /// As the loader names it; empty for the program.
    pub(super) path: PathBuf,
    /// What addresses in its file are counted from.
    pub(super) base: usize,
    /// Its variables, zeroed ones included, but for those that are constant once it is mapped.
    pub(super) variables: Vec<Range<usize>>,
    /// Where its dynamic table is.
    pub(super) dynamic: Option<usize>,
    /// What only the loader reads or calls. Its record of an image is full of addresses of these, and so is what this host
    /// notes of segments: both are left in free memory.
    pub(super) for_loader: Vec<Range<usize>>,
}

impl Object {
    /// The last part of its name.
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

    /// Whether its variables are records about images, and not callbacks into them: the loader knows each image until it
    /// is closed. The unwinder may remember where an image's tables are, and asks the loader before it believes that; the
    /// tables that it was given by hand are on record elsewhere. A pool of threads remembers what it ran last.
    pub(super) fn is_about_images(&self) -> bool {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let is_known = ["ld-linux", "ld.so", "ld64.so", "libgcc_s.so"].iter().any(|start| name.starts_with(start));
        is_known || companions::is_name_of_pool(&name)
    }
}

/// All that are mapped now.
pub(super) fn mapped() -> Vec<Object> {
    let mut objects: Vec<Object> = Vec::new();
    // SAFETY: `visit` takes its last argument for a row of objects, which lives until the walk returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut objects).cast()) };
    objects
}

/// # Safety
///
/// `info` is what `dl_iterate_phdr` lends for this call, `data` the row of `mapped`, not used elsewhere.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: `mapped` hands over a live row that it does not touch during the walk.
    let objects = unsafe { &mut *data.cast::<Vec<Object>>() };
    // SAFETY: `dl_iterate_phdr` lends a whole record for the length of this call.
    let info = unsafe { &*info };
    if info.dlpi_name.is_null() || info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: a name that is not null is a C string kept by the loader, which is locked during the walk.
    let name = unsafe { CStr::from_ptr(info.dlpi_name) };
    // SAFETY: the loader says that there are `dlpi_phnum` headers at `dlpi_phdr`.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let base = info.dlpi_addr as usize;
    let range = |header: &libc::Elf64_Phdr| {
        let start = base.wrapping_add(header.p_vaddr as usize);
        start..start.saturating_add(header.p_memsz as usize)
    };
    let of_kind = |kind| headers.iter().filter(move |header| header.p_type == kind);
    let constant: Vec<_> = of_kind(libc::PT_GNU_RELRO).map(range).collect();
    let writable = of_kind(libc::PT_LOAD).filter(|header| header.p_flags & libc::PF_W != 0).map(range);
    objects.push(Object {
        path: PathBuf::from(OsStr::from_bytes(name.to_bytes())),
        base,
        variables: writable.flat_map(|range| without(range, &constant)).collect(),
        dynamic: of_kind(libc::PT_DYNAMIC).map(|header| range(header).start).next(),
        for_loader: for_loader(
            base,
            of_kind(libc::PT_LOAD).map(range).next(),
            of_kind(libc::PT_DYNAMIC).map(range).next(),
            of_kind(libc::PT_TLS).map(range).next(),
        ),
    });
    0
}

/// What of an image only the loader reads or calls: its headers and tables, which linkers put first in the first segment, the
/// dynamic table, what thread-locals begin with, and the functions that C runtimes of old begin and end with.
fn for_loader(
    base: usize,
    first: Option<Range<usize>>,
    dynamic: Option<Range<usize>>,
    locals: Option<Range<usize>>,
) -> Vec<Range<usize>> {
    let mut bytes = vec![0; dynamic.as_ref().map_or(0, Range::len)];
    let there = dynamic.as_ref().map_or(0, |table| peek::read(table.start, &mut bytes));
    let words: Vec<usize> = words(&bytes[..there]).collect();
    let (entries, _) = words.as_chunks::<2>();
    let value = |wanted: DynamicTag| entries.iter().find(|[tag, _]| *tag as i64 == wanted.0).map(|[_, value]| *value);
    // The C library writes addresses where the file has offsets, on most machines.
    let address = |wanted| value(wanted).map(|at| if at < base { base.wrapping_add(at) } else { at });
    let tables = first.map(|first| {
        let end = |(start, len): (DynamicTag, DynamicTag)| {
            address(start)?.checked_add(value(len)?).filter(|end| first.contains(end))
        };
        let ends = [(DT_STRTAB, DT_STRSZ), (DT_RELA, DT_RELASZ), (DT_JMPREL, DT_PLTRELSZ)].into_iter().filter_map(end);
        first.start..ends.max().unwrap_or(first.start + HEADER).min(first.end)
    });
    let called = [DT_INIT, DT_FINI].into_iter().filter_map(address).map(|at| at..at + 1);
    tables.into_iter().chain(dynamic).chain(locals).chain(called).collect()
}

/// What of a range lies in none of some others.
pub(super) fn without(range: Range<usize>, others: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut parts = vec![range];
    for other in others {
        let cut = |part: Range<usize>| [part.start..part.end.min(other.start), part.start.max(other.end)..part.end];
        parts = parts.into_iter().flat_map(cut).filter(|part| part.start < part.end).collect();
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::{mapped, without};

    #[test]
    fn what_is_constant_is_cut_out() {
        let check = |constant: &[Range<usize>], left: &[(usize, usize)]| {
            let found: Vec<_> = without(10..50, constant).iter().map(|range| (range.start, range.end)).collect();
            assert_eq!(found, left, "{constant:?}");
        };
        check(&[], &[(10, 50)]);
        check(&[0..20, 70..80], &[(20, 50)]);
        check(&[20..30, 70..80], &[(10, 20), (30, 50)]);
        check(&[40..60, 0..12], &[(12, 40)]);
        check(&[0..60, 70..80], &[]);
    }

    #[test]
    fn what_only_the_loader_reads_holds_its_tables_and_neither_code_nor_constants() {
        static CONSTANT: [u8; 4096] = [7; 4096];
        let objects = mapped();
        let program = objects.iter().find(|object| object.is_program()).expect("it is mapped");
        let has = |at: usize| program.for_loader.iter().any(|range| range.contains(&at));
        assert!(has(program.dynamic.expect("it is linked dynamically")), "{program:?}");
        // Longer than the headers alone: names and relocations follow them.
        assert!(program.for_loader[0].len() > 4096, "{program:?}");
        assert!(!has(CONSTANT.as_ptr().addr()) && !has((mapped as fn() -> _ as *const ()).addr()), "{program:?}");
    }

    #[test]
    fn the_program_and_the_c_library_have_variables() {
        let objects = mapped();
        for wanted in ["the program", "libc.so.6"] {
            let object = objects.iter().find(|object| object.name() == wanted).expect("it is mapped");
            assert!(!object.variables.is_empty() && object.dynamic.is_some(), "{object:?}");
        }
        assert_eq!(objects.iter().filter(|object| object.is_program()).count(), 1);
        assert_eq!(
            objects.iter().filter(|object| object.name().starts_with("ld-linux") && object.is_about_images()).count(),
            1
        );
    }
}
