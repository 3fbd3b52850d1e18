//! What the shared library of C++ keeps of an image: handlers, the default memory resource, and what its own streams write
//! into and flush. It stays in the process when the image goes, so whatever of this leads into the image leads back to what
//! was there before any image came, or to what the library begins with.
//!
//! The library is asked by the functions that it has for everybody. It may come with an image, so nothing is known of it
//! before it is there, and everything that was found in it is forgotten when it is another one.
#![expect(unsafe_code, reason = "calls functions of C++ that were found by name")]

use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::sync::Mutex;

use super::c::loader::Share;
use super::c::peek;
use super::loaded::{self, Loaded};
use super::{lock, scan};
use crate::ledger::repair::{CPP_LIBRARY, Repair};

/// The library that is known: the shared one of the GNU compiler.
const FILE: &str = "libstdc++.so";

/// Something that the library keeps once: how it is read and set, what it is to begin with (nothing stands for null), and
/// whether it is a function. Else it is an object, which begins with the address of the table of its functions.
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
    // For this one, null stands for `new` and `delete`.
    Single {
        get: c"_ZNSt3pmr20get_default_resourceEv",
        set: c"_ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE",
        first: None,
        is_function: false,
    },
];

/// The library's own streams, and how what each leads to is read and set: its buffer, and the stream that is flushed before
/// it is used.
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

/// Where the table of a stream's functions says how far it is from the stream to the part that all streams have.
const BASE_OFFSET: usize = 3 * size_of::<usize>();

type Get = unsafe extern "C" fn() -> usize;
type Set = unsafe extern "C" fn(usize) -> usize;
type GetOf = unsafe extern "C" fn(usize) -> usize;
type SetOf = unsafe extern "C" fn(usize, usize) -> usize;

/// Functions that read and set something.
#[derive(Clone, Copy)]
enum Access {
    Single {
        get: Get,
        set: Set,
    },
    /// Of the stream at this address.
    Of {
        stream: usize,
        get: GetOf,
        set: SetOf,
    },
}

/// One thing that the library keeps.
struct FacetPlace {
    access: Access,
    is_function: bool,
    /// What the library has there by itself; null where that is not known.
    first: usize,
    /// What it was when it last led to no image.
    before: usize,
}

/// What is known of the library.
struct Known {
    library: Loaded,
    places: Vec<FacetPlace>,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

pub(super) const REPAIR: Repair = Repair {
    name: CPP_LIBRARY,
    before: listen,
    // The library may have come with it.
    is_mapped: |_, _| listen(),
    put_right: |_, is_ours, report| report.addresses += put_right(is_ours),
    ..Repair::NONE
};

/// Looks at everything, before an image is mapped and once it is there: before, so that what leads to where an image was leads
/// elsewhere before another one is there.
fn listen() {
    let images = scan::images();
    let leads_to_images = |address: usize| images.iter().any(|range| range.contains(&address));
    with_places(|places, all| {
        for place in places {
            let Some(now) = place.access.get() else { continue };
            if place.is_stale(now, all) {
                place.lead_back(|to| place.is_stale(to, all));
            } else if !place.leads(now, leads_to_images) {
                place.before = now;
            }
        }
    });
}

/// Leads elsewhere what leads into memory that is about to go, or has gone; how many addresses that were.
fn put_right(is_ours: impl Fn(usize) -> bool) -> u64 {
    let mut count = 0;
    with_places(|places, all| {
        for place in places {
            let goes = |to| place.leads(to, &is_ours) || place.is_stale(to, all);
            if place.access.get().is_some_and(goes) {
                place.lead_back(goes);
                count += 1;
            }
        }
    });
    count
}

/// Hands over what the library keeps, with all libraries that there are; does nothing where it is not mapped.
fn with_places(act: impl FnOnce(&mut [FacetPlace], &[Loaded])) {
    let all = loaded::all();
    let Some(library) = all.iter().find(|library| library.file().starts_with(FILE)) else { return };
    let Some(share) = Share::of(&library.name) else { return };
    let mut known = lock(&KNOWN);
    if known.as_ref().is_none_or(|known| !known.library.is(library)) {
        *known = Some(Known { library: library.clone(), places: places(&share) });
    }
    if let Some(known) = &mut *known {
        act(&mut known.places, &all);
    }
}

fn places(share: &Share) -> Vec<FacetPlace> {
    let mut places = Vec::new();
    let both = |get, set| share.address(get).zip(share.address(set));
    for Single { get, set, first, is_function } in SINGLES {
        let Some((get, set)) = both(get, set) else { continue };
        // SAFETY: the functions of these names take nothing or an address, and return one.
        let (get, set) = unsafe { (transmute::<*mut c_void, Get>(get), transmute::<*mut c_void, Set>(set)) };
        let first = first.and_then(|name| share.address(name)).map_or(0, |first| first.addr());
        places.push(FacetPlace { access: Access::Single { get, set }, is_function, first, before: first });
    }
    for Streams { objects, parts } in STREAMS {
        for stream in objects.iter().filter_map(|name| share.address(name)) {
            for (get, set) in parts.iter().filter_map(|(get, set)| both(get, set)) {
                // SAFETY: the functions of these names take a stream, the second an address, too, and return an address.
                let (get, set) =
                    unsafe { (transmute::<*mut c_void, GetOf>(get), transmute::<*mut c_void, SetOf>(set)) };
                let access = Access::Of { stream: stream.addr(), get, set };
                places.push(FacetPlace { access, is_function: false, first: 0, before: 0 });
            }
        }
    }
    places
}

impl Access {
    /// What is there; none for a stream that has not been made yet.
    fn get(self) -> Option<usize> {
        // SAFETY: the owner of this holds the library, which any thread may ask; `base_of` has found that the stream has
        // been made.
        unsafe {
            match self {
                Self::Single { get, .. } => Some(get()),
                Self::Of { stream, get, .. } => base_of(stream).map(|base| get(base)),
            }
        }
    }

    fn set(self, to: usize) {
        // SAFETY: the owner of this holds the library, and `to` is what that had there before, or begins with; `base_of` has
        // found that the stream has been made. The functions throw nothing for what is not null.
        unsafe {
            match self {
                Self::Single { set, .. } => {
                    set(to);
                }
                Self::Of { stream, set, .. } => {
                    base_of(stream).map(|base| set(base, to));
                }
            }
        }
    }
}

/// The part of a stream that all streams have.
fn base_of(stream: usize) -> Option<usize> {
    let table = peek::word(stream).filter(|table| *table != 0)?;
    Some(stream.wrapping_add(peek::word(table.checked_sub(BASE_OFFSET)?)?))
}

impl FacetPlace {
    /// Sets what was there before, unless that goes as well.
    fn lead_back(&self, goes: impl Fn(usize) -> bool) {
        self.access.set(if goes(self.before) { self.first } else { self.before });
    }

    /// Whether `to`, or what it does by its functions, lies there.
    fn leads(&self, to: usize, is_there: impl Fn(usize) -> bool) -> bool {
        to != 0 && (is_there(to) || !self.is_function && peek::word(to).is_some_and(is_there))
    }

    /// Whether `to` led to a library that has gone: a module may have put back there what it had found.
    fn is_stale(&self, to: usize, all: &[Loaded]) -> bool {
        let function = if self.is_function { Some(to) } else { peek::word(to) };
        let is_within = |at: usize| all.iter().flat_map(|library| &library.ranges).any(|range| range.contains(&at));
        to != 0 && !function.is_some_and(is_within)
    }
}
