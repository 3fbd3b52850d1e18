//! Replaces references to images in variables of the C library that a program may assign. These are the environment strings (`putenv`
//! stores the passed string itself) and variables such as `stdout` or `program_invocation_name`. References to memory of an image are
//! replaced before this memory is freed.

use std::ffi::{CString, c_char};
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;

use super::c::library::{self, Variable};
use super::c::peek;
use super::lock;
use crate::ledger::repair::{ENVIRONMENT, Repair};

/// Maximum number of environment entries, far above real environments. The limit ends a walk through invalid data.
const MOST_ENTRIES: usize = 65_536;
const LONGEST: usize = 1 << 20;

/// Variables of the C library, each with its value before the first image was mapped.
static BEFORE: OnceLock<Vec<(Variable, usize)>> = OnceLock::new();

pub(super) const REPAIR: Repair = Repair {
    name: ENVIRONMENT,
    before: listen,
    redirect_references: |_, is_ours, report| report.addresses += redirect_references(is_ours),
    before_close: |image| *lock(&image.records.environment) = Some(strings().collect()),
    // Runs after the finalizers of the image, and before the memory of the image is freed.
    free: |gone, report| {
        let image = gone.image();
        if let Some(before) = lock(&image.records.environment).take() {
            report.addresses += redirect_references_after(&before, image.records.code(), image.records.memory(image));
        }
    },
    ..Repair::NONE
};

/// Records the variables before the first image is mapped.
fn listen() {
    BEFORE.get_or_init(|| {
        Variable::all().filter_map(|variable| Some((variable, peek::word(variable.address())?))).collect()
    });
}

/// Replaces references to memory that is about to be freed. Returns the number of replaced references.
fn redirect_references(is_ours: impl Fn(usize) -> bool) -> u64 {
    let known = BEFORE.get().map(Vec::as_slice).unwrap_or_default();
    let mut count = 0;
    for (variable, before) in known {
        let now = peek::word(variable.address());
        if now.is_some_and(|now| now != *before && is_ours(now)) {
            variable.restore(*before);
            count += 1;
        }
    }
    count + replace_array(&is_ours) + replace_strings(&is_ours)
}

/// Repeats [`redirect_references`] for references that finalizers of the image have stored. The segments of the image are already unmapped,
/// so strings in them are lost. The image's heap and mappings still exist. `before` contains the addresses of all environment strings
/// before the image was closed.
fn redirect_references_after(before: &[usize], image: &[Range<usize>], is_ours: impl Fn(usize) -> bool) -> u64 {
    let is_lost = |string: &usize| image.iter().any(|range| range.contains(string));
    let Some(array) = array() else { return 0 };
    let mut count = 0;
    // Copies the entries that were recorded from the previous array, because the C library may have freed this array.
    if is_ours(array) {
        set_array(before.iter().copied());
        count += 1;
    } else if entries(array).any(|string| is_lost(&string)) {
        set_array(entries(array).filter(|string| !is_lost(string)));
        count += 1;
    }
    count + redirect_references(is_ours)
}

/// Sets the environment to a new array, which is leaked like all parts of the environment.
fn set_array(strings: impl Iterator<Item = usize>) {
    let array: Vec<*mut c_char> = strings.chain([0]).map(ptr::with_exposed_provenance_mut).collect();
    library::set_environment(Box::leak(array.into_boxed_slice()));
}

/// Replaces the array in `environ` if a module has set this variable to its own array.
fn replace_array(is_ours: &impl Fn(usize) -> bool) -> u64 {
    let Some(array) = array().filter(|array| is_ours(*array)) else { return 0 };
    set_array(entries(array).filter_map(copy_of).map(|string| string.into_raw().expose_provenance()));
    1
}

/// Replaces the environment strings in memory that is about to be freed. The C library copies each string under its own lock.
fn replace_strings(is_ours: &impl Fn(usize) -> bool) -> u64 {
    let Some(array) = array() else { return 0 };
    let mut count = 0;
    for string in entries(array).filter(|string| is_ours(*string)).filter_map(copy_of) {
        let string = string.into_bytes();
        let Some(at) = string.iter().position(|byte| *byte == b'=').filter(|at| *at > 0) else { continue };
        let parts = (CString::new(&string[..at]), CString::new(&string[at + 1..]));
        if let (Ok(name), Ok(value)) = parts {
            library::set_variable(&name, &value);
            count += 1;
        }
    }
    count
}

/// Returns the addresses of all environment strings.
pub(super) fn strings() -> impl Iterator<Item = usize> {
    array().into_iter().flat_map(entries)
}

fn array() -> Option<usize> {
    peek::word(library::environment()).filter(|array| *array != 0)
}

/// Returns the addresses of the strings in the array. If another thread replaces the array concurrently, returns the old strings.
fn entries(array: usize) -> impl Iterator<Item = usize> {
    let word = move |at: usize| peek::word(array.wrapping_add(at * size_of::<usize>())).filter(|string| *string != 0);
    (0..MOST_ENTRIES).map_while(word)
}

fn copy_of(string: usize) -> Option<CString> {
    CString::new(peek::string(string, LONGEST)?).ok()
}
