import { render as renderComponent } from "svelte/server";
import Root from "./Root.svelte";

export const render = async (props) => renderComponent(Root, { props: { props } }).body;
