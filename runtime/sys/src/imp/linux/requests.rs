//! Requests of images to threads of the C library: asynchronous IO (`aio_read` and variants) and name lookups (`getaddrinfo_a`). A pending
//! request uses its block, buffer and names on a thread that cannot be stopped. The image and its memory therefore stay mapped until the
//! request completes.
//!
//! The C library stores the status of a request in the request's block, which the image may free after completion. Blocks are therefore
//! read through the kernel, so that a freed block causes an error instead of a fault.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::c_int;
use std::mem::offset_of;
use std::ptr;
use std::sync::Mutex;
use std::time::Instant;

use super::c::callbacks::Event;
use super::c::descriptors::settle_requests;
use super::c::kernel;
use super::c::signals::bit;
use super::{lock, notifications};
use crate::ledger::repair::Repair;
use crate::ledger::{Holder, HolderKind, Ledger};

pub(super) const REPAIR: Repair = Repair {
    name: "an asynchronous request",
    holders: |image, all| all.extend(holders(image.owner())),
    // A request that completes may raise a signal or call a function of the image.
    facts: |image, facts| facts.locals_elsewhere |= !in_progress(image.owner()).is_empty(),
    ..Repair::NONE
};

/// Addresses of all blocks that were ever submitted. After a request has completed, the C library's record of the request still contains
/// the address of the block until the record is reused. The C library no longer uses this address.
static SUBMITTED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

const MOST_REMEMBERED: usize = 1 << 16;

static RECORDS: Mutex<RecordTable> = Mutex::new(RecordTable { requests: Vec::new(), signals: BTreeMap::new() });

struct RecordTable {
    requests: Vec<Request>,
    /// Signals raised by the requests of each image, one bit each.
    signals: BTreeMap<usize, u64>,
}

struct Request {
    owner: usize,
    block: usize,
    kind: Kind,
    since: Instant,
    /// `true` once the C library has accepted the request. Before that, the block has no valid status.
    is_submitted: bool,
    is_done: bool,
    /// Id of the notification, and the image's original event. The C library received an event with a function of the host instead.
    event: Option<(usize, Event)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Io,
    Name,
}

/// Relevant fields of glibc's `struct aiocb`.
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

/// Relevant fields of glibc's `struct gaicb`.
#[repr(C)]
struct NameBlock {
    name: usize,
    service: usize,
    hints: usize,
    result: usize,
    error: c_int,
}

/// glibc's `EAI_INPROGRESS`.
const NAME_IN_PROGRESS: c_int = -100;

/// glibc's `LIO_NOP`.
const NOTHING: c_int = 2;

/// Records an IO request and submits it by calling `submit`. `own` is the event in the block of the request, and `write_event` writes a
/// replacement to the block.
pub(super) fn begin_io(
    ledger: &Ledger,
    block: usize,
    own: Event,
    write_event: impl Fn(Event),
    submit: impl FnOnce() -> c_int,
) -> c_int {
    let owner = ledger.owner();
    let mut records = lock(&RECORDS);
    let own = for_image(&records, block, own);
    let (host_event, serial) = own.through_host(owner, "an asynchronous request", true);
    // The block belongs to the image until the C library accepts the request.
    write_event(host_event);
    records.note(owner, block, Kind::Io, serial.map(|serial| (serial, own)));
    records.mark_submitted(block);
    own.raises().into_iter().for_each(|signal| records.raises(owner, signal));
    // Submits with the lock held. A thread that checks for pending requests must find this request before the request can complete.
    let result = submit();
    if result != 0 {
        records.requests.retain(|request| request.block != block);
        serial.into_iter().for_each(notifications::remove);
        write_event(own);
    }
    result
}

/// Records a list of requests. Submits the list by calling `submit` with the event that the C library uses to report completion.
pub(super) fn begin_list(
    ledger: &Ledger,
    of_names: bool,
    list: &[usize],
    event: Option<Event>,
    submit: impl FnOnce(*mut libc::sigevent) -> c_int,
) -> c_int {
    let owner = ledger.owner();
    let kind = if of_names { Kind::Name } else { Kind::Io };
    let mut records = lock(&RECORDS);
    let mut blocks = Vec::new();
    for block in list.iter().copied() {
        if block != 0 && (of_names || read_word(block + offset_of!(IoBlock, what)) != ReadResult::Word(NOTHING)) {
            records.note(owner, block, kind, None);
            blocks.push(block);
        }
    }
    let host_event = event.map(|event| event.through_host(owner, "a list of asynchronous requests", true).0);
    event.and_then(|event| event.raises()).into_iter().for_each(|signal| records.raises(owner, signal));
    drop(records);
    // Releases `RECORDS` before the call, because the call may wait for all requests. The control block of a rejected request contains
    // its error.
    let result = submit(host_event.as_ref().map_or(ptr::null(), ptr::from_ref).cast_mut().cast());
    let mut records = lock(&RECORDS);
    blocks.into_iter().for_each(|block| records.mark_submitted(block));
    result
}

/// Returns the addresses of all past request blocks. Pending requests keep their image mapped independently of this set.
pub(super) fn all_submitted() -> HashSet<usize> {
    lock(&SUBMITTED).iter().copied().collect()
}

fn holders(owner: usize) -> Vec<Holder> {
    let holder = |(kind, since)| {
        let name = match kind {
            Kind::Io => "asynchronous input or output that is not done",
            Kind::Name => "a look-up of a name that is not done",
        };
        Holder::new(HolderKind::Request, name, since)
    };
    in_progress(owner).into_iter().map(holder).collect()
}

/// Removes the records of an image. Returns the signals that its requests may have raised or may still raise, one bit each.
pub(super) fn take(owner: usize) -> u64 {
    let mut records = lock(&RECORDS);
    records.requests.retain(|request| request.owner != owner);
    records.signals.remove(&owner).unwrap_or_default()
}

impl RecordTable {
    fn note(&mut self, owner: usize, block: usize, kind: Kind, event: Option<(usize, Event)>) {
        // Occasionally removes the records of completed requests that call no function.
        if self.requests.len().is_power_of_two() {
            update(self.requests.iter_mut());
            self.requests.retain(|request| !request.is_done || request.event.is_some());
        }
        self.requests.retain(|request| request.block != block);
        let mut all_submitted = lock(&SUBMITTED);
        if all_submitted.len() < MOST_REMEMBERED {
            all_submitted.insert(block);
        }
        drop(all_submitted);
        let (since, is_submitted, is_done) = (Instant::now(), false, false);
        self.requests.push(Request { owner, block, kind, since, is_submitted, is_done, event });
    }

    fn mark_submitted(&mut self, block: usize) {
        let of_block = self.requests.iter_mut().filter(|request| request.block == block);
        of_block.for_each(|request| request.is_submitted = true);
    }

    fn raises(&mut self, owner: usize, signal: c_int) {
        *self.signals.entry(owner).or_default() |= bit(signal);
    }
}

impl Request {
    fn has_result(&self) -> bool {
        let (at, in_progress) = match self.kind {
            Kind::Io => (offset_of!(IoBlock, error), libc::EINPROGRESS),
            Kind::Name => (offset_of!(NameBlock, error), NAME_IN_PROGRESS),
        };
        let value = read_word(self.block + at);
        self.is_submitted && value != ReadResult::Word(in_progress) && value != ReadResult::Unknown
    }
}

/// Marks the completed requests as done. After the results of all blocks were read, waits once until the C library has stopped using the
/// blocks.
fn update<'a>(requests: impl Iterator<Item = &'a mut Request>) {
    let completed: Vec<_> = requests.filter(|request| !request.is_done && request.has_result()).collect();
    let is_settled = completed.iter().all(|request| request.kind == Kind::Name) || settle_requests().is_ok();
    // Once the block of a name lookup contains the result, the lookup has stopped using the block.
    completed.into_iter().for_each(|request| request.is_done = is_settled || request.kind == Kind::Name);
}

fn in_progress(owner: usize) -> Vec<(Kind, Instant)> {
    let mut records = lock(&RECORDS);
    update(records.requests.iter_mut().filter(|request| request.owner == owner));
    let pending = records.requests.iter().filter(|request| request.owner == owner && !request.is_done);
    pending.map(|request| (request.kind, request.since)).collect()
}

/// Returns the image's event for a block. If the image reuses a block, the block may still contain the function of the host instead of the
/// image's function.
fn for_image(records: &RecordTable, block: usize, event: Event) -> Event {
    let known = records.requests.iter().find(|request| request.block == block).and_then(|request| request.event);
    match known {
        Some((serial, own)) if event.target().is_some() && event.value() == serial => own,
        _ => event.for_image(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReadResult {
    Word(c_int),
    /// The memory is unmapped.
    Nothing,
    /// The kernel does not allow reading.
    Unknown,
}

fn read_word(address: usize) -> ReadResult {
    let mut word = [0; size_of::<c_int>()];
    match kernel::copy_memory(address, &mut word) {
        Ok(copied) if copied == word.len() => ReadResult::Word(c_int::from_ne_bytes(word)),
        Err(libc::EFAULT) => ReadResult::Nothing,
        Ok(_) | Err(_) => ReadResult::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::{IoBlock, NameBlock, ReadResult, read_word};

    #[test]
    fn blocks_have_the_layout_of_the_c_library() {
        // The `sigevent` is stored after five machine words.
        assert_eq!(offset_of!(IoBlock, event), offset_of!(libc::aiocb, aio_sigevent));
        assert_eq!((offset_of!(IoBlock, what), offset_of!(IoBlock, fd)), (4, 0));
        assert_eq!((offset_of!(IoBlock, error), offset_of!(NameBlock, error)), (112, 32));
    }

    #[test]
    fn unmapped_memory_is_not_read() {
        let word = 4711_i32;
        assert_eq!(read_word((&raw const word).expose_provenance()), ReadResult::Word(4711));
        assert_eq!(read_word(8), ReadResult::Nothing);
    }
}
