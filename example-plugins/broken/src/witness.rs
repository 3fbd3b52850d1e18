//! Proof that code of this file ran: it runs when the file is mapped, long before anybody asks it to.

extern "C" fn testify() {
    if let Some(path) = std::env::var_os("ALCEDO_WITNESS") {
        // There is nobody to tell: a test that waits for the file sees that it is not there.
        let _unwritten = std::fs::write(path, "mapped");
    }
}

// SAFETY: the section holds functions of this type, which the loader calls once when it maps the file.
#[used]
#[unsafe(link_section = ".init_array")]
static WITNESS: extern "C" fn() = testify;
