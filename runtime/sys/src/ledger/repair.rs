//! Repairs: each takes back one sort of thing that images leave in the process. A platform has one table of repairs, each in a file of
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
/// hold a function; other variables are read as a rule.
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

/// Checks if an image with this import may leave an unreported address for which these repairs have no row.
pub(crate) fn is_unrepaired(import: &str, repairs: &[Repair]) -> bool {
    let needed = UNREPORTED.iter().find(|(name, _)| *name == import);
    needed.is_some_and(|(_, needed)| repairs.iter().all(|repair| repair.name != *needed))
}

/// A repair, by the moments of an image's life in their order. [`Repair::NONE`] fills in the moments at which it does nothing.
#[derive(Clone, Copy)]
pub(crate) struct Repair {
    /// The thing left, as reports name it.
    pub(crate) name: &'static str,
    /// Runs before an image is mapped.
    pub(crate) before: fn(),
    /// Runs when the image has been mapped, after its initialisers.
    pub(crate) is_mapped: fn(&Arc<Ledger>, &Mapping),
    /// Adds its numbers.
    pub(crate) counts: fn(&Ledger, &mut LedgerCounts),
    /// Lists holders of the image.
    pub(crate) holders: fn(&Ledger, &mut Vec<Holder>),
    /// Runs when the image is about to end, before it closes anything.
    pub(crate) ends: fn(&Ledger),
    /// Adds facts that decide on the next step of its ending.
    pub(crate) facts: fn(&Ledger, &mut Facts),
    /// Does a step, and notes in the report what that was.
    pub(crate) act: fn(&Ledger, Step, &mut EndReport),
    /// Finds a reference into the image from outside, after the last fact. Costs more than the facts.
    pub(crate) outside: fn(&Ledger) -> Option<Holder>,
    /// Leads elsewhere, or takes back, what can be: just before the image is closed. The function checks if an address is in the
    /// image or its memory, or is that of a stream which it has made.
    pub(crate) put_right: fn(&Ledger, &dyn Fn(usize) -> bool, &mut EndReport),
    /// Searches memory for references to the image, if the policy wants that; returns them with the blocks of the C heap that
    /// are in use. The path is that of its copy.
    pub(crate) look: fn(&Ledger, ReferenceSearch, &Path) -> Option<Looked>,
    /// Runs right before the image is closed.
    pub(crate) leaves: fn(&Ledger),
    /// Takes back the rest when the image is gone.
    pub(crate) free: fn(&Gone<'_>, &mut EndReport),
}

/// What a search found, and the blocks of the C heap that are in use.
pub(crate) type Looked = (Look, HashSet<usize>);

#[cfg(all(target_os = "linux", target_env = "gnu"))]
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
        act: |_, _, _| (),
        outside: |_| None,
        put_right: |_, _, _| (),
        look: |_, _, _| None,
        leaves: |_| (),
        free: |_, _| (),
    };
}

/// An image that is gone. What is on its records belongs to nothing any more.
#[cfg_attr(
    not(all(target_os = "linux", target_env = "gnu")),
    expect(dead_code, reason = "read by repairs, of which other platforms have none")
)]
pub(crate) struct Gone<'a> {
    pub(crate) image: &'a Ledger,
    pub(crate) policy: &'a EndPolicy,
    /// Blocks of its C heap that were found in use.
    pub(crate) kept: &'a HashSet<usize>,
}

impl<'a> Gone<'a> {
    /// # Safety
    ///
    /// The image of this ledger was seen to be unmapped, and the setter of the policy vouches for its rules about blocks
    /// and descriptors.
    pub(crate) unsafe fn new(image: &'a Ledger, policy: &'a EndPolicy, kept: &'a HashSet<usize>) -> Self {
        Self { image, policy, kept }
    }
}
