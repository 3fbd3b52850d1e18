//! Host functions for values. [`crate::list`] describes the syntax of a line.

/// Calls `$callback!` with the list of [`crate::values::ValueTable`].
#[macro_export]
macro_rules! value_functions {
    ($callback:path) => { $callback! {
        /// Host functions for values. Unless the docs of a function state otherwise, the function may be called on the game thread only,
        /// and fails with `WRONG_THREAD` on all other threads. A write fails with `DURING_REBUILD` while the host refuses writes to the
        /// value's owner.
        ///
        /// # Safety
        /// For all functions: `host` is the pointer from this module's [`crate::host::ModuleContext`]; references are valid during the
        /// call; strings are UTF-8. Each [`RawLocation`] and each address refers to a live value of the type.
        ValueTable, ValueTableRef, values;

        /// Returns the number of a type, described by `text` in signature syntax, for example `Array(f64)` or `Map(String,
        /// Object(/Script/A.B))`. The number belongs to the calling module, and becomes invalid when the module ends.
        game_thread("looking up a type")
        fn type_resolve(
            host, module; text: TextView; returns out: TypeNumber = TypeNumber::NONE; or failure
        ) -> Status;

        /// Creates an owned value: a copy of the value at `from`, or a value whose bytes are all zero if `from` is null. The address of the
        /// owned value is stored in the `BlackDirectory`.
        game_thread("creating a black conjugate", unsafe)
        fn black_new(
            host, module; ty: TypeNumber, from: *const u8, site: &Site;
            returns out: BlackHandle = BlackHandle::NONE; or failure
        ) -> Status;
        /// Drops an owned value. Has no effect if the value was already destroyed together with its generation. Callable on any thread;
        /// outside the game thread, the call queues the drop for the game thread.
        any_thread("dropping a black conjugate")
        fn black_drop(host; black: BlackHandle);

        /// Overwrites the value at `to` with a copy of the value at `from`. Both values have the type that `to` contains.
        game_thread("overwriting a value", unsafe)
        fn copy(host; to: &RawLocation, from: *const u8; or failure) -> Status;
        /// Returns one if two values of a type are equal, otherwise zero.
        game_thread("comparing values", unsafe)
        fn equal(host; ty: TypeNumber, one: *const u8, two: *const u8; returns out: u8 = 0; or failure) -> Status;
        /// Returns a hash of the value. Equal values of a type have equal hashes within this process.
        game_thread("hashing a value", unsafe)
        fn hash(host; ty: TypeNumber, at: *const u8; returns out: u64 = 0; or failure) -> Status;
        /// Formats the value as a string.
        game_thread("printing a value", unsafe)
        fn print(host; ty: TypeNumber, at: *const u8; text sink; or failure) -> Status;
        /// Parses a string and overwrites the value with the result.
        game_thread("reading a value from text", unsafe)
        fn parse(host; location: &RawLocation, text: TextView; or failure) -> Status;
        /// Frees the memory that the value owns, and overwrites the value with zero bytes. Plugins call this function for values on their
        /// stack.
        game_thread("clearing a value", unsafe)
        fn clear(host; location: &RawLocation; or failure) -> Status;
        /// Overwrites a string that has one byte per character.
        game_thread("overwriting a text", unsafe)
        fn ansi_assign(host; location: &RawLocation, data: *const u8, len: usize; or failure) -> Status;

        /// Removes `remove` values from an array, starting at index `at`, and inserts `insert` zeroed values at `at`. Fails with `OTHER` if
        /// the array is too short.
        game_thread("changing an array", unsafe)
        fn array_splice(host; array: &RawLocation, at: u32, remove: u32, insert: u32; or failure) -> Status;
        /// Reserves memory for `more` additional values.
        game_thread("making room in an array", unsafe)
        fn array_reserve(host; array: &RawLocation, more: u32; or failure) -> Status;
        /// Returns the index of the entry with the key in a set or map, or [`u32::MAX`] if the key is missing.
        game_thread("looking for a key", unsafe)
        fn map_find(host; map: &RawLocation, key: *const u8; returns out: u32 = u32::MAX; or failure) -> Status;
        /// Returns the index of the entry with the key. If the key is missing, inserts a copy of the key with a value whose bytes are all
        /// zero, and sets `is_new` to one.
        game_thread("inserting a key", unsafe)
        fn map_insert(host; map: &RawLocation, key: *const u8; returns out: u32 = 0, is_new: u8 = 0; or failure) -> Status;
        /// Removes the entry at an index. The last entry moves to the position of the removed entry.
        game_thread("taking out a key", unsafe)
        fn map_remove(host; map: &RawLocation, at: u32; or failure) -> Status;

        /// Assigns an object or none to a soft, lazy, weak or interface reference. Fails with `WRONG_CLASS` if the reference does not
        /// accept the object's class.
        game_thread("pointing a reference at an object", unsafe)
        fn reference_assign(host; location: &RawLocation, object: ObjectHandle; or failure) -> Status;
        /// Returns the current object of a reference. Returns none if the object does not exist, or if the reference does not accept its
        /// class.
        game_thread("following a reference", unsafe)
        fn reference_resolve(
            host; ty: TypeNumber, at: *const u8; returns out: ObjectHandle = ObjectHandle::NONE; or failure
        ) -> Status;
        /// Assigns a class, identified by its path, to a class reference. Fails with `NOT_FOUND` for an unknown class of a `SubclassOf`,
        /// and with `WRONG_CLASS` if the reference does not accept the class.
        game_thread("naming a class", unsafe)
        fn class_assign(host; location: &RawLocation, path: Name; or failure) -> Status;
        /// Returns the current class of a class reference, or none if the reference resolves to no class.
        game_thread("reading a class reference", unsafe)
        fn class_resolve(
            host; ty: TypeNumber, at: *const u8; returns out: ClassId = ClassId::NONE; or failure
        ) -> Status;
        /// Returns the path of an object, in the form that soft references store.
        game_thread("reading an object's path")
        fn object_path(host; object: ObjectHandle; text sink) -> Status;

        /// Binds a delegate to a function of an object by name. A multicast or sparse delegate stores each binding only once. Fails
        /// with `NOT_FOUND` for an unknown function, and with `SIGNATURE` if the function's signature differs.
        game_thread("binding a delegate", unsafe)
        fn delegate_bind(host; delegate: &RawLocation, object: ObjectHandle, function: TextView; or failure) -> Status;
        /// Removes the bindings to a function of an object. An empty name removes all bindings to the object. If the object is none,
        /// removes all bindings. Returns the number of removed bindings.
        game_thread("unbinding a delegate", unsafe)
        fn delegate_unbind(
            host; delegate: &RawLocation, object: ObjectHandle, function: TextView; returns out: u32 = 0; or failure
        ) -> Status;
        /// Calls the bound functions. The buffer contains slots for parameters and result, but not for the object. An unbound single
        /// delegate fails with `NOT_FOUND`. A multicast or sparse delegate calls the bound functions of all live objects, most recent
        /// binding first, and returns no result. The buffer borrows its slots exclusively until the function returns; the slots match the
        /// delegate's signature.
        game_thread("calling a delegate", unsafe)
        fn delegate_call(host; delegate: &RawLocation, buffer: &mut ZCallBuffer; or failure) -> ZCallStatus;

        /// Makes a field path refer to the property at `path`. Fails with `NOT_FOUND` for an unknown path. The empty path resets the field
        /// path.
        game_thread("naming a property", unsafe)
        fn field_assign(host; location: &RawLocation, path: TextView; or failure) -> Status;
        /// Returns the type of the property that a field path refers to, as a string. Does not call the sink if the property does not
        /// exist.
        game_thread("reading a field path", unsafe)
        fn field_type(host; at: *const u8; text sink; or failure) -> Status;

        /// Renames an object, moves the object to a new outer, or both. An empty name keeps the name, and none keeps the outer. The object
        /// itself as `outer` removes the object from its outer. Refuses the change if `outer` already contains an object with the name, or
        /// if `outer` is inside the object. Also refuses default subobjects, and class default objects and their parts, also as `outer`.
        /// During a reload, fails with `DURING_REBUILD` for objects that were created before the reload.
        game_thread("renaming an object")
        fn object_rename(host; object: ObjectHandle, name: TextView, outer: ObjectHandle; or failure) -> Status;
        /// Requests a collection. While code of a module runs, the call fails with `UNAVAILABLE`, and the requested collection runs at the
        /// next safe point.
        acts("requesting a collection")
        fn collect(host;; or failure) -> Status;

        /// Returns color, kind, age and expiry of a conjugate. Fails with `NOT_FOUND` for a handle that was never issued.
        game_thread("inspecting a conjugate")
        fn conjugate_state(
            host; conjugate: ConjugateHandle; returns out: ConjugateState = ConjugateState::UNKNOWN; or failure
        ) -> Status;
        /// Creates a red conjugate for dynamic calls, valid until the innermost red frame closes. If `location` has an owner, the value
        /// must be a property of the owner and not be inside a container. A value without an owner must not move until the frame closes.
        /// Fails with `UNAVAILABLE` outside of red frames.
        game_thread("lending a value", unsafe)
        fn conjugate_borrow(
            host; location: &RawLocation; returns out: ConjugateHandle = ConjugateHandle::NONE; or failure
        ) -> Status;
        /// Returns the location of a conjugate's value, valid until the innermost red frame closes or the owned value is dropped.
        /// Fails with `EXPIRED`, and reports kind and age, if the value no longer exists.
        game_thread("opening a conjugate")
        fn conjugate_open(host; conjugate: ConjugateHandle; returns out: RawLocation = RawLocation::NONE; or failure) -> Status;
        /// Creates an owned copy of the value of any conjugate. Fails with `EXPIRED` if the value no longer exists.
        game_thread("cloning a conjugate", unsafe)
        fn conjugate_clone(
            host, module; conjugate: ConjugateHandle, site: &Site; returns out: BlackHandle = BlackHandle::NONE; or failure
        ) -> Status;
        /// Returns the type of a conjugate's value as a string, in the form that `type_resolve` accepts. Does not call the sink for an
        /// expired conjugate.
        game_thread("reading the type of a conjugate")
        fn conjugate_type(host; conjugate: ConjugateHandle; text sink; or failure) -> Status;
        /// Performs `HostTable::zcall` for callers without static types. A slot of type `SlotType::CONJUGATE` contains a conjugate, which
        /// may be an object. Arguments may be any conjugates that have not expired; results are owned values of the module. The buffer
        /// borrows its slots exclusively until the function returns; the host never dereferences addresses in slots.
        game_thread("a ZCall", unsafe)
        fn conjugate_zcall(host, module; handle: ZCallHandle, buffer: &mut ZCallBuffer; or failure) -> ZCallStatus;

        /// Opens a conjugate like `conjugate_open`, and checks that the value has the type `ty`. If the types differ, fails with
        /// `SIGNATURE` and reports both types.
        game_thread("opening a conjugate")
        fn conjugate_open_as(
            host; conjugate: ConjugateHandle, ty: TypeNumber; returns out: RawLocation = RawLocation::NONE; or failure
        ) -> Status;
        /// Returns the kind of the result of the function with this handle; zero if the function has no result. For the handle of a
        /// property, returns the kind of the property. Fails with `SIGNATURE` if the handle alone does not determine the kind.
        #[sabi(last_prefix_field)]
        game_thread("reading the result of a ZCall")
        fn zcall_result(host; handle: ZCallHandle; returns out: PropertyKind = PropertyKind(0); or failure) -> Status;
        /// Returns the kind of a delegate's result, or zero if the delegate has no result. Fails with `EXPIRED` if the delegate no longer
        /// exists, and with `SIGNATURE` if the conjugate is not a delegate.
        game_thread("reading the result of a delegate")
        fn delegate_result(host; delegate: ConjugateHandle; returns out: PropertyKind = PropertyKind(0); or failure) -> Status;

        /// Advances to the next parameter of a call whose function has the flag `CUSTOM_THUNK`. `frame` is the number in `Call::params`.
        /// The number is valid until the call returns. Returns an index that identifies the parameter in the functions below.
        game_thread("stepping through a call")
        fn frame_step(host; frame: u64; returns out: u32 = 0; or failure) -> Status;
        /// Ends the steps through the parameters. The caller may write the out parameters and the result only after this call.
        game_thread("finishing the parameters of a call")
        fn frame_finish(host; frame: u64; or failure) -> Status;
        /// Returns the type of a parameter, or of a value inside the parameter, as a string. The path `[3]` refers to an element of an
        /// array, `.name` to a field of a struct, and the empty path to the whole parameter. Fails with `NOT_FOUND` for an unknown path.
        game_thread("reading the type of a parameter")
        fn frame_type(host; frame: u64, param: u32, path: TextView; text sink; or failure) -> Status;
        /// Returns the number of values in an array, a set or a map. Fails with `SIGNATURE` for any other type.
        game_thread("counting the values of a parameter")
        fn frame_count(host; frame: u64, param: u32, path: TextView; returns out: u32 = 0; or failure) -> Status;
        /// Returns the value of a parameter that is a number or an enum. Fails with `SIGNATURE` for any other type.
        game_thread("reading a number of a parameter")
        fn frame_number(host; frame: u64, param: u32, path: TextView; returns out: f64 = 0.0; or failure) -> Status;
        /// Returns the value of a string or a name unchanged, and the value of any other kind formatted as a string.
        game_thread("reading a parameter as text")
        fn frame_text(host; frame: u64, param: u32, path: TextView; text sink; or failure) -> Status;
        /// Parses a string and overwrites an out parameter with the value. If `param` is [`u32::MAX`], overwrites the function's result.
        game_thread("writing the result of a call")
        fn frame_write(host; frame: u64, param: u32, text: TextView; or failure) -> Status;
    } };
}
