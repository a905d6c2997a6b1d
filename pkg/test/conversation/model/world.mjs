// Two tabs and a server: what a schedule does, and what the effects do.
import assert from "node:assert/strict";
import { serialize } from "node:v8";
import { arriveLate, carry, carryOut, watch } from "./carrier.mjs";
import { Laws } from "./laws.mjs";
import { answer, again, badUse, changeQueue, reload, send, show } from "./people.mjs";
import { Promises } from "./promises.mjs";
import { Server } from "./server.mjs";
import { Tab } from "./tab.mjs";

const TABS = 2;
/** More steps than any schedule needs to come to rest. */
const MANY = 400;
/** What a person or a page does: it may be refused. */
const ACTS = new Set("send answer proceed retry regenerate edit show dismiss editQueued removeQueued moveQueued sendNow steerQueued".split(" "));

export class World {
  tabs = [];
  laws = new Laws();
  promises = [];
  log = [];
  /** All lives of the tabs' plans. */
  lives = [];
  /** Requests that the carrier has given up: they may still arrive. */
  late = [];
  isCalm = false;
  #texts = 0;

  /** `bits` say what the protocol can do. */
  constructor(bits) {
    const bit = (at) => ((bits >> at) & 1) === 1;
    const [fork, liveAnswers, steer, discardPending] = [bit(0), bit(1), bit(2), bit(3)];
    // The number of turns on a page; and a turn that continues another one with answers may have its id.
    this.protocol = { fork, liveAnswers, steer, discardPending, sameIds: bit(5), page: bit(6) ? 3 : 50 };
    const whenBusy = ["queue", "steer", "interrupt", "queue"][(bits >> 9) & 3];
    this.options = { hasSession: bit(7), fork, liveAnswers, steer, discardPending, history: true, turns: bit(11) ? 7 : 0, leavesUnseen: bit(8), whenBusy };
    this.server = new Server(this.protocol, this.options.hasSession);
    for (let at = 0; at < TABS; at += 1) {
      this.open(at, this.options);
      if (this.options.hasSession || at === 0) this.attach(at);
    }
    this.lead(0);
  }

  /** Opens a tab, which replaces the previous one. */
  open(at, options) {
    this.tabs[at] = new Tab(options);
    this.lives.push(this.tabs[at]);
    this.laws.open(at);
    this.promises[at] = new Promises();
  }

  /** A text that was not there before. */
  text() {
    this.#texts += 1;
    return `"${this.#texts}"`;
  }

  /** Notes what happens. */
  note(...what) {
    this.log.push(what);
  }

  /** Reports a fact to a plan, and runs the effects. Returns them, or why the fact was refused. */
  tell(at, fact) {
    const tab = this.tabs[at];
    const { plan } = tab;
    const shown = plan.view();
    const before = ACTS.has(fact.kind) ? serialize(plan.state) : undefined;
    const taken = plan.take(fact);
    tab.steps.push({ fact, taken });
    this.note(`tab ${at}`, fact, taken);
    this.promises[at].check(fact, shown, taken, plan.view());
    if (typeof taken === "string") {
      assert.ok(before, `${fact.kind} was refused: ${taken}`);
      assert.ok(before.equals(serialize(plan.state)), "a refusal changed something");
      return taken;
    }
    this.laws.took(at, fact, taken, shown.queue);
    for (const effect of taken.effects) carryOut(this, at, effect);
    this.laws.check(at, tab, this.server);
    return taken;
  }

  attach(at) {
    this.tabs[at].isShown = true;
    this.tell(at, { kind: "attach" });
  }

  /** Only this tab runs the tools now. */
  lead(leader) {
    for (const [at, tab] of this.tabs.entries()) {
      if (!tab.isLeading || at === leader) continue;
      tab.isLeading = false;
      this.tell(at, { kind: "leading", on: false });
    }
    const tab = this.tabs[leader];
    if (tab.isLeading) return;
    tab.isLeading = true;
    this.tell(leader, { kind: "leading", on: true });
  }

  /** One action of a schedule. */
  act([what, first, two]) {
    const at = Number((first & 3) === 3);
    const one = first >> 2;
    const tab = this.tabs[at];
    if (at === 1 && !tab.knowsSession) {
      // It is opened with the session's id.
      if (!this.server.hasSession) return;
      reload(this, at, 0);
    }
    const action = what % 64;
    if (action <= 6) send(this, at, one, two);
    else if (action <= 8) this.tell(at, { kind: "stop" });
    else if (action <= 12) answer(this, at, one, two);
    else if (action === 13) this.tell(at, { kind: "proceed" });
    else if (action <= 16) again(this, at, one, two);
    else if (action === 17) show(this, at, two);
    else if (action <= 20) changeQueue(this, at, one, two);
    else if (action === 21) this.tell(at, { kind: "catchUp" });
    else if (action === 22) this.tell(at, { kind: "loadEarlier" });
    else if (action === 23 && this.tabs[at].isShown) {
      this.tabs[at].isShown = false;
      this.tell(at, { kind: "detach" });
    } else if (action <= 24) this.attach(at);
    else if (action === 25) reload(this, at, two);
    else if (action === 26) this.lead(at);
    else if (action <= 42) carry(this, at, one, two);
    else if (action <= 51) watch(this, at, one, two);
    else if (action <= 59) this.serve(one, two);
    else if (action === 60) arriveLate(this, two);
    else if (action === 61) badUse(this, at, one, two);
    else carry(this, at, 0, two);
  }

  /** A running turn goes on at the server. */
  serve(one, two) {
    const turn = this.server.turns.findLast(({ state }) => state === "running");
    if (!turn) return;
    const what = this.isCalm ? 5 : one % 8;
    if (what <= 1) this.server.ask(turn.id, "person");
    else if (what === 2) this.server.ask(turn.id, "tool");
    else if (what === 3 && two % 4 === 0) this.server.ask(turn.id, "signIn");
    else this.server.end(turn.id, what === 4 && two % 3 === 0 ? "error" : "done");
  }

  /** Nothing more is lost, and no person acts: everything comes to rest, and all tabs show what the server has. */
  settle() {
    this.isCalm = true;
    this.note("calm");
    while (this.late.length > 0) arriveLate(this, 0);
    for (const at of this.tabs.keys()) {
      if (at === 1 && !this.tabs[at].knowsSession && this.server.hasSession) reload(this, at, 0);
      this.attach(at);
    }
    this.#comeToRest();
    // What one tab does as it comes to rest, or learns from an earlier page, is news for the other.
    for (let news = -1, rounds = 0; news !== this.#news; rounds += 1) {
      assert.ok(rounds < MANY, "there is always news");
      news = this.#news;
      for (const at of this.tabs.keys()) this.tell(at, { kind: "catchUp" });
      this.#comeToRest();
      for (const [at, tab] of this.tabs.entries()) {
        for (let pages = 0; tab.plan.view().hasEarlier; pages += 1) {
          assert.ok(pages < MANY, `tab ${at} never has all pages`);
          this.tell(at, { kind: "loadEarlier" });
          this.#comeToRest();
        }
      }
    }
    for (const [at, tab] of this.tabs.entries()) {
      if (!tab.knowsSession) continue;
      this.laws.checkRest(at, tab, this.server);
      this.promises[at].checkRest(tab, this.server);
    }
  }

  /** How much has happened at the server. */
  get #news() {
    return this.server.turns.length + this.server.answers.length;
  }

  #comeToRest() {
    for (let tries = 0; tries < MANY; tries += 1) {
      if (!this.server.isBusy && this.tabs.every(({ flying, watched }) => flying.length + watched.length === 0)) return;
      this.serve(0, 0);
      for (const at of this.tabs.keys()) {
        watch(this, at, 0, 0);
        carry(this, at, 0, 0);
      }
    }
    assert.fail(`it does not come to rest: ${JSON.stringify(this.tabs.map(({ flying, watched }) => ({ flying, watched })))}`);
  }
}
