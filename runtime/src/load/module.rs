//! A module: an image that is mapped, attached to this host, and behind its gate.
#![expect(unsafe_code, reason = "calls the functions of the root module and unmaps the image")]

use std::cell::Cell;
use std::rc::Rc;

use abi_stable::std_types::RStr;
use alcedo_abi::abi_stable;
use alcedo_abi::module::ModuleRef;
use alcedo_sys::{Image, Unmapped};

use crate::border::{CallError, from_module};
use crate::conjugate::gate::Gate;
use crate::conjugate::red::RedStack;

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
    /// Whether the file was sealed.
    pub is_sealed: bool,
    /// Paths of the types it declares.
    pub types: Vec<String>,
}

/// A loaded module. It stays mapped until [`Module::unmap`]; dropped without, its image is parked.
pub(crate) struct Module {
    info: ModuleInfo,
    gate: Rc<Gate>,
    root: ModuleRef,
    image: Cell<Option<Image>>,
    main: Rc<str>,
    exit: Rc<str>,
}

impl Module {
    /// A module whose image is mapped and whose layout was checked.
    pub(crate) fn new(info: ModuleInfo, gate: Rc<Gate>, root: ModuleRef, image: Image) -> Rc<Self> {
        let main = format!("main of {}", info.name).into();
        let exit = format!("exit hook of {}", info.name).into();
        Rc::new(Self { info, gate, root, image: Cell::new(Some(image)), main, exit })
    }

    /// What its manifest says.
    pub(crate) fn info(&self) -> &ModuleInfo {
        &self.info
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.info.name
    }

    /// The door to its code.
    pub(crate) fn gate(&self) -> &Rc<Gate> {
        &self.gate
    }

    /// What it exports.
    pub(crate) fn root(&self) -> ModuleRef {
        self.root
    }

    /// Runs its main.
    ///
    /// # Errors
    /// Its panic.
    pub(crate) fn main(&self, red: &RedStack, args: &[String]) -> Result<(), CallError> {
        let args: Vec<RStr<'_>> = args.iter().map(|arg| RStr::from_str(arg)).collect();
        red.enter(&self.main, || {
            self.gate.through(|| {
                // SAFETY: the module is attached and mapped; the arguments are lent for the call.
                from_module(|failure| unsafe { self.root.main()(args.as_slice().into(), failure) })
            })
        })
    }

    /// Runs its exit hook. The gate must be open, or be opened for it.
    ///
    /// # Errors
    /// Its panic.
    pub(crate) fn exit(&self, red: &RedStack) -> Result<(), CallError> {
        red.enter(&self.exit, || {
            // The gate is shut for everybody else by now; the exit hook is the one call that a module still gets.
            // SAFETY: the module is attached and mapped.
            from_module(|failure| unsafe { self.root.exit()(failure) })
        })
    }

    /// Unmaps the image and looks whether it is gone.
    ///
    /// # Safety
    /// No plugin half, conjugate, thunk or record of the module is used afterwards: its generation has ended, its
    /// finalizers have run, and its gate is shut for ever.
    pub(crate) unsafe fn unmap(&self) -> Option<Unmapped> {
        self.root.detach()();
        let image = self.image.take()?;
        // SAFETY: promised by the caller.
        Some(unsafe { image.unmap() })
    }

    /// Leaves the image mapped on purpose.
    pub(crate) fn park(&self) -> Option<Unmapped> {
        self.image.take().map(Image::park)
    }
}
