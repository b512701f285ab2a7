import { accessSync, constants, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, posix, win32 } from "node:path";
import { fileURLToPath } from "node:url";
import { isInside } from "./launch-folders.ts";

/** The parts of the system that the search for Codex reads. Tests pass a fake. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Files from which npm packages are resolved. */
  readonly bases: readonly string[];

  inspectPath(path: string): "executable" | "not_executable" | "folder" | "missing";
  /** Resolves a module from a file, as Node does. */
  resolve(request: string, from: string): string | undefined;
}

export function localMachine(env: Readonly<Record<string, string | undefined>> = process.env): Machine {
  const cwd = process.cwd();
  return {
    platform: process.platform,
    arch: process.arch,
    env,
    cwd,
    bases: [...ownFile(), ...workingFolder(cwd), ...entryFile()],
    inspectPath,
    resolve(request, from) {
      try {
        return createRequire(from).resolve(request);
      } catch {
        return undefined;
      }
    },
  };
}

/** Returns the path functions of the machine's platform. */
export function pathModule({ platform }: Machine): typeof posix {
  return platform === "win32" ? win32 : posix;
}

/** Reads an environment variable. Names are case-insensitive on Windows, which has `Path`. */
export function readVariable({ platform, env }: Machine, name: string): string | undefined {
  if (platform !== "win32") return env[name];
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}

/** Returns this file, unless a bundler has left no file URL. */
function ownFile(): string[] {
  try {
    return [fileURLToPath(import.meta.url)];
  } catch {
    return [];
  }
}

/**
 * Returns the working directory if the running program is inside it. A program that is installed elsewhere may run in an
 * untrusted repository, which can contain its own `node_modules`.
 */
function workingFolder(cwd: string): string[] {
  const [, entry] = process.argv;
  return entry === undefined || isInside(cwd, entry) ? [join(cwd, "package.json")] : [];
}

/** Returns the running program, whose packages may not be in its working directory. */
function entryFile(): string[] {
  const [, entry] = process.argv;
  return entry === undefined ? [] : [entry];
}

function inspectPath(path: string): ReturnType<Machine["inspectPath"]> {
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
