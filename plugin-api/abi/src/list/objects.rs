//! Host functions for logs, objects, calls, names and jobs. [`crate::list`] describes the syntax of a line.

/// Calls `$callback!` with the list of [`crate::host::HostTable`].
#[macro_export]
macro_rules! host_functions {
    ($callback:path) => {
        $callback! {
            /// Host functions that a plugin may call. Unless the docs of a function state otherwise, the function may be called on the
            /// game thread only, and fails with `WRONG_THREAD` on other threads.
            ///
            /// # Safety
            /// For all functions: `host` is the pointer from this module's [`ModuleContext`]; references are valid during the call;
            /// strings are UTF-8.
            HostTable, HostTableRef, table;

            /// Logs an event. Callable on any thread.
            any_thread("logging")
            fn log_event(host, module; record: &LogRecord<'_>);
            /// Opens a span. Returns the number of the span, or zero if no listener exists. Callable on any thread.
            any_thread("opening a span")
            fn span_open(host, module; record: &LogRecord<'_>) -> u64;
            /// Enters, exits or closes a span. Callable on any thread.
            any_thread("a step of a span")
            fn span_step(host; span: u64, step: SpanStep);
            /// Resolves a ZCall name. A `fingerprint` of zero disables the signature check. A module without objects may call this
            /// function on any thread.
            any_thread("resolving a ZCall")
            fn zcall_resolve(
                host; name: RStr<'_>, fingerprint: u64; returns out: ZCallHandle = ZCallHandle::NONE; or failure
            ) -> ZCallStatus;
            /// Calls a function by its handle. A module without objects may call this function on any thread. The buffer borrows its
            /// slots exclusively until the function returns; pointer slots match the callee's signature.
            any_thread("a ZCall", unsafe)
            fn zcall(host; handle: ZCallHandle, buffer: &mut ZCallBuffer; or failure) -> ZCallStatus;
            /// Returns the memory of a live object of `class` or a subclass. If `class` is zero, objects of any class are accepted.
            game_thread("following an object")
            fn object_resolve(
                host; object: ObjectHandle, class: ClassId; returns out: *mut u8 = core::ptr::null_mut(); or failure
            ) -> Status;
            /// Returns the object's plugin part for `class`, or none if another module created this part.
            game_thread("reaching a plugin part")
            fn object_part(
                host, module; object: ObjectHandle, class: ClassId; returns out: PartPtr = PartPtr::NONE; or failure
            ) -> Status;
            /// Checks that properties of the object may be written now. While the mode word is not normal, modules call this function
            /// before each write.
            game_thread("writing a property")
            fn may_write(host; object: ObjectHandle; or failure) -> Status;
            /// Returns the object's name.
            game_thread("reading an object's name")
            fn object_name(host; object: ObjectHandle; text sink) -> Status;
            /// Returns the path of the object's class.
            game_thread("reading an object's class")
            fn object_class(host; object: ObjectHandle; text sink) -> Status;
            /// Creates an object of `class` inside `outer`, or an object without an outer if `outer` is none.
            acts("spawning an object")
            fn spawn(
                host; class: ClassId, outer: ObjectHandle; returns out: ObjectHandle = ObjectHandle::NONE; or failure
            ) -> Status;
            /// Destroys an object immediately. The object's memory remains readable until the next safe point.
            acts("destroying an object")
            fn destroy(host; object: ObjectHandle; or failure) -> Status;
            /// Overwrites a string in host memory: `target` is a string property of a live object, or a result in a parameter
            /// block of the host.
            game_thread("writing a text", unsafe)
            fn text_assign(host; target: *mut TextRaw, text: TextView) -> Status;
            /// Interns a string and returns its name.
            game_thread("interning a name")
            fn name_intern(host; text: TextView; returns out: Name = Name::default()) -> Status;
            /// Returns the string of a name.
            game_thread("reading a name")
            fn name_text(host; name: Name; text sink) -> Status;
            /// Schedules a job of the calling module. The host owns the job unless the function fails. A posted job may be scheduled on any
            /// thread. The caller ensures that the job's functions accept the job's data, and that the data of a posted job may move
            /// between threads.
            any_thread("starting a task or a timer", unsafe)
            fn job_take(
                host, module; job: &Job<'_>; returns out: JobId = JobId::NONE; or failure
            ) -> Status;
            /// Cancels a job; has no effect on a finished job. A job that is canceled outside the game thread ends at the next safe point.
            /// Callable on any thread.
            any_thread("cancelling a job")
            fn job_cancel(host; job: JobId);
            /// Returns one if the job is neither finished nor canceled, otherwise zero. Always returns zero outside the game thread.
            game_thread("checking a job")
            fn job_lives(host; job: JobId) -> u8;
            /// Returns the game time since the host started, in nanoseconds; zero outside the game thread.
            game_thread("reading the game time")
            fn game_time(host;) -> u64;
            /// Increments the reference count of a host waker, and returns the waker's address. Callable on any thread by code that
            /// borrows or owns the waker.
            bare("cloning a waker", unsafe)
            fn waker_clone(; waker: *const ()) -> *const ();
            /// Schedules the next step of a waker's task; has no effect on a finished task. Callable on any thread by code that borrows or
            /// owns the waker.
            bare("waking a task", unsafe)
            fn waker_wake(; waker: *const ());
            /// Decrements the reference count of a waker. Callable on any thread by the owner, which does not use the waker afterwards.
            bare("dropping a waker", unsafe)
            fn waker_drop(; waker: *const ());
            /// Reports a panic of the module on this thread, with message and source location, before the stack unwinds. Callable on any
            /// thread.
            #[sabi(last_prefix_field)]
            bare("reporting a panic")
            fn panicked(host; message: RStr<'_>, file: RStr<'_>, line: u32, column: u32);
            /// Returns the code of a function for direct calls. The function's signature must have the passed fingerprint. Returns none if
            /// the kind of a parameter or of the result does not fit a slot. Callable on the game thread, or on any thread by a module that
            /// is not bound to a thread.
            any_thread("finding a function for direct calls")
            fn zcall_direct(
                host; handle: ZCallHandle, fingerprint: u64; returns out: DirectCallee = DirectCallee::NONE; or failure
            ) -> Status;
            /// Calls a method on each object of `each`. The method's signature must have the passed fingerprint, and all its kinds must fit
            /// a slot. A failure does not stop the remaining calls. `each` exclusively borrows the data behind its pointers until the
            /// function returns.
            game_thread("a call on several objects", unsafe)
            fn zcall_each(host; handle: ZCallHandle, fingerprint: u64, each: &mut EachCall; or failure) -> Status;
            /// Returns the class of `object`, and the offset of a property in objects of this class. The offset may differ in subclasses.
            /// The property's type must have the passed fingerprint.
            game_thread("finding a property")
            fn property_location(
                host; handle: ZCallHandle, fingerprint: u64, object: ObjectHandle;
                returns class: ClassId = ClassId::NONE, offset: u32 = 0; or failure
            ) -> Status;
            /// Returns the error of the last direct call on this thread. Callable on any thread.
            any_thread("a direct call")
            fn direct_failure(host;; or failure) -> Status;
            /// Registers a protocol of the calling module for all names that begin with the protocol's prefix. The `read` function must
            /// belong to the module and accept the protocol's number. Callable on the game thread only.
            any_thread("registering a protocol", unsafe)
            fn protocol_add(host, module; protocol: &ProtocolDesc<'_>; or failure) -> Status;
            /// Registers a resolver of the calling module for the names of a protocol. The resolver's functions must belong to the module
            /// and accept the resolver's number. Callable on the game thread only.
            any_thread("registering a resolver", unsafe)
            fn resolver_add(host, module; resolver: &ResolverDesc<'_>; or failure) -> Status;
            /// Returns 1 if the calling thread runs inside a call from the host to a module that is not bound to a thread, otherwise 0.
            /// Inside such a call, the host's panic guard catches panics. Callable on any thread.
            bare("finding open calls")
            fn calls_are_open(host;) -> u8;
            /// Calls PostInitProperties of the closest base of `class` that a module declares with this hook. Has no effect if no base has
            /// the hook.
            game_thread("calling PostInitProperties of a base")
            fn base_post_init(host; object: ObjectHandle, class: ClassId; or failure) -> Status;
        }
    };
}
