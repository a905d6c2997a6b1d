// The fake of a protocol, as its family's file lists it.
import type { Protocol } from "../boundary/protocols.js";
import type { Routes } from "./http.js";
import type { Speak } from "./socket.js";
import type { Support } from "./threads.js";
import type { World } from "./world.js";

/** How the server of a protocol answers requests, or what it does with a socket's messages; and what its scripts may have. */
export type Fake = Support & ({ readonly routes: (world: World) => Routes } | { readonly speak: (world: World) => Speak });

/** The fakes of some protocols. */
export type Fakes = Readonly<Partial<Record<Protocol, Fake>>>;
