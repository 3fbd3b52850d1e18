//! Test module without a library. Its entry points are host code, and its types are a static table.

use std::sync::{Arc, Mutex};

use alcedo_abi::abi_stable::std_types::{ROption, RSlice, RStr};
use alcedo_abi::describe::{ExportDesc, InterfaceDesc, ZCallInvoke};

use crate::boundary::CallError;
use crate::conjugate::gate::ModuleTag;
use crate::emit::described::Described;
use crate::handles::{Generation, ModuleId};
use crate::lease::Leases;
use crate::load::module::Module;
use crate::load::module::code::ModuleCode;
use crate::load::module::info::ModuleInfo;
use crate::load::permissions::Declaration;
use crate::logs::Logs;
use crate::sync::lock;
use crate::unload::image::Unused;
use crate::unload::job::{CodeStep, CodeUnload};
use crate::unload::policy::UnloadPolicy;
use crate::unload::report::{ModuleEnd, ParkedImage};

/// Generation of the test module.
pub(crate) const GENERATION: Generation = Generation(1);

pub(crate) fn tag() -> ModuleTag {
    ModuleTag { id: ModuleId(1), name: "tale".into(), generation: GENERATION }
}

static SPEAKER: InterfaceDesc = InterfaceDesc {
    package: RStr::from_str("Tale"),
    name: RStr::from_str("Speaker"),
    functions: RSlice::EMPTY,
    doc: RStr::from_str(""),
};

extern "C" fn speak(
    _buffer: &mut alcedo_abi::zcall::ZCallBuffer,
    _failure: &mut alcedo_abi::call::Failure,
) -> alcedo_abi::call::Status {
    alcedo_abi::call::Status::OK
}

static SPEAK: ExportDesc = ExportDesc {
    type_path: RStr::from_str("Speaker"),
    name: RStr::from_str("speak"),
    fingerprint: 7,
    signature: RStr::from_str("()"),
    invoke: ZCallInvoke(speak),
    direct: ROption::RNone,
};

static INTERFACES: [&InterfaceDesc; 1] = [&SPEAKER];
static EXPORTS: [&ExportDesc; 1] = [&SPEAK];

#[derive(Clone, Default)]
pub(crate) struct CallLog(Arc<Mutex<Vec<String>>>);

impl CallLog {
    fn note(&self, what: impl Into<String>) {
        lock(&self.0).push(what.into());
    }

    pub(crate) fn all(&self) -> Vec<String> {
        lock(&self.0).clone()
    }
}

struct Tale {
    log: CallLog,
    is_there: Mutex<bool>,
}

impl Tale {
    fn take(&self) -> bool {
        std::mem::replace(&mut *lock(&self.is_there), false)
    }
}

impl ModuleCode for Tale {
    fn described(&self) -> Described {
        Described { interfaces: &INTERFACES, exports: &EXPORTS, ..Described::default() }
    }

    fn main(&self, args: &[String]) -> Result<(), CallError> {
        self.log.note(format!("main {}", args.join(" ")));
        Ok(())
    }

    fn last(&self, has_started: bool) -> Result<(), CallError> {
        self.log.note(if has_started { "exit" } else { "dispose" });
        Ok(())
    }

    fn request_stop(&self) {
        self.log.note("asked to stop");
    }

    fn end_thread_locals_here(&self) {
        self.log.note("thread-locals end");
    }

    fn hand_over(&self, _policy: &UnloadPolicy, _unused: Unused<'_>) -> Option<Box<dyn CodeUnload>> {
        self.take().then(|| Box::new(LastPage(self.log.clone())) as Box<dyn CodeUnload>)
    }

    fn abandon(&self) -> bool {
        self.take()
    }
}

/// Unload of the test module.
struct LastPage(CallLog);

impl CodeUnload for LastPage {
    fn is_quiet(&self) -> bool {
        true
    }

    fn begin(&mut self) {
        self.0.note("lets go of its host");
    }

    fn advance(&mut self) -> CodeStep {
        self.0.note("gone");
        CodeStep::Gone(Box::new(ModuleEnd { module: "tale".into(), ..ModuleEnd::default() }))
    }

    fn park(&mut self) -> Option<ParkedImage> {
        Some(ParkedImage { module: "tale".into(), file: "tale.txt".into(), reason: "it is kept".into() })
    }
}

pub(crate) fn tale(tag: ModuleTag, logs: &Arc<Logs>) -> (Module, CallLog) {
    let log = CallLog::default();
    let info = ModuleInfo {
        name: "tale".into(),
        version: semver::Version::new(1, 0, 0),
        dependencies: Vec::new(),
        build_id: 1,
        compiler: String::new(),
        digest: alcedo_sys::Digest::of(b"tale"),
        origin: None,
        is_scripts: false,
        is_sealed: false,
        api: (0, 0),
        types: vec!["/Script/Tale.Speaker".into()],
        classes: Vec::new(),
        park_reason: None,
        unhooked: Vec::new(),
        c_heap_shared: None,
        permissions: Declaration::default(),
    };
    let code = Box::new(Tale { log: log.clone(), is_there: Mutex::new(true) });
    (Module::new(info, tag, code, Leases::new("tale"), logs, None), log)
}
