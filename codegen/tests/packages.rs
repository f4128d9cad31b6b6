//! What the sources of a generated package depend on.

use std::path::Path;

use codegen::emit;
use codegen::model::{Model, Package};

/// Returns the model of this repository.
fn whole() -> Model {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    codegen::load(&root).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

/// Its build script does not watch other packages' groups, and nearly all crates depend on it.
#[test]
fn apimachinery_does_not_depend_on_groups_of_other_packages() {
    let model = whole();
    let mut alone = model.clone();
    alone.groups.retain(|group| group.package == Package::Apimachinery);
    for s in &mut alone.structs {
        let declared_here = alone.groups.iter().any(|group| group.module == s.module);
        if !declared_here {
            // What a person can change in another group.
            s.direct = !s.direct;
            s.fields.retain(|field| field.default.is_none());
        }
    }
    let render = |model: &Model| emit::render(model, Package::Apimachinery, "");
    let (of_whole, of_alone) = (render(&model), render(&alone));
    assert!(of_whole.len() > 10, "the package has sources");
    for (file, same) in of_whole.iter().zip(&of_alone) {
        assert_eq!((&file.path, &file.bytes), (&same.path, &same.bytes), "{}", file.path);
    }
    assert_eq!(of_whole.len(), of_alone.len());
}
