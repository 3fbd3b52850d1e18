//! Compiles the C or C++ sources of a row into the plugin, as `-sys` crates do.

fn main() {
    println!("cargo::rerun-if-changed=src/rows");
    #[cfg(feature = "native")]
    native::build();
}

#[cfg(feature = "native")]
mod native {
    /// C or C++ source of a row.
    struct Source {
        /// Feature of the row.
        feature: &'static str,
        /// File below `src/rows`. A file with the extension `cpp` is compiled as C++.
        file: &'static str,
        /// Compiler flags.
        flags: &'static [&'static str],
        /// System libraries that the plugin links.
        libraries: &'static [&'static str],
        /// `true` if the C++ library is linked statically into the plugin.
        is_static: bool,
    }

    /// The C and C++ sources of all rows.
    const SOURCES: &[Source] = &[
        Source { feature: "gomp", file: "gomp.c", flags: &["-fopenmp"], libraries: &["gomp"], is_static: false },
        Source {
            feature: "cpp-threads",
            file: "cpp_threads.cpp",
            flags: &["-std=c++17"],
            libraries: &[],
            is_static: false,
        },
        Source {
            feature: "cpp-threads-static",
            file: "cpp_threads.cpp",
            flags: &["-std=c++17"],
            libraries: &[],
            is_static: true,
        },
        Source {
            feature: "cpp-statics",
            file: "cpp_statics.cpp",
            flags: &["-std=c++17"],
            libraries: &[],
            is_static: false,
        },
        Source {
            feature: "cpp-exceptions",
            file: "cpp_exceptions.cpp",
            flags: &["-std=c++17"],
            libraries: &[],
            is_static: false,
        },
        Source { feature: "cpp-tls", file: "cpp_tls.cpp", flags: &["-std=c++17"], libraries: &[], is_static: false },
    ];

    pub(crate) fn build() {
        for source in SOURCES {
            let variable = format!("CARGO_FEATURE_{}", source.feature.to_uppercase().replace('-', "_"));
            if std::env::var_os(variable).is_none() {
                continue;
            }
            let mut build = cc::Build::new();
            build.cpp_link_stdlib_static(source.is_static);
            build.cpp(source.file.ends_with(".cpp")).file(format!("src/rows/{}", source.file));
            for flag in source.flags {
                build.flag(flag);
            }
            build.compile("row");
            for library in source.libraries {
                println!("cargo::rustc-link-lib=dylib={library}");
            }
        }
    }
}
