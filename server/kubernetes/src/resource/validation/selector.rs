//! Which devices will do, in CEL.

use cel::{Environment, ObjectType, Type};
use machinery::features;
use machinery::field_path::Path;
use machinery::hooks::Validation;

use generated::resource::v1::CELDeviceSelector;

/// `validateCELSelector`. By hand: the expression is compiled.
pub fn validate_device_expression(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &CELDeviceSelector,
    _: Option<&CELDeviceSelector>,
) {
    if let Err(why) = compile(&new.expression, v.context.enabled(features::DRAConsumableCapacity)) {
        v.invalid(&path.child("expression"), &new.expression, why);
    }
}

/// `CompileCELExpression`: attributes may be of any type, so what one of them gives may be a boolean.
fn compile(expression: &str, consumable: bool) -> Result<(), String> {
    let environment = Environment::new([("device", device_type(consumable))]).with_bindings();
    let program = cel::compile(expression, &environment).map_err(|why| format!("compilation failed: {why}"))?;
    match program.output() {
        Type::Bool | Type::Dyn => Ok(()),
        other => Err(format!("must evaluate to bool or the unknown type, not {}", other.declared_name())),
    }
}

/// What expressions know of a device; `consumable` tells whether devices can be shared out.
fn device_type(consumable: bool) -> Type {
    let by_domain = |of: Type| Type::map(Type::String, Type::map(Type::String, of));
    let mut fields = vec![
        ("driver", Type::String),
        ("attributes", by_domain(Type::Dyn)),
        ("capacity", by_domain(Type::Opaque("kubernetes.Quantity"))),
    ];
    if consumable {
        fields.push(("allowMultipleAllocations", Type::Bool));
    }
    Type::object(ObjectType::new("kubernetes.DRADevice", fields))
}
