//! Expands `module!`: the name, the hooks, the permissions and the dependencies of a module.

use crate::rules;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, ExprTuple, Ident, Lit, LitStr, Path, Result, Token, bracketed};

use crate::build_id::{self, Made};
use crate::type_names::ungrouped_expr;

pub(crate) struct Module {
    name: LitStr,
    entry: Option<Path>,
    main: Option<Path>,
    exit: Option<Path>,
    /// The functions `suspend` and `resume`, which are specified together.
    pair: Option<(Path, Path)>,
    /// True if the author defines an allocator.
    has_allocator: bool,
    /// True if the main function sets its own loggers.
    has_logger: bool,
    /// C functions defined by the author's code.
    unhooked: Vec<LitStr>,
    /// Variants of `Permission`. `None` if the author declares no permissions.
    permissions: Option<Vec<Ident>>,
    dependencies: Vec<(LitStr, LitStr)>,
}

impl Parse for Module {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let span = input.span();
        let (mut name, mut entry, mut main, mut exit) = (None, None, None, None);
        let (mut allocator, mut logger, mut unhooked, mut dependencies) = (None, None, None, None);
        let (mut suspend, mut resume) = (None::<(Ident, Path)>, None::<(Ident, Path)>);
        let mut permissions = None;
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            input.parse::<Token![:]>()?;
            let is_duplicate = match key.to_string().as_str() {
                "name" => name.replace(input.parse::<LitStr>()?).is_some(),
                "entry" => entry.replace(input.parse::<Path>()?).is_some(),
                "main" => main.replace(input.parse::<Path>()?).is_some(),
                "exit" => exit.replace(input.parse::<Path>()?).is_some(),
                "suspend" => suspend.replace((key.clone(), input.parse()?)).is_some(),
                "resume" => resume.replace((key.clone(), input.parse()?)).is_some(),
                "allocator" => allocator.replace(parse_own(input, OWN_ALLOCATOR)?).is_some(),
                "logger" => logger.replace(parse_own(input, OWN_LOGGER)?).is_some(),
                "unhooked" => unhooked.replace(parse_list::<LitStr>(input)?).is_some(),
                "permissions" => permissions.replace(parse_permissions(input)?).is_some(),
                "dependencies" => dependencies.replace(parse_dependencies(input)?).is_some(),
                _ => {
                    return Err(rules::at(
                        "ALC0069",
                        key.span(),
                        format!(
                            "unknown key `{key}`: expected one of `name`, `entry`, `main`, `exit`, `suspend`, `resume`, \
                             `allocator`, `logger`, `unhooked`, `dependencies`, `permissions`"
                        ),
                    ));
                }
            };
            rules::refuse("ALC0070", is_duplicate.then_some(&key), format_args!("`{key}` is specified twice"))?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let name = name.ok_or_else(|| rules::at("ALC0071", span, "a module has a name: `name: \"magic_cube\"`"))?;
        rules::refuse(
            "ALC0072",
            (!is_module_name(&name.value())).then_some(&name),
            "a module is named by lower-case letters, digits and `_`, and starts with a letter: `magic_cube`",
        )?;
        rules::refuse(
            "ALC0073",
            suspend.as_ref().filter(|_| resume.is_none()).map(|(key, _)| key),
            "`suspend` needs `resume`, which reacquires the released resources when a reload is rolled back",
        )?;
        rules::refuse(
            "ALC0074",
            resume.as_ref().filter(|_| suspend.is_none()).map(|(key, _)| key),
            "`resume` needs `suspend`, which releases the resources that `resume` reacquires",
        )?;
        let pair = suspend.zip(resume).map(|((_, suspend), (_, resume))| (suspend, resume));
        let (has_allocator, has_logger) = (allocator.is_some(), logger.is_some());
        let (unhooked, dependencies) = (unhooked.unwrap_or_default(), dependencies.unwrap_or_default());
        Ok(Self { name, entry, main, exit, pair, has_allocator, has_logger, unhooked, permissions, dependencies })
    }
}

pub(crate) fn expand(module: &Module) -> Result<TokenStream> {
    let Module { name, entry, main, exit, pair, has_allocator, has_logger, unhooked, permissions, dependencies } =
        module;
    let Made { build_id, plugins } = build_id::read_inputs().map_err(|error| {
        syn::Error::new(name.span(), format!("the build id of the module cannot be computed: {error}"))
    })?;
    if let Some(other) = plugins.first() {
        let message = format!(
            "`{other}` is a plugin itself, and one library is one module: put what both use into a library without `module!`, take \
             `{other}` out of `[dependencies]`, and use its classes by what `alcedo glue target/debug/lib{other}.so -o src/{other}.rs` \
             writes"
        );
        return Err(syn::Error::new(name.span(), message));
    }
    let (tables, entry) = match entry {
        Some(entry) => (
            quote! { ::alcedo_plugin_api::__private::tables_of(&#entry) },
            quote! { ::alcedo_plugin_api::__private::run_entry(#entry) },
        ),
        None => (
            quote! { ::alcedo_plugin_api::__private::EntryTables::NONE },
            quote! { ::alcedo_plugin_api::__private::core::result::Result::Ok(()) },
        ),
    };
    let main = match main {
        Some(main) => quote! { ::alcedo_plugin_api::__private::run_main(#main, args) },
        None => quote! { let _ = args; },
    };
    let exit = exit.as_ref().map(|exit| quote! { #exit() });
    let suspends = pair.is_some();
    let hook = |hook: Option<&Path>| match hook {
        Some(hook) => quote! { ::alcedo_plugin_api::__private::run_hook(#hook) },
        None => quote! { ::alcedo_plugin_api::__private::core::result::Result::Ok(()) },
    };
    let suspend = hook(pair.as_ref().map(|(suspend, _)| suspend));
    let resume = hook(pair.as_ref().map(|(_, resume)| resume));
    let heap = Ident::new(if *has_allocator { "own" } else { "module" }, Span::call_site());
    let permissions = match permissions {
        Some(permissions) => quote! {
            ::alcedo_plugin_api::__private::core::option::Option::Some(::alcedo_plugin_api::__private::Permissions::of(
                &[#(::alcedo_plugin_api::__private::Permission::#permissions),*]
            ))
        },
        None => quote! { ::alcedo_plugin_api::__private::core::option::Option::None },
    };
    let (names, ranges): (Vec<_>, Vec<_>) = dependencies.iter().cloned().unzip();
    Ok(quote! {
        ::alcedo_plugin_api::__private::module! {
            name: #name, build_id: #build_id, heap: #heap, own_logger: #has_logger, unhooked: [#(#unhooked)*],
            permissions: #permissions, dependencies: &[#((#names, #ranges)),*],
            tables: #tables, entry: #entry, main: |args| { #main }, exit: { #exit },
            suspends: #suspends, suspend: { #suspend }, resume: { #resume }
        }
    })
}

const OWN_ALLOCATOR: &str = "`allocator: own` states that this library has a `#[global_allocator]` of its own";
const OWN_LOGGER: &str =
    "`logger: own` states that main sets the logger of `log` or the subscriber of `tracing` in this library";

/// Parses `own`, the only allowed value of the key. Without the key, the module uses the heap or the loggers of `alcedo-rt`.
fn parse_own(input: ParseStream<'_>, meaning: &str) -> Result<()> {
    let key: Ident = input.parse()?;
    if key == "own" { Ok(()) } else { Err(rules::at("ALC0075", key.span(), meaning)) }
}

fn parse_list<T: Parse>(input: ParseStream<'_>) -> Result<Vec<T>> {
    let content;
    bracketed!(content in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated(&content)?.into_iter().collect())
}

/// Names of the permissions, each with its variant of `Permission`.
const PERMISSIONS: [(&str, &str); 5] = [
    ("network", "Network"),
    ("files", "Files"),
    ("threads", "Threads"),
    ("signals", "Signals"),
    ("c_libraries", "CLibraries"),
];

/// Parses a list of permission names. Returns the variants of `Permission`.
fn parse_permissions(input: ParseStream<'_>) -> Result<Vec<Ident>> {
    let mut entries: Vec<Ident> = Vec::new();
    for name in parse_list::<Ident>(input)? {
        let Some((_, entry)) = PERMISSIONS.iter().find(|(known, _)| name == *known) else {
            let known = PERMISSIONS.map(|(known, _)| known).join("`, `");
            let message = format!("unknown permission `{name}`: expected one of `{known}`");
            return Err(rules::at("ALC0212", name.span(), message));
        };
        if entries.iter().any(|listed| listed == entry) {
            return Err(rules::at("ALC0070", name.span(), format!("`{name}` is specified twice")));
        }
        entries.push(Ident::new(entry, Span::call_site()));
    }
    Ok(entries)
}

fn parse_dependencies(input: ParseStream<'_>) -> Result<Vec<(LitStr, LitStr)>> {
    parse_list::<Expr>(input)?.iter().map(dependency).collect()
}

fn dependency(pair: &Expr) -> Result<(LitStr, LitStr)> {
    let text = |expr: &Expr| match ungrouped_expr(expr) {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        _ => None,
    };
    if let Expr::Tuple(ExprTuple { elems, .. }) = pair
        && let [Some(name), Some(range)] = &elems.iter().map(text).collect::<Vec<_>>()[..]
    {
        let is_valid = is_name_of_other(&name.value());
        rules::refuse("ALC0076", (!is_valid).then_some(name), "this is not a valid module name")?;
        return Ok((name.clone(), range.clone()));
    }
    Err(rules::spanned("ALC0077", pair, "a dependency is a name and a version range: `(\"attributes\", \"^0.1\")`"))
}

fn is_module_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
}

/// Returns true for a valid dependency name: the name of a module or of a package of scripts. Checks only the syntax of package names,
/// because every name of a module also has this syntax.
fn is_name_of_other(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
