//! What the C library lets a program point elsewhere by plain assignments: strings of the environment (`putenv` keeps the
//! very string that it is given) and variables such as `stdout` or `program_invocation_name`. What leads into memory that
//! is about to go is led elsewhere before.
#![expect(unsafe_code, reason = "reads and writes variables of the C library")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::c::{loader, peek};

/// More entries and longer ones than any environment has: a guard against rows without an end.
const MOST_ENTRIES: usize = 65_536;
const LONGEST: usize = 1 << 20;

/// Variables of the C library that hold an address and that programs may write.
const VARIABLES: [&CStr; 10] = [
    c"argp_program_bug_address",
    c"argp_program_version",
    c"argp_program_version_hook",
    c"error_print_progname",
    c"obstack_alloc_failed_handler",
    c"program_invocation_name",
    c"program_invocation_short_name",
    c"stderr",
    c"stdin",
    c"stdout",
];

/// A variable, and what it held before any image came.
struct Variable {
    place: usize,
    before: usize,
}

static BEFORE: OnceLock<Vec<Variable>> = OnceLock::new();

/// Looks at the variables: before the first image is mapped.
pub(super) fn listen() {
    BEFORE.get_or_init(|| {
        VARIABLES
            .iter()
            .filter_map(|name| {
                let place = loader::address_of(name)?.expose_provenance();
                Some(Variable { place, before: peek::word(place)? })
            })
            .collect()
    });
}

/// Leads elsewhere what leads into memory that is about to go; how many addresses that were.
pub(super) fn put_right(is_ours: impl Fn(usize) -> bool) -> u64 {
    let variables = BEFORE.get().map(Vec::as_slice).unwrap_or_default();
    let mut count = 0;
    for variable in variables {
        let now = peek::word(variable.place);
        if now.is_some_and(|now| now != variable.before && is_ours(now)) {
            // SAFETY: it is a variable of the C library or of the program, one word, and there for as long as these are.
            let place = unsafe { &*ptr::with_exposed_provenance::<AtomicUsize>(variable.place) };
            place.store(variable.before, Ordering::SeqCst);
            count += 1;
        }
    }
    count + put_row_right(&is_ours) + put_strings_right(&is_ours)
}

/// The addresses of all texts, as they are before an image is closed.
pub(super) struct Texts(Vec<usize>);

impl Texts {
    pub(super) fn now() -> Self {
        Self(texts().collect())
    }
}

/// The same as [`put_right`] for what finalisers have done: their image is gone, and its memory is still there. Texts in the
/// image are nobody's any more.
pub(super) fn put_right_after(before: &Texts, image: &[Range<usize>], is_ours: impl Fn(usize) -> bool) -> u64 {
    let is_lost = |text: &usize| image.iter().any(|range| range.contains(text));
    let Some(row) = row() else { return 0 };
    let mut count = 0;
    // A copy of the row that was there before, and not that row: the C library may have freed it meanwhile.
    if is_ours(row) {
        set_row(before.0.iter().copied());
        count += 1;
    } else if entries(row).any(|text| is_lost(&text)) {
        set_row(entries(row).filter(|text| !is_lost(text)));
        count += 1;
    }
    count + put_right(is_ours)
}

/// For ever, as is whatever becomes a part of the environment.
fn set_row(texts: impl Iterator<Item = usize>) {
    let row: Vec<*mut c_char> = texts.chain([0]).map(ptr::with_exposed_provenance_mut).collect();
    let row = Box::leak(row.into_boxed_slice()).as_mut_ptr();
    let place = &raw mut environ;
    // SAFETY: it is a variable of the C library, which whoever sets the environment writes.
    unsafe { place.write_volatile(row) };
}

/// `environ` itself, where a module has set it to a row of its own.
fn put_row_right(is_ours: &impl Fn(usize) -> bool) -> u64 {
    let Some(row) = row().filter(|row| is_ours(*row)) else { return 0 };
    set_row(entries(row).filter_map(copy_of).map(|text| text.into_raw().expose_provenance()));
    1
}

/// Entries whose text lies in memory that goes get a copy of the same, made by the C library under its own lock.
fn put_strings_right(is_ours: &impl Fn(usize) -> bool) -> u64 {
    let Some(row) = row() else { return 0 };
    let mut count = 0;
    for text in entries(row).filter(|text| is_ours(*text)).filter_map(copy_of) {
        let text = text.into_bytes();
        let Some(at) = text.iter().position(|byte| *byte == b'=').filter(|at| *at > 0) else { continue };
        let parts = (CString::new(&text[..at]), CString::new(&text[at + 1..]));
        if let (Ok(name), Ok(value)) = parts {
            // SAFETY: two C strings. The C library replaces the entry, and does not look into the text of the old value.
            unsafe { setenv(name.as_ptr(), value.as_ptr(), 1) };
            count += 1;
        }
    }
    count
}

/// The addresses of all texts of the environment.
pub(super) fn texts() -> impl Iterator<Item = usize> {
    row().into_iter().flat_map(entries)
}

fn row() -> Option<usize> {
    peek::word((&raw const environ).addr()).filter(|row| *row != 0)
}

/// The addresses of the texts. Another thread may move the row meanwhile: then what is read is what was there.
fn entries(row: usize) -> impl Iterator<Item = usize> {
    let word = move |at: usize| peek::word(row.wrapping_add(at * size_of::<usize>())).filter(|text| *text != 0);
    (0..MOST_ENTRIES).map_while(word)
}

fn copy_of(text: usize) -> Option<CString> {
    CString::new(peek::text(text, LONGEST)?).ok()
}

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
    fn setenv(name: *const c_char, value: *const c_char, overwrite: c_int) -> c_int;
}

const _: () = assert!(size_of::<*mut c_void>() == size_of::<usize>());
