//! Function that is declared and never defined. The linker assumes that a shared library exports the symbol.
#![expect(unsafe_code, reason = "declares a function that is not defined")]

unsafe extern "C" {
    fn alcedo_undefined_symbol();
}

/// References the function, so that the loader must resolve the symbol.
#[used]
static NOWHERE: unsafe extern "C" fn() = alcedo_undefined_symbol;
