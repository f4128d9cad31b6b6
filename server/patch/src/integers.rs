//! Conversion of numbers in integer fields as in upstream's `DefaultUnstructuredConverter`: Go's
//! conversions truncate numbers that do not fit, where a JSON decoder refuses them.

use machinery::def::{FieldDef, JsonForm, Scalar, Shape, StructDef};
use serde_json::Value;

/// Converts the numbers in a document's integer fields to the type of the field. Types with a JSON form
/// of their own and numbers with a fraction are left to the decoder, which refuses them.
pub fn fit_integers(def: &'static StructDef, value: &mut Value) {
    match def.json_form {
        JsonForm::Fields => {}
        JsonForm::Items
        | JsonForm::SchemaOrArray
        | JsonForm::SchemaOrBool
        | JsonForm::SchemaOrStrings
        | JsonForm::Open => {
            return;
        }
    }
    let Value::Object(members) = value else { return };
    for field in def.json_fields() {
        if let Some(value) = members.get_mut(field.json) {
            fit_field(field, value);
        }
    }
}

fn fit_field(field: &FieldDef, value: &mut Value) {
    match field.shape() {
        Shape::One(of) | Shape::Opt(of) => fit(of, value),
        Shape::List(of) => items(value, |item| fit(of, item)),
        Shape::Map(of) => entries(value, |item| fit(of, item)),
        Shape::Struct(def) | Shape::OptStruct(def) => fit_integers(def, value),
        Shape::StructList(def, _) => items(value, |item| fit_integers(def, item)),
        Shape::StructMap(def, _) => entries(value, |item| fit_integers(def, item)),
    }
}

fn items(value: &mut Value, fit: impl FnMut(&mut Value)) {
    value.as_array_mut().into_iter().flatten().for_each(fit);
}

fn entries(value: &mut Value, fit: impl FnMut(&mut Value)) {
    value.as_object_mut().into_iter().flat_map(serde_json::Map::values_mut).for_each(fit);
}

fn fit(of: Scalar, value: &mut Value) {
    match of {
        Scalar::I32 => convert(value, |number| i64::from(number as i32)),
        Scalar::I64 => convert(value, |number| number),
        // Bytes may be a list of numbers.
        Scalar::Bytes => items(value, |item| convert(item, |number| i64::from(number as u8))),
        _ => {}
    }
}

fn convert(value: &mut Value, narrow: impl FnOnce(i64) -> i64) {
    let Value::Number(number) = &*value else { return };
    let wide = match (number.as_i64(), number.as_f64()) {
        (Some(integer), _) => integer,
        (None, Some(float)) if float.fract() == 0.0 => of_float(float),
        _ => return,
    };
    *value = narrow(wide).into();
}

/// Converts as x86 processors do: a number that does not fit into 64 bits becomes the smallest integer.
fn of_float(float: f64) -> i64 {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if (-BEYOND..BEYOND).contains(&float) { float as i64 } else { i64::MIN }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integers_are_truncated_to_their_type() {
        let check = |of: Scalar, number: Value, expect: Value| {
            let mut value = number.clone();
            fit(of, &mut value);
            assert_eq!(value, expect, "{number}");
        };
        check(Scalar::I32, json!(2_147_483_648_u32), json!(-2_147_483_648));
        check(Scalar::I32, json!(4_294_967_297_i64), json!(1));
        check(Scalar::I32, json!(9.223_372_036_854_776e18), json!(0));
        check(Scalar::I32, json!(1e10), json!(1_410_065_408));
        check(Scalar::I32, json!(1.5), json!(1.5));
        check(Scalar::I32, json!("1"), json!("1"));
        check(Scalar::I64, json!(-0.0), json!(0));
        check(Scalar::I64, json!(-1e30), json!(i64::MIN));
        check(Scalar::F64, json!(1e30), json!(1e30));
        check(Scalar::Bytes, json!([256, 255.0, null]), json!([0, 255, null]));
    }
}
