import type { Accessor } from "solid-js";
import { useReadable } from "turnwire/solid";
import { words } from "./same.js";

export const shown: Accessor<readonly string[]> = useReadable(words);
export const other: Accessor<readonly string[]> = useReadable(() => words);
// @ts-expect-error: an accessor is called
export const first: string = shown[0];
