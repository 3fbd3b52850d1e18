//! What goes wrong before anybody could be asked: this runs when the file is mapped.

extern "C" fn misbehave() {
    eprintln!("the initializer of broken runs");
    if cfg!(feature = "crash-in-initializer") {
        let nowhere = std::ptr::without_provenance_mut::<u32>(8);
        // SAFETY: it is not: this is the crash that hosts are tested with.
        unsafe { nowhere.write_volatile(1) };
    }
    if cfg!(feature = "hang-in-initializer") {
        loop {
            std::thread::park();
        }
    }
    if cfg!(feature = "exit-in-initializer") {
        std::process::exit(0);
    }
    assert!(!cfg!(feature = "panic-in-initializer"), "broken on purpose: initializer");
}

// SAFETY: the section holds functions of this type, which the loader calls once when it maps the file.
#[used]
#[unsafe(link_section = ".init_array")]
static MISBEHAVE: extern "C" fn() = misbehave;
