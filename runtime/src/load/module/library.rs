//! A library as the code of a module: an image that is mapped, and the functions of its root module.
#![expect(unsafe_code, reason = "calls the functions of the root module and unmaps the image")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abi_stable::std_types::RStr;
use alcedo_abi::abi_stable;
use alcedo_abi::module::ModuleRef;
use alcedo_sys::{Image, Ledger};

use crate::border::CallError;
use crate::emit::described::Described;
use crate::load::entries::Entries;
use crate::load::module::code::ModuleCode;
use crate::load::module::info::ModuleInfo;
use crate::load::stays::Stays;
use crate::unload::image::{ImageFacts, ImageUnload};
use crate::unload::job::CodeUnload;
use crate::unload::policy::UnloadPolicy;

/// An image that is mapped, and whose layout was checked.
pub(crate) struct LibraryCode {
    root: ModuleRef,
    path: PathBuf,
    ledger: Option<Arc<Ledger>>,
    /// Until it is handed over.
    image: Mutex<Option<Image>>,
    module: String,
    /// Why its image will stay, briefly; none as a rule.
    will_park: Option<String>,
    gives_blocks_away: Option<String>,
}

impl LibraryCode {
    /// Of an image whose root module this is.
    ///
    /// # Safety
    /// The module is attached before any call into it, which reading its descriptions is not.
    pub(crate) unsafe fn new(info: &ModuleInfo, root: ModuleRef, image: Image) -> Box<Self> {
        Box::new(Self {
            root,
            path: image.path().to_owned(),
            ledger: image.ledger().cloned(),
            image: Mutex::new(Some(image)),
            module: info.name.clone(),
            will_park: info.stays.as_ref().map(Stays::briefly),
            gives_blocks_away: info.gives_blocks_away.clone(),
        })
    }

    /// What the image has put into the process, until it is handed over; none where it has no hooks.
    fn living_ledger(&self) -> Option<Arc<Ledger>> {
        self.image().is_some().then(|| self.ledger.clone()).flatten()
    }

    fn image(&self) -> MutexGuard<'_, Option<Image>> {
        self.image.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ModuleCode for LibraryCode {
    fn described(&self) -> Described {
        Described::of(self.root)
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn main(&self, args: &[String]) -> Result<(), CallError> {
        let args: Vec<RStr<'_>> = args.iter().map(|arg| RStr::from_str(arg)).collect();
        // SAFETY: who made this value has attached the module, and its caller keeps it mapped; the arguments are lent for the
        // call.
        unsafe { Entries(self.root).main(args.as_slice().into()) }
    }

    fn suspends(&self) -> bool {
        Entries(self.root).gives_up()
    }

    fn suspend(&self) -> Result<(), CallError> {
        // SAFETY: who made this value has attached the module, and its caller keeps it mapped.
        unsafe { Entries(self.root).suspend() }
    }

    fn resume(&self) -> Result<(), CallError> {
        // SAFETY: who made this value has attached the module, and its caller keeps it mapped.
        unsafe { Entries(self.root).resume() }
    }

    fn last(&self, has_started: bool) -> Result<(), CallError> {
        // SAFETY: who made this value has attached the module, which is mapped until its caller hands it over.
        unsafe { Entries(self.root).last(has_started) }
    }

    fn ask_to_stop(&self) {
        if let Some(ledger) = self.living_ledger() {
            ledger.ask_to_stop();
        }
    }

    fn end_thread_locals_here(&self) {
        if let Some(ledger) = self.living_ledger() {
            ledger.run_thread_locals_here();
        }
    }

    fn thread_locals(&self) -> Option<Box<dyn Fn() + Send>> {
        let ledger = self.ledger.clone()?;
        Some(Box::new(move || {
            ledger.run_thread_locals_here();
        }))
    }

    unsafe fn hand_over(&self, policy: &UnloadPolicy) -> Option<Box<dyn CodeUnload>> {
        let image = self.image().take()?;
        let facts = ImageFacts {
            module: self.module.clone(),
            detach: self.root.detach(),
            heap_bytes: self.root.heap_bytes(),
            will_park: self.will_park.clone(),
            gives_blocks_away: self.gives_blocks_away.clone(),
        };
        // SAFETY: promised by the caller.
        Some(Box::new(unsafe { ImageUnload::new(image, facts, policy) }))
    }

    unsafe fn discard(&self) {
        let Some(image) = self.image().take() else { return };
        if let Some(ledger) = image.ledger() {
            // While the module still has its host: a destructor may log.
            ledger.run_thread_locals_here();
        }
        Entries(self.root).detach();
        let _gone = match self.will_park {
            Some(_) => image.park(),
            // SAFETY: promised by the caller.
            None => unsafe { image.unmap() },
        };
    }

    fn abandon(&self) -> bool {
        let Some(image) = self.image().take() else { return false };
        let parked = image.park();
        tracing::debug!(module = self.module, ?parked, "an image stays");
        true
    }
}
