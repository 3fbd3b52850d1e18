//! Tests that no safe function of a product crate dereferences an address that its caller passes. In an unsafe block, a safe function may
//! use neither a raw pointer parameter nor a pointer derived from such a parameter. Pointer types that only unsafe code can create are
//! exempt.

use std::collections::BTreeSet;
use std::path::Path;

use syn::visit::{self, Visit};

use crate::floors::source_files;
use crate::module_graph::{CRATES, is_left_out, is_test};

/// Collects the names that a pattern binds, or that an expression mentions.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl<'ast> Visit<'ast> for Names {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.0.insert(pattern.ident.to_string());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.extend(path.get_ident().map(ToString::to_string));
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.0.extend(mac.tokens.to_string().split_whitespace().map(str::to_owned));
    }
}

/// Searches a type for a pointer. Skips the parameters of function types.
#[derive(Default)]
struct HasPointer(bool);

impl<'ast> Visit<'ast> for HasPointer {
    fn visit_type_ptr(&mut self, _: &'ast syn::TypePtr) {
        self.0 = true;
    }

    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        self.0 |= segment.ident == "NonNull";
        visit::visit_path_segment(self, segment);
    }

    fn visit_type_bare_fn(&mut self, _: &'ast syn::TypeBareFn) {}

    fn visit_parenthesized_generic_arguments(&mut self, _: &'ast syn::ParenthesizedGenericArguments) {}
}

/// Collects the uses of pointers in the body of a function.
#[derive(Default)]
struct Body {
    pointers: BTreeSet<String>,
    is_unsafe: bool,
    found: BTreeSet<String>,
}

impl Body {
    /// Adds the names that a pattern binds, if the value that is bound derives from a pointer.
    fn bind(&mut self, pattern: &syn::Pat, from: &syn::Expr) {
        let (mut names, mut made) = (Names::default(), Names::default());
        names.visit_expr(from);
        if !names.0.is_disjoint(&self.pointers) {
            made.visit_pat(pattern);
            self.pointers.extend(made.0);
        }
    }
}

impl<'ast> Visit<'ast> for Body {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        if let Some(init) = &local.init {
            self.bind(&local.pat, &init.expr);
        }
    }

    fn visit_expr_let(&mut self, found: &'ast syn::ExprLet) {
        visit::visit_expr_let(self, found);
        self.bind(&found.pat, &found.expr);
    }

    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        let outer = std::mem::replace(&mut self.is_unsafe, true);
        visit::visit_expr_unsafe(self, block);
        self.is_unsafe = outer;
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if ["write", "write_volatile", "push"].iter().any(|stores| call.method == stores) {
            // An address that code only stores, directly or in a field, is not dereferenced.
            let is_stored = |argument: &&syn::Expr| matches!(argument, syn::Expr::Path(_) | syn::Expr::Struct(_));
            self.visit_expr(&call.receiver);
            call.args.iter().filter(|argument| !is_stored(argument)).for_each(|argument| self.visit_expr(argument));
        } else {
            visit::visit_expr_method_call(self, call);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(name) = path.get_ident().map(ToString::to_string)
            && self.is_unsafe
            && self.pointers.contains(&name)
        {
            self.found.insert(name);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let mut names = Names::default();
        names.visit_macro(mac);
        let names_unsafe = self.is_unsafe || names.0.contains("unsafe");
        self.found.extend(names.0.into_iter().filter(|name| names_unsafe && self.pointers.contains(name)));
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

#[derive(Default)]
struct Finder {
    found: Vec<String>,
}

impl Finder {
    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let mut body = Body::default();
        for input in &signature.inputs {
            let syn::FnArg::Typed(input) = input else { continue };
            let mut ty = HasPointer::default();
            ty.visit_type(&input.ty);
            if ty.0 {
                let mut names = Names::default();
                names.visit_pat(&input.pat);
                body.pointers.extend(names.0);
            }
        }
        if signature.unsafety.is_none() && !body.pointers.is_empty() {
            body.visit_block(block);
            self.found.extend(body.found.iter().map(|name| format!("{}({name})", signature.ident)));
        }
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

fn followers(source: &str) -> Vec<String> {
    let mut finder = Finder::default();
    finder.visit_file(&syn::parse_file(source).expect("it is Rust"));
    finder.found
}

#[test]
fn no_safe_function_dereferences_a_raw_pointer_argument() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut wrong = Vec::new();
    for (path, source) in source_files(&workspace, CRATES.iter().copied()) {
        // Only unsafe code dereferences a raw pointer. Parsing takes long, so files without unsafe code are not parsed.
        let is_safe = !source.contains("unsafe");
        if is_safe || Path::new(&path).with_extension("").iter().any(|name| is_left_out(&name.to_string_lossy())) {
            continue;
        }
        wrong.extend(followers(&source).into_iter().map(|name| format!("{path}: {name}")));
    }
    wrong.sort();
    assert!(wrong.is_empty(), "these follow an address on the word of their caller:\n{}", wrong.join("\n"));
}

#[test]
fn uses_of_pointers_are_found_also_by_other_names() {
    let cases = [
        ("fn f(p: *const u8) -> u8 { unsafe { *p } }", true),
        ("fn f(p: NonNull<u8>) -> u8 { let q = p.cast::<u8>(); unsafe { q.read() } }", true),
        ("impl A { fn f(&self, p: *mut u8) { unsafe { core::ptr::copy(p, self.0, 1) } } }", true),
        ("fn f(p: &[*const u8]) -> usize { each!(p => unsafe { p.read() }) }", true),
        ("fn f(p: *mut u8, q: *mut *mut u8) { unsafe { q.write(p) } }", true),
        ("impl A { fn f(&self, p: *mut u8) { unsafe { self.0.write(p.read()) } } }", true),
        ("fn f(p: *mut u8) { if let Some(q) = NonNull::new(p) { unsafe { q.read() }; } }", true),
        ("impl A { fn f(&self, p: *mut u8) { unsafe { self.0.write(p) } } }", false),
        ("unsafe fn f(p: *const u8) -> u8 { unsafe { *p } }", false),
        ("fn f(p: *const u8) -> usize { p.addr() }", false),
        ("fn f(p: fn(*const u8)) { unsafe { g(p) } }", false),
        ("fn f(p: Ptr<'_, u8>) -> u8 { unsafe { p.at().read() } }", false),
    ];
    for (source, is_found) in cases {
        assert_eq!(!followers(source).is_empty(), is_found, "{source}");
    }
}
