//! What the loader has mapped: where the variables of each library are.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use object::elf::{DT_FINI, DT_INIT, DT_JMPREL, DT_PLTRELSZ, DT_RELA, DT_RELASZ, DT_STRSZ, DT_STRTAB, DynamicTag};

use super::super::c::loader::{self, Listed};
use super::super::companions;

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
    /// Where its code is.
    pub(super) code: Vec<Range<usize>>,
    /// Where its dynamic table is.
    pub(super) dynamic: Option<usize>,
    /// What only the loader reads or calls. Its record of an image is full of addresses of these, and so is what this host
    /// notes of segments: both are left in free memory.
    pub(super) for_loader: Vec<Range<usize>>,
}

impl Object {
    fn of(listed: &Listed<'_>) -> Self {
        let constant: Vec<_> = listed.of_kind(libc::PT_GNU_RELRO).map(|header| listed.range(header)).collect();
        let writable = listed.of_kind(libc::PT_LOAD).filter(|header| header.p_flags & libc::PF_W != 0);
        let executable = listed.of_kind(libc::PT_LOAD).filter(|header| header.p_flags & libc::PF_X != 0);
        Self {
            path: PathBuf::from(OsStr::from_bytes(listed.name.to_bytes())),
            base: listed.base,
            variables: writable.flat_map(|header| without(listed.range(header), &constant)).collect(),
            code: executable.map(|header| listed.range(header)).collect(),
            dynamic: listed.of_kind(libc::PT_DYNAMIC).map(|header| listed.range(header).start).next(),
            for_loader: for_loader(listed),
        }
    }

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
    loader::walk(|listed| {
        objects.push(Object::of(listed));
        false
    });
    objects
}

/// What of an image only the loader reads or calls: its headers and tables, which linkers put first in the first segment, the
/// dynamic table, what thread-locals begin with, and the functions that C runtimes of old begin and end with.
fn for_loader(listed: &Listed<'_>) -> Vec<Range<usize>> {
    let part = |kind| listed.of_kind(kind).map(|header| listed.range(header)).next();
    let value = |wanted: DynamicTag| listed.dynamic().find(|(tag, _)| *tag == wanted).map(|(_, value)| value);
    let address = |wanted| value(wanted).map(|at| listed.address(at));
    let tables = part(libc::PT_LOAD).map(|first| {
        let end = |(start, len): (DynamicTag, DynamicTag)| {
            address(start)?.checked_add(value(len)?).filter(|end| first.contains(end))
        };
        let ends = [(DT_STRTAB, DT_STRSZ), (DT_RELA, DT_RELASZ), (DT_JMPREL, DT_PLTRELSZ)].into_iter().filter_map(end);
        first.start..ends.max().unwrap_or(first.start + HEADER).min(first.end)
    });
    let called = [DT_INIT, DT_FINI].into_iter().filter_map(address).map(|at| at..at + 1);
    tables.into_iter().chain(part(libc::PT_DYNAMIC)).chain(part(libc::PT_TLS)).chain(called).collect()
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
