//! Entry points of dynamic classes, by class id. Every construction looks up these entry points. The table is an array, because class ids
//! are small and dense.

use std::rc::Rc;
use std::sync::Arc;

use alcedo_abi::describe::PartHooks;
use alcedo_abi::direct::DirectMethod;
use rustc_hash::FxHashMap;

use crate::conjugate::gate::Gate;
use crate::conjugate::hot::FrameName;
use crate::handles::ClassId;
use crate::id_table::IdTable;

/// Entry points and gate of a dynamic class. Reflection does not store this data.
#[derive(Clone, Debug)]
pub(crate) struct ClassHooks {
    pub class: ClassId,
    /// Path of the class. Shared with the class.
    pub path: Rc<str>,
    pub hooks: PartHooks,
    pub gate: Rc<Gate>,
    /// Trampolines of the functions that support direct calls, by function name. Each trampoline is stored with the name for red frames.
    pub direct: FxHashMap<Box<str>, (Rc<str>, DirectMethod)>,
    /// Names for red frames and errors, such as "red constructor of Game.MagicCube".
    pub names: HookNames,
}

#[derive(Clone, Debug)]
pub(crate) struct HookNames {
    /// Short path of the class, for reports about waits for its finalizers.
    pub short: Arc<str>,
    pub(super) red: FrameName,
    pub(super) class: FrameName,
    pub(super) post_init: FrameName,
    pub(super) keep: FrameName,
}

impl HookNames {
    /// Creates the names from the short path of a class, such as `Game.MagicCube`.
    pub(crate) fn new(class: &str) -> Self {
        Self {
            short: class.into(),
            red: FrameName::new(format!("red constructor of {class}")),
            class: FrameName::new(format!("class constructor of {class}")),
            post_init: FrameName::new(format!("PostInitProperties of {class}")),
            keep: FrameName::new(format!("kept fields of {class}")),
        }
    }
}

/// Hooks of the classes of all modules that have not yet ended. Game thread only.
#[derive(Debug, Default)]
pub(crate) struct ClassHookTable {
    row: IdTable<Rc<ClassHooks>>,
}

impl ClassHookTable {
    #[inline]
    pub(crate) fn get(&self, class: ClassId) -> Option<&Rc<ClassHooks>> {
        self.row.get(class.0.into())
    }

    pub(crate) fn insert(&mut self, class: ClassId, hooks: ClassHooks) {
        self.row.insert(class.0.into(), Rc::new(hooks));
    }

    pub(crate) fn remove(&mut self, class: ClassId) {
        self.row.remove(class.0.into());
    }

    /// Iterates over the hooks, ordered by class id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ClassId, &ClassHooks)> {
        self.row.iter().map(|(class, hooks)| (ClassId(class as u32), &**hooks))
    }
}

#[cfg(test)]
impl ClassHooks {
    /// Creates hooks that are never called.
    pub(crate) fn for_tests(class: ClassId, gate: Rc<Gate>) -> Self {
        use alcedo_abi::call::{Call, Failure, Status};
        use alcedo_abi::handles::PartPtr;
        use alcedo_abi::value::{KeepSink, TextView};

        extern "C" fn build(_: &mut Call<'_>, _: &mut PartPtr) -> Status {
            unreachable!("tests call no hook")
        }
        extern "C" fn save(_: PartPtr, _: &KeepSink, _: &mut Failure) -> Status {
            unreachable!("tests call no hook")
        }
        extern "C" fn load(_: PartPtr, _: TextView, _: *const u8, _: usize, _: &mut Failure) -> Status {
            unreachable!("tests call no hook")
        }
        extern "C" fn unpack(_: PartPtr, _: *const u8, _: usize, _: &mut Failure) -> Status {
            unreachable!("tests call no hook")
        }
        extern "C" fn finalize(_: PartPtr, _: &mut Failure) -> Status {
            unreachable!("tests call no hook")
        }
        let hooks = PartHooks {
            red_constructor: build,
            class_constructor: None.into(),
            post_init_properties: None.into(),
            save_kept: save,
            load_kept: load,
            kept_print: 0,
            kept_count: 0,
            pack_kept: save,
            unpack_kept: unpack,
            finalize,
        };
        let (path, names) = ("/Script/Test.Class".into(), HookNames::new("Test.Class"));
        Self { class, path, hooks, gate, direct: FxHashMap::default(), names }
    }
}
