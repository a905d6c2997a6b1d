import type { Readable } from "turnwire/react";

/** Both types are the same type. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
export declare function holds<_Claim extends true>(): void;

export declare const words: Readable<readonly string[]>;
