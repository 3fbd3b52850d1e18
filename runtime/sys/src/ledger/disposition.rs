//! Computes the effective disposition of a signal from the dispositions that several images and the process request.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Disposition {
    /// Default action of the system.
    Default,
    Ignore,
    Handle,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Disposition that was in effect before the first image was mapped.
    Original,
    /// Default action of the system.
    Default,
    Ignore,
    /// Dispatcher of the host, which calls the handlers of the images and then the handler of the process.
    Dispatch,
}

impl Effect {
    /// Returns the effect of the original disposition of the process and of the dispositions that images requested, in this order. If an
    /// image requests a handler, the dispatcher calls all handlers. Otherwise a handler of the process stays in effect, because an image
    /// cannot disable it. Without any handler, the last request of an image applies, or else the original disposition.
    pub(crate) fn of(original: Disposition, images: impl IntoIterator<Item = Disposition>) -> Self {
        let mut last = None;
        for disposition in images {
            if disposition == Disposition::Handle {
                return Self::Dispatch;
            }
            last = Some(disposition);
        }
        match (original, last) {
            (Disposition::Handle, _) | (_, None) => Self::Original,
            (_, Some(Disposition::Ignore)) => Self::Ignore,
            (_, Some(Disposition::Default | Disposition::Handle)) => Self::Default,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Disposition, Effect};

    const DISPOSITIONS: [Disposition; 3] = [Disposition::Default, Disposition::Ignore, Disposition::Handle];

    fn pairs() -> impl Iterator<Item = (Disposition, Vec<Disposition>)> {
        let none = DISPOSITIONS.map(|original| (original, vec![]));
        let one = DISPOSITIONS.into_iter().flat_map(|o| DISPOSITIONS.map(|first| (o, vec![first])));
        let two = DISPOSITIONS
            .into_iter()
            .flat_map(|o| DISPOSITIONS.into_iter().flat_map(move |a| DISPOSITIONS.map(|b| (o, vec![a, b]))));
        none.into_iter().chain(one).chain(two)
    }

    #[test]
    fn the_original_disposition_applies_without_images() {
        assert!(DISPOSITIONS.iter().all(|original| Effect::of(*original, []) == Effect::Original));
    }

    #[test]
    fn every_handler_is_called_regardless_of_the_last_disposition() {
        for (original, images) in pairs() {
            let effect = Effect::of(original, images.iter().copied());
            let handled = images.contains(&Disposition::Handle);
            assert_eq!(effect == Effect::Dispatch, handled, "{original:?} {images:?}");
            if original == Disposition::Handle && !handled {
                assert_eq!(effect, Effect::Original, "{images:?}");
            }
        }
    }

    #[test]
    fn without_handlers_the_last_disposition_counts() {
        for (original, images) in pairs().filter(|(original, images)| {
            *original != Disposition::Handle && !images.is_empty() && !images.contains(&Disposition::Handle)
        }) {
            let expected = if images.last() == Some(&Disposition::Ignore) { Effect::Ignore } else { Effect::Default };
            assert_eq!(Effect::of(original, images.iter().copied()), expected, "{original:?} {images:?}");
        }
    }
}
