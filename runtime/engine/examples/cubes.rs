//! Reloads the library of `magic-cube`. Fails if a reload is rolled back, loses an object, or loses a kept field. `.ci/platforms` runs this
//! host on Windows, where `alcedo-reload-test` cannot build plugins.
//!
//! `cargo run -p alcedo-engine --example cubes --features alcedo-runtime/slot-types -- 10 path/to/libmagic_cube.so`

use std::error::Error;
use std::path::PathBuf;

use alcedo_runtime::{Budget, Canary, ManifestInfo, Runtime, Value};

const CUBES: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let reloads = arguments.next().and_then(|number| number.to_str()?.parse::<u32>().ok());
    let reloads = reloads.ok_or("pass the number of reloads and the library")?;
    let libraries: Vec<PathBuf> = arguments.map(std::path::absolute).collect::<Result<_, _>>()?;
    for library in &libraries {
        // A Windows library without debug information is loaded, but its declarations cannot be read from the file.
        match ManifestInfo::peek_declared(library) {
            Ok((_, declared)) => eprintln!("{} declares {} classes", library.display(), declared.classes.len()),
            Err(error) => eprintln!("{error}"),
        }
    }
    let runtime = Runtime::builder().package("Game").natives(alcedo_engine::natives()).canary(Canary::Off).build()?;
    runtime.create_master(&libraries)?;
    let cubes = (0..CUBES).map(|_| runtime.objects().spawn("/Script/Game.MagicCube")).collect::<Result<Vec<_>, _>>()?;
    let mut parked = 0;
    for reload in 1..=reloads {
        runtime.tick(Budget::frame());
        for cube in &cubes {
            runtime.objects().call(*cube, "say_hello", &[])?;
        }
        let report = runtime.reload(&libraries)?;
        eprintln!("{report}");
        if !report.is_committed() {
            return Err(format!("reload {reload} was rolled back").into());
        }
        parked += report.parked.len();
        for cube in &cubes {
            let count = runtime.objects().call(*cube, "greeting_count", &[])?;
            if count != Some(Value::U32(reload)) {
                return Err(format!("a cube has {count:?} greetings after reload {reload}").into());
            }
        }
    }
    let ended = runtime.shutdown().into_result();
    eprintln!("{reloads} reloads, {CUBES} objects kept, {parked} images parked");
    // A platform that keeps images reports each parked image as an error of the shutdown.
    if parked == 0 { Ok(ended?) } else { Ok(()) }
}
