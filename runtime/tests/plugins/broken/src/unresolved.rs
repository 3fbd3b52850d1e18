//! A function that is declared and never defined. A linker takes that for a symbol of another library.
#![expect(unsafe_code, reason = "declares a function that is not defined")]

unsafe extern "C" {
    fn alcedo_nobody_defines_this();
}

/// Kept, so that the loader has to look for it.
#[used]
static NOWHERE: unsafe extern "C" fn() = alcedo_nobody_defines_this;
