//! Checks the subobjects that defaults declare, and detects subobjects that contain each other without end.

use super::Checker;
use super::declare::Work;
use super::defaults::Place;
use super::symbols::{At, ClassSym};
use crate::ast::{DefaultLine, DefaultObject, Item};
use crate::diagnostic::Diagnostic;
use crate::hash::HashMap;
use crate::hir::{self, Path, Type};

/// Path of a contained class: the base of a class, or the class of a subobject. For a subobject, also contains the location of its
/// declaration.
type Contained = (Path, Option<At>);

/// Class on the current path of the search, with the index of the next contained class to visit.
struct Open {
    class: Path,
    contained: Vec<Contained>,
    next: usize,
}

impl<'a> Checker<'a> {
    pub(super) fn subobject_head(&self, object: &DefaultObject, file: usize, of: &str) -> Option<(String, Path)> {
        let name = object.name.as_ref()?;
        match &object.class {
            Some(class) => match self.type_named(std::slice::from_ref(class), file) {
                Some(Ok(Type::Object(path))) => Some((name.text.clone(), path)),
                _ => None,
            },
            None => self.find_subobject(of, &name.text),
        }
    }

    pub(super) fn subobject(&self, object: &DefaultObject, place: &Place<'_>) -> Option<hir::Subobject> {
        let at = (place.file, object.span);
        let Some(name) = &object.name else {
            let error = Diagnostic::error("uc-subobject", at, "this object has no name");
            self.report(error.hint("write `Begin Object Class=… Name=…`"));
            return None;
        };
        self.check_name(name, place.file);
        for (word, _) in &object.others {
            if !word.is("archetype") && !word.is("legacyclassname") && !word.is("objname") {
                let message = format!("`{}` has no effect on an object here", word.text);
                self.report(Diagnostic::error("uc-subobject", (place.file, word.span), message).warning());
            }
        }
        let inherited = object.class.is_none();
        // A new subobject becomes a member of the class, so its name must be unused.
        let members = self.chain(place.of);
        let is_object = |class: &ClassSym| class.subobjects.exact(&name.text).is_some();
        let member = members.iter().find(|class| class.declares(&name.text) || is_object(class));
        if let Some(class) = member.filter(|_| !inherited) {
            let message = format!("`{}` has a member `{}` already", class.name, name.text);
            let error = Diagnostic::error("uc-subobject", (place.file, name.span), message);
            let another = "give the object another name";
            let hint = if is_object(class) { "leave out `Class=…` to change that object" } else { another };
            self.report(error.hint(hint));
            return None;
        }
        let (declared, class) = match &object.class {
            Some(class) => (name.text.clone(), self.class_named(std::slice::from_ref(class), place.file).ok()?),
            None => self.find_subobject(place.of, &name.text).or_else(|| {
                if !self.is_broken(place.of) {
                    let message = format!("no class above has a subobject `{}`", name.text);
                    let error = Diagnostic::error("uc-subobject", (place.file, name.span), message);
                    self.report(error.hint("write `Class=…` to make one"));
                }
                None
            })?,
        };
        let mut defaults = Vec::new();
        let inner = Place { class: &class, ..*place };
        for line in &object.lines {
            if let DefaultLine::Object(nested) = line {
                let message = "an object in an object is outside of the language";
                let error = Diagnostic::error("uc-subobject", (place.file, nested.span), message);
                self.report(error.hint("declare it next to the outer object"));
                continue;
            }
            defaults.extend(self.default_line(line, &inner));
        }
        self.count_grown(&defaults, &class, at);
        if !inherited {
            self.change_class(place.of, |known| known.subobjects.insert(&declared, (declared.clone(), class.clone())));
        }
        Some(hir::Subobject { name: declared, class, inherited, defaults })
    }

    /// Reports variables and functions of a class that have the name of a subobject of a base class, because each subobject is a member of
    /// its class. Must be called after the defaults of the base classes are checked.
    pub(super) fn inherited_subobjects(&self, work: &Work<'a>) {
        let (Some(class), Some(base)) = (self.class(&work.path), &work.base) else { return };
        let bases = self.chain(base);
        let props = class.props.iter().map(|(name, prop)| (name, prop.at));
        for (name, at) in props.chain(class.funcs.iter().map(|(name, func)| (name, func.at))) {
            // A base that declares the name as a member is already reported.
            let is_object = |base: &ClassSym| base.subobjects.exact(name).is_some() && !base.declares(name);
            if let Some((base, at)) = bases.iter().find(|base| is_object(base)).zip(at) {
                let message = format!("`{}` has an object `{name}` in its defaults already", base.name);
                self.report(Diagnostic::error("uc-declared-twice", at, message));
            }
        }
    }

    /// Reports subobjects that directly or indirectly contain an object of their own class. The creation of such a subobject would never
    /// end.
    pub(super) fn endless_subobjects(&self, works: &[Work<'a>]) {
        let own: HashMap<&str, &Work<'a>> = works.iter().map(|work| (&*work.path, work)).collect();
        // Visited classes. The flag is false during the visit of a class, and true afterwards.
        let mut seen: HashMap<Path, bool> = HashMap::default();
        // Begins with an entry that contains all classes of the package.
        let contained = works.iter().map(|work| (work.path.clone(), None)).collect();
        let mut open = vec![Open { class: "".into(), contained, next: 0 }];
        while let Some(top) = open.last_mut() {
            let Some((class, _)) = top.contained.get(top.next).cloned() else {
                seen.insert(top.class.clone(), true);
                open.pop();
                continue;
            };
            top.next += 1;
            match seen.get(&class) {
                Some(true) => {}
                Some(false) => self.endless(&open, &class),
                None => {
                    seen.insert(class.clone(), false);
                    let contained = self.contained_classes(&class, &own);
                    open.push(Open { class, contained, next: 0 });
                }
            }
        }
    }

    /// Reports a cycle if `class` is already on the search path.
    fn endless(&self, open: &[Open], class: &Path) {
        let Some(from) = open.iter().position(|open| open.class == *class) else { return };
        let cycle = &open[from..];
        let place = cycle.iter().rev().find_map(|open| open.contained.get(open.next - 1)?.1);
        let Some(place) = place else { return };
        let names: Vec<_> =
            cycle.iter().map(|open| self.in_package(&open.class)).chain([self.in_package(class)]).collect();
        let message = format!("these objects would contain each other without end: {}", names.join(" → "));
        self.report(Diagnostic::error("uc-subobject", place, message).hint("make the object in a function, by `new`"));
    }

    /// Returns the base of a class and the classes of its subobjects.
    fn contained_classes(&self, path: &str, own: &HashMap<&str, &Work<'a>>) -> Vec<Contained> {
        let Some(class) = self.class(path) else { return Vec::new() };
        let mut contained: Vec<Contained> = class.base.iter().map(|base| (base.clone(), None)).collect();
        let Some(work) = own.get(path) else {
            contained.extend(class.subobjects.iter().map(|(_, (_, class))| (class.clone(), None)));
            return contained;
        };
        let blocks = work.items.iter().filter_map(|item| match item {
            Item::Defaults(block) => Some(&block.lines),
            _ => None,
        });
        for line in blocks.flatten() {
            if let DefaultLine::Object(object) = line
                && object.class.is_some()
                && let Some(name) = &object.name
                && let Some((_, class)) = class.subobjects.exact(&name.text)
            {
                contained.push((class.clone(), Some((work.file, object.span))));
            }
        }
        contained
    }
}
