//! Generates structs from the emitted `.proto` files of core/v1, with the derives of prost and of
//! serde, for the JSON format of the API.

use std::error::Error;
use std::path::Path;

use prost_build::Config;
use prost_types::field_descriptor_proto::Label;
use prost_types::{DescriptorProto, FieldDescriptorProto};

/// Types with a JSON form other than an object of their fields; `src/lib.rs` defines them.
const OF_OTHER_FORM: [(&str, &str); 4] = [
    (".k8s.io.apimachinery.pkg.api.resource.Quantity", "Quantity"),
    (".k8s.io.apimachinery.pkg.util.intstr.IntOrString", "IntOrString"),
    (".k8s.io.apimachinery.pkg.apis.meta.v1.Time", "Time"),
    (".k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime", "Time"),
];
/// Fields that are inlined in JSON.
const INLINE: [&str; 5] =
    ["ephemeralContainerCommon", "localObjectReference", "persistentVolumeSource", "probeHandler", "volumeSource"];

fn main() -> Result<(), Box<dyn Error>> {
    let protos = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../generated/proto");
    println!("cargo::rerun-if-changed={}", protos.display());
    let files = protox::compile(["core/v1.proto"], [&protos])?;
    let mut config = Config::new();
    config.include_file("structs.rs").btree_map(["."]).disable_comments(["."]);
    config.type_attribute(".", "#[derive(serde::Serialize, serde::Deserialize)] #[serde(default)]");
    for (message, form) in OF_OTHER_FORM {
        config.extern_path(message, format!("crate::{form}"));
    }
    for file in &files.file {
        for message in &file.message_type {
            for field in &message.field {
                let path = format!(".{}.{}.{}", file.package(), message.name(), field.name());
                config.field_attribute(path, attribute(message, field));
            }
        }
    }
    config.compile_fds(files)?;
    Ok(())
}

/// Returns the serde attribute of a field.
fn attribute(message: &DescriptorProto, field: &FieldDescriptorProto) -> String {
    let name = field.name();
    if INLINE.contains(&name) {
        return "#[serde(flatten)]".into();
    }
    let is_map = message.nested_type.iter().any(|nested| {
        nested.options.as_ref().is_some_and(|options| options.map_entry())
            && field.type_name().ends_with(&format!(".{}", nested.name()))
    });
    let is_absent = match field.label() {
        Label::Repeated if is_map => "std::collections::BTreeMap::is_empty",
        Label::Repeated => "Vec::is_empty",
        _ => "Option::is_none",
    };
    format!("#[serde(rename = \"{name}\", skip_serializing_if = \"{is_absent}\")]")
}
