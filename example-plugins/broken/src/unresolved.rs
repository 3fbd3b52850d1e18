//! A function that is declared and never defined. A linker takes that for a symbol of another library.

unsafe extern "C" {
    fn alcedo_nobody_defines_this();
}

/// Kept, so that the loader has to look for it.
#[used]
static NOWHERE: unsafe extern "C" fn() = alcedo_nobody_defines_this;
