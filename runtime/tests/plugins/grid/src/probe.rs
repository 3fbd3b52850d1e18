//! Calls functions by name: functions of the host, of this module and of other modules.

use alcedo_plugin_api::ZFunction;
use alcedo_plugin_api::prelude::*;

use crate::{Desk, KEPT, Point, Rack, Suit, format_result};

/// Calls functions, properties and delegates by name.
#[uclass(package = "Game", base = Rack, blueprintable)]
#[derive(Default)]
pub struct Probe {}

#[uclass]
impl Probe {
    /// Calls the function `name` with arguments of the kind `sort`. Returns the result or the error.
    #[ufunction]
    fn query(&mut self, this: This<Self>, name: String, sort: String) -> String {
        // Lends the fields, because the call may reach an override of this object.
        this.lend(self, |this| match &*sort {
            "numbers" => format_result(this.zcall::<_, f64>(&name, (1_u8, -2_i16, 3_u32, 0.5_f32, 0.25_f64, true))),
            "object" => {
                let own = this.as_obj().handle();
                let same = this.zcall::<_, Obj<Object>>(&name, (this.as_obj().as_object(),));
                format_result(same.map(|object| object.handle() == own))
            }
            "enum" => format_result(this.zcall::<_, Suit>(&name, (Suit::Hearts,))),
            "struct" => format_result(this.zcall::<_, Point>(&name, (Point { x: 1.0, y: 2.0 },))),
            "string" => format_result(this.zcall::<_, String>(&name, ("a".to_owned(),))),
            "array" => format_result(this.zcall::<_, Vec<i64>>(&name, (vec![1_i64, 2, 3],))),
            "out" => {
                let mut rest = 5_u32;
                let each = this.zcall::<_, u32>(&name, (17_u32, Out::to(&mut rest)));
                format_result(each.map(|each| (each, rest)))
            }
            "fine" => format_result(this.zcall::<_, i32>(&name, (1_i32,))),
            "negative" => format_result(this.zcall::<_, i32>(&name, (-1_i32,))),
            "gone" => {
                let called = this.spawn::<Self>(Obj::none()).and_then(|gone| {
                    let gone = this.get(gone)?;
                    gone.destroy()?;
                    if name.starts_with("up") {
                        gone.read_property::<i64>(&name).map(|_| 0)
                    } else {
                        gone.zcall(&name, (1_i32,))
                    }
                });
                format_result::<i32>(called)
            }
            "wrong signature" => format_result(this.zcall::<_, i32>(&name, (1.0_f64, 2.0_f64, 3.0_f64))),
            "wrong slot" => format_result(this.zcall_any::<_, i32>(&name, (1.0_f64,))),
            other => format!("no sort {other}"),
        })
    }

    /// Reads the property `name` of the kind `sort`, writes it, and reads it again. Returns both values that were read.
    #[ufunction]
    fn exchange(&self, this: This<Self>, name: String, sort: String) -> String {
        fn turn<T: alcedo_plugin_api::Value + std::fmt::Debug>(
            this: This<Probe>,
            name: &str,
            new: T,
        ) -> Result<String, CallError> {
            let before = this.read_property::<T>(name)?;
            this.write_property(name, &new)?;
            Ok(format!("{before:?} then {:?}", this.read_property::<T>(name)?))
        }
        let done = match &*sort {
            "numbers" => turn(this, &name, 6_i64),
            "object" => {
                let own = this.as_obj().as_object();
                let before = this.read_property::<Obj<Object>>(&name).map(|object| object.handle().is_none());
                let written = this.write_property(&name, &own);
                let after = this.read_property::<Obj<Object>>(&name).map(|object| object == own);
                written.and(before.and_then(|before| Ok(format!("{before} then {}", after?))))
            }
            "enum" => turn(this, &name, Suit::Spades),
            "struct" => turn(this, &name, Point { x: 1.0, y: 2.0 }),
            "string" => turn(this, &name, "new".to_owned()),
            "array" => turn(this, &name, vec![1_i64, 2]),
            "wrong slot" => this.read_property::<f32>(&name).map(|found| found.to_string()),
            other => Ok(format!("no sort {other}")),
        };
        done.unwrap_or_else(|error| format_result::<()>(Err(error)))
    }

    /// Calls a delegate of this object, first by its type and then by the name that all delegates share.
    #[ufunction]
    fn pass(&mut self, this: This<Self>, sort: String) -> String {
        this.lend(self, |this| match &*sort {
            "numbers" => {
                let typed = this.on_numbers().call((1, -2, 3, 0.5, 0.25, true));
                let bound = this.on_numbers().to_owned();
                let on = AnyConjugate::of(&bound);
                let named = this.zcall_any("nd:/", (on, 1_u8, -2_i16, 3_u32, 0.5_f32, 0.25_f64, true));
                format!("{} {}", format_result(typed), format_result::<f64>(named))
            }
            "object" => {
                let own = this.as_obj().as_object();
                let typed = this.on_object().call((own,));
                let bound = this.on_object().to_owned();
                let on = AnyConjugate::of(&bound);
                let named = this.zcall_any::<_, Obj<Object>>("nd:/", (on, own));
                format!(
                    "{} {}",
                    format_result(typed.map(|object| object == own)),
                    format_result(named.map(|object| object == own))
                )
            }
            "enum" => format_result(this.on_suit().call((Suit::Hearts,))),
            "struct" => format_result(this.on_point().call((Point { x: 1.0, y: 2.0 },))),
            "string" => {
                let typed = this.on_text().call(("a".to_owned(),));
                let bound = this.on_text().to_owned();
                let on = AnyConjugate::of(&bound);
                let text = UString::from("b");
                let named = this.zcall_any::<_, AnyConjugate>("nd:/", (on, AnyConjugate::of(&text)));
                let named = named.and_then(|returned| Ok(returned.as_::<UString>(&this)?.to_string()));
                format!("{} {}", format_result(typed), format_result(named))
            }
            "array" => {
                let numbers = UArray::of([1_i64, 2, 3]).expect("a host");
                let typed = this.on_list().call((numbers.clone(),)).map(|list| list.to_string());
                let bound = this.on_list().to_owned();
                let on = AnyConjugate::of(&bound);
                let named = this.zcall_any::<_, AnyConjugate>("nd:/", (on, AnyConjugate::of(&numbers)));
                let named = named.and_then(|returned| Ok(returned.as_::<UArray<i64>>(&this)?.to_string()));
                format!("{} {}", format_result(typed), format_result(named))
            }
            "fine" => format_result(this.on_number().call((1,))),
            "negative" => format_result(this.on_number().call((-1,))),
            "wrong slot" => {
                let bound = this.on_number().to_owned();
                let on = AnyConjugate::of(&bound);
                format_result(this.zcall_any::<_, i32>("nd:/", (on, 1.0_f64)))
            }
            other => format!("no sort {other}"),
        })
    }

    /// Passes numbers in place of object handles and value handles.
    #[ufunction]
    fn forge(&self, this: This<Self>, name: String, number: u64) -> String {
        format_result(match &*name {
            "nd:/" => this.zcall_any::<_, i32>(&name, (number, 1_i32)),
            name if name.starts_with("up") => this.zcall_any::<_, i64>(name, (number, 0_u8)).map(|_| 0),
            name => this.zcall_any::<_, Obj<Object>>(name, (number,)).map(|_| 0),
        })
    }

    /// Calls `name` on a new thread.
    #[ufunction]
    fn query_on_thread(&self, name: String) -> String {
        let called = std::thread::spawn(move || format_result(zcall::<_, i32>(&name, (1_i32,)))).join();
        called.unwrap_or_else(|_| "a panic".to_owned())
    }

    /// Looks up a function and stores its handle.
    #[ufunction]
    fn keep(&self, name: String) -> String {
        format_result(ZFunction::find(&name).map(|found| KEPT.with_borrow_mut(|kept| kept.push(found))))
    }

    /// Calls the functions whose handles are stored.
    #[ufunction]
    fn call_kept(&self) -> String {
        KEPT.with_borrow(|kept| kept.iter().map(|kept| format_result(kept.call((1, 2)))).collect::<Vec<_>>().join("; "))
    }
}

/// Subclass that overrides `greet`.
#[uclass(package = "Game", base = Probe, blueprintable)]
#[derive(Default)]
pub struct LoudProbe {}

#[uclass]
impl LoudProbe {
    #[overrides(Desk)]
    fn greet(&mut self, text: String) -> String {
        format!("{text}, says the probe")
    }
}
