//! Collects the errors of a command line.

/// Errors in the order in which they were found.
#[derive(Default)]
pub(super) struct ErrorList(Vec<String>);

impl ErrorList {
    /// Returns the value, or records the error.
    pub(super) fn checked<T>(&mut self, result: Result<T, String>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Records an error, once.
    pub(super) fn push(&mut self, error: String) {
        if !self.0.contains(&error) {
            self.0.push(error);
        }
    }

    /// Returns the value if there were no errors; otherwise the errors, one per line when there are
    /// several.
    pub(super) fn or<T>(self, value: Option<T>) -> Result<T, String> {
        match (self.0.as_slice(), value) {
            ([], Some(value)) => Ok(value),
            ([one], _) => Err(one.clone()),
            (several, _) => {
                let lines = several.iter().map(|error| format!("\n  {error}")).collect::<String>();
                Err(format!("the command line has {} mistakes:{lines}", several.len()))
            }
        }
    }
}
