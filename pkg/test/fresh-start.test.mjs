// A start in a session that was only fetched: earlier turns, and turns of other clients, are not taken for the start's own
// turn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError, IncompleteError } from "../dist/index.js";
import { collect, failure, textOf } from "./support/collect.mjs";
import { ago, KeptTurns, ORDERS, reads, said, serveKept } from "./support/kept-turns.mjs";
import { reset, START } from "./support/server.mjs";

const standing = ({ id, status }) => [id, status];

/** Starts a turn with this method; returns the error if there is one. */
async function error(turn, method = "stream") {
  if (method === "stream") return (await collect(turn.stream())).error;
  return turn[method]().then(() => undefined, (error) => error);
}

for (const order of ORDERS) {
  for (const seconds of [0, 3, 7, 3600]) {
    const name = `${order}, the same was said ${seconds} s ago`;

    test(`${name}: a start whose answer is lost is found`, async (t) => {
      const kept = said("yes", seconds, order);
      const { fetched, server } = await serveKept(t, kept, ["lost"]);
      const turn = (await fetched()).createTurn({ input: "yes" });
      assert.equal(await error(turn), undefined);
      assert.deepEqual([turn.id, textOf(turn), kept.made], ["t3", "I am t3", ["t3"]]);
      assert.equal(reads(server), 1);
    });

    test(`${name}: a start that does not arrive fails, and can be made again`, async (t) => {
      const kept = said("yes", seconds, order);
      const { fetched, server } = await serveKept(t, kept, ["refused", "answered"]);
      const turn = (await fetched()).createTurn({ input: "yes" });
      const failed = await error(turn);
      assert.ok(failed instanceof ConnectionError, String(failed));
      assert.deepEqual(standing(turn), [null, "unstarted"]);
      assert.equal(await error(turn), undefined);
      assert.deepEqual([turn.id, kept.made, reads(server)], ["t3", [null, "t3"], 1]);
    });
  }

  for (const method of ["state", "waitForCompletion"]) {
    test(`${order}: a start without a stream is found, or fails: ${method}()`, async (t) => {
      const kept = said("yes", 5, order);
      const { fetched } = await serveKept(t, kept, ["refused", "lost"]);
      const turn = (await fetched()).createTurn({ input: "yes" });
      assert.ok((await error(turn, method)) instanceof ConnectionError);
      assert.deepEqual(standing(turn), [null, "unstarted"]);
      assert.equal(await error(turn, method), undefined);
      assert.deepEqual([turn.id, kept.made], ["t3", [null, "t3"]]);
    });
  }

  test(`${order}: two fresh clients that say the same at once, and lose their answers, take no turn for their own`, async (t) => {
    const kept = said("Go on", 20, order);
    const { fetched } = await serveKept(t, kept, ["lost"]);
    const turns = [];
    for (let count = 0; count < 2; count += 1) turns.push((await fetched()).createTurn({ input: "yes" }));
    for (const method of ["stream", "stream", "state", "waitForCompletion"]) {
      const errors = await Promise.all(turns.map((turn) => error(turn, method)));
      assert.ok(errors.every((error) => error instanceof IncompleteError), `${method}: ${errors}`);
      assert.match(errors[0].message, /^the turn may have begun: the session has other turns with this input/);
      assert.deepEqual(turns.map(standing), [[null, "incomplete"], [null, "incomplete"]]);
      assert.deepEqual(kept.made, ["t3", "t4"]);
    }
    for (const turn of turns) assert.ok((await failure(turn.cancel())) instanceof IncompleteError);
  });

  test(`${order}: of two fresh clients that say the same at once, one gets its turn, and the other takes none`, async (t) => {
    const kept = said("Go on", 20, order);
    const { fetched } = await serveKept(t, kept, ["answered", "lost"]);
    const [one, other] = [(await fetched()).createTurn({ input: "yes" }), (await fetched()).createTurn({ input: "yes" })];
    const errors = await Promise.all([error(one), error(other)]);
    const [begun, lost] = errors[0] ? [other, one] : [one, other];
    assert.deepEqual([begun.id, textOf(begun)], ["t3", "I am t3"]);
    assert.deepEqual([standing(lost), kept.made], [[null, "incomplete"], ["t3", "t4"]]);
  });

  test(`${order}: a long conversation is read as far as necessary`, async (t) => {
    const kept = new KeptTurns(order);
    for (let count = 60; count > 0; count -= 1) kept.add("yes", ago(count));
    const { fetched, server } = await serveKept(t, kept, ["lost"]);
    const turn = (await fetched()).createTurn({ input: "yes" });
    assert.equal(await error(turn), undefined);
    assert.deepEqual([turn.id, textOf(turn)], ["t61", "I am t61"]);
    const before = server.requests.slice(0, server.asked.indexOf(START)).map(({ query }) => query.limit);
    assert.deepEqual(before, order === "newest first" ? ["2"] : ["2", "25", "25", "25"]);
  });

  test(`${order}: turns with the same time are told apart by what they follow`, async (t) => {
    const kept = new KeptTurns(order);
    const one = ago(1);
    for (let count = 0; count < 4; count += 1) kept.add("yes", one);
    // The server's clock counts in seconds.
    const lost = (exchange) => {
      kept.add(exchange.request.body.input, one);
      reset(exchange);
    };
    const { fetched } = await serveKept(t, kept, ["refused", lost]);
    const turn = (await fetched()).createTurn({ input: "yes" });
    assert.ok((await error(turn)) instanceof ConnectionError);
    assert.deepEqual(standing(turn), [null, "unstarted"]);
    assert.equal(await error(turn), undefined);
    assert.deepEqual([turn.id, textOf(turn)], ["t5", "I am t5"]);
  });

  for (const [how, prepare] of [
    ["the history was read", (session) => session.history()],
    ["a turn was streamed", (session) => collect(session.createTurn({ input: "Hello" }).stream())],
  ]) {
    for (const [fate, made] of [["refused", null], ["lost", "t4"]]) {
      test(`${order}: ${how}, and another client said the same since: a start that is ${fate} takes no turn of theirs`, async (t) => {
        const kept = said("Go on", 60, order);
        const { fetched } = await serveKept(t, kept, [...(how === "a turn was streamed" ? ["answered"] : []), fate]);
        const session = await fetched();
        await prepare(session);
        const before = kept.made.length;
        kept.add("yes", ago(-30));
        const now = Date.now() + 60_000;
        t.mock.method(Date, "now", () => now);
        const turn = session.createTurn({ input: "yes" });
        for (let count = 0; count < 2; count += 1) {
          const failed = await error(turn);
          assert.ok(failed instanceof IncompleteError, String(failed));
          assert.deepEqual(standing(turn), [null, "incomplete"]);
        }
        assert.equal(kept.made.length, before + 1);
        assert.equal(kept.made.at(-1) === null, made === null);
      });
    }
  }

  for (const [what, input, fields] of [
    ["the same", "yes", {}],
    ["the same, beside it", "yes", { previous_turn_id: "t2" }],
  ]) {
    test(`${order}: another client says ${what} after a start: neither turn is taken`, async (t) => {
      const kept = said("Go on", 20, order);
      const lost = (exchange) => {
        kept.made.push(kept.add(exchange.request.body.input).id);
        kept.add(input, fields);
        reset(exchange);
      };
      const { fetched } = await serveKept(t, kept, [lost]);
      const turn = (await fetched()).createTurn({ input: "yes" });
      assert.ok((await error(turn)) instanceof IncompleteError);
      assert.ok((await error(turn)) instanceof IncompleteError);
      assert.deepEqual([standing(turn), kept.made], [[null, "incomplete"], ["t3"]]);
    });
  }

  for (const [what, input, fields] of [
    ["something else", "no", {}],
    ["the same, afresh", "yes", { previous_turn_id: null }],
    ["the same, after an older turn", "yes", { previous_turn_id: "t1" }],
  ]) {
    test(`${order}: another client says ${what} meanwhile: a start whose answer is lost is found`, async (t) => {
      const kept = said("Go on", 20, "oldest first");
      const { fetched } = await serveKept(t, kept, [(exchange) => {
        // The session does not continue with it.
        const ours = kept.add(exchange.request.body.input);
        kept.turns.splice(-1, 0, { ...kept.add(input, fields), id: "theirs" });
        kept.turns.pop();
        kept.made.push(ours.id);
        reset(exchange);
      }]);
      const turn = (await fetched()).createTurn({ input: "yes" });
      assert.equal(await error(turn), undefined);
      assert.deepEqual([turn.id, textOf(turn)], [kept.made[0], `I am ${kept.made[0]}`]);
    });
  }
}
