//! The bearer token of a server's requests.

use std::fmt;
use std::rc::Rc;

use futures::future::LocalBoxFuture;

use crate::error::Result;

/// A bearer token. Errors and logs never contain it.
#[derive(Clone)]
pub enum Token {
    /// The same for every request.
    Fixed(String),
    /// Asked for before every request, and once more after a `401`, so that it may be renewed. Fail with
    /// [`ErrorCode::Token`](crate::ErrorCode::Token) if there is none.
    Renewed(Rc<dyn Fn() -> LocalBoxFuture<'static, Result<String>>>),
}

impl Token {
    /// A token that is asked for before every request.
    pub fn renewed<F>(ask: impl Fn() -> F + 'static) -> Self
    where
        F: Future<Output = Result<String>> + 'static,
    {
        Self::Renewed(Rc::new(move || Box::pin(ask())))
    }

    pub(super) fn can_be_renewed(&self) -> bool {
        matches!(self, Self::Renewed(_))
    }

    pub(super) async fn get(&self) -> Result<String> {
        match self {
            Self::Fixed(token) => Ok(token.clone()),
            Self::Renewed(ask) => ask().await,
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}
