//! Contains the code of fences in pages, with the declarations that the fences omit. `tools/tests/pages.rs` checks that a compiled source
//! contains each fence.
#![forbid(unsafe_code)]

#[rustfmt::skip]
mod delegates {
    use alcedo_plugin_api::prelude::*;

    /// Reports points.
    #[udelegate(multicast, package = "Game")]
    pub type OnScored = fn(points: i32, by: Obj<Player>);

    /// Permits points.
    #[udelegate(single, of = Player)]
    pub type MayScore = fn(points: i32) -> bool;

    #[uclass(package = "Game")]
    pub struct Player {
        #[uproperty]
        on_scored: OnScored,
        #[uproperty]
        rules: UArray<MayScore>,
    }
}

#[rustfmt::skip]
mod functions {
    use std::fmt;

    use alcedo_plugin_api::prelude::*;

    #[derive(Debug)]
    pub struct LampError;

    impl fmt::Display for LampError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("too often")
        }
    }

    pub struct LoadError(CallError);

    impl From<CallError> for LoadError {
        fn from(error: CallError) -> Self {
            Self(error)
        }
    }

    impl fmt::Display for LoadError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "no level: {}", self.0)
        }
    }

    fn is_there(name: &str) -> bool {
        name.len() > 3
    }

    #[uclass(package = "Game")]
    pub struct Lamp {
        level: u32,
    }

    #[uclass]
    impl Lamp {
        /// Returns the share of each; `watts` is the rest.
        #[ufunction(blueprint_native_event)]
        fn split(&self, watts: &mut u32, among: u32) -> Result<u32, CallError>;
        fn split_implementation(&self, watts: &mut u32, among: u32) -> Result<u32, CallError> {
            let each = *watts / among;
            *watts %= among;
            Ok(each)
        }

        #[ufunction(blueprint_native_event, blueprint_callable)]
        fn flicker(&self, times: u32) -> Result<u32, LampError>;
        fn flicker_implementation(&mut self, this: This<Self>, times: u32) -> Result<u32, LampError> {
            this.enter("flicker".to_owned());
            if times > 100 { Err(LampError) } else { Ok(times) }
        }

        #[ufunction]
        fn enter(&self, name: String) -> u32 {
            name.len() as u32
        }

        /// Loads a level, which takes many ticks.
        #[ufunction(blueprint_callable)]
        async fn load(this: Obj<Self>, name: String) -> Result<u32, LoadError> {
            while !is_there(&name) {
                task::next_tick().await;
            }
            Ok(this.with(|this| this.enter(name))?)
        }
    }

    #[uinterface(package = "Game")]
    pub trait Shines {
        fn shine(&self, how: f64) -> Result<f64, CallError>;
        fn color(&self) -> String;
    }

    #[uclass(package = "Game", implements(Shines))]
    pub struct Candle {
        length: f64,
    }

    #[uclass]
    impl Shines for Candle {
        fn shine(&mut self, this: This<Self>, how: f64) -> Result<f64, String> {
            if this.name().is_empty() { Err("burned down".to_owned()) } else { Ok(self.length * how) }
        }
        fn color(&self) -> String {
            "yellow".to_owned()
        }
    }
}

#[rustfmt::skip]
mod mistakes {
    use alcedo_plugin_api::prelude::*;

    fn compute() -> i32 {
        42
    }

    #[ustruct(package = "Game")]
    pub struct Loaf {
        flour: String,
    }

    #[uclass(package = "Game")]
    pub struct Oven {
        #[uproperty(default = 20.0)]
        temperature: f64,
        #[uproperty]
        answer: i32,
        seconds: u32,
    }

    #[uclass]
    impl Oven {
        #[ufunction]
        fn heat(&mut self, this: This<Self>) {
            this.set_temperature(this.temperature() + 1.0);
            self.seconds += 1; // no property
        }

        #[ufunction]
        fn bake(&self, this: This<Self>, done: &mut UArray<Loaf>) -> Result<(), CallError> {
            let loaf = Loaf::new()?;
            this.open(&loaf).set_flour("rye");
            this.open(done).push(loaf);
            Ok(())
        }

        #[ufunction]
        fn work(&mut self, this: This<Self>) {
            let object = this.as_obj();
            std::thread::spawn(move || {
                let answer = compute();
                let _ = task::post_to(object, move |this| this.set_answer(answer));
            });
        }
    }
}

#[rustfmt::skip]
mod specifiers {
    use alcedo_plugin_api::prelude::*;

    #[ustruct(pod, package = "Game")]
    #[derive(Default)]
    pub struct Size {
        pub height: f64,
    }

    #[ustruct(package = "Game")]
    pub struct Parcel {
        to: UString,
        size: Size,
    }

    #[ustruct]
    impl Size {
        /// Makes one of that height.
        #[constructor]
        fn tall(&mut self, height: f64) {
            self.height = height;
        }
    }

    #[ustruct]
    impl Parcel {
        /// Makes one with an address.
        #[constructor]
        fn addressed(value: Borrowed<'_, Self>, to: &str) {
            value.set_to(to);
            value.set_size(Size::tall(3.0));
        }
    }

    fn used() {
        let parcel = Parcel::addressed("me");
    }

    #[uclass(package = "Game")]
    pub struct Board {
        #[uproperty]
        scores: UArray<f64>,            // in the host's object
        #[uproperty]
        titles: UMap<UName, String>,    // the same
        best: UArray<f64>,              // a copy of our own
    }

    #[uclass]
    impl Board {
        #[ufunction]
        fn add(&mut self, this: This<Self>, score: f64) -> f64 {
            this.scores().push(score);
            let sum: f64 = this.scores().with_slice(|scores| scores.iter().sum());
            let best: f64 = this.open(&self.best).iter().sum();
            if sum > best {
                self.best = this.scores().to_owned();
            }
            sum
        }
    }
}

#[rustfmt::skip]
mod before_the_commit {
    use alcedo_plugin_api::prelude::*;

    fn notify_host() {}

    fn started() {
        let _posted = task::post(|| notify_host());
    }
}

#[rustfmt::skip]
mod recipes {
    use std::time::Duration;

    use alcedo_plugin_api::prelude::*;

    fn think() -> i32 {
        42
    }

    #[uclass(package = "Game")]
    pub struct Robot {
        #[uproperty]
        beats: i32,
        #[uproperty]
        answer: i32,
        steps: u32,
    }

    #[uclass]
    impl Robot {
        #[ufunction]
        fn explode(&self) {}

        fn step(&mut self, this: This<Self>) {
            self.steps += 1;
            this.set_beats(0);
        }

        #[ufunction]
        fn begin(&self, this: This<Self>) {
            timer::every(this, Duration::from_millis(500), |this| this.set_beats(this.beats() + 1));
            timer::after(this, Duration::from_secs(3), |this| this.explode());

            let me = this.as_obj();
            task::spawn(this, async move {
                task::delay(Duration::from_secs(2)).await;
                me.with_part(|robot, this| robot.step(this))?;
                Ok(())
            });
        }

        #[ufunction]
        fn query(&self, this: This<Self>) {
            let me = this.as_obj();
            std::thread::spawn(move || {
                let answer = think();
                // Fails while the module is being unloaded; the answer is then no longer needed.
                let _late = task::post_to(me, move |this| this.set_answer(answer));
            });
        }
    }
}
