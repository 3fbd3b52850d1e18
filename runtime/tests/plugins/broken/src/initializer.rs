//! Initializer that runs when the file is mapped. The switches select a fault, or a file that proves that the initializer ran.
#![expect(unsafe_code, reason = "an initializer needs a linker section, and one of its faults is a crash")]

extern "C" fn misbehave() {
    if fixture::on!("witness")
        && let Some(path) = std::env::var_os("ALCEDO_WITNESS")
    {
        // Ignores a write error, because the test that waits for the file reports a missing file.
        let _unwritten = std::fs::write(path, "mapped");
    }
    if fixture::on!("crash-in-initializer") {
        announce();
        let nowhere = std::ptr::without_provenance_mut::<u32>(8);
        // SAFETY: none: hosts are tested with this crash.
        unsafe { nowhere.write_volatile(1) };
    }
    if fixture::on!("hang-in-initializer") {
        announce();
        loop {
            std::thread::park();
        }
    }
    if fixture::on!("exit-in-initializer") {
        announce();
        std::process::exit(0);
    }
    if fixture::on!("panic-in-initializer") {
        announce();
        panic!("broken on purpose: initializer");
    }
}

fn announce() {
    eprintln!("the initializer of broken runs");
}

// SAFETY: the section holds functions of this type, which the loader calls once after mapping the file.
#[used]
#[unsafe(link_section = ".init_array")]
static MISBEHAVE: extern "C" fn() = misbehave;
