//! Functions of a module that the host calls. For the syntax of a line, see [`crate::list`].

/// Calls `$callback!` with the list of [`crate::module::Module`].
#[macro_export]
macro_rules! module_functions {
    ($callback:path) => {
        $callback! {
            /// Functions that a plugin exports. All are called on the game thread, or on any thread for a module that is not
            /// bound to a thread.
            ///
            /// # Safety
            /// For those that are `unsafe`: the module is mapped and, except for the call of `attach`, attached; references are
            /// live for the call.
            Module, ModuleRef;

            /// Attaches the module. Called first: afterwards the module can log, and after its cells are filled it can call.
            always(unsafe)
            fn attach(context: &ModuleContext; or failure) -> Status;
            /// Returns the structs of the module.
            always()
            fn structs() -> RSlice<'static, &'static StructDesc>;
            /// Returns the classes of the module.
            always()
            fn classes() -> RSlice<'static, &'static ClassDesc>;
            /// Returns the imports of the module. A member may be listed once for each call site.
            always()
            fn imports() -> RSlice<'static, &'static ImportDesc>;
            /// Returns the exported static functions.
            always()
            fn exports() -> RSlice<'static, &'static ExportDesc>;
            /// Runs the main of the module with its arguments.
            always(unsafe)
            fn main(args: RSlice<'_, RStr<'_>>; or failure) -> Status;
            /// Runs the exit hook.
            always(unsafe)
            fn exit(; or failure) -> Status;
            /// Detaches the module. Called last, after the last finalizer.
            #[sabi(last_prefix_field)]
            always()
            fn detach();
            /// Returns the bytes allocated from the module's heap and not freed; zero without one. Any thread.
            #[sabi(missing_field(option))]
            maybe()
            fn heap_bytes() -> u64;
            /// Returns the interfaces of the module; none for a module without the function.
            #[sabi(missing_field(option))]
            maybe()
            fn interfaces() -> RSlice<'static, &'static InterfaceDesc>;
            /// Drops auto-disposed resources if the exit hook does not run because the main has not returned.
            #[sabi(missing_field(option))]
            maybe(unsafe)
            fn dispose(; or failure) -> Status;
            /// Returns nonzero if the author has defined `suspend` and `resume`; otherwise both do nothing.
            #[sabi(missing_field(option))]
            maybe()
            fn suspends() -> u8;
            /// Releases resources that another generation of the module needs to start. Called before the mains of that generation.
            #[sabi(missing_field(option))]
            maybe(unsafe)
            fn suspend(; or failure) -> Status;
            /// Acquires the resources again, because that generation was rolled back. Called after `suspend`, also if `suspend`
            /// failed.
            #[sabi(missing_field(option))]
            maybe(unsafe)
            fn resume(; or failure) -> Status;
            /// Returns the enums of the module; none for a module without the function.
            #[sabi(missing_field(option))]
            maybe()
            fn enums() -> RSlice<'static, &'static EnumDesc>;
            /// Returns the named delegates of the module; none for a module without the function.
            #[sabi(missing_field(option))]
            maybe()
            fn delegates() -> RSlice<'static, &'static DelegateDesc>;
            /// Returns the tables of the entry method; none for a module without the function.
            #[sabi(missing_field(option))]
            maybe()
            fn entry_tables() -> EntryTables;
            /// Returns paths of types and members of the module with their earlier names, separated by commas; none for a
            /// module without the function. Members with `was` metadata are not repeated.
            #[sabi(missing_field(option))]
            maybe()
            fn earlier_names() -> RSlice<'static, &'static MetaDesc>;
            /// Returns the build id of the code that runs, as 16 bytes in little-endian order; none for a module without the
            /// function.
            #[sabi(missing_field(option))]
            maybe()
            fn build_id() -> RSlice<'static, u8>;
        }
    };
}
