//! Executes text commands that a user types into a running host. Each input line produces one output string. Commands use only the public
//! API.

#[cfg(feature = "script")]
mod eval;
mod objects;

use alcedo_base::figures::counted;

use crate::escape::{self, printable};
use crate::runtime::Runtime;
use crate::zcall::Observed;

const COMMANDS: &[(&str, &str)] = &[
    ("help", "this list"),
    ("objects [CLASS]", "lists objects, with name, class and number"),
    ("classes", "lists the classes of the loaded modules"),
    ("show OBJECT", "prints all properties of an object, by its name, path or number"),
    ("get OBJECT PROPERTY", "prints one property"),
    ("set OBJECT PROPERTY VALUE", "writes a property; values have the printed form"),
    ("call OBJECT FUNCTION [ARGUMENT…]", "calls a function; strings with spaces are quoted"),
    ("calls", "counted calls by name, with their times"),
    ("calls on|off", "turns the counting of calls by name on or off"),
    ("calls clear", "clears the counts"),
    ("explain NAME", "resolvers that are called for the name of a call, and the answer of each"),
    ("spawn CLASS", "creates an object"),
    ("destroy OBJECT", "destroys an object"),
    ("eval TEXT", "evaluates script code: `eval Hero'Hero_1'.Health + 1`"),
    ("blacks", "values in host memory that plugins own, by module and type"),
    ("blacks sites on|off", "turns tracking of their allocation sites on or off"),
    ("leases", "leases that keep the code of the modules mapped"),
    ("unloads", "unloads in progress, and their blockers"),
    ("finalizers", "waits at most a second for the finalizer thread, and prints its progress"),
    ("collect", "destroys unreachable objects"),
];

const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

/// Answer to a command. The answer to a failed command is the text of its error.
type Answer<T = String> = Result<T, Box<dyn std::error::Error>>;

impl Runtime {
    /// Executes a command and returns its output. The command `help` lists all commands. If the command fails, the output is the error
    /// message. The output is safe to print to a terminal, because strings of plugins and unknown input are escaped.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// assert_eq!(runtime.console("collect"), "0 objects collected");
    /// // An unknown command returns the list of commands.
    /// assert!(runtime.console("jump").contains("is not a command"));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn console(&self, line: &str) -> String {
        let answer = self.answer(line).unwrap_or_else(|error| error.to_string());
        printable(&answer).into_owned()
    }

    fn answer(&self, line: &str) -> Answer {
        let words: Vec<_> = line.split_whitespace().collect();
        Ok(match words.as_slice() {
            [] | ["help"] => help(),
            ["objects"] => objects::objects(self, None)?,
            ["objects", class] => objects::objects(self, Some(class))?,
            ["classes"] => objects::classes(self),
            ["show", object] => objects::show(self, object)?,
            ["get", object, property] => objects::get(self, object, property)?,
            ["set", object, property, _value, ..] => objects::set(self, object, property, behind(line, 3))?,
            ["call", object, function, ..] => objects::call(self, object, function, behind(line, 3))?,
            ["calls"] => lines("no calls were counted", self.calls().times().iter().map(ToString::to_string)),
            ["calls", state @ ("on" | "off")] => {
                self.calls().observe(Observed { counts: *state == "on", ..self.calls().observed() });
                format!("counting of calls by name is {state}")
            }
            ["calls", "clear"] => {
                self.calls().clear_times();
                "the counts are cleared".to_owned()
            }
            ["explain", name] => self.calls().explain(name)?.to_string(),
            ["spawn", class] => objects::spawn(self, class)?,
            ["destroy", object] => objects::destroy(self, object)?,
            ["eval", ..] => self.eval(behind(line, 1))?,
            ["blacks"] => self.conjugates().owned_values().to_string(),
            ["blacks", "sites", state @ ("on" | "off")] => {
                self.conjugates().keep_sites(*state == "on");
                format!("allocation-site tracking is {state}")
            }
            ["leases"] => lines("no leases", self.unloads().leases().iter().map(ToString::to_string)),
            ["unloads"] => {
                lines("no unloads", self.contexts().unloads().iter().map(|ticket| ticket.report().to_string()))
            }
            ["finalizers"] => self.drain_finalizers(PATIENCE)?.to_string(),
            ["collect"] => format!("{} collected", counted(self.collection().collect()? as u64, "object")),
            [first, ..] => {
                let forms: Vec<_> =
                    COMMANDS.iter().filter(|(form, _)| form.split(' ').next() == Some(*first)).collect();
                match forms.as_slice() {
                    [] => format!("`{}` is not a command; the commands are\n{}", escape::line(line), help()),
                    forms => {
                        format!("`{}` has too few or too many arguments: write\n{}", escape::line(line), table(forms))
                    }
                }
            }
        })
    }

    /// Returns at most twenty completions of a line for [`Runtime::console`]. Each completion is a whole line.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// assert!(runtime.complete("expl").iter().any(|line| line.starts_with("explain")));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn complete(&self, line: &str) -> Vec<String> {
        #[cfg(feature = "script")]
        if let Some(text) = line.trim_start().strip_prefix("eval ") {
            return objects::first(eval::complete(self, text).iter().map(|text| format!("eval {text}")));
        }
        let commands: Vec<_> = COMMANDS.iter().filter_map(|(command, _)| command.split(' ').next()).collect();
        objects::complete(self, line, &commands)
    }

    #[cfg(feature = "script")]
    fn eval(&self, text: &str) -> Answer {
        eval::eval(self, text)
    }

    #[cfg(not(feature = "script"))]
    fn eval(&self, _text: &str) -> Answer {
        Err("this host does not support scripts: enable the feature `script` of alcedo in its Cargo.toml".into())
    }
}

/// Returns the remainder of a line after its first `words` words.
fn behind(line: &str, words: usize) -> &str {
    (0..words)
        .fold(line.trim(), |rest, _| rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start()))
}

fn help() -> String {
    table(&COMMANDS.iter().collect::<Vec<_>>())
}

fn table(commands: &[&(&str, &str)]) -> String {
    let width = commands.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    commands.iter().map(|(command, does)| format!("{command:<width$}  {does}")).collect::<Vec<_>>().join("\n")
}

fn lines(none: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() { none.to_owned() } else { lines.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::COMMANDS;
    use crate::runtime::Runtime;

    fn runtime() -> Runtime {
        Runtime::builder().build().expect("a host without natives")
    }

    #[test]
    fn every_listed_command_works_and_others_return_the_list() {
        let runtime = runtime();
        // Skips commands with uppercase letters, because uppercase words are placeholders for arguments.
        for (command, _) in COMMANDS.iter().filter(|(command, _)| !command.contains(char::is_uppercase)) {
            for line in [command.replace("|off", ""), command.replace("on|", "")] {
                let answer = runtime.console(&line);
                assert!(!answer.is_empty() && !answer.contains("is not a command"), "{line}: {answer}");
            }
        }
        let answer = runtime.console("black sites");
        assert!(answer.starts_with("`black sites` is not a command") && answer.contains("unloads"), "{answer}");
        assert_eq!(runtime.console("  "), runtime.console("help"));
    }

    #[test]
    fn a_command_with_too_few_arguments_returns_its_forms() {
        let runtime = runtime();
        let answer = runtime.console("get Cube_1");
        assert_eq!(
            answer,
            "`get Cube_1` has too few or too many arguments: write\nget OBJECT PROPERTY  prints one property"
        );
        let answer = runtime.console("calls off now");
        assert!(answer.ends_with("clears the counts") && answer.lines().count() == 4, "{answer}");
    }

    #[test]
    fn a_class_is_found_by_name_and_by_path() {
        let runtime = runtime();
        for class in ["Object", "Core.Object", "/Script/Core.Object"] {
            assert_eq!(runtime.console(&format!("objects {class}")), "no objects", "{class}");
        }
        assert!(runtime.console("objects Objekt").contains("class Objekt not found"));
    }

    #[test]
    fn an_answer_holds_nothing_that_a_terminal_obeys() {
        let runtime = runtime();
        let answer = runtime.console("black\u{1b}[2J\nsites");
        assert!(answer.starts_with("`black\\u{1b}[2J\\nsites` is not a command"), "{answer}");
    }

    #[test]
    fn an_idle_host_reports_nothing() {
        let runtime = runtime();
        assert_eq!(runtime.console("leases"), "no leases");
        assert_eq!(runtime.console("unloads"), "no unloads");
        assert_eq!(runtime.console("collect"), "0 objects collected");
        assert!(runtime.console("blacks").starts_with("0 black conjugates · 0 drops wait"));
        runtime.console("blacks sites on");
        assert!(runtime.console("blacks").ends_with("sites on"));
    }

    #[test]
    fn the_unload_of_a_slim_is_listed() {
        let runtime = runtime();
        let reports = runtime.contexts().create_slim("reports").unwrap();
        let _lease = reports.lease("a page is being sent").unwrap();
        let _ticket = reports.begin_unload().unwrap();
        let answer = runtime.console("unloads");
        assert!(answer.contains("reports"), "{answer}");
    }
}
