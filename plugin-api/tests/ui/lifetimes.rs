//! Borrows that outlive the call in which they were made. The borrow checker reports them after type checking. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod black_dropped_while_open {
    //! A value cannot be dropped while a view of it is open.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Owner {}

    #[uclass]
    impl Owner {
        #[ufunction]
        fn own(&self, this: This<Self>) {
            let list = UArray::of([1.0]).expect("a host");
            let open = this.open(&list);
            drop(list);
            open.push(2.0);
        }
    }
}

mod borrowed_in_a_task {
    //! A view is valid for one call, and a task outlives the call.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Sleeper {
        #[uproperty]
        list: UArray<f64>,
    }

    #[uclass]
    impl Sleeper {
        #[ufunction]
        fn sleep(&mut self, this: This<Self>) {
            let list = this.list();
            task::spawn(this, async move {
                task::next_tick().await;
                list.push(1.0);
            });
        }
    }
}

mod borrowed_in_a_thread_local {
    //! A view of a parameter or of another value does not live long enough for a static.

    use std::cell::Cell;

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Hoarder {}

    #[uclass]
    impl Hoarder {
        #[ufunction]
        fn hoard(&mut self, list: Borrowed<UArray<f64>>) {
            KEPT.with(|kept| kept.set(Some(list)));
        }
    }

    thread_local! {
        static KEPT: Cell<Option<Borrowed<'static, UArray<f64>>>> = const { Cell::new(None) };
    }
}

mod this_in_a_thread_local {
    //! `This` does not live long enough, even if the plugin part is `Send`.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Hoarder {
        names: Vec<String>,
    }

    #[uclass]
    impl Hoarder {
        #[class_constructor]
        fn construct(&mut self, this: This<Self>) {
            KEPT.with(|kept| kept.set(Some(this)));
            self.names.push(this.name());
        }
    }

    thread_local! {
        static KEPT: std::cell::Cell<Option<This<'static, Hoarder>>> = const { std::cell::Cell::new(None) };
    }
}

mod this_out_of_a_timer {
    //! The arguments that `with` or a timer passes to a closure must not leave the closure.

    use std::time::Duration;

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Hoarder {}

    #[uclass]
    impl Hoarder {
        #[ufunction]
        fn hoard(&mut self, this: This<Self>) {
            let mut kept = Vec::new();
            timer::every(this, Duration::ZERO, move |this| kept.push(this));
        }
    }
}

mod this_over_an_await {
    //! `This` is valid for one call and cannot be held across an `await`: a task outlives the call.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Sleeper {}

    #[uclass]
    impl Sleeper {
        #[ufunction]
        fn sleep(&mut self, this: This<Self>) {
            task::spawn(this, async move {
                task::next_tick().await;
                let _name = this.name();
            });
        }
    }
}

fn main() {}
