//! io_urings: the kernel writes into memory for requests that it was given, whatever that memory is used for by then.
//! So an image keeps its pages for as long as a ring of its own may have some in flight.
//!
//! A ring is identified by the number of its file, which a descriptor and a mapping of it share. The hooks report
//! those that are made through the C library. A plugin may make one with instructions of its own, too; so whatever ring
//! was not there before the image, and is on no other image's record, counts as its own.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::c::descriptors::{Identity, identity};
use super::proc::{Mapped, Maps};
use super::{fd_target, fds, lock, stacks};
use crate::ledger::repair::Repair;
use crate::ledger::{Holder, HolderKind};

pub(super) const REPAIR: Repair = Repair {
    name: "an io_uring",
    // Rings that it is going to close are listed while they are open.
    ends: |image| image.records.rings.look(image.owner()),
    outside: |image| image.records.rings.kept(image.owner()),
    ..Repair::NONE
};

/// What the system calls what such a descriptor leads to.
const TARGET: &str = "anon_inode:[io_uring]";

/// The kernel ends what a closed ring has in flight a moment after the last descriptor and mapping have gone, and tells
/// nobody when it is done. It begins at once and does not wait for anybody else, so this is long.
const SETTLE: Duration = Duration::from_millis(30);

/// A ring: device and number of its file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Ring(u64, u64);

/// How a ring is there: by a descriptor, or only by a mapping.
#[derive(Clone, Copy, Default, Debug)]
struct Presence {
    fd: Option<c_int>,
}

/// The rings of one image.
pub(super) struct Rings {
    before: Vec<Ring>,
    workers_before: Vec<i32>,
    own: Mutex<Own>,
}

#[derive(Default)]
struct Own {
    known: Vec<Ring>,
    /// Since when none is there any more.
    gone: Option<Instant>,
}

impl Rings {
    pub(super) fn new(maps: Option<&Maps>) -> Self {
        let before: Vec<_> = present(maps).into_keys().collect();
        let workers = if before.is_empty() { Vec::new() } else { stacks::others() };
        let workers_before = workers.iter().filter(|thread| thread.is_io_worker()).map(|thread| thread.tid).collect();
        Self { before, workers_before, own: Mutex::default() }
    }

    /// The image has made this one.
    pub(super) fn opened(&self, ring: Ring) {
        note(&mut lock(&self.own), ring);
    }

    /// Looks which there are, so that those which are closed before the end are known.
    fn look(&self, owner: usize) {
        let found = self.of_image(owner);
        let mut own = lock(&self.own);
        found.into_keys().for_each(|ring| note(&mut own, ring));
    }

    /// What of them keeps the image now.
    fn kept(&self, owner: usize) -> Option<Holder> {
        let found = self.of_image(owner);
        let now = Instant::now();
        let mut own = lock(&self.own);
        found.keys().for_each(|ring| note(&mut own, *ring));
        if let Some(name) = found.values().find_map(in_words) {
            own.gone = None;
            return Some(Holder::new(HolderKind::Ring, name, now));
        }
        if own.known.is_empty() || !found.is_empty() {
            return None;
        }
        let since = *own.gone.get_or_insert(now);
        drop(own);
        if now.duration_since(since) < SETTLE {
            return Some(Holder::new(HolderKind::Ring, "io_uring (closed a moment ago)", since));
        }
        let mut workers = stacks::others().into_iter().filter(|thread| !self.workers_before.contains(&thread.tid));
        let busy = workers.find(stacks::Thread::is_busy_worker)?;
        let name = format!("io_uring (closed, but its worker {:?} is busy)", busy.name());
        Some(Holder::new(HolderKind::Ring, name, since))
    }

    fn of_image(&self, owner: usize) -> BTreeMap<Ring, Presence> {
        let mut found = present(Maps::read().ok().as_ref());
        found.retain(|ring, _| !self.before.contains(ring) && !lock(&HOSTS).contains(ring));
        found.retain(|_, presence| presence.fd.is_none_or(|fd| !fds::is_of_another(owner, fd)));
        found
    }
}

/// Rings that the host has said are its own.
static HOSTS: Mutex<Vec<Ring>> = Mutex::new(Vec::new());

/// The host vouches for the ring that this descriptor leads to: no request in it writes into memory of an image. Whether it
/// leads to one.
pub(crate) fn own_ring(fd: c_int) -> bool {
    let Some(ring) = of_descriptor(fd) else { return false };
    let there = present(Maps::read().ok().as_ref());
    let mut hosts = lock(&HOSTS);
    hosts.retain(|known| there.contains_key(known) && *known != ring);
    hosts.push(ring);
    true
}

fn note(own: &mut Own, ring: Ring) {
    if !own.known.contains(&ring) {
        own.known.push(ring);
    }
}

/// The ring that a descriptor leads to, if it does.
pub(super) fn of_descriptor(fd: c_int) -> Option<Ring> {
    let Identity { device, number, kind } = identity(fd)?;
    // What has no file has no kind of file either; so most are told without reading a link.
    let is_ring = kind == 0 && fd_target(fd).as_deref() == Some(TARGET);
    is_ring.then_some(Ring(device, number))
}

/// Every ring of the process.
fn present(maps: Option<&Maps>) -> BTreeMap<Ring, Presence> {
    let mut found = BTreeMap::<Ring, Presence>::new();
    for fd in fds::open_now() {
        if let Some(ring) = of_descriptor(fd) {
            found.entry(ring).or_default().fd.get_or_insert(fd);
        }
    }
    for ring in maps.into_iter().flat_map(Maps::all).filter_map(|mapped| mapped_ring(&mapped)) {
        found.entry(ring).or_default();
    }
    found
}

/// The ring that a mapping is of.
fn mapped_ring(mapped: &Mapped<'_>) -> Option<Ring> {
    let (major, minor) = mapped.device.split_once(':').filter(|_| mapped.name == TARGET.as_bytes())?;
    let device = libc::makedev(u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?);
    Some(Ring(device, mapped.inode.parse().ok()?))
}

/// A ring that keeps its image, as reports name it; none for one that has never been given a request.
fn in_words(presence: &Presence) -> Option<String> {
    let Some(fd) = presence.fd else { return Some("io_uring (closed, but still mapped)".to_owned()) };
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).unwrap_or_default();
    match Requests::of(&text) {
        Requests::Never => None,
        Requests::Answered => Some(format!("io_uring (descriptor {fd}) that may have requests in flight")),
        Requests::InFlight => Some(format!("io_uring (descriptor {fd}) with requests in flight")),
    }
}

/// What a ring has been given to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Requests {
    /// Nothing, ever.
    Never,
    /// There is an answer for each. But one request may have many answers, and others may have none.
    Answered,
    /// There are fewer answers than requests, or the system does not report them.
    InFlight,
}

impl Requests {
    fn of(text: &str) -> Self {
        let field = |name: &str| -> Option<u64> {
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            value.trim().parse().ok()
        };
        let of_requests = [field("SqTail"), field("CachedSqHead")];
        match (of_requests, field("CachedCqTail")) {
            ([Some(0), Some(0)], _) => Self::Never,
            ([Some(tail), Some(head)], Some(answers)) if tail == head && answers == head => Self::Answered,
            _ => Self::InFlight,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Mapped, Requests, Ring, mapped_ring};

    #[test]
    fn a_mapped_ring_has_the_number_of_its_descriptor() {
        let line = b"7f425d400000-7f425d401000 rw-s 00000000 00:10 85305                      anon_inode:[io_uring]";
        let ring = |line| mapped_ring(&Mapped::of(line).expect("it is a line"));
        assert_eq!(ring(line), Some(Ring(0x10, 85305)));
        assert_eq!(ring(b"7f4-7f5 rw-s 00000000 00:10 85305                      anon_inode:[perf_event]"), None);
    }

    #[test]
    fn only_a_ring_without_a_request_has_surely_nothing_in_flight() {
        let check = |tail: u32, head: u32, answers: u32, expected| {
            let text = format!("SqTail:\t{tail}\nCachedSqHead:\t{head}\nCachedCqTail:\t{answers}\n");
            assert_eq!(Requests::of(&text), expected, "{text}");
        };
        check(0, 0, 0, Requests::Never);
        check(1, 0, 0, Requests::InFlight);
        check(1, 1, 0, Requests::InFlight);
        check(1, 1, 1, Requests::Answered);
        check(1, 1, 2, Requests::InFlight);
        assert_eq!(Requests::of(""), Requests::InFlight);
    }
}
