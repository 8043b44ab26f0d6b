//! How a command ends: one line, perhaps a hint, and the exit code that scripts rely on.

use std::process::ExitCode;

/// The exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything asked for is there.
    Done = 0,
    /// A gate that was asked for tripped.
    Tripped = 1,
    /// Usage or plan error.
    Usage = 2,
    /// Some of it failed; the rest is there.
    Partial = 3,
    /// Could not measure: unreachable, no permission, refused for safety.
    CannotMeasure = 4,
    /// Interrupted; what was measured is stored.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// A command that did not end well.
#[derive(Debug)]
pub struct Failure {
    /// The code to exit with.
    pub exit: Exit,
    /// What was attempted, on what, why; a `hint:` line may follow.
    pub text: String,
}

/// What commands return.
pub type Outcome = Result<Exit, Failure>;

impl Failure {
    /// A failure with `exit` and the words of `error`.
    #[expect(clippy::needless_pass_by_value, reason = "errors and texts end here; callers pass either")]
    pub fn new(exit: Exit, error: impl ToString) -> Failure {
        Failure { exit, text: error.to_string() }
    }

    /// The user asked for something that makes no sense.
    pub fn usage(error: impl ToString) -> Failure {
        Failure::new(Exit::Usage, error)
    }

    /// The world did not let us.
    pub fn cannot(error: impl ToString) -> Failure {
        Failure::new(Exit::CannotMeasure, error)
    }
}

/// Prints the failure, if any, and gives the code.
pub fn finish(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(exit) => exit.into(),
        Err(Failure { exit, text }) => {
            // With stderr closed there is nobody to tell; the code still speaks.
            crate::output::say(&format!("tenbin: {text}"));
            exit.into()
        }
    }
}
