import { provideZonelessChangeDetection } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { install } from "../../kit.js";
import { App, props, type Props } from "./app";

install((element: HTMLElement, first: Props) => {
  props.set(first);
  element.append(document.createElement("app-root"));
  const app = bootstrapApplication(App, { providers: [provideZonelessChangeDetection()] });
  return {
    update: (next: Props) => props.update((was) => ({ ...was, ...next })),
    unmount: () => void app.then((running) => running.destroy()),
  };
});
