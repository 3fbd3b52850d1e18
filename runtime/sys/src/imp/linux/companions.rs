//! Tracks the companions of an image: the libraries that the image uses, except the C library and the libraries of the host. Companions do
//! not call the hooks. However, their threads may run functions of the image, and their data may contain addresses of such functions. An
//! ending image waits for these threads.
//!
//! The loader maps a companion with the first image that needs it, and unmaps it with the last such image, even if threads of the companion
//! are still running or its handlers are still set.
//!
//! Therefore the process is searched for threads and handlers of companions. A thread that started during the image's lifetime and has a
//! companion on its stack may call the image. The image therefore waits for this thread. If a companion in use is about to be unmapped, an
//! additional reference keeps the companion open until it is unused.

use std::collections::HashSet;
use std::ffi::{CStr, c_int};
use std::mem;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use libloading::os::unix::Library;

use super::c::kernel::{self, clock};
use super::c::loader;
use super::c::signals;
use super::loaded::{self, Loaded};
use super::lookups::{self, Lookups};
use super::names::describe_thread;
use super::stacks::{self, Position, Thread, Ticks};
use super::{lock, started};
use crate::imp::linux::Mapping;
use crate::ledger::repair::Repair;
use crate::ledger::{Holder, HolderKind};
use crate::{folder, notes};

pub(super) const REPAIR: Repair = Repair {
    name: "a library that was mapped with it",
    is_mapped: |image, mapping| image.records.companions.is_mapped(image.owner(), mapping),
    holders: |image, all| all.extend(image.records.companions.holding_threads(image.records.created)),
    ends: |image| image.records.companions.ends(&image.records.lookups),
    facts: |image, facts| {
        let created = image.records.created;
        facts.threads = facts.threads || !image.records.companions.holding_threads(created).is_empty();
    },
    outside: |image| {
        let signal = handled_in(&image.records.companions.own.get()?.image.ranges)?;
        let name = format!("the handler of signal {signal}, which was set without the hooks");
        Some(Holder::new(HolderKind::Handler, name, image.records.created))
    },
    before_close: |image| image.records.companions.leave(image.owner()),
    free: |_, _| {
        review();
        record_unmapped();
    },
    ..Repair::NONE
};

/// Thread pool libraries. Such a library runs a function on its threads while the caller waits, and does not call the function later.
/// Therefore an image may be unmapped while these threads exist, unless the image is on one of their stacks.
const POOLS: [&str; 3] = ["libgomp.so", "libiomp5.so", "libomp.so"];

/// Pairs of functions. The first function registers an address of a library's code with the process, and the second function removes this
/// address. A library that uses only the first function of a pair is never unmapped, because a registered address may remain. Threads and
/// signals are checked separately.
const LEAVE: [(&str, &str); 9] = [
    ("pthread_key_create", "pthread_key_delete"),
    ("tss_create", "tss_delete"),
    ("timer_create", "timer_delete"),
    ("on_exit", ""),
    ("mq_notify", ""),
    ("getaddrinfo_a", ""),
    ("aio_read", ""),
    ("aio_write", ""),
    ("lio_listio", ""),
];

/// The C library with its parts, and the runtime library of the compiler, which are not companions. Images call these libraries through the
/// hooks.
const RUNTIME: [&str; 11] = [
    "libc.so",
    "libm.so",
    "libgcc_s.so",
    "libpthread.so",
    "libdl.so",
    "librt.so",
    "libutil.so",
    "libresolv.so",
    "ld-linux",
    "ld64.so",
    "linux-vdso",
];

/// Number of repeated inspections of a running thread, and the interval between two inspections.
const RETRIES: u32 = 5;
const RETRY_INTERVAL: Duration = Duration::from_micros(100);

/// State of all companions, locked during each decision. Therefore, if two images share a companion and end concurrently, exactly one of
/// them is the last user.
static STATE: Mutex<State> = Mutex::new(State { mapped: Vec::new(), users: Vec::new(), held: Vec::new() });

struct State {
    /// Libraries that were mapped for images, each with the creation time of the image's record.
    mapped: Vec<(Loaded, Ticks)>,
    /// Mapped images: the ledger address of each image, with the companions that the image uses.
    users: Vec<(usize, Vec<Loaded>)>,
    held: Vec<Held>,
}

struct Held {
    library: Loaded,
    since: Ticks,
    share: Library,
    /// The library uses a function of [`LEAVE`] without the function that removes the registered address, and must stay mapped.
    for_good: bool,
}

pub(super) struct Companions {
    before: Vec<Loaded>,
    created: Ticks,
    /// Facts about the image itself. Set once the image is mapped.
    own: OnceLock<Own>,
    /// `true` if the image uses libraries in addition to the C library.
    has_others: AtomicBool,
}

struct Own {
    image: Loaded,
    /// Libraries that the image uses and that were mapped for images.
    libraries: Vec<Loaded>,
}

impl Companions {
    pub(super) fn new() -> Self {
        review();
        Self { before: loaded::all(), created: Ticks::now(), own: OnceLock::new(), has_others: AtomicBool::new(false) }
    }

    /// Records the first companions of the image: the libraries that it needs and that were mapped together with it.
    fn is_mapped(&self, owner: usize, mapping: &Mapping) {
        let all = loaded::all();
        let Some(image) = all.iter().find(|library| mapping.ranges().first() == library.ranges.first()) else { return };
        let needed = loaded::needs(image, &all);
        self.has_others.store(!needed.iter().all(is_runtime), SeqCst);
        let mut state = lock(&STATE);
        state.drop_unmapped(&all);
        for library in &needed {
            let is_new = !self.before.iter().any(|known| known.is(library));
            if is_new && state.mapped_since(library).is_none() {
                notes::mapped(&library.path(), &library.ranges);
                state.mapped.push((library.clone(), self.created));
            }
        }
        let libraries: Vec<_> = needed.into_iter().filter(|library| state.mapped_since(library).is_some()).collect();
        if !libraries.is_empty() {
            state.users.push((owner, libraries.clone()));
        }
        drop(state);
        self.own.get_or_init(|| Own { image: image.clone(), libraries });
    }

    /// Records further companions of the image: all libraries that were mapped during the image's lifetime, unless code outside of images
    /// opened them. Excludes images, including those that another thread is mapping or closing.
    fn ends(&self, lookups: &Lookups) {
        let is_new = |library: &Loaded| !self.before.iter().any(|known| known.is(library));
        let is_library = |library: &Loaded| !folder::is_copy(&library.path()) && !is_runtime(library);
        let all = loaded::all();
        let mut new = all.iter().filter(|library| is_new(library) && is_library(library)).peekable();
        if new.peek().is_none() {
            return;
        }
        let within = self.within_reach(lookups);
        if new.any(|library| within.as_ref().is_none_or(|within| within.contains(&library.base))) {
            self.has_others.store(true, SeqCst);
        }
    }

    pub(super) fn has_others(&self) -> bool {
        self.has_others.load(SeqCst)
    }

    /// Returns the base addresses of all libraries that the image can call, and that may therefore store an address of the image. Returns
    /// `None` if these libraries are unknown. Includes the needed libraries, the libraries in which the image has looked up names, the
    /// libraries whose addresses the image has, and the dependencies of all these libraries. If the image or one of these libraries may
    /// have opened libraries, also includes all libraries mapped during the image's lifetime.
    pub(super) fn within_reach(&self, lookups: &Lookups) -> Option<HashSet<usize>> {
        let Own { image, .. } = self.own.get()?;
        let all = loaded::all();
        let is_new = |library: &&Loaded| !self.before.iter().any(|known| known.is(library));
        // Excludes the program, on which no library depends, but which depends on all libraries of the host.
        let others = || all.iter().filter(|library| !library.name.is_empty() && !folder::is_copy(&library.path()));
        let called = lookups::called_from(&image.ranges, &all).into_iter();
        let called = called.filter(|library| others().any(|other| other.is(library)));
        let found = others().filter(|library| lookups.refer_to(&library.ranges));
        let mut within: Vec<Loaded> = Vec::new();
        let add = |within: &mut Vec<Loaded>, root: &Loaded| {
            within.extend(loaded::needs(root, &all));
            within.push(root.clone());
        };
        found.chain(called).chain([image]).for_each(|root| add(&mut within, root));
        // Ignores libraries that the C library opens for host names and character sets, because it passes them no callback of the image.
        let opens = within.iter().any(|library| !library.is(image) && !is_runtime(library)) || may_open(image, lookups);
        if opens {
            others().filter(is_new).for_each(|root| add(&mut within, root));
        }
        Some(within.into_iter().map(|library| library.base).collect())
    }

    /// Returns the threads that keep the image mapped. `created` is the creation time of the image's record.
    fn holding_threads(&self, created: Instant) -> Vec<Holder> {
        let Some(Own { image, libraries }) = self.own.get().filter(|_| self.has_others()) else {
            return Vec::new();
        };
        let mut codes: Vec<&[Range<usize>]> = libraries.iter().map(|library| library.code.as_slice()).collect();
        codes.push(&image.code);
        let holding_threads = foreign_threads(self.created).into_iter().filter_map(|thread| {
            let mut positions = inspect(&thread, &codes)?;
            let in_image = positions.pop().unwrap_or(Position::Unknown);
            let held_by = held_by(&positions, in_image, |at| is_pool(&libraries[at]))?;
            let name = format!("thread \"{}\"", thread.name().escape_debug());
            let name = match held_by {
                HeldBy::Library(at) => format!("{name} of {}, which was mapped with the plugin", libraries[at].file()),
                HeldBy::Perhaps => format!("{name}, which may be in the plugin or a library mapped with it"),
                HeldBy::Image => format!("{name}, which a library has started and which runs code of the plugin"),
            };
            Some(Holder::new(HolderKind::Thread, name, created).on(describe_thread(thread.tid)))
        });
        holding_threads.collect()
    }

    /// Keeps each companion open that is in use and that no other image needs, by an additional reference. Called directly before the image
    /// is closed.
    fn leave(&self, owner: usize) {
        let mut state = lock(&STATE);
        let Some(at) = state.users.iter().position(|(user, _)| *user == owner) else { return };
        let (_, libraries) = state.users.swap_remove(at);
        let mut kept = Vec::new();
        for library in libraries {
            let is_kept = state.held.iter().any(|held| held.library.is(&library));
            if is_kept || state.is_used(&library) {
                continue;
            }
            let for_good = leaves_something(&library);
            let since = state.mapped_since(&library).unwrap_or(self.created);
            if (for_good || is_in_use(&library, since))
                && let Some(share) = loader::share(&library.name)
            {
                kept.push((library.file(), for_good));
                state.held.push(Held { library, since, share, for_good });
            }
        }
        // Logs outside of the lock, because a log subscriber may load libraries.
        drop(state);
        for (library, for_good) in kept {
            log!(INFO, library, for_good, "a library that was mapped with an image stays mapped: it is in use");
        }
    }
}

fn review() {
    let mut state = lock(&STATE);
    let held = mem::take(&mut state.held);
    let (done, held): (Vec<_>, Vec<_>) = held
        .into_iter()
        .partition(|held| !held.for_good && (state.is_used(&held.library) || !is_in_use(&held.library, held.since)));
    state.held = held;
    drop(state);
    if done.is_empty() {
        return;
    }
    for held in done {
        // Releases the additional reference, because the library is no longer in use, or because an image uses it again.
        drop(held.share);
    }
    record_unmapped();
}

fn record_unmapped() {
    let mut state = lock(&STATE);
    if !state.mapped.is_empty() {
        state.drop_unmapped(&loaded::all());
    }
}

impl State {
    fn drop_unmapped(&mut self, all: &[Loaded]) {
        self.mapped.retain(|(known, _)| {
            let is_there = all.iter().any(|library| library.is(known));
            if !is_there {
                notes::gone(&known.path(), clock);
            }
            is_there
        });
    }

    fn mapped_since(&self, library: &Loaded) -> Option<Ticks> {
        self.mapped.iter().find(|(known, _)| known.is(library)).map(|(_, since)| *since)
    }

    fn is_used(&self, library: &Loaded) -> bool {
        self.users.iter().any(|(_, used)| used.iter().any(|known| known.is(library)))
    }
}

/// Reason why a thread keeps an image mapped: code that the stack of the thread refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum HeldBy {
    /// The thread has this companion on its stack.
    Library(usize),
    Perhaps,
    /// The thread has the image on its stack.
    Image,
}

/// Determines if a thread that started during the image's lifetime keeps the image mapped. `in_libraries` and `in_image` state if the stack
/// of the thread refers to a companion of the image or to the image. An image without companions may have opened libraries, whose threads
/// may run its code. So a thread with an unknown stack keeps every image mapped.
fn held_by(in_libraries: &[Position], in_image: Position, is_pool: impl Fn(usize) -> bool) -> Option<HeldBy> {
    let is_unknown = in_image == Position::Unknown || in_libraries.contains(&Position::Unknown);
    if is_unknown {
        return Some(HeldBy::Perhaps);
    }
    let inside = |at: &usize| in_libraries[*at] == Position::Inside;
    let all = || (0..in_libraries.len()).filter(inside);
    let own = all().find(|at| !is_pool(*at));
    let in_image = in_image == Position::Inside;
    own.or_else(|| all().next().filter(|_| in_image)).map(HeldBy::Library).or(in_image.then_some(HeldBy::Image))
}

/// Checks if the library is the C library, one of its parts, or the program itself. The name of the program is empty.
fn is_runtime(library: &Loaded) -> bool {
    let file = library.file();
    library.name.is_empty() || RUNTIME.iter().any(|known| file.starts_with(known))
}

/// Checks if an image may open libraries, because it imports `dlopen` or a similar function or has looked up its address.
fn may_open(image: &Loaded, lookups: &Lookups) -> bool {
    const OPENERS: [&CStr; 2] = [c"dlopen", c"dlmopen"];
    let names = image.refers_to();
    let found = OPENERS.iter().filter_map(|name| loader::address_of(name)).map(|function| function.addr());
    OPENERS.iter().any(|name| names.iter().any(|import| import == name.to_bytes()))
        || found.into_iter().any(|address| lookups.refer_to(std::slice::from_ref(&(address..address + 1))))
}

/// Returns the threads that may have started after `since`, except threads that images have started and the first thread of the process,
/// which runs the program.
fn foreign_threads(since: Ticks) -> Vec<Thread> {
    let mut own = started::numbers();
    own.push(std::process::id() as i32);
    let mut all = stacks::others();
    all.retain(|thread| thread.runs_code() && !thread.is_older_than(since) && !own.contains(&thread.tid));
    all
}

/// Returns the position of a thread in each group of code ranges. Returns `None` for threads that have ended and for threads that the
/// host's code started. The host promises that its threads do not use an ending image, so apparent references on their stacks are stale.
fn inspect(thread: &Thread, codes: &[&[Range<usize>]]) -> Option<Vec<Position>> {
    static HOST: OnceLock<Vec<Range<usize>>> = OnceLock::new();
    let host = HOST.get_or_init(|| {
        let here = inspect as *const () as usize;
        let is_host = |at: usize, library: &Loaded| at == 0 || library.code.iter().any(|code| code.contains(&here));
        let host = loaded::all().into_iter().enumerate().filter(|(at, library)| is_host(*at, library));
        host.flat_map(|(_, host)| host.code).collect()
    });
    let starts_in = |start: Option<usize>, code: &[Range<usize>]| {
        start.is_some_and(|start| code.iter().any(|range| range.contains(&start)))
    };
    let mut inspection = stacks::inspect(thread, codes);
    for _ in 0..RETRIES {
        if starts_in(inspection.start, host) || !inspection.positions.contains(&Position::Unknown) {
            break;
        }
        // Retries, because most running threads soon wait in the kernel.
        std::thread::sleep(RETRY_INTERVAL);
        inspection = stacks::inspect(thread, codes);
    }
    if starts_in(inspection.start, host) || !kernel::thread_exists(thread.tid) {
        return None;
    }
    // The stack of a thread that has not reached its start routine does not contain the routine's address yet. Such a thread counts as
    // inside the code that contains the routine.
    let position = |(position, code): (&Position, &&[Range<usize>])| match position {
        Position::Outside if starts_in(inspection.start, code) => Position::Inside,
        _ => *position,
    };
    Some(inspection.positions.iter().zip(codes).map(position).collect())
}

/// Checks if a thread may have the library on its stack, or if a signal handler is in the library.
fn is_in_use(library: &Loaded, since: Ticks) -> bool {
    let is_there =
        |thread: &Thread| inspect(thread, &[&library.code]).is_some_and(|positions| positions != [Position::Outside]);
    handled_in(&library.ranges).is_some() || foreign_threads(since).iter().any(is_there)
}

fn handled_in(ranges: &[Range<usize>]) -> Option<c_int> {
    (1..=libc::SIGRTMAX()).find(|signal| {
        signals::action(*signal).is_ok_and(|action| ranges.iter().any(|range| range.contains(&action.sa_sigaction)))
    })
}

/// Checks if a mapped library uses a function of [`LEAVE`] without the function that removes the registered address.
fn leaves_something(library: &Loaded) -> bool {
    let names = library.refers_to();
    let uses = |name: &str| names.iter().any(|used| used == name.as_bytes());
    LEAVE.iter().any(|(leave, take_back)| uses(leave) && (take_back.is_empty() || !uses(take_back)))
}

fn is_pool(library: &Loaded) -> bool {
    is_name_of_pool(&library.file())
}

/// Checks if a file name belongs to a thread pool library. If such a library refers to an image, the reference is only its last task.
pub(super) fn is_name_of_pool(file: &str) -> bool {
    POOLS.iter().any(|pool| file.starts_with(pool))
}

#[cfg(test)]
mod tests {
    use super::{HeldBy, held_by};
    use crate::imp::linux::stacks::Position::{self, Inside, Outside, Unknown};

    fn check(libraries: &[Position], image: Position, pools: &[usize]) -> Option<HeldBy> {
        held_by(libraries, image, |at| pools.contains(&at))
    }

    #[test]
    fn companion_threads_keep_the_image_and_pool_threads_only_inside_it() {
        assert_eq!(check(&[Inside], Outside, &[]), Some(HeldBy::Library(0)));
        assert_eq!(check(&[Inside], Inside, &[]), Some(HeldBy::Library(0)));
        assert_eq!(check(&[Inside], Outside, &[0]), None);
        assert_eq!(check(&[Inside], Inside, &[0]), Some(HeldBy::Library(0)));
        assert_eq!(check(&[Inside, Inside], Outside, &[0]), Some(HeldBy::Library(1)));
    }

    #[test]
    fn threads_of_any_library_keep_the_image_they_are_in() {
        assert_eq!(check(&[Outside], Inside, &[0]), Some(HeldBy::Image));
        assert_eq!(check(&[], Inside, &[]), Some(HeldBy::Image));
        assert_eq!(check(&[], Outside, &[]), None);
    }

    #[test]
    fn outside_threads_keep_nothing_and_unreadable_threads_everything() {
        assert_eq!(check(&[Outside], Outside, &[]), None);
        assert_eq!(check(&[], Unknown, &[]), Some(HeldBy::Perhaps));
        for (library, image) in [(Unknown, Unknown), (Unknown, Inside), (Outside, Unknown)] {
            assert_eq!(check(&[library], image, &[0]), Some(HeldBy::Perhaps));
        }
    }
}
