import { createApp, h, shallowRef } from "vue";
import { install } from "../kit.js";
import App from "./App.vue";

install((element, first) => {
  const props = shallowRef(first);
  const app = createApp(() => h(App, props.value));
  app.mount(element);
  return { update: (next) => (props.value = { ...props.value, ...next }), unmount: () => app.unmount() };
});
