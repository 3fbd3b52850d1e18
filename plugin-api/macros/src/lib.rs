//! The attributes of an Alcedo plugin. Each reads what the author wrote, refuses what breaks a rule at the very
//! token that breaks it, and writes calls of patterns in `::alcedo_plugin_api::plumbing`, where the meaning is.
//! Nothing here depends on a layout, and no path but those of `plumbing` is ever written.

mod async_function;
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
mod enumeration;
mod export;
mod imported_impl;
mod interface;
mod interface_impl;
mod method;
mod mistakes;
mod module;
mod native;
mod pod;
mod result;
mod rules;
mod specifiers;
mod static_function;
mod struct_field;
mod struct_impl;
mod structure;
mod words;

use proc_macro::TokenStream;
use quote::quote;
use syn::{Item, parse_macro_input};

use crate::native::Side;
use crate::words::Words;

/// A reflected class, or its methods.
///
/// On a struct: `#[uclass(package = "Game", base = Actor, blueprintable)]`. Fields with `#[uproperty(…)]` move into
/// the host object and get accessors on [`This`](../alcedo_plugin_api/struct.This.html); the others are the plugin
/// half, built anew in each reload unless they say `#[keep]`. Words of `uproperty`: `edit_anywhere`,
/// `blueprint_read`, `blueprint_write`, `transient`, `default = …`, `default_subobject`, `root_component`.
///
/// On its one `impl` block: `#[uclass]`, with methods that say `#[red_constructor]`, `#[class_constructor]`,
/// `#[post_init_properties]`, `#[ufunction(…)]`, `#[overrides(Base)]` or `#[zmethod]`; others stay plain.
///
/// A function may give `Result<T, E>` with any `E` that is `Display`: callers get the error in its own words, as a `CallError` of
/// a kind of its own.
///
/// With `dll_bind = "Name"` its functions may be those of a C library, declared without a body: `#[dll_import] fn turn(&self,
/// text: &mut String);`. The class is final.
///
/// With `abstract`, only classes that extend it have objects; it has a class default object all the same.
///
/// With `implements(Hears, Sings)`, references to those interfaces may lead to its objects; see [`macro@uinterface`].
/// With `imported`, on a struct and on an `impl` of declarations: a class that the host or another module declares.
#[proc_macro_attribute]
pub fn uclass(attr: TokenStream, item: TokenStream) -> TokenStream {
    let words = parse_macro_input!(attr as Words);
    finish(class(&words, parse_macro_input!(item as Item), Side::Plugin))
}

/// `#[uclass]` of a host, for classes of its own: the same words. It is `alcedo_runtime::native::uclass`.
#[proc_macro_attribute]
pub fn native_uclass(attr: TokenStream, item: TokenStream) -> TokenStream {
    let words = parse_macro_input!(attr as Words);
    finish(class(&words, parse_macro_input!(item as Item), Side::Host).map(native::of_the_host))
}

fn class(words: &Words, item: Item, side: Side) -> syn::Result<proc_macro2::TokenStream> {
    match item {
        Item::Struct(item) => class_struct::expand(words, item),
        Item::Impl(item) => match item.trait_.clone() {
            Some((_, interface, _)) => interface_impl::expand(words, &interface, item),
            None => class_impl::expand(words, item, side),
        },
        other => Err(rules::spanned(
            "ALC0057",
            other,
            "`#[uclass]` stands on a struct, which declares the class, or on its `impl` block",
        )),
    }
}

/// A reflected struct: `#[ustruct(package = "Game")]`. Its fields are of any types that the host has, and lie in host
/// memory; the struct's name stands for a value that plugin code owns, and accessors for its fields stand on the view that
/// properties, parameters and `this.open(&value)` give.
///
/// A field may say `#[uproperty(default = …)]`: a new value begins with it wherever it is, in an object, a container, a parameter, or
/// one that Rust code makes.
///
/// With `base = Spot` it extends that struct: it has the fields of the other first, and its view gives them as `base()`.
///
/// With `pod`, a struct of plain values that travels by value: it becomes `#[repr(C)]` and `Copy`. Where a field says a default, it
/// has `Default` too, which gives them.
/// With `imported`, the host or another module declares it, and its layout is compared while loading.
///
/// On the struct's `impl` block, without words: a method that says `#[constructor]` becomes a function that gives a new value. The
/// method is given the value that the struct begins as (`&mut self`, or `value: Lent<'_, Self>` without `pod`) and changes it. One that
/// says `#[net_serialize]` writes and reads the value for another machine.
#[proc_macro_attribute]
pub fn ustruct(attr: TokenStream, item: TokenStream) -> TokenStream {
    let words = parse_macro_input!(attr as Words);
    finish(struct_impl::expand(&words, parse_macro_input!(item as Item), Side::Plugin))
}

/// `#[ustruct(pod)]` of a host: the same words. It is `alcedo_runtime::native::ustruct`.
#[proc_macro_attribute]
pub fn native_ustruct(attr: TokenStream, item: TokenStream) -> TokenStream {
    let words = parse_macro_input!(attr as Words);
    let expanded = struct_impl::expand(&words, parse_macro_input!(item as Item), Side::Host);
    finish(expanded.map(native::of_the_host))
}

/// A reflected enum: `#[uenum(package = "Game")] #[repr(u8)] pub enum Mood { Calm, Angry }`. The host knows its entries by name, so they may
/// get other numbers from one build to the next. It becomes `Copy`; one entry has the number 0. An entry may say
/// `#[umeta(display_name = "Very angry", hidden)]`.
///
/// With `flags`, a value is any set of entries, each a bit: the type becomes a struct with a constant for each entry, `|`, `&` and
/// `-`. With `imported`, the host or another module declares it, and names and numbers are compared while loading.
#[proc_macro_attribute]
pub fn uenum(attr: TokenStream, item: TokenStream) -> TokenStream {
    let words = parse_macro_input!(attr as Words);
    finish(enumeration(&words, parse_macro_input!(item as Item)))
}

/// `#[uenum]` of a host: the same words. It is `alcedo_runtime::native::uenum`.
#[proc_macro_attribute]
pub fn native_uenum(attr: TokenStream, item: TokenStream) -> TokenStream {
    let words = parse_macro_input!(attr as Words);
    finish(enumeration(&words, parse_macro_input!(item as Item)).map(native::of_the_host))
}

fn enumeration(words: &Words, item: Item) -> syn::Result<proc_macro2::TokenStream> {
    match item {
        Item::Enum(item) => enumeration::expand(words, item),
        other => Err(rules::spanned("ALC0168", other, "`#[uenum]` stands on an enum: `pub enum Mood { Calm, Angry }`")),
    }
}

/// A delegate by name: `#[udelegate(multicast, package = "Game")] pub type OnScored = fn(points: i32, by: Obj<Cube>);`. It is `single`,
/// `multicast` or `sparse`; a single one may give a result. Every parameter has a name.
///
/// The name becomes the type of properties, parameters and elements: what a `MulticastDelegate<fn(i32, Obj<Cube>)>` can do, it can,
/// too. The host knows it by its path, which is `/Script/Game.OnScored`; with `of = Cube` in the place of the package it belongs to
/// a class of this crate, and is `/Script/Game.Cube:OnScored`.
///
/// With `imported`, the host or another module declares it, and kind and signature are compared while loading.
#[proc_macro_attribute]
pub fn udelegate(attr: TokenStream, item: TokenStream) -> TokenStream {
    let words = parse_macro_input!(attr as Words);
    finish(delegate::expand(&words, parse_macro_input!(item as Item)))
}

/// `#[udelegate]` of a host: the same words. It is `alcedo_runtime::native::udelegate`.
#[proc_macro_attribute]
pub fn native_udelegate(attr: TokenStream, item: TokenStream) -> TokenStream {
    let words = parse_macro_input!(attr as Words);
    finish(delegate::expand(&words, parse_macro_input!(item as Item)).map(native::of_the_host))
}

/// An interface: `#[uinterface(package = "Game")] pub trait Hears { fn hear(&self, what: String) -> u32; }`. The name becomes a
/// type that stands for it, in `ScriptInterface<Hears>` and in `#[uclass(package = "Game", implements(Hears))]`. A class that
/// lists it writes the bodies in `#[uclass] impl Hears for Cat { … }`. With `imported`, the host or another module declares it.
///
/// Functions are called on what a reference gives: `this.listener().get(&this)`, and on any object that is seen as one:
/// `object.as_interface::<Hears>()`.
#[proc_macro_attribute]
pub fn uinterface(attr: TokenStream, item: TokenStream) -> TokenStream {
    let words = parse_macro_input!(attr as Words);
    finish(interface(&words, parse_macro_input!(item as Item)))
}

/// `#[uinterface]` of a host: the same words. It is `alcedo_runtime::native::uinterface`.
#[proc_macro_attribute]
pub fn native_uinterface(attr: TokenStream, item: TokenStream) -> TokenStream {
    let words = parse_macro_input!(attr as Words);
    finish(interface(&words, parse_macro_input!(item as Item)).map(native::of_the_host))
}

fn interface(words: &Words, item: Item) -> syn::Result<proc_macro2::TokenStream> {
    match item {
        Item::Trait(item) => interface::expand(words, &item),
        other => Err(rules::spanned("ALC0058", other, "`#[uinterface]` stands on a trait: `pub trait Hears {}`")),
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
// `#[uclass]` removes them: an attribute that is expanded was written in another `impl`.
read_by_uclass! {
    ufunction overrides red_constructor class_constructor post_init_properties begin_destroy add_references dll_import
}

/// A free function that anybody can call by name: `#[zcall(ex = "math.add")]` offers it as `ex:/math.add`.
#[proc_macro_attribute]
pub fn zcall(attr: TokenStream, item: TokenStream) -> TokenStream {
    let words = parse_macro_input!(attr as Words);
    let item = parse_macro_input!(item as syn::ItemFn);
    finish(export::expand(&words, &item))
}

/// The `impl` block of a plain type, whose methods that say `#[zmethod]` can be called by name: those of
/// `impl Report` in the module `reports` as `nm:/reports:Report:render`. It is what modules of a Slim load context
/// offer, which have no classes. Such methods take neither `self` nor `this`, and a Slim's may be called on any thread.
#[proc_macro_attribute]
pub fn zmethods(attr: TokenStream, item: TokenStream) -> TokenStream {
    let words = parse_macro_input!(attr as Words);
    let item = parse_macro_input!(item as syn::ItemImpl);
    finish(export::expand_block(&words, item))
}

/// Makes the crate a module: `module! { name: "magic_cube", main: started, exit: ended, dependencies: [("base", "^1")] }`.
///
/// `main` is `fn(&[&str])` or `fn()`, `exit` is `fn()`; both may be left out, and so may the dependencies.
///
/// `entry: exchange` is the entry method, which exchanges tables of functions with the host right before `main`:
/// `fn(&'static H) -> M`, `fn(&'static H)` or `fn() -> M`, where `H` is a `host struct` of `entry_table!` and `M` a `module struct`.
/// A host with another definition of one of them refuses the module before code of it runs.
///
/// `suspend: let_go, resume: take_again` are for what only one can have: a fixed port, a lock file, a database. In a reload
/// the main of the new generation runs *before* the exit hook of the old one, since the old one goes on if the new one
/// fails. Both are `fn()` or `fn() -> Result<(), E>` with a printable `E`, and there is no one without the other.
///
/// | when | what runs |
/// | --- | --- |
/// | a reload replaces the module | `suspend` of the old, then main of the new, then, in the end, `exit` of the old |
/// | that reload is rolled back | `exit` of the new, if its main had returned, then `resume` of the old |
/// | `suspend` panics or gives an error | nothing is replaced, and `resume` runs |
/// | `resume` panics or gives an error | the report of the reload says so, and the module goes on |
/// | an unload, a shutdown, a reload that leaves the module as it is | neither |
///
/// So `exit` and `resume` find either what `suspend` has left or, if that failed half-way, what it had not come to. Of several
/// modules `suspend` runs for dependents first, `resume` for dependencies first. The module lives in both: it may call, be
/// called and make objects, all of it for good; what `suspend` would leave for later (`task::post`, timers) is refused. Fields
/// that are kept are read after `suspend`. Between `suspend` and what follows no call, task, timer or posted closure of it
/// runs, but its own threads do. A `replace` of a Slim does the same,
/// on the thread that calls it; calls that are inside on other threads go on, and others still come.
///
/// What the module allocates lies in a heap of its own, which goes with its code. `allocator: own` leaves the choice of a
/// `#[global_allocator]` to the crate.
///
/// It stands at the top of the crate: it also defines, hidden in the library, the C functions by which a library leaves
/// something behind (`pthread_create`, `__cxa_thread_atexit_impl`, `malloc`, `open` and others), so that the host learns of
/// all that.
#[proc_macro]
pub fn module(input: TokenStream) -> TokenStream {
    let module = parse_macro_input!(input as module::Module);
    finish(module::expand(&module))
}

fn finish(output: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    let output = output.unwrap_or_else(|error| {
        let error = error.to_compile_error();
        quote! { #error }
    });
    output.into()
}
