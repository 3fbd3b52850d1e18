//! Inspects the stacks of other threads without stopping these threads. For a thread that waits in the kernel, the system reports the stack
//! pointer and the next instruction. All return addresses of the thread are among the words from its stack pointer to the top of its stack.
//!
//! Any word that resembles a return address counts as one, so a thread may be reported as inside code to which it does not return. A thread
//! that is not waiting, or that continued during the inspection, is reported as unknown.

use std::ffi::c_void;
use std::fs;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::c::peek::{self, WORD};
use super::c::{callbacks, kernel};
use super::names::thread_name;
use super::proc::{self, Maps};
use crate::stat::fields_of_stat;

/// Flag of kernel threads that work for an io_uring. Such threads run no code of the process.
const IO_WORKER: u64 = 0x10;
/// Flag of threads that are exiting. Such threads never return from the kernel.
const EXITING: u64 = 0x4;

/// Position of a thread relative to a group of code ranges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Position {
    /// The code is not on the thread's stack.
    Outside,
    /// The thread runs the code or will return to it.
    Inside,
    /// The thread was not waiting in the kernel, or the system does not report its position.
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Thread {
    pub(super) tid: i32,
    flags: u64,
    /// Start time in ticks since the start of the system.
    began: u64,
    is_dead: bool,
}

/// Time since the start of the system, in the unit in which the system reports thread start times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Ticks(u64);

impl Ticks {
    pub(super) fn now() -> Self {
        let (now, in_second) = (kernel::since_boot(), rustix::param::clock_ticks_per_second().max(1));
        Self(now.as_secs() * in_second + u64::from(now.subsec_nanos()) * in_second / 1_000_000_000)
    }
}

impl Thread {
    /// Returns `true` if the thread certainly existed at `moment`. Returns `false` if the thread started in the same tick.
    pub(super) fn is_older_than(&self, moment: Ticks) -> bool {
        self.began < moment.0
    }

    /// Checks if the thread can run code of the process.
    pub(super) fn runs_code(&self) -> bool {
        !self.is_dead && self.flags & (IO_WORKER | EXITING) == 0
    }

    pub(super) fn is_io_worker(&self) -> bool {
        self.flags & IO_WORKER != 0
    }

    pub(super) fn name(&self) -> String {
        thread_name(self.tid).unwrap_or_else(|| "that is ending".to_owned())
    }

    /// Checks if the thread is an io_uring worker that is executing a request. Returns `false` if the system does not report workers.
    pub(super) fn is_busy_worker(&self) -> bool {
        let wait_channel = fs::read_to_string(format!("/proc/self/task/{}/wchan", self.tid)).unwrap_or_default();
        self.is_io_worker() && !self.is_dead && !matches!(wait_channel.trim(), "" | "0" | "io_wq_worker")
    }
}

pub(super) fn others() -> Vec<Thread> {
    let me = kernel::own_tid();
    let numbers = proc::numbers("task").unwrap_or_default();
    numbers.into_iter().filter(|tid| *tid != me).filter_map(thread).collect()
}

/// Returns `None` for a thread that has ended.
fn thread(tid: i32) -> Option<Thread> {
    let text = fs::read(format!("/proc/self/task/{tid}/stat")).ok()?;
    parse_stat(tid, &text)
}

fn parse_stat(tid: i32, text: &[u8]) -> Option<Thread> {
    let fields = fields_of_stat(text)?;
    // The state is field 3, the flags are field 9, the start time is field 22.
    Some(Thread {
        tid,
        flags: fields.get(6)?.parse().ok()?,
        began: fields.get(19)?.parse().ok()?,
        is_dead: matches!(*fields.first()?, "Z" | "X" | "x"),
    })
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Inspection {
    /// Position of the thread relative to each of the requested groups of code ranges.
    pub(super) positions: Vec<Position>,
    pub(super) start: Option<usize>,
}

/// Inspects the position of the thread relative to each of these groups of code ranges. Finds the start routine of a running thread, too.
pub(super) fn inspect(thread: &Thread, codes: &[&[Range<usize>]]) -> Inspection {
    let start = |record: Option<usize>| record.or_else(|| record_of(thread.tid)).and_then(start_routine);
    let unknown = || Inspection { positions: vec![Position::Unknown; codes.len()], start: start(None) };
    let path = format!("/proc/self/task/{}/syscall", thread.tid);
    let Ok(before) = fs::read_to_string(&path) else { return unknown() };
    let Some((stack, next)) = parse_syscall(&before) else { return unknown() };
    let mut found = vec![Position::Outside; codes.len()];
    let mut see = |word: usize| {
        let word = if cfg!(target_arch = "aarch64") { without_signature(word, stack | next) } else { word };
        for (found, code) in found.iter_mut().zip(codes) {
            // If a call is the last instruction of the code, its return address equals the end of the range.
            if code.iter().any(|range| range.contains(&word) || range.end == word) {
                *found = Position::Inside;
            }
        }
    };
    see(next);
    let Some(record) = read_up(stack, &mut see) else { return unknown() };
    // Discards the result if the thread has continued during the inspection. In a later system call, the number, the arguments or the
    // stack pointer differ.
    let same = fs::read_to_string(&path).is_ok_and(|after| after == before);
    if same { Inspection { positions: found, start: start(record) } } else { unknown() }
}

/// Removes the signature from a return address. On aarch64, C libraries sign the return addresses on their stack in the bits above the
/// highest address of a program. `high` is an address of the thread that has as many bits as this highest address.
fn without_signature(word: usize, high: usize) -> usize {
    word & (usize::MAX >> high.leading_zeros())
}

/// Parses the stack pointer and the next instruction of a waiting thread from its file `syscall`.
pub(super) fn parse_syscall(text: &str) -> Option<(usize, usize)> {
    let mut words = text.split_ascii_whitespace().rev();
    let mut word = || usize::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    let next = word()?;
    let stack = word()?;
    (next != 0 && stack != 0).then_some((stack, next))
}

/// Passes every word from `start` to the end of its mapping to `see`. Stops at the C library's record of the thread if the mapping contains
/// this record, and returns the address of the record. Returns `None` if the memory cannot be read.
fn read_up(start: usize, see: &mut impl FnMut(usize)) -> Option<Option<usize>> {
    let maps = Maps::read().ok()?;
    let end = maps.all().find(|mapped| mapped.range.contains(&start))?.range.end;
    let mut bytes = vec![0; 64 * 1024];
    let mut at = start.next_multiple_of(WORD);
    while at < end {
        let count = bytes.len().min(end - at);
        let read = peek::read(at, &mut bytes[..count]);
        if read < WORD {
            return None;
        }
        for (address, word) in (at..).step_by(WORD).zip(peek::words(&bytes[..read])) {
            if cfg!(target_arch = "x86_64") && word == address && is_record(address) {
                return Some(Some(address));
            }
            see(word);
        }
        at += read - read % WORD;
    }
    Some(None)
}

/// Checks if the address is the C library's record of a thread. The first and third word of such a record are its own address.
fn is_record(address: usize) -> bool {
    [address, address + 2 * WORD].into_iter().all(|field| peek::word(field) == Some(address))
}

/// Returns the address of the C library's record of the thread. This record contains the head of the list of robust mutexes, whose address
/// the kernel reports. Returns `None` for a thread that has not begun to run.
fn record_of(tid: i32) -> Option<usize> {
    let head = |tid| Some(kernel::robust_list(tid)?.0).filter(|head| *head != 0);
    let offset = head(kernel::own_tid())?.wrapping_sub(kernel::own_handle());
    // A thread that was started without the C library may have set another list.
    let is_known = |record: &usize| cfg!(not(target_arch = "x86_64")) || is_record(*record);
    Some(head(tid)?.wrapping_sub(offset)).filter(is_known)
}

fn start_routine(record: usize) -> Option<usize> {
    static OFFSET: OnceLock<Option<usize>> = OnceLock::new();
    let offset = (*OFFSET.get_or_init(find_offset))?;
    peek::word(record.checked_add(offset)?)
}

/// Finds the offset at which the C library's thread records store the start routine. For this purpose, starts a thread and inspects its
/// record. In the record, the argument follows the start routine.
fn find_offset() -> Option<usize> {
    static FOUND: AtomicUsize = AtomicUsize::new(usize::MAX);
    extern "C" fn find_argument(argument: *mut c_void) -> *mut c_void {
        let mut bytes = [0; 512 * WORD];
        let read = peek::read(kernel::own_handle(), &mut bytes);
        let words: Vec<_> = peek::words(&bytes[..read]).collect();
        let expected = [find_argument as *const () as usize, argument.addr()];
        if let Some(at) = words.windows(2).position(|pair| pair == expected) {
            FOUND.store(at * WORD, Ordering::SeqCst);
        }
        ptr::null_mut()
    }
    callbacks::on_thread(find_argument, (&raw const FOUND).addr());
    Some(FOUND.load(Ordering::SeqCst)).filter(|found| *found != usize::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::{Position, Ticks, inspect, kernel, others, parse_stat, parse_syscall, record_of, without_signature};
    use crate::imp::linux::ranges_around;

    #[test]
    fn thread_names_may_look_like_other_fields() {
        let line = b"7 (a) R 0 (b\n) S 1 1 1 0 -1 4194368 1 0 0 0 0 0 0 0 20 0 9 0 777 1 2 3\n";
        let thread = parse_stat(7, line).expect("it is whole");
        assert_eq!((thread.flags, thread.began, thread.is_dead), (4_194_368, 777, false));
        assert!(parse_stat(7, b"7 (a) S 1").is_none() && parse_stat(7, b"").is_none());
    }

    #[test]
    fn a_running_thread_has_neither_stack_nor_instruction_pointer() {
        assert_eq!(parse_syscall("running\n"), None);
        assert_eq!(parse_syscall("202 0x1 0x80 0x0 0x0 0x0 0x0 0x7ff0 0x55\n"), Some((0x7ff0, 0x55)));
        assert_eq!(parse_syscall("-1 0x7ff0 0x55\n"), Some((0x7ff0, 0x55)));
        assert_eq!(parse_syscall("-1 0x0 0x0\n"), None);
        assert_eq!(parse_syscall(""), None);
    }

    #[test]
    fn a_signed_return_address_is_compared_without_its_signature() {
        // Address spaces of 48 and of 39 bits.
        for (address, high) in [(0xffff_8f5c_1234, 0xffff_f000_0000), (0x43_8000_1234, 0x7f_ff00_0000)] {
            assert_eq!(without_signature(address, high), address);
            assert_eq!(without_signature(address | 0x2a35 << 49, high), address);
        }
        assert_eq!(without_signature(0x43_8000_1234 | 0x2a35 << 39, 0x7f_ff00_0000), 0x43_8000_1234);
    }

    #[test]
    fn a_waiting_thread_is_only_in_the_code_it_returns_to() {
        let (sender, receiver) = channel();
        let (end, wait) = channel::<()>();
        let before = Ticks::now();
        let waiting = thread::spawn(move || {
            sender.send((kernel::own_tid(), kernel::own_handle())).expect("the receiver is alive");
            wait.recv().is_err()
        });
        let (tid, handle) = receiver.recv().expect("it runs");
        assert_eq!(record_of(tid), Some(handle));
        let here = ranges_around(a_waiting_thread_is_only_in_the_code_it_returns_to as *const () as usize);
        let nowhere = [0xdead_beef_0000..0xdead_beef_0001_usize, 0xdead_beef_0002..0xdead_beef_0003];
        let found = loop {
            let thread = others().into_iter().find(|thread| thread.tid == tid).expect("it runs");
            assert!(thread.runs_code() && !thread.is_older_than(before));
            let found = inspect(&thread, &[&here, &nowhere]);
            if found.positions != [Position::Unknown; 2] {
                break found;
            }
        };
        assert_eq!(found.positions, [Position::Inside, Position::Outside]);
        if cfg!(target_arch = "x86_64") {
            let start = found.start.expect("the C library keeps it");
            assert!(here.iter().any(|range| range.contains(&start)), "{start:#x} is of the standard library");
        }
        drop(end);
        assert!(waiting.join().expect("it ends"));
    }
}
