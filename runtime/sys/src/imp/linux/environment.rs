//! Variables of the C library that a program may set by assignment: environment strings (`putenv` stores the passed string itself)
//! and variables such as `stdout` or `program_invocation_name`. References to memory that is about to be freed are replaced first.

use std::ffi::{CString, c_char, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;

use super::c::library::{self, Variable};
use super::c::peek;
use super::lock;
use crate::ledger::repair::{ENVIRONMENT, Repair};

/// Limits above any real environment, to terminate on invalid data.
const MOST_ENTRIES: usize = 65_536;
const LONGEST: usize = 1 << 20;

/// Variable with its value from before the first image.
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
    // Finalizers have run, and their memory is freed next.
    free: |gone, report| {
        if let Some(before) = lock(&gone.image.records.environment).take() {
            report.addresses +=
                put_right_after(&before, gone.image.records.code(), gone.image.records.memory(gone.image));
        }
    },
    ..Repair::NONE
};

/// Reads the variables before the first image is mapped.
fn listen() {
    BEFORE.get_or_init(|| {
        Variable::all().filter_map(|variable| Some(Known { variable, before: peek::word(variable.place())? })).collect()
    });
}

/// Replaces references to memory that is about to be freed; returns their number.
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

/// Addresses of all environment strings before an image is closed.
pub(super) struct Texts(Vec<usize>);

impl Texts {
    fn now() -> Self {
        Self(texts().collect())
    }
}

/// Repeats [`put_right`] for changes by finalizers: their image is unmapped, while its memory still exists. Strings inside the image
/// are lost.
fn put_right_after(before: &Texts, image: &[Range<usize>], is_ours: impl Fn(usize) -> bool) -> u64 {
    let is_lost = |text: &usize| image.iter().any(|range| range.contains(text));
    let Some(row) = row() else { return 0 };
    let mut count = 0;
    // Copies the entries of the previous array, because the C library may have freed the array itself.
    if is_ours(row) {
        set_row(before.0.iter().copied());
        count += 1;
    } else if entries(row).any(|text| is_lost(&text)) {
        set_row(entries(row).filter(|text| !is_lost(text)));
        count += 1;
    }
    count + put_right(is_ours)
}

/// Sets the environment array, which is leaked, like all parts of the environment.
fn set_row(texts: impl Iterator<Item = usize>) {
    let row: Vec<*mut c_char> = texts.chain([0]).map(ptr::with_exposed_provenance_mut).collect();
    library::set_environment(Box::leak(row.into_boxed_slice()));
}

/// Replaces `environ` if a module has set it to its own array.
fn put_row_right(is_ours: &impl Fn(usize) -> bool) -> u64 {
    let Some(row) = row().filter(|row| is_ours(*row)) else { return 0 };
    set_row(entries(row).filter_map(copy_of).map(|text| text.into_raw().expose_provenance()));
    1
}

/// Replaces environment strings in memory to be freed with copies, made by the C library under its own lock.
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

pub(super) fn texts() -> impl Iterator<Item = usize> {
    row().into_iter().flat_map(entries)
}

fn row() -> Option<usize> {
    peek::word(library::environment()).filter(|row| *row != 0)
}

/// Returns the string addresses. Another thread may replace the array concurrently; the old content is read then.
fn entries(row: usize) -> impl Iterator<Item = usize> {
    let word = move |at: usize| peek::word(row.wrapping_add(at * size_of::<usize>())).filter(|text| *text != 0);
    (0..MOST_ENTRIES).map_while(word)
}

fn copy_of(text: usize) -> Option<CString> {
    CString::new(peek::text(text, LONGEST)?).ok()
}

const _: () = assert!(size_of::<*mut c_void>() == size_of::<usize>());
