/// What happens on shortage.
pub enum OnShortage {
    Backorder,
}
