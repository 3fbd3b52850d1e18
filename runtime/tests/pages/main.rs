//! Compiles the code fences of the pages in `runtime/docs` and of the book, with the code that the pages omit. `tools/tests/pages.rs`
//! checks that every fence is part of a compiled source file. This file is one of these sources; the tests also run its fences.
#![allow(dead_code, unreachable_pub, unused_imports, unused_variables, reason = "unchanged lines of pages")]

type Done = Result<(), Box<dyn std::error::Error>>;

/// Declares one test for each page. The test fails with the error of the page.
macro_rules! runs {
    ($($module:ident)*) => {
        $(
            #[test]
            fn $module() {
                super::$module::run().unwrap_or_else(|error| panic!("{error}"));
            }
        )*
    };
}

mod fences_run_as_they_are_written {
    runs! { lamp structs enums delegates late_classes ship }
}

#[path = "book/src/ship.rs"]
mod ship;

#[rustfmt::skip]
mod lamp {
    use alcedo_runtime::{Runtime, natives};
    use super::Done;

    struct SpriteId(u32);

    #[derive(Debug, thiserror::Error)]
    #[error("too often")]
    struct LampError;

    use alcedo_runtime::native::{Obj, This, uclass};

    #[uclass(package = "Engine", blueprintable)]
    pub struct Lamp {
        /// A property of the object, visible to plugins.
        #[uproperty(edit_anywhere, default = 1.0)]
        brightness: f64,
        /// A Rust field of the host, of any type. Reloads of plugins leave it alone.
        sprite: Option<SpriteId>,
    }

    #[uclass]
    impl Lamp {
        #[ufunction(blueprint_native_event)]
        fn flicker(&self, times: u32) -> Result<u32, LampError>;
        fn flicker_implementation(&mut self, this: This<Self>, times: u32) -> Result<u32, LampError> {
            if this.brightness() > 1.0 { Ok(times) } else { Err(LampError) }
        }
    }

    pub(super) fn run() -> Done {
        let runtime = Runtime::builder().package("Game").natives(natives![Lamp]).build()?;

        let lamp = runtime.objects().spawn_as::<Lamp>()?;
        let brightness = runtime.objects().with(lamp, |lamp| {
            lamp.set_brightness(2.0);
            lamp.brightness()
        })?;
        assert_eq!(brightness, 2.0);
        Ok(())
    }
}

#[rustfmt::skip]
mod structs {
    use alcedo_runtime::{Runtime, natives};
    use super::Done;

    use alcedo_runtime::native::{This, uclass, uinterface, ustruct};

    #[ustruct(package = "Engine", pod)]
    #[derive(PartialEq, Debug, Default)]
    pub struct Glow {
        pub lumen: f64,
        pub color: u32,
    }

    #[uinterface(package = "Engine")]
    pub trait Shines {
        fn glow(&self, at: f64) -> Glow;
    }

    #[uclass(package = "Engine", blueprintable, implements(Shines))]
    pub struct Lamp {
        #[uproperty]
        lumen: f64,
    }

    #[uclass]
    impl Shines for Lamp {
        fn glow(&self, this: This<Self>, at: f64) -> Glow {
            Glow { lumen: this.lumen() * at, color: 7 }
        }
    }

    pub(super) fn run() -> Done {
        let runtime = Runtime::builder().natives(natives![Glow, Shines, Lamp]).build()?;
        runtime.objects().spawn_as::<Lamp>()?;
        Ok(())
    }
}

#[rustfmt::skip]
mod enums {
    use alcedo_runtime::native::{Obj, ustruct};
    use alcedo_runtime::{Runtime, natives};
    use super::Done;
    use super::lamp::Lamp;

    #[ustruct(package = "Engine")]
    #[derive(Clone)]
    pub struct Parcel {
        #[uproperty(default = "to all")]
        label: String,
        lamps: Vec<Obj<Lamp>>,
        mood: Mood,
    }

    use alcedo_runtime::native::uenum;

    #[uenum(package = "Engine")]
    #[repr(u8)]
    #[derive(Default)]
    pub enum Mood {
        #[default]
        Calm,
        #[umeta(display_name = "Very angry")]
        Angry,
    }

    use alcedo_runtime::native::uclass;

    #[uclass(package = "Engine")]
    pub struct Cat {
        #[uproperty(edit_anywhere, default = "Angry")]
        mood: Mood,
    }

    pub(super) fn run() -> Done {
        let runtime = Runtime::builder().natives(natives![Mood, Cat]).build()?;
        runtime.objects().spawn_as::<Cat>()?;
        Runtime::builder().natives(natives![Mood, Lamp, Parcel]).build()?;
        Ok(())
    }
}

#[rustfmt::skip]
mod delegates {
    use alcedo_runtime::{CallError, Runtime, natives};
    use super::Done;

    use alcedo_runtime::native::{Obj, uclass, udelegate};

    /// A bell was rung.
    #[udelegate(multicast, package = "Engine")]
    pub type OnRung = fn(times: u32, by: Obj<Bell>);

    #[uclass(package = "Engine", blueprintable)]
    #[derive(Default)]
    pub struct Bell {
        #[uproperty]
        on_rung: OnRung,
    }

    pub(super) fn run() -> Done {
        let runtime = Runtime::builder().natives(natives![Bell, OnRung]).build()?;
        let bell = runtime.objects().spawn_as::<Bell>()?;
        let on_rung = runtime.objects().with(bell, |bell| bell.on_rung().detach())?;
        let listener = on_rung.listen(&runtime, |_, (times, by)| {
            assert_eq!(times, 3);
            Ok(()) })?;   // until it is dropped
        on_rung.call(&runtime, (3, bell))?;
        Ok(())
    }

    mod others {
        use alcedo_runtime::CallError;
        use alcedo_runtime::native::{Delegate, MulticastDelegate, Obj, This, uclass};

        #[uclass(package = "Engine", blueprintable)]
        #[derive(Default)]
        pub struct Gong {
            #[uproperty]
            on_rung: MulticastDelegate<fn(u32, Obj<Gong>)>,
            #[uproperty]
            may_ring: Delegate<fn(u32) -> bool>,
            rung: u32,
        }

        #[uclass]
        impl Gong {
            #[ufunction]
            fn ring(&mut self, this: This<Self>, times: u32) {
                self.rung += times;
                this.lend(self, |this| this.on_rung().broadcast((times, this.as_obj())));
            }

            #[ufunction]
            fn agree(&self, this: This<Self>, times: u32, rule: Delegate<fn(u32) -> bool>) -> Result<bool, CallError> {
                this.set_may_ring(rule);
                rule.call(this.world(), (times,))
            }
        }
    }
}

#[rustfmt::skip]
mod late_classes {
    use alcedo_runtime::Runtime;
    use alcedo_runtime::kinds::{function_flags, property_flags};
    use super::Done;

    pub(super) fn run() -> Done {
        use alcedo_runtime::native::{NativeClass, Natives};

        let mut lamp = NativeClass::new("Engine", "Lamp", "/Script/Core.Object");
        let gain = lamp.add_property::<f64>("gain", property_flags::EDIT_ANYWHERE, "2.5");
        let changed = lamp.add_event::<(f64,)>("gain_changed", &["to"]);
        let louder = lamp.add_function("louder", &["by"], function_flags::CALLABLE, {
            let gain = gain.clone();
            move |world, lamp, (by,): (f64,)| {
                let to = gain.get(world, lamp)? * by;
                gain.set(world, lamp, to)?;
                changed.call(world, lamp, (to,))?;
                Ok(to)
            }
        });
        let runtime = Runtime::builder().natives(Natives::in_package("Engine").class(lamp)).build()?;
        runtime.objects().spawn("/Script/Engine.Lamp")?;
        Ok(())
    }
}

#[rustfmt::skip]
mod scripts {
    use alcedo_engine as engine;
    use alcedo_runtime::thunk::{AnyArray, array_ref};
    use alcedo_runtime::{CallError, Frame, Runtime, Value, World};
    use super::Done;

    fn run() -> Done {
        let runtime = Runtime::builder().package("Game").package("Tale").natives(engine::natives()).build()?;
        runtime.create_master(&["/plugins/libmagic_cube.so", "/scripts/Tale"])?;
        runtime.watch()?; // saved `.uc` files are reloaded like libraries
        let hero = runtime.objects().spawn("/Script/Tale.Hero")?;
        runtime.objects().call(hero, "Hurt", &[Value::I32(30)])?;
        Ok(())
    }

    fn longest(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
        let array = frame.step_compiled_in::<AnyArray>()?; // the place of any array
        let limit = frame.take::<i32>()?;                  // a typed parameter
        frame.finish()?;
        let property = frame.property(array);              // what the caller gave, with its own type
        let rows = array_ref(frame.value(array)).expect("it was stepped to as an array");
        tracing::info!("{} has {} elements, {limit} are wanted", property.text, rows.len());
        frame.set_result(rows.len() as i32)
    }
}

#[rustfmt::skip]
mod host_calls {
    use alcedo_runtime::native::{Obj, Object};
    use alcedo_runtime::{Runtime, Value};
    use super::Done;

    fn run(runtime: &Runtime) -> Done {
        let objects = runtime.objects();
        let robot = objects.spawn("/Script/Game.MyGamePatrolRobot")?;
        let turns: u32 = objects.call_as(robot, "turn_count", ())?;
        objects.set(robot, "speed", &Value::F64(3.0))?;
        eprintln!("{turns} turns, speed {:?}", objects.get(robot, "speed")?);

        let turns = runtime.function::<(Obj<Object>,), u32>("uf:/Script/Game.MyGamePatrolRobot:turn_count")?;
        let speed = runtime.property::<f64>("up:/Script/Game.MyGamePatrolRobot:speed")?;
        speed.set(robot, speed.get(robot)? * 2.0)?;
        eprintln!("{} turns", turns.call((Obj::new(robot),))?);
        Ok(())
    }
}

#[rustfmt::skip]
mod deliver {
    use alcedo_runtime::{HealthWatch, Runtime};
    use std::time::Duration;
    use super::Done;

    fn run() -> Done {
        let runtime = Runtime::builder().build()?;
        runtime.create_master(&["/srv/game/plugins/libweather.so"])?;
        let healthy = |runtime: &Runtime| match runtime.objects().iter().len() {
            0 => Err("the world has no objects".to_owned()),
            _ => Ok(()),
        };
        let watch = HealthWatch::new(Duration::from_secs(10), healthy);
        runtime.watch_health(watch.status_file("/srv/game/status.json"))?;
        Ok(())
    }
}

#[rustfmt::skip]
mod trust {
    use alcedo_runtime::Runtime;
    use super::Done;

    fn run() -> Done {
        let runtime = Runtime::builder().trust(include_str!("release.key.pub").parse()?).build()?;
        Ok(())
    }
}

#[rustfmt::skip]
mod tables {
    use alcedo_runtime as alcedo;

    // tables.rs, included by the host after `use alcedo_runtime as alcedo;` and by the module after `use alcedo_plugin_api as alcedo;`
    alcedo::entry_table! {
        /// Implemented by the host.
        pub host struct Engine {
            add: fn(i32, i32) -> i32,
        }
    }
    alcedo::entry_table! {
        /// Implemented by the module.
        pub module struct Scores {
            hit: fn(i32) -> i32,
        }
    }
}
