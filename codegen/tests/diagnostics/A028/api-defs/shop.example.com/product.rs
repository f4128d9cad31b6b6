/// What happens on shortage.
pub enum OnShortage {
    Backorder(i32),
    Refuse,
    #[value("Refuse")]
    Decline,
}
