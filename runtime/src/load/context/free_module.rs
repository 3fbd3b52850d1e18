//! A module that belongs to no thread: mapped and attached like one of the Master, without classes, its functions open
//! to every thread. Who may call, and until when, is not decided here: the context's door and leases do that.
#![expect(unsafe_code, reason = "calls the functions of a root module and ends its image")]

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abi_stable::std_types::RStr;
use alcedo_abi::abi_stable;
use alcedo_abi::describe::ZCallInvoke;
use alcedo_abi::host::{ModuleContext, mode};
use alcedo_abi::module::ModuleRef;
use alcedo_sys::{Image, crash};

use crate::border::{CallError, from_module};
use crate::conjugate::gate::ModuleTag;
use crate::emit::texts;
use crate::handles::{Generation, ModuleId};
use crate::host_api::{self, SharedWord};
use crate::lease::{Lease, LeaseKind, Leases, Sealed};
use crate::load::context::id::{ContextId, ModuleSummary};
use crate::load::entries::Entries;
use crate::load::error::LoadError;
use crate::load::module::ModuleInfo;
use crate::load::open::{self, Staged};
use crate::load::stays::Stays;
use crate::logs::Logs;
use crate::unload::image::{ImageFacts, ImageUnload};
use crate::unload::job::{ModuleUnload, UnloadJob};
use crate::unload::policy::UnloadPolicy;
use crate::zcall::buffer::BufferMut;

/// What a module without objects tests before it writes: there is nothing it could write to.
static MODE: AtomicU32 = AtomicU32::new(mode::NORMAL);

/// A function that a module offers. Its address is good as long as the image is mapped, which a lease sees to.
#[derive(Clone)]
pub(super) struct FreeExport {
    /// The type it belongs to, as the module says.
    pub type_path: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// `nm:/module:type:name`, for errors and reports.
    pub full: Arc<str>,
    /// Fingerprint of its signature.
    pub fingerprint: u64,
    /// The signature in words.
    pub signature: Arc<str>,
    /// The body.
    invoke: ZCallInvoke,
}

/// A module of a Slim or of the Default. Any thread.
pub(super) struct FreeModule {
    info: ModuleInfo,
    context: ContextId,
    image_path: PathBuf,
    tag: ModuleTag,
    root: ModuleRef,
    exports: Vec<FreeExport>,
    /// Whoever depends on its image holds one.
    leases: Arc<Leases>,
    /// Whoever may still call it holds one: its exit hook waits for these.
    users: Arc<Leases>,
    /// Its own dependencies, until its image is gone.
    needs: Mutex<Vec<Need>>,
    image: Mutex<Option<Image>>,
    has_started: AtomicBool,
    word: Arc<SharedWord>,
    logs: Arc<Logs>,
}

/// Why a module stays where it is for somebody who depends on it: another module, or a context whose resolver has found
/// it. Counted with the module and not with its context, so that what nobody depends on can go first.
pub(super) struct Need {
    /// Until the exit hook of who depends has run.
    use_of: Option<Lease>,
    /// Until the image of who depends is gone.
    image: Lease,
}

/// What a module is told of its host, and what the host needs to know of where it goes.
pub(super) struct Place<'a> {
    /// The number of the module.
    pub id: ModuleId,
    /// The generation of its context.
    pub context: ContextId,
    /// The host's word.
    pub word: &'a Arc<SharedWord>,
    /// The host's ear.
    pub logs: &'a Arc<Logs>,
}

impl FreeModule {
    /// Maps a staged library, checks its root module and attaches it, on this thread.
    ///
    /// # Errors
    /// When the linker refuses it, its layout differs, or it does not take its host. The image has ended then.
    pub(super) fn open(staged: Staged, needs: Vec<Need>, place: Place<'_>) -> Result<Arc<Self>, LoadError> {
        let generation = Generation(place.context.generation);
        crash::module(generation.0, &staged.info.name, staged.path());
        let (info, image, root) = open::map(staged)?;
        let tag = ModuleTag { id: place.id, name: info.name.as_str().into(), generation };
        place.logs.introduce(&tag);
        let context = ModuleContext {
            host: place.word.to_ref(),
            table: host_api::table(),
            values: host_api::values(),
            module: place.id.0,
            generation: generation.0,
            mode: &raw const MODE,
            directory: std::ptr::null(),
            slices: std::ptr::null(),
            blacks: std::ptr::null(),
            level: crate::logs::loudest(),
        };
        // SAFETY: the word is shared with this module and outlives its image; table and mode are static.
        let attached = unsafe { Entries(root).attach(&context) }
            .map_err(|error| LoadError::Attach { module: info.name.clone(), error })
            .and_then(|()| Ok(texts::check(&info.name, root)?));
        let exports = root.exports()().iter().map(|described| FreeExport::of(&info.name, described)).collect();
        let module = Arc::new(Self {
            leases: Leases::new(format!("module {}", info.name)),
            users: Leases::new(format!("module {}", info.name)),
            image_path: image.path().to_owned(),
            info,
            context: place.context,
            tag,
            root,
            exports,
            needs: Mutex::new(needs),
            image: Mutex::new(Some(image)),
            has_started: AtomicBool::new(false),
            word: Arc::clone(place.word),
            logs: Arc::clone(place.logs),
        });
        match attached {
            Ok(()) => Ok(module),
            Err(error) => {
                place.logs.forget(&module.tag);
                if let Some(image) = module.image().take() {
                    // SAFETY: the module never ran, and nobody holds anything of it but this value.
                    let _gone = unsafe { image.unmap() };
                }
                Err(error)
            }
        }
    }

    /// What its manifest says.
    pub(super) fn info(&self) -> &ModuleInfo {
        &self.info
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.info.name
    }

    /// The folder of the file it was loaded from.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.info.origin.as_deref().and_then(Path::parent)
    }

    /// What it offers.
    pub(super) fn exports(&self) -> &[FreeExport] {
        &self.exports
    }

    /// Who may still call it: modules that depend on it and have not ended, and contexts that were given it.
    pub(super) fn users(&self) -> &Leases {
        &self.users
    }

    /// Keeps it for `owner`, which is how reports name who depends on it.
    ///
    /// # Errors
    /// When it is on its way out.
    pub(super) fn lend(&self, owner: &str) -> Result<Need, Sealed> {
        let use_of = self.users.take_inside(LeaseKind::Dependent, owner)?;
        let image = self.leases.take_inside(LeaseKind::Dependent, owner)?;
        Ok(Need { use_of: Some(use_of), image })
    }

    /// Whoever depends on its image holds one.
    pub(super) fn leases(&self) -> &Arc<Leases> {
        &self.leases
    }

    /// From now on nobody new may depend on it.
    pub(super) fn seal(&self) {
        self.users.seal();
        self.leases.seal();
    }

    /// A copy for whoever asks.
    pub(super) fn summary(&self) -> ModuleSummary {
        let summary = ModuleSummary::new(&self.info, self.context, self.image_path.clone());
        summary.offering(self.exports.iter().map(|export| &*export.type_path))
    }

    /// Runs its main, on this thread. Only while a lease keeps the image.
    ///
    /// # Errors
    /// Its panic.
    pub(super) fn main(&self, args: &[String]) -> Result<(), CallError> {
        let args: Vec<RStr<'_>> = args.iter().map(|arg| RStr::from_str(arg)).collect();
        // SAFETY: the module is attached and, as a lease keeps it, mapped; the arguments are lent for the call.
        unsafe { Entries(self.root).main(args.as_slice().into()) }?;
        self.has_started.store(true, Ordering::Release);
        Ok(())
    }

    /// The generation of its context.
    pub(super) fn generation(&self) -> u64 {
        self.context.generation
    }

    /// Whether it gives something up for the next generation.
    pub(super) fn suspends(&self) -> bool {
        Entries(self.root).gives_up()
    }

    /// Has it give up what the next generation needs, on this thread. Only while a lease keeps the image, and after its main.
    ///
    /// # Errors
    /// Its own, or its panic.
    pub(super) fn suspend(&self) -> Result<(), CallError> {
        // SAFETY: the module is attached and, as a lease keeps it, mapped.
        unsafe { Entries(self.root).suspend() }
    }

    /// Has it take again what it gave up, on this thread. Only while a lease keeps the image.
    ///
    /// # Errors
    /// Its own, or its panic.
    pub(super) fn resume(&self) -> Result<(), CallError> {
        // SAFETY: the module is attached and, as a lease keeps it, mapped.
        unsafe { Entries(self.root).resume() }
    }

    /// Runs its exit hook on this thread, once, if its main has returned, and drops what was left to the module to drop. After
    /// that it calls nothing it depends on. Only by whoever ends the image, when nobody uses it.
    ///
    /// # Errors
    /// Its panic.
    pub(super) fn exit(&self) -> Result<(), CallError> {
        let has_started = self.has_started.swap(false, Ordering::AcqRel);
        // SAFETY: the module is attached, and mapped until its caller ends the image.
        let ended = unsafe { Entries(self.root).last(has_started) };
        let uses: Vec<_> = self.needs().iter_mut().map(|need| need.use_of.take()).collect();
        drop(uses);
        ended
    }

    /// The threads of the module are asked to stop.
    pub(super) fn ask_to_stop(&self) {
        if let Some(ledger) = self.image().as_ref().and_then(Image::ledger) {
            ledger.ask_to_stop();
        }
    }

    /// Runs the destructors of its thread-locals on this thread: nothing but its last functions runs here any more.
    pub(super) fn end_thread_locals_here(&self) {
        let ledger = self.image().as_ref().and_then(|image| image.ledger().cloned());
        if let Some(ledger) = ledger {
            ledger.run_thread_locals_here();
        }
    }

    /// Sends it on its way out; none for one that has gone before. Only after the last call into its context has
    /// returned, or to be parked.
    pub(super) fn unload(&self, policy: &UnloadPolicy) -> Option<ModuleUnload> {
        self.seal();
        let image = self.image().take()?;
        let (logs, tag) = (Arc::clone(&self.logs), self.tag.clone());
        // An image that stays keeps its word: the closure is dropped without being called then.
        let word = ManuallyDrop::new(Arc::clone(&self.word));
        let facts = ImageFacts {
            module: self.info.name.clone(),
            detach: self.root.detach(),
            heap_bytes: self.root.heap_bytes(),
            will_park: self.info.stays.as_ref().map(Stays::briefly),
            gives_blocks_away: self.info.gives_blocks_away.clone(),
        };
        // SAFETY: the context's door is shut and nobody is inside, and its leases are sealed and none is held; the module
        // has no conjugates, and modules that need it hold its own leases.
        let code = unsafe { ImageUnload::new(image, facts, policy) };
        Some(ModuleUnload::new(UnloadJob {
            name: self.info.name.clone(),
            leases: Arc::clone(&self.leases),
            keeps: std::mem::take(&mut *self.needs()).into_iter().flat_map(Need::into_leases).collect(),
            calls: 0,
            code: Box::new(code),
            forget: Box::new(move || {
                logs.forget(&tag);
                drop(ManuallyDrop::into_inner(word));
            }),
        }))
    }

    /// Its image stays: what it holds of the host and of others stays as well.
    fn keep_for_ever(&self) {
        std::mem::forget(Arc::clone(&self.word));
        std::mem::forget(std::mem::take(&mut *self.needs()));
    }

    fn needs(&self) -> MutexGuard<'_, Vec<Need>> {
        self.needs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn image(&self) -> MutexGuard<'_, Option<Image>> {
        self.image.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Need {
    fn into_leases(self) -> impl Iterator<Item = Lease> {
        self.use_of.into_iter().chain([self.image])
    }
}

impl Drop for FreeModule {
    fn drop(&mut self) {
        // Nobody ended it: the image stays, and with it all that it may still reach.
        if let Some(image) = self.image().take() {
            self.keep_for_ever();
            let parked = image.park();
            tracing::debug!(module = self.info.name, ?parked, "a module was dropped without an end");
        }
    }
}

impl FreeExport {
    fn of(module: &str, described: &alcedo_abi::describe::ExportDesc) -> Self {
        let (type_path, name) = (described.type_path.as_str(), described.name.as_str());
        Self {
            full: match type_path {
                "" => format!("ex:/{name}"),
                _ => format!("nm:/{module}:{type_path}:{name}"),
            }
            .into(),
            type_path: type_path.into(),
            name: name.into(),
            fingerprint: described.fingerprint,
            signature: described.signature.as_str().into(),
            invoke: described.invoke,
        }
    }

    /// Where its body is.
    pub(super) fn address(&self) -> *const () {
        self.invoke.0 as *const ()
    }

    /// The body itself.
    pub(super) fn invoke(&self) -> ZCallInvoke {
        self.invoke
    }

    /// Calls it, on this thread.
    ///
    /// # Safety
    /// The image is mapped until the call returns, which a lease or a place in its door sees to, and the slots of the
    /// buffer are what the signature says.
    ///
    /// # Errors
    /// What the callee fails with, its panic included.
    pub(super) unsafe fn call(&self, mut buffer: BufferMut<'_>) -> Result<(), CallError> {
        // SAFETY: promised by the caller.
        from_module(|failure| unsafe { (self.invoke.0)(buffer.raw(), failure) })
    }
}
