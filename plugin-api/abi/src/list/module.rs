//! The functions that a host calls of a module. How a line is read is said in [`crate::list`].

/// Calls `$callback!` with the list of [`crate::module::Module`].
#[macro_export]
macro_rules! module_functions {
    ($callback:path) => {
        $callback! {
            /// What a plugin exports. All of it is called on the game thread, and for a module that belongs to no thread on any.
            ///
            /// # Safety
            /// For those that are `unsafe`: the module is mapped and, but for the call that does it, attached; references are live
            /// for the call.
            Module, ModuleRef;

            /// Called first: from now on the module can log, and after its cells are filled it can call.
            always(unsafe)
            fn attach(context: &ModuleContext; or failure) -> Status;
            /// The structs it declares.
            always()
            fn structs() -> RSlice<'static, &'static StructDesc>;
            /// The classes it declares.
            always()
            fn classes() -> RSlice<'static, &'static ClassDesc>;
            /// Lists its imports. A member may be listed once for each call site.
            always()
            fn imports() -> RSlice<'static, &'static ImportDesc>;
            /// The static functions it offers.
            always()
            fn exports() -> RSlice<'static, &'static ExportDesc>;
            /// The main of the module, with its arguments.
            always(unsafe)
            fn main(args: RSlice<'_, RStr<'_>>; or failure) -> Status;
            /// The exit hook.
            always(unsafe)
            fn exit(; or failure) -> Status;
            /// Called last, after the last finalizer: the module forgets its host.
            #[sabi(last_prefix_field)]
            always()
            fn detach();
            /// Bytes that the module's own heap has given out and not got back; zero where it has none. Any thread.
            #[sabi(missing_field(option))]
            maybe()
            fn heap_bytes() -> u64;
            /// The interfaces it declares; none where the module is older than they are.
            #[sabi(missing_field(option))]
            maybe()
            fn interfaces() -> RSlice<'static, &'static InterfaceDesc>;
            /// Drops what was left to the module to drop, where the exit hook does not run because the main has not returned.
            #[sabi(missing_field(option))]
            maybe(unsafe)
            fn dispose(; or failure) -> Status;
            /// Not zero where the author has written `suspend` and `resume`: without, both do nothing.
            #[sabi(missing_field(option))]
            maybe()
            fn suspends() -> u8;
            /// Gives up what another generation of the module needs to start. Called before the mains of that generation.
            #[sabi(missing_field(option))]
            maybe(unsafe)
            fn suspend(; or failure) -> Status;
            /// Takes it again, since that generation did not come to pass. Called after `suspend`, also where that has failed.
            #[sabi(missing_field(option))]
            maybe(unsafe)
            fn resume(; or failure) -> Status;
            /// The enums it declares; none where the module is older than they are.
            #[sabi(missing_field(option))]
            maybe()
            fn enums() -> RSlice<'static, &'static EnumDesc>;
            /// The delegates with a name that it declares; none where the module is older than they are.
            #[sabi(missing_field(option))]
            maybe()
            fn delegates() -> RSlice<'static, &'static DelegateDesc>;
            /// The tables that its entry method exchanges; none where the module is older than they are.
            #[sabi(missing_field(option))]
            maybe()
            fn entry_tables() -> EntryTables;
            /// Paths of types and members it declares, each with its earlier names, with commas between; none where the module is
            /// older than the list. Members whose metadata have `was` are not repeated.
            #[sabi(missing_field(option))]
            maybe()
            fn earlier_names() -> RSlice<'static, &'static MetaDesc>;
        }
    };
}
