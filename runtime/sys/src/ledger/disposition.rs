//! Effective disposition of a signal, computed from the requests of several images and of the process.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    /// Default action of the system.
    Default,
    Ignore,
    Handle,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// State before the first image was mapped.
    Original,
    /// Default action of the system.
    Default,
    Ignore,
    /// Dispatcher of the host, which calls the images' handlers and then the process's own.
    Dispatch,
}

impl Effect {
    /// Returns the effective disposition for the requests of the process and of the images, in order of the requests.
    ///
    /// Handlers are always called, so an image can silence neither the process's own handler nor that of another image. Without
    /// handlers, the last request counts.
    pub(crate) fn of(original: Wish, images: impl IntoIterator<Item = Wish>) -> Self {
        let mut last = None;
        for wish in images {
            if wish == Wish::Handle {
                return Self::Dispatch;
            }
            last = Some(wish);
        }
        match (original, last) {
            (Wish::Handle, _) | (_, None) => Self::Original,
            (_, Some(Wish::Ignore)) => Self::Ignore,
            (_, Some(Wish::Default | Wish::Handle)) => Self::Default,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Effect, Wish};

    const WISHES: [Wish; 3] = [Wish::Default, Wish::Ignore, Wish::Handle];

    fn pairs() -> impl Iterator<Item = (Wish, Vec<Wish>)> {
        let none = WISHES.map(|original| (original, vec![]));
        let one = WISHES.into_iter().flat_map(|o| WISHES.map(|first| (o, vec![first])));
        let two =
            WISHES.into_iter().flat_map(|o| WISHES.into_iter().flat_map(move |a| WISHES.map(|b| (o, vec![a, b]))));
        none.into_iter().chain(one).chain(two)
    }

    #[test]
    fn the_original_disposition_applies_without_images() {
        assert!(WISHES.iter().all(|original| Effect::of(*original, []) == Effect::Original));
    }

    #[test]
    fn every_handler_is_called_regardless_of_the_last_disposition() {
        for (original, images) in pairs() {
            let effect = Effect::of(original, images.iter().copied());
            let handled = images.contains(&Wish::Handle);
            assert_eq!(effect == Effect::Dispatch, handled, "{original:?} {images:?}");
            if original == Wish::Handle && !handled {
                assert_eq!(effect, Effect::Original, "{images:?}");
            }
        }
    }

    #[test]
    fn without_handlers_the_last_disposition_counts() {
        for (original, images) in pairs().filter(|(original, images)| {
            *original != Wish::Handle && !images.is_empty() && !images.contains(&Wish::Handle)
        }) {
            let expected = if images.last() == Some(&Wish::Ignore) { Effect::Ignore } else { Effect::Default };
            assert_eq!(Effect::of(original, images.iter().copied()), expected, "{original:?} {images:?}");
        }
    }
}
