//! Functions of a module that the host calls. [`crate::list`] describes the syntax of a line.

/// Calls `$callback!` with the list of [`crate::module::Module`].
#[macro_export]
macro_rules! module_functions {
    ($callback:path) => {
        $callback! {
            /// Functions that a plugin exports. The host calls these functions on the game thread, or, for a module that is not bound to a
            /// thread, on any thread.
            ///
            /// # Safety
            /// For `unsafe` functions: the module is mapped. For all functions except `attach`, the module is also attached. References are
            /// valid during the call.
            Module, ModuleRef;

            /// Attaches the module. The host calls this function before all others. After this call the module can log. After the host has
            /// filled the module's cells, the module can also call functions of the host.
            always(unsafe)
            fn attach(context: &ModuleContext; or failure) -> Status;
            /// Returns the structs of the module.
            always()
            fn structs() -> RSlice<'static, &'static StructDesc>;
            /// Returns the classes of the module.
            always()
            fn classes() -> RSlice<'static, &'static ClassDesc>;
            /// Returns the imports of the module. The list may contain a member several times, because each call site imports the member.
            always()
            fn imports() -> RSlice<'static, &'static ImportDesc>;
            /// Returns the exported static functions.
            always()
            fn exports() -> RSlice<'static, &'static ExportDesc>;
            /// Runs the main function of the module with its arguments.
            always(unsafe)
            fn main(args: RSlice<'_, RStr<'_>>; or failure) -> Status;
            /// Runs the exit hook.
            always(unsafe)
            fn exit(; or failure) -> Status;
            /// Detaches the module. The host calls this function last, after it has dropped the last plugin part.
            #[sabi(last_prefix_field)]
            always()
            fn detach();
            /// Returns the number of bytes allocated from the module's heap and not freed; zero for a module without its own heap.
            /// Callable on any thread.
            #[sabi(missing_field(option))]
            maybe()
            fn heap_bytes() -> u64;
            /// Returns the interfaces of the module. An older module that lacks this function has no interfaces.
            #[sabi(missing_field(option))]
            maybe()
            fn interfaces() -> RSlice<'static, &'static InterfaceDesc>;
            /// Drops auto-disposed resources. Called instead of the exit hook if the module ends before its main has returned.
            #[sabi(missing_field(option))]
            maybe(unsafe)
            fn dispose(; or failure) -> Status;
            /// Returns nonzero if the author has defined `suspend` and `resume`; otherwise both functions do nothing.
            #[sabi(missing_field(option))]
            maybe()
            fn suspends() -> u8;
            /// Releases resources that the next generation of the module needs to start. Called before the main function of the next
            /// generation runs.
            #[sabi(missing_field(option))]
            maybe(unsafe)
            fn suspend(; or failure) -> Status;
            /// Reacquires the resources that `suspend` has released. Called if the reload is rolled back after `suspend`, even if
            /// `suspend` failed.
            #[sabi(missing_field(option))]
            maybe(unsafe)
            fn resume(; or failure) -> Status;
            /// Returns the enums of the module. An older module that lacks this function has no enums.
            #[sabi(missing_field(option))]
            maybe()
            fn enums() -> RSlice<'static, &'static EnumDesc>;
            /// Returns the named delegates of the module. An older module that lacks this function has no named delegates.
            #[sabi(missing_field(option))]
            maybe()
            fn delegates() -> RSlice<'static, &'static DelegateDesc>;
            /// Returns the function tables of the entry method. An older module that lacks this function has no tables.
            #[sabi(missing_field(option))]
            maybe()
            fn entry_tables() -> EntryTables;
            /// Returns an entry for each type or member that has earlier names. The key is the path, and the value contains the earlier
            /// names, separated by commas. An older module that lacks this function has no earlier names. Members with `was` metadata are
            /// not included.
            #[sabi(missing_field(option))]
            maybe()
            fn earlier_names() -> RSlice<'static, &'static MetaDesc>;
            /// Returns the build id of the running code, as 16 bytes in little-endian order. The running code of an older module that lacks
            /// this function has no known build id.
            #[sabi(missing_field(option))]
            maybe()
            fn build_id() -> RSlice<'static, u8>;
        }
    };
}
