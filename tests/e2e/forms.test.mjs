// The forms of conversations, in a page: their fields change, and frameworks move, replace and remove them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { useWorld } from "./harness.mjs";

const world = useWorld();

/** Opens a page with two conversations, as `globalThis.forms`. */
async function openForms() {
  const page = await world.page();
  await page.evaluate(async () => {
    const [{ Conversations }, { fakeServer }] = await Promise.all([import("/dist/conversation.js"), import("/dist/testing.js")]);
    const chats = new Conversations({ client: turnwire.connect(fakeServer(({ text }) => [`You said ${text}.`]).connection), agentName: "support", store: null });
    /** A form at the end of the page. */
    const add = (html) => {
      document.body.insertAdjacentHTML("beforeend", `<form>${html}<button>Send</button></form>`);
      return document.body.lastElementChild;
    };
    /** What the person has sent. */
    const sent = (chat) => chat.messages.get().filter(({ role }) => role === "user").map(({ text }) => text);
    globalThis.forms = { a: chats.create(), b: chats.create(), add, sent };
  });
  return page;
}

/** Ends a test: the page is still there, and has reported nothing. */
async function close(page, url) {
  assert.equal(page.url(), url);
  assert.deepEqual(page.failures, []);
  await page.context().close();
}

test("a form is moved to another conversation: the text is sent there, and nowhere else", async () => {
  const page = await openForms();
  const url = page.url();
  await page.evaluate(() => forms.a.bindForm((forms.form = forms.add("<input>"))));
  await page.locator("input").fill("one");
  await page.evaluate(() => void forms.b.bindForm(forms.form));
  assert.equal(await page.locator("input").inputValue(), "");
  await page.locator("input").fill("two");
  await page.locator("input").press("Enter");
  assert.deepEqual(await page.evaluate(() => [forms.a.draft.get().text, forms.sent(forms.a), forms.sent(forms.b)]), ["one", [], ["two"]]);
  await close(page, url);
});

test("the next form is there before the last one is removed, and it still sends", async () => {
  const page = await openForms();
  const url = page.url();
  await page.evaluate(async () => {
    const last = forms.add("<input>");
    forms.a.bindForm(last);
    forms.a.bindForm(forms.add("<textarea></textarea>"));
    forms.a.bindForm(null);
    last.remove();
  });
  await page.locator("textarea").fill("one");
  await page.locator("textarea").press("Enter");
  assert.deepEqual(await page.evaluate(() => forms.sent(forms.a)), ["one"]);
  await close(page, url);
});

test("the text is that of the text field that the form has now", async () => {
  const page = await openForms();
  const url = page.url();
  await page.evaluate(() => void forms.a.bindForm(forms.add('<input type="hidden" value="token"><input type="file"><input type="text">')));
  await page.locator("[type=file]").setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") });
  await page.locator("[type=text]").fill("one");
  await page.evaluate(() => document.querySelector("[type=text]").replaceWith(document.createElement("textarea")));
  await page.waitForFunction(() => document.querySelector("textarea").value === "one");
  await page.locator("textarea").fill("one\ntwo");
  await page.locator("button").click();
  assert.deepEqual(await page.evaluate(() => forms.sent(forms.a)), ["one\ntwo"]);
  assert.equal(await page.evaluate(() => document.querySelector("[type=hidden]").value), "token");
  await close(page, url);
});
