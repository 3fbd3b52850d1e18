//! Expands the specifier `default = …` of a property to a string for the host, and to a compile-time check of the type.

use crate::attr_args::{AttrArg, text_of};
use crate::rules;
use crate::type_names::{INTEGERS, ungrouped_expr};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprAssign, ExprLit, ExprParen, ExprTuple, ExprUnary, Lit, Result, Type, UnOp};

/// Default as a string for the host, and a check of the default's type.
pub(crate) struct DefaultValue {
    pub(crate) text: String,
    /// Code that compiles only if the value fits the property's type.
    pub(crate) check: TokenStream,
}

impl DefaultValue {
    /// Parses the specifier `default` of a property or field of type `ty`. Also returns the value in the author's spelling.
    pub(crate) fn of_specifier<'a>(attr_arg: &'a AttrArg, ty: &Type) -> Result<(&'a Expr, Self)> {
        let Some(value) = &attr_arg.value else {
            return Err(rules::at("ALC0033", attr_arg.name.span(), "`default` takes a value: `default = 180.0`"));
        };
        Ok((value, Self::of(value, ty)?))
    }

    /// Parses the default of a property of type `ty`.
    pub(crate) fn of(value: &Expr, ty: &Type) -> Result<Self> {
        let text = untyped(value)?;
        let check = match assigns(value) {
            Some(assigns) => {
                // The name of the parameter has one span everywhere, because a macro may have captured the assigned values.
                let place = quote! { value };
                let checks = assigns.into_iter().map(|assign| assigned(&place, assign, None));
                quote! { const _: fn(&mut #ty) = |#place| { #(#checks)* }; }
            }
            None if is_literal_of(value, ty) => TokenStream::new(),
            None => quote_spanned! {value.span()=>
                const _: <#ty as ::alcedo_plugin_api::__private::Value>::Literal = #value;
            },
        };
        Ok(Self { text, check })
    }
}

/// Returns true if the literal is certainly a value of the type, and therefore needs no check.
fn is_literal_of(value: &Expr, ty: &Type) -> bool {
    let (Expr::Lit(ExprLit { lit, .. }), Type::Path(path)) = (value, ty) else { return false };
    let Some(name) = path.path.get_ident().map(ToString::to_string) else { return false };
    match lit {
        // A literal that is finite as an `f32` is in the range of both types.
        Lit::Float(number) => {
            let is_small = number.base10_parse::<f32>().is_ok_and(f32::is_finite);
            is_small && number.suffix().is_empty() && matches!(name.as_str(), "f32" | "f64")
        }
        Lit::Bool(_) => name == "bool",
        // A literal up to 100 is in the range of every integer type.
        Lit::Int(number) => {
            let is_small = number.base10_parse::<u8>().is_ok_and(|number| number <= 100);
            is_small && number.suffix().is_empty() && INTEGERS.contains(&name.as_str())
        }
        _ => false,
    }
}

pub(crate) fn assigns(value: &Expr) -> Option<Vec<&ExprAssign>> {
    match ungrouped_expr(value) {
        Expr::Paren(ExprParen { expr, .. }) => Some(vec![assign(expr)?]),
        Expr::Tuple(ExprTuple { elems, .. }) if !elems.is_empty() => elems.iter().map(assign).collect(),
        _ => None,
    }
}

/// Expands to an assignment to a field of `place`, or to assignments to the fields of a struct in this field. A string is converted to the
/// type of the field, such as an enum. With `start`, the struct in this field first becomes the value of this expression.
pub(crate) fn assigned(place: &TokenStream, assign: &ExprAssign, start: Option<&TokenStream>) -> TokenStream {
    let ExprAssign { left, right, .. } = assign;
    let place = quote! { #place.#left };
    if let Some(inner) = assigns(right) {
        let fields = inner.into_iter().map(|assign| assigned(&place, assign, start));
        let start = start.map(|start| quote! { #place = #start; });
        return quote! { #start #(#fields)* };
    }
    match ungrouped_expr(right) {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => quote_spanned! {right.span()=>
            #place = ::alcedo_plugin_api::__private::OfText::of_text(#text);
        },
        _ => quote_spanned! {right.span()=> #place = #right; },
    }
}

fn assign(value: &Expr) -> Option<&ExprAssign> {
    if let Expr::Assign(assign) = value { Some(assign) } else { None }
}

/// Converts a default to a string for the host, without a check of the type, because only the host has the type of an inherited property.
pub(crate) fn untyped(value: &Expr) -> Result<String> {
    let Some(assigns) = assigns(value) else { return text(value) };
    let mut fields = Vec::new();
    for ExprAssign { left, right, .. } in assigns {
        let Expr::Path(field) = &**left else {
            return Err(rules::spanned("ALC0036", left, "expected a field of the struct: `(x = 1.0, y = 2.0)`"));
        };
        fields.push(format!("{}={}", text_of(field.path.require_ident()?), untyped(right)?));
    }
    Ok(format!("({})", fields.join(", ")))
}

fn text(value: &Expr) -> Result<String> {
    match ungrouped_expr(value) {
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Int(number) => return Ok(number.base10_digits().to_owned()),
            Lit::Float(number) => return Ok(number.base10_digits().to_owned()),
            Lit::Bool(truth) => return Ok(truth.value.to_string()),
            Lit::Str(text) => return Ok(quoted(&text.value())),
            _ => {}
        },
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => {
            if let Expr::Lit(ExprLit { lit: Lit::Int(_) | Lit::Float(_), .. }) = ungrouped_expr(expr) {
                return Ok(format!("-{}", text(expr)?));
            }
        }
        _ => {}
    }
    Err(rules::spanned(
        "ALC0037",
        value,
        "a default is a number, `true`, `false`, a string, an entry of an enum as `\"Calm\"`, or `(x = 1.0, y = 2.0)` for a struct: \
         it is data, not code",
    ))
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use proc_macro2::{Delimiter, Group, TokenStream};
    use quote::quote;
    use syn::{Expr, parse_quote};

    use super::{DefaultValue, assigned, assigns};
    use crate::attr_args::AttrArgs;

    #[test]
    fn a_default_is_written_as_the_host_reads_it() {
        for (value, expected) in [
            (parse_quote!(180.0), "180.0"),
            (parse_quote!(-5), "-5"),
            (parse_quote!(0x10_u32), "16"),
            (parse_quote!(true), "true"),
            (parse_quote!("a \"b\""), "\"a \\\"b\\\"\""),
            (parse_quote!((x = 1.0)), "(x=1.0)"),
            (parse_quote!((x = 1.0, y = -2.0)), "(x=1.0, y=-2.0)"),
            (parse_quote!((r#type = 1)), "(type=1)"),
            (parse_quote!((at = (x = 1.0, of = (y = -2)), z = 3)), "(at=(x=1.0, of=(y=-2)), z=3)"),
        ] {
            let default = DefaultValue::of(&value, &parse_quote!(T)).expect("a literal");
            assert_eq!(default.text, expected);
        }
    }

    #[test]
    fn values_that_a_macro_has_captured_are_recognized() {
        let captured = |value: TokenStream| Group::new(Delimiter::None, value);
        let [one, minus] = [quote!(1.5), quote!(-2)].map(captured);
        for (attr, expected) in [
            (quote!(default = #one), "1.5"),
            (quote!(default = -#one), "-1.5"),
            (quote!(default = #minus), "-2"),
            (quote!(default = (x = #one, y = #minus)), "(x=1.5, y=-2)"),
        ] {
            let attr_args: AttrArgs = syn::parse2(attr).expect("an attribute");
            let value = attr_args.get("default").and_then(|arg| arg.value.as_ref()).expect("a value");
            assert_eq!(DefaultValue::of(value, &parse_quote!(T)).expect("a literal").text, expected);
        }
        let (base, class) = (captured(quote!(game::Actor)), captured(quote!(FancyMesh)));
        let attr_args: AttrArgs = syn::parse2(quote!(base = #base, subobjects(mesh = #class))).expect("an attribute");
        assert_eq!(attr_args.path("base").expect("a path"), Some(parse_quote!(game::Actor)));
        assert!(matches!(&attr_args.pairs("subobjects").expect("pairs")[..], [(_, Expr::Path(_))]));
    }

    #[test]
    fn an_entry_of_an_enum_is_the_default_of_a_field() {
        let default = DefaultValue::of(&parse_quote!((mood = "Angry", at = (x = 1.0))), &parse_quote!(T));
        let default = default.expect("literals");
        assert_eq!(default.text, "(mood=\"Angry\", at=(x=1.0))");
        let entry = quote!(value.mood = ::alcedo_plugin_api::__private::OfText::of_text("Angry"););
        let (number, check) = (quote!(value.at.x = 1.0;), default.check.to_string());
        assert!(check.contains(&entry.to_string()) && check.contains(&number.to_string()), "{check}");
    }

    #[test]
    fn a_struct_in_a_struct_begins_with_its_own_start() {
        let default: Expr = parse_quote!((at = (x = 1.0, of = (y = 2)), z = 3));
        let fields = assigns(&default).expect("assignments").into_iter();
        let expanded: TokenStream =
            fields.map(|assign| assigned(&quote!(value), assign, Some(&quote!(start())))).collect();
        let expected = quote! {
            value.at = start();
            value.at.x = 1.0;
            value.at.of = start();
            value.at.of.y = 2;
            value.z = 3;
        };
        assert_eq!(expanded.to_string(), expected.to_string());
    }

    #[test]
    fn the_compiler_checks_literals_outside_of_small_ranges() {
        let is_checked =
            |value: Expr, ty: syn::Type| !DefaultValue::of(&value, &ty).expect("a literal").check.is_empty();
        for (value, ty) in [(parse_quote!(1e39), parse_quote!(f32)), (parse_quote!(200), parse_quote!(i8))] {
            assert!(is_checked(value, ty));
        }
        for (value, ty) in [(parse_quote!(1e38), parse_quote!(f32)), (parse_quote!(100), parse_quote!(i8))] {
            assert!(!is_checked(value, ty));
        }
    }

    #[test]
    fn code_is_no_default() {
        for value in [parse_quote!(f()), parse_quote!(1 + 1), parse_quote!('c'), parse_quote!((1, 2))] {
            assert!(DefaultValue::of(&value, &parse_quote!(T)).is_err());
        }
    }
}
