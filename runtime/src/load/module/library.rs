//! Library as the code of a module: private copy, mapped and attached image, and unload.
#![expect(unsafe_code, reason = "maps images, follows them to their root modules, attaches and unmaps them")]

use std::alloc::Layout;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use abi_stable::StableAbi as _;
use abi_stable::abi_stability::abi_checking::{CheckingGlobals, check_layout_compatibility_with_globals};
use abi_stable::library::{AbiHeaderRef, LibHeader};
use abi_stable::std_types::RStr;
use alcedo_abi::abi_stable;
use alcedo_abi::module::{ModuleRef, ROOT_SYMBOL};
use alcedo_sys::{Image, ImageFile, Ledger, MapError, StageDir, StagedFile};

use crate::boundary::CallError;
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
use crate::load::park_reason::ParkReason;
use crate::load::static_tls;
use crate::logs::Logs;
use crate::sync::lock;
use crate::unload::image::{ImageFacts, ImageUnload};
use crate::unload::job::CodeUnload;
use crate::unload::policy::UnloadPolicy;

/// Private copy of a library that passed every check before mapping.
pub(crate) struct Staged {
    pub info: ModuleInfo,
    file: StagedFile,
    ledger: Option<Arc<Ledger>>,
    static_tls: Option<Box<static_tls::Part>>,
}

impl Staged {
    /// Maps the library and checks its root module. Its initializers run on this thread. On an error of the linker or the
    /// layout check the image is unmapped.
    pub(crate) fn map(self) -> Result<(ModuleInfo, Mapped), LoadError> {
        let Self { info, file, ledger, static_tls } = self;
        // SAFETY: the file's manifest section was read and admitted, so the file is a module; its initializers are the author's
        // and run here, on the loading thread.
        let image =
            unsafe { Image::map(file, ledger) }.map_err(|error| in_words(&info.name, static_tls.as_deref(), error))?;
        if let Some(part) = static_tls {
            static_tls::note_mapped(&info.name, *part);
        }
        // A dropped image stays mapped, so no panic may unwind past the two locations that unmap it.
        let checked = caught(|| {
            faults::at(ReloadStep::Map)?;
            let root = root_of(&image, &info.name)?;
            faults::at(ReloadStep::LayoutCheck)?;
            Ok(root)
        });
        match checked {
            Ok(root) => Ok((info, Mapped { image, root })),
            Err(error) => {
                // SAFETY: nothing of the image is kept: the strings of the error are copies.
                let _gone = unsafe { image.unmap() };
                Err(error)
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the module's name and the path of the copy, for the canary process.
    pub(crate) fn candidate(&self) -> (String, OsString) {
        (self.info.name.clone(), self.path().into())
    }
}

/// Creates the private copy of a library, with the address of its hook context, and a file with its separate debug symbols, if
/// any. Returns an error if the copy cannot be written.
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

/// Mapped library with a checked layout. Stays mapped when dropped.
pub(crate) struct Mapped {
    image: Image,
    root: ModuleRef,
}

/// Module without code.
pub(crate) struct Codeless<'a> {
    pub info: ModuleInfo,
    pub tag: ModuleTag,
    /// Leases of users of the code.
    pub leases: Arc<Leases>,
    pub logs: &'a Arc<Logs>,
    /// Host context for the attachment.
    pub context: LastingContext,
}

impl Mapped {
    /// Checks the layout of an image. On an error the image stays mapped.
    pub(crate) fn of(image: Image, module: &str) -> Result<Self, LoadError> {
        root_of(&image, module).map(|root| Self { image, root })
    }

    pub(crate) fn described(&self) -> Described {
        Described::of(self.root)
    }

    /// Attaches the library and leaves it mapped permanently. Returns an error if the library rejects the host.
    pub(crate) fn attach_for_good(&self, context: LastingContext) -> Result<(), CallError> {
        let (context, kept) = context.into_parts();
        std::mem::forget(kept);
        // SAFETY: the image is mapped, since this value owns it. Everything that the context refers to exists, as its type
        // promises, or is leaked.
        unsafe { Entries::of(self.root, &context) }.map(|_entries| ())
    }

    pub(crate) fn park(self) {
        let _mapped = self.image.park();
    }

    /// Adds this code to a module and attaches it, on this thread. `whole` builds the structure around the module before any
    /// module code runs, `of` returns the module in it, `ready` is the last fallible step, and `undo` reverts `whole`. On an
    /// error the image is unloaded.
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
            // SAFETY: the image is mapped: the module's code owns it, and the caller that unloads it promises that nothing of
            // it is used. Everything that the context refers to exists, as its type promises, or is kept by the module for as
            // long.
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

/// Mapped image with a checked layout.
struct LibraryCode {
    root: ModuleRef,
    /// Entry points, once the image is attached.
    attached: Arc<OnceLock<Entries>>,
    path: PathBuf,
    ledger: Option<Arc<Ledger>>,
    /// `Some` until the image is handed over.
    image: Mutex<Option<Image>>,
    module: String,
    /// Short reason why the image must stay mapped, if any.
    will_park: Option<String>,
    c_heap_shared: Option<String>,
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
            will_park: info.park_reason.as_ref().map(ParkReason::briefly),
            c_heap_shared: info.c_heap_shared.clone(),
        })
    }

    fn entries(&self) -> Result<&Entries, CallError> {
        self.attached.get().ok_or_else(|| CallError::Unavailable { what: format!("module {}", self.module) })
    }

    /// Returns the ledger until the image is handed over; `None` for an image without hooks.
    fn living_ledger(&self) -> Option<Arc<Ledger>> {
        lock(&self.image).is_some().then(|| self.ledger.clone()).flatten()
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

    fn request_stop(&self) {
        if let Some(ledger) = self.living_ledger() {
            ledger.request_stop();
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
        let image = lock(&self.image).take()?;
        let facts = ImageFacts {
            module: self.module.clone(),
            detach: self.root.detach(),
            heap_bytes: self.root.heap_bytes(),
            will_park: self.will_park.clone(),
            c_heap_shared: self.c_heap_shared.clone(),
        };
        // SAFETY: the caller promises that nothing of the code is used once its unload begins.
        Some(Box::new(unsafe { ImageUnload::new(image, facts, policy) }))
    }

    unsafe fn discard(&self) {
        let Some(image) = lock(&self.image).take() else { return };
        if let Some(ledger) = image.ledger() {
            // Runs while the module is still attached, since a destructor may log.
            ledger.run_thread_locals_here();
        }
        (self.root.detach())();
        let _gone = match self.will_park {
            Some(_) => image.park(),
            // SAFETY: the caller promises that nothing of the code is used any more.
            None => unsafe { image.unmap() },
        };
    }

    fn abandon(&self) -> bool {
        let Some(image) = lock(&self.image).take() else { return false };
        let parked = image.park();
        tracing::debug!(module = self.module, ?parked, "an image stays");
        true
    }
}

fn in_words(module: &str, own: Option<&static_tls::Part>, error: MapError) -> LoadError {
    match error {
        // Static TLS is the only kind of memory that the linker names.
        MapError::Open { path, reason } if reason.contains("static TLS") => {
            let (file, reason) = reason.rsplit_once(": ").unwrap_or(("", &reason));
            // The linker names the rejected library: the plugin, or one that the plugin links.
            let library = (Path::new(file) != path && !file.is_empty()).then_some(Path::new(file));
            LoadError::StaticTls { module: module.to_owned(), reason: static_tls::reason(module, reason, library, own) }
        }
        error => error.into(),
    }
}

/// Returns the root module of an image after comparing its layout, with temporary globals: the global cache of the checker
/// would keep pointers into unmapped images.
fn root_of(image: &Image, module: &str) -> Result<ModuleRef, LoadError> {
    let differs = |difference: String| LoadError::RootModule { module: module.to_owned(), difference };
    // Layout of the whole header; the part that is checked first is only its beginning.
    let whole = Layout::new::<LibHeader>();
    // SAFETY: the symbol is the header that the `module!` macro exports; its magic is tested by `upgrade`.
    let header = unsafe { image.symbol_of::<AbiHeaderRef>(ROOT_SYMBOL, whole) }?;
    let header: &LibHeader = header.upgrade().map_err(|error| differs(error.to_string()))?;
    let Some(layout) = header.root_mod_consts().layout().into_option() else {
        return Err(differs("it carries no layout to compare".into()));
    };
    // Formatted while the image is mapped, since the errors point into it.
    check_layout_compatibility_with_globals(ModuleRef::LAYOUT, layout, &CheckingGlobals::new())
        .map_err(|errors| differs(errors.to_string()))?;
    // SAFETY: the layout was compared just now.
    unsafe { header.unchecked_layout::<ModuleRef>() }.map_err(|error| differs(format!("{error:?}")))
}
