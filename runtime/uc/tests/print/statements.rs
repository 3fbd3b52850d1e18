//! Prints the statements of a syntax tree in normal form.

use alcedo_uc::ast::{DoEnd, Expr, Stmt, StmtKind};

use super::expressions::expression;
use super::{Printer, type_ref, var_names};

impl Printer {
    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        self.indent += 1;
        for statement in statements {
            self.statement(statement);
        }
        self.indent -= 1;
    }

    fn block(&mut self, head: &str, body: &[Stmt]) {
        self.line(&format!("{head} {{"));
        self.statements(body);
        self.line("}");
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Empty => self.line(";"),
            StmtKind::Expr(value) => self.line(&format!("{};", expression(value))),
            StmtKind::Local(ty, names) => self.line(&format!("local {} {};", type_ref(ty), var_names(names))),
            StmtKind::Block(body) => {
                self.line("{");
                self.statements(body);
                self.line("}");
            }
            StmtKind::If(arms, other) => {
                let mut word = "if";
                for (condition, body) in arms {
                    self.line(&format!("{word} ({}) {{", expression(condition)));
                    self.statements(body);
                    word = "} else if";
                }
                if let Some(other) = other {
                    self.line("} else {");
                    self.statements(other);
                }
                self.line("}");
            }
            StmtKind::While(condition, body) => self.block(&format!("while ({})", expression(condition)), body),
            StmtKind::Do(body, end) => {
                self.line("do {");
                self.statements(body);
                match end {
                    DoEnd::Until(condition) => self.line(&format!("}} until ({});", expression(condition))),
                    DoEnd::While(condition) => self.line(&format!("}} while ({});", expression(condition))),
                }
            }
            StmtKind::For(init, condition, step, body) => {
                let list = |of: &[Expr]| of.iter().map(expression).collect::<Vec<_>>().join(", ");
                let condition = condition.as_deref().map_or(String::new(), expression);
                self.block(&format!("for ({}; {condition}; {})", list(init), list(step)), body);
            }
            StmtKind::ForEach(over, body) => self.block(&format!("foreach {}", expression(over)), body),
            StmtKind::Switch(value, arms) => {
                self.line(&format!("switch ({}) {{", expression(value)));
                self.indent += 1;
                for arm in arms {
                    match &arm.value {
                        Some(value) => self.line(&format!("case {}:", expression(value))),
                        None => self.line("default:"),
                    }
                    self.statements(&arm.body);
                }
                self.indent -= 1;
                self.line("}");
            }
            StmtKind::Break => self.line("break;"),
            StmtKind::Continue => self.line("continue;"),
            StmtKind::Return(None) => self.line("return;"),
            StmtKind::Return(Some(value)) => self.line(&format!("return {};", expression(value))),
            StmtKind::Assert(condition) => self.line(&format!("assert ({});", expression(condition))),
            StmtKind::Goto(label) => {
                let plain = label.text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
                let label =
                    if plain && !label.text.is_empty() { label.text.clone() } else { format!("'{}'", label.text) };
                self.line(&format!("goto {label};"));
            }
            StmtKind::Stop => self.line("stop;"),
            StmtKind::Label(label) => self.line(&format!("{}:", label.text)),
            StmtKind::Directive(text) => self.line(text),
            StmtKind::Const(found) => self.line(&format!("const {} = {};", found.name.text, expression(&found.value))),
        }
    }
}
