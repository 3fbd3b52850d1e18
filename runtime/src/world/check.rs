//! Validates the records of a world file: names are valid, paths and ids are unique, and references resolve to records. An invalid file is
//! rejected before any object is created. The error names the invalid record.

use std::hash::BuildHasher as _;

use alcedo_abi::names::{is_identifier, is_type_path};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::escape::line;
use crate::object::naming::name_problem;
use crate::object::type_text::TypeText;
use crate::world::file_value::FileValue;
use crate::world::records::{ClassRecord, FlatFile, FlatRecord, FormatError, PropertyRecord, malformed};

/// Maximum number of path segments in an error message.
const MAX_NAMES: usize = 8;

/// Checks that every record of the file is valid. Returns the first violation.
pub(super) fn check(file: &FlatFile<'_>) -> Result<(), FormatError> {
    let mut paths = FxHashSet::default();
    for structure in &file.structs {
        let what = format!("struct {}", line(&structure.path));
        if !is_type_path(&structure.path) || !paths.insert(structure.path.as_str()) {
            return Err(malformed(format!("{what} has an invalid path, or is a duplicate")));
        }
        properties(&what, &structure.fields)?;
    }
    file.classes.iter().enumerate().try_for_each(|(at, record)| class(at, record))?;
    // The name of a kept field is any identifier of Rust, which may contain marks that a property's name must not contain.
    let fields = file.fields.iter();
    let valid = fields.map(|[class, name]| is_type_path(class) && name_problem(name, false).is_none());
    let valid: Vec<_> = valid.collect();
    // Names in ascending order, such as the generated names of one class, are unique. Otherwise, a set of hashes finds possible duplicates.
    // This set needs less memory than a map of names. The names are compared only if two hashes are equal.
    let (mut hashes, mut is_ascending) = (FxHashSet::default(), true);
    let (mut has_equal_hashes, mut has_outers, mut has_ids) = (false, false, false);
    for (at, record) in file.objects.iter().enumerate() {
        object(file, at, record, &valid)?;
        let earlier = &file.objects[..at];
        if is_ascending && earlier.last().is_some_and(|last| order(last) >= order(record)) {
            is_ascending = false;
            hashes.reserve(file.objects.len());
            hashes.extend(earlier.iter().map(hash));
        }
        has_equal_hashes |= !is_ascending && !hashes.insert(hash(record));
        has_outers |= record.outer.is_some();
        has_ids |= record.lazy.is_some();
    }
    // Omits loops over all objects that cannot find a violation. Each default subobject has an outer.
    if has_outers {
        outers(file)?;
    }
    if has_outers || has_ids || has_equal_hashes { once(file, has_equal_hashes) } else { Ok(()) }
}

/// Returns a key for the order of objects. Objects with equal outers are ordered by the length of their names, and then by their names.
/// Generated names of one class are thus ordered by their numbers.
fn order<'a>(record: &'a FlatRecord<'_>) -> (Option<u32>, usize, &'a str) {
    (record.outer, record.name.len(), &*record.name)
}

fn hash(record: &FlatRecord<'_>) -> u64 {
    FxBuildHasher.hash_one((record.outer, &*record.name))
}

fn class(at: usize, record: &ClassRecord) -> Result<(), FormatError> {
    let what = format!("class {at} ({})", line(&record.path));
    let wrong = |problem: &str| Err(malformed(format!("{what} {problem}")));
    if !is_type_path(&record.path) || !is_type_path(&record.native) {
        return wrong("has an invalid path, or names no native class");
    }
    let mut above = FxHashSet::from_iter([record.path.as_str()]);
    if let Some(base) = record.bases.iter().find(|base| !is_type_path(base) || !above.insert(base)) {
        return wrong(&format!("has a base \"{}\", which is not a type path or is a duplicate", line(base)));
    }
    properties(&what, &record.properties)
}

fn properties(what: &str, records: &[PropertyRecord]) -> Result<(), FormatError> {
    let mut names = FxHashSet::default();
    for PropertyRecord { name, ty } in records {
        if !is_identifier(name) || !names.insert(name.as_str()) {
            return Err(malformed(format!(
                "{what} has a property \"{}\", which is not a name or is a duplicate",
                line(name)
            )));
        }
        // A property that was saved while its class was missing has no type.
        if !ty.is_empty() {
            let error = ty.parse::<TypeText>().err();
            error
                .map_or(Ok(()), |error| Err(malformed(format!("{what} has a property {name} of no type: {error}"))))?;
        }
    }
    Ok(())
}

/// Checks the record of the object at index `at`. `valid` contains one entry per entry of `FlatFile::fields`: true if its class path and
/// name are valid.
fn object(file: &FlatFile<'_>, at: usize, record: &FlatRecord<'_>, valid: &[bool]) -> Result<(), FormatError> {
    let (objects, values, kept) = (file.objects.len(), record.values.of(&file.values), record.kept.of(&file.kept));
    let wrong = |what: String| Err(malformed(format!("object {at} ({}) {what}", line(&record.name))));
    if let Some(problem) = name_problem(&record.name, record.outer.is_none()) {
        return Err(FormatError::ObjectName { object: at, name: line(&record.name), problem });
    }
    let Some(class) = file.classes.get(record.class as usize) else {
        return wrong(format!("is of class {}, and there are {}", record.class, file.classes.len()));
    };
    if let Some(outer) = record.outer.filter(|outer| *outer as usize >= objects) {
        return wrong(format!("is in object {outer}, and there are {objects}"));
    }
    match &record.part {
        Some(_) if record.outer.is_none() => return wrong("is a part without an owner".into()),
        Some(part) if !is_identifier(part) => {
            return wrong(format!("is a part named \"{}\", which is not a name", line(part)));
        }
        _ => {}
    }
    if record.lazy == Some((0, 0)) {
        return wrong("has an invalid id for lazy references".into());
    }
    // Alcedo writes the values of an object in the order of their property indices. Only records of other programs need the set `known` to
    // find duplicates.
    let is_sorted = values.is_sorted_by(|(one, _), (other, _)| one < other);
    let mut known = FxHashSet::default();
    for (property, value) in values {
        let Some(described) = class.properties.get(*property as usize) else {
            return wrong(format!("has a value for property {property} of {}, which has fewer", class.path));
        };
        if !is_sorted && !known.insert(*property) {
            return wrong(format!("has two values for its property {}", described.name));
        }
        if let Some(index) = value.object_beyond(objects) {
            return wrong(format!("refers to object {index}, and there are {objects}"));
        }
        if let Some(name) = bad_field(value) {
            return wrong(format!(
                "has a struct with a field \"{}\", which is not a name or is a duplicate",
                line(name)
            ));
        }
    }
    let mut known = FxHashSet::default();
    for field in kept {
        let (index, is_only) = (field.field as usize, kept.len() == 1);
        let [class, name] = &file.fields[index];
        if !valid[index] || !(is_only || known.insert((class, name))) {
            return wrong(format!(
                "keeps \"{}\" of \"{}\", which is not a field or is a duplicate",
                line(name),
                line(class)
            ));
        }
    }
    Ok(())
}

/// Searches the structs in the value for a field name that is invalid or occurs twice in its struct. Returns the first such name.
fn bad_field<'v>(value: &'v FileValue<'_>) -> Option<&'v str> {
    value.find(&mut |value| {
        let FileValue::Struct(fields) = value else { return None };
        let mut names = FxHashSet::default();
        fields.iter().map(|(name, _)| &**name).find(|name| !is_identifier(name) || !names.insert(*name))
    })
}

/// Checks that no chain of outers has a cycle.
fn outers(file: &FlatFile<'_>) -> Result<(), FormatError> {
    // Contains for each object the index of the object at which the first walk to it started. If an earlier walk has visited an object, the
    // chain of outers from this object has no cycle.
    let mut seen = vec![usize::MAX; file.objects.len()];
    for start in 0..file.objects.len() {
        let mut at = Some(start);
        while let Some(here) = at {
            if seen[here] == start {
                return Err(malformed(format!("object {here} ({}) is in itself", line(&file.objects[here].name))));
            }
            if seen[here] != usize::MAX {
                break;
            }
            seen[here] = start;
            at = file.objects[here].outer.map(|outer| outer as usize);
        }
    }
    Ok(())
}

/// Checks that the default subobjects of each outer have unique subobject names, and that ids for lazy references are unique. If
/// `has_equal_hashes` is set, also checks that paths are unique.
fn once(file: &FlatFile<'_>, has_equal_hashes: bool) -> Result<(), FormatError> {
    let (mut paths, mut parts, mut ids) = (FxHashMap::default(), FxHashSet::default(), FxHashMap::default());
    for (at, record) in file.objects.iter().enumerate() {
        if has_equal_hashes && let Some(first) = paths.insert((record.outer, &*record.name), at) {
            return Err(FormatError::SamePath { path: path_of(file, at), first, second: at });
        }
        let name = || line(&record.name);
        if let (Some(part), Some(outer)) = (&record.part, record.outer)
            && !parts.insert((outer, &**part))
        {
            return Err(malformed(format!("object {at} ({}) is the second part {part} of object {outer}", name())));
        }
        if let Some(first) = record.lazy.and_then(|id| ids.insert(id, at)) {
            return Err(malformed(format!(
                "object {at} ({}) has the id for lazy references of object {first}",
                name()
            )));
        }
    }
    Ok(())
}

/// Returns the path of an object for errors. A long path is truncated to its innermost names.
fn path_of(file: &FlatFile<'_>, at: usize) -> String {
    let outer = |at: &usize| file.objects[*at].outer.map(|outer| outer as usize);
    let mut around: Vec<_> = std::iter::successors(Some(at), outer).take(MAX_NAMES + 1).collect();
    let is_cut = around.len() > MAX_NAMES;
    around.truncate(MAX_NAMES);
    let names: Vec<_> = around.iter().rev().map(|at| line(&file.objects[*at].name)).collect();
    format!("/World/{}{}", if is_cut { "…/" } else { "" }, names.join("/"))
}
