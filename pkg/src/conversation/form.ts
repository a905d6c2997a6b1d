// Forms of the page as the draft's forms: they show the draft, and send it.
import type { Readable } from "../common/readable.js";
import type { Draft, Status } from "./types.js";

/** The part of a form that is used. */
export type Form = Pick<HTMLFormElement, "addEventListener" | "removeEventListener" | "querySelectorAll" | "requestSubmit" | "isConnected">;

/** The forms of a conversation, and what releases each. */
export type Forms = Map<Form, () => void>;

/** What a form shows and changes. */
interface Written {
  readonly draft: Readable<Draft>;
  readonly status: Readable<Status>;
  readonly setDraft: (text: string) => void;
  readonly submit: (event: Event) => void;
}

/** What releases a form, or has released it: a form belongs to one conversation at a time. */
const releases = new WeakMap<Form, () => void>();

/** The forms that were in the document. */
const seen = new WeakSet<Form>();

/** Adds a form; returns the function that releases it. Forms that have left the document are released. */
export function bindForm(form: Form | null, forms: Forms, { draft, status, setDraft, submit }: Written): () => void {
  const known = form && forms.get(form);
  if (known) return known;
  // Frameworks report a removal before they remove the form, and some after the next form is there.
  queueMicrotask(() => {
    for (const [other, leave] of forms) if (seen.has(other) && !other.isConnected) leave();
  });
  if (!form) return () => {};
  // Vue does not say that a form has left a conversation for this one.
  releases.get(form)?.();
  let hasFocus = false;
  // The page may replace its fields at any time.
  const fieldOf = (): HTMLInputElement | HTMLTextAreaElement | undefined =>
    [...form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("textarea, input")].find(({ type }) => /^(text|search|email|tel|url)/.test(type));
  const show = (): void => {
    // A form may be created long before it is in the document.
    if (form.isConnected) seen.add(form);
    const field = fieldOf();
    if (!field) return;
    const { text } = draft.get();
    // An unchanged value is not set: that would move the cursor.
    if (field.value !== text) field.value = text;
    const { canSubmit } = status.get();
    if (field.disabled !== canSubmit) return;
    // A disabled field loses the focus. It gets it back, unless the person has focused another field.
    if (!canSubmit) hasFocus = field.matches(":focus");
    field.disabled = !canSubmit;
    if (canSubmit && hasFocus && !field.ownerDocument.querySelector("input:focus, textarea:focus")) field.focus();
  };
  const fields = new MutationObserver(show);
  fields.observe(form as unknown as Node, { childList: true, subtree: true });
  const stops = [draft.subscribe(show), status.subscribe(show), () => fields.disconnect()];
  const listen = (type: string, listener: (event: Event) => unknown): void => {
    form.addEventListener(type, listener);
    stops.push(() => form.removeEventListener(type, listener));
  };
  listen("submit", submit);
  listen("input", ({ target }) => target === fieldOf() && setDraft((target as HTMLInputElement).value));
  listen("keydown", (event) => {
    const { target, key, keyCode, shiftKey, isComposing } = event as KeyboardEvent;
    // An input submits by itself. In Safari, the Enter that ends a composition no longer belongs to it, and has this code.
    if (target !== fieldOf() || (target as HTMLInputElement).type !== "textarea" || key !== "Enter" || shiftKey || isComposing || keyCode === 229) return;
    event.preventDefault();
    form.requestSubmit();
  });
  const release = (): void => {
    // It may be called late, when the form is bound again.
    if (forms.get(form) !== release) return;
    forms.delete(form);
    for (const stop of stops) stop();
  };
  forms.set(form, release);
  releases.set(form, release);
  show();
  return release;
}
