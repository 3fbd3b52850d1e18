//! In which order a name is looked up, a module's, a type's or a function's, and what each answer means. This file
//! decides; `search` looks for modules, `lookup` for types and functions.
//!
//! Own modules, the context's resolver, the Default, the handlers in the order they came; the first answer wins, and an
//! answer that is wrong ends the search instead of being passed over.

use semver::{Version, VersionReq};

/// Where is searched next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Step {
    /// The modules the context has.
    Own,
    /// The resolver that was set for the context.
    Resolver,
    /// The modules of the Default.
    Default,
    /// A handler, by its place in the order.
    Handler(usize),
    /// Nowhere: the name is not found.
    NotFound,
}

/// What a context has to look with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Guidance {
    /// Whether this is the Default itself, which is not searched twice.
    pub is_default: bool,
    /// Whether a resolver was set.
    pub has_resolver: bool,
    /// How many handlers there are.
    pub handlers: usize,
}

impl Guidance {
    /// Of a context without resolver and handlers, as the Master is; and of what is looked up without the name of its
    /// module, since resolvers and handlers know modules by name and nothing else.
    pub(super) fn of_modules_only(is_default: bool) -> Self {
        Self { is_default, has_resolver: false, handlers: 0 }
    }
}

/// Where is searched after `step` had no answer.
pub(super) fn after(step: Step, guidance: Guidance) -> Step {
    let handler = |at: usize| if at < guidance.handlers { Step::Handler(at) } else { Step::NotFound };
    match step {
        Step::Own if guidance.has_resolver => Step::Resolver,
        Step::Own | Step::Resolver if !guidance.is_default => Step::Default,
        Step::Own | Step::Resolver | Step::Default => handler(0),
        Step::Handler(at) => handler(at + 1),
        Step::NotFound => Step::NotFound,
    }
}

/// Whether a module that is there will do for `range`. One that a resolver gave for this very range does, whatever its
/// version: the resolver has chosen it. `*` is any version, a pre-release as well.
pub(super) fn will_do(found: &Version, range: &VersionReq, granted: &[VersionReq]) -> bool {
    *range == VersionReq::STAR || range.matches(found) || granted.contains(range)
}

/// What a file means for a context that may have a module of its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name {
    /// It is not there: load the file.
    Free,
    /// The very build is there: that is the answer.
    Same,
    /// Another build is there: refuse the file.
    Occupied {
        /// The build that is there.
        loaded: u128,
    },
}

/// One name, one build.
pub(super) fn claim(loaded: Option<u128>, requested: u128) -> Name {
    match loaded {
        None => Name::Free,
        Some(loaded) if loaded == requested => Name::Same,
        Some(loaded) => Name::Occupied { loaded },
    }
}

#[cfg(test)]
mod tests {
    use super::{Guidance, Name, Step, after, claim, will_do};

    fn order(guidance: Guidance) -> Vec<Step> {
        let next = |step: &Step| (*step != Step::NotFound).then(|| after(*step, guidance));
        std::iter::successors(Some(Step::Own), next).collect()
    }

    #[test]
    fn every_context_asks_in_the_order_of_the_design() {
        for is_default in [false, true] {
            for has_resolver in [false, true] {
                for handlers in 0..4 {
                    let mut expected = vec![Step::Own];
                    expected.extend(has_resolver.then_some(Step::Resolver));
                    expected.extend((!is_default).then_some(Step::Default));
                    expected.extend((0..handlers).map(Step::Handler));
                    expected.push(Step::NotFound);
                    assert_eq!(order(Guidance { is_default, has_resolver, handlers }), expected);
                }
            }
        }
    }

    #[test]
    fn what_is_asked_for_without_its_module_is_looked_for_in_own_modules_and_in_the_default() {
        assert_eq!(order(Guidance::of_modules_only(false)), [Step::Own, Step::Default, Step::NotFound]);
        assert_eq!(order(Guidance::of_modules_only(true)), [Step::Own, Step::NotFound]);
    }

    #[test]
    fn a_search_that_found_nothing_stays_there() {
        let guidance = Guidance { is_default: false, has_resolver: true, handlers: 2 };
        assert_eq!(after(Step::NotFound, guidance), Step::NotFound);
    }

    #[test]
    fn a_version_does_when_the_range_or_a_resolver_says_so() {
        let check = |found: &str, range: &str, granted: &[&str], does: bool| {
            let granted: Vec<_> = granted.iter().map(|range| range.parse().expect("a range")).collect();
            let (found, range) = (found.parse().expect("a version"), range.parse().expect("a range"));
            assert_eq!(will_do(&found, &range, &granted), does, "{found} {range}");
        };
        check("1.2.0", "^1", &[], true);
        check("1.2.0", ">=1.3", &[], false);
        check("2.0.0", "^1", &[], false);
        check("1.2.0", ">=1.3", &[">=1.3"], true);
        check("1.2.0", ">=1.4", &[">=1.3"], false);
        check("1.2.0-beta", "*", &[], true);
        check("1.2.0-beta", "^1", &[], false);
    }

    #[test]
    fn one_name_has_one_build() {
        assert_eq!(claim(None, 1), Name::Free);
        assert_eq!(claim(Some(1), 1), Name::Same);
        assert_eq!(claim(Some(2), 1), Name::Occupied { loaded: 2 });
    }
}
