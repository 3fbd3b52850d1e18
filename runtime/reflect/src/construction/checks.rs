//! Checks of the parameters of a construction: the flags of the class, the name and the archetype.

use alcedo_abi::kinds::class_flags;
use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;

use crate::World;
use crate::class::Class;
use crate::construction::{ConstructionArgs, ConstructionFailed, ConstructionStep, Constructor, StepError};

/// Maximum number of classes that an error message lists.
const MAX_LISTED: usize = 4;

/// Returns an error message if `class` is abstract. The message lists concrete classes that extend `class`.
pub(super) fn refused_as_abstract(world: &World, class: &Class) -> Option<String> {
    if class.flags & class_flags::ABSTRACT == 0 {
        return None;
    }
    let classes = world.types.classes();
    let concrete = classes.iter().filter(|found| found.is_a(class) && found.flags & class_flags::ABSTRACT == 0);
    let mut paths: Vec<_> = concrete.map(|class| class.path.to_string()).collect();
    paths.sort_unstable();
    let more = paths.len().saturating_sub(MAX_LISTED);
    paths.truncate(MAX_LISTED);
    let known = match (paths.is_empty(), more) {
        (true, _) => "none is declared yet".to_owned(),
        (false, 0) => paths.join(", "),
        (false, more) => format!("{}, and {more} more", paths.join(", ")),
    };
    Some(format!("it is abstract: use a derived class ({known})"))
}

impl Constructor<'_> {
    /// Rejects an abstract class, and a contextual class without an outer.
    #[inline(never)]
    pub(super) fn check_flags(&self, outer: ObjectHandle) -> Result<(), ConstructionFailed> {
        let class = self.requested;
        if let Some(problem) = refused_as_abstract(self.world, class) {
            return Err(self.refused("a new object", ConstructionStep::Abstract, problem));
        }
        if class.flags & class_flags::CONTEXTUAL != 0 && outer.is_none() {
            let problem = "it is contextual: pass its outer, the object that contains it";
            return Err(self.refused("a new object", ConstructionStep::Contextual, problem));
        }
        Ok(())
    }

    /// Checks the requested name and archetype. Returns the template: the archetype, or the CDO of the requested class.
    #[inline(never)]
    pub(super) fn checked_template(&self, args: &ConstructionArgs) -> Result<ObjectHandle, ConstructionFailed> {
        self.check_name(args)?;
        match args.archetype {
            Some(archetype) => self.check_archetype(archetype),
            None => self.cdo_of(self.requested),
        }
    }

    fn check_archetype(&self, archetype: ObjectHandle) -> Result<ObjectHandle, ConstructionFailed> {
        let problem = match self.world.objects.class(archetype) {
            None => CallError::Stale { handle: archetype }.to_string(),
            Some(class) if self.requested.is_a(&class) || class.is_a(self.requested) => return Ok(archetype),
            Some(class) => format!("a {} has no values for a {}", class.path, self.requested.path),
        };
        Err(self.refused(&archetype.to_string(), ConstructionStep::Archetype, problem))
    }

    /// Rejects the requested name if an object in the requested outer already has this name.
    fn check_name(&self, args: &ConstructionArgs) -> Result<(), ConstructionFailed> {
        let Some(name) = args.name else { return Ok(()) };
        let name = self.world.names.text(name);
        let Some(holder) = self.world.objects.find(args.outer, &name) else { return Ok(()) };
        let problem = format!("{holder} already has this name there: choose another name, or rename that object first");
        Err(self.refused(&name, ConstructionStep::Name, problem))
    }

    /// Returns the error for a parameter, or for the requested class. `step` creates the step from the path of the class.
    pub(super) fn refused(
        &self,
        object: &str,
        step: fn(String) -> ConstructionStep,
        problem: impl Into<String>,
    ) -> ConstructionFailed {
        self.failed(object, step(self.requested.path.to_string()), StepError::new(problem))
    }
}
