//! Which objects nobody needs. Marking only; the caller destroys what is found, in its own order.

use std::collections::HashSet;

use alcedo_abi::host::mode;

use crate::handles::ObjectHandle;
use crate::object::World;

/// The objects that cannot be reached from the root set, the CDOs of all classes, or `extra`, in order of creation. A
/// reference in a property is strong, also inside a struct; so is an object's hold on its subobjects, and a hold on its
/// outer. An outer does not hold what lies in it otherwise. At safe points only; runs no foreign code.
pub(crate) fn unreachable(world: &World, extra: &[ObjectHandle]) -> Vec<ObjectHandle> {
    let _marking = world.mode.enter(mode::MARKING);
    let mut open = world.objects.roots();
    open.extend(world.types.all_classes().iter().map(|class| class.cdo.get()));
    open.extend(extra);
    let mut reached = HashSet::new();
    while let Some(object) = open.pop() {
        if world.objects.is_alive(object) && reached.insert(object) {
            open.extend(world.objects.references(object));
        }
    }
    world.objects.alive().into_iter().filter(|object| !reached.contains(object)).collect()
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::PropertyKind;

    use super::unreachable;
    use crate::handles::ObjectHandle;
    use crate::object::World;
    use crate::object::class::Origin;
    use crate::object::decl::{Batch, PropertyDecl, StructDecl};
    use crate::object::testing::{declare, dynamic, world};
    use crate::object::value::Value;

    const OBJECT: &str = "/Script/Engine.Object";

    /// A world with objects 0 to 5, CDO first, and edges `from property to`.
    fn check(edges: &[(usize, &str, usize)], roots: &[usize], extra: &[usize], expected: &[usize]) {
        let world = world();
        let link = StructDecl {
            fields: vec![PropertyDecl::new("to", PropertyKind::OBJECT).of_type(OBJECT)],
            ..StructDecl::new("Game", "Link", Origin::Dynamic)
        };
        let node = dynamic(
            "Node",
            OBJECT,
            &[
                PropertyDecl::new("next", PropertyKind::OBJECT).of_type(OBJECT),
                PropertyDecl::new("link", PropertyKind::STRUCT).of_type("/Script/Game.Link"),
            ],
        );
        world.types.declare(&world.names, &Batch { structs: vec![link], classes: Vec::new() }).unwrap();
        let class = declare(&world, [node]).remove(0);
        let outers = edges.iter().filter(|(_, how, _)| *how == "outer");
        let outers: Vec<_> = outers.map(|(from, _, to)| (*from, *to)).collect();
        let mut objects: Vec<ObjectHandle> = Vec::new();
        for index in 0..6 {
            let outer =
                outers.iter().find(|(from, _)| *from == index).map_or(ObjectHandle::NONE, |(_, to)| objects[*to]);
            objects.push(world.objects.allocate(&world.names, &class, None, outer, 0));
        }
        class.cdo.set(objects[0]);
        edges.iter().for_each(|(from, how, to)| connect(&world, objects[*from], how, objects[*to]));
        roots.iter().for_each(|root| assert!(world.objects.add_root(objects[*root])));
        let extra: Vec<_> = extra.iter().map(|index| objects[*index]).collect();
        let expected: Vec<_> = expected.iter().map(|index| objects[*index]).collect();
        assert_eq!(unreachable(&world, &extra), expected);
    }

    fn connect(world: &World, from: ObjectHandle, how: &str, to: ObjectHandle) {
        match how {
            "next" => world.objects.write_value(from, "next", &Value::Object(to)).unwrap(),
            "link" => {
                let link = Value::Struct(vec![("to".into(), Value::Object(to))]);
                world.objects.write_value(from, "link", &link).unwrap();
            }
            "subobject" => world.objects.adopt(from, &"part".into(), to),
            _ => {}
        }
    }

    #[test]
    fn only_the_cdo_is_kept_when_nobody_holds_anything() {
        check(&[], &[], &[], &[1, 2, 3, 4, 5]);
    }

    #[test]
    fn references_hold_through_properties_structs_and_subobjects() {
        check(&[(1, "next", 2), (2, "link", 3), (3, "subobject", 4)], &[1], &[], &[5]);
        check(&[(0, "next", 5)], &[], &[], &[1, 2, 3, 4]);
        check(&[(5, "link", 1)], &[], &[5], &[2, 3, 4]);
    }

    #[test]
    fn an_object_holds_its_outer_and_not_the_other_way() {
        check(&[(2, "outer", 1)], &[2], &[], &[3, 4, 5]);
        check(&[(2, "outer", 1)], &[1], &[], &[2, 3, 4, 5]);
    }

    #[test]
    fn a_circle_that_nobody_holds_is_found() {
        check(&[(1, "next", 2), (2, "next", 1)], &[3], &[], &[1, 2, 4, 5]);
    }
}
