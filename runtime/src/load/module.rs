//! A module: an image that is mapped, attached to this host, and behind its gate.
#![expect(unsafe_code, reason = "calls the functions of the root module and unmaps the image")]

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use abi_stable::std_types::RStr;
use alcedo_abi::abi_stable;
use alcedo_abi::module::ModuleRef;
use alcedo_sys::{Image, Ledger, Unmapped};

use crate::border::CallError;
use crate::cells::RefCell;
use crate::conjugate::gate::Gate;
use crate::conjugate::red::RedStack;
use crate::handles::ModuleId;
use crate::lease::{Lease, Leases};
use crate::load::entries::Entries;
use crate::load::stays::Stays;
use crate::logs::Logs;
use crate::unload::image::{ImageFacts, ImageUnload};
use crate::unload::job::UnloadJob;
use crate::unload::policy::UnloadPolicy;
use crate::unload::subject::UnloadModule;

/// What the manifest section of a module says, kept by the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModuleInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: semver::Version,
    /// The modules it needs.
    pub dependencies: Vec<(String, semver::VersionReq)>,
    /// Differs between builds that differ.
    pub build_id: u128,
    /// The compiler that made it, for reports.
    pub compiler: String,
    /// Digest of the whole file.
    pub digest: alcedo_sys::Digest,
    /// The file it was read from; none for one that came as bytes.
    pub origin: Option<PathBuf>,
    /// Whether the file was sealed.
    pub is_sealed: bool,
    /// The oldest and the newest host API it can live with.
    pub api: (u32, u32),
    /// Paths of the types it declares.
    pub types: Vec<String>,
    /// Those of them that are classes.
    pub classes: Vec<String>,
    /// Why its image will stay mapped whatever happens; none as a rule.
    pub stays: Option<Stays>,
    /// Why others may free what it took of the C heap, so that nobody else does; none where they cannot.
    pub gives_blocks_away: Option<String>,
}

/// Name, version and build of a module, as all errors and reports say them.
pub(crate) fn titled(name: &str, version: &semver::Version, build_id: u128) -> String {
    format!("{name} {version} (build {build_id:032x})")
}

impl ModuleInfo {
    /// How errors about two of a kind name it: two builds may have one name and one version.
    pub(crate) fn title(&self) -> String {
        titled(&self.name, &self.version, self.build_id)
    }

    /// Why its image will stay mapped whatever happens; none for one that can be unmapped.
    pub(crate) fn will_park(&self) -> Option<String> {
        self.stays.as_ref().map(Stays::told)
    }
}

/// A loaded module. It stays mapped until it has left; dropped without, its image is parked.
pub(crate) struct Module {
    info: ModuleInfo,
    gate: Rc<Gate>,
    root: ModuleRef,
    image_path: PathBuf,
    image: Cell<Option<Image>>,
    ledger: Option<Arc<Ledger>>,
    leases: Arc<Leases>,
    keeps: RefCell<Vec<Lease>>,
    main: Rc<str>,
    exit: Rc<str>,
    suspend: Rc<str>,
    resume: Rc<str>,
    logs: Arc<Logs>,
}

impl Module {
    /// A module whose image is mapped and whose layout was checked.
    pub(crate) fn new(info: ModuleInfo, gate: Rc<Gate>, root: ModuleRef, image: Image, logs: &Arc<Logs>) -> Rc<Self> {
        let main = format!("main of {}", info.name).into();
        let exit = format!("exit hook of {}", info.name).into();
        let suspend = format!("suspend of {}", info.name).into();
        let resume = format!("resume of {}", info.name).into();
        let leases = Leases::new(format!("{} of generation {}", info.name, gate.tag().generation));
        let image_path = image.path().to_owned();
        let (ledger, image) = (image.ledger().cloned(), Cell::new(Some(image)));
        let keeps = RefCell::default();
        Rc::new(Self {
            info,
            gate,
            root,
            image_path,
            image,
            ledger,
            leases,
            keeps,
            main,
            exit,
            suspend,
            resume,
            logs: Arc::clone(logs),
        })
    }

    /// What its manifest says.
    pub(crate) fn info(&self) -> &ModuleInfo {
        &self.info
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.info.name
    }

    /// The private copy that is mapped, or was.
    pub(crate) fn image_path(&self) -> &Path {
        &self.image_path
    }

    /// The door to its code.
    pub(crate) fn gate(&self) -> &Rc<Gate> {
        &self.gate
    }

    /// Why its code must stay mapped.
    pub(crate) fn leases(&self) -> &Arc<Leases> {
        &self.leases
    }

    /// It holds this of another module until its own image is gone.
    pub(crate) fn keep(&self, lease: Lease) {
        self.keeps.borrow_mut().push(lease);
    }

    /// What it exports.
    pub(crate) fn root(&self) -> ModuleRef {
        self.root
    }

    /// Paths of the types that it names: bases, interfaces, types of members, and what it calls or reads of others. Its own are among
    /// them.
    pub(crate) fn named_types(&self) -> BTreeSet<String> {
        let mut named = BTreeSet::new();
        let mut name = |path: &str| {
            let owner = path.split_once(':').map_or(path, |(owner, _member)| owner);
            if !owner.is_empty() {
                named.insert(owner.to_owned());
            }
        };
        let root = self.root;
        for class in root.classes()().iter() {
            name(class.base.as_str());
            class.implements.iter().for_each(|interface| name(interface.as_str()));
            class.properties.iter().for_each(|property| name(property.type_path.as_str()));
            for function in class.functions.iter() {
                name(function.overrides.as_str());
                function.params.iter().for_each(|param| name(param.type_path.as_str()));
            }
        }
        root.structs()().iter().flat_map(|found| found.fields.iter()).for_each(|field| name(field.type_path.as_str()));
        root.imports()().iter().for_each(|import| name(import.path.as_str()));
        named
    }

    /// Runs its main.
    ///
    /// # Errors
    /// Its panic.
    pub(crate) fn main(&self, red: &RedStack, args: &[String]) -> Result<(), CallError> {
        let args: Vec<RStr<'_>> = args.iter().map(|arg| RStr::from_str(arg)).collect();
        red.enter_module(self.name(), &self.main, || {
            self.gate.through(|| {
                // SAFETY: the module is attached and mapped; the arguments are lent for the call.
                unsafe { Entries(self.root).main(args.as_slice().into()) }
            })
        })
    }

    /// Whether it gives something up for the next generation.
    pub(crate) fn suspends(&self) -> bool {
        Entries(self.root).gives_up()
    }

    /// Has it give up what the next generation needs. Its main has returned.
    ///
    /// # Errors
    /// Its own, or its panic.
    pub(crate) fn suspend(&self, red: &RedStack) -> Result<(), CallError> {
        red.enter_module(self.name(), &self.suspend, || {
            // SAFETY: the module is attached and mapped.
            self.gate.through(|| unsafe { Entries(self.root).suspend() })
        })
    }

    /// Has it take again what it gave up: the next generation did not come to pass.
    ///
    /// # Errors
    /// Its own, or its panic.
    pub(crate) fn resume(&self, red: &RedStack) -> Result<(), CallError> {
        red.enter_module(self.name(), &self.resume, || {
            // SAFETY: the module is attached and mapped.
            self.gate.through(|| unsafe { Entries(self.root).resume() })
        })
    }

    /// Unmaps the image at once and looks whether it is gone: for a module that never ran.
    ///
    /// # Safety
    /// No plugin half, conjugate, thunk or record of the module is used afterwards: it declared nothing.
    pub(crate) unsafe fn unmap(&self) -> Option<Unmapped> {
        let image = self.image.take()?;
        if let Some(ledger) = image.ledger() {
            // While the module still has its host: a destructor may log.
            ledger.run_thread_locals_here();
        }
        Entries(self.root).detach();
        if self.info.will_park().is_some() {
            return Some(image.park());
        }
        // SAFETY: promised by the caller.
        Some(unsafe { image.unmap() })
    }
}

impl UnloadModule for Module {
    fn name(&self) -> &str {
        &self.info.name
    }

    fn id(&self) -> ModuleId {
        self.gate.tag().id
    }

    fn leases(&self) -> &Leases {
        &self.leases
    }

    fn shut(&self) {
        self.gate.end();
    }

    fn ask_to_stop(&self) {
        if let Some(ledger) = &self.ledger {
            ledger.ask_to_stop();
        }
    }

    fn exit(&self, red: &RedStack, has_started: bool) -> Result<(), CallError> {
        red.enter_module(&self.info.name, &self.exit, || {
            // The gate is shut for everybody else by now.
            // SAFETY: the module is attached and mapped.
            unsafe { Entries(self.root).last(has_started) }
        })
    }

    fn end_thread_locals_here(&self) {
        if let Some(ledger) = &self.ledger {
            ledger.run_thread_locals_here();
        }
    }

    fn thread_locals(&self) -> Option<Box<dyn Fn() + Send>> {
        let ledger = self.ledger.clone()?;
        Some(Box::new(move || {
            ledger.run_thread_locals_here();
        }))
    }

    fn unload_job(&self, policy: &UnloadPolicy) -> Option<UnloadJob> {
        let (logs, tag) = (Arc::clone(&self.logs), self.gate.tag().clone());
        let facts = ImageFacts {
            module: self.info.name.clone(),
            detach: self.root.detach(),
            heap_bytes: self.root.heap_bytes(),
            will_park: self.info.stays.as_ref().map(Stays::briefly),
            gives_blocks_away: self.info.gives_blocks_away.clone(),
        };
        let image = self.image.take()?;
        // SAFETY: the generation has ended: no conjugate, handle or record of it is left, and nobody is behind the shut
        // gate at a safe point; whoever else may use the image holds a lease or is a part on the finalizer thread.
        let code = unsafe { ImageUnload::new(image, facts, policy) };
        Some(UnloadJob {
            name: self.info.name.clone(),
            leases: Arc::clone(&self.leases),
            keeps: self.keeps.take(),
            calls: self.gate.inside(),
            code: Box::new(code),
            forget: Box::new(move || logs.forget(&tag)),
        })
    }
}
