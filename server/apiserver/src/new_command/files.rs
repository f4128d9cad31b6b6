//! Files of a new crate, generated from templates.

use std::path::Path;

use super::checkout::Checkout;
use super::names;
use crate::error::NewError;

/// Paths and templates. A name in `@` is a placeholder.
const TEMPLATES: [(&str, &str); 13] = [
    (".cargo/config.toml", include_str!("../../templates/config.toml")),
    (".gitignore", include_str!("../../templates/gitignore")),
    ("Cargo.toml", include_str!("../../templates/package.toml")),
    ("Dockerfile", include_str!("../../templates/Dockerfile")),
    ("README.md", include_str!("../../templates/README.md")),
    ("api-defs/@group@/@file@.rs", include_str!("../../templates/kind.rs")),
    ("api-defs/@group@/group.rs", include_str!("../../templates/group.rs")),
    ("build.rs", include_str!("../../templates/build.rs")),
    ("deploy/apiservice.yaml", include_str!("../../templates/apiservice.yaml")),
    ("deploy/deployment.yaml", include_str!("../../templates/deployment.yaml")),
    // Cargo requires the library before the build script has generated it.
    ("generated/src/lib.rs", include_str!("../../templates/lib.rs")),
    ("main.rs", include_str!("../../templates/main.rs")),
    ("tests/server.rs", include_str!("../../templates/tests.rs")),
];

/// A crate to generate.
pub struct Scaffold<'a> {
    pub name: &'a str,
    pub group: &'a str,
    pub kind: &'a str,
    pub checkout: &'a Checkout,
    /// The absolute path.
    pub folder: &'a Path,
}

impl Scaffold<'_> {
    /// Returns paths relative to the folder, with the content of the files.
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>, NewError> {
        let values = self.values();
        let fill = |text: &str| values.iter().fold(text.to_owned(), |text, (word, value)| text.replace(word, value));
        let mut files: Vec<_> =
            TEMPLATES.iter().map(|(path, template)| (fill(path), fill(template).into_bytes())).collect();
        // Pins all dependencies to the versions of the checkout.
        files.push(("Cargo.lock".to_owned(), self.checkout.lock()?));
        Ok(files)
    }

    /// Returns the placeholders and their values.
    fn values(&self) -> [(&'static str, String); 10] {
        [
            ("@name@", self.name.to_owned()),
            ("@library@", names::library(self.name)),
            ("@service@", names::label(self.name)),
            ("@group@", self.group.to_owned()),
            ("@kind@", self.kind.to_owned()),
            ("@file@", self.kind.to_ascii_lowercase()),
            ("@plural@", names::plural(self.kind)),
            ("@rust-version@", env!("CARGO_PKG_RUST_VERSION").to_owned()),
            ("@checkout@", self.checkout.relative_to(self.folder)),
            ("@checkout-from-config@", self.checkout.relative_to(&self.folder.join(".cargo"))),
        ]
    }
}
