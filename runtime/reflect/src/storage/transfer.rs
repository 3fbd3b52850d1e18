//! Transfers the values of many bodies from an old layout to a new layout. The properties of both layouts are matched once. For each body,
//! a property then costs a comparison and a copy, without a lookup.

use std::rc::Rc;

use alcedo_base::boundary::CallError;

use super::{Location, Schema, View};
use crate::property::Property;

/// Rule for the transfer of one value. `from` is a property of the old layout, and `to` of the new layout. Both have equal types.
#[derive(Clone, Copy, Debug)]
pub enum Rule<P> {
    /// Copies the new default if the object's value equals the old default. Otherwise copies the object's value, and fails if this value
    /// equals the new default.
    #[expect(missing_docs, reason = "see the enum")]
    Follow { from: P, to: P },
    /// Copies the object's value. If `is_distinct` is set, the transfer fails for a value that equals the new default.
    #[expect(missing_docs, reason = "see the enum")]
    Own { from: P, to: P, is_distinct: bool },
    /// Copies the new default.
    #[expect(missing_docs, reason = "see the enum")]
    Default { to: P },
    /// Copies no value. The transfer fails if the value differs from the old default.
    #[expect(missing_docs, reason = "see the enum")]
    Gone { from: P },
}

/// Compiled rules for bodies of two layouts.
#[derive(Debug)]
pub struct Transfer {
    from: Rc<Schema>,
    to: Rc<Schema>,
    steps: Vec<Rule<Location>>,
}

impl Transfer {
    /// Compiles the rules.
    ///
    /// # Errors
    /// Returns [`CallError::Signature`] if a layout lacks a property, or the types of a rule differ.
    pub fn new<'p>(
        (old, new): (&Rc<Schema>, &Rc<Schema>),
        rules: impl IntoIterator<Item = Rule<&'p Property>>,
    ) -> Result<Self, CallError> {
        let step = |rule: Rule<&'p Property>| -> Result<_, CallError> {
            let (Rule::Follow { to: typed, .. }
            | Rule::Own { to: typed, .. }
            | Rule::Default { to: typed }
            | Rule::Gone { from: typed }) = rule;
            let ty = Rc::new(typed.ty.clone());
            let before = |property: &Property| Location::new(old, property, &ty);
            let after = |property: &Property| Location::new(new, property, &ty);
            Ok(match rule {
                Rule::Follow { from, to } => Rule::Follow { from: before(from)?, to: after(to)? },
                Rule::Own { from, to, is_distinct } => Rule::Own { from: before(from)?, to: after(to)?, is_distinct },
                Rule::Default { to } => Rule::Default { to: after(to)? },
                Rule::Gone { from } => Rule::Gone { from: before(from)? },
            })
        };
        let steps = rules.into_iter().map(step).collect::<Result<_, _>>()?;
        Ok(Self { from: Rc::clone(old), to: Rc::clone(new), steps })
    }

    /// Applies the rules to the object whose body is `own`, and writes the results to the body `target`. `old` and `new` contain the
    /// defaults of the two layouts. Fills `are_own` with one entry per rule: true if the result is the object's value, false if it is a
    /// default. Returns `false` if a rule fails, or if a body has an unexpected layout. `target` then has only some of the values.
    pub fn apply(
        &self,
        target: View<'_>,
        own: View<'_>,
        (old, new): (View<'_>, View<'_>),
        are_own: &mut Vec<bool>,
    ) -> bool {
        self.run(Some(target), own, (old, new), are_own)
    }

    /// Checks if the layouts share their memory pool, each value has equal offsets in both layouts, and the rules cover all
    /// values.
    pub fn is_in_place(&self) -> bool {
        let stays = |rule: &Rule<Location>| match rule {
            Rule::Follow { from, to } | Rule::Own { from, to, .. } => from.offset == to.offset,
            Rule::Default { .. } | Rule::Gone { .. } => false,
        };
        let is_complete = self.steps.len() == self.to.fields.len();
        is_complete && self.from.shares_pool(&self.to) && self.steps.iter().all(stays)
    }

    /// Checks if `old` and `new` have equal defaults for all values with the rule `Follow`.
    pub fn has_equal_defaults(&self, (old, new): (View<'_>, View<'_>)) -> bool {
        let equal = |rule: &Rule<Location>| match rule {
            Rule::Follow { from, to } => old.equal_at(from, new, to),
            _ => true,
        };
        old.is_of(&self.from) && new.is_of(&self.to) && self.steps.iter().all(equal)
    }

    /// Variant of [`Transfer::apply`] that compares the values of `own` with the defaults, but writes no values to a body.
    pub fn compare(&self, own: View<'_>, defaults: (View<'_>, View<'_>), are_own: &mut Vec<bool>) -> bool {
        self.run(None, own, defaults, are_own)
    }

    fn run(
        &self,
        target: Option<View<'_>>,
        own: View<'_>,
        (old, new): (View<'_>, View<'_>),
        are_own: &mut Vec<bool>,
    ) -> bool {
        are_own.clear();
        let (from, to) = (&*self.from, &*self.to);
        let are_sources = own.is_of(from) && old.is_of(from) && new.is_of(to);
        if !are_sources || target.is_some_and(|target| !target.is_of(to)) {
            return false;
        }
        let copy = |to: &Location, source: View<'_>, at: &Location| {
            if let Some(target) = target {
                let (to, from) = target.both_at(to, source, at);
                to.copy_from(from);
            }
        };
        for rule in &self.steps {
            let is_own = match rule {
                Rule::Follow { from, to } => {
                    let is_own = !own.equal_at(from, old, from);
                    if is_own && own.equal_at(from, new, to) {
                        return false;
                    }
                    let (source, at) = if is_own { (own, from) } else { (new, to) };
                    copy(to, source, at);
                    is_own
                }
                Rule::Own { from, to, is_distinct } => {
                    if *is_distinct && own.equal_at(from, new, to) {
                        return false;
                    }
                    copy(to, own, from);
                    true
                }
                Rule::Default { to } => {
                    copy(to, new, to);
                    false
                }
                Rule::Gone { from } if own.equal_at(from, old, from) => false,
                Rule::Gone { .. } => return false,
            };
            are_own.push(is_own);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::PropertyKind;

    use super::{Rule, Transfer};
    use crate::body::Body;
    use crate::decl::PropertyDecl;
    use crate::testing::{declare, dynamic, world};
    use crate::value::Value;

    fn body(properties: &[PropertyDecl]) -> Body {
        let class = declare(&world(), [dynamic("Cube", "/Script/Engine.Object", properties)]).remove(0);
        Body::new(&class)
    }

    #[test]
    fn a_default_is_followed_an_own_value_stays_and_an_ambiguous_one_is_left_to_the_caller() {
        let (size, label) = (PropertyDecl::new("s", PropertyKind::F64), PropertyDecl::new("l", PropertyKind::STRING));
        let old = body(&[size.clone(), label.clone()]);
        let new = body(&[label, PropertyDecl::new("added", PropertyKind::U64), size]);
        let (before, after) = (&old.class().properties, &new.class().properties);
        let schemas = (old.class().schema(), new.class().schema());
        let follow = |from: usize, to: usize| Rule::Follow { from: &*before[from], to: &*after[to] };
        let transfer = Transfer::new(schemas, [follow(0, 2), follow(1, 0), Rule::Default { to: &*after[1] }]);
        let transfer = transfer.expect("they match");
        let (own, target, mut are_own) = (Body::new(old.class()), Body::new(new.class()), Vec::new());
        own.view().set(&before[1], "mine".to_owned()).unwrap();
        new.view().set(&after[2], 2.5).unwrap();
        new.view().set(&after[1], 7_u64).unwrap();
        let defaults = (old.view(), new.view());
        assert!(transfer.apply(target.view(), own.view(), defaults, &mut are_own));
        assert_eq!(are_own, [false, true, false]);
        let values = after.iter().map(|property| target.view().read(property).unwrap()).collect::<Vec<_>>();
        assert_eq!(values, [Value::Text("mine".into()), Value::U64(7), Value::F64(2.5)]);
        own.view().set(&before[0], 2.5).unwrap();
        assert!(!transfer.apply(target.view(), own.view(), defaults, &mut are_own), "it is the new default");
        assert!(!transfer.apply(own.view(), own.view(), defaults, &mut are_own), "another layout");
        assert!(Transfer::new(schemas, [Rule::Gone { from: &*after[2] }]).is_err());
    }

    #[test]
    fn values_stay_in_place_only_in_one_layout_with_a_rule_for_each_value() {
        let world = world();
        let properties = [
            PropertyDecl::new("s", PropertyKind::F64),
            PropertyDecl::new("t", PropertyKind::F64),
            PropertyDecl::new("l", PropertyKind::STRING),
        ];
        let cube = || declare(&world, [dynamic("Cube", "/Script/Engine.Object", &properties)]).remove(0);
        let old = cube();
        world.types.begin_shadow();
        world.types.hide_in_shadow(["/Script/Game.Cube"]);
        let new = cube();
        let follow = |pairs: &[(usize, usize)]| {
            let rule =
                |(from, to): &(usize, usize)| Rule::Follow { from: &*old.properties[*from], to: &*new.properties[*to] };
            Transfer::new((old.schema(), new.schema()), pairs.iter().map(rule)).expect("they match")
        };
        assert!(!follow(&[(0, 1), (1, 0), (2, 2)]).is_in_place(), "two values are exchanged");
        assert!(!follow(&[(0, 0), (1, 1)]).is_in_place(), "a value has no rule");
        let transfer = follow(&[(0, 0), (1, 1), (2, 2)]);
        assert!(transfer.is_in_place());
        let (before, after, own, mut are_own) = (Body::new(&old), Body::new(&new), Body::new(&old), Vec::new());
        own.view().set(&old.properties[0], 2.5).unwrap();
        let defaults = (before.view(), after.view());
        assert!(transfer.has_equal_defaults(defaults) && transfer.compare(own.view(), defaults, &mut are_own));
        assert_eq!(are_own, [true, false, false]);
        after.view().set(&new.properties[2], "changed".to_owned()).unwrap();
        assert!(!transfer.has_equal_defaults(defaults));
    }
}
