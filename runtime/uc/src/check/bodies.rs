//! Checks the function bodies and defaults of a class, after the signatures of all functions are known.

use super::Checker;
use super::body::Body;
use super::declare::Work;
use super::functions::FuncWork;
use super::members::Members;
use crate::diagnostic::Diagnostic;
use crate::hir::{self, ClassFlags, LocalId, Type};

impl<'a> Checker<'a> {
    /// Checks the function bodies and defaults of a class, and builds the checked class.
    pub(super) fn finish_class(&self, work: &Work<'a>, members: Members<'a>) -> hir::Class {
        let head = work.head;
        self.check_class_specifiers(head, work.file);
        let has = |word: &str| head.modifiers.iter().any(|modifier| modifier.name.is(word));
        let mut bound = head.modifiers.iter().filter(|modifier| modifier.name.is("dllbind"));
        let dll_bind = bound.next().and_then(|modifier| {
            let library = modifier.argument.clone().unwrap_or_default();
            let is_name = !library.is_empty() && library.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
            if !is_name {
                let message = format!("`{library}` is not a library name");
                let error = Diagnostic::error("uc-dll-bind", (work.file, modifier.name.span), message);
                self.report(error.hint("write `DLLBind(Name)`, without folder and ending"));
            }
            is_name.then_some(library)
        });
        bound.for_each(|other| {
            let message = format!("`{}` is bound to a library already", head.name.text);
            let error = Diagnostic::error("uc-dll-bind", (work.file, other.name.span), message);
            self.report(error.hint("keep one `DLLBind(Name)`: a class is bound to one library"));
        });
        let flags = ClassFlags { is_abstract: has("abstract"), is_final: has("final") || has("dllbind") };
        let interfaces = self.class(&work.path).map(|class| class.interfaces.clone()).unwrap_or_default();
        self.check_interfaces(work, &interfaces);
        self.inherited_subobjects(work);
        let functions = members.functions.into_iter().map(|made| self.finish_function(work, &made)).collect();
        let consts = self.consts_of(work);
        let (subobjects, defaults) = self.defaults_of(work);
        hir::Class {
            path: work.path.clone(),
            name: head.name.text.clone(),
            base: work.base.clone().unwrap_or_else(|| "".into()),
            flags,
            dll_bind,
            interfaces,
            file: work.file as u32,
            properties: members.properties,
            consts,
            functions,
            subobjects,
            defaults,
            doc: head.doc.clone(),
        }
    }

    fn finish_function(&self, work: &Work<'a>, made: &FuncWork<'a>) -> hir::Function {
        let symbol = &made.symbol;
        let mut body = Body::new(self, work.file, &work.path);
        body.function = made.ast.name.text.clone();
        body.is_static = symbol.is_static;
        body.result.clone_from(&symbol.result);
        let mut params = symbol.params.clone();
        for (at, (param, written)) in symbol.params.iter().zip(&made.ast.params).enumerate() {
            body.locals.insert(&param.name, (param.ty.known().cloned(), LocalId(at as u32)));
            if param.is_const {
                body.const_params.insert(at as u32, param.name.clone());
            }
            let at = (work.file, written.name.name.span);
            if let Some(ty) = param.ty.known() {
                let _ = self.add_values(&mut body.values, ty, &made.ast.name.text, at);
            }
        }
        body.params = params.len() as u32;
        for (param, written) in params.iter_mut().zip(&made.ast.params) {
            if let Some(default) = written.default.as_ref().filter(|_| param.ty != Type::Nothing) {
                let found = body.value_as(default, &param.ty).ok();
                param.default = match made.flags.dll_import {
                    true => found.and_then(|found| self.imported_default(found, (work.file, default.span))),
                    false => found,
                };
            }
        }
        let before = self.messages.borrow().len();
        let written = made.ast.body.take();
        let has_body = written.is_some();
        // A function that ends with a semicolon has an empty body.
        let empty = || (!made.flags.dll_import).then(Vec::new);
        let statements = written.as_ref().map(|statements| body.block(statements)).or_else(empty);
        drop(written);
        let at = (work.file, made.ast.name.span);
        // Does not report a missing `return` if the body contains an error, because the checker then omits statements.
        let (start, end) = (made.ast.span.start, made.ast.end.end);
        let syntax_errors =
            self.syntax_errors.get(&work.file).is_some_and(|at| at.iter().any(|at| (start..end).contains(at)));
        let has_errors = || self.messages.borrow()[before..].iter().any(Diagnostic::is_error);
        let whole = has_body && !body.is_incomplete && !syntax_errors && !has_errors();
        let has_result = symbol.result.as_ref().and_then(Type::known).is_some();
        if whole && has_result && !statements.as_ref().is_some_and(|body| super::statements::returns(body)) {
            let message = format!("`{}` may end without a result: it returns the zero value then", made.ast.name.text);
            self.report(Diagnostic::error("uc-no-return", at, message).warning());
        }
        hir::Function {
            name: symbol.name.clone(),
            flags: made.flags,
            access: symbol.access,
            params,
            result: symbol.result.clone(),
            overrides: (symbol.first != symbol.path).then(|| symbol.first.clone()),
            locals: body.made,
            body: statements,
            doc: made.ast.doc.clone(),
            line: self.line(at),
            end_line: self.line((work.file, made.ast.end)),
        }
    }
}
