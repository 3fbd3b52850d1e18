//! Implements [`ModuleCode`] for libraries. Creates the private copy, maps and attaches the image, calls its entry points, and unloads the
//! image.
#![expect(unsafe_code, reason = "maps images, follows them to their root modules, attaches and unmaps them")]

use std::alloc::Layout;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use abi_stable::StableAbi as _;
use abi_stable::library::{AbiHeaderRef, LibHeader};
use alcedo_abi::abi_stable;
use alcedo_abi::agreement::agree;
use alcedo_abi::list::prelude::*;
use alcedo_abi::module::{ModuleRef, ROOT_SYMBOL};
use alcedo_sys::{Image, ImageFile, Ledger, MapError, StageDir, StagedFile, Unmapped, Use};

use crate::boundary::{CallError, from_module};
use crate::conjugate::gate::ModuleTag;
use crate::emit::described::Described;
use crate::faults::{self, ReloadStep};
use crate::host_api::LastingContext;
use crate::lease::Leases;
use crate::load::canary::protocol::Candidate;
use crate::load::error::{LoadError, caught};
use crate::load::hooks::Attachment;
use crate::load::module::Module;
use crate::load::module::code::ModuleCode;
use crate::load::module::info::ModuleInfo;
use crate::load::park_reason::ParkReason;
use crate::load::permissions::PermissionPolicy;
use crate::load::static_tls;
use crate::logs::Logs;
use crate::sync::lock;
use crate::unload::image::{ImageFacts, ImageUnload, Unused};
use crate::unload::job::CodeUnload;
use crate::unload::policy::UnloadPolicy;
use crate::unload::report::ParkedImage;

/// Private copy of a library. All checks that are possible before mapping have succeeded.
pub(crate) struct Staged {
    pub info: ModuleInfo,
    file: StagedFile,
    ledger: Option<Arc<Ledger>>,
    static_tls: Option<Box<static_tls::Part>>,
}

impl Staged {
    /// Maps the library and checks its root module. The initializers of the library run on this thread. If the dynamic linker
    /// or the layout check fails, the image is unmapped, unless the image must stay mapped. `note_parked` receives an image that stays
    /// mapped after a failed check.
    pub(crate) fn map(self, note_parked: &dyn Fn(ParkedImage)) -> Result<(ModuleInfo, Mapped), LoadError> {
        let Self { info, file, ledger, static_tls } = self;
        // SAFETY: the manifest section of the file was read and admitted, so the file is a module. Its initializers are code of
        // the plugin author, and run here on the loading thread.
        let image =
            unsafe { Image::map(file, ledger) }.map_err(|error| in_words(&info.name, static_tls.as_deref(), error))?;
        if let Some(part) = static_tls {
            static_tls::note_mapped(&info.name, *part);
        }
        // Catches panics, because an uncaught panic would drop the [`Image`], and the library would stay mapped.
        let checked = caught(|| {
            faults::at(ReloadStep::Map)?;
            let root = root_of(&image, &info.name)?;
            faults::at(ReloadStep::LayoutCheck)?;
            Ok(root)
        });
        match checked {
            Ok(root) => Ok((info, Mapped { image, root })),
            Err(error) => {
                let (unmapped, because) = match &info.park_reason {
                    // Parks the image, because the hooks have not recorded all that the initializers have registered.
                    Some(reason) => (image.park(), Some(reason.briefly())),
                    // SAFETY: no reference to the image is kept; the strings of the error are copies.
                    None => (unsafe { image.unmap() }, None),
                };
                if let Unmapped::Parked { path, reason } = unmapped {
                    note_parked(ParkedImage::new(&info.name, &path, because.unwrap_or(reason)));
                }
                Err(error)
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the copy as a candidate for the canary process. `policy` is the permission policy of the host.
    pub(crate) fn candidate(&self, policy: PermissionPolicy) -> Candidate {
        let refuses_undeclared = policy == PermissionPolicy::Refuse && self.info.permissions.permissions().is_some();
        Candidate { name: self.info.name.clone(), path: self.path().into(), refuses_undeclared }
    }
}

/// Creates the private copy of a library. Writes the address of the hook context into the copy. Writes separate debug symbols to a second
/// file. Returns an error if the copy cannot be written.
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

/// Mapped library with a checked layout. Dropping this value keeps the image mapped.
pub(crate) struct Mapped {
    image: Image,
    root: ModuleRef,
}

/// Parts of a module, except its code.
pub(crate) struct Codeless<'a> {
    pub info: ModuleInfo,
    pub tag: ModuleTag,
    /// Leases on the code of the module.
    pub leases: Arc<Leases>,
    pub logs: &'a Arc<Logs>,
    /// Host context for the attachment of the module.
    pub context: LastingContext,
}

impl Mapped {
    /// Checks that the types of the image's root module have the layouts that the host expects. If the check fails, the image stays mapped.
    pub(crate) fn of(image: Image, module: &str) -> Result<Self, LoadError> {
        root_of(&image, module).map(|root| Self { image, root })
    }

    pub(crate) fn described(&self) -> Described {
        Described::of(self.root)
    }

    /// Attaches the library. The library then stays mapped permanently, and the objects of its host context are leaked. Returns an error if
    /// the library rejects the host.
    pub(crate) fn attach_for_good(&self, context: LastingContext) -> Result<(), CallError> {
        let (context, kept) = context.into_parts();
        std::mem::forget(kept);
        // SAFETY: the image is mapped, because this value owns it. Everything that the context refers to exists, as the
        // context's type promises, or is leaked.
        unsafe { Entries::of(self.root, &context) }.map(|_entries| ())
    }

    pub(crate) fn park(self) {
        let _mapped = self.image.park();
    }

    /// Adds this code to a module and attaches the code, on this thread. `whole` wraps the module in an `M` before any module code runs.
    /// `ready` is the last step that can fail. After an error, the caller unloads the module.
    pub(crate) fn attach<M>(
        self,
        codeless: Codeless<'_>,
        whole: impl FnOnce(Module) -> M,
        ready: impl FnOnce(&M) -> Result<(), LoadError>,
    ) -> (M, Result<(), LoadError>) {
        let Codeless { info, tag, leases, logs, context } = codeless;
        let (context, kept) = context.into_parts();
        let (root, attached) = (self.root, Arc::new(OnceLock::new()));
        let (name, code) = (info.name.clone(), LibraryCode::new(&info, self, Arc::clone(&attached)));
        let module = whole(Module::new(info, tag, code, leases, logs, kept));
        let done = caught(|| {
            // SAFETY: the image is mapped, because the module's code owns it. The caller that unloads the image promises that
            // no part of it is used afterwards. Everything that the context refers to exists, as its type promises, or is kept
            // by the module while the image is mapped.
            let entries = unsafe { Entries::of(root, &context) };
            let entries = entries.map_err(|error| LoadError::Attach { module: name, error })?;
            attached.get_or_init(|| entries);
            ready(&module)
        });
        (module, done)
    }
}

/// Entry points of an attached module, as methods that a macro generates from the list in `alcedo_abi::list`.
struct Entries(ModuleRef);

/// Result type of an entry point. Expands to `Option` for an optional entry point, and to the plain result for an entry point that cannot
/// fail.
macro_rules! call_result {
    (always) => { () };
    (always $result:ty) => { $result };
    (always $result:ty; $failure:ident) => { Result<(), CallError> };
    (maybe $result:ty) => { Option<$result> };
    (maybe $result:ty; $failure:ident) => { Result<(), CallError> };
}

macro_rules! called {
    (always $call:expr; $($arg:ident)*) => {
        $call($($arg),*)
    };
    (maybe $call:expr; $($arg:ident)*) => {
        $call.map(|call| call($($arg),*))
    };
    (always $call:expr; $($arg:ident)*; $failure:ident) => {
        called!(maybe Some($call); $($arg)*; $failure)
    };
    (maybe $call:expr; $($arg:ident)*; $failure:ident) => {
        match $call {
            // SAFETY: the caller of `Entries::of` promised that the module is mapped, and `attach` was the first call. The
            // arguments are borrowed for this call.
            Some(call) => from_module(|$failure| unsafe { call($($arg,)* $failure) }),
            None => Ok(()),
        }
    };
}

macro_rules! entries {
    (
        $(#[doc = $table_doc:tt])*
        $table:ident, $reference:ident;
        $(
            $(#[doc = $doc:tt])*
            $(#[sabi($($mark:tt)+)])?
            $since:ident($($safety:tt)?)
            fn $name:ident($($param:ident: $ty:ty),* $(; or $failure:ident)?) $(-> $result:ty)?;
        )*
    ) => {
        #[allow(dead_code, reason = "a pointer that outlives the module is taken from the table itself")]
        impl Entries {
            $(
                $(#[doc = $doc])*
                fn $name(&self, $($param: $ty),*) -> call_result!($since $($result)? $(; $failure)?) {
                    called!($since self.0.$name(); $($param)* $(; $failure)?)
                }
            )*
        }
    };
}

alcedo_abi::module_functions!(entries);

impl Entries {
    /// Attaches a module to its host by the first call into the module. Returns an error if the module rejects the host.
    ///
    /// # Safety
    /// The module must stay mapped while the result is used. Everything that `context` refers to must exist while the module
    /// is mapped.
    unsafe fn of(root: ModuleRef, context: &ModuleContext) -> Result<Self, CallError> {
        let entries = Self(root);
        entries.attach(context).map(|()| entries)
    }
}

/// Code of a module in a mapped image with a checked layout.
struct LibraryCode {
    root: ModuleRef,
    /// Entry points. Set once the image is attached.
    attached: Arc<OnceLock<Entries>>,
    path: PathBuf,
    ledger: Option<Arc<Ledger>>,
    /// Mapped image. `None` once the unload has taken over the image.
    image: Mutex<Option<Image>>,
    facts: ImageFacts,
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
            facts: ImageFacts {
                module: info.name.clone(),
                detach: root.detach(),
                heap_bytes: root.heap_bytes(),
                will_park: info.park_reason.as_ref().map(ParkReason::briefly),
                c_heap_shared: info.c_heap_shared.clone(),
            },
        })
    }

    fn entries(&self) -> Result<&Entries, CallError> {
        self.attached.get().ok_or_else(|| CallError::Unavailable { what: format!("module {}", self.facts.module) })
    }

    /// Returns the ledger of the image. `None` for an image without hooks, and after the image was handed over for its unload.
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

    fn build_id(&self) -> Option<u128> {
        let bytes = self.entries().ok()?.build_id()?;
        bytes.as_slice().try_into().ok().map(u128::from_le_bytes)
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
        // A module whose attachment failed has no entry points.
        let Some(entries) = self.attached.get() else { return Ok(()) };
        if has_started { entries.exit() } else { entries.dispose() }
    }

    fn uses(&self) -> Vec<Use> {
        self.living_ledger().map(|ledger| ledger.uses()).unwrap_or_default()
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

    fn hand_over(&self, policy: &UnloadPolicy, unused: Unused<'_>) -> Option<Box<dyn CodeUnload>> {
        assert!(unused.is_of(self), "the promise is for other code");
        let image = lock(&self.image).take()?;
        // SAFETY: the creator of `unused` promised that no part of this code is used after its unload has begun.
        Some(Box::new(unsafe { ImageUnload::new(image, self.facts.clone(), policy) }))
    }

    fn abandon(&self) -> bool {
        let Some(image) = lock(&self.image).take() else { return false };
        let parked = image.park();
        log!(DEBUG, module = self.facts.module, ?parked, "an image stays");
        true
    }
}

fn in_words(module: &str, own: Option<&static_tls::Part>, error: MapError) -> LoadError {
    match error {
        // Detects exhausted static TLS by the message of the dynamic linker, because the dynamic linker reports no error codes.
        MapError::Open { path, reason } if reason.contains("static TLS") => {
            let (file, reason) = reason.rsplit_once(": ").unwrap_or(("", &reason));
            // The message begins with the path of the rejected library. The rejected library is the plugin, or a library that the plugin
            // links.
            let library = (Path::new(file) != path && !file.is_empty()).then_some(Path::new(file));
            LoadError::StaticTls { module: module.to_owned(), reason: static_tls::reason(module, reason, library, own) }
        }
        error => error.into(),
    }
}

/// Checks the layout of an image and returns its root module.
fn root_of(image: &Image, module: &str) -> Result<ModuleRef, LoadError> {
    let differs = |difference: String| LoadError::RootModule { module: module.to_owned(), difference };
    // Passes the layout of the whole header, because `AbiHeaderRef` describes only the beginning of the header.
    let whole = Layout::new::<LibHeader>();
    // SAFETY: the symbol is the header that the `module!` macro exports. `upgrade` tests the magic number of the header.
    let header = unsafe { image.symbol_of::<AbiHeaderRef>(ROOT_SYMBOL, whole) }?;
    let header: &LibHeader = header.upgrade().map_err(|error| differs(error.to_string()))?;
    let Some(layout) = header.root_mod_consts().layout().into_option() else {
        return Err(differs("it carries no layout to compare".into()));
    };
    // Formats the errors before the image is unmapped, because the errors contain pointers into the image.
    agree(ModuleRef::LAYOUT, layout).map_err(differs)?;
    // SAFETY: the layout was compared just now.
    unsafe { header.unchecked_layout::<ModuleRef>() }.map_err(|error| differs(format!("{error:?}")))
}
