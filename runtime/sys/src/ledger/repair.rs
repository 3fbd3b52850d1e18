//! What images leave in the process, and how each of it is put right. A platform has one table of repairs, each in a file of
//! its own. An image that leaves something for which its platform has no repair stays mapped, and its report names that.
#![expect(unsafe_code, reason = "its maker vouches for an image that is gone")]

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::plan::{Facts, Step};
use super::{Holder, Ledger, LedgerCounts};
use crate::end_report::{EndPolicy, EndReport, ReferenceSearch};
use crate::imp::Mapping;
use crate::reference::Look;

/// The names of repairs for what no hook reports.
pub(crate) const ENVIRONMENT: &str = "the environment, or a variable of the C library";
pub(crate) const CPP_LIBRARY: &str = "a handler or a stream of the C++ library";

/// Imports by which an image may leave an address without a hook, each with the repair for it. The variables are those that
/// hold a function; whoever imports another one reads it as a rule.
const UNREPORTED: [(&str, &str); 9] = [
    ("argp_program_version_hook", ENVIRONMENT),
    ("error_print_progname", ENVIRONMENT),
    ("obstack_alloc_failed_handler", ENVIRONMENT),
    ("putenv", ENVIRONMENT),
    ("_ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE", CPP_LIBRARY),
    ("_ZNSt9basic_iosIcSt11char_traitsIcEE5rdbufEPSt15basic_streambufIcS1_E", CPP_LIBRARY),
    ("_ZSt13set_terminatePFvvE", CPP_LIBRARY),
    ("_ZSt14set_unexpectedPFvvE", CPP_LIBRARY),
    ("_ZSt15set_new_handlerPFvvE", CPP_LIBRARY),
];

/// Whether an image with this import leaves what no hook reports and none of these repairs is for.
pub(crate) fn is_unrepaired(import: &str, repairs: &[Repair]) -> bool {
    let needed = UNREPORTED.iter().find(|(name, _)| *name == import);
    needed.is_some_and(|(_, needed)| repairs.iter().all(|repair| repair.name != *needed))
}

/// One thing that images leave, in the order of an image's life. Moments at which there is nothing to do are those of
/// [`Repair::NONE`].
#[derive(Clone, Copy)]
pub(crate) struct Repair {
    /// How reports name what is left.
    pub(crate) name: &'static str,
    /// An image is mapped next.
    pub(crate) before: fn(),
    /// It has been mapped, and its initialisers have run.
    pub(crate) is_mapped: fn(&Arc<Ledger>, &Mapping),
    /// How much is on record.
    pub(crate) counts: fn(&Ledger, &mut LedgerCounts),
    /// What keeps the image.
    pub(crate) holders: fn(&Ledger, &mut Vec<Holder>),
    /// It is about to end: what it is going to close can be seen for the last time.
    pub(crate) ends: fn(&Ledger),
    /// What decides on the next step of its ending.
    pub(crate) facts: fn(&Ledger, &mut Facts),
    /// Does a step; of how many things.
    pub(crate) act: fn(&Ledger, Step, &mut EndReport) -> u64,
    /// What leads into the image although nothing of its own does any more. Costs more than the facts.
    pub(crate) outside: fn(&Ledger) -> Option<Holder>,
    /// Leads elsewhere, or takes back, what can be: just before the image is closed.
    pub(crate) put_right: fn(&Ledger, &mut EndReport),
    /// Looks through memory for what still leads to the image, if the policy wants that: what was found, and which blocks of
    /// the C heap are in use. The path is that of its copy.
    pub(crate) look: fn(&Ledger, ReferenceSearch, &Path) -> Option<(Look, HashSet<usize>)>,
    /// The image is closed next.
    pub(crate) leaves: fn(&Ledger),
    /// The image is gone: gives back what it has left.
    pub(crate) free: fn(&Gone<'_>, &mut EndReport),
}

impl Repair {
    /// Does nothing at any moment.
    pub(crate) const NONE: Self = Self {
        name: "",
        before: || (),
        is_mapped: |_, _| (),
        counts: |_, _| (),
        holders: |_, _| (),
        ends: |_| (),
        facts: |_, _| (),
        act: |_, _, _| 0,
        outside: |_| None,
        put_right: |_, _| (),
        look: |_, _, _| None,
        leaves: |_| (),
        free: |_, _| (),
    };
}

/// An image that is gone. What is on its records belongs to nothing any more.
pub(crate) struct Gone<'a> {
    pub(crate) image: &'a Ledger,
    pub(crate) policy: &'a EndPolicy,
    /// Blocks of its C heap that were found in use.
    pub(crate) kept: &'a HashSet<usize>,
}

impl<'a> Gone<'a> {
    /// # Safety
    ///
    /// The image of this ledger was seen to be unmapped, and the setter of the policy vouches for what that says of its blocks
    /// and descriptors.
    pub(crate) unsafe fn new(image: &'a Ledger, policy: &'a EndPolicy, kept: &'a HashSet<usize>) -> Self {
        Self { image, policy, kept }
    }
}
