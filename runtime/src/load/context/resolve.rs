//! Search order for the names of modules, types and functions. `search.rs` applies the order to modules, and `lookup.rs` to types and
//! functions. This file also checks that a found module satisfies a request.
//!
//! The order is: own modules, the resolver of the context, the Default, and the handlers in order of registration. The search ends at the
//! first module that is found, even if that module does not satisfy the request.

use semver::{Version, VersionReq};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Own,
    Resolver,
    Default,
    Handler(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Guidance {
    /// Set if the searching context is the Default. The step `Default` is then skipped.
    pub is_default: bool,
    pub has_resolver: bool,
    pub handlers: usize,
}

/// Returns the steps of a search in order.
pub(super) fn steps(guidance: Guidance) -> impl Iterator<Item = Step> {
    let resolver = guidance.has_resolver.then_some(Step::Resolver);
    let default = (!guidance.is_default).then_some(Step::Default);
    [Step::Own].into_iter().chain(resolver).chain(default).chain((0..guidance.handlers).map(Step::Handler))
}

/// Checks if a loaded module satisfies `range`. If a resolver has returned the module for this range, any version satisfies
/// the range. `*` matches any version, including pre-releases.
pub(super) fn will_do(found: &Version, range: &VersionReq, granted: &[VersionReq]) -> bool {
    *range == VersionReq::STAR || range.matches(found) || granted.contains(range)
}

#[cfg(test)]
mod tests {
    use super::{Guidance, Step, steps, will_do};

    fn order(guidance: Guidance) -> Vec<Step> {
        steps(guidance).collect()
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
                    assert_eq!(order(Guidance { is_default, has_resolver, handlers }), expected);
                }
            }
        }
    }

    #[test]
    fn names_without_a_module_are_searched_in_own_modules_and_the_default() {
        assert_eq!(order(Guidance::default()), [Step::Own, Step::Default]);
        assert_eq!(order(Guidance { is_default: true, ..Guidance::default() }), [Step::Own]);
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
}
