import { accessSync, constants, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, posix, win32 } from "node:path";
import { fileURLToPath } from "node:url";

/** What the search for Codex sees of the machine; a test gives it another one. */
export interface FindWorld {
  readonly platform: string;
  readonly arch: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Files from whose place npm packages are looked up. */
  readonly bases: readonly string[];
  /** What is at a path: something to run, something else, or nothing. */
  look(path: string): "executable" | "not_executable" | "folder" | "missing";
  /** Where Node finds a module from a file, if it does. */
  resolve(request: string, from: string): string | undefined;
}

/** The machine as it is. */
export function realWorld(env: Readonly<Record<string, string | undefined>> = process.env): FindWorld {
  const cwd = process.cwd();
  return {
    platform: process.platform,
    arch: process.arch,
    env,
    cwd,
    bases: [...ownFile(), join(cwd, "package.json"), ...entryFile()],
    look,
    resolve(request, from) {
      try {
        return createRequire(from).resolve(request);
      } catch {
        return undefined;
      }
    },
  };
}

/** The path rules of a world. */
export function pathRules({ platform }: FindWorld): typeof posix {
  return platform === "win32" ? win32 : posix;
}

/** A variable of a world. Windows writes `Path` and means `PATH`. */
export function variable({ platform, env }: FindWorld, name: string): string | undefined {
  if (platform !== "win32") return env[name];
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}

/** This file; a bundler may leave no address, or one that is no file's. */
function ownFile(): string[] {
  try {
    return [fileURLToPath(import.meta.url)];
  } catch {
    return [];
  }
}

/** The program that runs: its packages may be elsewhere than the folder it works in. */
function entryFile(): string[] {
  const [, entry] = process.argv;
  return entry === undefined ? [] : [entry];
}

function look(path: string): ReturnType<FindWorld["look"]> {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return "missing";
  if (stat.isDirectory()) return "folder";
  try {
    accessSync(path, constants.X_OK);
    return "executable";
  } catch {
    return "not_executable";
  }
}
