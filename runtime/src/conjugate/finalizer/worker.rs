//! Main loop of the finalizer thread: drops the parts of each batch in order, and passes marks and barriers.

use std::sync::Arc;
use std::time::Instant;

use alcedo_base::repeats::{Repeats, times};
use alcedo_sys::process::thread_number;
use crossbeam_channel::{Receiver, Sender};

use super::{Batch, Desk, FinalizerFailure, Message, Running, Shared};
use crate::boundary::CallError;
use crate::handles::{Generation, ModuleId};
use crate::sync::lock;
use crate::unheard;

/// Finalizer thread with one turn number. If a finalizer hangs, a new worker with the next turn number replaces this worker.
pub(super) struct Worker {
    inbox: Receiver<Message>,
    report: Sender<FinalizerFailure>,
    desk: Shared,
    turn: u64,
    /// Counts repeated failures in the log.
    failures: Repeats,
}

impl Worker {
    pub(super) fn new(inbox: Receiver<Message>, report: Sender<FinalizerFailure>, desk: Shared, turn: u64) -> Self {
        Self { inbox, report, desk, turn, failures: Repeats::new() }
    }

    pub(super) fn run(self) {
        {
            let mut desk = lock(&self.desk);
            // Stores the system id only if this thread was not replaced before its start.
            if desk.turn == self.turn {
                desk.number = thread_number();
            }
        }
        for message in &self.inbox {
            match message {
                Message::Finalize(batch) => {
                    if !self.finalize(batch) {
                        return;
                    }
                }
                Message::Mark(done) => {
                    let _sent = done.send(());
                }
                Message::Barrier(generation, ids, last, done) => {
                    if !self.begin(&"its thread-locals".into(), &"on this thread".into(), generation, &ids, 0) {
                        continue;
                    }
                    last();
                    let _sent = done.send(());
                    if !self.end() {
                        return;
                    }
                }
            }
        }
    }

    /// Records that the first finalizer of a batch begins to run. The batch has `left` parts. Returns `false` if the module of the batch
    /// was abandoned.
    fn begin(&self, class: &Arc<str>, module: &Arc<str>, generation: Generation, ids: &[ModuleId], left: u64) -> bool {
        let mut desk = lock(&self.desk);
        let (class, module) = (Arc::clone(class), Arc::clone(module));
        let may = ids.iter().all(|id| !desk.abandoned.contains(id));
        desk.begun += 1;
        desk.skipped += if may { 0 } else { left };
        let number = desk.begun;
        desk.running =
            may.then(|| Running { class, ids: ids.to_vec(), module, generation, since: Instant::now(), number, left });
        may
    }

    /// Records that the running finalizer has returned. Returns `false` if this thread was replaced.
    fn end(&self) -> bool {
        let mut desk = lock(&self.desk);
        let is_ours = desk.turn == self.turn;
        if is_ours {
            desk.running = None;
            desk.last_end = Some(Instant::now());
        }
        is_ours
    }

    /// Runs the finalizers of a batch. Returns `false` if this thread was replaced, because the module of the batch was abandoned.
    fn finalize(&self, batch: Batch) -> bool {
        let Batch { id, module, generation, classes, parts } = batch;
        let count = parts.len() as u64;
        let mut parts = parts.into_iter().map(|(at, part)| (&classes[at].1, part)).peekable();
        let Some((first, _)) = parts.peek() else { return true };
        if !self.begin(first, &module, generation, &[id], count) {
            return true;
        }
        while let Some((class, part)) = parts.next() {
            if let Err(error) = part.finalize() {
                self.note(class, &module, generation, error);
            }
            if !self.go_on(parts.peek().map(|(class, _)| *class)) {
                return false;
            }
        }
        true
    }

    /// Counts a dropped part, and records the class of the next part in the batch. Returns `false` if this thread was replaced.
    fn go_on(&self, next: Option<&Arc<str>>) -> bool {
        let mut desk = lock(&self.desk);
        let Desk { dropped, skipped, turn, running, last_end, begun, .. } = &mut *desk;
        *dropped += 1;
        if *turn != self.turn {
            // `abandon` has already counted this part as skipped, but the part is now dropped.
            *skipped -= 1;
            return false;
        }
        match (next, &mut *running) {
            (Some(class), Some(running)) => {
                *begun += 1;
                (running.number, running.since) = (*begun, Instant::now());
                running.left -= 1;
                if !Arc::ptr_eq(&running.class, class) {
                    running.class = Arc::clone(class);
                }
            }
            _ => {
                *running = None;
                *last_end = Some(Instant::now());
            }
        }
        true
    }

    fn note(&self, class: &Arc<str>, module: &Arc<str>, generation: Generation, error: CallError) {
        if let Some(count) = self.failures.note(generation.0, class) {
            let times = times(count);
            log!(ERROR, %module, %class, %error, "a finalizer failed{times}");
            unheard::print(&format_args!("a finalizer of {class} failed{times}: {error}"));
        }
        let _sent = self.report.send(FinalizerFailure { module: Arc::clone(module), generation, error });
    }
}
