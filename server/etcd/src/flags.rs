//! etcd's command line, with the semantics of Go's `flag` package.

mod parse;
mod table;
mod values;

use std::ffi::OsString;

use crate::{Error, Parsed, version::VERSION};
use table::{Effect, FLAGS};

/// How the program was called: `etcd`, or `kube-apiserver etcd`.
const DIRECT: &str = "etcd";

/// Returns the help of the command.
pub fn help(program: &'static str) -> String {
    let mut text = format!(
        "Usage: {program} [FLAGS]\n\n\
         Serves etcd's API (version 3) from an embedded store, as the only member of a cluster.\n\
         The flags are those of etcd {VERSION}; each can also be set by an environment variable, such as ETCD_DATA_DIR.\n\n\
         Flags:\n"
    );
    for (title, of_effect) in [("", false), ("\nFlags that have no meaning for a single member:\n", true)] {
        text.push_str(title);
        for flag in FLAGS.iter().filter(|flag| matches!(flag.effect, Effect::None) == of_effect) {
            let default = if flag.default.is_empty() { String::new() } else { format!(" '{}'", flag.default) };
            text.push_str(&format!("  --{}{default}\n", flag.name));
            if !flag.help.is_empty() {
                text.push_str(&format!("        {}\n", flag.help));
            }
        }
    }
    text
}

/// Returns the version in etcd's form.
pub fn version() -> String {
    format!("etcd Version: {VERSION}\nServed by: kube-apiserver {}\n", env!("CARGO_PKG_VERSION"))
}

impl crate::Options {
    /// Parses the arguments after the program's name, and `ETCD_` variables of the environment for flags
    /// that the arguments do not set.
    ///
    /// # Errors
    /// A flag is unknown or has an invalid value, or selects what this server does not have.
    pub fn parse(
        program: &'static str,
        args: &[OsString],
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Parsed, Error> {
        match parse::arguments(program, args)? {
            parse::Given::Help => Ok(Parsed::Print(help(program))),
            parse::Given::Version => Ok(Parsed::Print(version())),
            parse::Given::Flags(mut given) => {
                parse::add_environment(&mut given, environment);
                values::options(&given).map(|options| Parsed::Run(Box::new(options)))
            }
        }
    }

    /// The options without any flag.
    ///
    /// # Errors
    /// None in fact: the defaults are valid.
    pub fn defaults() -> Result<Self, Error> {
        values::options(&parse::arguments_of(DIRECT, &[])?)
    }
}

#[cfg(test)]
mod tests;
