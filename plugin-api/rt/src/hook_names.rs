//! C names of the hooks. A macro defines the names in the plugin's crate, because the linker always links the object files of that crate.
//! From this crate, the linker might omit object files, or might first resolve the names to the platform's functions.

/// Defines the C functions of [`hooks`](crate::hooks) as hidden symbols of the calling library. For the names in the macro's argument, the
/// library defines its own functions instead, but `dlsym` in the library still returns the hooks. Also defines the initializer that looks
/// up the platform's functions.
#[doc(hidden)]
#[macro_export]
#[cfg(hooked)]
macro_rules! __alcedo_hooks {
    ($unhooked:tt) => {
        $crate::__alcedo_name! {
            $unhooked
            // Thread-locals, threads, exit handlers, signals and descriptors.
            "__cxa_thread_atexit_impl" __cxa_thread_atexit_impl,
            "__cxa_thread_atexit" __cxa_thread_atexit_impl,
            "pthread_key_create" pthread_key_create,
            "pthread_key_delete" pthread_key_delete,
            "pthread_setspecific" pthread_setspecific,
            "pthread_create" pthread_create,
            "pthread_join" pthread_join,
            "pthread_detach" pthread_detach,
            "sigaction" sigaction,
            "__sigaction" sigaction,
            "signal" signal,
            "bsd_signal" signal,
            "ssignal" signal,
            "__cxa_atexit" __cxa_atexit,
            "on_exit" on_exit,
            "open" open,
            "open64" open,
            "openat" openat,
            "openat64" openat,
            "creat" creat,
            "creat64" creat,
            "mkstemp" mkstemp,
            "mkstemp64" mkstemp,
            "mkostemp" mkostemp,
            "mkostemp64" mkostemp,
            "close" close,
            "fdopen" fdopen,
            "fdopendir" fdopendir,
            "socket" socket,
            "socketpair" socketpair,
            "accept" accept,
            "accept4" accept4,
            "pipe" pipe,
            "pipe2" pipe2,
            "dup" dup,
            "dup2" dup2,
            "dup3" dup3,
            "fcntl" fcntl,
            "fcntl64" fcntl,
            "epoll_create" epoll_create,
            "epoll_create1" epoll_create1,
            "eventfd" eventfd,
            "timerfd_create" timerfd_create,
            "signalfd" signalfd,
            "inotify_init" inotify_init,
            "inotify_init1" inotify_init1,
            "memfd_create" memfd_create,
            "pthread_setname_np" pthread_setname_np,
            "syscall" syscall,
            // Functions that store an address of the module in a table or a variable of a different library.
            "__register_frame" register_frame,
            "__deregister_frame" __deregister_frame,
            "fopencookie" fopencookie,
            "open_memstream" open_memstream,
            "open_wmemstream" open_wmemstream,
            "fmemopen" fmemopen,
            "fclose" fclose,
            "fopen" fopen,
            "fopen64" fopen,
            "tmpfile" tmpfile,
            "tmpfile64" tmpfile,
            "popen" popen,
            "pclose" pclose,
            "opendir" opendir,
            "closedir" closedir,
            "setvbuf" setvbuf,
            "setbuffer" setbuffer,
            "setbuf" setbuf,
            "openlog" openlog,
            "initstate" initstate,
            "setstate" setstate,
            "putenv" putenv,
            // Signals, timers, message queues, asynchronous requests, jumps and processes.
            "sigaltstack" sigaltstack,
            "setitimer" setitimer,
            "alarm" alarm,
            "ualarm" ualarm,
            "timer_create" timer_create,
            "timer_delete" timer_delete,
            "mq_open" mq_open,
            "mq_close" mq_close,
            "mq_notify" mq_notify,
            "aio_read" aio_read,
            "aio_read64" aio_read,
            "aio_write" aio_write,
            "aio_write64" aio_write,
            "aio_fsync" aio_fsync,
            "aio_fsync64" aio_fsync,
            "lio_listio" lio_listio,
            "lio_listio64" lio_listio,
            "getaddrinfo_a" getaddrinfo_a,
            "ioctl" ioctl,
            "longjmp" longjmp,
            "_longjmp" _longjmp,
            "siglongjmp" siglongjmp,
            "__longjmp_chk" __longjmp_chk,
            "fork" fork,
            "__fork" fork,
            "posix_spawn" posix_spawn,
            "posix_spawnp" posix_spawnp,
            // Handlers for `fork`.
            "__register_atfork" register_atfork,
        }
        #[cfg(target_arch = "x86_64")]
        $crate::__alcedo_name! {
            $unhooked
            "vfork" vfork,
        }
        $crate::__alcedo_lookup! {
            $unhooked
            "dlsym" dlsym,
            "dlvsym" dlvsym,
        }
        $crate::__alcedo_hooks_of_memory!($unhooked);

        const _: () = {
            // Runs before all other initializers, because the linker sorts initializers by the number in the section name. Initializers
            // without a number run last.
            #[used]
            #[unsafe(link_section = ".init_array.00000")]
            static ALCEDO_RESOLVE: extern "C" fn() = $crate::hooks::resolve;
        };
        $crate::__alcedo_unhooked!($unhooked);
    };
}

/// Defines no functions, because this platform has no hooks. The host parks images on this platform.
#[doc(hidden)]
#[macro_export]
#[cfg(not(hooked))]
macro_rules! __alcedo_hooks {
    ($unhooked:tt) => {};
}

/// Adds a name to a section that the host reads from the file. Linking fails unless both a hook and a function of the library have the
/// name. The macro hides the function, because the loader would bind calls of a visible function to the platform's function.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_unhooked {
    ([$($name:tt)*]) => {
        $($crate::__alcedo_unhooked!($name);)*
    };
    ("free") => {
        $crate::__alcedo_unhooked!(@ "free");
        const _: () = {
            // Runs before all other initializers, in the same way as the initializer that looks up the platform's functions.
            #[used]
            #[unsafe(link_section = ".init_array.00000")]
            static ALCEDO_OWN_HEAP: extern "C" fn() = $crate::hooks::has_own_heap;
        };
    };
    ($name:tt) => {
        $crate::__alcedo_unhooked!(@ $name);
    };
    (@ $name:tt) => {
        const _: () = ::core::assert!($crate::hooks::is_c_name($name), "`unhooked` lists names of C functions");
        $crate::hooks::global_asm!(
            ".pushsection .alcedo.unhooked,\"aR\",@progbits",
            ::core::concat!(".hidden alcedo_hook_of_", $name),
            ::core::concat!(".hidden ", $name),
            ::core::concat!(".long alcedo_hook_of_", $name, " - ."),
            ::core::concat!(".long ", $name, " - ."),
            ::core::concat!(".asciz \"", $name, "\""),
            ".popsection",
        );
    };
}

/// Defines no hooks of memory functions, because a sanitizer must intercept each call of these functions.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "pass-through")]
macro_rules! __alcedo_hooks_of_memory {
    ($unhooked:tt) => {};
}

/// Defines the hooks of functions for the C heap and for mappings.
#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "pass-through"))]
macro_rules! __alcedo_hooks_of_memory {
    ($unhooked:tt) => {
        $crate::__alcedo_name! {
            $unhooked
            "mmap" mmap,
            "mmap64" mmap,
            "munmap" munmap,
            "mremap" mremap,
            "shmat" shmat,
            "shmdt" shmdt,
            "malloc" malloc,
            "calloc" calloc,
            "realloc" realloc,
            "reallocarray" reallocarray,
            "posix_memalign" posix_memalign,
            "free" free,
            "strdup" strdup,
            "__strdup" strdup,
            "strndup" strndup,
            "__strndup" strndup,
            "wcsdup" wcsdup,
            "realpath" realpath,
            "canonicalize_file_name" canonicalize_file_name,
            "getcwd" getcwd,
            "get_current_dir_name" get_current_dir_name,
            "vasprintf" vasprintf,
            "__vasprintf_chk" __vasprintf_chk,
            "getline" getline,
            "getdelim" getdelim,
            "__getdelim" getdelim,
        }
        #[cfg(target_arch = "x86_64")]
        $crate::__alcedo_name! {
            $unhooked
            "asprintf" asprintf,
            "__asprintf_chk" __asprintf_chk,
        }
    };
}

/// Defines hidden C names that jump to functions of [`hooks`](crate::hooks). A C name that Rust code defines would be exported.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_name {
    ($unhooked:tt $($name:tt $function:ident,)*) => {
        #[cfg(target_arch = "x86_64")]
        $crate::__alcedo_symbols! { $unhooked ["jmp \\function"] $($name $function)* }
        #[cfg(target_arch = "aarch64")]
        $crate::__alcedo_symbols! { $unhooked ["b \\function"] $($name $function)* }
    };
}

/// Defines C names of the functions that look up symbols. The code of each name passes the bounds of the table of all hooked names as the
/// fourth and fifth argument, after the arguments of the C function.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_lookup {
    ($unhooked:tt $($name:tt $function:ident,)*) => {
        #[cfg(target_arch = "x86_64")]
        $crate::__alcedo_symbols! {
            $unhooked
            [
                ".hidden __start_alcedo_hooked",
                ".hidden __stop_alcedo_hooked",
                "lea rcx, [rip + __start_alcedo_hooked]",
                "lea r8, [rip + __stop_alcedo_hooked]",
                "jmp \\function"
            ]
            $($name $function)*
        }
        #[cfg(target_arch = "aarch64")]
        $crate::__alcedo_symbols! {
            $unhooked
            [
                ".hidden __start_alcedo_hooked",
                ".hidden __stop_alcedo_hooked",
                "adrp x3, __start_alcedo_hooked",
                "add x3, x3, :lo12:__start_alcedo_hooked",
                "adrp x4, __stop_alcedo_hooked",
                "add x4, x4, :lo12:__stop_alcedo_hooked",
                "b \\function"
            ]
            $($name $function)*
        }
    };
}

/// Defines hidden C names with identical code, and adds the names to the table of `HookedName`s, whose bounds the linker defines. For an
/// unhooked name, defines the replacement symbol instead. An assembler macro repeats the code, because an expansion of all names in Rust
/// would take a tenth of a plugin's compile time.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_symbols {
    ([$($unhooked:tt)*] [$($code:literal),+] $($name:tt $function:ident)*) => {
        $crate::hooks::global_asm!(
            ".macro alcedo_symbol name, symbol, function",
            ".pushsection .text.alcedo.\\name,\"ax\",@progbits",
            ".globl \\symbol",
            ".hidden \\symbol",
            ".type \\symbol,@function",
            ".p2align 4",
            "\\symbol:",
            $($code,)+
            ".size \\symbol, . - \\symbol",
            ".popsection",
            ".pushsection .rodata.alcedo.\\name,\"a\",@progbits",
            ".Lalcedo_name_of_\\name:",
            ".asciz \"\\name\"",
            ".popsection",
            // The code refers only to the bounds of the section. The flag `R` prevents the linker from removing the section.
            ".pushsection alcedo_hooked,\"aR\",@progbits",
            ".p2align 2",
            ".long .Lalcedo_name_of_\\name - .",
            ".long \\symbol - .",
            ".popsection",
            ".endm",
            ".macro alcedo_name name, function",
            ".ifdef .Lalcedo_unhooked_\\name",
            "alcedo_symbol \\name, alcedo_hook_of_\\name, \\function",
            ".else",
            "alcedo_symbol \\name, \\name, \\function",
            ".endif",
            ".endm",
            $(::core::concat!(".set .Lalcedo_unhooked_", $unhooked, ", 1"),)*
            $(::core::concat!("alcedo_name ", $name, ", {}"),)*
            ".purgem alcedo_name",
            ".purgem alcedo_symbol",
            $(sym $crate::hooks::$function,)*
        );
    };
}
