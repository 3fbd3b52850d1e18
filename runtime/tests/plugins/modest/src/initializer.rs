//! Initializer that runs when the file is mapped. Starts a thread if the switch `thread-in-initializer` is on.
#![expect(unsafe_code, reason = "an initializer needs a linker section")]

extern "C" fn start_thread() {
    if fixture::on!("thread-in-initializer") {
        std::thread::spawn(|| {
            loop {
                std::thread::park();
            }
        });
    }
}

// SAFETY: the section holds functions of this type, which the loader calls once after mapping the file.
#[used]
#[unsafe(link_section = ".init_array")]
static START_THREAD: extern "C" fn() = start_thread;
