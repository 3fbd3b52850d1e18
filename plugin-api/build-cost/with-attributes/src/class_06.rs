//! One of twenty classes. Written by `cargo run -- --write`.

use alcedo_plugin_api::prelude::*;

/// One of twenty classes.
#[uclass(package = "Cost", blueprintable)]
pub struct Class06 {
    /// A number, the 0. of its class.
    #[uproperty(edit_anywhere, default = 0.0)]
    value_0: f64,
    /// A number, the 1. of its class.
    #[uproperty(edit_anywhere, default = 1.0)]
    value_1: f64,
    /// A number, the 2. of its class.
    #[uproperty(edit_anywhere, default = 2.0)]
    value_2: f64,
    /// A number, the 3. of its class.
    #[uproperty(edit_anywhere, default = 3.0)]
    value_3: f64,
    /// A number, the 4. of its class.
    #[uproperty(edit_anywhere, default = 4.0)]
    value_4: f64,
    /// A number, the 5. of its class.
    #[uproperty(edit_anywhere, default = 5.0)]
    value_5: f64,
    /// A number, the 6. of its class.
    #[uproperty(edit_anywhere, default = 6.0)]
    value_6: f64,
    /// A number, the 7. of its class.
    #[uproperty(edit_anywhere, default = 7.0)]
    value_7: f64,
    /// A number, the 8. of its class.
    #[uproperty(edit_anywhere, default = 8.0)]
    value_8: f64,
    /// A number, the 9. of its class.
    #[uproperty(edit_anywhere, default = 9.0)]
    value_9: f64,
    count: u32,
}

#[uclass]
impl Class06 {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { count: 0 }
    }

    /// Sums up to what was asked for, the 0. way.
    #[ufunction(blueprint_callable)]
    fn function_0(&mut self, this: This<Self>, by: f64, times: u32) -> f64 {
        let mut value = this.value_0();
        for step in 0..times {
            value += by * f64::from(step % 1.max(1));
        }
        self.count += times;
        this.set_value_0(value);
        value
    }

    /// Sums up to what was asked for, the 1. way.
    #[ufunction(blueprint_callable)]
    fn function_1(&mut self, this: This<Self>, by: f64, times: u32) -> f64 {
        let mut value = this.value_1();
        for step in 0..times {
            value += by * f64::from(step % 1.max(1));
        }
        self.count += times;
        this.set_value_1(value);
        value
    }

    /// Sums up to what was asked for, the 2. way.
    #[ufunction(blueprint_callable)]
    fn function_2(&mut self, this: This<Self>, by: f64, times: u32) -> f64 {
        let mut value = this.value_2();
        for step in 0..times {
            value += by * f64::from(step % 2.max(1));
        }
        self.count += times;
        this.set_value_2(value);
        value
    }

    /// Sums up to what was asked for, the 3. way.
    #[ufunction(blueprint_callable)]
    fn function_3(&mut self, this: This<Self>, by: f64, times: u32) -> f64 {
        let mut value = this.value_3();
        for step in 0..times {
            value += by * f64::from(step % 3.max(1));
        }
        self.count += times;
        this.set_value_3(value);
        value
    }

    /// Sums up to what was asked for, the 4. way.
    #[ufunction(blueprint_callable)]
    fn function_4(&mut self, this: This<Self>, by: f64, times: u32) -> f64 {
        let mut value = this.value_4();
        for step in 0..times {
            value += by * f64::from(step % 4.max(1));
        }
        self.count += times;
        this.set_value_4(value);
        value
    }

    /// Sums up to what was asked for, the 5. way.
    #[ufunction(blueprint_callable)]
    fn function_5(&mut self, this: This<Self>, by: f64, times: u32) -> f64 {
        let mut value = this.value_5();
        for step in 0..times {
            value += by * f64::from(step % 5.max(1));
        }
        self.count += times;
        this.set_value_5(value);
        value
    }

    /// Sums up to what was asked for, the 6. way.
    #[ufunction(blueprint_callable)]
    fn function_6(&mut self, this: This<Self>, by: f64, times: u32) -> f64 {
        let mut value = this.value_6();
        for step in 0..times {
            value += by * f64::from(step % 6.max(1));
        }
        self.count += times;
        this.set_value_6(value);
        value
    }

    /// Sums up to what was asked for, the 7. way.
    #[ufunction(blueprint_callable)]
    fn function_7(&mut self, this: This<Self>, by: f64, times: u32) -> f64 {
        let mut value = this.value_7();
        for step in 0..times {
            value += by * f64::from(step % 7.max(1));
        }
        self.count += times;
        this.set_value_7(value);
        value
    }

    /// Sums up to what was asked for, the 8. way.
    #[ufunction(blueprint_callable)]
    fn function_8(&mut self, this: This<Self>, by: f64, times: u32) -> f64 {
        let mut value = this.value_8();
        for step in 0..times {
            value += by * f64::from(step % 8.max(1));
        }
        self.count += times;
        this.set_value_8(value);
        value
    }

    /// Sums up to what was asked for, the 9. way.
    #[ufunction(blueprint_callable)]
    fn function_9(&mut self, this: This<Self>, by: f64, times: u32) -> f64 {
        let mut value = this.value_9();
        for step in 0..times {
            value += by * f64::from(step % 9.max(1));
        }
        self.count += times;
        this.set_value_9(value);
        value
    }
}
