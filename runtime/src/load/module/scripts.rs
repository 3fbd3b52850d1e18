//! Implements [`ModuleCode`] for script packages. The code is the parsed source. A load creates the classes of packages in the step that
//! also creates the classes of libraries. The functions of a package are dropped with its classes, so the unload of a package unmaps no
//! image and does not wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::emit::described::Described;
use crate::load::module::code::ModuleCode;
use crate::script::package::Package;
use crate::unload::image::Unused;
use crate::unload::job::{CodeStep, CodeUnload};
use crate::unload::policy::UnloadPolicy;
use crate::unload::report::{ModuleEnd, ParkedImage};

pub(crate) struct ScriptCode {
    package: Arc<Package>,
    is_there: AtomicBool,
}

impl ScriptCode {
    pub(crate) fn new(package: Arc<Package>) -> Box<Self> {
        Box::new(Self { package, is_there: AtomicBool::new(true) })
    }

    fn take(&self) -> bool {
        self.is_there.swap(false, Ordering::AcqRel)
    }
}

impl ModuleCode for ScriptCode {
    fn described(&self) -> Described {
        Described::default()
    }

    fn build_id(&self) -> Option<u128> {
        Some(self.package.digest.number())
    }

    fn scripts(&self) -> Option<&Arc<Package>> {
        Some(&self.package)
    }

    fn hand_over(&self, _policy: &UnloadPolicy, _unused: Unused<'_>) -> Option<Box<dyn CodeUnload>> {
        self.take().then(|| Box::new(ScriptEnd { module: self.package.name.clone() }) as Box<dyn CodeUnload>)
    }

    fn abandon(&self) -> bool {
        self.take()
    }
}

/// Unload of a package that accepts no calls. The host owns the source and the tables of the package. Both are dropped with the last
/// reference.
struct ScriptEnd {
    module: String,
}

impl CodeUnload for ScriptEnd {
    fn is_quiet(&self) -> bool {
        true
    }

    fn advance(&mut self) -> CodeStep {
        CodeStep::Gone(Box::new(ModuleEnd { module: self.module.clone(), ..ModuleEnd::default() }))
    }

    fn park(&mut self) -> Option<ParkedImage> {
        let (module, file) = (self.module.clone(), self.module.clone());
        Some(ParkedImage { module, file, reason: "it has not ended".into() })
    }
}
