//! The functions for logs, objects, calls, names and what is done later. How a line is read is said in [`crate::list`].

/// Calls `$callback!` with the list of [`crate::host::HostTable`].
#[macro_export]
macro_rules! host_functions {
    ($callback:path) => {
        $callback! {
            /// The functions a plugin may call. Unless a line says otherwise: game thread only, refused elsewhere with
            /// `WRONG_THREAD`.
            ///
            /// # Safety
            /// For all of them: `host` is the word of this module's [`ModuleContext`]; references are live for the call;
            /// texts are UTF-8.
            HostTable, HostTableRef, table;

            /// An event. Any thread.
            any_thread("logging")
            fn log_event(host, module; record: &LogRecord<'_>);
            /// A span starts; its number, or zero without a listener. Any thread.
            any_thread("opening a span")
            fn span_open(host, module; record: &LogRecord<'_>) -> u64;
            /// A span goes on. Any thread.
            any_thread("a step of a span")
            fn span_step(host; span: u64, step: SpanStep);
            /// Finds what a ZCall name stands for; `fingerprint` zero is not compared. Any thread for a module without objects.
            any_thread("resolving a ZCall")
            fn zcall_resolve(
                host; name: RStr<'_>, fingerprint: u64; gives out: ZCallHandle = ZCallHandle::NONE; or failure
            ) -> ZCallStatus;
            /// Calls it. Any thread for a module without objects. The buffer lends its slots, unshared, until it returns; its
            /// pointer slots are what the signature of the callee says.
            any_thread("a ZCall", unsafe)
            fn zcall(host; handle: ZCallHandle, buffer: &mut ZCallBuffer; or failure) -> ZCallStatus;
            /// The memory of a living object of `class` or a subclass; class zero takes any.
            game_thread("following an object")
            fn object_resolve(
                host; object: ObjectHandle, class: ClassId; gives out: *mut u8 = core::ptr::null_mut(); or failure
            ) -> Status;
            /// The plugin part that the asking module made for `class` of the object; none where another made it.
            game_thread("reaching a plugin part")
            fn object_part(
                host, module; object: ObjectHandle, class: ClassId; gives out: PartPtr = PartPtr::NONE; or failure
            ) -> Status;
            /// Whether a property of the object may be written now; asked when the mode word is not normal.
            game_thread("writing a property")
            fn may_write(host; object: ObjectHandle; or failure) -> Status;
            /// The object's name.
            game_thread("asking an object's name")
            fn object_name(host; object: ObjectHandle; text sink) -> Status;
            /// The path of the object's class.
            game_thread("asking an object's class")
            fn object_class(host; object: ObjectHandle; text sink) -> Status;
            /// A new object of `class` inside `outer` (none: the world's package).
            acts("spawning an object")
            fn spawn(
                host; class: ClassId, outer: ObjectHandle; gives out: ObjectHandle = ObjectHandle::NONE; or failure
            ) -> Status;
            /// Destroys an object now; its memory stays readable until the safe point.
            acts("destroying an object")
            fn destroy(host; object: ObjectHandle; or failure) -> Status;
            /// Overwrites a text in host memory: `target` is a text property of a living object, or a result in a parameter
            /// block of the host.
            game_thread("writing a text", unsafe)
            fn text_assign(host; target: *mut TextRaw, text: TextView) -> Status;
            /// The name of a text.
            game_thread("interning a name")
            fn name_intern(host; text: TextView; gives out: Name = Name::default()) -> Status;
            /// The text of a name.
            game_thread("reading a name")
            fn name_text(host; name: Name; text sink) -> Status;
            /// Takes a job of the asking module. It is the host's unless this fails. Any thread for a posted one. Its
            /// functions are those of its data, and what is posted may change threads.
            any_thread("starting a task or a timer", unsafe)
            fn job_take(
                host, module; job: &Job<'_>; gives out: JobId = JobId::NONE; or failure
            ) -> Status;
            /// Ends a job before its time; without effect on one that has ended. Off the game thread it ends at the next
            /// safe point. Any thread.
            any_thread("cancelling a job")
            fn job_cancel(host; job: JobId);
            /// One if the job has neither ended nor been cancelled, else zero; also zero off the game thread.
            game_thread("asking for a job")
            fn job_lives(host; job: JobId) -> u8;
            /// Nanoseconds of game time since the host began; zero off the game thread.
            game_thread("asking for the game time")
            fn game_time(host;) -> u64;
            /// One more holder of a waker that the host has lent; the same address. Any thread. The caller was lent it, or holds
            /// it.
            bare("cloning a waker", unsafe)
            fn waker_clone(; waker: *const ()) -> *const ();
            /// The task of a waker is to be run again; without effect when it has ended. Any thread. The caller was lent the
            /// waker, or holds it.
            bare("waking a task", unsafe)
            fn waker_wake(; waker: *const ());
            /// One holder of a waker less. Any thread. The caller holds it, and gives that up.
            bare("dropping a waker", unsafe)
            fn waker_drop(; waker: *const ());
            /// A panic of the module's has begun on this thread, at this place of its sources, and nothing has been unwound yet.
            /// Any thread.
            #[sabi(last_prefix_field)]
            bare("telling of a panic")
            fn panicked(host; file: RStr<'_>, line: u32, column: u32);
            /// The code behind a handle, for calls without slots, where its signature has that fingerprint and all of it lies in slots;
            /// none for other functions. Game thread; any thread for a module that belongs to none.
            any_thread("finding a function for direct calls")
            fn zcall_direct(
                host; handle: ZCallHandle, fingerprint: u64; gives out: DirectCallee = DirectCallee::NONE; or failure
            ) -> Status;
            /// Calls the function of objects behind a handle, whose signature has that fingerprint and lies in slots, on each object,
            /// and goes on where one fails. It lends what its type says, unshared, until it returns.
            game_thread("a call on several objects", unsafe)
            fn zcall_each(host; handle: ZCallHandle, fingerprint: u64, each: &mut EachCall; or failure) -> Status;
            /// Where the property behind a handle lies in objects of just the class of this one. Its type has that fingerprint.
            game_thread("finding a property")
            fn property_place(
                host; handle: ZCallHandle, fingerprint: u64, object: ObjectHandle;
                gives class: ClassId = ClassId::NONE, offset: u32 = 0; or failure
            ) -> Status;
            /// Fails with the failure of the last direct call on this thread. Any thread.
            any_thread("a direct call")
            fn direct_failure(host;; or failure) -> Status;
            /// From now on names that begin with the word of a protocol of the asking module are read by it. Its function is one
            /// of the module's that does what the type says, for its number. Game thread.
            any_thread("registering a protocol", unsafe)
            fn protocol_add(host, module; protocol: &ProtocolDesc<'_>; or failure) -> Status;
            /// From now on a resolver of the asking module is called for the names of a protocol. Its functions are of the
            /// module's that do what their types say, for its number. Game thread.
            any_thread("registering a resolver", unsafe)
            fn resolver_add(host, module; resolver: &ResolverDesc<'_>; or failure) -> Status;
            /// Returns one while a call of the host into a module that belongs to no thread is open on this thread, else zero: the trap of
            /// the call takes a panic. Any thread.
            bare("finding open calls")
            fn calls_are_open(host;) -> u8;
        }
    };
}
