import type { Endpoint } from "../network/endpoint.ts";
import type { Value } from "../shell/value.ts";

/** What kinds of things commands do; a preset has a decision for each. */
export const EFFECT_KINDS = [
  /** Looks at files or at the machine. */
  "read",
  /** Writes files inside the workspace or a folder for temporary files. */
  "write",
  /** Writes files anywhere else, or at a place that is not known. */
  "writeOutside",
  /** Runs the project's own code: builds, tests, scripts. */
  "run",
  /** Fetches packages and runs their set-up. */
  "install",
  /** Changes the local repository. */
  "commit",
  /** Exchanges commits with a server. */
  "sync",
  /** Talks to a host of its own choice. */
  "network",
  /** Shows something to the world: releases, pull requests, images. */
  "publish",
  /** Starts, stops or looks into processes, containers and services. */
  "process",
  /** Reads keys and passwords. */
  "credentials",
  /** Nobody here knows what it does. */
  "unknown",
] as const;

export type EffectKind = (typeof EFFECT_KINDS)[number];

/** One thing that a command does. */
export type Effect =
  | { readonly kind: Exclude<EffectKind, "write" | "writeOutside" | "network" | "read"> }
  | { readonly kind: "read"; readonly files?: readonly Value[] }
  | { readonly kind: "write"; readonly files: readonly Value[] }
  | {
      readonly kind: "network";
      readonly endpoints: readonly (Endpoint | undefined)[];
      readonly sends: boolean;
    };
