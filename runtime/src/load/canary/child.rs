//! What a canary does: it maps the modules as the host would, lets each take a host, and reads all that it declares.
//! No main runs, no object is made. It never exits with success by itself: the host ends it once it has what it needs.
#![expect(unsafe_code, reason = "maps libraries and calls the first functions of their root modules")]

use std::io::{self, Read};
use std::path::Path;
use std::process::{abort, exit};
use std::rc::Rc;
use std::thread;

use alcedo_abi::host::ModuleContext;
use alcedo_abi::module::ModuleRef;
use alcedo_sys::{Image, StagedFile};

use super::CanaryStep;
use super::protocol::{Candidates, Message};
use super::wire::{Heard, Wire};
use crate::bridge::core::Core;
use crate::cells::RefCell;
use crate::conjugate::gate::{Gate, ModuleTag};
use crate::emit::described::Described;
use crate::emit::error::EmitError;
use crate::emit::read::{class_decl, interface_decl, struct_decl};
use crate::emit::texts;
use crate::handles::{Generation, ModuleId};
use crate::host_api::{self, HostContext};
use crate::load::entries::Entries;
use crate::load::open::root_of;

/// The exit code of a canary that was started without a host at its socket.
const NOBODY_ASKED: i32 = 2;

/// Answers the host that started this process, and waits for its end.
pub(super) fn run() -> ! {
    let Ok((wire, candidates, lifeline)) = asked() else { exit(NOBODY_ASKED) };
    let wire = RefCell::new(wire);
    let say = |message: &Message| {
        // The next step may be the last, so it goes out at once; and without a host there is nothing more to do.
        if wire.borrow_mut().say(message, None).is_err() {
            abort();
        }
    };
    say(&Message::Here);
    // An initializer that never returns must not outlive a host that was killed: it could not be found any more.
    let lifeline = thread::Builder::new().name("lifeline".to_owned()).spawn(move || hold(lifeline));
    match Core::new() {
        Ok(core) => {
            let host_context = HostContext::new(&core);
            let refused = candidates.iter().zip(0..).find_map(|((name, path), at)| {
                let begins = |step| say(&Message::Begins(at, step));
                load(&core, &host_context, name, path, &begins).err()
            });
            say(&refused.map_or(Message::Done(candidates.len() as u32), Message::Refused));
        }
        Err(error) => say(&Message::Refused(format!("the canary could not be set up: {error}"))),
    }
    if let Ok(lifeline) = lifeline {
        let _never = lifeline.join();
    }
    abort()
}

/// A host's request, the way to answer it, and the handle that closes when the host ends. Standard input is empty
/// afterwards.
fn asked() -> io::Result<(Wire, Candidates, impl Read + Send + 'static)> {
    let mut wire = Wire::take_standard_input()?;
    match wire.hear(None) {
        Ok(Heard::Message(Message::Request(candidates))) => {
            let lifeline = wire.lifeline()?;
            Ok((wire, candidates, lifeline))
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Waits until the host closes its end. Exits without the handlers of any module, which might wait for the loader.
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
    // SAFETY: the host read and admitted the file's manifest section, so it is a module; its initializers are the
    // author's, and finding out whether they are sound is what this process is for.
    let image = unsafe { Image::map(StagedFile::of_another(path), None) }.map_err(|error| error.to_string())?;
    begins(CanaryStep::Attaching);
    let root = root_of(&image, name).map_err(|error| error.to_string())?;
    let context = ModuleContext {
        host: host_context.to_ref(),
        table: host_api::table(),
        values: host_api::values(),
        module: 1,
        generation: 1,
        mode: core.world.mode.address(),
        directory: core.world.objects.directory(),
        slices: core.world.slices.address(),
        blacks: core.blacks.directory(),
        level: crate::logs::loudest(),
    };
    // SAFETY: the host context, table, mode and directory live as long as the core, and this process ends before that.
    unsafe { Entries(root).attach(&context) }.map_err(|error| error.to_string())?;
    begins(CanaryStep::Registering);
    let read = registration(core, root, name)?;
    tracing::trace!(name, read, "a module declares");
    // The image stays as it is: what it would do when it goes is not what was asked.
    let _mapped = image.park();
    Ok(())
}

/// Reads all that a module declares, with the code that reads it in a host. Gives how much there was.
fn registration(core: &Rc<Core>, root: ModuleRef, name: &str) -> Result<usize, String> {
    let gate = Gate::new(ModuleTag { id: ModuleId(1), name: name.into(), generation: Generation(1) });
    let weak = Rc::downgrade(core);
    let told = |error: EmitError| error.to_string();
    let Described { interfaces, structs, classes, imports, exports } = Described::of(root);
    texts::check(name, Described::of(root)).map_err(told)?;
    let mut read = 0;
    for declared in interfaces {
        read += interface_decl(declared).name.len();
    }
    for declared in structs {
        read += struct_decl(&gate, declared).map_err(told)?.fields.len();
    }
    for declared in classes {
        let class = class_decl(&weak, &gate, declared).map_err(told)?;
        read += class.properties.len() + class.functions.len() + class.interfaces.len();
    }
    // Of these a host takes the texts and numbers while it links them; putting them into words takes all of them.
    read += imports.iter().map(|import| format!("{import:?}").len()).sum::<usize>();
    read += exports.iter().map(|export| format!("{export:?}").len()).sum::<usize>();
    Ok(read)
}
