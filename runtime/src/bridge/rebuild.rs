//! Rebuilds plugin parts in a reload: builds the part of each object, and restores its kept fields. If code calls an object that is not yet
//! rebuilt, the object is rebuilt before this call; see [`build_missing`]. This function also builds the parts of
//! lazily rebuilt classes, at their first use after the reload.

mod restoring;

use std::fmt;
use std::rc::Rc;

use alcedo_base::figures::counted;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::boundary::{CallError, catch_panics};
use crate::bridge::core::Core;
use crate::bridge::rebuild::restoring::Restoring;
use crate::cells::RefCell;
use crate::conjugate::build::Misfit;
use crate::conjugate::file_fields::{FileFields, KeptView};
use crate::conjugate::named_fields::NamedFields;
use crate::conjugate::packed::PackedFields;
use crate::faults::{self, ReloadStep};
use crate::handles::{ClassId, ObjectHandle};
use crate::object::class::Class;
use crate::object::dormant::{FieldAside, KeptField};

/// Saved fields of objects.
#[derive(Default)]
pub(crate) struct KeptFields {
    pub named: NamedFields,
    /// Fields of classes whose kept fields have not changed.
    pub packed: PackedFields,
    /// Fields of the objects of a world file, except the fields of parts that are put off.
    pub of_file: FileFields,
}

#[derive(Default)]
pub(crate) struct Rebuilt {
    pub conjugates: u64,
    /// Number of objects whose plugin part is built at its first use.
    pub put_off: u64,
    pub fields_kept: u64,
    /// Kept fields that could not be restored, one line per field and reason.
    pub fields_lost: Vec<String>,
    /// Saved fields of the parts that are built at their first use. See `Pairs::settle_unbuilt`.
    pub unbuilt: NamedFields,
}

/// Packed fields and fields of a world file, and the progress of the rebuild.
#[derive(Default)]
struct Rebuilding {
    packed: PackedFields,
    of_file: FileFields,
    turns: RefCell<Turns>,
}

#[derive(Default)]
struct Turns {
    /// Named fields of the objects that remain to be rebuilt. From a world file, contains only the fields of parts that are put off.
    kept: NamedFields,
    done: Rebuilt,
    /// Fields that could not be restored, with the reason and the number of objects.
    lost: Vec<(KeptField, Misfit, u64)>,
    /// Current class of kept fields, by the path of the class that saved the fields.
    kept_classes: FxHashMap<Rc<str>, Option<ClassId>>,
    /// Latest result of [`kept_class_of`] with its path. Adjacent objects mostly share this path.
    latest_class: Option<(Rc<str>, Option<ClassId>)>,
    /// Result of [`is_renamed`] for each class that is rebuilt lazily.
    renamed: FxHashMap<ClassId, bool>,
}

/// Rebuilds these objects in order. Objects that were constructed again already have plugin parts, so their kept fields are restored first.
/// `have_parts` must be set if such objects may exist. Plugin code that runs during the restoration may call objects whose fields are not
/// yet restored. Returns the result so far. If a red constructor has failed, also returns the first error and the object whose constructor
/// failed.
pub(crate) fn rebuild(
    core: &Rc<Core>,
    kept: KeptFields,
    objects: &[ObjectHandle],
    have_parts: bool,
) -> (Rebuilt, Result<(), (ObjectHandle, CallError)>) {
    let KeptFields { named, packed, of_file } = kept;
    let turns = RefCell::new(Turns { kept: named, ..Turns::default() });
    let rebuilding = Rc::new(Rebuilding { packed, of_file, turns });
    let late = {
        let (core, rebuilding) = (Rc::clone(core), Rc::clone(&rebuilding));
        move |object| {
            // After an error, ends the part, which lacks its kept fields. If the caller ignores the error, the object is rebuilt at its own
            // turn.
            catch_panics(|| build_now(&core, &rebuilding, object)).inspect_err(|_error| core.plugins().end(object))
        }
    };
    let _late = core.pairs.build_late(Rc::new(late));
    let turn = |step: fn(&Core, &Rebuilding, ObjectHandle) -> Result<(), CallError>| {
        let rebuilding = &rebuilding;
        move |object: &ObjectHandle| step(core, rebuilding, *object).map_err(|error| (*object, error))
    };
    let has_part = |object: &&ObjectHandle| core.plugins().key_of(**object).is_some();
    let reconstructed = if have_parts { objects } else { &[] };
    let reconstructed: Vec<_> = reconstructed.iter().filter(has_part).copied().collect();
    let done = reconstructed.iter().filter(has_part).try_for_each(turn(take_back));
    let done = done.and_then(|()| objects.iter().try_for_each(turn(build_in_turn)));
    let mut rebuilt = rebuilding.turns.take().into_rebuilt();
    if rebuilt.put_off != 0 && rebuilt.conjugates != 0 {
        // Excludes objects whose part a call has built after the part was put off.
        let is_waiting = |object: &&ObjectHandle| core.world.objects.class_awaiting_part(**object).is_some();
        rebuilt.put_off = objects.iter().filter(is_waiting).count() as u64;
    }
    (rebuilt, done)
}

impl Turns {
    /// Counts a rebuilt object: the number of its restored fields, and the fields that were not restored.
    fn count(&mut self, fields_kept: u64, lost: Vec<(KeptField, Misfit)>) {
        self.done.conjugates += 1;
        self.done.fields_kept += fields_kept;
        for (field, misfit) in lost {
            match self.lost.iter_mut().find(|(lost, why, _)| KeptView::from(lost).is_same(&field) && *why == misfit) {
                Some((_, _, objects)) => *objects += 1,
                None => self.lost.push((field, misfit, 1)),
            }
        }
    }

    fn into_rebuilt(self) -> Rebuilt {
        let line = |(field, misfit, objects): &(KeptField, Misfit, u64)| {
            let why = match misfit {
                Misfit::Gone => "is no longer kept",
                Misfit::Failed(words) => words,
            };
            let class = field.class.strip_prefix("/Script/").unwrap_or(&field.class);
            format!("{class}.{} {why}: {} put aside", field.name, counted(*objects, "value"))
        };
        Rebuilt { fields_lost: self.lost.iter().map(line).collect(), unbuilt: self.kept, ..self.done }
    }
}

/// Builds the missing plugin part of an object. During a rebuild, builds the part of any object that is not yet rebuilt. Otherwise, builds
/// only parts of classes that are rebuilt lazily. Has no effect for other objects. Returns the error of the red constructor. The next use
/// of the object then runs the constructor again, with the same kept fields. If the stack has no room for the construction, returns an
/// error that contains `what`, the description of the use. Before a commit, returns [`CallError::DuringRebuild`] for a part that a rollback
/// would not discard, or that would lack its kept fields.
#[cold]
fn build_missing(core: &Core, object: ObjectHandle, what: &dyn fmt::Display) -> Result<(), CallError> {
    let (world, late) = (&core.world, core.pairs.late());
    let missing = match late {
        Some(_) => world.objects.class_to_build(object),
        None => world.objects.class_awaiting_part(object),
    };
    if missing.is_none() {
        return Ok(());
    }
    // Before the commit, only the rebuild has the kept fields, and a rollback ends only the parts of staged objects.
    if world.mode.is_before_commit() && (late.is_none() || !world.objects.is_staged(object)) {
        let action = format!("building the plugin part of {}", world.objects.display(object));
        return Err(CallError::DuringRebuild { action });
    }
    // Checks the stack first, because the red constructor also runs on this stack.
    core.red.hot().may_build(what)?;
    if let Some(build) = late {
        return build(object);
    }
    let rebuilding = Rebuilding::default();
    catch_panics(|| build_now(core, &rebuilding, object)).inspect_err(|_error| core.plugins().end(object))?;
    for lost in rebuilding.turns.take().into_rebuilt().fields_lost {
        log!(WARN, object = %world.objects.display(object), lost, "a kept field was not restored");
    }
    Ok(())
}

/// Returns the plugin part that `find` finds. If there is none, builds the missing part as [`build_missing`] does, and calls `find` again.
#[inline]
pub(crate) fn find_or_build<T>(
    core: &Core,
    object: ObjectHandle,
    what: &dyn fmt::Display,
    find: impl Fn() -> Option<T>,
) -> Result<Option<T>, CallError> {
    let found = find();
    if found.is_some() {
        return Ok(found);
    }
    build_missing(core, object, what)?;
    Ok(find())
}

/// Checks if a class, one of its base classes, or a member of these classes was renamed. The kept fields of the objects must then be
/// restored during the reload, because a later version of the code may use an old name for a different field.
fn is_renamed(core: &Core, turns: &RefCell<Turns>, class: &Rc<Class>) -> bool {
    let known = turns.borrow().renamed.get(&class.id).copied();
    known.unwrap_or_else(|| {
        let types = &core.world.types;
        let is_new_path = |path: &Rc<str>| class.lineage().any(|class| class.path == *path);
        let is_renamed =
            !types.member_redirects(class).is_empty() || types.redirects().iter().any(|(_, path)| is_new_path(path));
        turns.borrow_mut().renamed.insert(class.id, is_renamed);
        is_renamed
    })
}

/// Rebuilds `object` in its turn. Puts the part off if the class is rebuilt lazily and was not renamed. The kept fields of a part
/// that is put off remain in the list `kept`.
fn build_in_turn(core: &Core, rebuilding: &Rebuilding, object: ObjectHandle) -> Result<(), CallError> {
    match core.world.objects.class_to_build(object) {
        Some(class) if class.is_rebuilt_lazily() && !is_renamed(core, &rebuilding.turns, &class) => {
            faults::at(ReloadStep::RebuildObject)?;
            rebuilding.turns.borrow_mut().done.put_off += 1;
            Ok(())
        }
        Some(class) => build(core, rebuilding, object, &class),
        None => Ok(()),
    }
}

/// Rebuilds `object`, unless it was already rebuilt, is dormant, or was destroyed during the rebuild.
fn build_now(core: &Core, rebuilding: &Rebuilding, object: ObjectHandle) -> Result<(), CallError> {
    core.world.objects.class_to_build(object).map_or(Ok(()), |class| build(core, rebuilding, object, &class))
}

#[inline]
fn build(core: &Core, rebuilding: &Rebuilding, object: ObjectHandle, class: &Rc<Class>) -> Result<(), CallError> {
    faults::at(ReloadStep::RebuildObject)?;
    let turn = core.world.mode.rebuild_turn(object);
    // An object for which fields of an earlier build were put aside has no packed fields.
    let built = core.plugins().rebuild(object, class, &rebuilding.packed);
    drop(turn);
    let unpacked = built.map_err(|unbuilt| failed(core, object, unbuilt.class.short_path(), &unbuilt.error))?;
    restore(core, rebuilding, object, unpacked)
}

/// Returns the current class that receives the kept fields of the class `saved`. Returns `None` if a reload has removed the class.
fn kept_class_of(core: &Core, turns: &RefCell<Turns>, saved: &Rc<str>) -> Option<ClassId> {
    if let Some((path, class)) = &turns.borrow().latest_class
        && Rc::ptr_eq(path, saved)
    {
        return *class;
    }
    let known = turns.borrow().kept_classes.get(saved).copied();
    let class = known.unwrap_or_else(|| {
        let class = core.plugins().kept_class(saved);
        turns.borrow_mut().kept_classes.insert(Rc::clone(saved), class);
        class
    });
    turns.borrow_mut().latest_class = Some((Rc::clone(saved), class));
    class
}

fn take_back(core: &Core, rebuilding: &Rebuilding, object: ObjectHandle) -> Result<(), CallError> {
    restore(core, rebuilding, object, None)
}

/// Restores the kept fields of a new plugin part. `unpacked` is the number of packed fields that the red constructor has already restored.
fn restore(core: &Core, rebuilding: &Rebuilding, object: ObjectHandle, unpacked: Option<u64>) -> Result<(), CallError> {
    faults::at(ReloadStep::LoadKept)?;
    let (objects, plugins) = (&core.world.objects, core.plugins());
    let Rebuilding { packed, of_file, turns } = rebuilding;
    let fields_kept = unpacked.map_or_else(|| plugins.unpack_kept(object, packed), Ok)?;
    // Takes the named fields only now, because an object that is built again after an error still needs these fields.
    let mut named = turns.borrow_mut().kept.take(object);
    // Most objects have few kept fields, and need no allocation here. `push` is inlined. `extend` calls a function for every object.
    let mut kept = SmallVec::<[KeptView<'_>; 4]>::new();
    of_file.of(object).for_each(|field| kept.push(field));
    if named.is_empty() && kept.is_empty() && core.pairs.has_unbuilt() {
        // Before the commit, copies the fields of a part that an earlier reload has put off, because a rollback needs these fields.
        named = match core.world.mode.is_before_commit() {
            true => core.pairs.unbuilt(object),
            false => core.pairs.take_unbuilt(object),
        };
    }
    if kept.is_empty() {
        named.iter().for_each(|field| kept.push(KeptView::from(field)));
    }
    let mut earlier = match objects.has_fields_aside(object) {
        true => objects.replace_fields_aside(object, Vec::new()),
        false => Vec::new(),
    };
    if kept.is_empty() && earlier.is_empty() {
        turns.borrow_mut().count(fields_kept, Vec::new());
        return Ok(());
    }
    let mut restoring = Restoring::new(core, turns, object, (&kept, packed));
    for field in kept.iter().copied() {
        let older: Vec<_> = earlier.extract_if(.., |aside| restoring.is_older(aside, field)).collect();
        restoring.restore(field, &older);
    }
    for FieldAside { field, .. } in &earlier {
        restoring.restore_missing(field);
    }
    let (restored, lost) = restoring.finish();
    turns.borrow_mut().count(fields_kept + restored, lost);
    Ok(())
}

fn failed(core: &Core, object: ObjectHandle, class: &str, error: &CallError) -> CallError {
    let name = core.world.objects.name(object).map(|name| core.world.names.text(name));
    let name = name.map_or_else(|| object.to_string(), |name| name.to_string());
    CallError::other(constructor_failed(class, &name, error))
}

/// Formats the error of a red constructor. If the red constructor has called an object of the same class, which was then built on demand,
/// the message lists both objects, and contains the class only once.
fn constructor_failed(class: &str, name: &str, error: &CallError) -> String {
    let start = format!("red constructor of {class} (");
    let text = error.to_string();
    match (text.strip_prefix(&start), error) {
        (Some(inner), _) => format!("{start}{name} > {inner}"),
        (None, CallError::Panicked { .. }) => format!("{start}{name}) {text}"),
        (None, _) => format!("{start}{name}) failed: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use alcedo_abi::host::mode;
    use alcedo_abi::kinds::class_flags;

    use super::{build_missing, constructor_failed};
    use crate::boundary::CallError;
    use crate::bridge::core::Core;
    use crate::handles::ObjectHandle;
    use crate::object::decl::{Batch, ClassDecl};
    use crate::object::origin::Origin;

    #[test]
    fn nested_red_constructors_of_a_class_are_listed_by_their_objects() {
        let mut error = CallError::Panicked { message: "no fuel".into(), place: None };
        for (class, name, expected) in [
            ("Game.Wagon", "Wagon_2", "red constructor of Game.Wagon (Wagon_2) panicked: \"no fuel\""),
            ("Game.Wagon", "Wagon_1", "red constructor of Game.Wagon (Wagon_1 > Wagon_2) panicked: \"no fuel\""),
            (
                "Game.Train",
                "Train_1",
                "red constructor of Game.Train (Train_1) failed: red constructor of Game.Wagon (Wagon_1 > Wagon_2) panicked: \
                 \"no fuel\"",
            ),
        ] {
            error = CallError::other(constructor_failed(class, name, &error));
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn before_a_commit_only_parts_of_staged_objects_are_built() {
        let core = Core::new().expect("a finalizer thread");
        let world = &core.world;
        world.types.declare_package("Game");
        let thing = ClassDecl::new("Game", "Thing", "", Origin::Native);
        let sleeper = ClassDecl::new("Game", "Sleeper", "/Script/Game.Thing", Origin::Dynamic);
        let sleeper = ClassDecl { flags: class_flags::LAZY_REBUILD, ..sleeper };
        let batch = Batch { classes: vec![thing, sleeper], ..Batch::default() };
        world.types.declare(&world.names, &batch).expect("right declarations");
        let class = world.types.class_by_path("/Script/Game.Sleeper").expect("it is declared");
        let waiting = world.objects.allocate(&class, None, ObjectHandle::NONE, 0);
        world.objects.set_constructed(waiting, class.depth());
        let build = || build_missing(&core, waiting, &"a test");
        let is_refused = || matches!(build(), Err(CallError::DuringRebuild { .. }));

        world.objects.begin_shadow();
        let built = Rc::new(Cell::new(0));
        {
            let _staging = world.mode.enter(mode::STAGING);
            assert!(is_refused(), "a conversion runs before the kept fields can be restored");
            let _rebuilding = world.mode.enter(mode::REBUILDING);
            let count = Rc::clone(&built);
            let late = move |_object: ObjectHandle| {
                count.set(count.get() + 1);
                Ok::<_, CallError>(())
            };
            let _late = core.pairs.build_late(Rc::new(late));
            assert!(is_refused(), "a rollback leaves the part of an object that is not staged");
            world.objects.keep_body(waiting, &class).expect("it is alive");
            assert_eq!((build(), built.get()), (Ok(()), 1));
        }
        let _replaced = world.objects.drop_shadow();
        let error = build().expect_err("the class has no module").to_string();
        assert!(error.contains("red constructor of Game.Sleeper"), "{error}");
        assert_eq!(built.get(), 1);
    }
}
