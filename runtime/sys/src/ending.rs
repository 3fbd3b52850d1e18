//! The ending of an image, step by step: its destructors run, its threads are waited for, and only when nothing can
//! lead into its code any more is it closed, looked for, and what it has left behind given back.
//!
//! An ending is asked again and again and never blocks for long, so a host may go on meanwhile.
#![expect(unsafe_code, reason = "closes images and calls a function of theirs")]

use std::collections::HashSet;
use std::fmt;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::crash;
use crate::end_report::{EndPolicy, EndReport};
use crate::imp::Mapping;
use crate::ledger::plan::Step;
use crate::ledger::repair::Gone;
use crate::ledger::{Holder, HolderKind, Ledger};
use crate::stage::StagedFile;

/// How often a single look may act before it says that it still waits: code that makes new work for ever is a holder
/// like any other.
const MOST_STEPS: u32 = 64;

/// So long at least, and at most, from one look through memory to the next.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
const LONGEST_BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// An image that is about to go. Any thread may ask, one at a time.
///
/// Dropping it leaves the image mapped, as [`Ending::park`] does.
#[must_use = "an ending goes on only when it is asked"]
pub struct Ending {
    parts: Option<(Mapping, StagedFile)>,
    path: PathBuf,
    share: LedgerShare,
    policy: EndPolicy,
    begun: Instant,
    report: EndReport,
    /// What the last look found.
    references: Vec<Holder>,
    /// When to look again; none for at once.
    next_look: Option<Instant>,
    /// Blocks of the C heap that the last look found in use.
    blocks_in_use: HashSet<usize>,
    over: Option<EndState>,
}

/// How far an ending has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EndState {
    /// Other code must act first: these keep the image, longest first.
    Waiting(Vec<Holder>),
    /// The image was looked for and is not in this process any more.
    Gone(EndReport),
    /// It is still mapped and stays so until the process ends.
    Parked {
        /// The copy it was mapped from, which is no longer there as a file.
        path: PathBuf,
        /// Why it is still there, in words.
        reason: String,
        /// What was done until then.
        report: EndReport,
    },
}

/// A share of a ledger that leaks unless the image is gone: code that stays mapped may use its word at any time.
#[derive(Debug)]
pub(crate) struct LedgerShare(Option<ManuallyDrop<Arc<Ledger>>>);

impl LedgerShare {
    pub(crate) fn new(ledger: Option<Arc<Ledger>>) -> Self {
        Self(ledger.map(ManuallyDrop::new))
    }

    pub(crate) fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.0.as_deref()
    }

    /// The image is gone, or was never there.
    pub(crate) fn give_back(&mut self) {
        drop(self.0.take().map(ManuallyDrop::into_inner));
    }
}

impl Ending {
    /// # Safety
    ///
    /// As for [`Image::begin_end`](crate::Image::begin_end).
    pub(crate) unsafe fn new(mapping: Mapping, staged: StagedFile, share: LedgerShare, policy: EndPolicy) -> Self {
        if let Some(ledger) = share.ledger() {
            ledger.begin_ending();
        }
        let (path, begun) = (staged.path().to_owned(), Instant::now());
        Self {
            parts: Some((mapping, staged)),
            path,
            share,
            policy,
            begun,
            report: EndReport::default(),
            references: Vec::new(),
            next_look: None,
            blocks_in_use: HashSet::new(),
            over: None,
        }
    }

    /// The copy from which the image was mapped.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The ledger of the image, unless it has none.
    pub fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.share.ledger()
    }

    /// Does what can be done now. Destructors, exit handlers and finalisers of the image run on the calling thread.
    /// Once the answer is not [`EndState::Waiting`], it stays the same.
    pub fn poll(&mut self) -> EndState {
        loop {
            if let Some(over) = &self.over {
                return over.clone();
            }
            match self.advance() {
                Ok(()) => {}
                Err(holders) if self.begun.elapsed() < self.policy.grace => {
                    drop(holders);
                    thread::sleep(Duration::from_micros(200));
                }
                Err(holders) => return EndState::Waiting(holders),
            }
        }
    }

    /// Leaves the image mapped for good, with everything that is its own; says who kept it.
    pub fn park(mut self) -> EndState {
        if self.over.is_none() {
            let holders = self.holders();
            let reason = if holders.is_empty() {
                "it was left mapped on purpose".to_owned()
            } else {
                let names: Vec<_> = holders.iter().map(ToString::to_string).collect();
                format!("it is still in use: {}", names.join("; "))
            };
            self.settle_parked(reason);
        }
        self.poll()
    }

    /// Who keeps the image now, longest first.
    pub fn holders(&self) -> Vec<Holder> {
        let Some(ledger) = self.share.ledger() else { return Vec::new() };
        let mut holders = ledger.holders();
        holders.extend(self.references.iter().cloned());
        holders
    }

    /// Acts until the ending is over; the error is who must act first.
    fn advance(&mut self) -> Result<(), Vec<Holder>> {
        let mut may_evict = self.policy.evict.is_some_and(|after| self.begun.elapsed() >= after);
        for _ in 0..MOST_STEPS {
            let ledger = self.share.ledger().map(Arc::clone);
            let step = match &ledger {
                Some(ledger) => ledger.facts(may_evict).next(),
                None => Step::Close,
            };
            match (step, &ledger) {
                (Step::Close, Some(ledger)) if self.is_led_to(ledger) => break,
                (Step::Close, _) => {
                    self.close();
                    return Ok(());
                }
                (Step::Wait | Step::Free, _) | (_, None) => break,
                (step, Some(ledger)) => {
                    may_evict &= step != Step::Evict;
                    ledger.act(step, &mut self.report);
                }
            }
        }
        Err(self.holders())
    }

    /// Whether anything that stays leads to the image when all that can be undone is undone. Found so, it is looked for
    /// again after a while that grows with what a look costs.
    fn is_led_to(&mut self, ledger: &Ledger) -> bool {
        ledger.put_right(&mut self.report);
        if self.next_look.is_some_and(|next| Instant::now() < next) {
            return true;
        }
        let Some((look, blocks_in_use)) = ledger.look(self.policy.look, &self.path) else { return false };
        tracing::debug!(image = ledger.label(), ?look, "memory was looked through");
        self.report.looks += 1;
        self.report.look_took += look.took;
        self.blocks_in_use = blocks_in_use;
        let now = Instant::now();
        let since = self.references.first().map_or(now, |reference| reference.since);
        let holder = |name: String| Holder::new(HolderKind::Reference, name, since);
        self.references = look.found.iter().map(|reference| holder(reference.to_string())).collect();
        if look.is_cut_short && self.references.is_empty() {
            let (blocks, mebibytes) = (look.blocks, look.block_bytes >> 20);
            self.references.push(holder(format!(
                "memory of libraries, searched only in part ({blocks} blocks, {mebibytes} MiB, {:.1} s): a callback \
                 into the plugin may be in the rest; end what the library keeps in the exit hook, or let the host \
                 set `look_for_references` to `Never`",
                look.took.as_secs_f64()
            )));
        }
        self.next_look = Some(now + (look.took * 20).clamp(BETWEEN_LOOKS, LONGEST_BETWEEN_LOOKS));
        !self.references.is_empty()
    }

    fn close(&mut self) {
        let Some((mapping, staged)) = self.parts.take() else { return };
        let ledger = self.share.ledger().map(Arc::clone);
        if let Some(live_heap) = self.policy.live_heap {
            self.report.leaked_heap_bytes = live_heap();
        }
        if let Some(ledger) = &ledger {
            ledger.leaves();
        }
        // SAFETY: the caller that began this ending promised that the host uses nothing of the image, and the ledger
        // just said that nothing else leads into it.
        match unsafe { mapping.close(staged.path()) } {
            Ok(is_unmapped) => {
                crash::gone(staged.path());
                if let Some(ledger) = &ledger {
                    // SAFETY: the image was seen to be gone; the policy is that of the caller that began this ending.
                    let gone = unsafe { Gone::new(ledger, &self.policy, &self.blocks_in_use) };
                    ledger.free(&gone, &mut self.report);
                    ledger.finish_ending();
                }
                self.share.give_back();
                self.report.took = self.begun.elapsed();
                self.over = Some(EndState::Gone(self.report.clone()));
                // A reader of symbols may go on looking at the bytes of the file, which must then stay what they are.
                if is_unmapped {
                    staged.recycle();
                }
            }
            Err(reason) => {
                if let Some(ledger) = &ledger {
                    ledger.stays();
                }
                self.settle_parked(reason);
            }
        }
    }

    fn settle_parked(&mut self, reason: String) {
        tracing::warn!(path = %self.path.display(), reason, "an image stays mapped");
        if let Some(ledger) = self.share.ledger() {
            ledger.finish_ending();
            let counts = ledger.counts();
            self.report.thread_locals_run = counts.thread_locals_run;
            self.report.thread_locals_forgotten = counts.thread_locals_forgotten;
            self.report.threads_evicted = counts.threads_evicted;
        }
        self.report.took = self.begun.elapsed();
        let (path, report) = (self.path.clone(), self.report.clone());
        self.over = Some(EndState::Parked { path, reason, report });
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(ledger) = self.share.ledger() {
            ledger.finish_ending();
        }
    }
}

impl fmt::Debug for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ending").field("path", &self.path).field("over", &self.over).finish_non_exhaustive()
    }
}
