//! Inspects a library file without mapping it as code.
//!
//! Mapping runs initializers and trusts the headers of the file, so all headers are checked first. The checked, hashed and staged bytes are
//! the result of a single read, so they are identical even if a build changes the file concurrently.

mod staging;

use std::env::consts::DLL_PREFIX;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use crate::demands::Demands;
use crate::format::{self, Constants, Facts, SectionFacts};
use crate::image_error::{ImageError, not_copied, with_path};
use crate::imp;
use crate::ledger::repair::is_unrepaired;
use crate::map::Bytes;
use crate::seal::{Parts, split};
use crate::signature::{self, Signed};
use crate::source::{self, Copied, Source, check_len};
use crate::stage::StageDir;

pub use staging::Patch;

/// Content and parsed headers of a library for this host. `Send` and `Sync`.
#[derive(Debug)]
pub struct ImageFile {
    bytes: Bytes,
    facts: Facts,
    digest: Digest,
    is_sealed: bool,
    signed: Option<Signed>,
    /// Path of the file, or the name that replaces the path for bytes in memory.
    name: PathBuf,
}

/// 128-bit digest of the content of a file, displayed as 32 hex digits.
///
/// Distinguishes builds. Not resistant to deliberate collisions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(u128);

impl Digest {
    /// Computes the digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxh3_128(bytes))
    }

    /// Returns the digest as a number.
    #[must_use]
    pub fn number(self) -> u128 {
        self.0
    }
}

impl ImageFile {
    /// Reads the whole file, and checks that the file is a complete shared library for this host.
    ///
    /// Complete means that headers, sections, dynamic table and relocations are consistent with each other and with the length of the
    /// file. A bit error inside code or data is detected only in a file that was sealed by [`seal_file`](crate::seal_file).
    ///
    /// # Errors
    ///
    /// Returns [`ImageError`] with the first defect. A file that is being written causes [`ImageError::StillWritten`]. A watcher can then
    /// retry later. If the platform cannot detect writers, an incomplete file is reported as damaged.
    pub fn read(path: &Path) -> Result<Self, ImageError> {
        let demands = Demands::default();
        let (bytes, copied) = source::read(path, demands.largest)?;
        Self::of_copy(path, Bytes::read(bytes), &copied, &demands)
    }

    /// Makes a private copy of the file in `dir` and checks the copy against the [`Demands`] of `dir`. Suitable for a file that will be
    /// mapped later, because one pass both reads and copies the file.
    ///
    /// Returns the errors of [`ImageFile::read`], or an error if the copy cannot be written. After an error, the copy is removed.
    pub fn read_copy(path: &Path, dir: &StageDir) -> Result<Self, ImageError> {
        let source = Source::open(path, dir.demands().largest)?;
        let (bytes, copied) = Bytes::copy(source, path, dir).map_err(not_copied(path, dir.path()))?;
        Self::of_copy(path, bytes, &copied, dir.demands())
    }

    /// Checks bytes in memory as [`ImageFile::read_copy`] does. In errors, `name` replaces the path.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ImageFile::read_copy`], except the errors of reading a file.
    pub fn copy_bytes(name: &Path, bytes: &[u8], dir: &StageDir) -> Result<Self, ImageError> {
        let len = bytes.len() as u64;
        check_len(name, len, dir.demands().largest)?;
        let head = &bytes[..bytes.len().min(format::HEAD)];
        format::glance(head, len).map_err(|error| with_path(error, name, head, len))?;
        let bytes = Bytes::copy_bytes(bytes, name, dir).map_err(not_copied(name, dir.path()))?;
        Self::survey(name, bytes, dir.demands())
    }

    fn of_copy(path: &Path, bytes: Bytes, copied: &Copied<'_>, demands: &Demands) -> Result<Self, ImageError> {
        match Self::survey(path, bytes, demands) {
            // A valid seal covers all bytes, so the copy is known to be consistent.
            Ok(image) if image.is_sealed => Ok(image),
            Ok(image) => copied.is_of_one_moment(Some(image.digest.0)).map(|()| image),
            Err(error) => Err(copied.is_of_one_moment(None).err().unwrap_or(error)),
        }
    }

    /// Checks bytes in memory as [`ImageFile::read`] does. In errors, `name` replaces the path.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ImageFile::read`], except the errors of reading a file.
    ///
    /// # Examples
    /// ```
    /// use std::path::Path;
    ///
    /// use alcedo_sys::ImageFile;
    ///
    /// assert!(ImageFile::from_bytes(Path::new("libspinner.so"), b"no library".to_vec()).is_err());
    /// ```
    pub fn from_bytes(name: &Path, bytes: Vec<u8>) -> Result<Self, ImageError> {
        Self::from_bytes_for(name, bytes, &Demands::default())
    }

    /// Checks bytes in memory as [`ImageFile::from_bytes`] does, but under the demands of a host.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ImageFile::from_bytes`], [`ImageError::TooLarge`] and [`ImageError::NotTrusted`].
    pub fn from_bytes_for(name: &Path, bytes: Vec<u8>, demands: &Demands) -> Result<Self, ImageError> {
        check_len(name, bytes.len() as u64, demands.largest)?;
        Self::survey(name, Bytes::read(bytes), demands)
    }

    /// Checks the signature before parsing the file, so that a file without a trusted signature is never parsed.
    fn survey(name: &Path, mut bytes: Bytes, demands: &Demands) -> Result<Self, ImageError> {
        if bytes.is_empty() {
            return Err(ImageError::Empty { path: name.to_owned() });
        }
        // For a sealed file, reuses the digest that the check of the seal has computed.
        let Some(Parts { content, digest: sealed, signed }) = split(&bytes) else {
            let what = "its seal does not match its content".to_owned();
            return Err(ImageError::Malformed { path: name.to_owned(), what, sections: Vec::new() });
        };
        let len = content.len();
        bytes.truncate(len);
        check_signature(name, &bytes, signed.as_ref(), demands)?;
        let facts = format::survey(&bytes).map_err(|error| with_path(error, name, &bytes, len as u64))?;
        let digest = sealed.map_or_else(|| Digest::of(&bytes), Digest);
        Ok(Self { bytes, facts, digest, is_sealed: sealed.is_some(), signed, name: name.to_owned() })
    }

    /// Checks that the file meets these demands, for a library that was read under different demands.
    ///
    /// # Errors
    ///
    /// Returns [`ImageError::TooLarge`] or [`ImageError::NotTrusted`].
    pub(crate) fn meets(&self, demands: &Demands) -> Result<(), ImageError> {
        check_len(&self.name, self.bytes.len() as u64, demands.largest)?;
        check_signature(&self.name, &self.bytes, self.signed.as_ref(), demands)
    }

    /// Returns the content of the file, without a seal and a signature at its end.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes of the first section called `name`, if the section has bytes in the file.
    pub fn section(&self, name: &str) -> Option<&[u8]> {
        self.bytes.get(self.section_range(name)?)
    }

    /// Returns the names of the libraries that this library needs (`DT_NEEDED`), in file order.
    pub fn needed(&self) -> &[String] {
        &self.facts.needed
    }

    /// Returns the undefined symbols of the dynamic symbol table, including weak symbols, in file order.
    pub fn imports(&self) -> &[String] {
        &self.facts.imports
    }

    /// Returns the [imports](ImageFile::imports) that have no hook and through which an image may leave untraceable references to itself in
    /// the process. An image with such an import must stay mapped permanently.
    ///
    /// Excludes imports that can only leak resources, such as `malloc`, `mmap` and functions that open descriptors.
    pub fn bypassed_hooks(&self) -> Vec<&str> {
        let imports = || self.imports().iter().map(String::as_str);
        let has_facets = imports().any(|name| name.starts_with(CPP_FACET));
        let has_streams = imports().any(|name| CPP_STREAMS.contains(&name));
        let leaves_facet = |name| has_facets && (name == CPP_GLOBAL_LOCALE || has_streams && CPP_IMBUE.contains(&name));
        let keeps_code = |name| leaves_code_behind(name) || leaves_facet(name) || is_unrepaired(name, imp::REPAIRS);
        imports().filter(|name| keeps_code(name)).collect()
    }

    /// Returns `true` if the file was linked with `-z nodelete`. The loader never unmaps such a file.
    pub fn is_marked_to_stay(&self) -> bool {
        self.facts.pinning.is_marked
    }

    /// Returns the defined symbols that are unique per process (`STB_GNU_UNIQUE`), such as static variables in C++ inline functions. The
    /// loader never unmaps a library that provided such a symbol. In a cdylib, the linker hides these symbols.
    pub fn unique_symbols(&self) -> &[String] {
        &self.facts.pinning.unique
    }

    /// Returns the [needed](ImageFile::needed) library that provides an [import](ImageFile::imports). Returns `None` if the symbol version
    /// of the import specifies no library.
    pub fn library_of(&self, import: &str) -> Option<&str> {
        let at = self.imports().iter().position(|name| name == import)?;
        self.facts.pinning.libraries.get(at)?.as_deref()
    }

    /// Returns the range of the first section called `name` in [`ImageFile::bytes`], if the section has bytes in the file.
    pub(crate) fn section_range(&self, name: &str) -> Option<Range<usize>> {
        self.facts_of(name).map(|section| section.range.clone())
    }

    /// Returns `true` if the loader writes to the first section called `name` during mapping. The mapped bytes then differ from the bytes
    /// in the file.
    pub fn is_relocated(&self, name: &str) -> bool {
        self.facts_of(name).is_some_and(|section| section.is_relocated)
    }

    /// Returns the constants of the library, read from the file.
    pub fn constants(&self) -> Option<Constants<'_>> {
        format::constants(&self.bytes)
    }

    /// Returns the number of sections of that name with bytes in the file.
    pub fn count_sections(&self, name: &str) -> usize {
        self.facts.sections.iter().filter(|section| section.name == name).count()
    }

    fn facts_of(&self, name: &str) -> Option<&SectionFacts> {
        self.facts.sections.iter().find(|section| section.name == name)
    }

    /// Returns the shared Rust standard library that this file needs, if the file was built with `-C prefer-dynamic`.
    ///
    /// A file of this kind must stay mapped. Its destructors are registered with the shared library, and would run after the file is
    /// unmapped.
    pub fn links_std_dynamically(&self) -> Option<&str> {
        let is_std = |name: &str| name.strip_prefix(DLL_PREFIX).is_some_and(|name| name.starts_with("std-"));
        self.needed().iter().map(String::as_str).find(|name| is_std(name))
    }

    /// Returns `true` if the file has a valid seal. A file with a valid seal contains no bit errors.
    pub fn is_sealed(&self) -> bool {
        self.is_sealed
    }

    /// Returns the digest of the content without its seal. Sealing does not change the digest.
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// Functions with which a library registers addresses of its code or data with the process, in alphabetical order. After such a call, the
/// process may call or access the address, a thread may run at the address, or the loader may refuse to unmap the library. Also lists
/// functions without a hook that join a thread: the unload would join the thread again, although its handle may belong to a new thread.
const LEAVE_CODE_BEHIND: [&str; 90] = [
    "CRYPTO_get_ex_new_index",
    "CRYPTO_set_mem_functions",
    "ENGINE_add",
    "OBJ_NAME_add",
    "OPENSSL_atexit",
    "OSSL_PROVIDER_add_builtin",
    "PyCFunction_NewEx",
    "PyCMethod_New",
    "PyCapsule_New",
    "PyCode_AddWatcher",
    "PyContext_AddWatcher",
    "PyDescr_NewGetSet",
    "PyDescr_NewMethod",
    "PyDict_AddWatcher",
    "PyEval_SetProfile",
    "PyEval_SetTrace",
    "PyFunction_AddWatcher",
    "PyImport_AppendInittab",
    "PyImport_ExtendInittab",
    "PyMemoryView_FromBuffer",
    "PyMemoryView_FromMemory",
    "PyModuleDef_Init",
    "PyModule_AddFunctions",
    "PyModule_Create2",
    "PyModule_FromDefAndSpec2",
    "PyModule_FromSlotsAndSpec",
    "PyStructSequence_NewType",
    "PySys_AddAuditHook",
    "PyThread_start_new_thread",
    "PyType_AddWatcher",
    "PyType_Ready",
    "Py_AddPendingCall",
    "Py_AtExit",
    "RAND_set_rand_method",
    "X509V3_EXT_add",
    "__sigaction",
    "__sysv_signal",
    "_pthread_create",
    "bsd_signal",
    "clone",
    "fmemopen",
    "fopencookie",
    "g_boxed_type_register_static",
    "g_enum_register_static",
    "g_flags_register_static",
    "g_log_set_default_handler",
    "g_log_set_writer_func",
    "g_main_context_invoke_full",
    "g_object_add_toggle_ref",
    "g_object_set_data_full",
    "g_object_set_qdata_full",
    "g_object_weak_ref",
    "g_pointer_type_register_static",
    "g_signal_add_emission_hook",
    "g_signal_connect_data",
    "g_source_new",
    "g_source_set_callback",
    "g_source_set_funcs",
    "g_thread_new",
    "g_thread_try_new",
    "g_type_add_class_cache_func",
    "g_type_add_interface_static",
    "g_value_register_transform_func",
    "getaddrinfo_a",
    "hsearch",
    "initstate",
    "mcheck",
    "mcheck_pedantic",
    "mq_notify",
    "on_exit",
    "open_memstream",
    "open_wmemstream",
    "openlog",
    "pthread_clockjoin_np",
    "pthread_create",
    "pthread_key_create",
    "pthread_setspecific",
    "pthread_timedjoin_np",
    "pthread_tryjoin_np",
    "setstate",
    "setvbuf",
    "sigaction",
    "signal",
    "sigset",
    "ssignal",
    "sysv_signal",
    "thrd_create",
    "timer_create",
    "tss_create",
    "tss_set",
];

/// Name prefixes of further functions that register addresses. Several functions begin with each prefix.
const LEAVE_CODE_BEHIND_PREFIXES: [&str; 23] = [
    "ERR_load_strings",
    "PyStructSequence_InitType",
    "PyType_From",
    "__cxa_thread_atexit",
    "__register_frame",
    "aio_fsync",
    "aio_read",
    "aio_write",
    "g_cclosure_new",
    "g_child_watch_add",
    "g_closure_new",
    "g_idle_add",
    "g_io_add_watch",
    "g_log_set_handler",
    "g_thread_pool_new",
    "g_timeout_add",
    "g_type_register_",
    "g_unix_fd_add",
    "g_unix_signal_add",
    "lio_listio",
    "register_printf_",
    "setbuf",
    // Starts a thread inside the shared C++ library.
    "_ZNSt6thread15_M_start_thread",
];

/// Functions of the C++ runtime library that register stream callbacks and actions at thread exit, and store addresses that the host cannot
/// read. Excludes functions that register handlers, because the host can restore the previous handlers.
const CPP_KEEPS: [&str; 3] = [
    "_ZNSt8ios_base17register_callbackEPFvNS_5eventERS_iEi",
    "_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv",
    "_ZSt25notify_all_at_thread_exitRSt18condition_variableSt11unique_lockISt5mutexE",
];

/// Function that installs a facet in a locale. An import of this function matters only if the image can also set the global locale or the
/// locale of a stream.
const CPP_FACET: &str = "_ZNSt6locale5_Impl16_M_install_facet";

const CPP_GLOBAL_LOCALE: &str = "_ZNSt6locale6globalERKS_";

/// Functions that set the locale of a stream. Imports of these functions matter only if the image also imports one of [`CPP_STREAMS`].
const CPP_IMBUE: [&str; 3] = [
    "_ZNSt8ios_base5imbueERKSt6locale",
    "_ZNSt9basic_iosIcSt11char_traitsIcEE5imbueERKSt6locale",
    "_ZNSt9basic_iosIwSt11char_traitsIwEE5imbueERKSt6locale",
];

const CPP_STREAMS: [&str; 8] =
    ["_ZSt3cin", "_ZSt4cout", "_ZSt4cerr", "_ZSt4clog", "_ZSt4wcin", "_ZSt5wcout", "_ZSt5wcerr", "_ZSt5wclog"];

fn leaves_code_behind(name: &str) -> bool {
    let has_prefix = LEAVE_CODE_BEHIND_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    has_prefix || LEAVE_CODE_BEHIND.binary_search(&name).is_ok() || CPP_KEEPS.contains(&name)
}

fn check_signature(name: &Path, content: &[u8], signed: Option<&Signed>, demands: &Demands) -> Result<(), ImageError> {
    if demands.trusted.is_empty() {
        return Ok(());
    }
    let found = signature::check(content, signed, &demands.trusted);
    found.map_err(|found| ImageError::NotTrusted { path: name.to_owned(), found })
}

#[cfg(test)]
mod tests {
    use super::{CPP_GLOBAL_LOCALE, CPP_KEEPS, LEAVE_CODE_BEHIND, LEAVE_CODE_BEHIND_PREFIXES, leaves_code_behind};

    #[test]
    fn functions_that_leave_code_behind_are_found_by_name() {
        assert!(LEAVE_CODE_BEHIND.is_sorted());
        let mut listed = LEAVE_CODE_BEHIND.iter().chain(&LEAVE_CODE_BEHIND_PREFIXES).chain(&CPP_KEEPS);
        assert!(listed.all(|name| leaves_code_behind(name)));
        assert!(leaves_code_behind(
            "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"
        ));
        for join in ["pthread_clockjoin_np", "pthread_timedjoin_np", "pthread_tryjoin_np"] {
            assert!(leaves_code_behind(join), "{join}");
        }
        assert!(!leaves_code_behind(CPP_GLOBAL_LOCALE), "alone");
        for harmless in ["malloc", "mmap", "open", "pthread_join", "__cxa_finalize", "signalfd", ""] {
            assert!(!leaves_code_behind(harmless), "{harmless}");
        }
    }
}
