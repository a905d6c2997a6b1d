// Helpers for pages: forms submit themselves, pending actions have their questions, and all rows have one shape.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pageOf, quiet, until } from "./support.mjs";

const asking = async function* () {
  const [answer] = yield [{ tool: "ask", arguments: { question: "Which one?" } }];
  yield `You chose ${answer.content}`;
};
const approving = async function* () {
  const [answer] = yield [{ tool: "restart", arguments: { service: "billing" }, result: "running", approval: true }];
  yield answer.allowed ? "restarted" : `no: ${answer.reason}`;
};
const asksOf = (chat) => chat.pending.get().map(({ asks, text }) => [asks, text]);
/** What a page shows of the rows. */
const shown = (chat) => chat.rows.get().map(({ key }) => chat.message(key).get().parts.map(({ type, text }) => `${type}: ${text}`).join("; "));
const last = (chat) => chat.message(chat.rows.get().at(-1).key).get();

test("the written text is sent as a message, and the draft is empty", async () => {
  const { chats } = await pageOf(({ text }) => [`You said ${text}`]);
  const chat = chats.create();
  let prevented = 0;
  const event = { preventDefault: () => (prevented += 1) };
  chat.submit(event);
  chat.setDraft("  ");
  chat.submit();
  assert.deepEqual(chat.rows.get(), [], "nothing is written");
  const file = { type: "file", name: "a.png", data: "data:image/png;base64,AA==" };
  chat.setDraft({ text: "", parts: [file] });
  chat.setDraft("one");
  assert.deepEqual(chat.draft.get(), { text: "one", parts: [file] }, "a text leaves the files");
  chat.submit(event);
  assert.equal(prevented, 2);
  assert.deepEqual(chat.draft.get(), { text: "", parts: [] });
  assert.deepEqual(shown(chat), ["text: one; file: a.png"]);
  await quiet(chat);
  const [row] = chat.rows.get();
  const { parts, content } = chat.message(row.key).get();
  assert.deepEqual(content.map(({ type, text, data }) => [type, text ?? data]), [["text", "one"], ["file", file.data]]);
  assert.equal(new Set(parts.map(({ key }) => key)).size, 2);
  assert.equal(parts[1].content, content[1]);
  chats.close();
});

test("the written text answers a question that waits", async () => {
  const { chats } = await pageOf(asking);
  const chat = chats.create();
  chat.send("go");
  await until(chat, () => chat.pending.get().length > 0);
  assert.deepEqual(asksOf(chat), [["text", "Which one?"]]);
  assert.equal(chat.status.get().canSubmit, true);
  assert.equal(chat.status.get().canSend, false);
  chat.setDraft("the second");
  chat.submit();
  assert.equal(chat.draft.get().text, "");
  await quiet(chat);
  assert.equal(last(chat).text, "You chose the second");
  chats.close();
});

test("a call is allowed and denied by its key, and nothing is sent meanwhile", async () => {
  const { chats } = await pageOf(approving);
  const chat = chats.create();
  for (const [decide, answer] of [[(key) => chat.allow(key), "restarted"], [(key) => chat.deny(key, "not now"), "no: not now"]]) {
    chat.send("go");
    await until(chat, () => chat.pending.get().length > 0);
    assert.deepEqual(asksOf(chat), [["approval", 'restart {"service":"billing"}']]);
    assert.match(shown(chat).at(-1), /^call: restart: approval_required$/);
    assert.equal(chat.status.get().canSubmit, false);
    chat.setDraft("more");
    assert.throws(() => chat.submit(), { code: "session_busy" });
    assert.equal(chat.draft.get().text, "more", "it is kept");
    decide(chat.pending.get()[0].key);
    await quiet(chat);
    assert.equal(last(chat).text, answer);
    assert.ok(shown(chat).every((line) => !line.includes("approval_required")), "how a call stands changes with the turn that answers it");
    chat.setDraft("");
  }
  chats.close();
});

test("a call with a kept answer is no longer asked", async () => {
  const { chats } = await pageOf(async function* () {
    yield [{ tool: "one", arguments: {}, result: "1", approval: true }, { tool: "two", arguments: {}, result: "2", approval: true }];
    yield "done";
  });
  const chat = chats.create();
  chat.send("go");
  await until(chat, () => chat.pending.get().length > 1);
  chat.allow(chat.pending.get()[0].key);
  assert.deepEqual(asksOf(chat), [[null, "one {}"], ["approval", "two {}"]]);
  chats.close();
});

test("a decision as the result of a call is an approval", async () => {
  const { chats } = await pageOf(approving, { protocol: "awaken" });
  const chat = chats.create();
  chat.send("go");
  await until(chat, () => chat.pending.get().length > 0);
  assert.equal(chat.pending.get()[0].asks, "approval");
  chats.close();
});

test("a failed turn says so, and can be tried again", async () => {
  let isBroken = true;
  const { chats } = await pageOf(() => [isBroken ? { error: "the model is gone" } : "fine"]);
  const chat = chats.create();
  chat.send("go");
  await quiet(chat);
  const { role, text, canRetry, status, error, key } = last(chat);
  assert.deepEqual([role, text, canRetry, status, error.message], ["end", error.message, true, "error", text]);
  assert.deepEqual(shown(chat).at(-1), `text: ${text}`);
  isBroken = false;
  chat.retry(key);
  await until(chat, () => last(chat).text === "fine");
  assert.ok(chat.messages.get().every((message) => !message.canRetry));
  chats.close();
});

test("a message that did not arrive can be sent again", async () => {
  const { chats } = await pageOf(() => ["fine"]);
  const chat = chats.create();
  chat.send("go", { turnOptions: { nonsense: true } });
  await quiet(chat);
  const { role, canRetry, delivery } = last(chat);
  assert.deepEqual([role, canRetry, delivery], ["user", true, "failed"]);
  chats.close();
});

/** A form as far as it is used. */
class FakeForm extends EventTarget {
  /** What has the focus in the page: this field, another one, or nothing that takes text. */
  focused = "";
  #isDisabled = false;
  field = Object.defineProperty(
    Object.assign(new EventTarget(), {
      value: "",
      tagName: "INPUT",
      matches: () => this.focused === "field",
      focus: () => (this.focused = "field"),
      ownerDocument: { querySelector: () => (["field", "other"].includes(this.focused) ? {} : null) },
    }),
    "disabled",
    { get: () => this.#isDisabled, set: (on) => ((this.#isDisabled = on), on && this.focused === "field" && (this.focused = "")) },
  );
  submitted = 0;
  querySelector() {
    return this.field;
  }
  requestSubmit() {
    this.submitted += 1;
    this.dispatchEvent(new Event("submit", { cancelable: true }));
  }
  write(text) {
    this.field.value = text;
    this.field.dispatchEvent(new Event("input"));
  }
  press(key, more = {}) {
    this.field.dispatchEvent(Object.assign(new Event("keydown", { cancelable: true }), { key, shiftKey: false, isComposing: false, ...more }));
  }
}

test("while a call waits the field is disabled, and has the focus again afterwards, unless the person writes elsewhere", async () => {
  const { chats } = await pageOf(approving);
  const chat = chats.create();
  const form = new FakeForm();
  chat.bindForm(form);
  for (const [before, meanwhile, after] of [["field", "", "field"], ["field", "button", "field"], ["field", "other", "other"], ["button", "button", "button"]]) {
    form.focused = before;
    chat.send("go");
    await until(chat, () => chat.pending.get().length > 0);
    assert.equal(form.field.disabled, true);
    assert.equal(form.focused, before === "field" ? "" : before);
    form.focused = meanwhile;
    chat.allow(chat.pending.get()[0].key);
    await quiet(chat);
    assert.deepEqual([form.field.disabled, form.focused], [false, after]);
  }
  chats.close();
});

test("a form shows the draft, keeps what is written, and submits", async () => {
  const { chats } = await pageOf(approving);
  const chat = chats.create();
  chat.setDraft("kept");
  const form = new FakeForm();
  const release = chat.bindForm(form);
  assert.equal(chat.bindForm(form), release, "a form is bound once");
  assert.equal(form.field.value, "kept");
  form.write("go");
  assert.equal(chat.draft.get().text, "go");
  form.press("Enter");
  assert.equal(form.submitted, 0, "an input submits by itself");
  form.field.tagName = "TEXTAREA";
  form.press("Enter", { shiftKey: true });
  form.press("Enter", { isComposing: true });
  form.press("Enter", { keyCode: 229 });
  assert.equal(form.submitted, 0);
  form.press("Enter");
  assert.equal(form.submitted, 1);
  assert.equal(form.field.value, "");
  await until(chat, () => chat.pending.get().length > 0);
  assert.equal(form.field.disabled, true);
  chat.allow(chat.pending.get()[0].key);
  await quiet(chat);
  assert.equal(form.field.disabled, false);

  const other = new FakeForm();
  chat.bindForm(other);
  release();
  form.write("not this");
  assert.equal(chat.draft.get().text, "");
  other.write("this");
  assert.equal(chat.draft.get().text, "this");
  chat.bindForm(null);
  other.write("no more");
  assert.equal(chat.draft.get().text, "this");
  chats.close();
});
