//! What the C library lets a program point elsewhere by plain assignments: strings of the environment (`putenv` keeps the
//! very string that it is given) and variables such as `stdout` or `program_invocation_name`. What leads into memory that
//! is about to go is led elsewhere before.

use std::ffi::{CString, c_char, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;

use super::c::library::{self, Variable};
use super::c::peek;
use super::lock;
use crate::ledger::repair::{ENVIRONMENT, Repair};

/// More entries and longer ones than any environment has: a guard against rows without an end.
const MOST_ENTRIES: usize = 65_536;
const LONGEST: usize = 1 << 20;

/// A variable, and what it held before any image came.
struct Known {
    variable: Variable,
    before: usize,
}

static BEFORE: OnceLock<Vec<Known>> = OnceLock::new();

pub(super) const REPAIR: Repair = Repair {
    name: ENVIRONMENT,
    before: listen,
    put_right: |_, is_ours, report| report.addresses += put_right(is_ours),
    leaves: |image| *lock(&image.records.environment) = Some(Texts::now()),
    // Finalisers have had the last word, and their memory goes next.
    free: |gone, report| {
        if let Some(before) = lock(&gone.image.records.environment).take() {
            report.addresses +=
                put_right_after(&before, gone.image.records.code(), gone.image.records.memory(gone.image));
        }
    },
    ..Repair::NONE
};

/// Looks at the variables: before the first image is mapped.
fn listen() {
    BEFORE.get_or_init(|| {
        Variable::all().filter_map(|variable| Some(Known { variable, before: peek::word(variable.place())? })).collect()
    });
}

/// Leads elsewhere what leads into memory that is about to go; how many addresses that were.
fn put_right(is_ours: impl Fn(usize) -> bool) -> u64 {
    let known = BEFORE.get().map(Vec::as_slice).unwrap_or_default();
    let mut count = 0;
    for Known { variable, before } in known {
        let now = peek::word(variable.place());
        if now.is_some_and(|now| now != *before && is_ours(now)) {
            variable.put_back(*before);
            count += 1;
        }
    }
    count + put_row_right(&is_ours) + put_strings_right(&is_ours)
}

/// The addresses of all texts, as they are before an image is closed.
pub(super) struct Texts(Vec<usize>);

impl Texts {
    fn now() -> Self {
        Self(texts().collect())
    }
}

/// The same as [`put_right`] for what finalisers have done: their image is gone, and its memory is still there. Texts in the
/// image are nobody's any more.
fn put_right_after(before: &Texts, image: &[Range<usize>], is_ours: impl Fn(usize) -> bool) -> u64 {
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
    library::set_environment(Box::leak(row.into_boxed_slice()));
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
            library::set_variable(&name, &value);
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
    peek::word(library::environment()).filter(|row| *row != 0)
}

/// The addresses of the texts. Another thread may move the row meanwhile: then what is read is what was there.
fn entries(row: usize) -> impl Iterator<Item = usize> {
    let word = move |at: usize| peek::word(row.wrapping_add(at * size_of::<usize>())).filter(|text| *text != 0);
    (0..MOST_ENTRIES).map_while(word)
}

fn copy_of(text: usize) -> Option<CString> {
    CString::new(peek::text(text, LONGEST)?).ok()
}

const _: () = assert!(size_of::<*mut c_void>() == size_of::<usize>());
