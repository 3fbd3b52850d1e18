//! Construction of a default subobject: selects the class and the template of the subobject, and stores the reference in the owner.

use alcedo_base::handles::ObjectHandle;

use super::checks::refused_as_abstract;
use super::living::existing_pairs;
use super::{ConstructionFailed, ConstructionStep, Constructor, Copying, NewObject, Order, Pairs, StepError};
use crate::class::{Class, Subobject};
use crate::objects::object_flags;
use crate::value::Value;

impl Constructor<'_> {
    /// Creates one default subobject. The owner's most derived class specifies the class of the subobject. Returns `None` if the owner
    /// already has the subobject, for example during a reconstruction.
    pub(super) fn part(
        &self,
        owner: &NewObject,
        owner_flags: u32,
        subobject: &Subobject,
        pairs: &mut Pairs,
    ) -> Result<Option<NewObject>, ConstructionFailed> {
        let objects = &self.world.objects;
        let path = owner.class.subobject_class(subobject);
        let step = || ConstructionStep::Subobject(owner.class.path.to_string(), subobject.name.to_string());
        let refuse = |message: String| Err(self.failed_for(owner.object, step(), StepError::new(message)));
        let Some(class) = self.world.types.class_by_path(&path) else {
            return refuse(format!("its class {path} is not declared any more: load its module again"));
        };
        if let Some(problem) = refused_as_abstract(self.world, &class) {
            return refuse(format!("its class {path}: {problem}"));
        }
        if self.is_inside(owner.object, &class) {
            return refuse(format!("a {path} cannot contain a {path} as a subobject, directly or indirectly"));
        }
        let of_template = owner.template.and_then(|template| objects.subobject(template, &subobject.name));
        let refer_to = |part: ObjectHandle| {
            let reference = Value::Object(part);
            let refer = || Ok(objects.write_unasked(owner.object, &subobject.property.text, &reference)?);
            self.step(owner.object, step, refer)
        };
        let has_it = |kept: &ObjectHandle| objects.class(*kept).is_some_and(|found| found.path == class.path);
        if let Some(kept) = objects.subobject(owner.object, &subobject.name).filter(has_it) {
            pairs.extend(of_template.into_iter().flat_map(|template| existing_pairs(objects, template, kept)));
            refer_to(kept)?;
            return Ok(None);
        }
        let in_cdo = owner_flags & (object_flags::CDO | object_flags::IN_CDO) != 0;
        let flags = object_flags::SUBOBJECT | if in_cdo { object_flags::IN_CDO } else { 0 };
        let (outer, part) = (owner.object, Some(&subobject.name));
        let order = |template| Order { class: &class, name: None, outer, part, flags, template: Some(template) };
        let part = match of_template {
            Some(template) if objects.class(template).is_some_and(|of| of.is_a(&class)) => {
                self.begin(&order(template), Copying::AfterClasses, pairs)?
            }
            of_template => {
                let mut apart = Vec::new();
                let mut part = self.begin(&order(self.cdo_of(&class)?), Copying::AfterClasses, &mut apart)?;
                part.is_requested = of_template.is_some();
                if let Some(template) = of_template {
                    // The subobject in the owner's template has a different class than the new subobject. The values of the template's
                    // subobject overwrite the values from the CDO of the new subobject's class.
                    self.follow(&mut part, template, pairs);
                    self.or_destroy(&part, self.copy_values(&part, pairs))?;
                }
                part
            }
        };
        self.or_destroy(&part, refer_to(part.object))?;
        Ok(Some(part))
    }

    /// Replaces the template of an object that already has the values of a CDO. For the next copy, each direct and indirect subobject is
    /// paired with the subobject of the same name in `template`. Subobjects that `template` lacks keep their values.
    pub(super) fn follow(&self, new_object: &mut NewObject, template: ObjectHandle, pairs: &mut Pairs) {
        let objects = &self.world.objects;
        new_object.template = Some(template);
        pairs.push((template, new_object.object));
        for part in &mut new_object.parts {
            let name = objects.name(part.object).map(|name| self.world.names.text(name));
            let of_template = name.and_then(|name| objects.subobject(template, &name));
            part.is_requested = of_template.is_some();
            if let Some(of_template) = of_template {
                self.follow(part, of_template, pairs);
            }
        }
    }

    /// Checks if `owner`, or a direct or indirect owner of `owner`, has exactly this class.
    fn is_inside(&self, owner: ObjectHandle, class: &Class) -> bool {
        let objects = &self.world.objects;
        let mut owners = std::iter::successors(Some(owner), |object| objects.owner(*object));
        owners.any(|object| objects.class_id(object) == Some(class.id))
    }
}
