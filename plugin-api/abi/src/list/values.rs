//! The functions for values. How a line is read is said in [`crate::list`].

/// Calls `$callback!` with the list of [`crate::values::ValueTable`].
#[macro_export]
macro_rules! value_functions {
    ($callback:path) => { $callback! {
        /// The functions for values. Unless a line says otherwise: game thread only, refused elsewhere with `WRONG_THREAD`;
        /// whatever writes is refused with `DURING_REBUILD` when the owner of the place may not be written now.
        ///
        /// # Safety
        /// For all of them: `host` is the word of this module's [`crate::host::ModuleContext`]; references are live for the
        /// call; texts are UTF-8; a [`ValuePlace`] and an address are those of a live value of the type.
        ValueTable, ValueTableRef, values;

        /// The number of the type whose text this is, as signatures show it: `Array(f64)`, `Map(String, Object(/Script/A.B))`.
        /// It is the asking module's own, and ends with it.
        game_thread("asking for a type")
        fn type_resolve(
            host, module; text: TextView; gives out: TypeNumber = TypeNumber::NONE; or failure
        ) -> Status;

        /// A value of its own for plugin code: a copy of that at `from`, or the one that zero bytes mean when `from` is null.
        /// The `BlackDirectory` has its address.
        game_thread("making a black conjugate", unsafe)
        fn black_new(
            host, module; ty: TypeNumber, from: *const u8, site: &Site;
            gives out: BlackHandle = BlackHandle::NONE; or failure
        ) -> Status;
        /// Gives one back. Without effect for one that ended with its generation. Any thread: off the game thread it waits in
        /// a queue until the game thread releases it.
        any_thread("dropping a black conjugate")
        fn black_drop(host; black: BlackHandle);

        /// Overwrites the value with that at `from`, of the same type.
        game_thread("overwriting a value", unsafe)
        fn copy(host; to: &ValuePlace, from: *const u8; or failure) -> Status;
        /// One if the two values of a type are equal, else zero.
        game_thread("comparing values", unsafe)
        fn equal(host; ty: TypeNumber, one: *const u8, two: *const u8; gives out: u8 = 0; or failure) -> Status;
        /// A hash of the value: equal values of a type have equal ones, in this process.
        game_thread("hashing a value", unsafe)
        fn hash(host; ty: TypeNumber, at: *const u8; gives out: u64 = 0; or failure) -> Status;
        /// The value as text.
        game_thread("printing a value", unsafe)
        fn print(host; ty: TypeNumber, at: *const u8; text sink; or failure) -> Status;
        /// Overwrites the value with what the text says.
        game_thread("reading a value from text", unsafe)
        fn parse(host; place: &ValuePlace, text: TextView; or failure) -> Status;
        /// Frees what the value owns and leaves zero bytes. For values that plugin code keeps on its stack for a call.
        game_thread("clearing a value", unsafe)
        fn clear(host; place: &ValuePlace; or failure) -> Status;
        /// Overwrites a text of one byte a character.
        game_thread("overwriting a text", unsafe)
        fn ansi_assign(host; place: &ValuePlace, data: *const u8, len: usize; or failure) -> Status;

        /// Takes `remove` values from `at` on out of an array, and puts `insert` there that zero bytes mean. `OTHER` when the
        /// array has not so many.
        game_thread("changing an array", unsafe)
        fn array_splice(host; array: &ValuePlace, at: u32, remove: u32, insert: u32; or failure) -> Status;
        /// Makes room for so many values more than there are.
        game_thread("making room in an array", unsafe)
        fn array_reserve(host; array: &ValuePlace, more: u32; or failure) -> Status;
        /// Where in the row of a set or map the key stands; [`u32::MAX`] when it does not.
        game_thread("looking for a key", unsafe)
        fn map_find(host; map: &ValuePlace, key: *const u8; gives out: u32 = u32::MAX; or failure) -> Status;
        /// Where in the row the key stands, now if not before; `is_new` is one then, and the value is what zero bytes mean.
        /// The key is copied.
        game_thread("inserting a key", unsafe)
        fn map_insert(host; map: &ValuePlace, key: *const u8; gives out: u32 = 0, is_new: u8 = 0; or failure) -> Status;
        /// Takes an entry out by its place in the row; the last one takes that place.
        game_thread("taking out a key", unsafe)
        fn map_remove(host; map: &ValuePlace, at: u32; or failure) -> Status;

        /// Points a reference (soft, lazy, weak, interface) to an object, or to none. `WRONG_CLASS` when it does not suit.
        game_thread("pointing a reference at an object", unsafe)
        fn reference_assign(host; place: &ValuePlace, object: ObjectHandle; or failure) -> Status;
        /// The object a reference leads to now; none when it is not there, or is of a class that does not suit.
        game_thread("following a reference", unsafe)
        fn reference_resolve(
            host; ty: TypeNumber, at: *const u8; gives out: ObjectHandle = ObjectHandle::NONE; or failure
        ) -> Status;
        /// Makes a class reference name the class of that path. `NOT_FOUND` when a `SubclassOf` would name none,
        /// `WRONG_CLASS` when the class does not suit.
        game_thread("naming a class", unsafe)
        fn class_assign(host; place: &ValuePlace, path: Name; or failure) -> Status;
        /// The class that a class reference names now, or none.
        game_thread("asking for a class", unsafe)
        fn class_resolve(
            host; ty: TypeNumber, at: *const u8; gives out: ClassId = ClassId::NONE; or failure
        ) -> Status;
        /// The path of an object, as soft references name it.
        game_thread("asking an object's path")
        fn object_path(host; object: ObjectHandle; text sink) -> Status;

        /// Binds a delegate to a function of an object by name; a multicast or sparse one gets it in addition, once.
        /// `NOT_FOUND`, or `SIGNATURE` when the function takes or gives something else.
        game_thread("binding a delegate", unsafe)
        fn delegate_bind(host; delegate: &ValuePlace, object: ObjectHandle, function: TextView; or failure) -> Status;
        /// Takes bindings out: those to the object and function; with an empty name all to the object; with no object all.
        /// It gives how many there were.
        game_thread("unbinding a delegate", unsafe)
        fn delegate_unbind(
            host; delegate: &ValuePlace, object: ObjectHandle, function: TextView; gives out: u32 = 0; or failure
        ) -> Status;
        /// Calls what is bound: slots for parameters and result, without an object. One that is bound to nothing fails with
        /// `NOT_FOUND`; a multicast or sparse one calls all whose objects live, those added last first, and has no result.
        /// The buffer lends its slots, unshared, until it returns; they are those of the delegate's signature.
        game_thread("calling a delegate", unsafe)
        fn delegate_call(host; delegate: &ValuePlace, buffer: &mut ZCallBuffer; or failure) -> ZCallStatus;

        /// Makes a field path name a property. `NOT_FOUND` when there is none of that path; the empty path names none.
        game_thread("naming a property", unsafe)
        fn field_assign(host; place: &ValuePlace, path: TextView; or failure) -> Status;
        /// The text of the type of the property that a field path names now; nothing is put when it names none.
        game_thread("asking for a property", unsafe)
        fn field_type(host; at: *const u8; text sink; or failure) -> Status;

        /// Gives an object another name, another outer, or both; the outer it has for another one of its own is refused.
        game_thread("renaming an object")
        fn object_rename(host; object: ObjectHandle, name: TextView, outer: ObjectHandle; or failure) -> Status;
        /// Asks for a collection. Inside a call it is refused with `UNAVAILABLE`, and done at the next safe point.
        acts("asking for a collection")
        fn collect(host;; or failure) -> Status;

        /// Color, kind and age of a conjugate, and whether it has expired. `NOT_FOUND` for a number that was never given out.
        game_thread("asking about a conjugate")
        fn conjugate_state(
            host; conjugate: ConjugateHandle; gives out: ConjugateState = ConjugateState::UNKNOWN; or failure
        ) -> Status;
        /// A red conjugate for the value at a place, until the innermost red frame closes: for dynamic calls. The place is a
        /// property of its owner, or, without one, a value that stays where it is until then; not a part of a container.
        /// `UNAVAILABLE` outside of every red frame.
        game_thread("lending a value", unsafe)
        fn conjugate_lend(
            host; place: &ValuePlace; gives out: ConjugateHandle = ConjugateHandle::NONE; or failure
        ) -> Status;
        /// Where the value of a conjugate lies, until the innermost red frame closes or the black is given back. `EXPIRED`,
        /// with kind and age, when there is none any more.
        game_thread("opening a conjugate")
        fn conjugate_open(host; conjugate: ConjugateHandle; gives out: ValuePlace = ValuePlace::NONE; or failure) -> Status;
        /// A black copy of the value of any conjugate. `EXPIRED` as for `conjugate_open`.
        game_thread("cloning a conjugate", unsafe)
        fn conjugate_clone(
            host, module; conjugate: ConjugateHandle, site: &Site; gives out: BlackHandle = BlackHandle::NONE; or failure
        ) -> Status;
        /// The text of the type of a conjugate's value, as `type_resolve` takes it; nothing is put for an expired one.
        game_thread("asking for the type of a conjugate")
        fn conjugate_type(host; conjugate: ConjugateHandle; text sink; or failure) -> Status;
        /// `HostTable::zcall` for callers that know no types: what has a conjugate and is no object stands in its slot as a
        /// `SlotType::CONJUGATE`, going in any that has not expired, coming out a black of the module's. The
        /// buffer lends its slots, unshared, until it returns; of their addresses none is followed.
        game_thread("a ZCall", unsafe)
        fn conjugate_zcall(host, module; handle: ZCallHandle, buffer: &mut ZCallBuffer; or failure) -> ZCallStatus;

        /// As `conjugate_open`, for a caller that will use the value as one of the type `ty`. `SIGNATURE`, with both types,
        /// when it is another.
        game_thread("opening a conjugate")
        fn conjugate_open_as(
            host; conjugate: ConjugateHandle, ty: TypeNumber; gives out: ValuePlace = ValuePlace::NONE; or failure
        ) -> Status;
        /// The kind of what a call through a handle gives back, zero for nothing; of a property, its kind. `SIGNATURE` when
        /// only the callee knows.
        #[sabi(last_prefix_field)]
        game_thread("asking what a ZCall gives")
        fn zcall_result(host; handle: ZCallHandle; gives out: PropertyKind = PropertyKind(0); or failure) -> Status;
        /// The kind of what a call of a delegate gives back, by its conjugate; zero for nothing. `EXPIRED` as for
        /// `conjugate_open`, `SIGNATURE` when it is none of a delegate.
        game_thread("asking what a delegate gives")
        fn delegate_result(host; delegate: ConjugateHandle; gives out: PropertyKind = PropertyKind(0); or failure) -> Status;

        /// Steps to the next parameter of a call whose function has the flag `CUSTOM_THUNK`; `frame` is the number in
        /// `Call::params`, valid until the call returns. Returns the parameter's index among those that were
        /// stepped to, by which the next functions name it.
        game_thread("stepping through a call")
        fn frame_step(host; frame: u64; gives out: u32 = 0; or failure) -> Status;
        /// All parameters were stepped to; out parameters and the result are written from here on.
        game_thread("finishing the parameters of a call")
        fn frame_finish(host; frame: u64; or failure) -> Status;
        /// The type of a parameter in words, or of the part of it that the path leads to: `[3]` is an element of an array,
        /// `.name` a field of a struct, and the empty path the whole. `NOT_FOUND` where the path leads nowhere.
        game_thread("asking for the type of a parameter")
        fn frame_type(host; frame: u64, param: u32, path: TextView; text sink; or failure) -> Status;
        /// How many values an array, a set or a map has. `SIGNATURE` where it is none.
        game_thread("counting the values of a parameter")
        fn frame_count(host; frame: u64, param: u32, path: TextView; gives out: u32 = 0; or failure) -> Status;
        /// A number, or that of an enum. `SIGNATURE` where it is none.
        game_thread("reading a number of a parameter")
        fn frame_number(host; frame: u64, param: u32, path: TextView; gives out: f64 = 0.0; or failure) -> Status;
        /// A text or a name as it is, everything else as it is printed.
        game_thread("reading a parameter as text")
        fn frame_text(host; frame: u64, param: u32, path: TextView; text sink; or failure) -> Status;
        /// Overwrites an out parameter by what the text says, or, where `param` is [`u32::MAX`], gives the result.
        game_thread("writing what a call gives")
        fn frame_write(host; frame: u64, param: u32, text: TextView; or failure) -> Status;
    } };
}
