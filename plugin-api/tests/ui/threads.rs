//! Values of the game thread that code moves to other threads or stores in plugin parts. Each module breaks one rule.
#![allow(unused)]
#![forbid(unsafe_code)]

mod borrowed_in_a_thread {
    //! A view cannot be sent to another thread, but an owned copy from `to_owned()` can.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Worker {
        #[uproperty]
        list: UArray<f64>,
    }

    #[uclass]
    impl Worker {
        #[ufunction]
        fn work(&mut self, this: This<Self>) {
            let list = this.list();
            std::thread::scope(|scope| {
                scope.spawn(|| list.len());
            });
        }
    }
}

mod state_that_is_not_send {
    //! The finalizer thread drops the plugin part, so each of its fields must be `Send`.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Shared {
        counter: std::rc::Rc<u32>,
    }
}

mod this_in_a_field {
    //! `This` cannot be kept in the plugin part.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Hoarder {
        kept: Option<This<'static, Hoarder>>,
    }

    #[uclass]
    impl Hoarder {
        #[class_constructor]
        fn construct(&mut self, this: This<Self>) {
            self.kept = Some(this);
        }
    }
}

mod this_in_a_thread {
    //! `This` cannot be sent to another thread.

    use alcedo_plugin_api::prelude::*;

    #[uclass(package = "Game")]
    pub struct Worker {}

    #[uclass]
    impl Worker {
        #[ufunction]
        fn work(&mut self, this: This<Self>) {
            std::thread::scope(|scope| {
                scope.spawn(|| this.name());
            });
        }
    }
}

fn main() {}
