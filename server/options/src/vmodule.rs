//! Verbosities of source files (`--vmodule`).

use regex::Regex;

use crate::error::ValueError;

/// The verbosity of matching source files (`--vmodule`).
#[derive(Clone, Debug)]
pub struct Module {
    /// Matches the name of the file without its extension, or its path if the pattern has a slash.
    pattern: Regex,
    of_path: bool,
    /// The verbosity of matching files.
    pub verbosity: u32,
}

impl PartialEq for Module {
    fn eq(&self, other: &Self) -> bool {
        (self.pattern.as_str(), self.verbosity) == (other.pattern.as_str(), other.verbosity)
    }
}

impl Module {
    /// Parses `pattern=N`; in the pattern, `*` matches any text and `?` any character.
    ///
    /// # Errors
    /// The text is malformed; the message is upstream's (`VModuleConfigurationPflag`).
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let parts = text.split_once('=').filter(|(glob, level)| !glob.is_empty() && !level.is_empty());
        let (glob, level) = parts.ok_or_else(|| ValueError::Module { text: text.to_owned() })?;
        let verbosity = level
            .parse()
            .map_err(|_| ValueError::ModuleVerbosity { text: text.to_owned(), level: level.to_owned() })?;
        let pattern = regex::escape(glob).replace("\\*", "[^/]*").replace("\\?", "[^/]");
        let pattern = Regex::new(&format!("^{pattern}$"))?;
        Ok(Module { pattern, of_path: glob.contains('/'), verbosity })
    }

    /// Whether the pattern matches a source file.
    pub fn is_of(&self, file: &str) -> bool {
        let file = file.strip_suffix(".rs").unwrap_or(file);
        let name = file.rsplit('/').next().unwrap_or(file);
        self.pattern.is_match(if self.of_path { file } else { name })
    }
}
