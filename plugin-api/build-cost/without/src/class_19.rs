//! One of twenty classes. Written by `cargo run -- --write`.

/// One of twenty classes.
#[derive(Debug, Default)]
pub struct Class19 {
    /// A number, the 0. of its class.
    value_0: f64,
    /// A number, the 1. of its class.
    value_1: f64,
    /// A number, the 2. of its class.
    value_2: f64,
    /// A number, the 3. of its class.
    value_3: f64,
    /// A number, the 4. of its class.
    value_4: f64,
    /// A number, the 5. of its class.
    value_5: f64,
    /// A number, the 6. of its class.
    value_6: f64,
    /// A number, the 7. of its class.
    value_7: f64,
    /// A number, the 8. of its class.
    value_8: f64,
    /// A number, the 9. of its class.
    value_9: f64,
    count: u32,
}

impl Class19 {
    /// Sums up to what was asked for, the 0. way.
    pub fn function_0(&mut self, by: f64, times: u32) -> f64 {
        let mut value = self.value_0;
        for step in 0..times {
            value += by * f64::from(step % 1.max(1));
        }
        self.count += times;
        self.value_0 = value;
        value
    }

    /// Sums up to what was asked for, the 1. way.
    pub fn function_1(&mut self, by: f64, times: u32) -> f64 {
        let mut value = self.value_1;
        for step in 0..times {
            value += by * f64::from(step % 1.max(1));
        }
        self.count += times;
        self.value_1 = value;
        value
    }

    /// Sums up to what was asked for, the 2. way.
    pub fn function_2(&mut self, by: f64, times: u32) -> f64 {
        let mut value = self.value_2;
        for step in 0..times {
            value += by * f64::from(step % 2.max(1));
        }
        self.count += times;
        self.value_2 = value;
        value
    }

    /// Sums up to what was asked for, the 3. way.
    pub fn function_3(&mut self, by: f64, times: u32) -> f64 {
        let mut value = self.value_3;
        for step in 0..times {
            value += by * f64::from(step % 3.max(1));
        }
        self.count += times;
        self.value_3 = value;
        value
    }

    /// Sums up to what was asked for, the 4. way.
    pub fn function_4(&mut self, by: f64, times: u32) -> f64 {
        let mut value = self.value_4;
        for step in 0..times {
            value += by * f64::from(step % 4.max(1));
        }
        self.count += times;
        self.value_4 = value;
        value
    }

    /// Sums up to what was asked for, the 5. way.
    pub fn function_5(&mut self, by: f64, times: u32) -> f64 {
        let mut value = self.value_5;
        for step in 0..times {
            value += by * f64::from(step % 5.max(1));
        }
        self.count += times;
        self.value_5 = value;
        value
    }

    /// Sums up to what was asked for, the 6. way.
    pub fn function_6(&mut self, by: f64, times: u32) -> f64 {
        let mut value = self.value_6;
        for step in 0..times {
            value += by * f64::from(step % 6.max(1));
        }
        self.count += times;
        self.value_6 = value;
        value
    }

    /// Sums up to what was asked for, the 7. way.
    pub fn function_7(&mut self, by: f64, times: u32) -> f64 {
        let mut value = self.value_7;
        for step in 0..times {
            value += by * f64::from(step % 7.max(1));
        }
        self.count += times;
        self.value_7 = value;
        value
    }

    /// Sums up to what was asked for, the 8. way.
    pub fn function_8(&mut self, by: f64, times: u32) -> f64 {
        let mut value = self.value_8;
        for step in 0..times {
            value += by * f64::from(step % 8.max(1));
        }
        self.count += times;
        self.value_8 = value;
        value
    }

    /// Sums up to what was asked for, the 9. way.
    pub fn function_9(&mut self, by: f64, times: u32) -> f64 {
        let mut value = self.value_9;
        for step in 0..times {
            value += by * f64::from(step % 9.max(1));
        }
        self.count += times;
        self.value_9 = value;
        value
    }
}
