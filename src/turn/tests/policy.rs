//! The remedy for each failure, and the delay before the next attempt.

use proptest::prelude::*;

use crate::error::{Error, ErrorCode};
use crate::turn::policy::Remedy;
use crate::turn::{Failure, Reconnect, RetryBudget};

fn http(status: u16) -> Failure {
    Error::new(ErrorCode::Http, "no").with_status(Some(status)).into()
}

fn of(code: ErrorCode) -> Failure {
    Error::new(code, "no").into()
}

fn after(mut failure: Failure, retry_after: u32) -> Failure {
    failure.retry_after = retry_after;
    failure
}

/// Every status of a failed request for a turn's stream or state.
#[test]
fn every_status_has_its_remedy() {
    for status in 400..=599 {
        let expected = match status {
            412 => Remedy::Read,
            425 | 429 | 503 => Remedy::Later,
            408 | 409 | 500 | 502 | 504..=599 => Remedy::Retry,
            400..=499 | 501 => Remedy::None,
            _ => unreachable!("{status}"),
        };
        assert_eq!(http(status).remedy(), expected, "{status}");
    }
    // Redirects that lead nowhere, and unknown statuses.
    for status in [0, 100, 304, 307] {
        assert_eq!(http(status).remedy(), Remedy::None, "{status}");
    }
    for status in [600, 999] {
        assert_eq!(http(status).remedy(), Remedy::Retry, "{status}");
    }
}

/// Every status as the response to a start: whether the turn may have begun, and whether it may still begin.
#[test]
fn every_status_says_whether_a_start_may_have_arrived() {
    for status in 400..=599 {
        let failure = http(status);
        assert_eq!(failure.may_have_begun(), status == 408 || status >= 500, "{status}");
        assert_eq!(failure.may_yet_begin(), matches!(status, 408 | 503 | 504), "{status}");
    }
}

/// Failures without a status: the remedy, whether a start may have arrived, and whether it may still be in flight.
#[test]
fn every_other_failure_has_its_remedy() {
    let cases = [
        (ErrorCode::Network, Remedy::Retry, true, true),
        (ErrorCode::Timeout, Remedy::Retry, true, true),
        (ErrorCode::Incomplete, Remedy::Retry, true, true),
        // A captive portal, or a proxy that responds by itself.
        (ErrorCode::UnexpectedResponse, Remedy::Retry, true, true),
        (ErrorCode::Token, Remedy::Retry, true, true),
        (ErrorCode::FrameTooLarge, Remedy::None, true, true),
        // A request that could not be sent.
        (ErrorCode::InvalidOption, Remedy::None, false, false),
    ];
    for (code, remedy, may_have_begun, may_yet_begin) in cases {
        let failure = of(code);
        assert_eq!(failure.remedy(), remedy, "{code:?}");
        assert_eq!(failure.may_have_begun(), may_have_begun, "{code:?}");
        assert_eq!(failure.may_have_begun() && failure.may_yet_begin(), may_yet_begin, "{code:?}");
    }
}

#[test]
fn only_failures_of_the_network_are_due_to_being_offline() {
    let offline = |failure: Failure| Failure { is_offline: true, ..failure }.of_network().is_offline;
    for code in [ErrorCode::Network, ErrorCode::Timeout, ErrorCode::Token] {
        assert!(offline(of(code)), "{code:?}");
        assert!(!of(code).of_network().is_offline, "{code:?}");
    }
    for failure in [http(503), of(ErrorCode::Rpc), of(ErrorCode::UnexpectedResponse)] {
        assert!(!offline(failure.clone()), "{failure:?}");
    }
}

/// A request that changes nothing, such as a page of a list, follows the same rules.
#[test]
fn a_request_is_sent_again_after_what_may_pass() {
    let reconnect = Reconnect { max_attempts: 2, base_delay: 100, max_delay: 150 };
    let rpc = |status| Failure::from(Error::new(ErrorCode::Rpc, "no").with_status(status));
    let cases = [
        (http(503), true),
        (http(404), false),
        (http(412), false),
        (http(501), false),
        (rpc(Some(503)), true),
        (rpc(Some(500)), true),
        (rpc(Some(404)), false),
        (rpc(None), false),
        (of(ErrorCode::Network), true),
        (of(ErrorCode::InvalidInput), false),
        (after(http(503), 300_001), false),
    ];
    for (failure, expected) in cases {
        let pause = RetryBudget::after(reconnect, 0).retry(&failure, 0.5);
        assert_eq!(pause.is_some(), expected, "{failure:?}");
    }
    let mut budget = RetryBudget::after(reconnect, 0);
    let mut wait = |failure: Failure| budget.retry(&failure, 1.0);
    assert_eq!(wait(http(503)), Some((100.0, 0.0)));
    assert_eq!(
        wait(Failure { is_offline: true, ..of(ErrorCode::Network) }),
        Some((150.0, 0.0)),
        "it does not count"
    );
    assert_eq!(wait(after(http(503), 1000)), Some((1150.0, 1000.0)));
    assert_eq!(wait(http(503)), None, "two attempts are all");
    assert!(RetryBudget::after(Reconnect::OFF, 0).retry(&http(503), 1.0).is_none());
}

#[test]
fn no_server_makes_a_turn_wait_longer_than_five_minutes() {
    for failure in [http(503), http(429), http(412), http(500)] {
        let remedy = failure.remedy();
        assert_eq!(after(failure.clone(), 300_000).remedy(), remedy, "{failure:?}");
        assert_eq!(after(failure.clone(), 300_001).remedy(), Remedy::None, "{failure:?}");
        assert_eq!(after(failure, u32::MAX).remedy(), Remedy::None);
    }
}

/// The longest delay before each attempt: it doubles, up to the limit.
#[test]
fn waits_double_up_to_their_limit() {
    let longest = |reconnect: Reconnect| {
        move |attempt: u32| {
            // The largest number below 1, for the longest possible delay.
            reconnect.delay(attempt, 1.0 - f64::EPSILON).round()
        }
    };
    let given: Vec<f64> = (1..=7).map(longest(Reconnect::default())).collect();
    assert_eq!(given, [500.0, 1000.0, 2000.0, 4000.0, 8000.0, 8000.0, 8000.0]);
    let cases = [
        ((100, 1000), 1, 100.0),
        ((100, 1000), 4, 800.0),
        ((100, 1000), 5, 1000.0),
        ((100, 50), 1, 50.0),
        ((0, 1000), 9, 0.0),
        // No number of attempts overflows.
        ((1, u32::MAX), 17, 65_536.0),
        ((1, u32::MAX), u32::MAX, 65_536.0),
        ((u32::MAX, u32::MAX), 40, 4_294_967_295.0),
        ((500, 8000), 0, 500.0),
    ];
    for ((base_delay, max_delay), attempt, expected) in cases {
        let reconnect = Reconnect { max_attempts: 10, base_delay, max_delay };
        let longest = longest(reconnect)(attempt);
        assert!((longest - expected).abs() < 0.5, "{reconnect:?} {attempt}: {longest}");
    }
}

proptest! {
    /// Full jitter: from nothing to the longest delay, in proportion to the random number.
    #[test]
    fn waits_are_as_long_as_chance_has_it(
        base_delay: u32,
        max_delay: u32,
        attempt in 0..100_u32,
        random in 0.0..1.0,
    ) {
        let reconnect = Reconnect { max_attempts: 10, base_delay, max_delay };
        let (shortest, delay, longest) =
            (reconnect.delay(attempt, 0.0), reconnect.delay(attempt, random), reconnect.delay(attempt, 1.0));
        prop_assert!(shortest.abs() < f64::EPSILON);
        prop_assert!(longest <= f64::from(max_delay));
        prop_assert!((0.0..=longest).contains(&delay));
        prop_assert!((delay - longest * random).abs() < 1e-3);
    }
}
