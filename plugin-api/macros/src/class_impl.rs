//! Expands `#[uclass]` on the `impl` block of a declared class: constructors, functions, events, overrides, exports.

mod events;
mod once_only;
mod roles;

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Ident, ImplItem, ItemImpl, Result, Type};

use self::events::Event;
pub(crate) use self::events::{EVENTS, TWO_SORTS_OF_EVENT, event_constant, event_names};
use self::once_only::hook;
pub(crate) use self::roles::ROLES;
use crate::attr_args::{AttrArgs, cell_name};
use crate::class_struct::view_of;
use crate::conditions::Conditions;
use crate::docs;
use crate::function_builder::{self, Defaults};
use crate::impl_block::{Function, ImplBlock, Member, declaration};
use crate::method::{Callers, Method, calls, table_of_names};
use crate::method_names::MethodNames;
use crate::mistakes::{self, Checked};
use crate::native::Side;
use crate::rules;
use crate::specifiers::{self, FUNCTION};
use crate::type_names::{at_span, name_self, ungrouped};

pub(crate) struct Body<'a> {
    pub(crate) class: &'a Ident,
    view: Ident,
    /// Names of all methods that the block defines on the view.
    methods: MethodNames,
    /// View methods that perform calls, and the names of the called functions.
    callers: Vec<Callers>,
    called: Vec<String>,
    /// Types of the cells for functions without a `cfg` attribute. All these cells share one static, because separate statics would take
    /// longer to compile.
    cells: Vec<TokenStream>,
    /// Items next to the block: trampolines, cells of functions with a `cfg` attribute, checks.
    pub(crate) expanded: Vec<TokenStream>,
    pub(crate) functions: Vec<TokenStream>,
    /// Once-only members. Each list has several entries only if `cfg` attributes select one of them.
    red_constructors: Vec<(Conditions, TokenStream)>,
    class_constructors: Vec<Hook>,
    post_init_properties: Vec<Hook>,
    side: Side,
    /// For a native class: the hook that runs when an object is destroyed, and the function that reports the object's references to the
    /// collection.
    begin_destroy: Vec<Hook>,
    add_references: Option<TokenStream>,
    /// Number of trampolines named so far, from which the next name is made.
    trampolines: usize,
    /// Names of functions and parameters. Descriptions refer to an entry by its position.
    names: Vec<TokenStream>,
    /// Declared events whose default body has not been found yet.
    events: Vec<Event>,
    /// Names for which the checks of [`mistakes`] have already been generated.
    pub(crate) checked: Checked,
    event_names: Vec<TokenStream>,
}

/// Hook that is called once in the lifetime of an object: its conditions and its trampoline.
type Hook = (Conditions, Ident);

pub(crate) fn expand(attr_args: &AttrArgs, block: ImplBlock, side: Side) -> Result<TokenStream> {
    attr_args.expect_on_impl(&["imported"])?;
    let class = class_of(&block.head)?;
    if attr_args.flag("imported")? {
        return crate::imported_impl::expand(&block.members, &class);
    }
    let ImplBlock { head, members } = block;
    let mut body = Body::new(&class, side);
    let (mut kept, mut errors) = (Vec::new(), rules::Errors::default());
    for member in members {
        match member {
            Member::Function(mut function) => {
                let written = function.sig.clone();
                name_self(&mut function.sig, &class);
                errors.take(body.add(&mut function));
                function.sig = written;
                kept.push(Member::Function(function));
            }
            Member::Other(ImplItem::Verbatim(tokens)) => {
                errors.take(declaration(tokens).and_then(|declared| body.add_event(declared)));
            }
            other => kept.push(other),
        }
    }
    for event in std::mem::take(&mut body.events) {
        errors.take(body.finish_event(event, &kept));
    }
    let calls = errors.take(body.calls());
    let calls = errors.unless(calls)?;

    let (ends, names) = (body.ends(), body.names());
    let event_names = event_names(&body.view, &body.event_names);
    let Body { expanded, functions, red_constructors, class_constructors, post_init_properties, .. } = body;
    let (class_constructor, class_hook) = hook("ALCEDO_CLASS_CONSTRUCTOR", &class, &class_constructors);
    let (post_init_properties, post_init_hook) = hook("ALCEDO_POST_INIT_PROPERTIES", &class, &post_init_properties);
    let red_constructors = red_constructors.iter().map(|(conditions, item)| conditions.on_element(item.clone()));
    let (allowed, required) = (docs::allowed(&head.attrs), docs::required_signatures());
    let item = ImplBlock { head, members: kept };
    Ok(quote! {
        #required
        #item
        #(#allowed)*
        const _: () = {
            #(#expanded)*
            #calls
            #names
            #event_names
            #class_constructor
            #post_init_properties
            #[allow(deprecated, reason = "describes a deprecated function without a call")]
            const ALCEDO_FUNCTIONS: &[::alcedo_plugin_api::__private::Function<#class>] = &[#(#functions),*];
            impl #class {
                #[doc(hidden)]
                pub(crate) const ONE_UCLASS_IMPL_BLOCK_PER_CLASS: ::alcedo_plugin_api::__private::Body<Self> =
                    ::alcedo_plugin_api::__private::Body::new(
                        ALCEDO_FUNCTIONS,
                        #class_hook,
                        #post_init_hook,
                    )#ends;
                #(#red_constructors)*
            }
        };
    })
}

/// Returns the class of an `impl` block. Rejects blocks with parameters or a trait.
pub(crate) fn class_of(item: &ItemImpl) -> Result<Ident> {
    rules::refuse(
        "ALC0001",
        item.trait_.as_ref().map(|(_, path, _)| path),
        "this attribute belongs on the inherent `impl` of the type, not on the `impl` of a trait",
    )?;
    rules::refuse_generics("ALC0002", &item.generics, "a reflected type is not generic")?;
    match ungrouped(&item.self_ty) {
        Type::Path(path) if path.path.get_ident().is_some() => Ok(path.path.require_ident()?.clone()),
        other => Err(rules::spanned("ALC0003", other, "expected the name of a type of this module")),
    }
}

/// Returns the name of the class's view, with the span of the class name in the `impl` block. If the block names an alias of the class, the
/// compiler reports the missing view at this span.
pub(crate) fn view_in_block(class: &Ident) -> Ident {
    at_span(view_of(class), class.span())
}

impl<'a> Body<'a> {
    pub(crate) fn new(class: &'a Ident, side: Side) -> Self {
        Self {
            class,
            view: view_in_block(class),
            methods: MethodNames::default(),
            callers: Vec::new(),
            called: Vec::new(),
            cells: Vec::new(),
            expanded: Vec::new(),
            functions: Vec::new(),
            red_constructors: Vec::new(),
            class_constructors: Vec::new(),
            post_init_properties: Vec::new(),
            side,
            begin_destroy: Vec::new(),
            add_references: None,
            trampolines: 0,
            names: Vec::new(),
            events: Vec::new(),
            checked: Vec::new(),
            event_names: Vec::new(),
        }
    }

    /// Applies `conditions` to all items that were added since [`Self::mark`] returned `mark`.
    pub(crate) fn condition(&mut self, conditions: &Conditions, mark: [usize; 3]) -> Result<()> {
        if conditions.is_none() {
            return Ok(());
        }
        for items in &mut self.expanded[mark[0]..] {
            *items = conditions.on_items(std::mem::take(items))?;
        }
        for element in &mut self.functions[mark[1]..] {
            *element = conditions.on_element(std::mem::take(element));
        }
        for callers in &mut self.callers[mark[2]..] {
            callers.conditions = conditions.clone();
        }
        Ok(())
    }

    /// Returns the current lengths of the three lists, so that [`Self::condition`] can find items that are added later.
    pub(crate) fn mark(&self) -> [usize; 3] {
        [self.expanded.len(), self.functions.len(), self.callers.len()]
    }

    fn add(&mut self, function: &mut Function) -> Result<()> {
        let (conditions, mark) = (Conditions::of_member(&function.attrs, &ROLES)?, self.mark());
        self.add_role(function, &conditions)?;
        // The `cfg` attributes of a function also apply to the function's checks.
        let checks = match conditions.is_none() {
            true => mistakes::checks(self.class, function, &mut self.checked),
            false => mistakes::checks(self.class, function, &mut Vec::new()),
        };
        self.expand(checks);
        self.condition(&conditions, mark)
    }

    /// Adds items that are expanded next to the `impl` block.
    fn expand(&mut self, items: TokenStream) {
        if !items.is_empty() {
            self.expanded.push(items);
        }
    }

    /// Expands to the hooks that only a native class has, and to `true` if the class has a red constructor.
    fn ends(&self) -> Option<TokenStream> {
        if self.side == Side::Plugin {
            return None;
        }
        let some = |value: Option<TokenStream>| match value {
            Some(value) => quote! { ::core::option::Option::Some(#value) },
            None => quote! { ::core::option::Option::None },
        };
        let hook = |(_, trampoline): &Hook| quote! { ::alcedo_plugin_api::__private::hook::<#trampoline>() };
        let begin = self.begin_destroy.first().map(hook);
        let (begin, references) = (some(begin), some(self.add_references.clone()));
        let is_red = !self.red_constructors.is_empty();
        Some(quote! { .with_ends(#begin, #references, #is_red) })
    }

    /// Adds a reflected function whose body is `target`. Returns the expression for the function's cell.
    pub(crate) fn reflect(
        &mut self,
        method: &Method,
        target: &Ident,
        attr_args: Option<&AttrArgs>,
        flags: &str,
        overrides: &dyn ToTokens,
        attrs: &[Attribute],
    ) -> Result<String> {
        let cell = self.cell_of(method, attrs)?;
        let metadata = specifiers::metadata(attr_args, FUNCTION, &docs::text(attrs))?;
        let defaults = attr_args.map(|attr_args| Defaults::of(attr_args, method)).transpose()?.unwrap_or_default();
        let body = method.call(self.class, target);
        let description = match self.side {
            Side::Plugin => {
                let at = self.add_names(method, &defaults);
                method.description(&at, flags, overrides, &cell, (&metadata, &body))
            }
            // Each function of a native class has its own trampoline type.
            Side::Host => {
                let builder = match method.is_static() {
                    true => quote! { static_function },
                    false => quote! { function_description },
                };
                let trampoline = method.trampoline(&format_ident!("AlcedoTrampoline"), self.class, &body);
                let builder = (&builder, &quote! { AlcedoTrampoline });
                let fixed = [flags, &cell, &metadata].map(specifiers::tokens);
                let description = function_builder::description(method, builder, defaults.on_block(), fixed);
                quote! { { #trampoline #description.overriding(#overrides) } }
            }
        };
        self.functions.push(description);
        self.expand(defaults.checks);
        self.expanded.extend(method.result.check());
        Ok(cell)
    }

    /// Adds the cell of a declared function with these attributes. Returns the expression for the cell.
    pub(crate) fn cell_of(&mut self, method: &Method, attrs: &[Attribute]) -> Result<String> {
        method.expect_distinct_names()?;
        if Conditions::of(attrs)?.is_none() {
            let (at, class) = (self.cells.len(), self.class);
            let (types, result) = (method.types(), method.result_type());
            self.cells.push(quote! { __alcedo::FunctionCell<#class, (#(#types,)*), #result> });
            return Ok(format!("ALCEDO_CELLS.{at}"));
        }
        let (cell, ty) = (cell_name("OF", &method.text()), method.cell(self.class));
        self.expanded.push(quote! {
            #[allow(clippy::type_complexity, reason = "the type has a part for each parameter")]
            static #cell: #ty = ::alcedo_plugin_api::__private::FunctionCell::new();
        });
        Ok(cell.to_string())
    }

    /// Adds an entry to the table of names, and returns the entry's position. No `cfg` attribute removes an entry, so positions are fixed.
    fn add_names(&mut self, method: &Method, defaults: &Defaults) -> Literal {
        let at = Literal::usize_unsuffixed(self.names.len());
        self.names.push(method.names(&defaults.values, method.result.may_fail));
        at
    }

    /// Expands to the table of names. Returns `None` if no description refers to the table.
    pub(crate) fn names(&self) -> Option<TokenStream> {
        let Self { class, names, .. } = self;
        (!names.is_empty()).then(|| table_of_names(&format_ident!("AlcedoMethods"), class, names))
    }

    fn next_trampoline(&mut self) -> Ident {
        self.trampolines += 1;
        format_ident!("AlcedoTrampoline{}", self.trampolines)
    }

    /// Adds the functions of the view that call the function in `cell`.
    pub(crate) fn call(&mut self, method: &Method, cell: &str, attrs: &[Attribute]) {
        let at = Literal::usize_unsuffixed(self.called.len());
        self.callers.push(method.callers(&method.name, cell, &quote! { ALCEDO_PATHS[#at] }, attrs));
        self.called.push(method.text());
    }

    /// Expands to the cells, and to the functions of the view that perform calls. Rejects two functions with equal names.
    pub(crate) fn calls(&mut self) -> Result<TokenStream> {
        let (class, callers, mut errors) = (self.class, std::mem::take(&mut self.callers), rules::Errors::default());
        for Callers { conditions, declared: (kind, declared), names, .. } in &callers {
            errors.take(self.methods.add((*kind, declared), names.iter().cloned(), conditions));
        }
        errors.finish()?;
        let check = self.methods.checked_with_properties(class);
        let (called, calls) = (&self.called, calls(&self.view, callers));
        let paths = (!called.is_empty()).then(|| {
            let count = Literal::usize_unsuffixed(called.len());
            quote! {
                ::alcedo_plugin_api::__private::member_paths! {
                    <#class as ::alcedo_plugin_api::__private::Class>::PATH, #count [#(#called),*]
                }
            }
        });
        let (cells, path) = (
            &self.cells,
            (!self.functions.is_empty()).then(|| {
                quote! {
                    #[allow(unused_imports, reason = "functions may have conditions")]
                    use ::alcedo_plugin_api::__private as __alcedo;
                }
            }),
        );
        let new = cells.iter().map(|_cell| format_ident!("new"));
        let cells = (!cells.is_empty()).then(|| {
            quote! {
                #[allow(clippy::type_complexity, reason = "the type has a part for each function")]
                static ALCEDO_CELLS: (#(#cells,)*) = (#(__alcedo::FunctionCell::#new(),)*);
            }
        });
        Ok(quote! { #path #cells #paths #calls #check })
    }
}

fn function_flags(attr_args: &AttrArgs) -> Result<String> {
    specifiers::expect(attr_args, FUNCTION)?;
    let has_both = attr_args.flag("blueprint_callable")? && attr_args.flag("blueprint_pure")?;
    let both = has_both.then_some(attr_args.span);
    rules::refuse_at("ALC0023", both, "a pure function is callable: specify only one of the two")?;
    specifiers::flags(attr_args, FUNCTION, "function_flags")
}
