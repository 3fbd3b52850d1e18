//! Tracks io_urings. The kernel writes results to the memory that a submitted request names, even if that memory has been freed and reused.
//! An image therefore keeps its pages while one of its rings may have requests in flight.
//!
//! A ring is identified by the inode number of its file. Descriptors and mappings of a ring share the inode number. The hooks report rings
//! made through the C library. A plugin may also make a ring by direct system calls. Therefore, a ring counts as the image's own if it was
//! created after the image was mapped and is not recorded for another image.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::c::descriptors::{Identity, identity};
use super::proc::{Mapped, Maps, field};
use super::{fd_target, fds, lock, stacks};
use crate::ledger::repair::Repair;
use crate::ledger::{Holder, HolderKind};

pub(super) const REPAIR: Repair = Repair {
    name: "an io_uring",
    // Lists the rings of the image before the image closes them.
    ends: |image| image.records.rings.record(image.owner()),
    outside: |image| image.records.rings.holder(image.owner()),
    ..Repair::NONE
};

/// The system's name of an io_uring in descriptor links.
const TARGET: &str = "anon_inode:[io_uring]";

/// Time for the kernel to end the requests of a ring after the last descriptor and mapping of the ring were removed. The kernel ends the
/// requests almost immediately but does not report their end, so this time is ample.
const DRAIN_TIME: Duration = Duration::from_millis(30);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Ring(u64, u64);

pub(super) struct Rings {
    before: Vec<Ring>,
    workers_before: Vec<i32>,
    own: Mutex<Own>,
}

#[derive(Default)]
struct Own {
    known: BTreeSet<Ring>,
    /// Time at which all rings of the image were first found to be gone.
    gone: Option<Instant>,
}

impl Rings {
    pub(super) fn new(maps: Option<&Maps>) -> Self {
        let before: Vec<_> = present(maps).into_keys().collect();
        let workers = if before.is_empty() { Vec::new() } else { stacks::others() };
        let workers_before = workers.iter().filter(|thread| thread.is_io_worker()).map(|thread| thread.tid).collect();
        Self { before, workers_before, own: Mutex::default() }
    }

    pub(super) fn opened(&self, ring: Ring) {
        lock(&self.own).known.insert(ring);
    }

    /// Records the current rings of the image, so that rings closed later are still known when the image ends.
    fn record(&self, owner: usize) {
        let found = self.of_image(owner);
        lock(&self.own).known.extend(found.into_keys());
    }

    fn holder(&self, owner: usize) -> Option<Holder> {
        let found = self.of_image(owner);
        let now = Instant::now();
        let mut own = lock(&self.own);
        own.known.extend(found.keys().copied());
        if let Some(name) = found.values().find_map(|fd| describe(*fd)) {
            own.gone = None;
            return Some(Holder::new(HolderKind::Ring, name, now));
        }
        if own.known.is_empty() || !found.is_empty() {
            return None;
        }
        let since = *own.gone.get_or_insert(now);
        drop(own);
        if now.duration_since(since) < DRAIN_TIME {
            return Some(Holder::new(HolderKind::Ring, "io_uring (closed a moment ago)", since));
        }
        let mut workers = stacks::others().into_iter().filter(|thread| !self.workers_before.contains(&thread.tid));
        let busy = workers.find(stacks::Thread::is_busy_worker)?;
        let name = format!("io_uring (closed, but its worker {:?} is busy)", busy.name());
        Some(Holder::new(HolderKind::Ring, name, since))
    }

    /// Returns the current rings of the image, each with a descriptor. For a ring that is only mapped, the descriptor is `None`.
    fn of_image(&self, owner: usize) -> BTreeMap<Ring, Option<c_int>> {
        let mut found = present(Maps::read().ok().as_ref());
        found.retain(|ring, _| !self.before.contains(ring) && !lock(&HOSTS).contains(ring));
        found.retain(|_, fd| fd.is_none_or(|fd| !fds::is_of_another(owner, fd)));
        found
    }
}

/// Rings declared by the host as its own.
static HOSTS: Mutex<Vec<Ring>> = Mutex::new(Vec::new());

/// Declares the ring of this descriptor as a ring of the host. The host promises that no request of this ring accesses memory of an image.
/// Returns `false` if the descriptor is not a ring.
pub(crate) fn own_ring(fd: c_int) -> bool {
    let Some(ring) = of_descriptor(fd) else { return false };
    let there = present(Maps::read().ok().as_ref());
    let mut hosts = lock(&HOSTS);
    hosts.retain(|known| there.contains_key(known) && *known != ring);
    hosts.push(ring);
    true
}

pub(super) fn of_descriptor(fd: c_int) -> Option<Ring> {
    let Identity { device, number, kind } = identity(fd)?;
    // The inode of a ring contains no file type. Checking for a missing file type avoids reading the link of most descriptors.
    let is_ring = kind == 0 && fd_target(fd).as_deref() == Some(TARGET);
    is_ring.then_some(Ring(device, number))
}

/// Returns all rings of the process, each with its first descriptor. For a ring that is only mapped, the descriptor is `None`.
fn present(maps: Option<&Maps>) -> BTreeMap<Ring, Option<c_int>> {
    let mut found = BTreeMap::<Ring, Option<c_int>>::new();
    for fd in fds::open_now() {
        if let Some(ring) = of_descriptor(fd) {
            found.entry(ring).or_default().get_or_insert(fd);
        }
    }
    for ring in maps.into_iter().flat_map(Maps::all).filter_map(|mapped| mapped_ring(&mapped)) {
        found.entry(ring).or_default();
    }
    found
}

fn mapped_ring(mapped: &Mapped<'_>) -> Option<Ring> {
    let (major, minor) = mapped.device.split_once(':').filter(|_| mapped.name == TARGET.as_bytes())?;
    let device = libc::makedev(u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?);
    Some(Ring(device, mapped.inode.parse().ok()?))
}

/// Describes a ring that keeps its image mapped. Returns `None` for a ring to which no request was ever submitted.
fn describe(fd: Option<c_int>) -> Option<String> {
    let Some(fd) = fd else { return Some("io_uring (closed, but still mapped)".to_owned()) };
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).unwrap_or_default();
    match Requests::of(&text) {
        Requests::Never => None,
        Requests::Answered => Some(format!("io_uring (descriptor {fd}) that may have requests in flight")),
        Requests::InFlight => Some(format!("io_uring (descriptor {fd}) with requests in flight")),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Requests {
    /// No request was ever submitted.
    Never,
    /// The ring has as many completions as requests. However, a request may have several completions or none.
    Answered,
    /// The ring has fewer completions than requests, or the system does not report these numbers.
    InFlight,
}

impl Requests {
    fn of(text: &str) -> Self {
        let of_requests = [field(text, "SqTail:"), field(text, "CachedSqHead:")];
        match (of_requests, field(text, "CachedCqTail:")) {
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
