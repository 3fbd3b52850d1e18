//! The attributes of an Alcedo plugin. Each attribute parses the author's code, rejects rule violations at the offending token, and
//! expands to calls of macros in `::alcedo_plugin_api::__private`, which implement the semantics. The
//! expansion depends on no layout, and contains only paths of `__private`.

mod async_function;
mod attr_args;
mod build_id;
mod class_impl;
mod class_struct;
mod conditions;
mod custom_thunk;
mod default_value;
mod delegate;
mod dll_bind;
mod dll_import;
mod docs;
mod earlier_names;
mod enumeration;
mod export;
mod function_builder;
mod impl_block;
mod imported_impl;
mod included;
mod interface;
mod interface_impl;
mod method;
mod method_names;
mod migration;
mod mistakes;
mod module;
mod native;
mod pod;
mod result;
mod rules;
mod specifiers;
mod struct_field;
mod struct_impl;
mod structure;
mod type_names;

use proc_macro::TokenStream;
use quote::quote;
use syn::{Item, parse_macro_input};

use crate::attr_args::AttrArgs;
use crate::impl_block::{AnyItem, ImplBlock};
use crate::native::Side;

/// A reflected class, or its methods.
///
/// On a struct: `#[uclass(package = "Game", base = Actor, blueprintable)]`. Fields with `#[uproperty(…)]` move into the host object, and
/// have accessors on [`This`](../alcedo_plugin_api/struct.This.html). The remaining fields form the plugin part. Each reload rebuilds the
/// plugin part, and restores only its fields with `#[keep]`. `plugin-api/docs/specifiers.md` lists all specifiers.
///
/// On the `impl` block, of which a class has at most one: `#[uclass]`, with methods marked `#[red_constructor]`, `#[class_constructor]`,
/// `#[post_init_properties]`, `#[ufunction(…)]`, `#[overrides(Base)]` or `#[zmethod]`. Methods without such an attribute are not reflected.
///
/// A function may return `Result<T, E>` with any `E` that implements `Display`. Callers then receive the error message in a `CallError` of
/// the kind `RETURNED`.
///
/// With `dll_bind = "Name"`, the class may declare functions whose bodies are in a C library: `#[dll_import] fn turn(&self, text: &mut
/// String);`. No class may extend such a class.
///
/// With `abstract`, only subclasses can have objects; the class itself has only its class default object.
///
/// With `#[migrate(from = "f64", with = Self::of_number)]` on a property, a reload uses the function `of_number` to convert values of an
/// earlier declaration. `#[migrate(from = "DoorV1", to = "DoorV2", with = …)]` on the class converts several properties together.
///
/// With `implements(Heeds, Sings)`, references to these interfaces accept objects of the class; see [`macro@uinterface`]. With
/// `imported`, the class is declared by the host or another module; the `impl` block then has only declarations.
#[proc_macro_attribute]
pub fn uclass(attr: TokenStream, item: TokenStream) -> TokenStream {
    of_type(attr, item, None, |attr_args, item| class(attr_args, item, Side::Plugin))
}

fn class(attr_args: &AttrArgs, item: AnyItem, side: Side) -> syn::Result<proc_macro2::TokenStream> {
    let item = match item {
        AnyItem::Impl(block) => {
            return match block.head.trait_.clone() {
                Some((_, interface, _)) => interface_impl::expand(attr_args, &interface, block, side),
                None => class_impl::expand(attr_args, block, side),
            };
        }
        AnyItem::Other(item) => *item,
    };
    match item {
        Item::Struct(item) => class_struct::expand(attr_args, item, side),
        other => Err(rules::spanned(
            "ALC0057",
            other,
            "`#[uclass]` belongs on a struct, which declares the class, or on its `impl` block",
        )),
    }
}

/// A reflected struct: `#[ustruct(package = "Game")]`. The struct's fields may have any type of the host, and are stored in host memory.
/// The struct's name becomes the type of an owned value. For properties and parameters, and from `this.open(&value)`, code receives a view
/// with accessors for the fields.
///
/// With `#[uproperty(default = …)]` on a field, every new value starts with this default: in an object, a container, a parameter, and
/// in Rust code.
///
/// With `base = Spot`, the struct extends `Spot`: the fields of the base come first, and the view has a method `base()`, which returns a
/// view of the base.
///
/// With `pod`, the struct contains plain values and is passed by value: it becomes `#[repr(C)]` and `Copy`. If a field specifies a default,
/// the struct also implements `Default` with these defaults. With `imported`, the host or another module declares the struct. The host
/// compares the layouts when it loads the module.
///
/// On the struct's `impl` block, without specifiers: a method marked `#[constructor]` becomes a function that returns a new value. The
/// method receives the default value (`&mut self`, or `value: Borrowed<'_, Self>` without `pod`) and modifies this value. A method
/// marked `#[net_serialize]` writes and reads the value for the network.
#[proc_macro_attribute]
pub fn ustruct(attr: TokenStream, item: TokenStream) -> TokenStream {
    of_type(attr, item, None, |attr_args, item| struct_impl::expand(attr_args, item, Side::Plugin))
}

/// A reflected enum: `#[uenum(package = "Game")] #[repr(u8)] pub enum Mood { Calm, Angry }`. The host identifies entries by name, so the
/// numbers of entries may change between builds. The attribute makes the enum `Copy`. Without `flags`, one entry must have the number 0.
/// New values in the host have this number, even if `#[default]` marks another entry, so write `#[default]` above the entry with the
/// number 0. An entry may have `#[umeta(display_name = "Very angry", hidden)]`.
///
/// With `flags`, a value is a set of entries. The type becomes a struct with a constant for each entry, and with the operators `|`, `&` and
/// `-`. The number of an entry contains its bits: `Read = 1, Write = 1 << 1, Both = 1 | 2`. An entry without a number has the number of
/// the entry above plus one, as in Rust, and not the next bit.
///
/// With `imported`, the host or another module declares the enum. The host compares names and numbers when it loads the module.
#[proc_macro_attribute]
pub fn uenum(attr: TokenStream, item: TokenStream) -> TokenStream {
    of_type(attr, item, None, enumeration)
}

fn enumeration(attr_args: &AttrArgs, item: AnyItem) -> syn::Result<proc_macro2::TokenStream> {
    match item.into_item() {
        Item::Enum(item) => enumeration::expand(attr_args, item),
        other => {
            Err(rules::spanned("ALC0168", other, "`#[uenum]` belongs on an enum: `pub enum Mood { Calm, Angry }`"))
        }
    }
}

/// A named delegate: `#[udelegate(multicast, package = "Game")] pub type OnScored = fn(points: i32, by: Obj<Cube>);`. Specify
/// `single`, `multicast` or `sparse`; a single delegate may return a result. Every parameter needs a name.
///
/// The name becomes a type for properties, parameters and elements, with the operations of `MulticastDelegate<fn(i32, Obj<Cube>)>`.
/// The delegate's path in the host is `/Script/Game.OnScored`. With `of = Cube` instead of the package, the delegate belongs to a
/// class of this crate and has the path `/Script/Game.Cube:OnScored`.
///
/// With `imported`, the host or another module declares the delegate. The host compares kind and signature when it loads the module.
#[proc_macro_attribute]
pub fn udelegate(attr: TokenStream, item: TokenStream) -> TokenStream {
    of_type(attr, item, None, delegate::expand)
}

/// An interface: `#[uinterface(package = "Game")] pub trait Heeds { fn hear(&self, what: String) -> u32; }`. The trait's name becomes a
/// type that represents the interface, in `ScriptInterface<Heeds>` and in `#[uclass(package = "Game", implements(Heeds))]`. A class that
/// lists the interface implements its functions in `#[uclass] impl Heeds for Cat { … }`. With `imported`, the host or another module
/// declares the interface.
///
/// A reference to the interface returns a view of its object, with the functions of the interface: `this.listener().get(&this)`. Without
/// such a reference, any object can be viewed as the interface: `object.as_interface::<Heeds>()`.
#[proc_macro_attribute]
pub fn uinterface(attr: TokenStream, item: TokenStream) -> TokenStream {
    of_type(attr, item, None, interface)
}

fn interface(attr_args: &AttrArgs, item: AnyItem) -> syn::Result<proc_macro2::TokenStream> {
    match item.into_item() {
        Item::Trait(item) => interface::expand(attr_args, &item),
        other => Err(rules::spanned("ALC0058", other, "`#[uinterface]` belongs on a trait: `pub trait Heeds {}`")),
    }
}

macro_rules! read_by_uclass {
    ($($name:ident)*) => {$(
        #[doc(hidden)]
        #[proc_macro_attribute]
        pub fn $name(_attr: TokenStream, item: TokenStream) -> TokenStream {
            mistakes::without_uclass(stringify!($name), item.into()).into()
        }
    )*};
}
// `#[uclass]` removes these attributes, so the compiler expands such an attribute only in an `impl` without `#[uclass]`. `#[zmethods]` also
// removes `#[zmethod]`.
read_by_uclass! {
    ufunction overrides red_constructor class_constructor post_init_properties begin_destroy add_references dll_import zmethod
}

/// Exports a free function by name: `#[zcall(ex = "math.add")]` exports the function as `ex:/math.add`.
#[proc_macro_attribute]
pub fn zcall(attr: TokenStream, item: TokenStream) -> TokenStream {
    let attr_args = parse_macro_input!(attr as AttrArgs);
    let item = parse_macro_input!(item as syn::ItemFn);
    finish(export::expand(&attr_args, &item))
}

/// Exports methods of a plain type by name: the method `render`, marked `#[zmethod]` in `impl Report` of the module `reports`, is exported
/// as `nm:/reports:Report:render`. Modules of a Slim load context, which cannot have classes, export functions with this attribute. These
/// methods take neither `self` nor `this`; in a Slim, they may be called on any thread.
#[proc_macro_attribute]
pub fn zmethods(attr: TokenStream, item: TokenStream) -> TokenStream {
    let attr_args = parse_macro_input!(attr as AttrArgs);
    finish(ImplBlock::of(item.into()).and_then(|block| export::expand_block(&attr_args, block)))
}

/// Makes the crate a module: `module! { name: "magic_cube", main: started, exit: ended, dependencies: [("base", "^1")] }`.
///
/// `main` is `fn(&[&str])` or `fn()`, and `exit` is `fn()`. `main`, `exit` and `dependencies` are optional. If `main` panics, the load
/// fails, or the reload is rolled back.
///
/// `entry: exchange` is the entry method, which exchanges tables of functions with the host immediately before `main`. Its type is
/// `fn(&'static H) -> M`, `fn(&'static H)` or `fn() -> M`. `H` is a `host struct` of `entry_table!`, and `M` is a `module struct`. A host
/// with a different definition of `H` or `M` refuses the module before code of the module runs.
///
/// `suspend: let_go, resume: take_again` are for exclusive resources: a fixed port, a lock file, a database. In a reload, the main of the
/// new generation runs *before* the exit hook of the old generation: if the new generation fails, the old generation continues. `suspend`
/// and `resume` are `fn()` or `fn() -> Result<(), E>` with an `E` that implements `Display`. A module must specify both or neither.
///
/// | event | functions that run |
/// | --- | --- |
/// | a reload replaces the module | `suspend` of the old generation, then main of the new one, and finally `exit` of the old one |
/// | the reload is rolled back | `exit` of the new generation, if its main has returned, then `resume` of the old one |
/// | `suspend` panics or returns an error | `resume`; the module is not replaced |
/// | `resume` panics or returns an error | no further function: the report of the reload lists the error, and the module continues |
/// | an unload, a shutdown, a reload that does not replace the module | neither `suspend` nor `resume` |
///
/// `exit` and `resume` run after `suspend`. If `suspend` failed, it may have released only some of the resources. If a reload replaces
/// several modules, `suspend` runs in dependents before their dependencies, and `resume` in dependencies before their dependents. In both
/// functions, the module may make and receive calls, and create permanent objects. In `suspend`, the host refuses jobs (`task::post`,
/// timers). Kept fields are read after `suspend`. Between `suspend` and the next function in the table, no calls, tasks, timers or posted
/// closures of the module run, but the module's threads continue. When `replace` is called on a Slim, the functions run in the order of the
/// table, on the calling thread. Calls of the Slim on further threads continue, and the Slim accepts new calls. While a call or a lease
/// holds the old generation, its `exit` waits, and may then run on another thread.
///
/// The module allocates from a separate heap, which the host frees together with the module's code. With `allocator: own`, the crate
/// defines its own `#[global_allocator]`.
///
/// Use the macro at the top level of the crate. The macro also defines hidden versions of C functions with lasting side effects
/// (`pthread_create`, `__cxa_thread_atexit_impl`, `malloc`, `open` and others), with which the host tracks these effects.
///
/// `unhooked: ["pthread_create"]` omits the hooks of C functions that code in the library itself defines, for example crash handlers and
/// allocators. Without this key, the linker reports a duplicate symbol. Code inside the library then calls the library's own function
/// instead of the hook. If that function looks up the platform's function by `dlsym`, it receives the hook. The host does not record
/// effects that bypass a hook. When the host loads the module, it reports the names of omitted hooks. For the C heap, omit all functions
/// that the code defines, including `free`. Blocks that the C library allocates for its caller (`realpath`, `getline`, `asprintf`) are then
/// moved to the library's own heap.
///
/// `permissions: [files, threads]` declares the kinds of process resources that the module uses: `network`, `files`, `threads`, `signals`,
/// `c_libraries`. `[]` declares that the module uses none of these kinds. A host compares the declaration with the imports of the file and
/// with the calls that the hooks record, and reports or refuses a module that uses undeclared kinds. Without this key, nothing is checked.
/// The check finds mistakes, but does not restrict code; `runtime/docs/trusting-files.md` lists the cases that the check detects.
///
/// The host installs the logger of `log` and the subscriber of `tracing` in the library, and receives all records. A main may set its own
/// logger and subscriber by `env_logger`, `fern`, `tracing_subscriber` or manually. For such a main, the host waits until main has run, and
/// then installs only the logger or subscriber that main has not set. Records of `log` are dropped until main has set its logger. The host
/// detects such a main from function names in the file. Specify `logger: own` for such a main if the file has no names, or if the main
/// calls `log::set_logger` directly.
#[proc_macro]
pub fn module(input: TokenStream) -> TokenStream {
    let module = parse_macro_input!(input as module::Module);
    finish(module::expand(&module))
}

/// Defines two attributes for hosts for each kind of type: one expands to paths of the runtime, the other to paths of the crate `alcedo`.
macro_rules! of_hosts {
    ($($name:literal $native:ident $facade:ident: $expand:expr;)*) => {$(
        #[doc = concat!("`#[", $name, "]` for types of a host, with the same specifiers; exported as `alcedo_runtime::native::", $name, "`.")]
        #[proc_macro_attribute]
        pub fn $native(attr: TokenStream, item: TokenStream) -> TokenStream {
            of_type(attr, item, Some(native::RUNTIME), $expand)
        }

        #[doc = concat!("[`macro@native_", $name, "`] with paths of the crate `alcedo`; exported as `alcedo::native::", $name, "`.")]
        #[proc_macro_attribute]
        pub fn $facade(attr: TokenStream, item: TokenStream) -> TokenStream {
            of_type(attr, item, Some(native::FACADE), $expand)
        }
    )*};
}
of_hosts! {
    "uclass" native_uclass facade_uclass: |attr_args, item| class(attr_args, item, Side::Host);
    "ustruct" native_ustruct facade_ustruct: |attr_args, item| struct_impl::expand(attr_args, item, Side::Host);
    "uenum" native_uenum facade_uenum: enumeration;
    "udelegate" native_udelegate facade_udelegate: delegate::expand;
    "uinterface" native_uinterface facade_uinterface: interface;
}

/// Parses and expands an attribute on a type: for a plugin, or for a host with paths of `krate`.
fn of_type(
    attr: TokenStream,
    item: TokenStream,
    krate: Option<&str>,
    expand: fn(&AttrArgs, AnyItem) -> syn::Result<proc_macro2::TokenStream>,
) -> TokenStream {
    let attr_args = parse_macro_input!(attr as AttrArgs);
    let item = match AnyItem::of(item.into()) {
        Ok(item) => item,
        Err(error) => return error.into_compile_error().into(),
    };
    let Some(krate) = krate else { return finish(expand(&attr_args, item)) };
    // A host may use `imported` on an `impl` block to call functions of a class of another host.
    let imported = attr_args.get("imported").filter(|_| !matches!(item, AnyItem::Impl(_)));
    let imported = imported.map(|arg| &arg.name);
    let allowed = rules::refuse("ALC0206", imported, "a host declares its own types: remove `imported`");
    let expanded = allowed.and_then(|()| expand(&attr_args, item));
    finish(expanded.map(|tokens| native::of_the_host(tokens, krate)))
}

fn finish(output: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    let output = output.unwrap_or_else(|error| {
        let error = error.to_compile_error();
        quote! { #error }
    });
    output.into()
}
