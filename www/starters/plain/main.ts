import type { Action, Readable } from "turnwire/conversation";
import { chat } from "./chat";
import "./style.css";

function make<T extends keyof HTMLElementTagNameMap>(tag: T, members: Partial<HTMLElementTagNameMap[T]>) {
  return Object.assign(document.createElement(tag), members);
}
function watch<T>(source: Readable<T>, draw: (value: T) => void) {
  source.subscribe(() => draw(source.get()));
  draw(source.get());
}

const elements = new Map<string, HTMLElement>();
function elementOf(key: string) {
  const known = elements.get(key);
  if (known) return known;
  const element = make("article", {});
  watch(chat.item(key), (item) => {
    const parts = item?.parts.map(({ type, text }) => make("p", { className: type, textContent: text })) ?? [];
    const press = (action: Action) => make("button", { textContent: action, onclick: () => chat.act(key, action) });
    element.className = item?.role ?? "";
    element.replaceChildren(...parts, ...(item?.actions.map(press) ?? []));
  });
  elements.set(key, element);
  return element;
}

const log = document.querySelector("[role=log]")!;
watch(chat.items, (keys) => log.replaceChildren(...keys.map(elementOf)));
chat.bindForm(document.querySelector("form"));
chat.attach();
