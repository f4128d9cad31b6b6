//! Parses the command line with clap, with the semantics of Go's pflag.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command};

use machinery::features::KnownGates;

use crate::error::Error;
use crate::flag::{Flag, FlagType, Section};
use crate::program::{ServerProgram, Subcommand};
use crate::values::FlagValues;
use crate::version;

const ABOUT: &str = "The Kubernetes API server: validates, stores, and serves the objects of a cluster.\n\
                     Without flags it serves https://127.0.0.1:6443 and stores its data in ./kube-apiserver-data.";

const ABOUT_DELEGATING: &str =
    "An extension API server, which delegates authentication and authorization to another API server.";

/// The subcommands precede the flags, which fill several screens.
const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}";

impl Section {
    pub(super) fn title(self) -> &'static str {
        match self {
            Section::ThisServer => "This server flags",
            Section::Generic => "Generic flags",
            Section::Storage => "Storage flags",
            Section::SecureServing => "Secure serving flags",
            Section::Auditing => "Auditing flags",
            Section::Features => "Features flags",
            Section::Authentication => "Authentication flags",
            Section::Authorization => "Authorization flags",
            Section::ApiEnablement => "API enablement flags",
            Section::EgressSelector => "Egress selector flags",
            Section::Admission => "Admission flags",
            Section::Controllers => "Controllers flags",
            Section::Metrics => "Metrics flags",
            Section::Logs => "Logs flags",
            Section::Traces => "Traces flags",
            Section::Misc => "Misc flags",
        }
    }
}

impl Flag {
    fn arg(&self, gates: &KnownGates) -> Arg {
        let arg = Arg::new(self.name).long(self.name).action(ArgAction::Append).help_heading(self.section.title());
        let arg = match self.kind {
            FlagType::Bool => arg.num_args(0..=1).require_equals(true).default_missing_value("true").value_name("BOOL"),
            _ => arg.num_args(1).allow_hyphen_values(true).value_name(self.value),
        };
        let arg = if self.name == "v" { arg.short('v') } else { arg };
        arg.help(match self.default {
            "" => self.help_text(gates),
            default => format!("{} [default: {default}]", self.help_text(gates)),
        })
    }

    /// The help of the flag. That of the flag of feature gates lists the gates, one per line.
    pub(super) fn help_text(&self, gates: &KnownGates) -> String {
        match self.name {
            "feature-gates" => gates.texts().fold(self.help.to_owned(), |text, gate| text + "\n" + &gate),
            _ => self.help.to_owned(),
        }
    }
}

pub(super) fn command(program: ServerProgram, flags: &[&Flag], gates: &KnownGates) -> Command {
    let name = program.name();
    let about = if program.delegates() { ABOUT_DELEGATING } else { ABOUT };
    let names: Vec<_> = program.commands().map(|command| command.name).collect();
    let usage = format!("{name} [FLAGS]\n       {name} {} ...", names.join("|"));
    Command::new(name)
        .about(about)
        .before_help(commands(program))
        .help_template(TEMPLATE)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .override_usage(usage)
        .args(flags.iter().map(|flag| flag.arg(gates)))
        .arg(
            Arg::new("version")
                .long("version")
                .action(ArgAction::Append)
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_name("BOOL")
                .help("Print the version and quit"),
        )
}

/// The subcommands with their summaries. Each describes its arguments itself.
fn commands(program: ServerProgram) -> String {
    let width = program.commands().map(|command| command.name.len()).max().unwrap_or_default();
    let line = |command: &Subcommand| format!("  {:width$}  {}\n", command.name, command.summary);
    let lines: String = program.commands().map(line).collect();
    format!("Commands (without one, the server runs; `{} COMMAND --help` describes it):\n{lines}", program.name())
}

/// Parses a command line that starts with the program's name.
pub(super) fn read(
    program: ServerProgram,
    gates: &KnownGates,
    args: impl IntoIterator<Item = impl Into<OsString>>,
) -> Result<FlagValues, Error> {
    let flags = program.flags();
    let args = args.into_iter().map(|arg| hyphenated(arg.into()));
    let matches = command(program, &flags, gates).try_get_matches_from(args).map_err(refusal)?;
    if matches.get_many::<String>("version").and_then(|mut v| v.next_back()).is_some_and(|v| v != "false") {
        return Err(Error::Print(format!("Kubernetes {}", version::GIT_VERSION)));
    }
    Ok(values(&flags, &matches, gates))
}

/// The given values and the defaults. Flags that the program does not have get the defaults of
/// kube-apiserver.
fn values(flags: &[&'static Flag], matches: &ArgMatches, gates: &KnownGates) -> FlagValues {
    let given = |flag: &&'static Flag| {
        matches.get_many::<String>(flag.name).map(|values| (flag.name, values.cloned().collect()))
    };
    let all = ServerProgram::KubeApiserver.flags();
    let defaults = all.iter().chain(flags).map(|flag| (flag.name, flag.default));
    FlagValues::new(defaults, flags.iter().filter_map(given), gates)
}

fn refusal(error: clap::Error) -> Error {
    match error.kind() {
        ErrorKind::DisplayHelp => Error::Print(error.to_string()),
        _ => Error::Usage(error),
    }
}

/// Normalizes `--secure_port` to `--secure-port`, as upstream (`WordSepNormalizeFunc`).
fn hyphenated(arg: OsString) -> OsString {
    let Some(text) = arg.to_str().filter(|text| text.starts_with("--")) else { return arg };
    let (name, value) = text.split_at(text.find('=').unwrap_or(text.len()));
    format!("{}{value}", name.replace('_', "-")).into()
}
