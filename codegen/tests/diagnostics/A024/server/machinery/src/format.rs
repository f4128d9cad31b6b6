pub enum DeclaredFormat {
    ShortName,
    LongName,
    Uuid,
}
