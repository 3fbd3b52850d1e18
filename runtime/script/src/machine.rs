//! The machine: limits, counters, and error reports of scripts. The frames, the interpreter loop and the calls are in the modules
//! [`frames`](crate::frames), [`run`](crate::run) and [`call`](crate::call).

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::{Rc, Weak};

use alcedo_abi::stack::StackSpan;
use alcedo_base::boundary::{CallError, ScriptPlace};
use alcedo_base::handles::{ClassId, Name, ObjectHandle};
use alcedo_base::repeats::{Repeats, times};
use alcedo_reflect::collect::RootSource;
use alcedo_reflect::function::Function;
use alcedo_reflect::{World, held};
use rustc_hash::FxHashMap;

use crate::cost;
use crate::exec::{Instruction, Linked};
use crate::frames::Frames;
use crate::host::Host;
use crate::size;

/// Resource limits of scripts.
///
/// # Examples
/// ```
/// use alcedo_script::Limits;
///
/// let limits = Limits { depth: 100, rounds: 1_000_000, ..Limits::default() };
/// assert!(limits.depth < Limits::default().depth);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Maximum depth of nested script calls.
    pub depth: u32,
    /// Maximum number of nested entries from native or plugin code into scripts. These entries use the stack of the thread.
    pub entries: u32,
    /// Maximum number of rounds (loop iterations and calls) in one outermost call. This limit ends infinite loops. Log lines, and
    /// operations on a whole container or a long string, count as several rounds.
    pub rounds: u64,
    /// Size in bytes of the memory for all frames.
    pub memory: usize,
    /// Maximum size in bytes of one array, set, map or string. Memory that the elements own is not included.
    pub value: usize,
    /// Maximum total growth in bytes of all arrays, sets, maps, strings and names during one outermost script call. Includes growth in
    /// library and native code that the script calls. Some operations, such as a copy of a value, are checked only afterwards and may
    /// exceed this limit.
    pub values: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 1_000,
            entries: 64,
            rounds: 1_000_000_000,
            memory: 4 << 20,
            value: size::DEFAULT,
            values: size::DEFAULT_OF_ALL,
        }
    }
}

/// Interpreter of scripts. Each world has one machine. Must be used on the game thread only.
///
/// # Examples
/// ```
/// use alcedo_script::{Limits, Machine};
///
/// let machine = Machine::new(Limits::default());
/// assert!(!machine.is_running());
/// ```
pub struct Machine {
    pub(crate) limits: Limits,
    pub(crate) frames: Frames,
    pub(crate) entries: Cell<u32>,
    /// Address range of the thread stack on which scripts must run.
    pub(crate) stack: Cell<StackSpan>,
    pub(crate) rounds: Cell<u64>,
    /// Number of the current run. A run is one outermost call.
    pub(crate) run: Cell<u64>,
    /// Number of bytes that all values had allocated at the start of the run.
    pub(crate) base: Cell<usize>,
    /// Error of the last failed call whose return value is only a flag.
    pub(crate) failed: Cell<Option<CallError>>,
    /// Code of the functions. The key is the declaring class and the name of the function.
    pub(crate) code: RefCell<FxHashMap<(ClassId, Name), Weak<Linked>>>,
    pub(crate) host: RefCell<Option<Rc<dyn Host>>>,
    pub(crate) is_attached: Cell<bool>,
    /// Counts the repetitions of log messages at each location. The counts limit a message that repeats in each tick, which would otherwise
    /// fill the log.
    pub(crate) warned: Repeats,
}

impl Machine {
    /// Creates a machine without code.
    pub fn new(limits: Limits) -> Rc<Self> {
        Rc::new(Self {
            limits,
            frames: Frames::new(limits.memory, limits.depth),
            entries: Cell::new(0),
            stack: Cell::new(StackSpan::ANY),
            rounds: Cell::new(limits.rounds),
            run: Cell::new(0),
            base: Cell::new(0),
            failed: Cell::new(None),
            code: RefCell::default(),
            host: RefCell::default(),
            is_attached: Cell::new(false),
            warned: Repeats::new(),
        })
    }

    /// Restricts scripts to this stack. A script call on the stack of a coroutine could be suspended, and could then end before a call that
    /// began later. But frames must end in the reverse order of their creation.
    pub fn set_stack(&self, stack: StackSpan) {
        self.stack.set(stack);
    }

    /// Returns true while a script runs. A safe point must wait until the script has ended.
    pub fn is_running(&self) -> bool {
        self.frames.depth() != 0
    }

    /// Returns at most `most` running functions, innermost first.
    pub(crate) fn innermost(&self, most: usize) -> Vec<ScriptPlace> {
        let mut stack = Vec::new();
        self.frames.each(&mut |running| {
            if stack.len() >= most {
                return;
            }
            let begin = running.linked.instructions.as_ptr();
            let at = (running.next.addr() - begin.addr()) / size_of::<Instruction>();
            let line = running.linked.lines.get(at.saturating_sub(1)).copied().unwrap_or_default();
            let (function, file) = (running.linked.function.path.to_string(), running.linked.file.to_string());
            stack.push(ScriptPlace { function, file, line });
        });
        stack
    }

    /// Attaches the call stack of the script to an error.
    #[cold]
    pub(crate) fn in_script(&self, error: CallError) -> CallError {
        match error {
            CallError::InScript { .. } => error,
            error => CallError::InScript { error: Box::new(error), stack: self.innermost(usize::MAX) },
        }
    }

    /// Ends the nested broadcasts that contain a refused call, because a native function may ignore `error`. Returns `error`.
    #[cold]
    pub(crate) fn refused(&self, world: &World, error: CallError) -> CallError {
        world.broadcasts.end_nested(world.stack.position());
        error
    }

    /// Returns the error of a refused call, for which no frame or parameter block was allocated.
    #[cold]
    pub(crate) fn too_deep(&self, world: &World, function: &Function) -> CallError {
        self.refused(world, self.frames.too_deep(function.path.to_string()))
    }

    /// Allocates a zeroed parameter block of `size` bytes for a call of a function.
    ///
    /// # Errors
    /// Returns [`CallError::TooDeep`] if the memory of frames is exhausted.
    #[inline]
    pub(crate) fn block(&self, world: &World, size: usize, function: &Function) -> Result<*mut u8, CallError> {
        self.frames.take(size).ok_or_else(|| self.too_deep(world, function))
    }

    /// Resets the counters if no script is running.
    pub(crate) fn begin(&self) {
        if self.frames.depth() == 0 {
            cost::take();
            self.rounds.set(self.limits.rounds);
            self.run.set(self.run.get() + 1);
            self.base.set(held::bytes());
        }
    }

    /// Subtracts one round and the pending cost from the rounds that remain in this run.
    ///
    /// # Errors
    /// Returns an error if the remaining rounds are insufficient. After this error, no rounds remain.
    pub(crate) fn charge(&self) -> Result<(), CallError> {
        let left = self.rounds.get().checked_sub(cost::take().saturating_add(1));
        self.rounds.set(left.unwrap_or_default());
        left.map(drop).ok_or_else(|| self.runaway())
    }

    /// Returns the memory of an object. Returns null for no object or a destroyed object.
    #[inline]
    pub(crate) fn memory_of(&self, world: &World, object: ObjectHandle) -> *mut u8 {
        world.objects.memory(object).unwrap_or(std::ptr::null_mut())
    }

    #[cold]
    pub(crate) fn runaway(&self) -> CallError {
        CallError::other(format!(
            "the script made {} loop rounds and calls, where long operations and log lines count as several: it is treated \
             as a script that never ends, so reduce the work of one call",
            self.limits.rounds
        ))
    }

    /// Returns the found value. If no value was found, logs the problem.
    #[inline]
    pub(crate) fn found<T>(&self, found: Result<T, String>) -> Option<T> {
        found.map_err(|problem| self.warn(&problem)).ok()
    }

    /// Logs a problem, after which the script continues. A problem that recurs at one location is logged again only at its 10th, 100th,
    /// 1000th (and so on) occurrence, with the count.
    #[cold]
    pub(crate) fn warn(&self, message: &str) {
        cost::add(cost::LINE);
        let place = self.innermost(1).pop().map(|place| (place.function, place.file, place.line));
        let Some(count) = self.warned.note(0, &(place, message)) else { return };
        let mut stack: String = self.innermost(LOGGED).iter().map(|place| format!("\n    {place}")).collect();
        if let Some(more) = self.frames.depth().checked_sub(LOGGED).filter(|more| *more != 0) {
            stack.push_str(&format!("\n    … {more} more"));
        }
        alcedo_base::log!(target: "alcedo::script", WARN, "{message}{}{stack}", times(count));
    }
}

/// Maximum number of script calls that a log message lists.
const LOGGED: usize = 8;

impl RootSource for Machine {
    fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        self.frames.each_object(visit);
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("limits", &self.limits)
            .field("depth", &self.frames.depth())
            .finish_non_exhaustive()
    }
}
