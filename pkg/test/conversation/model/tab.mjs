// A tab: its plan, and its carrier's requests in flight.
import { OpenPlan } from "../plan.mjs";

export class Tab {
  stored = "";
  /** Requests in flight to the server, and those whose responses are in flight. */
  flying = [];
  /** The turns whose streams are read: the latest report of each. */
  watched = [];
  /** The ids that turns got. */
  ids = new Map();
  /** A person has sent a sibling here since the page was loaded, or has chosen a branch: the path may be another one. */
  hasBranched = false;
  isShown = false;
  isLeading = false;
  /** All facts that the plan received and their effects, for a replay. */
  steps = [];

  constructor(options) {
    this.options = options;
    this.plan = new OpenPlan(options);
    this.knowsSession = options.hasSession;
  }

  /** The id of a turn, as the carrier knows it; empty for none. */
  idOf(turn) {
    return this.ids.get(turn) ?? this.plan.turn(turn)?.id ?? "";
  }

  watch(turn, id) {
    this.unwatch(turn);
    this.watched.push({ turn, id, calls: [], said: 0 });
  }

  unwatch(turn) {
    this.watched = this.watched.filter((watched) => watched.turn !== turn);
  }
}
