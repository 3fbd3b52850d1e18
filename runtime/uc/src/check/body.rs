//! Context in which a function body or a single value is checked: the class, the locals, and the enclosing statements.

use super::Checker;
use super::symbols::{At, Named};
use crate::ast::{self, Ident};
use crate::diagnostic::Diagnostic;
use crate::hash::HashMap;
use crate::hir::{Const, Expr, ExprKind, Local, LocalId, Path, Type};
use crate::source::Span;

/// Arguments of a call. An omitted argument is `None`.
pub(super) type Args = [Option<ast::Expr>];

pub(crate) struct Body<'c, 'a> {
    pub(super) checker: &'c Checker<'a>,
    pub(super) file: usize,
    pub(super) class: Path,
    /// Name of the function. Empty outside functions.
    pub(super) function: String,
    pub(super) is_static: bool,
    /// True if the value must be a compile-time constant.
    pub(super) only_constants: bool,
    pub(super) result: Option<Type>,
    /// Types and numbers of locals and parameters. The type is `None` if it has an error.
    pub(super) locals: Named<(Option<Type>, LocalId)>,
    /// Values of the function's constants. The value is `None` if the definition has an error.
    pub(super) consts: Named<Option<Expr>>,
    /// Names of `const` parameters by parameter index.
    pub(super) const_params: HashMap<u32, String>,
    pub(super) made: Vec<Local>,
    pub(super) params: u32,
    /// Number of values that the parameters and locals hold. Each element of a fixed array counts as a value.
    pub(super) values: u64,
    pub(super) loops: u32,
    /// Number of enclosing loops and switches.
    pub(super) breakable: u32,
    /// True if statements were omitted because of errors or unknown types.
    pub(super) is_incomplete: bool,
}

impl<'c, 'a> Body<'c, 'a> {
    pub(super) fn new(checker: &'c Checker<'a>, file: usize, class: &str) -> Self {
        Self {
            checker,
            file,
            class: class.into(),
            function: String::new(),
            is_static: false,
            only_constants: false,
            result: None,
            locals: Named::default(),
            consts: Named::default(),
            const_params: HashMap::default(),
            made: Vec::new(),
            params: 0,
            values: 0,
            loops: 0,
            breakable: 0,
            is_incomplete: false,
        }
    }

    pub(super) fn at(&self, span: Span) -> At {
        (self.file, span)
    }

    pub(super) fn line(&self, span: Span) -> u32 {
        self.checker.line((self.file, span))
    }

    pub(super) fn error(&self, id: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(id, self.at(span), message)
    }

    pub(super) fn report(&self, diagnostic: Diagnostic) -> super::Reported {
        self.checker.report(diagnostic)
    }

    /// Reports an error, and returns `Err`.
    pub(super) fn refuse<T>(&self, id: &'static str, span: Span, message: impl Into<String>) -> super::Found<T> {
        Err(self.report(self.error(id, span, message)))
    }

    /// Reports an error and returns true if the function has already declared a local, parameter or constant of this name.
    fn is_declared(&self, name: &Ident) -> bool {
        let known = self.locals.exact(&name.text).is_some() || self.consts.exact(&name.text).is_some();
        if known {
            let message = format!("a second local variable, parameter or constant `{}`", name.text);
            self.report(self.error("uc-declared-twice", name.span, message));
        }
        known
    }

    pub(super) fn add_const(&mut self, found: &ast::Const) {
        self.checker.check_name(&found.name, self.file);
        if self.is_declared(&found.name) {
            return;
        }
        let consts = std::mem::take(&mut self.consts);
        let body = Body { only_constants: true, consts, ..Body::new(self.checker, self.file, &self.class) };
        let value = body.constant(&found.value, None).ok();
        self.consts = body.consts;
        self.consts.insert(&found.name.text, value);
    }

    /// Returns the expression of an array length. If the expression is the name of a constant of this function, returns the value of the
    /// constant.
    pub(super) fn with_own_const(&self, dim: &ast::Expr) -> ast::Expr {
        let known = match &dim.kind {
            ast::ExprKind::Ident(name) => self.consts.exact(&name.text),
            _ => None,
        };
        match known.and_then(|known| as_const(known.as_ref()?)) {
            Some(Const::Int(number)) => {
                ast::Expr { kind: ast::ExprKind::Int(number.to_string(), u64::try_from(*number).ok()), ..dim.clone() }
            }
            _ => dim.clone(),
        }
    }

    pub(super) fn add_local(&mut self, name: &Ident, ty: Option<Type>) {
        self.checker.check_name(name, self.file);
        if self.is_declared(name) {
            return;
        }
        if let Some(ty) = &ty {
            let at = self.at(name.span);
            let _ = self.checker.add_values(&mut self.values, ty, &self.function, at);
        }
        let id = LocalId(self.params + self.made.len() as u32);
        self.made.push(Local { name: name.text.clone(), ty: ty.clone().unwrap_or(Type::Nothing) });
        self.locals.insert(&name.text, (ty, id));
    }
}

pub(super) fn as_const(value: &Expr) -> Option<&Const> {
    match &value.kind {
        ExprKind::Const(value) => Some(value),
        _ => None,
    }
}
