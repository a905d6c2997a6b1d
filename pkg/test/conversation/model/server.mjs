// The model's server: one session, its turns, and what it takes and refuses.
import assert from "node:assert/strict";

const needsAnswer = ({ who }) => who !== "signIn";

export class Server {
  turns = [];
  /** Every answer that was taken: turn, call, answer. */
  answers = [];
  #calls = 0;

  constructor(protocol, hasSession) {
    this.protocol = protocol;
    this.hasSession = hasSession;
  }

  /** The turn with this id. */
  find(id) {
    return this.turns.findLast((turn) => turn.id === id);
  }

  #running(id) {
    const turn = this.find(id);
    return turn?.state === "running" ? turn : undefined;
  }

  get isBusy() {
    return this.turns.some(({ state }) => state === "running");
  }

  /** How often a text has arrived as a turn or in one. */
  count(text) {
    return this.turns.reduce((sum, { input, said }) => sum + Number(input === text) + said.filter((other) => other === text).length, 0);
  }

  /** The ids of the turn and of those before it, oldest first. Those that continue each other are one. */
  chain(id) {
    const chain = [];
    for (let turn = this.find(id); turn; turn = this.find(turn.previous)) chain.unshift(turn.id);
    return chain;
  }

  /** Starts a turn. Returns its id and that of the turn before it, or nothing if it is refused. */
  start({ after, asking, input, discard }) {
    const { fork, discardPending, sameIds } = this.protocol;
    const previous = this.#previous(after, fork);
    if (previous === undefined || this.isBusy) return undefined;
    const before = this.find(previous);
    const waiting = before?.calls ?? [];
    let id = `s${this.turns.length}`;
    if (input === null) {
      if (waiting.length === 0) return undefined;
    } else if ("message" in input) {
      if (waiting.some(needsAnswer) && !(discard && discardPending)) return undefined;
    } else {
      const isAnswered = waiting.length === 0 && previous !== "" && this.turns.some((turn) => turn.previous === previous);
      const isAll = waiting.filter(needsAnswer).every((call) => input.answers.some(([known]) => known === call.id));
      const isAsked = input.answers.every(([call]) => waiting.some(({ id }) => id === call));
      if (isAnswered || asking !== previous || waiting.length === 0 || !isAll || !isAsked) return undefined;
      this.#takeAnswers(previous, input.answers);
      if (sameIds) id = previous;
    }
    if (before) before.calls = [];
    if (id === previous) {
      // The same turn goes on.
      before.state = "running";
      return { id, previous: before.previous };
    }
    this.turns.push({ id, previous, input: input?.message ?? "", state: "running", calls: [], asked: [], said: [] });
    return { id, previous };
  }

  /** The id of the turn that a new one follows; nothing if it cannot follow that. */
  #previous(after, fork) {
    if (after === "newest") return this.turns.at(-1)?.id ?? "";
    if (!fork) return undefined;
    if (after === "nothing") return "";
    return this.find(after.id)?.id;
  }

  #takeAnswers(turn, given) {
    for (const [call, answer] of given) {
      assert.ok(!this.answers.some((taken) => taken.call === call), `the server took a second answer to ${call}`);
      this.answers.push({ turn, call, answer });
    }
  }

  /** A running turn asks. */
  ask(id, who) {
    this.find(id).calls.push({ id: `c${this.#calls}`, who });
    this.#calls += 1;
  }

  end(id, end) {
    const turn = this.#running(id);
    if (!turn) return;
    turn.state = end;
    if (end !== "done") turn.calls = [];
    turn.asked = [...turn.calls];
  }

  /** Takes an answer while the turn runs. */
  answer(id, call, answer) {
    const turn = this.#running(id);
    if (!turn?.calls.some((known) => known.id === call)) return false;
    turn.calls = turn.calls.filter((known) => known.id !== call);
    this.#takeAnswers(id, [[call, answer]]);
    return true;
  }

  /** Takes a message while the turn runs. */
  steer(id, text) {
    const turn = this.#running(id);
    turn?.said.push(text);
    return turn !== undefined;
  }

  /** The page of turns before this one, or the newest. */
  page(before) {
    const at = this.turns.findIndex(({ id }) => id === before);
    const end = at < 0 ? this.turns.length : at;
    const start = Math.max(0, end - this.protocol.page);
    const turns = this.turns.slice(start, end).map(({ id, previous, input, state, asked, said }) => ({
      id,
      previous: this.protocol.fork ? previous : "",
      input,
      state,
      // Lists have a turn's questions even if others have answered them.
      calls: state === "running" ? [] : [...asked],
      said: [...said],
    }));
    return { turns, hasEarlier: start > 0 };
  }
}
