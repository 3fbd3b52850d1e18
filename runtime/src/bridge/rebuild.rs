//! Rebuilds plugin parts in a reload: builds the part of each object, and restores its kept fields. If code calls an object that is not yet
//! rebuilt, the object is rebuilt before this call; see [`build_missing`]. This function also builds the parts of
//! lazily rebuilt classes, at their first use after the reload.

use std::fmt;
use std::rc::Rc;

use alcedo_base::figures::counted;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::boundary::{CallError, catch_panics};
use crate::bridge::core::Core;
use crate::cells::RefCell;
use crate::conjugate::build::Misfit;
use crate::conjugate::file_fields::{FileFields, KeptView};
use crate::conjugate::named_fields::NamedFields;
use crate::conjugate::packed::PackedFields;
use crate::conjugate::saving::KeptShare;
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

impl Rebuilt {
    fn count(&mut self, fields_kept: u64) {
        self.conjugates += 1;
        self.fields_kept += fields_kept;
    }
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

/// Restores one kept field of an object. `all` contains all kept fields of the object.
fn load(
    core: &Core,
    turns: &RefCell<Turns>,
    object: ObjectHandle,
    (field, all): (KeptView<'_>, &[KeptView<'_>]),
) -> Result<(), Misfit> {
    let class = kept_class_of(core, turns, field.class);
    core.plugins().load_kept(object, (field, class), all)
}

fn take_back(core: &Core, rebuilding: &Rebuilding, object: ObjectHandle) -> Result<(), CallError> {
    restore(core, rebuilding, object, None)
}

/// Restores the kept fields of a new plugin part. `unpacked` is the number of packed fields that the red constructor has already restored.
fn restore(core: &Core, rebuilding: &Rebuilding, object: ObjectHandle, unpacked: Option<u64>) -> Result<(), CallError> {
    faults::at(ReloadStep::LoadKept)?;
    let (objects, plugins) = (&core.world.objects, core.plugins());
    let Rebuilding { packed, of_file, turns } = rebuilding;
    let mut fields_kept = unpacked.map_or_else(|| plugins.unpack_kept(object, packed), Ok)?;
    // Takes the named fields only now, because an object that is built again after an error still needs these fields.
    let mut named = turns.borrow_mut().kept.take(object);
    // Most objects have few kept fields, and need no allocation here.
    let mut kept: SmallVec<[KeptView<'_>; 4]> = of_file.of(object).collect();
    if named.is_empty() && kept.is_empty() {
        // Before the commit, copies the fields of a part that an earlier reload has put off, because a rollback needs these fields.
        named = match core.world.mode.is_before_commit() {
            true => core.pairs.unbuilt(object),
            false => core.pairs.take_unbuilt(object),
        };
    }
    if kept.is_empty() {
        kept.extend(named.iter().map(KeptView::from));
    }
    let mut earlier = match objects.has_fields_aside(object) {
        true => objects.replace_fields_aside(object, Vec::new()),
        false => Vec::new(),
    };
    if kept.is_empty() && earlier.is_empty() {
        turns.borrow_mut().done.count(fields_kept);
        return Ok(());
    }
    let is_same = |one: KeptView<'_>, other: KeptView<'_>| {
        let [class, of_other] = [one.class, other.class].map(|class| kept_class_of(core, turns, class));
        class == of_other && class.is_some_and(|class| plugins.is_same_field([one, other], class))
    };
    // Most objects lose no field, and need no allocation here.
    let (mut lost, mut aside, mut restored) = (Vec::new(), Vec::new(), SmallVec::<[KeptView<'_>; 4]>::new());
    for field in kept.iter().copied() {
        // Most objects have no value that was put aside.
        if earlier.is_empty() {
            match load(core, turns, object, (field, &kept)) {
                Ok(()) => {
                    fields_kept += 1;
                    restored.push(field);
                }
                Err(misfit) => lost.push((field.to_field(), misfit)),
            }
            continue;
        }
        let is_older = |aside: &FieldAside| {
            let older = KeptView::from(&aside.field);
            let is_of_field = || aside.instead.is_some() || aside.is_own;
            let is_free = || !kept.iter().any(|other| other.is_same(older));
            field.is_same(older) || is_of_field() && is_free() && is_same(older, field)
        };
        let (older, others): (Vec<_>, Vec<_>) = earlier.into_iter().partition(is_older);
        earlier = others;
        // A value that was put aside under an earlier name of the field belongs to the field.
        let all: SmallVec<[KeptView<'_>; 4]> = match older.is_empty() {
            true => SmallVec::new(),
            false => kept.iter().copied().filter(|other| !field.is_same(*other)).collect(),
        };
        let all = if older.is_empty() { &kept } else { &all };
        let (mut latest, mut rejected) = (None, Vec::new());
        // Loads every value, because a value that the field cannot hold is put aside. The field has the last value that was loaded.
        for (value, source) in in_order(field, &older) {
            match (load(core, turns, object, (value, all)), source) {
                (Ok(()), _) => latest = Some(source),
                (Err(misfit), Source::Written) => lost.push((value.to_field(), misfit)),
                // An earlier reload has already reported that this value is put aside.
                (Err(misfit), Source::Aside) => rejected.push((value.to_field(), misfit)),
                (Err(_), Source::Default) => {}
            }
        }
        fields_kept += u64::from(latest.is_some());
        if matches!(latest, Some(Source::Aside | Source::Written)) {
            restored.push(field);
        }
        let is_written = latest == Some(Source::Written);
        aside.extend(rejected.into_iter().map(|(rejected, misfit)| (rejected, misfit, is_written)));
    }
    // Restores fields that the previous build did not keep.
    for FieldAside { field, .. } in &earlier {
        match load(core, turns, object, (KeptView::from(field), &kept)) {
            Ok(()) => {
                fields_kept += 1;
                restored.push(KeptView::from(field));
            }
            Err(misfit) => aside.push((field.clone(), misfit, false)),
        }
    }
    aside.extend(lost.iter().map(|(field, misfit)| (field.clone(), misfit.clone(), false)));
    if !aside.is_empty() {
        let into = (&mut KeptShare::default(), &mut PackedFields::default());
        let now = plugins.save_for_reload(object, into, |_| None).unwrap_or_default();
        let aside = aside.into_iter().map(|(field, misfit, is_written)| {
            let of = KeptView::from(&field);
            // A field that rejects the value may have a later name than the value.
            let has_field = misfit != Misfit::Gone;
            let exact = now.iter().find(|now| KeptView::from(*now).is_same(of));
            let renamed = || now.iter().find(|now| is_same(of, KeptView::from(*now)));
            let instead = if has_field && !is_written { exact.or_else(renamed) } else { None };
            let instead = instead.map(|now| now.data.clone());
            let is_own = has_field && restored.iter().any(|restored| is_same(of, *restored));
            FieldAside { field, instead, is_own }
        });
        objects.replace_fields_aside(object, aside.collect());
    }
    let mut turns = turns.borrow_mut();
    turns.done.count(fields_kept);
    for (field, misfit) in lost {
        match turns.lost.iter_mut().find(|(lost, why, _)| KeptView::from(lost).is_same(&field) && *why == misfit) {
            Some((_, _, objects)) => *objects += 1,
            None => turns.lost.push((field, misfit, 1)),
        }
    }
    Ok(())
}

/// Source of a saved value of a kept field.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Source {
    /// Red constructor, after an earlier value was put aside.
    Default,
    /// Earlier build. The value was put aside or restored, and no code has written the field since.
    Aside,
    /// Code of the previous build.
    Written,
}

/// Returns the saved values of a field in the order of restoration. Values that were put aside take precedence over a value that no code has
/// written since. `older` contains the values of this field that were put aside.
fn in_order<'a>(field: KeptView<'a>, older: &'a [FieldAside]) -> impl Iterator<Item = (KeptView<'a>, Source)> {
    let source = match older.last().filter(|aside| aside.instead.as_deref() == Some(field.data)) {
        None => Source::Written,
        Some(aside) if aside.is_own => Source::Aside,
        Some(_) => Source::Default,
    };
    let (first, last) = match source {
        Source::Written => (None, Some(field)),
        Source::Default | Source::Aside => (Some(field), None),
    };
    let with = |field: Option<KeptView<'a>>| field.map(|field| (field, source)).into_iter();
    with(first).chain(older.iter().map(|aside| (KeptView::from(&aside.field), Source::Aside))).chain(with(last))
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

    use super::{KeptView, Source, build_missing, constructor_failed, in_order};
    use crate::boundary::CallError;
    use crate::bridge::core::Core;
    use crate::handles::ObjectHandle;
    use crate::object::decl::{Batch, ClassDecl};
    use crate::object::dormant::{FieldAside, KeptField};
    use crate::object::origin::Origin;

    #[test]
    fn a_value_that_code_has_written_is_restored_last() {
        let field =
            |value: u8| KeptField { class: "/Script/Game.Wagon".into(), name: "fuel".into(), data: vec![value] };
        let aside = |instead: Option<u8>, is_own| FieldAside {
            field: field(1),
            instead: instead.map(|value| vec![value]),
            is_own,
        };
        let check = |older: &[FieldAside], expected: &[(u8, Source)]| {
            let now = field(2);
            let order: Vec<_> =
                in_order(KeptView::from(&now), older).map(|(value, source)| (value.data[0], source)).collect();
            assert_eq!(order, expected);
        };
        check(&[], &[(2, Source::Written)]);
        check(&[aside(None, false)], &[(1, Source::Aside), (2, Source::Written)]);
        check(&[aside(Some(3), true)], &[(1, Source::Aside), (2, Source::Written)]);
        check(&[aside(Some(2), false)], &[(2, Source::Default), (1, Source::Aside)]);
        check(&[aside(Some(2), true)], &[(2, Source::Aside), (1, Source::Aside)]);
        check(
            &[aside(Some(2), true), aside(None, false)],
            &[(1, Source::Aside), (1, Source::Aside), (2, Source::Written)],
        );
    }

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
