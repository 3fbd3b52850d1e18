//! Host functions for values. For the syntax of a line, see [`crate::list`].

/// Calls `$callback!` with the list of [`crate::values::ValueTable`].
#[macro_export]
macro_rules! value_functions {
    ($callback:path) => { $callback! {
        /// Host functions for values. Unless specified otherwise: game thread only, refused elsewhere with `WRONG_THREAD`;
        /// writes are refused with `DURING_REBUILD` if the owner of the value may not be written now.
        ///
        /// # Safety
        /// For all functions: `host` is the pointer from this module's [`crate::host::ModuleContext`]; references are live for the
        /// call; strings are UTF-8. Each [`RawLocation`] and each address refers to a live value of the type.
        ValueTable, ValueTableRef, values;

        /// Returns the number of a type. The argument `text` is the type as written in signatures, for example `Array(f64)` or
        /// `Map(String, Object(/Script/A.B))`. The number belongs to the calling module, and becomes invalid when the module ends.
        game_thread("asking for a type")
        fn type_resolve(
            host, module; text: TextView; returns out: TypeNumber = TypeNumber::NONE; or failure
        ) -> Status;

        /// Creates an owned value: a copy of the value at `from`, or a value of zero bytes if `from` is null. The `BlackDirectory`
        /// contains the address of the owned value.
        game_thread("creating a black conjugate", unsafe)
        fn black_new(
            host, module; ty: TypeNumber, from: *const u8, site: &Site;
            returns out: BlackHandle = BlackHandle::NONE; or failure
        ) -> Status;
        /// Drops an owned value. Has no effect on a value that was destroyed with its generation. Any thread: off the game thread, the
        /// drop is queued until the game thread performs it.
        any_thread("dropping a black conjugate")
        fn black_drop(host; black: BlackHandle);

        /// Overwrites the value with the value at `from`, which has the same type.
        game_thread("overwriting a value", unsafe)
        fn copy(host; to: &RawLocation, from: *const u8; or failure) -> Status;
        /// Returns one if the two values of a type are equal, otherwise zero.
        game_thread("comparing values", unsafe)
        fn equal(host; ty: TypeNumber, one: *const u8, two: *const u8; returns out: u8 = 0; or failure) -> Status;
        /// Returns a hash of the value: equal values of a type have equal hashes within this process.
        game_thread("hashing a value", unsafe)
        fn hash(host; ty: TypeNumber, at: *const u8; returns out: u64 = 0; or failure) -> Status;
        /// Formats the value.
        game_thread("printing a value", unsafe)
        fn print(host; ty: TypeNumber, at: *const u8; text sink; or failure) -> Status;
        /// Parses a string and overwrites the value.
        game_thread("reading a value from text", unsafe)
        fn parse(host; location: &RawLocation, text: TextView; or failure) -> Status;
        /// Frees the memory that the value owns, and leaves zero bytes. Used for values on the plugin's stack.
        game_thread("clearing a value", unsafe)
        fn clear(host; location: &RawLocation; or failure) -> Status;
        /// Overwrites a string that has one byte per character.
        game_thread("overwriting a text", unsafe)
        fn ansi_assign(host; location: &RawLocation, data: *const u8, len: usize; or failure) -> Status;

        /// Removes `remove` values at `at` from an array, and inserts `insert` values of zero bytes there. `OTHER` if the array
        /// is too short.
        game_thread("changing an array", unsafe)
        fn array_splice(host; array: &RawLocation, at: u32, remove: u32, insert: u32; or failure) -> Status;
        /// Reserves memory for `more` additional values.
        game_thread("making room in an array", unsafe)
        fn array_reserve(host; array: &RawLocation, more: u32; or failure) -> Status;
        /// Returns the index of the entry with the key in a set or map; [`u32::MAX`] if there is none.
        game_thread("looking for a key", unsafe)
        fn map_find(host; map: &RawLocation, key: *const u8; returns out: u32 = u32::MAX; or failure) -> Status;
        /// Returns the index of the entry with the key. If the key is missing, inserts a copy of the key with a value of zero bytes,
        /// and sets `is_new` to one.
        game_thread("inserting a key", unsafe)
        fn map_insert(host; map: &RawLocation, key: *const u8; returns out: u32 = 0, is_new: u8 = 0; or failure) -> Status;
        /// Removes the entry at an index; the last entry takes its position.
        game_thread("taking out a key", unsafe)
        fn map_remove(host; map: &RawLocation, at: u32; or failure) -> Status;

        /// Assigns an object or none to a reference (soft, lazy, weak, interface). `WRONG_CLASS` for an object of an unsuitable class.
        game_thread("pointing a reference at an object", unsafe)
        fn reference_assign(host; location: &RawLocation, object: ObjectHandle; or failure) -> Status;
        /// Returns the current object of a reference; none if the object does not exist or has an unsuitable class.
        game_thread("following a reference", unsafe)
        fn reference_resolve(
            host; ty: TypeNumber, at: *const u8; returns out: ObjectHandle = ObjectHandle::NONE; or failure
        ) -> Status;
        /// Assigns the class at a path to a class reference. `NOT_FOUND` for an unknown class of a `SubclassOf`, `WRONG_CLASS`
        /// for an unsuitable class.
        game_thread("naming a class", unsafe)
        fn class_assign(host; location: &RawLocation, path: Name; or failure) -> Status;
        /// Returns the current class of a class reference, or none.
        game_thread("asking for a class", unsafe)
        fn class_resolve(
            host; ty: TypeNumber, at: *const u8; returns out: ClassId = ClassId::NONE; or failure
        ) -> Status;
        /// Returns the path of an object, as stored in soft references.
        game_thread("asking an object's path")
        fn object_path(host; object: ObjectHandle; text sink) -> Status;

        /// Binds a delegate to a function of an object by name. A multicast or sparse delegate stores each binding only once.
        /// `NOT_FOUND` for an unknown function, `SIGNATURE` if the signature of the function differs.
        game_thread("binding a delegate", unsafe)
        fn delegate_bind(host; delegate: &RawLocation, object: ObjectHandle, function: TextView; or failure) -> Status;
        /// Removes the bindings to a function of an object. An empty name removes all bindings to the object; without an object, all
        /// bindings are removed. Returns the number of removed bindings.
        game_thread("unbinding a delegate", unsafe)
        fn delegate_unbind(
            host; delegate: &RawLocation, object: ObjectHandle, function: TextView; returns out: u32 = 0; or failure
        ) -> Status;
        /// Calls the bound functions. The buffer contains slots for parameters and result, but not for the object. An unbound single
        /// delegate fails with `NOT_FOUND`. A multicast or sparse delegate calls all functions whose objects are alive, most recent
        /// binding first, and returns no result. The buffer borrows its slots, unshared, until the function returns; the slots match
        /// the delegate's signature.
        game_thread("calling a delegate", unsafe)
        fn delegate_call(host; delegate: &RawLocation, buffer: &mut ZCallBuffer; or failure) -> ZCallStatus;

        /// Assigns a property to a field path. `NOT_FOUND` for an unknown path; the empty path resets the field path.
        game_thread("naming a property", unsafe)
        fn field_assign(host; location: &RawLocation, path: TextView; or failure) -> Status;
        /// Returns the type of the property that a field path refers to, as a string. The sink is not called if the property does not
        /// exist.
        game_thread("asking for a property", unsafe)
        fn field_type(host; at: *const u8; text sink; or failure) -> Status;

        /// Renames an object, moves it to another outer, or both. Refused if `outer` contains another object with the name, or if
        /// `outer` is the object itself or inside the object. Also refused for class default objects and default subobjects.
        /// `DURING_REBUILD` for an object from before a reload in progress.
        game_thread("renaming an object")
        fn object_rename(host; object: ObjectHandle, name: TextView, outer: ObjectHandle; or failure) -> Status;
        /// Requests a collection. During a call, the function fails with `UNAVAILABLE`, and the collection runs at the next safe
        /// point.
        acts("asking for a collection")
        fn collect(host;; or failure) -> Status;

        /// Returns color, kind, age and expiry of a conjugate. `NOT_FOUND` for a number that was never issued.
        game_thread("asking about a conjugate")
        fn conjugate_state(
            host; conjugate: ConjugateHandle; returns out: ConjugateState = ConjugateState::UNKNOWN; or failure
        ) -> Status;
        /// Creates a red conjugate for dynamic calls, valid until the innermost red frame closes. The value is a property of its
        /// owner; a value without an owner does not move until the frame closes. The value is not part of a container. `UNAVAILABLE`
        /// outside of red frames.
        game_thread("lending a value", unsafe)
        fn conjugate_borrow(
            host; location: &RawLocation; returns out: ConjugateHandle = ConjugateHandle::NONE; or failure
        ) -> Status;
        /// Returns the location of a conjugate's value, valid until the innermost red frame closes or the owned value is
        /// dropped. `EXPIRED`, with kind and age, if the value is gone.
        game_thread("opening a conjugate")
        fn conjugate_open(host; conjugate: ConjugateHandle; returns out: RawLocation = RawLocation::NONE; or failure) -> Status;
        /// Creates an owned copy of the value of any conjugate. `EXPIRED` as for `conjugate_open`.
        game_thread("cloning a conjugate", unsafe)
        fn conjugate_clone(
            host, module; conjugate: ConjugateHandle, site: &Site; returns out: BlackHandle = BlackHandle::NONE; or failure
        ) -> Status;
        /// Returns the type of a conjugate's value as a string, in the form that `type_resolve` accepts. The sink is not called for an
        /// expired conjugate.
        game_thread("asking for the type of a conjugate")
        fn conjugate_type(host; conjugate: ConjugateHandle; text sink; or failure) -> Status;
        /// Performs `HostTable::zcall` for callers without static types. Values that are not objects but have a conjugate are passed
        /// in a slot of type `SlotType::CONJUGATE`. Arguments may be any conjugates that have not expired; results are owned values of
        /// the module. The buffer borrows its slots, unshared, until the function returns; the host never dereferences addresses in
        /// slots.
        game_thread("a ZCall", unsafe)
        fn conjugate_zcall(host, module; handle: ZCallHandle, buffer: &mut ZCallBuffer; or failure) -> ZCallStatus;

        /// Opens a conjugate like `conjugate_open`, and checks that the value has the type `ty`. `SIGNATURE`, with both types, if the
        /// value has another type.
        game_thread("opening a conjugate")
        fn conjugate_open_as(
            host; conjugate: ConjugateHandle, ty: TypeNumber; returns out: RawLocation = RawLocation::NONE; or failure
        ) -> Status;
        /// Returns the kind of a function's result by the function's handle; zero if the function has no result. For a property,
        /// returns the kind of the property. `SIGNATURE` if only the callee determines the kind.
        #[sabi(last_prefix_field)]
        game_thread("asking for the result of a ZCall")
        fn zcall_result(host; handle: ZCallHandle; returns out: PropertyKind = PropertyKind(0); or failure) -> Status;
        /// Returns the kind of a delegate's result by the conjugate of the delegate; zero if the delegate has no result. `EXPIRED` as
        /// for `conjugate_open`, `SIGNATURE` if the conjugate is not a delegate.
        game_thread("asking for the result of a delegate")
        fn delegate_result(host; delegate: ConjugateHandle; returns out: PropertyKind = PropertyKind(0); or failure) -> Status;

        /// Steps to the next parameter of a call whose function has the flag `CUSTOM_THUNK`; `frame` is the number in `Call::params`,
        /// valid until the call returns. Returns an index, which identifies the parameter in the following functions.
        game_thread("stepping through a call")
        fn frame_step(host; frame: u64; returns out: u32 = 0; or failure) -> Status;
        /// Finishes the parameters after the last step. The caller writes out parameters and the result afterwards.
        game_thread("finishing the parameters of a call")
        fn frame_finish(host; frame: u64; or failure) -> Status;
        /// Returns the type of a parameter, or of a part of the parameter, as a string. The path `[3]` refers to an element of an
        /// array, `.name` to a field of a struct, and the empty path to the whole parameter. `NOT_FOUND` for an unknown path.
        game_thread("asking for the type of a parameter")
        fn frame_type(host; frame: u64, param: u32, path: TextView; text sink; or failure) -> Status;
        /// Returns the number of values in an array, a set or a map. `SIGNATURE` for other types.
        game_thread("counting the values of a parameter")
        fn frame_count(host; frame: u64, param: u32, path: TextView; returns out: u32 = 0; or failure) -> Status;
        /// Returns the value of a number or of an enum. `SIGNATURE` for other types.
        game_thread("reading a number of a parameter")
        fn frame_number(host; frame: u64, param: u32, path: TextView; returns out: f64 = 0.0; or failure) -> Status;
        /// Returns a string or a name unchanged; formats other values.
        game_thread("reading a parameter as text")
        fn frame_text(host; frame: u64, param: u32, path: TextView; text sink; or failure) -> Status;
        /// Parses a string and overwrites an out parameter with the value. If `param` is [`u32::MAX`], overwrites the result.
        game_thread("writing the result of a call")
        fn frame_write(host; frame: u64, param: u32, text: TextView; or failure) -> Status;
    } };
}
