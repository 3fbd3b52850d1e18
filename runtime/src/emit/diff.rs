//! Compares two builds of a class. Determines the source of each property value, and the subobjects to create and to destroy. Compares only
//! class declarations, and reads no values of objects.
//!
//! Type redirects are already applied to the paths and type names of the old build.

use std::collections::{HashMap, HashSet};

use crate::object::types::OldNames;

/// Name and type of a property, for the comparison of two builds. If signature and layout are equal, values have equal representations in
/// memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PropertyShape {
    /// Name of the property, unique in the class and its bases.
    pub name: String,
    /// Type as written in signatures, with the path of its struct or class.
    pub signature: String,
    /// Fingerprint of the structs and enums in the type. Zero if the type contains neither. Their fields and entries may change while their
    /// paths stay the same.
    pub layout: u64,
}

/// Declaration of a class in one build, reduced to the data that the comparison needs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ClassShape {
    /// Properties of the class and its bases.
    pub properties: Vec<PropertyShape>,
    /// Default subobjects of the class and its bases. Each entry contains the name of the property that refers to the subobject, and the
    /// class path of the subobject.
    pub subobjects: Vec<(String, String)>,
    /// Paths of the dynamic classes in the base chain, root first.
    pub bases: Vec<String>,
    /// Paths of the interfaces that the class or a base class implements.
    pub interfaces: Vec<String>,
}

/// Property of the old build whose values a property of the new build receives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Predecessor {
    /// Name in the old build. If the name differs from the new name, a redirect maps it to the new name.
    pub name: String,
    /// False if the type has changed. The value is converted if possible.
    pub has_same_type: bool,
}

/// All changes of a class between two builds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Difference {
    /// Predecessor of each property of the new build, in the order of the new build. A property without a predecessor receives its default.
    pub properties: Vec<Option<Predecessor>>,
    /// Properties of the old build that have no successor, in the order of the old build.
    pub removed: Vec<String>,
    /// Default subobjects that a reload must create, in the order of the new build. Each entry contains name and class path. If the class of
    /// a subobject has changed, the subobject is listed as removed and as added.
    pub added_subobjects: Vec<(String, String)>,
    /// Default subobjects that a reload must destroy, in the order of the old build. Each entry contains name and class path.
    pub removed_subobjects: Vec<(String, String)>,
    /// Paths of dynamic classes that were inserted into the base chain, root first.
    pub inserted_bases: Vec<String>,
    /// Paths of the interfaces that the class implements only in the old build, in the order of the old build.
    pub lost_interfaces: Vec<String>,
}

/// Compares two builds of one class. `redirects` map old member names to new names. The author declares redirects, because a
/// comparison cannot distinguish a renamed member from a removed and an added member.
///
/// A member with an unchanged name takes precedence over a redirect. Redirects are followed in both directions to the nearest name that the
/// new build uses. The reverse direction is necessary because an author may undo a rename. If several old members resolve to one name, the
/// member with the fewest redirects is used. If the numbers of redirects are equal, the order of `redirects` decides.
pub(crate) fn difference(old: &ClassShape, new: &ClassShape, redirects: &[(String, String)]) -> Difference {
    let (properties, removed) = property_diffs(&old.properties, &new.properties, redirects);
    let (added_subobjects, removed_subobjects) = subobject_diffs(&old.subobjects, &new.subobjects, redirects);
    let inserted_bases = new.bases.iter().filter(|base| !old.bases.contains(base)).cloned().collect();
    let lost_interfaces = old.interfaces.iter().filter(|path| !new.interfaces.contains(path)).cloned().collect();
    Difference { properties, removed, added_subobjects, removed_subobjects, inserted_bases, lost_interfaces }
}

fn property_diffs(
    old: &[PropertyShape],
    new: &[PropertyShape],
    redirects: &[(String, String)],
) -> (Vec<Option<Predecessor>>, Vec<String>) {
    let origins = origins(&names(old, |p| &p.name), &names(new, |p| &p.name), redirects);
    let predecessor = |property: &PropertyShape| {
        let from = &old[*origins.get(property.name.as_str())?];
        let has_same_type = from.signature == property.signature && from.layout == property.layout;
        Some(Predecessor { name: from.name.clone(), has_same_type })
    };
    let followed: HashSet<usize> = origins.values().copied().collect();
    let removed = old.iter().enumerate().filter(|(at, _)| !followed.contains(at));
    (new.iter().map(predecessor).collect(), removed.map(|(_, property)| property.name.clone()).collect())
}

type Subobjects = Vec<(String, String)>;

fn subobject_diffs(
    old: &[(String, String)],
    new: &[(String, String)],
    redirects: &[(String, String)],
) -> (Subobjects, Subobjects) {
    let origins = origins(&names(old, |(name, _)| name), &names(new, |(name, _)| name), redirects);
    let origin = |(name, class): &(String, String)| origins.get(&**name).copied().filter(|at| old[*at].1 == *class);
    let kept: HashSet<usize> = new.iter().filter_map(origin).collect();
    let added = new.iter().filter(|subobject| origin(subobject).is_none());
    let removed = old.iter().enumerate().filter(|(at, _)| !kept.contains(at));
    (added.cloned().collect(), removed.map(|(_, subobject)| subobject.clone()).collect())
}

fn names<T>(members: &[T], name: impl Fn(&T) -> &String) -> Vec<&str> {
    members.iter().map(|member| name(member).as_str()).collect()
}

/// Maps each new name to the index of the old name that redirects map to this new name. Omits new names without an old name.
fn origins<'n>(old: &[&'n str], new: &[&'n str], redirects: &'n [(String, String)]) -> HashMap<&'n str, usize> {
    let indexes: HashMap<&str, usize> = old.iter().enumerate().map(|(at, name)| (*name, at)).collect();
    let names = OldNames::new(redirects).resolve(new);
    let origin = |name: &str| names.of(name).iter().find_map(|known| indexes.get(known).copied());
    new.iter().filter_map(|name| Some((*name, origin(name)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::{ClassShape, Predecessor, PropertyShape, difference};

    fn pairs(text: &str) -> Vec<(String, String)> {
        let pair = |pair: &str| {
            let (left, right) = pair.split_once(':').expect("two halves");
            (left.to_owned(), right.to_owned())
        };
        text.split_whitespace().map(pair).collect()
    }

    /// Parses property declarations: `a:f64` has a plain type, and `a:S/7` has a struct type with the layout fingerprint 7.
    fn properties(text: &str) -> Vec<PropertyShape> {
        let shape = |(name, ty): (String, String)| {
            let (signature, layout) = ty.split_once('/').unwrap_or((&ty, "0"));
            PropertyShape { name, signature: signature.to_owned(), layout: layout.parse().expect("a number") }
        };
        pairs(text).into_iter().map(shape).collect()
    }

    /// Compares the formatted changes with `expected`: `a=` is carried, `a<b` renamed from `b`, `a~b` retyped from `b`, `a+` added,
    /// `a-` removed.
    fn check(old: &str, new: &str, redirects: &str, expected: &str) {
        let shape = |text| ClassShape { properties: properties(text), ..ClassShape::default() };
        let found = difference(&shape(old), &shape(new), &pairs(redirects));
        let diffs =
            properties(new).into_iter().zip(&found.properties).map(|(PropertyShape { name, .. }, from)| match from {
                Some(Predecessor { name: from, has_same_type: false }) => format!("{name}~{from}"),
                Some(Predecessor { name: from, .. }) if *from != name => format!("{name}<{from}"),
                Some(_) => format!("{name}="),
                None => format!("{name}+"),
            });
        let removed = found.removed.iter().map(|name| format!("{name}-"));
        assert_eq!(diffs.chain(removed).collect::<Vec<_>>().join(" "), expected, "{old} | {new} | {redirects}");
    }

    #[test]
    fn a_property_is_carried_retyped_added_or_removed() {
        check("", "", "", "");
        check("a:f64 b:i32", "b:i32 a:f64", "", "b= a=");
        check("a:f64", "a:f32", "", "a~a");
        check("a:f64 b:i32", "a:f64 c:i32", "", "a= c+ b-");
    }

    #[test]
    fn a_struct_of_another_layout_is_another_type() {
        check("a:S/7", "a:S/7", "", "a=");
        check("a:S/7", "a:S/8", "", "a~a");
    }

    #[test]
    fn a_redirect_renames() {
        check("a:f64", "b:f64", "a:b", "b<a");
        check("a:f64", "b:f32", "a:b", "b~a");
        check("a:f64", "c:f64", "a:b b:c", "c<a");
        check("a:f64", "a:f64 b:f64", "a:b", "a= b+");
        check("a:f64 b:f64", "b:f64", "a:b", "b= a-");
        check("a:f64 b:f64", "c:f64", "a:c b:c", "c<a b-");
        check("a:f64 b:f64", "c:f64", "b:c a:c", "c<b a-");
        check("a:f64 b:f64", "b:f64 c:f64", "a:b b:c", "b= c+ a-");
    }

    #[test]
    fn an_undo_resolves_a_chain_of_redirects_back() {
        check("b:f64", "a:f64", "a:b b:c", "a<b");
        check("c:f64", "b:f64", "a:b b:c", "b<c");
        check("c:f64", "a:f64", "a:b b:c", "a<c");
        check("c:f64", "a:f64 b:f64", "a:b b:c", "a+ b<c");
        check("c:f64", "a:f64 b:f64", "b:c a:c", "a+ b<c");
        // If redirects map two names to one name, the two names do not resolve to each other without a further redirect.
        check("b:f64", "a:f64", "a:c b:c", "a+ b-");
        check("b:f64", "a:f64", "a:c b:c a:b", "a<b");
        check("a:f64 b:f64", "b:f64 c:f64", "a:c a:b", "b= c<a");
    }

    /// Each redirect continues the chain of the previous redirect. Following the chain separately for each name would take quadratic time.
    #[test]
    fn a_chain_of_redirects_is_followed_once() {
        const ROW: usize = 100_000;
        let shape = |name: String| PropertyShape { name, signature: "u8".to_owned(), layout: 0 };
        let old = (0..ROW).map(|at| shape(format!("a{at}"))).collect();
        let redirects: Vec<_> = (0..ROW).map(|at| (format!("a{at}"), format!("a{}", at + 1))).collect();
        let old = ClassShape { properties: old, ..ClassShape::default() };
        let new = ClassShape { properties: vec![shape(format!("a{ROW}"))], ..ClassShape::default() };
        let found = difference(&old, &new, &redirects);
        assert_eq!(found.properties, [Some(Predecessor { name: format!("a{}", ROW - 1), has_same_type: true })]);
        assert_eq!(found.removed.len(), ROW - 1);
    }

    #[test]
    fn a_dangling_or_cyclic_redirect_does_nothing() {
        check("a:f64", "b:f64", "a:x", "b+ a-");
        check("a:f64", "b:f64", "a:x x:a", "b+ a-");
        check("a:f64", "b:f64", "a:a", "b+ a-");
        check("a:f64 b:i32", "a:f64 b:i32", "a:b b:a", "a= b=");
    }

    #[test]
    fn a_subobject_is_kept_added_or_removed() {
        let shape = |text| ClassShape { subobjects: pairs(text), ..ClassShape::default() };
        let found = difference(
            &shape("mesh:Scene light:Lamp old:Scene gone:Scene"),
            &shape("mesh:Scene light:Spot new:Scene more:Scene"),
            &pairs("old:new"),
        );
        assert_eq!(found.added_subobjects, pairs("light:Spot more:Scene"));
        assert_eq!(found.removed_subobjects, pairs("light:Lamp gone:Scene"));
    }

    #[test]
    fn an_interface_is_lost_if_neither_class_nor_base_implements_it() {
        let shape = |interfaces: &str| ClassShape {
            interfaces: interfaces.split_whitespace().map(str::to_owned).collect(),
            ..ClassShape::default()
        };
        let lost = |old, new| difference(&shape(old), &shape(new), &[]).lost_interfaces.join(" ");
        assert_eq!(lost("Heeds Sings", "Sings Heeds Hums"), "");
        assert_eq!(lost("Heeds Sings Hums", "Sings"), "Heeds Hums");
    }

    #[test]
    fn bases_are_compared_by_path() {
        let shape = |bases: &str| ClassShape {
            bases: bases.split_whitespace().map(str::to_owned).collect(),
            ..ClassShape::default()
        };
        assert!(difference(&shape("A"), &shape("A"), &[]).inserted_bases.is_empty());
        assert_eq!(difference(&shape("A B"), &shape("N A M"), &[]).inserted_bases, ["N", "M"]);
    }
}
