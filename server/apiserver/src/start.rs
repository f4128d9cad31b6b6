//! Starts a server: as a program with its command line, or in this process.

use std::ffi::OsString;
use std::process::ExitCode;

use options::Options;

use crate::Server;
use crate::error::CommandError;
use crate::in_process::InProcess;
use crate::{
    Error, admin_commands, assets_command, convert_command, etcd_command, help_command, huge_pages, new_command, run,
    snapshot_command, standard_output,
};

impl Server {
    /// Runs the program with its command line arguments until a signal stops it.
    pub fn run(self) -> ExitCode {
        huge_pages::disable();
        match self.run_with(std::env::args_os().collect()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        }
    }

    /// Starts the server in this process for a test, on a free port and with a temporary data
    /// directory. Blocks until it is ready. A delegating server does not delegate here: only the
    /// administrator of its kubeconfig has access.
    ///
    /// # Errors
    /// Returns an error if it cannot start; its text is for the user.
    pub fn start(self) -> Result<InProcess, Error> {
        InProcess::start(self)
    }

    fn run_with(self, args: Vec<OsString>) -> Result<(), Error> {
        let rest = args.get(1..).unwrap_or_default();
        if !self.program.delegates() && args.first().is_some_and(|program| etcd_command::is_called_as_etcd(program)) {
            return Ok(etcd_command::run("etcd", rest)?);
        }
        match options::subcommand(rest) {
            Some(("assets", rest)) if !self.program.delegates() => return Ok(assets_command::run(rest)?),
            Some(("convert", rest)) => return Ok(convert_command::run(self.catalog, rest)?),
            Some(("etcd", rest)) if !self.program.delegates() => {
                return Ok(etcd_command::run("kube-apiserver etcd", rest)?);
            }
            Some(("kubeconfig", rest)) => return admin_commands::kubeconfig(self.program, &self.gates()?, rest),
            Some(("probe", rest)) => return admin_commands::probe(self.program, &self.gates()?, rest),
            Some(("new", rest)) if !self.program.delegates() => return Ok(new_command::run(rest)?),
            Some(("snapshot", rest)) => return snapshot_command::run(rest),
            Some(("help", rest)) => return Ok(help_command::run(self.program, &self.gates()?, rest)?),
            Some((other, _)) => {
                let names: Vec<_> = self.program.commands().map(|command| command.name).collect();
                let known = names.join(", ");
                return Err(CommandError::UnknownCommand { command: other.to_owned(), known }.into());
            }
            None => {}
        }
        let called = args.first().filter(|_| !self.program.delegates());
        let of_assets = called.and_then(|program| assets_command::default_flag(program));
        let own = of_assets.map(OsString::from).into_iter().chain(self.flags.iter().map(OsString::from));
        let all = args.iter().take(1).cloned().chain(own).chain(rest.iter().cloned());
        match Options::parse_for(self.program, &self.gates()?, all) {
            Ok(options) => {
                options.deprecated.iter().for_each(|warning| eprintln!("{warning}"));
                Ok(run::run_until_shutdown(&self, options)?)
            }
            Err(options::Error::Print(text)) => Ok(standard_output::print_line(text)?),
            Err(error) => Err(CommandError::from(error).into()),
        }
    }
}
