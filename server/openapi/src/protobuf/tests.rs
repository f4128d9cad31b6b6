use serde_json::json;

use super::*;

/// An encoded field of type bytes.
fn bytes(number: u8, value: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, value.len() as u8], value].concat()
}

#[test]
fn v2_document_with_its_wrapper_messages() {
    let document = json!({
        "swagger": "2.0",
        "definitions": {"a.B": {"type": "object", "x-kubernetes-map-type": "atomic"}},
        "security": [{"BearerToken": []}],
    });
    let schema = [
        vec![0xb2, 1, 8], // type = 22, a TypeItem
        bytes(1, b"object"),
        vec![0xfa, 1, 36], // vendor_extension = 31, a NamedAny
        bytes(1, b"x-kubernetes-map-type"),
        bytes(2, &bytes(2, b"\"atomic\"\n")),
    ];
    let entry = [bytes(1, b"a.B"), bytes(2, &schema.concat())].concat();
    let requirement = bytes(1, &[bytes(1, b"BearerToken"), bytes(2, b"")].concat());
    let want = [bytes(1, b"2.0"), bytes(9, &bytes(1, &entry)), bytes(12, &requirement)].concat();
    assert_eq!(v2(&document), want);
}

#[test]
fn v2_parameters_are_a_choice_of_place_or_reference() {
    let operation = |parameter| json!({"paths": {"/": {"get": {"parameters": [parameter]}}}});
    let want = |item: Vec<u8>| {
        let operation = bytes(2, &bytes(8, &item));
        bytes(8, &bytes(2, &[bytes(1, b"/"), bytes(2, &operation)].concat()))
    };
    let query = [bytes(2, b"query"), bytes(4, b"n")].concat();
    let path = [vec![8, 1], bytes(2, b"path"), bytes(4, b"n")].concat();
    for (parameter, item) in [
        (json!({"$ref": "#/p"}), bytes(2, &bytes(1, b"#/p"))),
        (json!({"in": "body", "name": "n"}), bytes(1, &bytes(1, &[bytes(2, b"n"), bytes(3, b"body")].concat()))),
        (json!({"in": "query", "name": "n"}), bytes(1, &bytes(2, &bytes(3, &query)))),
        (json!({"in": "path", "name": "n", "required": true}), bytes(1, &bytes(2, &bytes(4, &path)))),
    ] {
        assert_eq!(v2(&operation(parameter)), want(item));
    }
}

#[test]
fn v3_schemas_are_schemas_or_references_and_defaults_scalars() {
    let document = json!({"components": {"schemas": {"S": {
        "allOf": [{"$ref": "#/r"}],
        "default": "",
    }}}});
    let schema = [
        vec![0xd2, 1, 7], // allOf = 26
        bytes(2, &bytes(1, b"#/r")),
        vec![0x8a, 2, 2], // default = 33
        bytes(3, b""),
    ];
    let entry = [bytes(1, b"S"), bytes(2, &bytes(1, &schema.concat()))].concat();
    assert_eq!(v3(&document), bytes(5, &bytes(1, &bytes(1, &entry))));
}
