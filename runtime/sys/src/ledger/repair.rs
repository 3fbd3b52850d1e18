//! Repairs for resources that images leave in the process. Each repair handles one kind of resource in its own file, and each platform has
//! one table of repairs. If an image leaves a resource without a repair, the image stays mapped, and its report names the resource.
#![expect(unsafe_code, reason = "the creator promises that the image is unmapped")]

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::plan::{Facts, Step};
use super::{Holder, Ledger, LedgerCounts};
use crate::end_report::{EndPolicy, EndReport, ReferenceSearch};
use crate::imp::Mapping;
use crate::reference::SearchResult;

/// Names of the repairs for addresses that no hook reports.
pub(crate) const ENVIRONMENT: &str = "the environment, or a variable of the C library";
pub(crate) const CPP_LIBRARY: &str = "a handler or a stream of the C++ library";

/// Imports with which an image may store an address without calling a hook, each with the repair for such addresses. Lists only variables
/// that contain functions. Images usually only read all other variables of the C library.
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

/// Checks if an image can use this import to store an address without calling a hook, and no repair in `repairs` handles such an address.
pub(crate) fn is_unrepaired(import: &str, repairs: &[Repair]) -> bool {
    let needed = UNREPORTED.iter().find(|(name, _)| *name == import);
    needed.is_some_and(|(_, needed)| repairs.iter().all(|repair| repair.name != *needed))
}

/// Repair with callbacks in the order of an image's lifetime. [`Repair::NONE`] provides empty callbacks.
#[derive(Clone, Copy)]
pub(crate) struct Repair {
    /// Name of the resource in reports.
    pub(crate) name: &'static str,
    /// Called before an image is mapped.
    pub(crate) before: fn(),
    /// Called after the image was mapped and its initializers have run.
    pub(crate) is_mapped: fn(&Arc<Ledger>, &Mapping),
    /// Adds the resources of this kind that the image has registered to the counters.
    pub(crate) counts: fn(&Ledger, &mut LedgerCounts),
    /// Adds the resources of this kind that keep the image mapped to the list.
    pub(crate) holders: fn(&Ledger, &mut Vec<Holder>),
    /// Called when the ending of an image begins.
    pub(crate) ends: fn(&Ledger),
    /// Sets facts about the image that determine the next step of the ending.
    pub(crate) facts: fn(&Ledger, &mut Facts),
    /// Executes a step and records it in the report.
    pub(crate) act: fn(&Ledger, Step, &mut EndReport),
    /// Finds a reference to the image from outside. Called only when all other facts allow closing, because the search is expensive.
    pub(crate) outside: fn(&Ledger) -> Option<Holder>,
    /// Redirects or removes references directly before the image is closed. The predicate checks if an address is in the image, in its
    /// memory, or in a stream that the image created.
    pub(crate) redirect_references: fn(&Ledger, &dyn Fn(usize) -> bool, &mut EndReport),
    /// Searches memory for references to the image, if the policy requests this. Returns the references, and the blocks of the C heap in
    /// use. The argument `Path` is the path of the private copy.
    pub(crate) search: fn(&Ledger, ReferenceSearch, &Path) -> Option<FoundReferences>,
    /// Called right before the image is closed.
    pub(crate) before_close: fn(&Ledger),
    /// Frees the remaining resources after the image is unmapped.
    pub(crate) free: fn(&Gone<'_>, &mut EndReport),
}

/// Result of a search, with the used blocks of the C heap.
pub(crate) type FoundReferences = (SearchResult, HashSet<usize>);

#[cfg(all(target_os = "linux", target_env = "gnu"))]
impl Repair {
    /// Repair without any effect.
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
        redirect_references: |_, _, _| (),
        search: |_, _, _| None,
        before_close: |_| (),
        free: |_, _| (),
    };
}

/// Image that was verified to be unmapped. The resources in its ledger no longer have an owner.
pub(crate) struct Gone<'a> {
    image: &'a Ledger,
    policy: &'a EndPolicy,
    kept: &'a HashSet<usize>,
}

#[cfg_attr(
    not(all(target_os = "linux", target_env = "gnu")),
    expect(dead_code, reason = "read by repairs, which other platforms lack")
)]
impl<'a> Gone<'a> {
    /// # Safety
    ///
    /// The image of this ledger was verified to be unmapped, and the creator of the policy vouches that blocks and descriptors may be
    /// released as the policy states.
    pub(crate) unsafe fn new(image: &'a Ledger, policy: &'a EndPolicy, kept: &'a HashSet<usize>) -> Self {
        Self { image, policy, kept }
    }

    pub(crate) fn image(&self) -> &'a Ledger {
        self.image
    }

    pub(crate) fn policy(&self) -> &'a EndPolicy {
        self.policy
    }

    /// Returns the C heap blocks of the image that the last search found in use.
    pub(crate) fn kept(&self) -> &'a HashSet<usize> {
        self.kept
    }
}
