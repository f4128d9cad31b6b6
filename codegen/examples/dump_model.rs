//! Prints the model of `api-defs/` as JSON lines, one per kind and one per struct of every version, for
//! comparison with other sources.
//!
//! Run it at the root of the workspace: `cargo run -p codegen --example dump_model [ROOT]`.

use codegen::model::{Field, Generation, Kind, ListSemantics, Literal, Model, TypeRef};

fn main() {
    let root = std::env::args().nth(1).map_or_else(|| std::path::PathBuf::from("."), std::path::PathBuf::from);
    let model = match codegen::load(&root) {
        Ok(model) => model,
        Err(diagnostics) => {
            eprint!("{diagnostics}");
            std::process::exit(1);
        }
    };
    for group in &model.groups {
        for kind in &group.kinds {
            println!("{{\"group\":{},{}}}", text(&group.name), self::kind(kind));
        }
        for version in &group.versions {
            for (name, id) in &version.structs {
                let borrowed = version.borrowed.get(name).map_or(String::new(), Clone::clone);
                let of = &model.structs[id.0];
                let fields: Vec<String> = of.fields.iter().map(|field| self::field(&model, field)).collect();
                println!(
                    "{{\"group\":{},\"module\":{},\"version\":{},\"name\":{},\"borrowed\":{},\"shared\":{},\"role\":\"{:?}\",\"atomic\":{},\"id\":{},\
                     \"pathDefaults\":[{}],\"defaultByHand\":{},\"normalize\":{},\"fields\":[{}]}}",
                    text(&group.name),
                    text(&group.module),
                    text(&version.name),
                    text(name),
                    text(&borrowed),
                    of.version != version.name,
                    of.role,
                    of.atomic,
                    id.0,
                    of.path_defaults
                        .iter()
                        .map(|one| format!("[{},{}]", text(&one.path), literal(&one.value)))
                        .collect::<Vec<_>>()
                        .join(","),
                    text(of.default_by_hand.as_deref().unwrap_or("")),
                    text(of.normalize.as_deref().unwrap_or("")),
                    fields.join(",")
                );
            }
        }
    }
}

fn kind(kind: &Kind) -> String {
    let versions = kind
        .versions
        .iter()
        .map(|one| format!("{}:\"{:?}\"", text(&one.version), one.serving))
        .collect::<Vec<_>>()
        .join(",");
    let resource = kind.resource.as_ref().map_or("null".to_string(), |one| {
        let subresources = one.subresources.iter().map(|sub| {
            let kind = sub.kind.as_ref().map_or(String::new(), |(group, version, kind)| format!("{group}/{version} {kind}"));
            format!("[{},{},[{}]]", text(&sub.name), text(&kind), texts(&sub.verbs))
        });
        format!(
            "{{\"plural\":{},\"singular\":{},\"short\":[{}],\"categories\":[{}],\"namespaced\":{},\"verbs\":[{}],\"prefix\":{},\"json\":{},\
             \"subresources\":[{}],\"createOnUpdate\":{},\"unconditionalUpdate\":{},\"deleteReturnsObject\":{},\"gc\":\"{:?}\",\"graceful\":{},\
             \"generation\":{},\"nameRule\":{},\"watchCache\":{},\"selectable\":[{}]}}",
            text(&one.plural),
            text(&one.singular),
            texts(&one.short_names),
            texts(&one.categories),
            one.namespaced,
            texts(&one.verbs),
            one.key_prefix.as_deref().map_or("null".to_string(), text),
            one.stored_as_json,
            subresources.collect::<Vec<_>>().join(","),
            one.create_on_update,
            one.unconditional_update,
            one.delete_returns_object,
            one.garbage_collection,
            one.graceful_delete,
            one.generation != Generation::Off,
            text(&one.name_rule),
            one.watch_cache,
            texts(&one.selectable.iter().map(|one| one.label.clone()).collect::<Vec<_>>())
        )
    });
    format!(
        "\"kind\":{},\"versions\":{{{versions}}},\"storage\":{},\"list\":{},\"gate\":{},\"columns\":[{}],\"resource\":{resource}",
        text(&kind.name),
        text(&kind.storage_version),
        kind.list,
        text(kind.feature_gate.as_deref().unwrap_or("")),
        texts(&kind.columns.iter().map(|one| one.name.clone()).collect::<Vec<_>>())
    )
}

fn texts(values: &[String]) -> String {
    values.iter().map(|value| text(value)).collect::<Vec<_>>().join(",")
}

fn field(model: &Model, field: &Field) -> String {
    let (list, keys) = match &field.list {
        None => ("", Vec::new()),
        Some(ListSemantics::Atomic) => ("atomic", Vec::new()),
        Some(ListSemantics::Set) => ("set", Vec::new()),
        Some(ListSemantics::Map(keys)) => ("map", keys.clone()),
    };
    let keys: Vec<String> = keys.iter().map(|key| text(key)).collect();
    format!(
        "{{\"rust\":{},\"json\":{},\"number\":{},\"proto\":{},\"type\":{},\"nullable\":{},\"required\":{},\"omitempty\":{},\"inline\":{},\"list\":{},\
         \"keys\":[{}],\"map\":{},\"structure\":{},\"patch\":{},\"mergeKey\":{},\"default\":{},\"hidden\":{},\"gate\":{},\"deprecated\":{},\"tags\":[{}]}}",
        text(&field.name),
        text(&field.json),
        field.number,
        text(field.proto_name.as_deref().unwrap_or("")),
        text(&type_text(model, &field.ty)),
        field.nullable,
        field.required,
        field.omitempty,
        field.inline,
        text(list),
        keys.join(","),
        atomic(field.map_atomic),
        atomic(field.structure_atomic),
        text(field.patch_strategy.as_deref().unwrap_or("")),
        text(field.patch_merge_key.as_deref().unwrap_or("")),
        field.default.as_ref().map_or("null".to_string(), literal),
        field.default_hidden,
        text(field.feature_gate.as_deref().unwrap_or("")),
        field.deprecated,
        field.tags.iter().map(|tag| text(tag)).collect::<Vec<_>>().join(",")
    )
}

fn atomic(atomic: Option<bool>) -> &'static str {
    match atomic {
        None => "\"\"",
        Some(true) => "\"atomic\"",
        Some(false) => "\"granular\"",
    }
}

fn type_text(model: &Model, ty: &TypeRef) -> String {
    match ty {
        TypeRef::Enum(id) => format!("enum {}/{}", model.enums[id.0].module, model.enums[id.0].name),
        TypeRef::Struct(id) => {
            let of = &model.structs[id.0];
            format!("{}/{}.{}#{}", of.module, of.version, of.name, id.0)
        }
        TypeRef::List(inner) => format!("[]{}", type_text(model, inner)),
        TypeRef::Map(inner) => format!("map<string,{}>", type_text(model, inner)),
        scalar => format!("{scalar:?}"),
    }
}

fn literal(value: &Literal) -> String {
    match value {
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        Literal::Float(value) => value.to_string(),
        Literal::String(value) => text(value),
        Literal::List(values) => format!("[{}]", values.iter().map(literal).collect::<Vec<_>>().join(",")),
        Literal::Object(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(name, value)| format!("{}:{}", text(name), literal(value))).collect();
            format!("{{{}}}", entries.join(","))
        }
    }
}

fn text(value: &str) -> String {
    let mut out = String::from("\"");
    for c in value.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}
