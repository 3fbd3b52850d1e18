//! Sets a panic hook before the module has a host.
#![expect(unsafe_code, reason = "an initializer needs a linker section")]

extern "C" fn set() {
    std::panic::set_hook(Box::new(super::count_panic));
}

#[used]
#[unsafe(link_section = ".init_array")]
static SET: extern "C" fn() = set;
