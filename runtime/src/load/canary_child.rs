//! The canary's program: maps the modules as a host would, attaches a host to each, and reads all their declarations. Runs no main
//! and creates no object. Never exits with success: the host kills the process after the last message.
#![expect(unsafe_code, reason = "maps libraries, and keeps their host for good")]

use std::io::{self, Read};
use std::path::Path;
use std::process::{abort, exit};
use std::rc::Rc;
use std::thread;

use alcedo_sys::{Image, StagedFile};

use crate::bridge::core::Core;
use crate::cells::RefCell;
use crate::conjugate::gate::{Gate, ModuleTag};
use crate::emit::described::Described;
use crate::emit::error::EmitError;
use crate::emit::read;
use crate::handles::{Generation, ModuleId};
use crate::host_api::HostContext;
use crate::load::canary::arm;
use crate::load::canary::protocol::{ARGUMENT, Candidates, Message};
use crate::load::canary::wire::{Received, Wire};
use crate::load::error::canary::CanaryStep;
use crate::load::module::library::Mapped;
use crate::object::decl::Batch;
use crate::object::types::Types;

/// Exit code of a canary that was started without a host at its socket.
const NO_HOST: i32 = 2;

/// Turns this process into a canary, without returning, if a host started it as one. Otherwise returns immediately, and allows this
/// program to be started as a canary of its own host.
///
/// Call it at the very beginning of `main`: code before the call also runs in every canary.
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

/// Answers the host that started this process, and waits for the end of the host.
fn run() -> ! {
    let Ok((wire, candidates, lifeline)) = receive_request() else { exit(NO_HOST) };
    let wire = RefCell::new(wire);
    let send = |message: &Message| {
        // The next step may crash, so the message is sent before; without a host the process ends.
        if wire.borrow_mut().send(message, None).is_err() {
            abort();
        }
    };
    send(&Message::Here);
    // Ends the process with its host, even if an initializer never returns; otherwise a killed host would leave an untraceable
    // process.
    let lifeline = thread::Builder::new().name("lifeline".to_owned()).spawn(move || hold(lifeline));
    match Core::new() {
        Ok(core) => {
            std::mem::forget(Rc::clone(&core));
            // SAFETY: neither this nor the core is ever dropped.
            let host_context = Box::leak(unsafe { HostContext::new(&core) });
            let refused = candidates.iter().zip(0..).find_map(|((name, path), at)| {
                let begins = |step| send(&Message::Begins(at, step));
                load(&core, host_context, name, Path::new(path), &begins).err()
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

/// Receives a host's request. Returns the socket for the answer, the candidates, and the handle that closes when the host ends.
/// Replaces standard input with `/dev/null`.
fn receive_request() -> io::Result<(Wire, Candidates, impl Read + Send + 'static)> {
    let mut wire = Wire::take_standard_input()?;
    match wire.receive(None) {
        Ok(Received::Message(Message::Request(candidates))) => {
            let lifeline = wire.lifeline()?;
            Ok((wire, candidates, lifeline))
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Waits until the host closes its end. Aborts without the exit handlers of any module, which might wait for the loader.
fn hold(mut input: impl Read) {
    let _end = io::copy(&mut input, &mut io::sink());
    abort();
}

fn load(
    core: &Rc<Core>,
    host_context: &HostContext,
    name: &str,
    path: &Path,
    begins: &dyn Fn(CanaryStep),
) -> Result<(), String> {
    begins(CanaryStep::Mapping);
    // SAFETY: the host read and admitted the file's manifest section, so it is a module; its initializers are the author's, and
    // this process exists to find out whether they are sound.
    let image = unsafe { Image::map(StagedFile::of_another(path), None) }.map_err(|error| error.to_string())?;
    begins(CanaryStep::Attaching);
    let library = Mapped::of(image, name).map_err(|error| error.to_string())?;
    library
        .attach_for_good(host_context.lasting(core, ModuleId(1), Generation(1)))
        .map_err(|error| error.to_string())?;
    begins(CanaryStep::Registering);
    let words = registration(core, library.described(), name)?;
    tracing::trace!(name, words, "a module declares");
    // Keeps the image mapped: its unload code is not part of the test.
    library.park();
    Ok(())
}

/// Reads all declarations of a module, with the code that reads them in a host. Returns the length of its imports and exports in
/// debug format.
fn registration(core: &Rc<Core>, described: Described, name: &str) -> Result<usize, String> {
    let gate = Gate::new(ModuleTag { id: ModuleId(1), name: name.into(), generation: Generation(1) });
    let mut batch = Batch::default();
    read::add(&mut batch, &Rc::downgrade(core), &gate, described).map_err(|error| error.to_string())?;
    // An unknown kind is rejected here, before the host maps the copy.
    let unknown = |source| EmitError::Declare { modules: name.to_owned(), source }.to_string();
    Types::check_kinds(&batch).map_err(unknown)?;
    // A host reads the strings and numbers of these while it links them; formatting reads all of them.
    let Described { imports, exports, tables, .. } = described;
    Ok(format!("{imports:?}{exports:?}{tables:?}").len())
}
