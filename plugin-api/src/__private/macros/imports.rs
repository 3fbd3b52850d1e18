//! Imports of a module. The module lists an import only if linked code uses the import's cell.

/// Defines a cell that the host fills, and the import that specifies the number for the cell. Code accesses the cell through a type that
/// has the cell's name.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_import {
    ($cell:ident: $ty:ty = $new:expr, $import:ident($path:expr)) => {
        #[allow(non_camel_case_types, reason = "the type has the name of its cell")]
        struct $cell;
        #[allow(clippy::type_complexity, reason = "the type has a part for each parameter")]
        const _: () = {
            static ALCEDO_CELL: $ty = $new;
            $crate::__private::import! { @listed $path, $import }

            impl $crate::__private::core::ops::Deref for $cell {
                type Target = $ty;

                #[inline]
                fn deref(&self) -> &$ty {
                    $crate::__private::import! { @used }
                    &ALCEDO_CELL
                }
            }
        };
    };
    (@listed $path:expr, $import:ident) => {
        $crate::__private::if_used! {
            {
                static ALCEDO_IMPORT: $crate::__private::Declared<$crate::__private::ImportDesc> =
                    $crate::__private::$import($path, &ALCEDO_CELL);
                const ALCEDO_SECTION: $crate::__private::core::primitive::u32 = $crate::__private::section_of($path);
            }
            {
                $crate::__private::register! {
                    IMPORTS: $crate::__private::ImportDesc = $crate::__private::$import($path, &ALCEDO_CELL)
                }
            }
        }
    };
    (@used) => {
        $crate::__private::if_used! {
            {
                // A raw pointer is not coerced by `Deref`, so the static itself has this type.
                let _is_true: *const $crate::__private::Declared<$crate::__private::ImportDesc> = &raw const ALCEDO_IMPORT;
                // SAFETY: the assembly contains no instruction.
                // The directives add the address of the import, which has the type above, to `IMPORTS`, a list of addresses of this type.
                // A relocation keeps the entry together with the code of this function.
                unsafe {
                    $crate::__private::core::arch::asm!(
                        // Section of `IMPORTS`.
                        ".pushsection linkme_IMPORTS, \"aw\", @progbits, unique, {id}",
                        ".balign 8",
                        "77:",
                        ".quad {import}",
                        ".popsection",
                        $crate::__private::keep_section!("77b"),
                        import = sym ALCEDO_IMPORT,
                        id = const ALCEDO_SECTION,
                        options(nomem, nostack, preserves_flags),
                    );
                }
            }
            {}
        }
    };
}

/// Expands to the first argument if the linker drops unused sections individually, otherwise to the second argument.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_if_used {
    ({ $($tokens:tt)* } $otherwise:tt) => {
        $($tokens)*
    };
}

/// Expands to the first argument if the linker drops unused sections individually, otherwise to the second argument.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_if_used {
    ($tokens:tt { $($otherwise:tt)* }) => {
        $($otherwise)*
    };
}

/// Expands to assembly that makes the linker retain the given section whenever it retains the current section.
#[cfg(target_arch = "aarch64")]
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_keep_section {
    ($label:literal) => {
        $crate::__private::core::concat!(".reloc ., R_AARCH64_NONE, ", $label)
    };
}

/// Expands to assembly that makes the linker retain the given section whenever it retains the current section.
#[cfg(not(target_arch = "aarch64"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_keep_section {
    ($label:literal) => {
        $crate::__private::core::concat!(".reloc ., R_X86_64_NONE, ", $label)
    };
}
