//! Requests that images have given to threads of the C library: to read and write behind their backs (`aio_read` and its
//! kin), and to look up names (`getaddrinfo_a`). Until one is done its block, its buffer and its names are used by a thread
//! that cannot be stopped; so the image and its memory stay until then.
//!
//! Whether a request is done stands in its own block, which may be freed as soon as the image knows. So a block is looked
//! at through the kernel, which says no where C would crash.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{c_int, c_void};
use std::mem::offset_of;
use std::ptr;
use std::sync::Mutex;
use std::time::Instant;

use super::c::peek;
use super::c::signals::bit;
use super::lock;
use super::notifications::{self, Event};
use crate::ledger::repair::Repair;
use crate::ledger::{Holder, HolderKind, Ledger};

pub(super) const REPAIR: Repair = Repair {
    name: "an asynchronous request",
    holders: |image, all| all.extend(holders(image.owner())),
    // A request raises a signal, or calls, when it is done.
    facts: |image, facts| facts.locals_elsewhere |= !under_way(image.owner()).is_empty(),
    ..Repair::NONE
};

/// Where blocks of requests have ever been. The C library has the address of one until it uses the place for another, long
/// after the request is done, and makes no use of it.
static EVER_GIVEN: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// No more of them are remembered.
const MOST_REMEMBERED: usize = 1 << 16;

static BOOK: Mutex<Book> = Mutex::new(Book { requests: Vec::new(), signals: Vec::new() });

struct Book {
    requests: Vec<Request>,
    /// Which signals the requests of an image raise, one bit each.
    signals: Vec<(usize, u64)>,
}

struct Request {
    owner: usize,
    /// The address of the block.
    block: usize,
    kind: Kind,
    since: Instant,
    /// The C library has it. Before that, its block says nothing.
    is_given: bool,
    is_done: bool,
    /// The number of the notification and what the image had written there, where the host's function stands now.
    event: Option<(usize, Event)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Io,
    Name,
}

/// `struct aiocb` of glibc, as far as it is looked at.
#[repr(C)]
pub(super) struct IoBlock {
    fd: c_int,
    what: c_int,
    priority: c_int,
    buffer: usize,
    len: usize,
    pub(super) event: Event,
    next: usize,
    absolute: c_int,
    policy: c_int,
    error: c_int,
}

/// `struct gaicb` of glibc, likewise.
#[repr(C)]
struct NameBlock {
    name: usize,
    service: usize,
    hints: usize,
    result: usize,
    error: c_int,
}

/// `EAI_INPROGRESS`.
const NAME_IN_PROGRESS: c_int = -100;

/// `LIO_NOP`.
const NOTHING: c_int = 2;

/// A request to read or write, which `submit` makes. `own` is the event in its block, and `put` puts another there.
pub(super) fn begin_io(
    ledger: &Ledger,
    block: usize,
    own: Event,
    put: impl Fn(Event),
    submit: impl FnOnce() -> c_int,
) -> c_int {
    let owner = ledger.owner();
    let mut book = lock(&BOOK);
    let own = as_image_knows_it(&book, block, own);
    let (told, serial) = own.through_host(owner, "an asynchronous request", true);
    // It is the image's block until the C library has it.
    put(told);
    book.note(owner, block, Kind::Io, serial.map(|serial| (serial, own)));
    book.is_given(block);
    own.raises().into_iter().for_each(|signal| book.raises(owner, signal));
    // Under the lock: a thread that checks whether all are done must see this one before it can be.
    let result = submit();
    if result != 0 {
        book.requests.retain(|request| request.block != block);
        serial.into_iter().for_each(notifications::strike);
        put(own);
    }
    result
}

/// A list of requests, which `submit` makes with the event to be told of.
pub(super) fn begin_list(
    ledger: &Ledger,
    of_names: bool,
    list: &[usize],
    event: Option<Event>,
    submit: impl FnOnce(*const c_void) -> c_int,
) -> c_int {
    let owner = ledger.owner();
    let kind = if of_names { Kind::Name } else { Kind::Io };
    let mut book = lock(&BOOK);
    let mut blocks = Vec::new();
    for block in list.iter().copied() {
        if block != 0 && (of_names || !is_nothing(block)) {
            book.note(owner, block, kind, None);
            blocks.push(block);
        }
    }
    let told = event.map(|event| event.through_host(owner, "a list of asynchronous requests", true).0);
    event.and_then(|event| event.raises()).into_iter().for_each(|signal| book.raises(owner, signal));
    drop(book);
    // Not under the lock: it may wait for all of them. Those that are refused say so in their blocks.
    let result = submit(told.as_ref().map_or(ptr::null(), ptr::from_ref).cast());
    let mut book = lock(&BOOK);
    blocks.into_iter().for_each(|block| book.is_given(block));
    result
}

/// Where blocks of requests have ever been; those that are under way keep their image by themselves.
pub(super) fn ever_given() -> HashSet<usize> {
    lock(&EVER_GIVEN).iter().copied().collect()
}

fn holders(owner: usize) -> Vec<Holder> {
    let holder = |(kind, since)| {
        let name = match kind {
            Kind::Io => "asynchronous input or output that is not done",
            Kind::Name => "a look-up of a name that is not done",
        };
        Holder::new(HolderKind::Request, name, since)
    };
    under_way(owner).into_iter().map(holder).collect()
}

/// The signals that requests of an image have raised or may still raise, one bit each; nothing of it stays on record.
pub(super) fn take(owner: usize) -> u64 {
    let mut book = lock(&BOOK);
    book.requests.retain(|request| request.owner != owner);
    let raised = book.signals.iter().filter(|(known, _)| *known == owner).fold(0, |all, (_, signals)| all | signals);
    book.signals.retain(|(known, _)| *known != owner);
    raised
}

impl Book {
    fn note(&mut self, owner: usize, block: usize, kind: Kind, event: Option<(usize, Event)>) {
        // What is done and was not asked to call is remembered by nobody. Looked for now and then.
        if self.requests.len().is_power_of_two() {
            self.requests.iter_mut().filter(|request| !request.is_done).for_each(Request::look);
            self.requests.retain(|request| !request.is_done || request.event.is_some());
        }
        self.requests.retain(|request| request.block != block);
        let mut ever_given = lock(&EVER_GIVEN);
        if ever_given.len() < MOST_REMEMBERED {
            ever_given.insert(block);
        }
        drop(ever_given);
        let (since, is_given, is_done) = (Instant::now(), false, false);
        self.requests.push(Request { owner, block, kind, since, is_given, is_done, event });
    }

    fn is_given(&mut self, block: usize) {
        self.requests.iter_mut().filter(|request| request.block == block).for_each(|request| request.is_given = true);
    }

    fn raises(&mut self, owner: usize, signal: c_int) {
        let bit = bit(signal);
        match self.signals.iter_mut().find(|(known, _)| *known == owner) {
            Some((_, signals)) => *signals |= bit,
            None => self.signals.push((owner, bit)),
        }
    }
}

impl Request {
    fn look(&mut self) {
        let (at, in_progress) = match self.kind {
            Kind::Io => (offset_of!(IoBlock, error), libc::EINPROGRESS),
            Kind::Name => (offset_of!(NameBlock, error), NAME_IN_PROGRESS),
        };
        let seen = read_word(self.block + at);
        self.is_done = self.is_given && seen != Seen::Word(in_progress) && seen != Seen::Unknown;
    }
}

fn under_way(owner: usize) -> Vec<(Kind, Instant)> {
    let mut book = lock(&BOOK);
    let mut found = Vec::new();
    for request in book.requests.iter_mut().filter(|request| request.owner == owner && !request.is_done) {
        request.look();
        if !request.is_done {
            found.push((request.kind, request.since));
        }
    }
    found
}

/// A block that is given again may still have the host's function in it.
fn as_image_knows_it(book: &Book, block: usize, event: Event) -> Event {
    let known = book.requests.iter().find(|request| request.block == block).and_then(|request| request.event);
    match known {
        Some((serial, own)) if event.calls() && event.value == serial => own,
        _ => event.as_image_knows_it(),
    }
}

fn is_nothing(block: usize) -> bool {
    read_word(block + offset_of!(IoBlock, what)) == Seen::Word(NOTHING)
}

/// What stands at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seen {
    Word(c_int),
    /// There is no memory to read any more.
    Nothing,
    /// The kernel does not let a process look.
    Unknown,
}

/// A word of this process's memory.
fn read_word(address: usize) -> Seen {
    let mut word = [0; size_of::<c_int>()];
    match peek::copy(address, &mut word) {
        Ok(copied) if copied == word.len() => Seen::Word(c_int::from_ne_bytes(word)),
        Err(libc::EFAULT) => Seen::Nothing,
        Ok(_) | Err(_) => Seen::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::{IoBlock, NameBlock, Seen, read_word};

    #[test]
    fn blocks_lie_as_the_c_library_has_them() {
        // `sigevent`, behind five words.
        assert_eq!(offset_of!(IoBlock, event), offset_of!(libc::aiocb, aio_sigevent));
        assert_eq!((offset_of!(IoBlock, what), offset_of!(IoBlock, fd)), (4, 0));
        assert_eq!((offset_of!(IoBlock, error), offset_of!(NameBlock, error)), (112, 32));
    }

    #[test]
    fn memory_that_is_not_there_is_not_read() {
        let word = 4711_i32;
        assert_eq!(read_word((&raw const word).expose_provenance()), Seen::Word(4711));
        assert_eq!(read_word(8), Seen::Nothing);
    }
}
