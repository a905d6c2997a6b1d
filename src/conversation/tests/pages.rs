//! Pages of the server's turns, and the tree that they make.

use super::*;

fn loaded(options: Options, turns: Vec<Listed>, has_earlier: bool) -> Plan {
    play("loaded", options, vec![(Fact::Attach, "load"), (page(turns, has_earlier), "")])
}

#[test]
fn a_list_may_begin_with_its_oldest_or_newest_turn() {
    let turns = || vec![listed("x", "", "a"), listed("y", "x", "b"), listed("z", "y", "c")];
    let mut newest_first = turns();
    newest_first.reverse();
    assert_eq!(path(&loaded(all(), turns(), false)), "x y z");
    assert_eq!(path(&loaded(all(), newest_first, false)), "x y z");
    let dated = |id: &str, at: &str| Listed { created_at: at.to_owned(), ..listed(id, "", id) };
    assert_eq!(path(&loaded(linear(), vec![dated("x", "1"), dated("y", "2")], false)), "x y");
    assert_eq!(path(&loaded(linear(), vec![dated("y", "2"), dated("x", "1")], false)), "x y");
}

#[test]
fn abandoned_branches_are_not_shown() {
    let turns = vec![
        listed("x", "", "a"),
        listed("y", "x", "b"),
        listed("z", "y", "c"),
        listed("v", "x", "b"),
        listed("w", "v", "d"),
    ];
    let mut plan = loaded(all(), turns, false);
    assert_eq!(path(&plan), "x v w");
    let branch = plan.branch(plan.path()[1].key).expect("siblings");
    assert_eq!((branch.at, branch.of.len()), (1, 2));
    let _ = plan.take(Fact::Show { turn: branch.of[0] });
    assert_eq!(path(&plan), "x y z", "to the newest turn of the branch");
    assert_eq!(take(&mut plan, send("e")), "start 6 after z: e");
    assert_eq!(path(&plan), "x y z e");
}

#[test]
fn earlier_pages_come_before_and_gaps_are_kept() {
    for options in [all(), linear()] {
        let previous = |id: &'static str| if options.fork { id } else { "" };
        let mut plan =
            loaded(options, vec![listed("c", previous("b"), "3"), listed("d", previous("c"), "4")], true);
        assert_eq!(path(&plan), "c d");
        assert_eq!(take(&mut plan, Fact::LoadEarlier), "load before 1");
        assert_eq!(take(&mut plan, page(vec![listed("b", previous("a"), "2")], true)), "");
        assert_eq!(path(&plan), "b c d");
        // Others have sent more than a page.
        assert_eq!(take(&mut plan, Fact::CatchUp), "load");
        let newest = vec![listed("g", previous("f"), "7"), listed("h", previous("g"), "8")];
        assert_eq!(take(&mut plan, page(newest, true)), "");
        assert_eq!(path(&plan), "g h");
        assert_eq!(take(&mut plan, Fact::LoadEarlier), "load before 4");
        let between = vec![
            listed("d", previous("c"), "4"),
            listed("e", previous("d"), "5"),
            listed("f", previous("e"), "6"),
        ];
        assert_eq!(take(&mut plan, page(between, true)), "");
        assert_eq!(path(&plan), "b c d e f g h");
        assert_eq!(take(&mut plan, Fact::LoadEarlier), "load before 3");
        assert_eq!(take(&mut plan, page(vec![listed("a", "", "1")], false)), "");
        assert_eq!(path(&plan), "a b c d e f g h");
        assert!(!plan.status().has_earlier);
    }
}

#[test]
fn turns_of_others_are_adopted_and_read() {
    let mut plan = loaded(all(), vec![listed("x", "", "a")], false);
    let _ = plan.take(Fact::CatchUp);
    let running = Listed { state: ListedState::Running, ..listed("y", "x", "b") };
    assert_eq!(take(&mut plan, page(vec![listed("x", "", "a"), running], false)), "watch 2");
    assert_eq!((path(&plan).as_str(), plan.phase()), ("x y", Phase::Thinking));
    assert_eq!(take(&mut plan, send("c")), "", "it waits for the other's turn");
    assert_eq!(take(&mut plan, ended(2, &[])), "start 3 after newest: c");
}

#[test]
fn a_page_that_is_older_than_what_was_heard_does_not_count() {
    let running = Listed { state: ListedState::Running, ..listed("x", "", "a") };
    let asks = Listed { calls: waiting(&[("c", Who::Person)]), ..listed("x", "", "a") };
    for stale in [running, asks] {
        let steps = vec![
            (send("a"), "start 1 after newest: a"),
            (named(1, "x"), ""),
            (Fact::CatchUp, "load"),
            (ended(1, &[]), ""),
            (page(vec![stale], false), ""),
        ];
        let plan = play("stale", all(), steps);
        assert_eq!((plan.phase(), plan.pending().len()), (Phase::Idle, 0));
    }
}

#[test]
fn a_turn_that_was_left_is_read_on_when_it_is_shown() {
    let leaving = Options { leaves_unseen: true, ..all() };
    play(
        "left",
        leaving,
        vec![
            (send("a"), "start 1 after newest: a"),
            (named(1, "x"), ""),
            (Fact::Detach, "leave 1"),
            (Fact::Attach, "watch 1; load"),
            (Fact::Attach, ""),
        ],
    );
    play(
        "followed",
        all(),
        vec![(send("a"), "start 1 after newest: a"), (named(1, "x"), ""), (Fact::Detach, "")],
    );
}

#[test]
fn keys_come_of_ids_only_where_the_list_was_first() {
    let mut plan = loaded(all(), vec![listed("x", "", "a")], false);
    let _ = plan.take(send("b"));
    let _ = plan.take(named(2, "y"));
    let names: Vec<String> = plan.path().iter().map(|turn| plan.name(turn.key)).collect();
    assert_eq!(names, ["tx", "n2"]);
    let _ = plan.take(ended(2, &[]));
    let _ = plan.take(Fact::CatchUp);
    let _ = plan.take(page(vec![listed("x", "", "a"), listed("y", "x", "b")], false));
    let names: Vec<String> = plan.path().iter().map(|turn| plan.name(turn.key)).collect();
    assert_eq!(names, ["tx", "n2"], "not when the server lists it");
}

#[test]
fn hostile_lists_end() {
    let circle =
        vec![listed("x", "y", "a"), listed("y", "x", "b"), listed("y", "y", "b"), listed("", "", "")];
    let plan = loaded(all(), circle.clone(), true);
    assert!(plan.path().len() <= 4);
    assert!(loaded(linear(), circle, true).path().len() <= 4);
}
