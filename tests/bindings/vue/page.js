import { createApp, h, shallowRef } from "vue";
import { install } from "../kit.js";
import App from "./App.vue";
import Answer from "./Guide.vue";
import Rows from "./Rows.vue";
import Talk from "./Talk.vue";

const viewOf = ({ chat, turn, conversation }) => (chat ? Rows : turn ? Answer : conversation ? Talk : App);

install((element, first) => {
  const props = shallowRef(first);
  const app = createApp(() => h(viewOf(props.value), props.value));
  app.mount(element);
  return { update: (next) => (props.value = { ...props.value, ...next }), unmount: () => app.unmount() };
});
