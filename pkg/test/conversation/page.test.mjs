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

/** What a form has been told of its fields: a page's observer of changes, as far as it is used. */
globalThis.MutationObserver ??= class {
  static told = new Map();
  constructor(listener) {
    this.listener = listener;
  }
  observe(form) {
    MutationObserver.told.set(this, form);
  }
  disconnect() {
    MutationObserver.told.delete(this);
  }
};

/** A field of a form as far as it is used. */
class FakeField {
  value = "";
  #isDisabled = false;
  constructor(form, type = "text") {
    this.form = form;
    this.type = type;
    this.ownerDocument = { querySelector: () => (["field", "other"].includes(form.focused) ? {} : null) };
  }
  get disabled() {
    return this.#isDisabled;
  }
  set disabled(on) {
    this.#isDisabled = on;
    if (on && this.form.focused === "field") this.form.focused = "";
  }
  matches() {
    return this.form.focused === "field";
  }
  focus() {
    this.form.focused = "field";
  }
}

/** A form of the document as far as it is used. */
class FakeForm extends EventTarget {
  isConnected = true;
  /** What has the focus in the page: this field, another one, or nothing that takes text. */
  focused = "";
  field = new FakeField(this);
  fields = [this.field];
  submitted = 0;
  querySelectorAll() {
    return this.fields;
  }
  /** Has these fields from now on. */
  replace(...fields) {
    this.fields = fields;
    for (const [{ listener }, form] of MutationObserver.told) if (form === this) listener();
  }
  requestSubmit() {
    this.submitted += 1;
    const event = new Event("submit", { cancelable: true });
    this.dispatchEvent(event);
    return event.defaultPrevented;
  }
  /** An event of a field. The form's listeners get it. */
  #tell(type, field, more = {}) {
    this.dispatchEvent(Object.defineProperties(Object.assign(new Event(type, { cancelable: true }), more), { target: { value: field } }));
  }
  write(text, field = this.field) {
    field.value = text;
    this.#tell("input", field);
  }
  press(key, more = {}, field = this.field) {
    this.#tell("keydown", field, { key, shiftKey: false, isComposing: false, ...more });
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
  form.field.type = "textarea";
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

  release();
  release();
  form.write("not this");
  assert.equal(chat.draft.get().text, "");
  assert.equal(form.requestSubmit(), false, "the form is the page's again");
  chats.close();
});

test("two forms of a conversation show and keep one draft", async () => {
  const { chats } = await pageOf(({ text }) => [`You said ${text}`]);
  const chat = chats.create();
  const [one, two] = [new FakeForm(), new FakeForm()];
  chat.bindForm(one);
  chat.bindForm(two);
  one.write("he");
  assert.equal(two.field.value, "he");
  two.write("hello");
  assert.equal(one.field.value, "hello");
  assert.equal(one.requestSubmit(), true);
  assert.deepEqual([one.field.value, two.field.value], ["", ""]);
  await quiet(chat);
  assert.deepEqual(shown(chat), ["text: hello", "text: You said hello"]);
  chats.close();
});

test("a form that is bound to another conversation leaves the first: nothing is written or sent there", async () => {
  const { chats } = await pageOf(() => ["fine"]);
  const [first, second] = [chats.create(), chats.create()];
  const form = new FakeForm();
  const release = first.bindForm(form);
  form.write("one");
  // As Vue does: the first one is not told.
  second.bindForm(form);
  assert.equal(form.field.value, "", "it shows the second draft");
  form.write("two");
  assert.deepEqual([first.draft.get().text, second.draft.get().text], ["one", "two"]);
  form.requestSubmit();
  await quiet(second);
  assert.deepEqual([shown(first), shown(second)], [[], ["text: two", "text: fine"]]);
  first.setDraft("three");
  assert.equal(form.field.value, "");
  // What the first conversation has returned no longer counts, even when the form is back.
  first.bindForm(form);
  release();
  form.write("four");
  assert.deepEqual([first.draft.get().text, second.draft.get().text], ["four", ""]);
  chats.close();
});

test("`null` releases a form that leaves the document, and no other", async () => {
  const { chats } = await pageOf(() => ["fine"]);
  const chat = chats.create();
  const [before, after] = [new FakeForm(), new FakeForm()];
  chat.bindForm(before);
  // As Vue does: the next form is there before the last one leaves, and that is told before it does.
  chat.bindForm(after);
  chat.bindForm(null);
  before.isConnected = false;
  await Promise.resolve();
  after.write("this");
  before.write("not this");
  assert.equal(chat.draft.get().text, "this");
  assert.equal(before.requestSubmit(), false);
  assert.equal(after.requestSubmit(), true);
  chats.close();
});

test("a form that is not in the document yet stays; once it has been there and has left, the next form releases it", async () => {
  const { chats } = await pageOf(() => ["fine"]);
  const chat = chats.create();
  const form = Object.assign(new FakeForm(), { isConnected: false });
  // As Solid does: the form is made first, and its removal is not told.
  chat.bindForm(form);
  chat.bindForm(new FakeForm());
  await Promise.resolve();
  form.write("one");
  assert.equal(chat.draft.get().text, "one");
  form.isConnected = true;
  chat.setDraft("two");
  form.isConnected = false;
  chat.bindForm(new FakeForm());
  await Promise.resolve();
  form.write("three");
  assert.equal(chat.draft.get().text, "two");
  chats.close();
});

test("the draft's field is the form's first text field, whichever that is now", async () => {
  const { chats } = await pageOf(() => ["fine"]);
  const chat = chats.create();
  const form = new FakeForm();
  const others = ["hidden", "file", "checkbox", "radio", "submit", "button"].map((type) => new FakeField(form, type));
  form.fields = [...others, form.field];
  chat.bindForm(form);
  form.write("C:\\fakepath\\a.txt", others[1]);
  assert.equal(chat.draft.get().text, "");
  form.write("one");
  assert.equal(chat.draft.get().text, "one");
  assert.ok(others.every(({ value, disabled }) => value !== "one" && !disabled));
  const area = new FakeField(form, "textarea");
  form.replace(area);
  assert.equal(area.value, "one", "what takes its place shows the draft");
  form.write("stale");
  form.write("one\ntwo", area);
  assert.equal(chat.draft.get().text, "one\ntwo");
  form.press("Enter", {}, area);
  assert.equal(area.value, "");
  await quiet(chat);
  assert.deepEqual(shown(chat), ["text: one\ntwo", "text: fine"]);
  form.replace();
  chat.setDraft("three");
  assert.equal(form.requestSubmit(), true, "without a field, the form sends the draft");
  await quiet(chat);
  assert.deepEqual(shown(chat).slice(2), ["text: three", "text: fine"]);
  chats.close();
});
