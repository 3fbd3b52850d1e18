//! Types to which modules refer by id. An id belongs to one module. The id is invalid while this module is suspended, and is removed when
//! this module ends. An id does not keep a type of an old generation alive.

use std::collections::BTreeSet;
use std::rc::Rc;

use alcedo_abi::handles::TypeNumber;
use rustc_hash::FxHashMap;

use crate::boundary::{CallError, not_found};
use crate::cells::RefCell;
use crate::handles::ModuleId;
use crate::object::property::PropertyType;
use crate::object::types::Types;
use crate::zcall::module_status::ModuleStatuses;

/// Assigned type ids. Game thread only.
#[derive(Debug, Default)]
pub(crate) struct ValueTypes {
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    last: u32,
    types: FxHashMap<TypeNumber, (ModuleId, PropertyType)>,
    /// Type ids of each module, keyed by the type string.
    known: FxHashMap<ModuleId, FxHashMap<Rc<str>, TypeNumber>>,
    statuses: ModuleStatuses,
    /// Modules that are ending. An ending module may use existing ids to drop its values. The module receives no new ids, because a type
    /// string may now refer to a different type.
    ending: BTreeSet<ModuleId>,
}

impl ValueTypes {
    /// Returns the module's id for the type with this string. Returns an error if the type does not exist, or if the module has ended or is
    /// suspended.
    pub(crate) fn number(&self, types: &Types, module: ModuleId, words: &str) -> Result<TypeNumber, CallError> {
        let mut state = self.state.borrow_mut();
        if !state.statuses.is_running(module) {
            return Err(gone());
        }
        if let Some(number) = state.known.get(&module).and_then(|known| known.get(words)) {
            return Ok(*number);
        }
        if state.ending.contains(&module) {
            return Err(gone());
        }
        let ty =
            PropertyType::parse(words, types).map_err(|error| not_found(format!("the type `{words}`: {error}")))?;
        let last = state.last.checked_add(1).ok_or_else(|| CallError::other("all type ids are used up"))?;
        state.last = last;
        let number = TypeNumber(last);
        state.types.insert(number, (module, ty));
        state.known.entry(module).or_default().insert(words.into(), number);
        Ok(number)
    }

    /// Returns the type of an id. Returns [`CallError::NotFound`] if the id was never assigned, or if the module of the id has ended or is
    /// suspended.
    pub(crate) fn get(&self, number: TypeNumber) -> Result<PropertyType, CallError> {
        let state = self.state.borrow();
        match state.types.get(&number) {
            Some((module, ty)) if state.statuses.is_running(*module) => Ok(ty.clone()),
            _ => Err(gone()),
        }
    }

    /// Returns one description line per id, sorted.
    pub(crate) fn lines(&self) -> Vec<String> {
        let state = self.state.borrow();
        let line = |(number, (module, ty)): (&TypeNumber, &(ModuleId, PropertyType))| {
            format!("{} is {ty} of module {}", number.0, module.0)
        };
        let mut lines: Vec<_> = state.types.iter().map(line).collect();
        lines.sort_unstable();
        lines
    }

    /// Invalidates a module's ids until the module is resumed.
    pub(crate) fn suspend(&self, module: ModuleId) {
        self.state.borrow().statuses.suspend(module);
    }

    /// Makes a module's ids valid again.
    pub(crate) fn resume(&self, module: ModuleId) {
        self.state.borrow().statuses.resume(module);
    }

    /// Begins the end of a module: existing ids stay valid until [`Self::end_module`], but no new ids are assigned.
    pub(crate) fn wind_down(&self, module: ModuleId) {
        let mut state = self.state.borrow_mut();
        state.statuses.resume(module);
        state.ending.insert(module);
    }

    /// Records that the modules with ids between `after` and `before` have no type ids in this store.
    pub(crate) fn pass_over(&self, after: ModuleId, before: ModuleId) {
        self.state.borrow().statuses.pass_over(after, before);
    }

    pub(crate) fn end_module(&self, module: ModuleId) {
        let mut state = self.state.borrow_mut();
        state.statuses.end(module);
        state.ending.remove(&module);
        for number in state.known.remove(&module).into_iter().flat_map(FxHashMap::into_values) {
            state.types.remove(&number);
        }
    }
}

fn gone() -> CallError {
    not_found("the type id is not one of a running module: request it in the generation that uses it")
}

#[cfg(test)]
mod tests {
    use alcedo_abi::handles::TypeNumber;

    use super::ValueTypes;
    use crate::handles::ModuleId;
    use crate::object::World;

    #[test]
    fn a_number_is_its_modules_own_and_ends_with_it() {
        let (world, types) = (World::new(), ValueTypes::default());
        let (one, two) = (ModuleId(1), ModuleId(2));
        let number = |module, words| types.number(&world.types, module, words);
        let first = number(one, "Array(f64)").unwrap();
        let second = number(two, "Array(f64)").unwrap();
        assert_eq!(number(one, "Array(f64)"), Ok(first), "asked for again it is the same");
        assert_ne!(first, second);
        assert_eq!(types.get(first).map(|ty| ty.to_string()).as_deref(), Ok("Array(f64)"));
        types.suspend(one);
        assert!(types.get(first).is_err() && number(one, "u8").is_err());
        assert!(types.get(second).is_ok());
        types.resume(one);
        assert!(types.get(first).is_ok());
        types.suspend(one);
        types.wind_down(one);
        assert!(types.get(first).is_ok() && number(one, "Array(f64)") == Ok(first), "what it drops may look");
        assert!(number(one, "u8").is_err(), "which type that is may have changed");
        types.end_module(one);
        assert!(types.get(first).is_err() && number(one, "u8").is_err());
        assert!(types.get(second).is_ok());
        assert!(types.get(TypeNumber::NONE).is_err());
    }

    #[test]
    fn invalid_type_specifiers_are_reported() {
        let (world, types) = (World::new(), ValueTypes::default());
        let error = types.number(&world.types, ModuleId(1), "Array(potato)").unwrap_err();
        assert!(error.to_string().contains("unknown kind `potato`"), "{error}");
    }
}
