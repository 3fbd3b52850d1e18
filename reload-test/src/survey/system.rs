//! What a row needs of the machine beyond Rust and a C compiler, how to find out whether it is there, and how to get it.

use std::path::Path;
use std::process::{Command, Stdio};

/// Something that a machine may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "not every machine lacks something for some row")]
pub(crate) enum System {
    /// The headers of OpenSSL, and the library that programs share.
    OpenSsl,
    /// A C++ compiler with its library.
    Cpp,
    /// The library of OpenMP.
    Gomp,
    /// Python as a library, with its interpreter.
    Python,
    /// The headers of GLib and GIO, and their libraries.
    Glib,
    /// CMake, which some `-sys` crates build their C with.
    CMake,
    /// A kernel that lets this process use io_uring.
    IoUring,
}

impl System {
    /// Whether it is there.
    pub(crate) fn is_there(self) -> bool {
        match self {
            System::OpenSsl => succeeds("pkg-config", &["--exists", "openssl"]),
            System::Cpp => succeeds("c++", &["--version"]),
            System::Gomp => succeeds("cc", &["-fopenmp", "-x", "c", "-o", "/dev/null", "-include", "omp.h", "-"]),
            System::Python => {
                succeeds("pkg-config", &["--exists", "python3-embed"]) && succeeds("python3", &["--version"])
            }
            System::Glib => succeeds("pkg-config", &["--exists", "gio-2.0 >= 2.70"]),
            System::CMake => succeeds("cmake", &["--version"]),
            System::IoUring => {
                // Where the switch is missing, the kernel is older than the switch and has io_uring from 5.1 on.
                let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
                disabled.map_or_else(|_| Path::new("/proc/sys/kernel").exists(), |text| text.trim() == "0")
            }
        }
    }

    /// What to do where it is missing, on a Debian or an Ubuntu.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            System::OpenSsl => "OpenSSL is missing: apt-get install libssl-dev pkg-config",
            System::Cpp => "a C++ compiler is missing: apt-get install g++",
            System::Gomp => "OpenMP is missing: apt-get install gcc, which brings libgomp",
            System::Python => "Python as a library is missing: apt-get install python3-dev pkg-config",
            System::Glib => "GLib is missing: apt-get install libglib2.0-dev pkg-config",
            System::CMake => "CMake is missing: apt-get install cmake",
            System::IoUring => "the kernel does not let this process use io_uring: sysctl kernel.io_uring_disabled=0",
        }
    }
}

/// Whether a program runs and is content. It is given an empty program of C to read.
fn succeeds(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    let written =
        child.stdin.take().map(|mut input| std::io::Write::write_all(&mut input, b"int main(void) { return 0; }"));
    drop(written);
    child.wait().is_ok_and(|status| status.success())
}
