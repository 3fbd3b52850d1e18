//! Console command `eval`: runs an expression or statements of the script language as a function of a temporary class. The command declares
//! the class, runs the function of the class once, and removes the class. Effects on the world persist.

use std::collections::BTreeSet;
use std::rc::Rc;

use alcedo_uc::{Diagnostic, Parsed, Severity, Source, Span};

use super::Answer;
use super::objects::functions;
use crate::emit::scripts::{CheckedSources, ROOT, check_sources, declare_library, options};
use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::object::class::Class;
use crate::object::construction::{ConstructionArgs, construct, destroy, make_cdo};
use crate::object::value::Value;
use crate::runtime::Runtime;
use crate::script::declare::batch;
use crate::script::package::rendered;

const PACKAGE: &str = "__eval__";
/// Name of the temporary class. Only one such class exists at a time.
const CLASS: &str = "Evaluated";
const FUNCTION: &str = "Evaluate";

/// Evaluates an expression and returns its value, or runs statements and returns the string that they return.
pub(super) fn eval(runtime: &Runtime, text: &str) -> Answer {
    drop(runtime.at_safe_point("evaluating").map_err(not_now)?);
    let types = &runtime.core().world.types;
    types.declare_package(PACKAGE);
    for class in declare_library(&runtime.core().world)? {
        let core = runtime.core();
        make_cdo(&core.world, &core.plugins(), &class)?;
    }
    let (is_value, checked) = read(text, |sources, written| {
        check_sources(types, PACKAGE, sources, Parsed::of(sources), &std::collections::HashMap::new())
            .map_err(|found| errors_of(found, written))
    })?;
    let value = run(runtime, checked)?;
    Ok(match value {
        Some(Value::Text(text)) if is_value || !text.is_empty() => text,
        _ => "done".to_owned(),
    })
}

fn not_now(error: Error) -> String {
    match error {
        Error::NotASafePoint { frame, .. } => format!("`{frame}` has not returned: evaluate between two ticks"),
        error => error.to_string(),
    }
}

/// Parses the string as an expression. If the string is not a valid expression, parses the string as statements. If both fail, reports the
/// errors of the statements if the input ends with `;` or `}`, and the errors of the expression otherwise.
fn read(
    text: &str,
    check: impl Fn(&[Source], Written<'_>) -> Result<CheckedSources, String>,
) -> Result<(bool, CheckedSources), String> {
    let text = text.trim();
    let looks_like_statements = text.ends_with([';', '}']);
    let checked = |before: &str, text: &str, behind: &str| {
        let head = format!("class {CLASS} extends Core.Object;\nfunction string {FUNCTION}()\n{{\n{before}");
        let source = Source::new("eval", format!("{head}{text}{behind}\n}}\n"));
        check(&[source], Written { text, at: head.len() })
    };
    // The input may end with a line comment.
    let as_value = checked("return \"\" $ (", text.trim_end_matches(';'), "\n);");
    let wrong = match as_value {
        Ok(checked) => return Ok((true, checked)),
        Err(wrong) => wrong,
    };
    match checked("", text, "\n;\nreturn \"\";") {
        Ok(checked) => Ok((false, checked)),
        Err(of_statements) => Err(if looks_like_statements { of_statements } else { wrong }),
    }
}

/// User input, with its offset in the generated source.
#[derive(Clone, Copy)]
struct Written<'a> {
    text: &'a str,
    at: usize,
}

impl Written<'_> {
    /// Converts a span in the generated source to a span in the input. Truncates the span at the bounds of the input.
    fn input_span(&self, span: Span) -> Span {
        let clamped = |at: u32| (at as usize).saturating_sub(self.at).min(self.text.len());
        Span::new(clamped(span.start), clamped(span.end))
    }
}

/// Formats errors with spans in the user input, and omits warnings. Truncates spans at the bounds of the input.
fn errors_of(found: Vec<Diagnostic>, written: Written<'_>) -> String {
    let errors = found.into_iter().filter(|found| found.severity == Severity::Error);
    let translated = errors.map(|found| Diagnostic {
        span: written.input_span(found.span),
        other: found.other.map(|(file, span, label)| (file, written.input_span(span), label)),
        ..found
    });
    rendered(&translated.collect::<Vec<_>>(), &[Source::new("eval", written.text)])
}

/// Declares the temporary class, calls its function on a new object, and removes the object and the class.
fn run(runtime: &Runtime, mut checked: CheckedSources) -> Answer<Option<Value>> {
    let core = runtime.core();
    let (types, names) = (&core.world.types, &core.world.names);
    let code = alcedo_script::compile(&mut checked.package).map_err(|errors| listed(&errors))?;
    let (batch, bodies) = batch(&checked.package, 0);
    let declared = types.declare(names, &batch)?;
    let _gone = Gone { runtime, classes: declared.classes.clone() };
    let compiled = core.machine().load(&core.world, code).map_err(|errors| listed(&errors))?;
    bodies.fill(|path| compiled.thunk(path));
    let Some(class) = declared.classes.first() else { return Ok(None) };
    let object = construct(&core.world, &core.plugins(), class, ConstructionArgs::default())?;
    // Opens a red frame, so that no safe point runs during the called code. The call itself opens no red frame, because the function has no
    // module.
    Ok(core.red.enter("", &"eval".into(), || runtime.objects().call(object, FUNCTION, &[]))?)
}

fn listed(errors: &[alcedo_script::CompileError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Guard of temporary classes. Dropping the guard runs the hooks of the host for all objects of the classes, destroys the objects, and then
/// removes the classes.
struct Gone<'a> {
    runtime: &'a Runtime,
    classes: Vec<Rc<Class>>,
}

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        let core = self.runtime.core();
        let is_theirs = |object: &ObjectHandle| {
            core.world.objects.class(*object).is_some_and(|class| self.classes.iter().any(|own| own.id == class.id))
        };
        let theirs = || core.world.objects.alive().into_iter().filter(is_theirs);
        for object in theirs() {
            // Ignores the error for a class default object, and for an object that a hook has destroyed.
            let _refused = core.end_object(object);
        }
        // Destroys the class default objects, and objects that the hooks have created.
        for object in theirs() {
            destroy(&core.world, &core.plugins(), object);
        }
        core.world.types.begin_shadow();
        core.world.types.hide_in_shadow(self.classes.iter().map(|class| &*class.path));
        core.world.types.commit_shadow();
        self.classes.iter().for_each(|class| core.world.types.forget(class.id));
    }
}

/// Returns completions of the last word in the input.
pub(super) fn complete(runtime: &Runtime, text: &str) -> Vec<String> {
    let begun = last_word(text);
    let head = &text[..text.len() - begun.len()];
    let types = &runtime.core().world.types;
    let class_called = |name: &str| types.classes().into_iter().find(|class| class.name.eq_ignore_ascii_case(name));
    let known = || alcedo_uc::complete(text, ROOT, types, &options());
    let names: Vec<String> = match expected_at(head) {
        Expected::Object(class) => {
            let class = class_called(class);
            let is_one = |object: &ObjectHandle| {
                let of = runtime.core().world.objects.class(*object);
                class.as_ref().is_none_or(|class| of.is_some_and(|of| of.is_a(class)))
            };
            let objects = runtime.objects().iter().filter(is_one);
            objects.filter_map(|object| runtime.objects().name_of(object)).collect()
        }
        Expected::MemberOf(class) => class_called(class).map(|class| members(&class)).unwrap_or_default(),
        Expected::Member => {
            let known = known();
            // If the type of the expression is unknown, offers the members of all classes.
            if known.is_empty() { types.classes().iter().flat_map(members).collect() } else { known }
        }
        Expected::Word => {
            known().into_iter().chain(types.classes().iter().map(|class| class.name.to_string())).collect()
        }
    };
    let small = begun.to_ascii_lowercase();
    let fits = |name: &&String| name.to_ascii_lowercase().starts_with(&small);
    let names: BTreeSet<_> = names.iter().filter(fits).collect();
    names.into_iter().map(|name| format!("{head}{name}")).collect()
}

fn members(class: &Rc<Class>) -> Vec<String> {
    class.properties.iter().map(|property| property.text.to_string()).chain(functions(class)).collect()
}

/// Kind of completion that an input expects.
#[derive(PartialEq, Eq, Debug)]
enum Expected<'a> {
    /// Name of an object of this class, for an input such as `Hero'`.
    Object(&'a str),
    /// Member of an object of this class, for an input such as `Hero'Hero_1'.`.
    MemberOf(&'a str),
    /// Member of an expression.
    Member,
    /// Start of an expression or statement.
    Word,
}

fn last_word(text: &str) -> &str {
    &text[text.trim_end_matches(|letter: char| letter.is_alphanumeric() || letter == '_').len()..]
}

fn expected_at(head: &str) -> Expected<'_> {
    let inside = head.matches('\'').count() % 2 == 1;
    if inside {
        let before = head.rsplit_once('\'').map_or("", |(before, _)| before);
        return Expected::Object(last_word(before));
    }
    let Some(before) = head.strip_suffix('.') else { return Expected::Word };
    let Some((before, _name)) = before.strip_suffix('\'').and_then(|inside| inside.rsplit_once('\'')) else {
        return Expected::Member;
    };
    Expected::MemberOf(last_word(before))
}

#[cfg(test)]
mod tests {
    use super::{Expected, expected_at};

    #[test]
    fn the_expected_type_follows_from_the_preceding_code() {
        for (head, expected) in [
            ("", Expected::Word),
            ("1 + ", Expected::Word),
            ("Hero'", Expected::Object("Hero")),
            ("x = Hero'", Expected::Object("Hero")),
            ("Hero'Hero_1'.", Expected::MemberOf("Hero")),
            ("f(Hero'Hero_1'.", Expected::MemberOf("Hero")),
            ("h.", Expected::Member),
        ] {
            assert_eq!(expected_at(head), expected, "{head}");
        }
    }
}
