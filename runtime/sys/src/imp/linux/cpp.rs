//! Replaces references from the shared C++ library, which stays mapped, to an image. Such references are handlers, the default memory
//! resource, and the buffers and tied streams of the library's own streams. Each reference is replaced by the value from before the first
//! image, or by the initial value of the library.
//!
//! Queries the library through its public functions. If the library is mapped together with an image, no earlier values are known, and the
//! initial values are used. If the library is unmapped and mapped again, all recorded values are discarded.
#![expect(unsafe_code, reason = "calls functions of C++ that were found by name")]

use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::sync::Mutex;

use libloading::os::unix::Library;

use super::c::{loader, peek};
use super::loaded::{self, Loaded};
use super::{lock, scan};
use crate::ledger::repair::{CPP_LIBRARY, Repair};

const FILE: &str = "libstdc++.so";

/// Global variable of the C++ library: getter, setter, and symbol of the initial value (`None` for null). The value is the address of a
/// function, or of an object that begins with the address of its virtual table.
struct Single {
    get: &'static CStr,
    set: &'static CStr,
    first: Option<&'static CStr>,
    is_function: bool,
}

const SINGLES: [Single; 4] = [
    Single { get: c"_ZSt15get_new_handlerv", set: c"_ZSt15set_new_handlerPFvvE", first: None, is_function: true },
    Single {
        get: c"_ZSt13get_terminatev",
        set: c"_ZSt13set_terminatePFvvE",
        first: Some(c"_ZN9__gnu_cxx27__verbose_terminate_handlerEv"),
        is_function: true,
    },
    Single {
        get: c"_ZSt14get_unexpectedv",
        set: c"_ZSt14set_unexpectedPFvvE",
        first: Some(c"_ZSt9terminatev"),
        is_function: true,
    },
    // The initial value is null, which represents `new` and `delete`.
    Single {
        get: c"_ZNSt3pmr20get_default_resourceEv",
        set: c"_ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE",
        first: None,
        is_function: false,
    },
];

/// Streams of the library, with getters and setters for their parts: the buffer, and the tied stream, which is flushed before use.
struct Streams {
    objects: [&'static CStr; 4],
    parts: [(&'static CStr, &'static CStr); 2],
}

const STREAMS: [Streams; 2] = [
    Streams {
        objects: [c"_ZSt3cin", c"_ZSt4cout", c"_ZSt4cerr", c"_ZSt4clog"],
        parts: [
            (
                c"_ZNKSt9basic_iosIcSt11char_traitsIcEE5rdbufEv",
                c"_ZNSt9basic_iosIcSt11char_traitsIcEE5rdbufEPSt15basic_streambufIcS1_E",
            ),
            (c"_ZNKSt9basic_iosIcSt11char_traitsIcEE3tieEv", c"_ZNSt9basic_iosIcSt11char_traitsIcEE3tieEPSo"),
        ],
    },
    Streams {
        objects: [c"_ZSt4wcin", c"_ZSt5wcout", c"_ZSt5wcerr", c"_ZSt5wclog"],
        parts: [
            (
                c"_ZNKSt9basic_iosIwSt11char_traitsIwEE5rdbufEv",
                c"_ZNSt9basic_iosIwSt11char_traitsIwEE5rdbufEPSt15basic_streambufIwS1_E",
            ),
            (
                c"_ZNKSt9basic_iosIwSt11char_traitsIwEE3tieEv",
                c"_ZNSt9basic_iosIwSt11char_traitsIwEE3tieEPSt13basic_ostreamIwS1_E",
            ),
        ],
    },
];

/// Distance by which the entry with the offset of the virtual base precedes the address point of a stream's virtual table.
const BASE_OFFSET: usize = 3 * size_of::<usize>();

type Get = unsafe extern "C" fn() -> usize;
type Set = unsafe extern "C" fn(usize) -> usize;
type GetOf = unsafe extern "C" fn(usize) -> usize;
type SetOf = unsafe extern "C" fn(usize, usize) -> usize;

/// Variable of the C++ library that may refer to an image: a handler, the default memory resource, or the buffer or tied stream of one of
/// the library's streams. The caller of `get` and `set` keeps the library open.
struct FacetSlot {
    /// Returns the current value. Returns `None` for a stream that is not initialized.
    get: Box<dyn Fn() -> Option<usize> + Send>,
    /// Sets the value to a previous or initial value of the library.
    set: Box<dyn Fn(usize) + Send>,
    is_function: bool,
    first: usize,
    /// Last value that was read and that did not refer to an image.
    before: usize,
}

struct Known {
    library: Loaded,
    slots: Vec<FacetSlot>,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

pub(super) const REPAIR: Repair = Repair {
    name: CPP_LIBRARY,
    before: listen,
    // Reads the values again, because the library may have been mapped together with the image.
    is_mapped: |_, _| listen(),
    redirect_references: |_, is_ours, report| report.addresses += redirect_references(is_ours),
    ..Repair::NONE
};

/// Reads all values before and after an image is mapped. The first read also replaces stale references to an unmapped image, before a new
/// image reuses its addresses.
fn listen() {
    let images = scan::images();
    let is_in_image = |address: usize| images.iter().any(|range| range.contains(&address));
    with_slots(|slots, all| {
        for slot in slots {
            let Some(now) = (slot.get)() else { continue };
            if slot.is_stale(now, all) {
                slot.restore(|to| slot.is_stale(to, all));
            } else if !slot.refers_to(now, is_in_image) {
                slot.before = now;
            }
        }
    });
}

/// Replaces references to memory that was unmapped or is about to be unmapped. Returns the number of replaced references.
fn redirect_references(is_ours: impl Fn(usize) -> bool) -> u64 {
    let mut count = 0;
    with_slots(|slots, all| {
        for slot in slots {
            let is_affected = |to| slot.refers_to(to, &is_ours) || slot.is_stale(to, all);
            if (slot.get)().is_some_and(is_affected) {
                slot.restore(is_affected);
                count += 1;
            }
        }
    });
    count
}

/// Calls `act` with the recorded values of the C++ library, and with the list of all mapped libraries. Has no effect if the C++ library is
/// not mapped.
fn with_slots(act: impl FnOnce(&mut [FacetSlot], &[Loaded])) {
    let all = loaded::all();
    let Some(library) = all.iter().find(|library| library.file().starts_with(FILE)) else { return };
    let Some(share) = loader::share(&library.name) else { return };
    let mut known = lock(&KNOWN);
    if known.as_ref().is_none_or(|known| !known.library.is(library)) {
        *known = Some(Known { library: library.clone(), slots: slots(&share) });
    }
    if let Some(known) = &mut *known {
        act(&mut known.slots, &all);
    }
}

fn slots(share: &Library) -> Vec<FacetSlot> {
    let mut slots = Vec::new();
    let address = |name: &CStr| loader::symbol(share, name).ok().filter(|address| !address.is_null());
    let both = |get: &CStr, set: &CStr| address(get).zip(address(set));
    for Single { get, set, first, is_function } in SINGLES {
        let Some((get, set)) = both(get, set) else { continue };
        let first = first.and_then(address).map_or(0, |first| first.addr());
        // SAFETY: the functions of these names take no argument or an address, and return one. The library is open during their calls,
        // any thread may call the getters, and the setters do not throw.
        slots.push(unsafe {
            let (get, set) = (transmute::<*mut c_void, Get>(get), transmute::<*mut c_void, Set>(set));
            let (get, set) = (Box::new(move || Some(get())), Box::new(move |to| _ = set(to)));
            FacetSlot { get, set, is_function, first, before: first }
        });
    }
    for Streams { objects, parts } in STREAMS {
        for stream in objects.iter().filter_map(|name| address(name)).map(|stream| stream.addr()) {
            for (get, set) in parts.iter().filter_map(|(get, set)| both(get, set)) {
                // SAFETY: the functions of these names take a stream (the setter also an address) and return an address. The library is
                // open during their calls, and `base_of` has checked that the stream is initialized. The setters do not throw.
                slots.push(unsafe {
                    let (get, set) = (transmute::<*mut c_void, GetOf>(get), transmute::<*mut c_void, SetOf>(set));
                    let get = Box::new(move || base_of(stream).map(|base| get(base)));
                    let set = Box::new(move |to| _ = base_of(stream).map(|base| set(base, to)));
                    FacetSlot { get, set, is_function: false, first: 0, before: 0 }
                });
            }
        }
    }
    slots
}

fn base_of(stream: usize) -> Option<usize> {
    let table = peek::word(stream).filter(|table| *table != 0)?;
    Some(stream.wrapping_add(peek::word(table.checked_sub(BASE_OFFSET)?)?))
}

impl FacetSlot {
    /// Restores the previous value, or the initial value if the previous value refers to memory that is about to be unmapped.
    fn restore(&self, is_affected: impl Fn(usize) -> bool) {
        (self.set)(if is_affected(self.before) { self.first } else { self.before });
    }

    /// Checks if `is_there` returns `true` for `to`, or for the virtual table of the object at `to`.
    fn refers_to(&self, to: usize, is_there: impl Fn(usize) -> bool) -> bool {
        to != 0 && (is_there(to) || !self.is_function && peek::word(to).is_some_and(is_there))
    }

    /// Checks if `to` refers to a library that is no longer mapped. A module may have restored such an old value.
    fn is_stale(&self, to: usize, all: &[Loaded]) -> bool {
        let function = if self.is_function { Some(to) } else { peek::word(to) };
        let is_within = |at: usize| all.iter().flat_map(|library| &library.ranges).any(|range| range.contains(&at));
        to != 0 && !function.is_some_and(is_within)
    }
}
