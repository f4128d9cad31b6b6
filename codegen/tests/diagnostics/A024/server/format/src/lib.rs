pub enum DeclaredFormat {
    ShortName,
    LongName,
    Uuid,
}

pub enum NameRule {
    Dns1123Subdomain,
    PathSegment,
}

pub fn dns1123_label(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    Vec::new()
}
