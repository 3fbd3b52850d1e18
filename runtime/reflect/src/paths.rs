//! Paths of objects: `/World/<outer>/<name>`, from the outermost object to the object itself. A soft reference stores the path of its
//! object. A lookup takes constant time per component of the path. A rename or move of an object changes its path, and the paths of all
//! objects inside the object. If a reload renames the property of a default subobject, the earlier path also resolves to the subobject. The
//! earlier path of a class default object resolves to the class default object of the renamed class.
//!
//! Names in a path may contain any character. `/` is escaped as `%2F`, and `%` as `%25`.

use std::borrow::Cow;

use alcedo_abi::value::LazyRaw;
use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;

use crate::convert::Paths;
use crate::naming::DEFAULT_PREFIX;
use crate::natives::World;
use crate::objects::place::RenameError;

const ROOT: &str = "/World/";

impl World {
    /// Returns the path of an object. Returns `None` if the object or one of its outers does not exist.
    pub fn path_of(&self, object: ObjectHandle) -> Option<String> {
        let mut parts = vec![self.0.objects.name(object)?];
        let mut at = self.0.objects.outer(object)?;
        while !at.is_none() {
            parts.push(self.0.objects.name(at)?);
            at = self.0.objects.outer(at)?;
        }
        let mut path = String::from(&ROOT[..ROOT.len() - 1]);
        for part in parts.iter().rev() {
            path.push('/');
            path.push_str(&escape(&self.0.names.text(*part)));
        }
        Some(path)
    }

    /// Returns the object at a path. Returns `None` if the path is malformed or no object has this path. During a reload, several objects
    /// in one outer may share a name. The function then returns the latest object. A default subobject is also found by an earlier name of
    /// its property, and a class default object by an earlier name of its class.
    pub fn object_at(&self, path: &str) -> Option<ObjectHandle> {
        self.object_in(ObjectHandle::NONE, path.strip_prefix(ROOT)?)
    }

    /// Variant of [`World::object_at`] for a path that begins inside `outer`.
    fn object_in(&self, outer: ObjectHandle, path: &str) -> Option<ObjectHandle> {
        let step = |outer, part| {
            let name = unescape(part)?;
            self.0.objects.find(outer, &name).or_else(|| match outer.is_none() {
                true => self.renamed_default(&name),
                false => self.renamed_part(outer, &name),
            })
        };
        path.split('/').try_fold(outer, step)
    }

    /// Returns the default subobject whose property has an earlier or later name `name`.
    #[cold]
    fn renamed_part(&self, owner: ObjectHandle, name: &str) -> Option<ObjectHandle> {
        // Skips the search for the names if the owner has no default subobject.
        if self.0.objects.parts(owner).is_empty() {
            return None;
        }
        let class = self.0.objects.class(owner)?;
        let names = self.0.types.names_of_member(class.lineage().map(|class| &*class.path), name);
        names.iter().find_map(|name| self.0.objects.subobject(owner, name))
    }

    /// Returns the class default object whose name would be `name` if its class had an earlier or later name.
    #[cold]
    fn renamed_default(&self, name: &str) -> Option<ObjectHandle> {
        let class = self.0.types.renamed_class(name.strip_prefix(DEFAULT_PREFIX)?)?;
        Some(class.cdo.get()).filter(|cdo| self.0.objects.is_alive(*cdo))
    }

    /// Renames an object, moves the object to a new outer, or both. If `name` is empty, the object keeps its name. If `outer` is `NONE`,
    /// the object keeps its outer, unless this outer was destroyed. If `outer` is the object itself, removes the object from its outer.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object or `outer` does not exist. Other errors contain the reason from [`RenameError`].
    pub fn rename(&self, object: ObjectHandle, name: &str, outer: ObjectHandle) -> Result<(), CallError> {
        let stale = CallError::Stale { handle: object };
        let now = self.0.objects.name(object).ok_or(stale)?;
        let now = self.0.names.text(now);
        let name = if name.is_empty() { &now } else { name };
        let outer = match outer {
            ObjectHandle::NONE => self.outer_of(object).unwrap_or_default(),
            itself if itself == object => ObjectHandle::NONE,
            other => other,
        };
        self.0.objects.rename(object, name, outer).map_err(|error| match error {
            RenameError::Stale { handle } => CallError::Stale { handle },
            other => CallError::other(other.to_string()),
        })
    }
}

impl crate::World {
    /// Returns the path of a class default object or of an object inside it: the path of the class, followed by the names of the objects
    /// inside. The paths from [`World::path_of`] are equal for classes of one name in two packages. Returns `None` for all other objects.
    pub fn template_path(&self, object: ObjectHandle) -> Option<String> {
        let outer = |object: &ObjectHandle| self.objects.outer(*object).filter(|outer| !outer.is_none());
        let root = std::iter::successors(Some(object), outer).last()?;
        let class = self.objects.class(root).filter(|class| class.cdo.get() == root)?;
        let path = self.path_of(object)?;
        let inside = path.strip_prefix(ROOT)?.find('/').map_or("", |at| &path[ROOT.len() + at..]);
        Some(format!("{}{inside}", class.path))
    }

    /// Returns the object at a path from [`Self::template_path`]. Earlier names of the class and of subobjects are also found.
    pub fn template_at(&self, path: &str) -> Option<ObjectHandle> {
        // The path of a class contains two slashes.
        let end = path.match_indices('/').nth(2).map_or(path.len(), |(at, _)| at);
        let (class, inside) = path.split_at(end);
        let cdo = Some(self.types.class_by_path(class)?.cdo.get()).filter(|cdo| !cdo.is_none())?;
        inside.strip_prefix('/').map_or(Some(cdo), |inside| self.object_in(cdo, inside))
    }
}

impl Paths for crate::World {
    fn path_of(&self, object: ObjectHandle) -> Option<String> {
        World::path_of(self, object)
    }

    fn object_at(&self, path: &str) -> Option<ObjectHandle> {
        World::object_at(self, path)
    }

    fn id_of(&self, object: ObjectHandle) -> Result<LazyRaw, CallError> {
        self.lazy.sweep(|object| self.objects.is_alive(object) || self.objects.is_in_shadow());
        if self.objects.is_alive(object) { self.lazy.id_of(object) } else { Err(CallError::Stale { handle: object }) }
    }

    fn object_with_id(&self, id: LazyRaw) -> Option<ObjectHandle> {
        self.lazy.object(id).filter(|object| self.objects.is_alive(*object))
    }

    fn names_of_member(&self, owners: &mut dyn Iterator<Item = &str>, name: &str) -> Vec<String> {
        self.types.names_of_member(owners, name)
    }
}

/// Escapes a name as a component of a path.
fn escape(name: &str) -> Cow<'_, str> {
    if name.contains(['/', '%']) { name.replace('%', "%25").replace('/', "%2F").into() } else { name.into() }
}

/// Decodes the name in a component of a path. Returns `None` if the component is malformed.
fn unescape(part: &str) -> Option<Cow<'_, str>> {
    if part.is_empty() {
        return None;
    }
    if !part.contains('%') {
        return Some(part.into());
    }
    let mut pieces = part.split('%');
    let mut name = pieces.next()?.to_owned();
    for piece in pieces {
        match piece.split_at_checked(2)? {
            ("25", rest) => name.extend(["%", rest]),
            ("2F", rest) => name.extend(["/", rest]),
            _ => return None,
        }
    }
    Some(name.into())
}

#[cfg(test)]
mod tests {
    use alcedo_base::handles::ObjectHandle;

    use super::{escape, unescape};
    use crate::World;
    use crate::decl::ClassDecl;
    use crate::object_flags;
    use crate::origin::Origin;
    use crate::testing::{declare, dynamic, world};

    /// Creates a world, and creates an object for each path in order.
    fn check(paths: &[&str]) -> (World, Vec<ObjectHandle>) {
        let world = world();
        let class = declare(&world, [dynamic("Node", "/Script/Engine.Object", &[])]).remove(0);
        let made = paths.iter().map(|path| {
            let (outer, name) = path.rsplit_once('/').unwrap();
            let outer = world.object_at(outer).unwrap_or(ObjectHandle::NONE);
            let name = world.names.intern(&unescape(name).unwrap());
            let object = world.objects.allocate(&class, Some(name), outer, 0);
            assert_eq!(world.path_of(object).as_deref(), Some(*path));
            object
        });
        let made = made.collect();
        (world, made)
    }

    #[test]
    fn a_path_resolves_to_its_object() {
        let paths = ["/World/a", "/World/a/b", "/World/a/b/c", "/World/b", "/World/50%25 off%2Fon"];
        let (world, objects) = check(&paths);
        for (path, object) in paths.iter().zip(objects) {
            assert_eq!(world.object_at(path), Some(object), "{path}");
        }
    }

    #[test]
    fn malformed_paths_resolve_to_none() {
        let (world, _) = check(&["/World/a", "/World/a/b"]);
        for path in
            ["", "/", "/World", "/World/", "a", "/World/a/", "/World//a", "/World/b", "/World/a/%", "/World/%41"]
        {
            assert_eq!(world.object_at(path), None, "{path}");
        }
    }

    #[test]
    fn another_name_is_another_path() {
        let (world, objects) = check(&["/World/a", "/World/a/b"]);
        assert!(world.objects.rename(objects[0], "z", ObjectHandle::NONE).is_ok());
        assert_eq!(world.path_of(objects[1]).as_deref(), Some("/World/z/b"));
        assert_eq!((world.object_at("/World/a/b"), world.object_at("/World/z/b")), (None, Some(objects[1])));
    }

    #[test]
    fn an_earlier_name_resolves_to_the_renamed_subobject() {
        let (world, objects) = check(&["/World/a"]);
        let owner = objects[0];
        let class = world.objects.class(owner).unwrap();
        let body =
            world.objects.allocate_part(&class, world.objects.part_name("body"), owner, object_flags::SUBOBJECT, 0);
        assert_eq!((world.object_at("/World/a/body"), world.object_at("/World/a/mesh")), (Some(body), None));
        world.types.redirect("/Script/Game.Node:mesh", "/Script/Game.Node:body");
        assert_eq!(world.object_at("/World/a/mesh"), Some(body));
        assert_eq!((world.object_at("/World/a/leg"), world.object_at("/World/mesh")), (None, None));
    }

    #[test]
    fn an_earlier_class_name_resolves_to_the_class_default_object() {
        let (world, objects) = check(&["/World/a"]);
        let class = world.objects.class(objects[0]).unwrap();
        let cdo = world.objects.allocate(&class, Some(world.names.intern("Default__Node")), ObjectHandle::NONE, 0);
        class.cdo.set(cdo);
        assert_eq!(world.object_at("/World/Default__Leaf"), None);
        world.types.redirect("/Script/Game.Leaf", "/Script/Game.Node");
        assert_eq!(world.object_at("/World/Default__Leaf"), Some(cdo));
        assert_eq!((world.object_at("/World/Leaf"), world.object_at("/World/a/Default__Leaf")), (None, None));
    }

    #[test]
    fn classes_of_one_name_have_different_template_paths() {
        let world = world();
        let templates = |package: &str| {
            let class = ClassDecl::new(package, "Node", "/Script/Engine.Object", Origin::Native);
            let class = declare(&world, [class]).remove(0);
            let name = Some(world.names.intern("Default__Node"));
            let cdo = world.objects.allocate(&class, name, ObjectHandle::NONE, object_flags::CDO);
            class.cdo.set(cdo);
            let part = world.objects.part_name("body");
            [cdo, world.objects.allocate_part(&class, part, cdo, object_flags::SUBOBJECT, 0)]
        };
        let templates = [templates("Test"), templates("Game")].concat();
        let paths = ["/Script/Test.Node", "/Script/Test.Node/body", "/Script/Game.Node", "/Script/Game.Node/body"];
        for (path, object) in paths.into_iter().zip(templates) {
            assert_eq!((world.template_path(object).as_deref(), world.template_at(path)), (Some(path), Some(object)));
        }
    }

    #[test]
    fn an_object_whose_outer_was_destroyed_has_none_and_can_be_renamed() {
        let (world, objects) = check(&["/World/a", "/World/a/b"]);
        assert_eq!(world.outer_of(objects[1]), Some(objects[0]));
        assert!(world.objects.release(objects[0]));
        assert_eq!(world.outer_of(objects[1]), None);
        world.rename(objects[1], "c", ObjectHandle::NONE).expect("the object is alive");
        assert_eq!(world.object_at("/World/c"), Some(objects[1]));
    }

    #[test]
    fn a_reused_name_resolves_to_its_new_object() {
        let (world, objects) = check(&["/World/a"]);
        assert!(world.objects.release(objects[0]));
        assert_eq!(world.object_at("/World/a"), None);
        assert_eq!(world.path_of(objects[0]), None);
        let class = world.types.class_by_path("/Script/Game.Node").unwrap();
        let name = world.names.find("a");
        let second = world.objects.allocate(&class, name, ObjectHandle::NONE, 0);
        assert_eq!(world.object_at("/World/a"), Some(second));
    }

    #[test]
    fn names_round_trip_through_paths() {
        for name in ["a", "%", "/", "%2F", "a/b%c", "%%//"] {
            assert_eq!(unescape(&escape(name)).as_deref(), Some(name));
        }
    }
}
