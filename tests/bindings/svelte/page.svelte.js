import { mount, unmount } from "svelte";
import { install } from "../kit.js";
import Root from "./Root.svelte";

install((target, first) => {
  let props = $state.raw(first);
  const root = mount(Root, { target, props: { get props() { return props; } } });
  return { update: (next) => (props = { ...props, ...next }), unmount: () => unmount(root) };
});
