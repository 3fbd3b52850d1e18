//! Class whose plugin parts a reload builds at their first use. Also used by tests: the features `eager`, `forgetful` and `renamed` change
//! the class.

use std::time::Duration;

use alcedo_plugin_api::prelude::*;

#[cfg(not(any(feature = "eager", feature = "forgetful", feature = "renamed")))]
crowd_class! {
    /// Class that is rebuilt lazily.
    Sleeper lazy_rebuild, inserted base Dreamer, default 0.5, other default 0.75, fields {
        #[keep]
        dreams: u64,
        tag: u64,
    }
}

#[cfg(feature = "eager")]
crowd_class! {
    /// Class that is rebuilt in the reload.
    Sleeper, inserted base Dreamer, default 0.5, other default 0.75, fields {
        #[keep]
        dreams: u64,
        tag: u64,
    }
}

#[cfg(feature = "forgetful")]
crowd_class! {
    /// Class that is rebuilt lazily, without a kept field.
    Sleeper lazy_rebuild, inserted base Dreamer, default 0.5, other default 0.75, fields {
        dreams: u64,
        tag: u64,
    }
}

#[cfg(feature = "renamed")]
crowd_class! {
    /// Class that is rebuilt lazily, whose kept field has a new name.
    Sleeper lazy_rebuild, inserted base Dreamer, default 0.5, other default 0.75, fields {
        #[keep(was = "dreams")]
        visions: u64,
        tag: u64,
    }
}

impl Sleeper {
    fn count(&mut self) -> &mut u64 {
        #[cfg(feature = "renamed")]
        return &mut self.visions;
        #[cfg(not(feature = "renamed"))]
        &mut self.dreams
    }
}

#[uclass]
impl Sleeper {
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        assert!(this.speed() >= 0.0, "it cannot wake up");
        Self {
            #[cfg(feature = "renamed")]
            visions: 0,
            #[cfg(not(feature = "renamed"))]
            dreams: 0,
            tag: fixture::tag(),
        }
    }

    /// Counts a dream, and returns the number of dreams.
    #[ufunction]
    fn dream(&mut self) -> u64 {
        *self.count() += 1;
        *self.count()
    }

    /// Returns the tag of the build that created the plugin part.
    #[ufunction]
    fn made_by(&self) -> u64 {
        self.tag
    }

    /// Counts a dream of a different object, and returns its number of dreams.
    #[ufunction]
    fn dream_of(&self, this: This<Self>, other: Obj<Self>) -> Result<u64, CallError> {
        this.get(other)?.try_dream()
    }

    /// Posts two closures to a different object. Each closure counts a dream of that object.
    #[ufunction]
    fn dream_twice_later(&self, other: Obj<Self>) -> Result<(), CallError> {
        for _ in 0..2 {
            task::post_to(other, |other| {
                other.dream();
            })?;
        }
        Ok(())
    }

    /// Starts a timer on a different object. The timer counts a dream of that object.
    #[ufunction]
    fn dream_later(&self, this: This<Self>, other: Obj<Self>) -> Result<(), CallError> {
        timer::try_after(this.get(other)?, Duration::ZERO, |other| {
            other.dream();
        })?;
        Ok(())
    }
}
