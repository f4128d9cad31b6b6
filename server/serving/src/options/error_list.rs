//! What is wrong with a command line, all of it at once.

/// ErrorList in the order in which they were found.
#[derive(Default)]
pub(super) struct ErrorList(Vec<String>);

impl ErrorList {
    /// The value, unless there was a mistake, which is noted.
    pub(super) fn checked<T>(&mut self, result: Result<T, String>) -> Option<T> {
        result.map_err(|mistake| self.note(mistake)).ok()
    }

    /// Notes a mistake, once.
    pub(super) fn note(&mut self, mistake: String) {
        if !self.0.contains(&mistake) {
            self.0.push(mistake);
        }
    }

    /// The value if there was no mistake at all; otherwise what they are, a line each when there are several.
    pub(super) fn or<T>(self, value: Option<T>) -> Result<T, String> {
        match (self.0.as_slice(), value) {
            ([], Some(value)) => Ok(value),
            ([one], _) => Err(one.clone()),
            (several, _) => {
                let lines = several.iter().map(|mistake| format!("\n  {mistake}")).collect::<String>();
                Err(format!("the command line has {} mistakes:{lines}", several.len()))
            }
        }
    }
}
