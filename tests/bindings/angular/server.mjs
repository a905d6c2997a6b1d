// The same app's readers on a server. Its components are compiled at run time.
import "@angular/compiler";
import { Component, computed, provideZonelessChangeDetection } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { provideServerRendering, renderApplication } from "@angular/platform-server";
import { injectReadable } from "turnwire/angular";

export function render({ source, other, readers }) {
  class App {
    values = Array.from({ length: readers }, () => injectReadable(() => source));
    texts = computed(() => this.values.map((value) => `${source.name}: ${value()}`));
    sibling = injectReadable(() => other);
  }
  const template = `@for (text of texts(); track $index) {<p>{{ text }}</p>}<p>{{ sibling() }}</p>`;
  const Root = Component({ selector: "app-root", template })(App) ?? App;
  const providers = [provideServerRendering(), provideZonelessChangeDetection()];
  return renderApplication((context) => bootstrapApplication(Root, { providers }, context), { document: "<app-root></app-root>" });
}
