//! The machine: its limits, what it counts, and what it says of a script that fails. Frames are in [`frames`](crate::frames), the loop
//! over words is in [`run`](crate::run), calls are in [`call`](crate::call).

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::{Rc, Weak};

use alcedo_abi::stack::StackSpan;
use alcedo_base::border::{CallError, ScriptPlace};
use alcedo_base::handles::{ClassId, Name, ObjectHandle};
use alcedo_base::repeats::{Repeats, times};
use alcedo_reflect::collect::RootSource;
use alcedo_reflect::{World, held};
use rustc_hash::FxHashMap;

use crate::cost;
use crate::exec::{Linked, Word};
use crate::frames::Frames;
use crate::host::Host;
use crate::size;

/// How far scripts may go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How many calls of scripts may be inside each other.
    pub depth: u32,
    /// How many of these may be entered from native or plugin code: they take stack of the thread.
    pub entries: u32,
    /// How many rounds of loops and calls one entry from outside may take, before it counts as one that never ends. Operations
    /// that go over a container or a long text, and lines in the log, count as several.
    pub rounds: u64,
    /// Bytes for all frames.
    pub memory: usize,
    /// Bytes that one array, set, map or text may take, without those that its elements own in turn.
    pub value: usize,
    /// Bytes by which all arrays, sets, maps, texts and names together may grow from the outermost call of a script to its end, those
    /// of the library and of native code that it calls too. Between two looks at it a single copy may take more.
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

/// Runs scripts. One for a world; game thread only.
pub struct Machine {
    pub(crate) limits: Limits,
    pub(crate) frames: Frames,
    pub(crate) entries: Cell<u32>,
    /// The stack on which scripts run.
    pub(crate) stack: Cell<StackSpan>,
    pub(crate) rounds: Cell<u64>,
    /// The number of the run, which goes from the outermost call to its end.
    pub(crate) run: Cell<u64>,
    /// Bytes that values held when it began.
    pub(crate) base: Cell<usize>,
    /// What went wrong in a call that only says whether it went well.
    pub(crate) failed: Cell<Option<CallError>>,
    /// Code by the class that declares its function, and the name of that.
    pub(crate) code: RefCell<FxHashMap<(ClassId, Name), Weak<Linked>>>,
    pub(crate) host: RefCell<Option<Rc<dyn Host>>>,
    pub(crate) is_attached: Cell<bool>,
    /// What was told of each place: one in a tick would fill the log.
    pub(crate) warned: Repeats,
}

impl Machine {
    /// A machine without code.
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

    /// Restricts scripts to this stack: a coroutine could suspend a frame of theirs and close it out of order.
    pub fn set_stack(&self, stack: StackSpan) {
        self.stack.set(stack);
    }

    /// Whether any script runs: what a safe point has to wait for.
    pub fn is_running(&self) -> bool {
        self.frames.depth() != 0
    }

    /// The running functions, innermost first.
    fn stack(&self) -> Vec<ScriptPlace> {
        self.innermost(usize::MAX)
    }

    /// So many of the running functions, innermost first.
    fn innermost(&self, most: usize) -> Vec<ScriptPlace> {
        let mut stack = Vec::new();
        self.frames.each(&mut |running| {
            if stack.len() >= most {
                return;
            }
            let begin = running.linked.words.as_ptr();
            let at = (running.next.addr() - begin.addr()) / size_of::<Word>();
            let line = running.linked.lines.get(at.saturating_sub(1)).copied().unwrap_or_default();
            let (function, file) = (running.linked.function.path.to_string(), running.linked.file.to_string());
            stack.push(ScriptPlace { function, file, line });
        });
        stack
    }

    /// An error, with the calls that led there.
    #[cold]
    pub(crate) fn in_script(&self, error: CallError) -> CallError {
        match error {
            CallError::InScript { .. } => error,
            error => CallError::InScript { error: Box::new(error), stack: self.stack() },
        }
    }

    /// Begins to count rounds, where nothing runs yet.
    pub(crate) fn begin(&self) {
        if self.frames.depth() == 0 {
            cost::take();
            self.rounds.set(self.limits.rounds);
            self.run.set(self.run.get() + 1);
            self.base.set(held::bytes());
        }
    }

    /// Takes rounds, and those that are due, from what is left.
    ///
    /// # Errors
    /// When there are not so many left; none is left then.
    pub(crate) fn pay(&self, rounds: u64) -> Result<(), CallError> {
        let left = self.rounds.get().checked_sub(rounds.saturating_add(cost::take()));
        self.rounds.set(left.unwrap_or_default());
        left.map(drop).ok_or_else(|| self.runaway())
    }

    /// The memory of an object; null for none and for one that is gone.
    #[inline]
    pub(crate) fn memory_of(&self, world: &World, object: ObjectHandle) -> *mut u8 {
        world.objects.memory(object).unwrap_or(std::ptr::null_mut())
    }

    #[cold]
    pub(crate) fn runaway(&self) -> CallError {
        CallError::other(format!(
            "the script went round its loops, or called, {} times, where long operations and lines in the log count as several: it \
             counts as one that never ends, so let it do less at a time",
            self.limits.rounds
        ))
    }

    /// Tells the log what went wrong without ending the script: of one place the first time, and then how often.
    #[cold]
    pub(crate) fn warn(&self, message: &str) {
        cost::add(cost::LINE);
        let place = self.innermost(1).pop().map(|place| (place.function, place.file, place.line));
        let Some(count) = self.warned.note(0, &(place, message)) else { return };
        let mut stack: String = self.innermost(LOGGED).iter().map(|place| format!("\n    {place}")).collect();
        if let Some(more) = self.frames.depth().checked_sub(LOGGED).filter(|more| *more != 0) {
            stack.push_str(&format!("\n    … {more} more"));
        }
        tracing::warn!(target: "alcedo::script", "{message}{}{stack}", times(count));
    }
}

/// How many calls a line in the log names.
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
