//! The paths of objects: `/World/<outer>/<name>`, from the object that lies in nothing down to the one that is meant.
//! Soft references keep such a path, so it is found in about constant time: one look for each part of it. It says where
//! an object lies *now*; one that gets another name or outer has another path from then on.
//!
//! Names are any text, so a `/` in one is written `%2F`, and a `%` is written `%25`.

use std::borrow::Cow;

use alcedo_base::border::CallError;
use alcedo_base::handles::ObjectHandle;

use crate::World;
use crate::convert::Paths;
use crate::objects::place::RenameError;

const ROOT: &str = "/World/";

impl World {
    /// The path of an object; `None` when it is gone, or an object that it lies in.
    pub fn path_of(&self, object: ObjectHandle) -> Option<String> {
        let mut parts = vec![self.objects.name(object)?];
        let mut at = self.objects.outer(object)?;
        while !at.is_none() {
            parts.push(self.objects.name(at)?);
            at = self.objects.outer(at)?;
        }
        let mut path = String::from(&ROOT[..ROOT.len() - 1]);
        for part in parts.iter().rev() {
            path.push('/');
            path.push_str(&escape(&self.names.text(*part)));
        }
        Some(path)
    }

    /// The object at a path; `None` when there is none, or the text is no path. Where several objects of one outer have
    /// the same name, as while a reload has the old and the new of something, the last of them is meant.
    pub fn object_at(&self, path: &str) -> Option<ObjectHandle> {
        let parts = path.strip_prefix(ROOT)?.split('/');
        let step = |outer, part| self.objects.find(outer, &unescape(part)?);
        parts.into_iter().try_fold(ObjectHandle::NONE, step)
    }

    /// Gives an object another name, another place, or both: an empty name and no outer leave what is there. To lie in
    /// itself means to lie in nothing.
    ///
    /// # Errors
    /// [`CallError::Stale`] when one of the two is gone; otherwise the sentence says why it stays as it is.
    pub fn rename(&self, object: ObjectHandle, name: &str, outer: ObjectHandle) -> Result<(), CallError> {
        let stale = CallError::Stale { handle: object };
        let now = self.objects.name(object).ok_or(stale)?;
        let now = self.names.text(now);
        let name = if name.is_empty() { &now } else { name };
        let outer = match outer {
            ObjectHandle::NONE => self.objects.outer(object).unwrap_or_default(),
            itself if itself == object => ObjectHandle::NONE,
            other => other,
        };
        self.objects.rename(object, name, outer).map_err(|error| match error {
            RenameError::Stale { handle } => CallError::Stale { handle },
            other => CallError::other(other.to_string()),
        })
    }
}

impl Paths for World {
    fn path_of(&self, object: ObjectHandle) -> Option<String> {
        self.path_of(object)
    }

    fn object_at(&self, path: &str) -> Option<ObjectHandle> {
        self.object_at(path)
    }

    fn names_of_member(&self, owners: &mut dyn Iterator<Item = &str>, name: &str) -> Vec<String> {
        self.types.names_of_member(owners, name)
    }
}

/// A name as a part of a path.
fn escape(name: &str) -> Cow<'_, str> {
    if !name.contains(['/', '%']) {
        return name.into();
    }
    name.replace('%', "%25").replace('/', "%2F").into()
}

/// The name that a part of a path stands for; `None` for a part that is none.
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
    use crate::testing::{declare, dynamic, world};

    /// A world with objects of these paths, made in order.
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
    fn what_a_path_says_is_what_it_leads_to() {
        let paths = ["/World/a", "/World/a/b", "/World/a/b/c", "/World/b", "/World/50%25 off%2Fon"];
        let (world, objects) = check(&paths);
        for (path, object) in paths.iter().zip(objects) {
            assert_eq!(world.object_at(path), Some(object), "{path}");
        }
    }

    #[test]
    fn what_is_no_path_leads_nowhere() {
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
    fn a_name_that_is_free_again_leads_to_who_has_it_then() {
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
    fn every_name_is_the_same_after_a_way_through_a_path() {
        for name in ["a", "%", "/", "%2F", "a/b%c", "%%//"] {
            assert_eq!(unescape(&escape(name)).as_deref(), Some(name));
        }
    }
}
