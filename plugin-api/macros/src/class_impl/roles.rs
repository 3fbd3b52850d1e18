//! Roles of the methods in the `impl` block of a class. Reads the role from the attributes of a method, and adds reflected functions and
//! exports to the body. `once_only.rs` adds the hooks, and `events.rs` adds the events.

use quote::quote;
use syn::{Attribute, Error, Path, Result, Signature};

use super::{Body, EVENTS, function_flags};
use crate::async_function::{AsyncFunction, LATENT};
use crate::attr_args::{AttrArgs, cell_name, take_attr, take_attrs, text_of};
use crate::conditions::Conditions;
use crate::custom_thunk;
use crate::dll_import::DllImport;
use crate::docs;
use crate::export;
use crate::function_builder::{self, Defaults};
use crate::impl_block::Function;
use crate::method::{Method, SelfKind};
use crate::native::{self, Side};
use crate::rules;
use crate::specifiers::{self, FUNCTION};

/// Attributes that set the role of a method.
pub(crate) const ROLES: [&str; 9] = [
    "red_constructor",
    "class_constructor",
    "post_init_properties",
    "ufunction",
    "overrides",
    "zmethod",
    "dll_import",
    "begin_destroy",
    "add_references",
];

impl Body<'_> {
    pub(super) fn add_role(&mut self, function: &mut Function, conditions: &Conditions) -> Result<()> {
        let (attrs, name) = (&mut function.attrs, &function.sig.ident);
        let [red, class, post_init, reflected, overrides, exported, imported, ends, refers] = take_attrs(attrs, ROLES)?;
        rules::refuse(
            "ALC0144",
            imported,
            format_args!("the body of `{name}` is in the library: declare it without one, `fn {name}(…);`"),
        )?;
        let roles = [&red, &class, &post_init, &reflected, &overrides, &exported, &ends, &refers];
        if let Some(second) = roles.into_iter().flatten().nth(1) {
            return Err(second_role(second));
        }
        let (signature, attrs) = (&function.sig, &function.attrs);
        if let Some(attr) = red {
            self.red_constructor(&attr, signature, conditions)
        } else if let Some(attr) = class {
            self.life_hook(&attr, signature, "class constructor", conditions, |body| &mut body.class_constructors)
        } else if let Some(attr) = post_init {
            let what = "PostInitProperties hook";
            self.life_hook(&attr, signature, what, conditions, |body| &mut body.post_init_properties)
        } else if let Some(attr) = reflected {
            self.function(&attr, function)
        } else if let Some(attr) = overrides {
            self.override_of(&attr, signature, attrs)
        } else if let Some(attr) = exported {
            self.export(&attr, signature)
        } else if let Some(attr) = ends {
            self.for_hosts(&attr, "begin_destroy", conditions)?;
            self.life_hook(&attr, signature, "`begin_destroy`", conditions, |body| &mut body.begin_destroy)
        } else if let Some(attr) = refers {
            self.for_hosts(&attr, "add_references", conditions)?;
            AttrArgs::of(&attr)?.expect(&[])?;
            let first = self.add_references.replace(native::references(self.class, signature)?);
            rules::refuse("ALC0108", first.map(|_| attr), "a class has one `add_references`: this is the second")
        } else {
            Ok(())
        }
    }

    /// Rejects attributes that are invalid for a plugin's class, and rejects `cfg` attributes on a hook of a native class.
    fn for_hosts(&self, attr: &Attribute, name: &str, conditions: &Conditions) -> Result<()> {
        match self.side {
            Side::Plugin => Err(native::refused(attr, name)),
            Side::Host if conditions.is_none() => Ok(()),
            Side::Host => {
                Err(rules::spanned("ALC0109", attr, format!("`#[{name}]` has no `cfg`: put it into the body")))
            }
        }
    }

    fn function(&mut self, attr: &Attribute, function: &Function) -> Result<()> {
        let signature = &function.sig;
        let attr_args = AttrArgs::of(attr)?;
        let flags = function_flags(&attr_args)?;
        custom_thunk::refuse_body(&attr_args, signature)?;
        let is_event = attr_args.flag(EVENTS[0])? || attr_args.flag(EVENTS[1])?;
        rules::refuse_at(
            "ALC0011",
            is_event.then(|| function.body.span()),
            format_args!(
                "an event is declared without a body, `fn {0}(…);`: the default body of a `blueprint_native_event` is \
                 `fn {0}_implementation`, and a `blueprint_implementable_event` has none",
                signature.ident
            ),
        )?;
        if signature.asyncness.is_some() {
            return self.async_function(&attr_args, &flags, function);
        }
        let method = Method::of(signature)?;
        if !method.is_static() {
            method.needs_self(signature, "a reflected function with `this`")?;
        }
        let is_pure = attr_args.flag("blueprint_pure")?;
        rules::refuse(
            "ALC0012",
            (is_pure && method.self_kind == SelfKind::Exclusive).then(|| &signature.inputs[0]),
            "a pure function changes nothing: take `&self`",
        )?;
        let target = method.name.clone();
        let cell = self.reflect(&method, &target, Some(&attr_args), &flags, &"", &function.attrs)?;
        self.call(&method, &cell, &docs::shared(&function.attrs));
        Ok(())
    }

    fn async_function(&mut self, attr_args: &AttrArgs, flags: &str, function: &Function) -> Result<()> {
        let (signature, attrs) = (&function.sig, &function.attrs);
        rules::refuse_at(
            "ALC0116",
            attr_args.flag("blueprint_pure")?.then_some(attr_args.span),
            "a pure function returns immediately: it cannot be async",
        )?;
        rules::refuse_at(
            "ALC0084",
            attr_args.get("defaults").map(|defaults| defaults.name.span()),
            "callers can omit only the last arguments, and `done` is the last parameter of an async function: remove `defaults`",
        )?;
        let task = AsyncFunction::of(signature, self.side)?;
        let (method, cell) = (&task.method, self.cell_of(&task.method, attrs)?);
        let metadata = specifiers::metadata_with(Some(attr_args), FUNCTION, &docs::text(attrs), &[LATENT])?;
        let (at, start) = (self.add_names(method, &Defaults::default()), task.start(self.class));
        self.functions.push(method.description(&at, flags, &"", &cell, (&metadata, &start)));
        self.expanded.extend(task.result.check());
        self.call(method, &cell, &docs::shared(attrs));
        Ok(())
    }

    pub(super) fn custom_thunk(
        &mut self,
        thunk: &Path,
        attr_args: &AttrArgs,
        signature: &Signature,
        attrs: &[Attribute],
    ) -> Result<()> {
        let method = Method::of(signature)?;
        custom_thunk::check(attr_args, &EVENTS, &method, signature)?;
        let (conditions, mark) = (Conditions::of(attrs)?, self.mark());
        let (class, trampoline, cell) = (self.class, self.next_trampoline(), self.cell_of(&method, attrs)?);
        let metadata = specifiers::metadata(Some(attr_args), FUNCTION, &docs::text(attrs))?;
        let defaults = Defaults::of(attr_args, &method)?;
        let (types, result) = (method.types(), method.result_type());
        let builder = (&quote! { custom_thunk }, &quote! { #trampoline, (#(#types,)*), #result });
        let mut flags = specifiers::flags(attr_args, FUNCTION, "function_flags")?;
        if method.is_static() {
            flags.push_str(" | ::alcedo_plugin_api::__private::function_flags::STATIC");
        }
        let fixed = [&flags, &cell, &metadata].map(|source| specifiers::tokens(source));
        self.functions.push(function_builder::description(&method, builder, defaults.on_block(), fixed));
        let (trampoline, checks) = (custom_thunk::trampoline(&trampoline, class, thunk, self.side), &defaults.checks);
        self.expanded.push(quote! { #trampoline #checks });
        self.call(&method, &cell, &docs::shared(attrs));
        self.condition(&conditions, mark)
    }

    pub(super) fn dll_import(
        &mut self,
        attr: &Attribute,
        signature: &Signature,
        attrs: &mut Vec<Attribute>,
    ) -> Result<()> {
        if let Some(second) = take_attr(attrs, "ufunction")? {
            return Err(second_role(&second));
        }
        let import = DllImport::of(attr, signature)?;
        import.method.expect_distinct_names()?;
        let (conditions, mark) = (Conditions::of(attrs)?, self.mark());
        let name = &import.method.name;
        self.methods.add(("function", name), import.method.names_on_view(name), &conditions)?;
        let cell = cell_name("OF", &text_of(&signature.ident));
        self.functions.push(import.description(self.class, &cell, attrs)?);
        self.expanded.push(import.expanded(self.class, &self.view, &cell, attrs));
        self.condition(&conditions, mark)
    }

    fn export(&mut self, attr: &Attribute, signature: &Signature) -> Result<()> {
        AttrArgs::of(attr)?.expect(&[])?;
        let method = export::static_method(signature)?;
        let (class, name) = (self.class, &method.name);
        self.expanded.push(export::export(
            &method,
            &method.text(),
            &quote! { <#class as ::alcedo_plugin_api::__private::Class>::PATH },
            &quote! { #class::#name },
        ));
        Ok(())
    }
}

fn second_role(attr: &Attribute) -> Error {
    rules::spanned("ALC0004", attr, "a method has one role, but another attribute has already set its role")
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse_quote;

    use crate::class_impl;
    use crate::impl_block::ImplBlock;
    use crate::native::Side;

    #[test]
    fn an_async_function_has_no_defaults() {
        let block = quote! {
            impl Cave {
                #[ufunction(defaults(name = "first"))]
                async fn load(this: Obj<Self>, name: String) {}
            }
        };
        let block = ImplBlock::of(block).unwrap_or_else(|error| panic!("{error}"));
        let error = class_impl::expand(&parse_quote!(), block, Side::Plugin).expect_err("`done` has no default");
        assert!(error.to_string().contains("remove `defaults`") && error.to_string().contains("ALC0084"), "{error}");
    }
}
