//! Code that runs in the canary process. Maps each module as a host does, attaches the module, and reads its declarations. Runs no main and
//! creates no object. Never exits after a success, because the host kills the process after the last message.
#![expect(unsafe_code, reason = "maps libraries")]

use std::io::{self, Read};
use std::path::Path;
use std::process::{abort, exit};
use std::rc::Rc;
use std::thread;

use alcedo_sys::{Demands, Image, ImageFile, StagedFile, Use, UseSnapshot, plain_file};

use crate::bridge::core::Core;
use crate::cells::RefCell;
use crate::conjugate::gate::{Gate, ModuleTag};
use crate::emit::described::Described;
use crate::emit::error::EmitError;
use crate::emit::read;
use crate::handles::{Generation, ModuleId};
use crate::host_api::HostContext;
use crate::load::canary::arm;
use crate::load::canary::protocol::{ARGUMENT, Candidate, Candidates, Message};
use crate::load::canary::wire::{Received, Wire};
use crate::load::error::canary::CanaryStep;
use crate::load::module::library::Mapped;
use crate::load::open;
use crate::load::permissions::{self, PermissionPolicy};
use crate::object::decl::Batch;
use crate::object::types::Types;

/// Exit code of a canary process that receives no request from a host.
const NO_HOST: i32 = 2;

/// If a host started this process as a canary, runs the canary and never returns. Otherwise returns immediately. With this call in `main`,
/// [`Canary::Auto`](crate::Canary::Auto) can start the host's own program as a canary.
///
/// Call this function at the very beginning of `main`. Code before the call also runs in every canary.
///
/// # Examples
/// ```rust,no_run
/// use alcedo_runtime::{Error, Runtime};
///
/// fn main() -> Result<(), Error> {
///     alcedo_runtime::canary::run_if_child();
///     let runtime = Runtime::builder().build()?;
///     runtime.create_master(&["/opt/game/plugins/libweather.so"])
/// }
/// ```
pub fn run_if_child() {
    if std::env::args_os().nth(1).is_some_and(|first| first == ARGUMENT) {
        run();
    }
    arm();
}

/// Serves the host that started this process, then waits until the host exits.
fn run() -> ! {
    let Ok(mut wire) = Wire::take_standard_input() else { exit(NO_HOST) };
    // Creates the stores before the request, because the host checks the candidates during this time.
    let core = Core::new();
    let Ok((candidates, lifeline)) = receive_request(&mut wire) else { exit(NO_HOST) };
    let wire = RefCell::new(wire);
    let send = |message: &Message| {
        // Sends each message before the announced step, because the step may crash. Aborts this process if the host has exited.
        if wire.borrow_mut().send(message, None).is_err() {
            abort();
        }
    };
    send(&Message::Here);
    // This thread aborts the process when the host exits, even if a module initializer never returns. Without the thread, the canary could
    // outlive a killed host.
    let lifeline = thread::Builder::new().name("lifeline".to_owned()).spawn(move || hold(lifeline));
    match core {
        Ok(core) => {
            let host_context = HostContext::leaked(&core);
            let refused = candidates.iter().zip(0..).find_map(|(candidate, at)| {
                let begins = |step| send(&Message::Begins(at, step));
                load(&core, host_context, candidate, &begins).err()
            });
            send(&refused.map_or(Message::Done(candidates.len() as u32), Message::Refused));
        }
        Err(error) => send(&Message::Refused(format!("the canary could not be set up: {error}"))),
    }
    if let Ok(lifeline) = lifeline {
        let _never = lifeline.join();
    }
    abort()
}

/// Receives the request from a host. Returns the candidates, and a stream that ends when the host exits.
fn receive_request(wire: &mut Wire) -> io::Result<(Candidates, impl Read + Send + use<>)> {
    match wire.receive(None) {
        Ok(Received::Message(Message::Request(candidates))) => Ok((candidates, wire.lifeline()?)),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Waits until the host closes its end of the socket, then aborts the process. A normal exit would run exit handlers of modules, which
/// might wait for a lock of the dynamic loader.
fn hold(mut input: impl Read) {
    let _end = io::copy(&mut input, &mut io::sink());
    abort();
}

fn load(
    core: &Rc<Core>,
    host_context: &HostContext,
    candidate: &Candidate,
    begins: &dyn Fn(CanaryStep),
) -> Result<(), String> {
    let (name, path) = (candidate.name.as_str(), Path::new(&candidate.path));
    let before = candidate.refuses_undeclared.then(UseSnapshot::now);
    begins(CanaryStep::Mapping);
    // SAFETY: the host has read and admitted the manifest section of the file, so the file is a module. Its initializers are code
    // of the plugin author, and this process exists to test whether they crash.
    let image = unsafe { Image::map(StagedFile::of_another(path), None) }.map_err(|error| error.to_string())?;
    begins(CanaryStep::Attaching);
    let library = Mapped::of(image, name).map_err(|error| error.to_string())?;
    library
        .attach_for_good(host_context.lasting(core, ModuleId(1), Generation(1)))
        .map_err(|error| error.to_string())?;
    before.map_or(Ok(()), |before| check_uses(path, &before.uses()))?;
    begins(CanaryStep::Registering);
    let words = registration(core, library.described(), name)?;
    log!(TRACE, name, words, "a module declares");
    // Leaves the image mapped, because a canary does not test unloads.
    library.park();
    Ok(())
}

/// Checks that a module declares permissions for all used resources. `uses` lists the resources that the initializers and the attachment
/// have created.
fn check_uses(path: &Path, uses: &[Use]) -> Result<(), String> {
    // Returns early, because the host has already checked the imports of the file.
    if uses.is_empty() {
        return Ok(());
    }
    // Reads the bytes without the checks of staged files, because the host has completed these checks and still has the copy open for
    // writing.
    let bytes = plain_file::read(path, u64::MAX).map_err(|error| error.to_string())?;
    let demands = Demands { largest: bytes.len() as u64, ..Demands::default() };
    let image = ImageFile::from_bytes_for(path, bytes, &demands).map_err(|error| error.to_string())?;
    let info = open::admit_image(&image, path, false).map_err(|error| error.to_string())?;
    permissions::check(PermissionPolicy::Refuse, &info.name, &info.permissions, uses).map_err(|error| error.to_string())
}

/// Reads all declarations of a module with the same functions as a host. Returns the length of the debug output of the imports, exports and
/// tables.
fn registration(core: &Rc<Core>, described: Described, name: &str) -> Result<usize, String> {
    let gate = Gate::new(ModuleTag { id: ModuleId(1), name: name.into(), generation: Generation(1) });
    let mut batch = Batch::default();
    read::add(&mut batch, &Rc::downgrade(core), &gate, described).map_err(|error| error.to_string())?;
    // Rejects an unknown property kind in the canary, before the host maps the copy.
    let unknown = |source| EmitError::Declare { modules: name.to_owned(), source }.to_string();
    Types::check_kinds(&batch).map_err(unknown)?;
    // Formats the imports, exports and tables, so that each string and number in them is read once. In a host, the linking of modules reads
    // this data.
    let Described { imports, exports, tables, .. } = described;
    Ok(format!("{imports:?}{exports:?}{tables:?}").len())
}
