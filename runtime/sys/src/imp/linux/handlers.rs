//! Records of the signal handlers of images that are running: their threads and start times. Also detects handlers that exit by a jump.
//!
//! A handler that exits by `siglongjmp` never returns to the dispatcher, so the dispatcher cannot record the end of the handler. Each run
//! of the dispatcher therefore has a record with the position of the run on the stack. A jump out of this part of the stack ends the run.
//! The run also ends if its thread is later found outside of this part. The records are in a static table, because signal handlers must not
//! allocate.

use std::ffi::c_int;
use std::ops::Range;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, ptr};

use super::c::{kernel, library};
use super::signal_tables::release_table;
use super::stacks::parse_syscall;

/// Maximum number of concurrent runs with a record. Further runs are only counted.
const MOST: usize = 128;

/// Maximum distance in bytes above the interrupted frame that counts as the same stack.
const SAME_STACK: usize = 256 * 1024;

static RUNS: [Run; MOST] = [const { Run::new() }; MOST];

/// Number of records in use. If the number is zero, `jumps` returns early.
static RUN_COUNT: AtomicUsize = AtomicUsize::new(0);

static SERIAL: AtomicU32 = AtomicU32::new(0);

/// Record of one call of the dispatcher, during which the dispatcher calls handlers.
struct Run {
    /// Thread id in the lower half, serial number of the run in the upper half. The state is zero for a free record.
    state: AtomicU64,
    /// Address of the table of handlers that the run uses. Zero until the address is recorded.
    table: AtomicUsize,
    /// Ledger address of the image whose handler is running. Zero while no handler is running.
    owner: AtomicUsize,
    signal: AtomicI32,
    /// Start time in nanoseconds of the monotonic clock.
    since: AtomicU64,
    frame: FrameCell,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Frame {
    /// Address in the dispatcher's own frame. The frames of its handlers are below this address on the same stack.
    pub(super) top: usize,
    pub(super) interrupted: usize,
    /// Alternate stack of the thread. Empty if the thread has no alternate stack.
    pub(super) alternate: Range<usize>,
    /// `true` if the handler runs on the interrupted stack, although the dispatcher is on the alternate stack.
    pub(super) is_switched: bool,
}

/// Fields of a [`Frame`], with both ends of `alternate`.
struct FrameCell([AtomicUsize; 5]);

/// Record of a run, owned by its dispatcher.
pub(super) struct RunGuard {
    run: &'static Run,
    state: u64,
}

pub(super) struct Running {
    pub(super) owner: usize,
    pub(super) signal: c_int,
    pub(super) tid: i32,
    pub(super) since: Instant,
}

impl Frame {
    const NOWHERE: Self = Self { top: 0, interrupted: 0, alternate: 0..0, is_switched: false };

    /// Reads the position from the kernel's context of a signal, for a dispatcher with `top` in its frame.
    pub(super) fn of(context: &libc::ucontext_t, top: usize) -> Self {
        let (start, size) = (context.uc_stack.ss_sp.addr(), context.uc_stack.ss_size);
        let is_there = context.uc_stack.ss_flags & libc::SS_DISABLE == 0;
        let alternate = if is_there { start..start.saturating_add(size) } else { 0..0 };
        let [_, interrupted, ..] = kernel::interrupted_registers(context);
        Self { top, interrupted, alternate, is_switched: false }
    }

    fn is_on_alternate(&self) -> bool {
        self.alternate.contains(&self.top)
    }

    /// Checks if the thread was on a different stack when the signal switched it to the alternate stack.
    pub(super) fn has_come_to_alternate(&self) -> bool {
        self.is_on_alternate() && !self.alternate.contains(&self.interrupted)
    }

    /// Checks if a jump to a frame with this stack pointer leaves the handler.
    fn is_left_by_jump_to(&self, target: usize) -> bool {
        if self.is_switched {
            return target >= self.interrupted;
        }
        let is_on_same_stack = self.alternate.contains(&target) == self.is_on_alternate();
        !is_on_same_stack || target >= self.top
    }

    /// Checks if a thread with this stack pointer has certainly left the handler without a recorded jump. Returns `false` if the thread may
    /// have switched to its own stack.
    fn is_left_by_thread_at(&self, stack: usize) -> bool {
        let above = self.interrupted..self.interrupted.saturating_add(SAME_STACK);
        // An alternate stack may be located just above the thread's own stack.
        above.contains(&stack) && !self.alternate.contains(&stack)
    }

    /// Checks if the arrival of another signal (with frame `other`) shows that the thread has left the handler.
    fn is_left_by_arrival_of(&self, other: &Self) -> bool {
        // The kernel starts at the top of the alternate stack only if the thread is not on this stack yet.
        let restarted = self.is_on_alternate() && !self.is_switched && other.has_come_to_alternate();
        restarted && other.alternate == self.alternate || self.is_left_by_thread_at(other.interrupted)
    }
}

impl FrameCell {
    const fn new() -> Self {
        Self([const { AtomicUsize::new(0) }; 5])
    }

    fn store(&self, frame: &Frame) {
        let Frame { top, interrupted, alternate: Range { start, end }, is_switched } = *frame;
        let fields = [top, interrupted, start, end, usize::from(is_switched)];
        self.0.iter().zip(fields).for_each(|(cell, field)| cell.store(field, Ordering::SeqCst));
    }

    fn load(&self) -> Frame {
        let [top, interrupted, start, end, is_switched] = self.0.each_ref().map(|cell| cell.load(Ordering::SeqCst));
        Frame { top, interrupted, alternate: start..end, is_switched: is_switched != 0 }
    }

    fn set_switched(&self, is_switched: bool) {
        let [.., cell] = &self.0;
        cell.store(usize::from(is_switched), Ordering::SeqCst);
    }
}

impl Run {
    const fn new() -> Self {
        Self {
            state: AtomicU64::new(0),
            table: AtomicUsize::new(0),
            owner: AtomicUsize::new(0),
            signal: AtomicI32::new(0),
            since: AtomicU64::new(0),
            frame: FrameCell::new(),
        }
    }

    /// Frees the record. Returns the address of the table, which the caller must release. Returns `None` if the run has already ended.
    fn end(&self, state: u64) -> Option<usize> {
        let table = self.table.load(Ordering::SeqCst);
        self.state.compare_exchange(state, CHANGING, Ordering::SeqCst, Ordering::SeqCst).ok()?;
        self.table.store(0, Ordering::SeqCst);
        self.owner.store(0, Ordering::SeqCst);
        // Clears the frame. Otherwise, if an image is later mapped at the address of this stack, a memory scan would take the stored
        // frame for a reference.
        self.frame.store(&Frame::NOWHERE);
        self.state.store(0, Ordering::SeqCst);
        RUN_COUNT.fetch_sub(1, Ordering::SeqCst);
        Some(table)
    }
}

impl RunGuard {
    /// Records the table of handlers that this run uses. The thread that ends this run also releases the table.
    pub(super) fn reads(&self, table: usize) {
        self.run.table.store(table, Ordering::SeqCst);
    }

    /// Records that the dispatcher is about to call a handler of the image `owner`. If `is_switched` is `true`, the handler runs on the
    /// interrupted stack.
    pub(super) fn calls(&self, owner: usize, is_switched: bool) {
        self.run.frame.set_switched(is_switched);
        self.run.owner.store(owner, Ordering::SeqCst);
    }

    /// Ends the run when the dispatcher returns. Returns `false` if another thread has ended the run and released the table.
    pub(super) fn leave(&self) -> bool {
        self.run.end(self.state).is_some()
    }
}

/// State of a record that is changing: neither free nor assigned to a run.
const CHANGING: u64 = u64::MAX;

fn tid_of(state: u64) -> i32 {
    if state == CHANGING { 0 } else { state as u32 as i32 }
}

/// Adds a record for a new run of the dispatcher. Returns `None` if all records are in use.
pub(super) fn enter(signal: c_int, frame: &Frame) -> Option<RunGuard> {
    let tid = kernel::own_tid();
    end_where(|run, known| run == tid && known.is_left_by_arrival_of(frame));
    let run = RUNS.iter().find(|run| {
        let taken = run.state.compare_exchange(0, CHANGING, Ordering::SeqCst, Ordering::SeqCst);
        taken.is_ok()
    })?;
    RUN_COUNT.fetch_add(1, Ordering::SeqCst);
    run.frame.store(frame);
    run.signal.store(signal, Ordering::SeqCst);
    run.since.store(now(), Ordering::SeqCst);
    let serial = u64::from(SERIAL.fetch_add(1, Ordering::SeqCst) & 0x7fff_ffff);
    let state = serial << 32 | u64::from(tid as u32);
    run.state.store(state, Ordering::SeqCst);
    Some(RunGuard { run, state })
}

/// Ends the runs of the handlers that the calling thread is about to leave by a jump through this buffer.
pub(super) fn jumps(buffer: &JumpBuffer) {
    if is_any()
        && let Some(target) = target_of(buffer)
    {
        let tid = kernel::own_tid();
        end_where(|run, frame| run == tid && frame.is_left_by_jump_to(target));
    }
}

fn is_any() -> bool {
    RUN_COUNT.load(Ordering::SeqCst) != 0
}

/// Checks if a handler is running on the calling thread. The handler may have interrupted code that holds a lock or allocates memory, so it
/// must neither wait for a lock nor allocate. Async-signal-safe.
pub(super) fn is_running_here() -> bool {
    is_any() && {
        let tid = kernel::own_tid();
        RUNS.iter().any(|run| tid_of(run.state.load(Ordering::SeqCst)) == tid)
    }
}

/// Checks if the calling thread has a run for this signal that started with the context of `frame`, but at a different position. A new
/// signal with an equal context starts at an equal position. If `frame` is `None`, checks for any run for this signal. Async-signal-safe.
pub(super) fn is_nested(signal: c_int, frame: Option<&Frame>) -> bool {
    let tid = kernel::own_tid();
    RUNS.iter().any(|run| {
        let known = run.frame.load();
        let is_below = frame.is_none_or(|frame| known.interrupted == frame.interrupted && known.top != frame.top);
        is_below && tid_of(run.state.load(Ordering::SeqCst)) == tid && run.signal.load(Ordering::SeqCst) == signal
    })
}

/// Ends the runs for which `is_left` returns `true` for their thread and frame, and releases their tables. A later run that reuses a record
/// is not affected, because the state of the record then differs.
fn end_where(is_left: impl Fn(i32, &Frame) -> bool) {
    if !is_any() {
        return;
    }
    for run in &RUNS {
        let state = run.state.load(Ordering::SeqCst);
        if tid_of(state) != 0 && is_left(tid_of(state), &run.frame.load()) {
            run.end(state).into_iter().filter(|table| *table != 0).for_each(release_table);
        }
    }
}

/// Ends the runs whose thread has exited or has left the handler. Handlers must not call this function, because it reads files.
pub(super) fn end_abandoned() {
    end_where(|tid, frame| {
        !kernel::thread_exists(tid) || stack_of(tid).is_some_and(|stack| frame.is_left_by_thread_at(stack))
    });
}

pub(super) fn reading(table: usize) -> Vec<Running> {
    let found = RUNS.iter().filter_map(|run| {
        let state = run.state.load(Ordering::SeqCst);
        (tid_of(state) != 0 && run.table.load(Ordering::SeqCst) == table).then(|| Running {
            owner: run.owner.load(Ordering::SeqCst),
            signal: run.signal.load(Ordering::SeqCst),
            tid: tid_of(state),
            since: instant(run.since.load(Ordering::SeqCst)),
        })
    });
    found.collect()
}

/// Returns the stack pointer of a thread that waits in the kernel. Returns `None` for a running thread.
fn stack_of(tid: i32) -> Option<usize> {
    if tid == kernel::own_tid() {
        let here = 0_u8;
        return Some(ptr::from_ref(&here).addr());
    }
    let text = fs::read_to_string(format!("/proc/self/task/{tid}/syscall")).ok()?;
    parse_syscall(&text).map(|(stack, _next)| stack)
}

fn now() -> u64 {
    kernel::clock().as_nanos() as u64
}

fn instant(then: u64) -> Instant {
    let (here, age) = (Instant::now(), Duration::from_nanos(now().saturating_sub(then)));
    here.checked_sub(age).unwrap_or(here)
}

/// Returns the stack pointer stored in a `jmp_buf`. Returns `None` if the encoding of the pointer is unknown.
fn target_of(buffer: &JumpBuffer) -> Option<usize> {
    /// Index in glibc's buffer. The value is XORed with a per-thread word and rotated by 17 bits.
    const STACK: usize = 6;
    Some(buffer[STACK].rotate_right(17) ^ library::pointer_guard()?)
}

/// Known part of the buffer of `setjmp` and its variants.
pub(super) type JumpBuffer = [usize; 8];

#[cfg(test)]
mod tests {
    use super::{Frame, SAME_STACK};

    /// Returns a frame on the stack of the thread, interrupted at 10_000.
    fn plain() -> Frame {
        Frame { top: 9_000, interrupted: 10_000, alternate: 0..0, is_switched: false }
    }

    fn alternate() -> Frame {
        Frame { top: 1_900, interrupted: 10_000, alternate: 1_000..2_000, is_switched: false }
    }

    /// Returns a frame with the dispatcher on an alternate stack and the handler on the interrupted stack.
    fn switched() -> Frame {
        Frame { is_switched: true, ..alternate() }
    }

    #[test]
    fn only_jumps_out_of_a_handler_leave_it() {
        for (frame, target, expected) in [
            (plain(), 10_000, true),
            (plain(), 60_000, true),
            (plain(), 9_000, true),
            (plain(), 8_000, false),
            (alternate(), 10_000, true),
            (alternate(), 500, true),
            (alternate(), 1_500, false),
            (alternate(), 1_950, true),
            (switched(), 10_000, true),
            (switched(), 9_900, false),
            (switched(), 12_000, true),
        ] {
            assert_eq!(frame.is_left_by_jump_to(target), expected, "{frame:?} {target}");
        }
    }

    #[test]
    fn a_thread_above_its_interrupted_frame_has_left() {
        for frame in [plain(), alternate(), switched()] {
            assert!(frame.is_left_by_thread_at(10_000) && frame.is_left_by_thread_at(11_000), "{frame:?}");
            assert!(!frame.is_left_by_thread_at(9_999) && !frame.is_left_by_thread_at(1_500), "{frame:?}");
            assert!(!frame.is_left_by_thread_at(10_000 + SAME_STACK), "another stack: {frame:?}");
        }
        let just_above = Frame { top: 11_900, alternate: 11_000..12_000, ..plain() };
        assert!(!just_above.is_left_by_thread_at(11_500), "it is in the handler");
    }

    #[test]
    fn a_nested_signal_leaves_nothing_and_one_from_outside_does() {
        let nested = Frame { top: 7_000, interrupted: 8_000, ..plain() };
        assert!(!plain().is_left_by_arrival_of(&nested));
        let outside = Frame { top: 11_000, interrupted: 12_000, ..plain() };
        assert!(plain().is_left_by_arrival_of(&outside) && nested.is_left_by_arrival_of(&outside));
        let on_alternate = Frame { top: 1_200, interrupted: 1_300, ..alternate() };
        assert!(!alternate().is_left_by_arrival_of(&on_alternate));
        let deeper_than_before = Frame { interrupted: 5_000, ..alternate() };
        assert!(alternate().is_left_by_arrival_of(&deeper_than_before), "its frames are written over");
        assert!(!switched().is_left_by_arrival_of(&deeper_than_before), "it runs on the thread's own stack");
    }
}
