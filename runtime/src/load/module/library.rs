//! A library as the code of a module: from its private copy to an image that is mapped and attached, and back.
#![expect(unsafe_code, reason = "maps images, follows them to their root modules, attaches and unmaps them")]

use std::alloc::Layout;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use abi_stable::StableAbi as _;
use abi_stable::abi_stability::abi_checking::{CheckingGlobals, check_layout_compatibility_with_globals};
use abi_stable::library::{AbiHeaderRef, LibHeader};
use abi_stable::std_types::RStr;
use alcedo_abi::abi_stable;
use alcedo_abi::module::{ModuleRef, ROOT_SYMBOL};
use alcedo_sys::{Image, ImageFile, Ledger, MapError, StageDir, StagedFile};

use crate::border::CallError;
use crate::conjugate::gate::ModuleTag;
use crate::emit::described::Described;
use crate::faults::{self, ReloadStep};
use crate::host_api::LastingContext;
use crate::lease::Leases;
use crate::load::entries::Entries;
use crate::load::error::{LoadError, caught};
use crate::load::hooks::Attachment;
use crate::load::module::Module;
use crate::load::module::code::ModuleCode;
use crate::load::module::info::ModuleInfo;
use crate::load::static_tls;
use crate::load::stays::Stays;
use crate::logs::Logs;
use crate::unload::image::{ImageFacts, ImageUnload};
use crate::unload::job::CodeUnload;
use crate::unload::policy::UnloadPolicy;

/// A library that passed every check that needs no mapping, and its private copy.
pub(crate) struct Staged {
    /// What it says of itself.
    pub info: ModuleInfo,
    file: StagedFile,
    ledger: Option<Arc<Ledger>>,
    static_tls: Option<Box<static_tls::Part>>,
}

impl Staged {
    /// Maps it and checks its root module. Its initialisers run on this thread.
    ///
    /// # Errors
    /// When the linker refuses it or its layout differs. The image is unmapped then.
    pub(crate) fn map(self) -> Result<(ModuleInfo, Mapped), LoadError> {
        let Self { info, file, ledger, static_tls } = self;
        // SAFETY: the file's manifest section was read and admitted, so it is a module; its initialisers are the
        // author's and run here, on the thread that loads.
        let image =
            unsafe { Image::map(file, ledger) }.map_err(|error| in_words(&info.name, static_tls.as_deref(), error))?;
        if let Some(part) = static_tls {
            static_tls::is_taken(&info.name, *part);
        }
        // An image that is dropped stays mapped, so nothing may unwind past the two places that unmap it.
        let checked = caught(|| {
            faults::at(ReloadStep::Map)?;
            let root = root_of(&image, &info.name)?;
            faults::at(ReloadStep::LayoutCheck)?;
            Ok(root)
        });
        match checked {
            Ok(root) => Ok((info, Mapped { image, root })),
            Err(error) => {
                // SAFETY: nothing of the image is kept: the error's texts are copies.
                let _gone = unsafe { image.unmap() };
                Err(error)
            }
        }
    }

    /// Where the copy is.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Its name and where the copy is, for a process that maps it first.
    pub(crate) fn candidate(&self) -> (String, OsString) {
        (self.info.name.clone(), self.path().into())
    }
}

/// The private copy of a library, with the way to its host written into it, and beside it what debuggers read, if that
/// came apart.
///
/// # Errors
/// When the copy cannot be written.
pub(crate) fn copy(
    dir: &StageDir,
    image: ImageFile,
    info: ModuleInfo,
    symbols: Option<&[u8]>,
) -> Result<Staged, LoadError> {
    let attachment = Attachment::new(&image, &info.name);
    let static_tls = static_tls::Part::of(&image);
    let patch = attachment.as_ref().map(Attachment::patch);
    let patches: Vec<_> = patch.iter().map(|(section, at, bytes)| (*section, *at, bytes.as_slice())).collect();
    let file = dir.stage_whole(image, &info.name, symbols, &patches)?;
    Ok(Staged { info, file, ledger: attachment.map(|attachment| attachment.ledger), static_tls })
}

/// A library that is mapped, and whose layout was checked. Dropped, it stays mapped.
pub(crate) struct Mapped {
    image: Image,
    root: ModuleRef,
}

/// A module that has no code yet.
pub(crate) struct Codeless<'a> {
    /// What its manifest says.
    pub info: ModuleInfo,
    /// Its number, name and generation.
    pub tag: ModuleTag,
    /// Who will need its code.
    pub leases: Arc<Leases>,
    /// The host's logs.
    pub logs: &'a Arc<Logs>,
    /// What it is attached with.
    pub context: LastingContext,
}

impl Mapped {
    /// An image, after its layout was checked.
    ///
    /// # Errors
    /// When it is no module, or its layout differs; the image stays mapped.
    pub(crate) fn of(image: Image, module: &str) -> Result<Self, LoadError> {
        root_of(&image, module).map(|root| Self { image, root })
    }

    /// What it declares.
    pub(crate) fn described(&self) -> Described {
        Described::of(self.root)
    }

    /// Attaches it and leaves it mapped, for good.
    ///
    /// # Errors
    /// When it does not take its host.
    pub(crate) fn attach_for_good(&self, context: LastingContext) -> Result<(), CallError> {
        let (context, kept) = context.into_parts();
        std::mem::forget(kept);
        // SAFETY: the image is mapped, since this value has it. What the context leads to stays, as its type says, or is kept for
        // good.
        unsafe { Entries::of(self.root, &context) }.map(|_entries| ())
    }

    /// Leaves it mapped for good.
    pub(crate) fn park(self) {
        let _mapped = self.image.park();
    }

    /// Gives a module this code and attaches it, on this thread: `whole` puts together what is around the module before anything
    /// of it runs, `of` leads back to the module, `ready` is the last that can refuse, and `undo` takes back what `whole` has
    /// done.
    ///
    /// # Errors
    /// When it does not take its host, or is refused. The image has ended then.
    pub(crate) fn attach<M>(
        self,
        codeless: Codeless<'_>,
        whole: impl FnOnce(Module) -> M,
        of: fn(&M) -> &Module,
        ready: impl FnOnce(&M) -> Result<(), LoadError>,
        undo: impl FnOnce(&M),
    ) -> Result<M, LoadError> {
        let Codeless { info, tag, leases, logs, context } = codeless;
        let (context, kept) = context.into_parts();
        let (root, attached) = (self.root, Arc::new(OnceLock::new()));
        let code = LibraryCode::new(&info, self, Arc::clone(&attached));
        let module = whole(Module::new(info, tag, code, leases, logs, kept));
        let done = caught(|| {
            // SAFETY: the image is mapped: the module's code has it, and whoever ends that promises that nothing of it is used.
            // What the context leads to stays, as its type says, or is kept by the module for as long.
            let entries = unsafe { Entries::of(root, &context) };
            let entries =
                entries.map_err(|error| LoadError::Attach { module: of(&module).name().to_owned(), error })?;
            attached.get_or_init(|| entries);
            ready(&module)
        });
        match done {
            Ok(()) => Ok(module),
            Err(error) => {
                undo(&module);
                // SAFETY: the module never ran: it declared nothing and nothing of it is held.
                unsafe { of(&module).code().discard() };
                Err(error)
            }
        }
    }
}

/// An image that is mapped, and whose layout was checked.
struct LibraryCode {
    root: ModuleRef,
    /// What is called of it, once it is attached.
    attached: Arc<OnceLock<Entries>>,
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
    fn new(info: &ModuleInfo, library: Mapped, attached: Arc<OnceLock<Entries>>) -> Box<Self> {
        let Mapped { image, root } = library;
        Box::new(Self {
            root,
            attached,
            path: image.path().to_owned(),
            ledger: image.ledger().cloned(),
            image: Mutex::new(Some(image)),
            module: info.name.clone(),
            will_park: info.stays.as_ref().map(Stays::briefly),
            gives_blocks_away: info.gives_blocks_away.clone(),
        })
    }

    fn entries(&self) -> Result<&Entries, CallError> {
        self.attached.get().ok_or_else(|| CallError::Unavailable { what: format!("module {}", self.module) })
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
        self.entries()?.main(args.as_slice().into())
    }

    fn suspends(&self) -> bool {
        self.entries().is_ok_and(|entries| entries.suspends().is_some_and(|suspends| suspends != 0))
    }

    fn suspend(&self) -> Result<(), CallError> {
        self.entries()?.suspend()
    }

    fn resume(&self) -> Result<(), CallError> {
        self.entries()?.resume()
    }

    fn last(&self, has_started: bool) -> Result<(), CallError> {
        match has_started {
            true => self.entries()?.exit(),
            false => self.entries()?.dispose(),
        }
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
        // SAFETY: our caller promises that nothing of the code is used once its end begins.
        Some(Box::new(unsafe { ImageUnload::new(image, facts, policy) }))
    }

    unsafe fn discard(&self) {
        let Some(image) = self.image().take() else { return };
        if let Some(ledger) = image.ledger() {
            // While the module still has its host: a destructor may log.
            ledger.run_thread_locals_here();
        }
        (self.root.detach())();
        let _gone = match self.will_park {
            Some(_) => image.park(),
            // SAFETY: our caller promises that nothing of the code is used any more.
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

/// What the linker said of a module, with the way out where that is known.
fn in_words(module: &str, own: Option<&static_tls::Part>, error: MapError) -> LoadError {
    match error {
        // The only kind of memory that it names.
        MapError::Open { path, reason } if reason.contains("static TLS") => {
            let (file, reason) = reason.rsplit_once(": ").unwrap_or(("", &reason));
            // The linker names the library that it refuses: the plugin, or one that the plugin needs.
            let library = (Path::new(file) != path && !file.is_empty()).then_some(Path::new(file));
            LoadError::StaticTls { module: module.to_owned(), reason: static_tls::reason(module, reason, library, own) }
        }
        error => error.into(),
    }
}

/// The root module of an image, after its layout was compared with throw-away globals: the checker's own cache would
/// keep pointers into images that are long gone.
fn root_of(image: &Image, module: &str) -> Result<ModuleRef, LoadError> {
    let differs = |difference: String| LoadError::RootModule { module: module.to_owned(), difference };
    // The whole header, of which the part that is looked at first is only the beginning.
    let whole = Layout::new::<LibHeader>();
    // SAFETY: the symbol is the header that the `module!` macro exports; its magic is tested by `upgrade`.
    let header = unsafe { image.symbol_of::<AbiHeaderRef>(ROOT_SYMBOL, whole) }?;
    let header: &LibHeader = header.upgrade().map_err(|error| differs(error.to_string()))?;
    let Some(layout) = header.root_mod_consts().layout().into_option() else {
        return Err(differs("it carries no layout to compare".into()));
    };
    // Printed while the image is mapped: the errors point into it.
    check_layout_compatibility_with_globals(ModuleRef::LAYOUT, layout, &CheckingGlobals::new())
        .map_err(|errors| differs(errors.to_string()))?;
    // SAFETY: the layout was compared just now.
    unsafe { header.unchecked_layout::<ModuleRef>() }.map_err(|error| differs(format!("{error:?}")))
}
