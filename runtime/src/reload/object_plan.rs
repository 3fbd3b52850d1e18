//! Decides how a reload treats the objects of one class. The decision depends only on the paths of classes.

use std::rc::Rc;

/// Class of living objects before the reload, with its base classes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Before {
    /// Path of the class. For dormant objects, the path of the missing class.
    pub path: Rc<str>,
    /// Paths of the dynamic base classes, base first.
    pub bases: Vec<Rc<str>>,
    pub native: Rc<str>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ObjectPlan {
    /// The objects receive the new layout and new plugin parts.
    Carried,
    /// The class has a new native base. The objects are constructed again under their handles.
    Reconstructed {
        /// Path of the native base of the new class.
        onto: Rc<str>,
    },
    /// The class is missing. The objects become dormant.
    Dormant {
        /// Path of the class that determines the body of the dormant objects.
        seen_as: Rc<str>,
    },
}

/// Returns the plan for the objects of a class. `native_of` returns the path of a class's nearest native class, or `None` if the class does
/// not exist after the reload.
///
/// A dormant object receives the body of its nearest existing base class with the same native class, so that the object is not constructed
/// again.
pub(crate) fn plan_objects(before: &Before, native_of: impl Fn(&str) -> Option<Rc<str>>) -> ObjectPlan {
    match native_of(&before.path) {
        Some(native) if native == before.native => ObjectPlan::Carried,
        Some(onto) => ObjectPlan::Reconstructed { onto },
        None => {
            let fits = |base: &&Rc<str>| native_of(base).is_some_and(|native| native == before.native);
            let seen_as = before.bases.iter().rev().find(fits).unwrap_or(&before.native);
            ObjectPlan::Dormant { seen_as: Rc::clone(seen_as) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Before, ObjectPlan, plan_objects};

    /// Chains begin with the native class. In `N A B`, class B is derived from class A, and class A is derived from the native class N.
    fn check(before: &str, after: &[&str], expected: &str) {
        let chain: Vec<_> = before.split_whitespace().collect();
        let (path, rest) = chain.split_last().expect("a class");
        let (native, bases) = rest.split_first().expect("a native class");
        let before = Before {
            path: (*path).into(),
            bases: bases.iter().map(|base| (*base).into()).collect(),
            native: (*native).into(),
        };
        let native_of = |path: &str| {
            let has = |chain: &&&str| chain.split_whitespace().skip(1).any(|class| class == path);
            after.iter().find(has).and_then(|chain| chain.split_whitespace().next()).map(Into::into)
        };
        let found = match plan_objects(&before, native_of) {
            ObjectPlan::Carried => "carried".to_owned(),
            ObjectPlan::Reconstructed { onto } => format!("reconstructed on {onto}"),
            ObjectPlan::Dormant { seen_as } => format!("dormant as {seen_as}"),
        };
        assert_eq!(found, expected, "{before:?} {after:?}");
    }

    #[test]
    fn an_unchanged_class_carries_its_objects() {
        check("N A", &["N A"], "carried");
        check("N A B", &["N B"], "carried");
        check("N A", &["N X A"], "carried");
    }

    #[test]
    fn objects_are_reconstructed_for_another_native_class() {
        check("N A", &["M A"], "reconstructed on M");
        check("N A B", &["N A", "M B"], "reconstructed on M");
    }

    #[test]
    fn objects_of_a_removed_class_are_dormant_as_their_nearest_base() {
        check("N A", &[], "dormant as N");
        check("N A B", &["N A"], "dormant as A");
        check("N A B C", &["N A"], "dormant as A");
        check("N A B C", &["N A B"], "dormant as B");
        check("N A B", &["M A"], "dormant as N");
        check("N A B C", &["N A", "M B"], "dormant as A");
    }
}
