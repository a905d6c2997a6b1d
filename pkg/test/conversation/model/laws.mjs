// What must be true at each moment, and at rest.
import assert from "node:assert/strict";

/** How often something was done with a text. */
class Counts {
  #counts = new Map();

  of(text) {
    return this.#counts.get(text) ?? 0;
  }

  add(text) {
    this.set(text, this.of(text) + 1);
    return this.of(text);
  }

  set(text, count) {
    this.#counts.set(text, count);
  }

  delete(text) {
    this.#counts.delete(text);
  }

  entries() {
    return this.#counts.entries();
  }
}

export class Laws {
  /** How often a person has asked for a text to be sent, and for one more turn with a text. */
  #sends = new Counts();
  #copies = new Counts();
  /** How often a text was sent as a turn. */
  #starts = new Counts();
  /** How often an answer was sent, and how often that failed. */
  #answers = new Counts();
  #failedAnswers = new Counts();
  /** Answers that may have arrived: neither a list nor the turn's end has decided. */
  #unclear = new Set();
  #givenBack = new Counts();
  /** Texts that arrived when the carrier had given up, and those that a person has replaced. */
  #lostSteers = new Set();
  #late = new Set();
  #replaced = new Set();
  /** The tab in which a text was sent. */
  #owner = new Map();
  /** What each tab has shown since it was loaded. */
  #seen = [];

  open(at) {
    // `leaving`: the answers that were sent with a turn.
    this.#seen[at] = { names: new Map(), ids: new Map(), keys: new Map(), leaving: new Map() };
  }

  // What a schedule reports.

  sends(text) {
    this.#sends.add(text);
  }

  sent(text) {
    return this.#sends.of(text);
  }

  set(text, count) {
    this.#sends.set(text, count);
  }

  /** One more turn with the text is wanted. */
  copies(text) {
    this.#copies.add(text);
  }

  /** The text was refused: a person still has it. */
  unsent(text) {
    this.#sends.delete(text);
  }

  /** A person has put another text in its place. */
  replaced(text, on) {
    if (on) this.#replaced.add(text);
    else this.#replaced.delete(text);
  }

  gaveBack(text) {
    this.#givenBack.add(text);
  }

  /** A steered message was lost: a person who releases it asks for it again. */
  steerLost(text) {
    this.#lostSteers.add(text);
  }

  released(text) {
    if (this.#lostSteers.delete(text)) this.sends(text);
  }

  cameLate(text) {
    this.#late.add(text);
  }

  answerFailed(answer, delivery) {
    if (delivery === "lost") this.#unclear.add(answer);
    this.#failedAnswers.add(answer);
  }

  /** A turn's start has failed: so have its answers. */
  failed(at, turn, delivery) {
    const { leaving } = this.#seen[at];
    for (const answer of leaving.get(turn) ?? []) this.answerFailed(answer, delivery);
    leaving.delete(turn);
  }

  /** What a fact has led to. `queue` is the queue before. */
  took(at, fact, { effects }, queue) {
    const { kind, input } = fact;
    if (kind === "send" || kind === "edit" || kind === "editQueued") this.#owner.set(input, at);
    if (kind === "page" || kind === "ended") this.#unclear.clear();
    for (const effect of effects) {
      if (effect.kind === "answer") this.#answerLeaves(effect.answer);
      if (effect.kind !== "start" || !effect.input) continue;
      if ("message" in effect.input) {
        const { message } = effect.input;
        const starts = this.#starts.add(message);
        assert.ok(starts <= this.sent(message), `${message} left ${starts} times as a turn, and was sent ${this.sent(message)} times`);
        checkOrder(fact, effect.turn, queue);
      } else {
        const texts = effect.input.answers.map(([, answer]) => answer);
        for (const text of texts) this.#answerLeaves(text);
        this.#seen[at].leaving.set(effect.turn, texts);
      }
    }
  }

  #answerLeaves(answer) {
    assert.ok(!this.#unclear.has(answer), `the answer ${answer} may have arrived, and leaves again`);
    const left = this.#answers.add(answer);
    const failed = this.#failedAnswers.of(answer);
    assert.ok(left <= 1 + failed, `the answer ${answer} left ${left} times, and failed ${failed} times`);
  }

  /** What must be true at each moment. */
  check(at, tab, server) {
    const turns = tab.plan.turns();
    const view = tab.plan.view();
    this.#checkKeys(at, turns, view.queue);
    this.#checkTexts(at, turns, view.queue, server);
    checkSiblings(view.path, turns, server);
    checkReading(tab, turns, view.calls);
    checkParts(view.path, turns);
    checkPath(view.path, server);
    for (const [text, sends] of this.#sends.entries()) {
      // No input starts two turns.
      assert.ok(server.count(text) <= sends, `the server has ${text} ${server.count(text)} times, sent ${sends} times`);
    }
  }

  /** Keys never change, and never collide. */
  #checkKeys(at, turns, queue) {
    const { names, ids, keys } = this.#seen[at];
    // Pages see the keys of the queue, and of what was steered, as keys of turns that were sent from here.
    const here = [...queue.map(({ key }) => key), ...turns.flatMap(({ steered }) => steered.map(([key]) => key))];
    const named = [...turns.map(({ key, name }) => [key, name]), ...here.map((key) => [key, `n${key}`])];
    assert.equal(new Set(named.map(([key]) => key)).size, named.length, `a key is in two places: ${named}`);
    for (const [key, name] of named) {
      assert.equal(name, remembered(names, key, name), "the name of a key has changed");
      assert.equal(key, remembered(keys, name, key), "two keys have one name");
    }
    for (const { key, id } of turns) if (id !== "") assert.equal(id, remembered(ids, key, id), "a key is another turn's");
  }

  /** Each text is in exactly one place. */
  #checkTexts(at, turns, queue, server) {
    for (const [text, sends] of this.#sends.entries()) {
      if (this.#owner.get(text) !== at || this.#replaced.has(text)) continue;
      const places = placesOf(text, turns, queue);
      const here = places + this.#givenBack.of(text);
      const known = new Set(turns.filter(({ id }) => server.find(id)?.input === text).map(({ id }) => id));
      assert.ok(here <= 1 + this.#copies.of(text), `${text} is in ${places} places, and was given back ${here - places} times`);
      assert.ok(here > 0 || server.count(text) > 0, `${text} is lost`);
      if (this.#late.has(text)) continue;
      const isUnsent = turns.some(({ input, state }) => input === text && state === "failed") || queue.some(({ input, state }) => input === text && (state === "held" || state === "waits"));
      if (isUnsent && sends === 1) assert.equal(server.count(text), 0, `${text} has arrived, and is shown as if it had not`);
      assert.ok(here + known.size <= sends, `${text} is here ${here} times, and in the turns ${[...known]}, sent ${sends} times`);
    }
  }

  /** What must be true at rest. */
  checkRest(at, { plan, stored, hasBranched }, server) {
    const turns = plan.turns();
    const { phase, path, queue } = plan.view();
    assert.ok(["idle", "waiting", "failed"].includes(phase), `tab ${at} rests in ${phase}`);
    assert.ok(!path.some(({ state }) => ["sending", "unknown", "running"].includes(state)), `tab ${at}: something is still open`);
    assert.ok(!queue.some(({ state }) => state === "steering" || state === "unknown"), `tab ${at}: a steered message is still open`);
    // Turns that continue each other under one id are one at the server.
    const shown = path.map(({ id }) => id).filter((id) => id !== "").filter((id, nth, all) => id !== all[nth - 1]);
    assert.ok(path.length > 0 || server.turns.length === 0, `tab ${at} shows nothing`);
    const { fork } = server.protocol;
    const tip = shown.at(-1) ?? "";
    // A sibling that was not sent is shown in its place, also after a reload.
    const hasUnsentSibling = stored !== "" && JSON.parse(stored).some(([kind, , , , isFork, fate]) => kind === "t" && isFork && fate < 2);
    if (!fork || !(hasBranched || hasUnsentSibling)) assert.equal(tip, server.turns.at(-1)?.id ?? "", `tab ${at} does not show the newest turn`);
    assert.deepEqual(shown, fork ? server.chain(tip) : server.turns.map(({ id }) => id), `tab ${at} does not show what the server lists`);
    // A text that has arrived is nowhere else, however late it arrived.
    for (const [text, sends] of this.#sends.entries()) {
      if (this.#owner.get(text) !== at) continue;
      assert.ok(server.count(text) + placesOf(text, turns, queue) <= sends, `${text} is on the server and here`);
    }
  }
}

/** The map's entry of a key; `value` if it has none yet. */
function remembered(map, key, value) {
  if (!map.has(key)) map.set(key, value);
  return map.get(key);
}

/** In how many places of a tab a text is. */
function placesOf(text, turns, queue) {
  const steered = turns.flatMap((turn) => turn.steered).filter(([, other]) => other === text);
  return queue.filter(({ input }) => input === text).length + turns.filter(({ input }) => input === text).length + steered.length;
}

/** Siblings follow the same turn at the server. */
function checkSiblings(path, turns, { protocol, turns: served }) {
  for (const { key, siblings } of path) {
    if (siblings.length === 0) continue;
    assert.ok(protocol.fork && siblings.length > 1 && siblings.includes(key), `turn ${key} has the siblings ${siblings}`);
    const ids = siblings.map((sibling) => turns.find((turn) => turn.key === sibling).id).filter((id) => id !== "");
    const before = new Set(served.filter(({ id }) => ids.includes(id)).map(({ previous }) => previous));
    assert.ok(before.size <= 1, `the siblings ${ids} follow ${[...before]}`);
  }
}

/** Turns that continue each other under one id are shown together. */
function checkParts(path, turns) {
  const parts = (id, of) => of.filter((turn) => turn.id === id).length;
  for (const { id } of path) if (id !== "") assert.equal(parts(id, path), parts(id, turns), `a part of ${id} is not shown`);
}

/** The path is in the server's order. */
function checkPath(path, { turns: served }) {
  const places = path.map(({ id }) => served.findIndex((turn) => turn.id === id)).filter((place) => place >= 0);
  assert.deepEqual(places, places.toSorted((one, other) => one - other), "the path is not in the server's order");
}

/** What runs is read while it is shown. */
function checkReading({ watched, flying, isShown, isLeading, options }, turns, calls) {
  const runs = ({ request: { kind, call } }) => kind === "runTool" && calls.some((waiting) => waiting.call === call);
  assert.ok(isLeading || !flying.some(runs), "a tool runs in a tab that does not lead");
  for (const { key, state } of turns) {
    const isRead = watched.some(({ turn }) => turn === key);
    if (state === "running" && (isShown || !options.leavesUnseen)) assert.ok(isRead, `turn ${key} runs, and is not read`);
    if (state !== "running") assert.ok(!isRead || state === "sending", `turn ${key} is ${state}, and is read`);
  }
}

/** The queue's order holds. */
function checkOrder({ kind }, turn, queue) {
  const place = queue.findIndex(({ key }) => key === turn);
  if (["sendNow", "moveQueued", "removeQueued", "steerQueued"].includes(kind)) return;
  const overtaken = queue.slice(0, Math.max(place, 0)).some(({ state }) => state === "waits");
  assert.ok(!overtaken, "an input of the queue was overtaken");
}
