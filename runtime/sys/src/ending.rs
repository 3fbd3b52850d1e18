//! Ends an image step by step. First, the destructors of the image run, and the ending waits for the threads of the image. When no code can
//! enter the image and no reference to its memory remains, the image is closed and verified to be unmapped. Finally, the resources that the
//! image left in the process are freed.
//!
//! An ending is polled repeatedly. Each poll returns quickly. The host runs between the polls.
#![expect(unsafe_code, reason = "closes images, and calls a function of the image")]

use std::collections::HashSet;
use std::fmt;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::crash;
use crate::end_report::{EndPolicy, EndReport};
use crate::imp::Mapping;
use crate::ledger::plan::Step;
use crate::ledger::repair::Gone;
use crate::ledger::{Holder, HolderKind, Ledger};
use crate::stage::StagedFile;

/// Maximum number of steps per poll. A destructor may register further destructors endlessly. After this number of steps, the poll reports
/// the pending destructors as holders of the image.
const MOST_STEPS: u32 = 64;

/// Minimum and maximum time between two memory scans for references to an image.
const SEARCH_INTERVAL: Duration = Duration::from_millis(20);
const LONGEST_SEARCH_INTERVAL: Duration = Duration::from_secs(1);

/// Ending of an image. Any thread may poll the ending, but only one thread at a time.
///
/// Dropping an ending leaves the image mapped, as [`Ending::park`] does.
#[must_use = "an ending progresses only when polled"]
pub struct Ending {
    parts: Option<(Mapping, StagedFile)>,
    path: PathBuf,
    share: LedgerShare,
    policy: EndPolicy,
    begun: Instant,
    report: EndReport,
    /// References found by the last search.
    references: Vec<Holder>,
    /// Time of the next search. `None` if the next search may run immediately.
    next_search: Option<Instant>,
    /// Blocks of the C heap that the last search found in use.
    blocks_in_use: HashSet<usize>,
    over: Option<EndState>,
}

/// State of an ending.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EndState {
    /// These resources keep the image mapped, oldest first. The ending waits until other code releases them.
    Waiting(Vec<Holder>),
    /// The image was verified to be unmapped.
    Gone(EndReport),
    /// The image stays mapped until the process exits.
    Parked {
        /// Path of the removed copy from which the image was mapped.
        path: PathBuf,
        /// Reason why the image stays mapped.
        reason: String,
        /// Findings and actions so far.
        report: EndReport,
    },
}

/// Reference to a ledger. Dropping this value leaks the reference, because code that stays mapped may use the ledger's address at any time.
#[derive(Debug)]
pub(crate) struct LedgerShare(Option<ManuallyDrop<Arc<Ledger>>>);

impl LedgerShare {
    pub(crate) fn new(ledger: Option<Arc<Ledger>>) -> Self {
        Self(ledger.map(ManuallyDrop::new))
    }

    pub(crate) fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.0.as_deref()
    }

    /// Releases the reference to the ledger. The image of the ledger must be unmapped, or must never have been mapped.
    pub(crate) fn release(&mut self) {
        drop(self.0.take().map(ManuallyDrop::into_inner));
    }
}

impl Ending {
    /// # Safety
    ///
    /// The requirements of [`Image::begin_end`](crate::Image::begin_end).
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
            next_search: None,
            blocks_in_use: HashSet::new(),
            over: None,
        }
    }

    /// Returns the path of the copy from which the image was mapped.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the ledger that the image was mapped with, if any.
    pub fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.share.ledger()
    }

    /// Executes all steps that are possible now. Destructors, exit handlers and finalizers of the image run on the calling thread. Every
    /// result except [`EndState::Waiting`] is final.
    pub fn poll(&mut self) -> EndState {
        loop {
            if let Some(over) = &self.over {
                return over.clone();
            }
            if let Err(holders) = self.advance() {
                return EndState::Waiting(holders);
            }
        }
    }

    /// Leaves the image and its resources in the process permanently. The reason in the result names the holders of the image.
    pub fn park(mut self) -> EndState {
        if self.over.is_none() {
            let holders = self.holders();
            let reason = if holders.is_empty() {
                "it was left mapped on purpose".to_owned()
            } else {
                let names: Vec<_> = holders.iter().map(ToString::to_string).collect();
                format!("it is still in use: {}", names.join("; "))
            };
            self.finish_parked(reason);
        }
        self.poll()
    }

    /// Returns the holders that keep the image mapped, oldest first.
    pub fn holders(&self) -> Vec<Holder> {
        let Some(ledger) = self.share.ledger() else { return Vec::new() };
        let mut holders = ledger.holders();
        holders.extend(self.references.iter().cloned());
        holders
    }

    /// Executes steps until the ending is over. The error contains the holders that prevent the next step. The ending can continue after
    /// these holders have released the image.
    fn advance(&mut self) -> Result<(), Vec<Holder>> {
        let mut may_evict = self.policy.evict.is_some_and(|after| self.begun.elapsed() >= after);
        let Some(ledger) = self.share.ledger().map(Arc::clone) else {
            self.close();
            return Ok(());
        };
        for _ in 0..MOST_STEPS {
            match ledger.facts(may_evict).next() {
                Step::Close if self.is_referenced(&ledger) => break,
                Step::Close => {
                    self.close();
                    return Ok(());
                }
                Step::Wait => break,
                step => {
                    may_evict &= step != Step::Evict;
                    ledger.act(step, &mut self.report);
                }
            }
        }
        Err(self.holders())
    }

    /// Redirects all references to the image that the repairs can redirect, and then searches for remaining references. If any remain,
    /// schedules the next search. The interval before it grows with the duration of the search.
    fn is_referenced(&mut self, ledger: &Ledger) -> bool {
        ledger.redirect_references(&mut self.report);
        if self.next_search.is_some_and(|next| Instant::now() < next) {
            return true;
        }
        let Some((result, blocks_in_use)) = ledger.search_memory(self.policy.search, &self.path) else { return false };
        log!(DEBUG, image = ledger.label(), search = ?result, "memory was scanned for references");
        self.report.searches += 1;
        self.report.search_time += result.elapsed;
        self.blocks_in_use = blocks_in_use;
        let now = Instant::now();
        let since = self.references.first().map_or(now, |reference| reference.since);
        let holder = |name: String| Holder::new(HolderKind::Reference, name, since);
        self.references = result.found.iter().map(|reference| holder(reference.to_string())).collect();
        if result.is_cut_short && self.references.is_empty() {
            let (blocks, mebibytes) = (result.blocks, result.block_bytes >> 20);
            self.references.push(holder(format!(
                "memory of libraries, searched only in part ({blocks} blocks, {mebibytes} MiB, {:.1} s): a callback \
                 into the plugin may be in the rest; end what the library keeps in the exit hook, or let the host \
                 set `search_references` to `Never`",
                result.elapsed.as_secs_f64()
            )));
        }
        self.next_search = Some(now + (result.elapsed * 20).clamp(SEARCH_INTERVAL, LONGEST_SEARCH_INTERVAL));
        !self.references.is_empty()
    }

    fn close(&mut self) {
        let Some((mapping, staged)) = self.parts.take() else {
            // An earlier call has panicked. The image may still be mapped.
            return self.finish_parked("a panic has interrupted its closing".to_owned());
        };
        let ledger = self.share.ledger().map(Arc::clone);
        if let Some(live_heap) = self.policy.live_heap {
            self.report.leaked_heap_bytes = live_heap();
        }
        if let Some(ledger) = &ledger {
            ledger.before_close();
        }
        // SAFETY: the caller that began this ending promised that the host does not use the image. The ledger has just reported that no
        // other code enters the image or refers to its memory.
        match unsafe { mapping.close(staged.path()) } {
            Ok(is_unmapped) => {
                crash::gone(staged.path());
                if let Some(ledger) = &ledger {
                    // SAFETY: the image was verified to be unmapped. The caller that began this ending vouches for the policy.
                    let gone = unsafe { Gone::new(ledger, &self.policy, &self.blocks_in_use) };
                    ledger.free(&gone, &mut self.report);
                    finish(ledger, &mut self.report);
                }
                self.share.release();
                self.report.elapsed = self.begun.elapsed();
                self.over = Some(EndState::Gone(self.report.clone()));
                // Reuses the copy only if no mapping of the file remains. A symbol reader may still have mapped the file, and mapped bytes
                // must not change.
                if is_unmapped {
                    staged.recycle();
                }
            }
            Err(reason) => {
                if let Some(ledger) = &ledger {
                    ledger.close_failed();
                }
                self.finish_parked(reason);
            }
        }
    }

    fn finish_parked(&mut self, reason: String) {
        log!(WARN, path = %self.path.display(), reason, "an image stays mapped");
        if let Some(ledger) = self.share.ledger() {
            finish(ledger, &mut self.report);
        }
        self.report.elapsed = self.begun.elapsed();
        let (path, report) = (self.path.clone(), self.report.clone());
        self.over = Some(EndState::Parked { path, reason, report });
    }
}

/// Stops checkpoints from running destructors of this ledger, and reports its counts of threads and thread-locals.
fn finish(ledger: &Ledger, report: &mut EndReport) {
    ledger.finish_ending();
    let counts = ledger.counts();
    report.thread_locals_run = counts.thread_locals_run;
    report.thread_locals_forgotten = counts.thread_locals_forgotten;
    report.threads_evicted = counts.threads_evicted;
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
