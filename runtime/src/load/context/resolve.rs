//! Search order for the names of modules, types and functions. `search.rs` applies the order to modules, and `lookup.rs` to types and
//! functions. This file also checks that a found module satisfies a request.
//!
//! The order is: own modules, the resolver of the context, the Default, and the handlers in order of registration. The search ends at the
//! first module that is found, even if that module does not satisfy the request.

use semver::{Version, VersionReq};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Step {
    Own,
    Resolver,
    Default,
    Handler(usize),
    /// End of the search. The name is not found.
    NotFound,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Guidance {
    /// Set if the searching context is the Default. The step `Default` is then skipped.
    pub is_default: bool,
    pub has_resolver: bool,
    pub handlers: usize,
}

impl Guidance {
    /// Returns the guidance for a search without resolvers and handlers. The Master has no resolvers and no handlers. A lookup without a
    /// module name cannot call resolvers and handlers, because these functions search by module name.
    pub(super) fn of_modules_only(is_default: bool) -> Self {
        Self { is_default, has_resolver: false, handlers: 0 }
    }
}

/// Returns the next step of a search. `step` is the previous step, which has found no result.
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

/// Checks if a loaded module satisfies `range`. If a resolver has returned the module for this range, any version satisfies
/// the range. `*` matches any version, including pre-releases.
pub(super) fn will_do(found: &Version, range: &VersionReq, granted: &[VersionReq]) -> bool {
    *range == VersionReq::STAR || range.matches(found) || granted.contains(range)
}

/// Outcome of comparing a library file with the loaded module of the same name, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name {
    /// The context has no module with this name. The file is loaded.
    Free,
    /// The context has this build. The loaded module is used.
    Same,
    /// The context has a different build. The file is rejected.
    Occupied {
        /// Id of the loaded build.
        loaded: u128,
    },
}

/// Compares the requested build with the loaded build of this module name, if any. A context has at most one build per name.
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
    fn every_context_searches_in_the_documented_order() {
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
    fn names_without_a_module_are_searched_in_own_modules_and_the_default() {
        assert_eq!(order(Guidance::of_modules_only(false)), [Step::Own, Step::Default, Step::NotFound]);
        assert_eq!(order(Guidance::of_modules_only(true)), [Step::Own, Step::NotFound]);
    }

    #[test]
    fn a_search_that_found_nothing_remains_there() {
        let guidance = Guidance { is_default: false, has_resolver: true, handlers: 2 };
        assert_eq!(after(Step::NotFound, guidance), Step::NotFound);
    }

    #[test]
    fn a_version_is_accepted_by_its_range_or_a_resolver() {
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
