//! Values whose type is unknown at compile time. Host and plugin pass these values by number.

use alcedo_plugin_api::ObjectView;
use alcedo_plugin_api::prelude::*;

/// Receives and passes values whose types are unknown when the plugin is compiled.
#[uclass(package = "Game")]
pub struct Fence {
    /// Owned property.
    #[uproperty]
    goods: UArray<f64>,

    /// Borrowed value, and a copy of the value.
    borrowed: Option<AnyConjugate>,
    copy: Option<AnyConjugate>,
}

#[uclass]
impl Fence {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { borrowed: None, copy: None }
    }

    /// Borrows a value from the host by number. Inspects the value, and stores it together with a copy.
    #[ufunction]
    fn borrow(&mut self, this: This<Self>) -> String {
        let number: u64 = this.zcall("ex:/lend", (this.as_base().as_obj(),)).expect("the host passes a value");
        let borrowed = AnyConjugate::from_number(number);
        let text = describe(&this, &borrowed);
        borrowed.as_::<UArray<f64>>(&this).expect("an array").push(8.0);
        let other = borrowed.as_::<UArray<f32>>(&this).expect_err("the element types differ");
        let (is_other, found, expected) = (other.kind() == FailureKind::SIGNATURE, other.held(), other.expected());
        let text = format!("{text}; {is_other} {found} is no {expected}; {}", this.goods());
        self.copy = Some(borrowed.clone());
        self.borrowed = Some(borrowed);
        text
    }

    /// Passes an owned string to the host, together with the number of the string. Returns the result.
    #[ufunction]
    fn send(&self, this: This<Self>) -> String {
        let letter = UString::from("early");
        let number = AnyConjugate::of(&letter).number();
        this.zcall("post:/letter", (letter, number)).expect("the host answers")
    }

    /// Returns the states of the borrowed value and of its copy.
    #[ufunction]
    fn describe(&self, this: This<Self>) -> String {
        let text =
            |any: &Option<AnyConjugate>| any.as_ref().map_or_else(|| "nothing".to_owned(), |any| describe(&this, any));
        format!("{}; {}", text(&self.borrowed), text(&self.copy))
    }

    /// Returns the errors of attempts to use an expired value: open, clone, pass and inspect.
    #[ufunction]
    fn misuse(&self, this: This<Self>) -> String {
        let borrowed = self.borrowed.as_ref().expect("`borrow` was called before");
        let opened = borrowed.as_::<UArray<f64>>(&this).expect_err("the value has expired");
        let cloned = borrowed.try_clone().expect_err("the value has expired");
        let passed = this.zcall_any::<_, f64>("ex:/sum", (borrowed,)).expect_err("the value has expired");
        let inspected = borrowed.type_text().expect_err("the value has expired");
        let kinds = [&opened, &cloned, &passed, &inspected].map(|error| error.kind() == FailureKind::EXPIRED);
        let is_aged = opened.expected().ends_with('s') && borrowed.age().is_some_and(|age| !age.is_zero());
        format!("{kinds:?} {} {is_aged}", opened.held())
    }

    /// Passes conjugates to host functions, and stores the owned result.
    #[ufunction]
    fn trade(&mut self, this: This<Self>) -> String {
        let copy = self.copy.as_ref().expect("`borrow` was called before");
        let sum: f64 = this.zcall_any("ex:/sum", (copy,)).expect("an array");
        let own: f64 =
            this.zcall_any("ex:/sum", (this.goods().to_conjugate().expect("a property"),)).expect("an array");
        let scaled: AnyConjugate = this.zcall_any("ex:/scale", (copy, 2.0)).expect("an array");
        let summary =
            format!("{sum} {own} {} {}", scaled.is_black(), scaled.as_::<UArray<f64>>(&this).expect("an array"));
        let text = UString::from("no array");
        let refused = [
            this.zcall_any::<_, f64>("ex:/sum", (AnyConjugate::of(&text),)).expect_err("a text"),
            this.zcall_any::<_, AnyConjugate>("ex:/sum", (copy,)).expect_err("a number result"),
            this.zcall_any::<_, f64>("ex:/scale", (copy, 2.0)).expect_err("an array result"),
            this.zcall_any::<_, ()>("ex:/scale", (copy, 2.0)).expect_err("an array result"),
            this.zcall_any::<_, AnyConjugate>("ex:/find", (this.as_base().as_obj(),)).expect_err("an object result"),
            AnyConjugate::of(&text).as_::<UString>(&this).expect_err("the string owns the value"),
            this.open(&text).to_conjugate().expect_err("the value is not a property"),
        ];
        self.copy = Some(scaled);
        let refused: Vec<_> = refused.iter().map(ToString::to_string).collect();
        format!("{summary}\n{}", refused.join("\n"))
    }

    /// Drops the borrowed value and its copy on another thread.
    #[ufunction]
    fn let_go(&mut self) {
        let (borrowed, copy) = (self.borrowed.take(), self.copy.take());
        std::thread::spawn(move || drop((borrowed, copy))).join().expect("dropping does not panic");
    }
}

/// Formats the state of a value of unknown type.
fn describe(this: &ObjectView<'_>, any: &AnyConjugate) -> String {
    let kind = any.kind().and_then(PropertyKind::text).unwrap_or("?");
    let color = if any.is_black() { "black" } else { "red" };
    let value = match any.as_::<UArray<f64>>(this) {
        Ok(view) => format!("{} {view}", any.type_text().expect("alive")),
        Err(_) => "gone".to_owned(),
    };
    format!("{color} {kind} {} {value}", any.is_expired())
}
