//! The finalizer thread: the only place where a red plugin half is dropped. Plugin code that runs here cannot reach
//! the engine; the host's functions refuse the thread.
#![expect(unsafe_code, reason = "runs the finalizers of modules, by function pointer, on another thread")]

use std::cell::RefCell;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use alcedo_abi::describe::PartHooks;
use crossbeam::channel::{Receiver, Sender, bounded, unbounded};

use crate::border::{CallError, from_module};
use crate::conjugate::pairs::Part;
use crate::handles::PartPtr;

/// A finalizer that failed: its part counts as dropped, and the host goes on.
#[derive(Clone, Debug)]
pub(crate) struct FinalizerFailure {
    /// The module whose code it is.
    pub module: Arc<str>,
    /// What happened.
    pub error: CallError,
}

struct Job {
    ptr: PartPtr,
    hooks: PartHooks,
    module: Arc<str>,
}

// SAFETY: the plugin's macro proves that the state behind `ptr` is `Send`; the host hands the part over and never
// uses it again.
unsafe impl Send for Job {}

enum Message {
    Finalize(Job),
    Barrier(Sender<()>),
}

/// The thread and the way to it. Parts are dropped in the order they are sent.
pub(crate) struct Finalizer {
    /// Parts that ended while plugin code was on the stack: a method of theirs may not have returned.
    waiting: RefCell<Vec<Part>>,
    jobs: Option<Sender<Message>>,
    failures: Receiver<FinalizerFailure>,
    thread: Option<JoinHandle<()>>,
}

impl Finalizer {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn start() -> std::io::Result<Self> {
        let (jobs, inbox) = unbounded();
        let (report, failures) = unbounded();
        let thread = std::thread::Builder::new().name("alcedo-finalizer".into()).spawn(move || run(&inbox, &report))?;
        Ok(Self { waiting: RefCell::default(), jobs: Some(jobs), failures, thread: Some(thread) })
    }

    /// Takes parts whose methods may still be on the stack; [`Finalizer::release`] hands them over.
    pub(crate) fn defer(&self, parts: Vec<Part>) {
        self.waiting.borrow_mut().extend(parts);
    }

    /// Hands the deferred parts over. The caller stands at a safe point: no method of theirs is on the stack.
    pub(crate) fn release(&self) {
        let waiting = self.waiting.take();
        self.finalize(waiting);
    }

    /// Hands parts over, derived before base. The caller must have ended their conjugate, and no method of theirs is on
    /// the stack.
    pub(crate) fn finalize(&self, parts: Vec<Part>) {
        for part in parts {
            let module = Arc::clone(&part.gate.tag().name);
            self.send(Message::Finalize(Job { ptr: part.ptr, hooks: part.hooks, module }));
        }
    }

    /// Waits until all that was handed over is dropped, calling `meanwhile` now and then.
    /// Returns whether it was done by the deadline.
    pub(crate) fn drain(&self, deadline: Duration, mut meanwhile: impl FnMut()) -> bool {
        let (done, wait) = bounded(1);
        self.send(Message::Barrier(done));
        let until = Instant::now() + deadline;
        loop {
            if wait.recv_timeout(Duration::from_millis(5)).is_ok() {
                return true;
            }
            meanwhile();
            if Instant::now() >= until {
                return false;
            }
        }
    }

    /// Failures since the last time.
    pub(crate) fn failures(&self) -> Vec<FinalizerFailure> {
        self.failures.try_iter().collect()
    }

    fn send(&self, message: Message) {
        if let Some(jobs) = &self.jobs {
            // The thread ends only when this sender is dropped, so the message has a receiver.
            let _sent = jobs.send(message);
        }
    }
}

impl Drop for Finalizer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

fn run(inbox: &Receiver<Message>, report: &Sender<FinalizerFailure>) {
    for message in inbox {
        match message {
            Message::Finalize(job) => {
                // SAFETY: the module is mapped until the drain after its last job, its shell traps its own panics,
                // and this part was made by it and is handed back once.
                let result = from_module(|failure| unsafe { (job.hooks.finalize)(job.ptr, failure) });
                if let Err(error) = result {
                    tracing::error!(module = %job.module, %error, "a finalizer failed");
                    let _sent = report.send(FinalizerFailure { module: job.module, error });
                }
            }
            Message::Barrier(done) => {
                let _sent = done.send(());
            }
        }
    }
}
