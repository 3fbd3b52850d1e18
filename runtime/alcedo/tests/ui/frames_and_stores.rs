//! Host memory that safe code cannot access. Each module is one attempt.
#![allow(unused)]
#![forbid(unsafe_code)]

mod doors_that_need_a_promise {
    //! Unchecked promises need an `unsafe` block: the access for benchmarks, the closing of a native library, the raw form of
    //! a function, and a struct that declares its memory layout.

    use alcedo_runtime::{FunctionPointer, NativeLibrary, PlainStruct, Runtime};

    fn bench(host: &Runtime) {
        host.bench().abandon_mark();
    }

    fn close(library: &NativeLibrary) {
        library.mark_unloadable();
    }

    fn call(pointer: &FunctionPointer) {
        (pointer.invoke().0)(std::ptr::null_mut(), std::ptr::null_mut());
    }

    #[derive(Clone, Copy)]
    struct Liar(bool);

    impl PlainStruct for Liar {
        const PATH: &'static str = "/Script/Engine.Vector";
        const FINGERPRINT: u64 = 0;
        const FIELDS: &'static [(&'static str, alcedo_runtime::kinds::PropertyKind, &'static str)] = &[];
    }
}

mod frame_over_memory_of_ones_choice {
    //! Only a call creates a frame, so its parameters match those of its function.

    use alcedo_runtime::{CallError, Frame, ObjectHandle, World};

    fn over(object: ObjectHandle, _world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
        let mut other = Frame::over(object, frame.function, frame.params);
        other.finish()
    }

    fn new(object: ObjectHandle, block: &mut alcedo_runtime::ParamBlock<'_>) -> Frame<'_> {
        Frame::new(object, block)
    }
}

mod frame_that_moves_its_memory_away {
    //! A frame returns values but not its parameter block, and keeps the object of its call.

    use alcedo_runtime::{CallError, Frame, ObjectHandle, World};

    fn body(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
        let _memory: *mut u8 = frame.hand_over();
        frame.object = ObjectHandle::NONE;
        (frame.function.thunk)(world, frame)
    }
}

mod stores_of_a_world {
    //! The stores of a world are private to the runtime: they give access to memory, functions and the mode.

    use alcedo_runtime::{ObjectHandle, Runtime, World};

    fn reach(host: &Runtime, object: ObjectHandle) {
        let world = host.world();
        let _memory = world.objects.memory(object);
        world.types.redirect("/Script/Game.Left", "/Script/Game.Right");
        world.mode.set(0);
        let _names = &world.names;
        let _counters = &world.counters;
    }

    fn make() -> World {
        World::new()
    }
}

fn main() {}
