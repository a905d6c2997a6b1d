// What a plan shows holds for the following steps of a tab, from its loading on.
import assert from "node:assert/strict";

const RUNNING = ["sending", "thinking", "answering", "working", "waiting", "stopping", "reconnecting"];
/** How many turns may follow each other with results of tools alone. */
const MAX_ROUNDS = 10;

export class Promises {
  /** The answers that were kept here when the page was left, by their calls. */
  #kept = new Map();
  /** Those of them that no person has released, and the inputs that were in the queue when all was stopped. */
  #heldCalls = new Set();
  #stopped = new Set();
  #rounds = 0;
  #running = new Set();

  /** The page comes back: answers that were kept are still kept. */
  keep(calls) {
    const kept = calls.filter(({ answer, sent }) => answer !== "" && !sent);
    for (const { call, answer } of kept) this.#kept.set(call, answer);
    this.#heldCalls = new Set(kept.filter(({ who }) => who !== "tool").map(({ call }) => call));
  }

  /** What was shown before a fact, and after it. */
  check(fact, before, taken, after) {
    if (typeof taken === "string") {
      if (fact.kind === "send" && fact.input !== "" && !fact.discard) assert.ok(!before.canSend, `a message was refused: ${taken}`);
      return;
    }
    const { key, effects } = taken;
    const did = (kind) => effects.filter((effect) => effect.kind === kind);
    this.#checkHeld(fact, before, effects);
    if (fact.kind === "send") checkSent(fact, before, key, after);
    else if (fact.kind === "stop") {
      const has = did("cancel").length + did("stopTools").length + did("giveBack").length > 0;
      assert.equal(has, before.canStop, before.canStop ? "what can be stopped was not" : "something was stopped that could not be");
      if (before.canStop) assert.ok(!after.queue.some(({ state }) => state === "waits"), "the queue is held when something is stopped");
      assert.ok(!after.canStop, "what was stopped can be stopped");
    } else if (fact.kind === "steerQueued") assert.ok(before.canSteer && did("steer").length === 1, "what cannot be steered was");
    else if (fact.kind === "show") assert.ok(after.path.some((turn) => turn.key === fact.turn) || !before.path.some((turn) => turn.key === fact.turn));
    else if (fact.kind === "answer") this.#kept.delete(fact.call);
    if (fact.kind === "hold") assert.ok(!after.queue.some(({ state }) => state === (fact.on ? "waits" : "held")));
    if (fact.kind === "restored") assert.deepEqual(after.queue.filter(({ state }) => state === "waits"), [], "nothing leaves by itself after a reload");
    if (hasFailed(fact, before, after)) assert.ok(!after.queue.some(({ state }) => state === "waits"), "what fails holds the queue");
    this.#checkTools(fact, effects);
    checkPhase(after);
  }

  /** Nothing that is held is sent before a person says so. */
  #checkHeld({ kind, key, on }, before, effects) {
    if (kind === "answer" || kind === "proceed") this.#heldCalls.clear();
    if (kind === "hold" && !on) this.#stopped.clear();
    if (kind === "sendNow" || kind === "steerQueued") this.#stopped.delete(key);
    for (const effect of effects) {
      const calls = effect.kind === "answer" ? [effect.call] : effect.kind === "start" ? (effect.input?.answers?.map(([call]) => call) ?? []) : [];
      for (const call of calls) assert.ok(!this.#heldCalls.has(call), `a person's answer to ${call} leaves by itself after a reload`);
      if (effect.kind === "start") assert.ok(!this.#stopped.has(effect.turn), `input ${effect.turn} leaves by itself after a stop`);
    }
    if (kind === "stop" && before.canStop) for (const item of before.queue) this.#stopped.add(item.key);
  }

  /** A tool runs once for a call, and the agent alone does not continue without end. */
  #checkTools(fact, effects) {
    if (fact.kind === "toolEnded") this.#running.delete(fact.call);
    // A person has said so.
    if (["send", "answer", "proceed", "retry", "regenerate", "edit", "sendNow"].includes(fact.kind)) this.#rounds = 0;
    for (const { kind, call, input } of effects) {
      if (kind === "stopTools") this.#running.clear();
      if (kind === "runTool") {
        assert.ok(!this.#running.has(call), `the tool of ${call} runs twice`);
        this.#running.add(call);
      }
      if (kind !== "start" || !input || !("answers" in input)) continue;
      for (const [answered] of input.answers) this.#kept.delete(answered);
      this.#rounds += 1;
    }
    assert.ok(this.#rounds <= MAX_ROUNDS + 1, `${this.#rounds} rounds without a person`);
  }

  /** What must be true at rest. */
  checkRest(tab, server) {
    const { plan } = tab;
    const { calls, queue, phase, path, canSend } = plan.view();
    const tip = path.findLast(({ id }) => id !== "");
    const waits = server.find(tip?.id)?.calls ?? [];
    const asked = calls.map(({ call, who }) => ({ id: call, who }));
    assert.deepEqual(asked, waits, "the calls that wait are those of the server");
    assert.equal(canSend, waits.length === 0, "a message can be sent unless calls wait");
    if (waits.length === 0) assert.ok(!queue.some(({ state }) => state === "waits"), "the queue goes out at rest");
    if (phase === "failed") assert.ok(path.at(-1).state !== "over" || path.at(-1).canRetry, "what failed can be retried");
    for (const { call, answer } of calls) if (this.#kept.has(call)) assert.equal(answer, this.#kept.get(call), "a kept answer comes back");
    assert.ok(!calls.some(({ sent }) => sent), "an answer for which the server waits was not sent");
    const mustAnswer = calls.filter(({ who }) => who !== "signIn");
    if (mustAnswer.length === 0 || mustAnswer.some(({ answer }) => answer === "")) return;
    const { effects } = plan.take({ kind: "proceed" });
    const answers = effects.find(({ kind }) => kind === "start")?.input?.answers ?? [];
    assert.deepEqual(answers, mustAnswer.map(({ call, answer }) => [call, answer]), "all answers go out when a person proceeds");
  }
}

/** Whether a turn has just failed, or is unknown now. */
function hasFailed({ kind, turn, end }, before, after) {
  const stateIn = ({ path }) => path.find(({ key }) => key === turn)?.state;
  const fails = kind === "incomplete" || kind === "lost" || (kind === "ended" && end === "error");
  return fails && stateIn(before) !== undefined && stateIn(before) !== stateIn(after);
}

/** A message is sent at once if that was shown, or else waits, and its key is the one that was returned. */
function checkSent({ input, discard, whenBusy }, before, key, after) {
  const turn = after.path.find((shown) => shown.key === key);
  const item = after.queue.find((queued) => queued.key === key);
  assert.equal(turn?.input ?? item?.input, input, "the key is the message's");
  if (!discard) assert.equal(turn !== undefined, before.canSend, before.canSend ? "a message does not leave" : "a message leaves that has to wait");
  if (item && whenBusy === "interrupt") assert.equal(after.queue[0].key, key, "what interrupts is the next");
  if (item && whenBusy === "steer") assert.equal(item.state, before.canSteer ? "steering" : "waits");
}

/** The phase is that of what is shown. */
function checkPhase({ phase, path, calls, canSend, canStop, heldQueue, queue }) {
  assert.equal(heldQueue, queue.some(({ state }) => state === "held"));
  if (path.some(({ state }) => state === "running" || state === "sending")) {
    assert.ok(RUNNING.includes(phase) && !canSend, `a turn runs, and the phase is ${phase}`);
    assert.ok(canStop || phase === "stopping");
  } else if (phase === "idle") {
    assert.ok(canSend && calls.length === 0, "nothing waits when idle");
  }
}
