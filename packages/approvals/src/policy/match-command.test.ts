import { describe, expect, it } from "vitest";
import { ALL_PROGRAMS } from "../programs/all-programs.ts";
import type { CommandDeclaration } from "../programs/declaration/declaration.ts";
import { definePolicy } from "./define-policy.ts";
import { evaluatePolicy } from "./evaluate-policy.ts";
import type { PolicyInput } from "./policy.ts";

const judge = (command: string, input: PolicyInput) =>
  evaluatePolicy(definePolicy({ workspace: "/srv/app", ...input }), {
    kind: "command",
    command,
    cwd: "/srv/app",
  });

const PRESETS = ["developer", "danger-full-access"] as const;

/** A program with each of its subcommands, by all their names. */
function callsOf(command: CommandDeclaration, words: readonly string[]): readonly (readonly string[])[] {
  const subcommands = Object.entries(command.subcommands ?? {});
  return [
    words,
    ...subcommands.flatMap(([name, inner]) => [
      ...callsOf(inner, [...words, name]),
      ...(inner.aliases ?? []).map((alias) => [...words, alias]),
    ]),
  ];
}

describe("a rule that denies", () => {
  // `time` is part of the shell's grammar.
  const calls = ALL_PROGRAMS.flatMap((program) =>
    program.names.flatMap((name) => callsOf(program, [name])),
  ).filter(([name]) => name !== "time");

  it.each(PRESETS)(
    "denies the command that consists of its words, for every declared program, under %s",
    (preset) => {
      expect(calls.length).toBeGreaterThan(800);
      const missed = calls.filter((argv) => {
        const command = `${argv.join(" ")} x y`;
        return judge(command, { preset, deny: [{ kind: "prefix", argv }] }).decision !== "deny";
      });
      expect(missed).toEqual([]);
    },
  );

  it.each([
    "python3 x.py",
    "python3.12 x.py",
    "pip3 install x",
    "sh x.sh",
    "nodejs x.js",
    "gmake x",
    "just deploy",
    "npm i",
    "npm t",
    "npm x frob",
    "npm run-script x",
    "pnpm i",
    "python -m pip",
    "/usr/bin/git push",
    "/bin/rm x",
    "./deploy.sh now",
    "scripts/deploy.sh now",
    "frob now",
  ])("denies %s by any number of its words", (command) => {
    const words = command.split(" ");
    for (const length of words.keys()) {
      const rule = words.slice(0, length + 1).join(" ");
      for (const preset of PRESETS)
        expect([rule, judge(command, { preset, deny: [rule] }).rule]).toEqual([rule, "deny[0]"]);
    }
  });

  it.each([
    ["ant", "vite build"],
    ["bash", "zsh x.sh"],
    ["npx", "bunx x"],
    ["docker", "podman ps"],
    ["eslint", "prettier x"],
    ["python3", "python2 x"],
    ["git push", "git stash push"],
    ["npm test", "npm run build"],
    ["make x", "make y"],
    ["rm -rf", "rm -r a"],
  ])("%s leaves %s alone", (rule, command) => {
    expect(judge(command, { preset: "danger-full-access", deny: [rule] }).decision).toBe("allow");
  });

  it.each(Object.entries(spellings()))("%s denies %j", (rule, commands) => {
    for (const command of commands)
      for (const preset of PRESETS)
        expect([command, judge(command, { preset, deny: [rule] }).rule]).toEqual([command, "deny[0]"]);
  });

  it.each(runners())("applies to the command that %s runs", (runner) => {
    for (const rule of ["git push", "npm publish", "rm", "curl"])
      for (const preset of PRESETS) {
        const command = runner.replace("X", rule);
        expect([command, judge(command, { preset, deny: [rule] }).rule]).toEqual([command, "deny[0]"]);
      }
    const command = runner.replace("X", "frob");
    expect(judge(command, { preset: "danger-full-access", deny: ["git push"] }).decision).toBe("allow");
  });
});

describe("a rule that allows", () => {
  it("allows no other program of the same declaration", () => {
    expect(judge("vite build", { preset: "read-only", additionalAllow: ["ant"] }).decision).not.toBe("allow");
    expect(judge("vite build", { preset: "read-only", additionalAllow: ["vite"] }).decision).toBe("allow");
  });
});

function spellings(): Readonly<Record<string, readonly string[]>> {
  return {
    "yarn add": ["yarn --silent add x", "yarn --cwd . add x", "yarn workspace a add x", "yarnpkg add x"],
    "pnpm add": ["pnpm -w add x", "pnpm --filter a add x", "pnpm -C . add x", "pnpm -r add x", "pnpm i x"],
    "npm install": ["npm in x", "npm isntall x", "npm it", "npm ci"],
    "npm test": ["npm run test", "npm it"],
    "npm publish": ["npm pub"],
    "make deploy": ["make VAR=1 deploy", "make clean deploy"],
    "docker compose down": ["docker-compose down"],
    "docker-compose down": ["docker compose down"],
    "cargo run": ["cargo r", "cargo +nightly run"],
    "cargo test": ["cargo t"],
    "mvn deploy": ["mvn -q deploy", "mvn clean deploy"],
    "./gradlew publish": ["./gradlew -q publish", "./gradlew clean publish"],
    "poetry add": ["poetry -C . add x"],
    "composer install": ["composer i"],
    "yarn install": ["yarn"],
    "yarn run x": ["yarn x"],
    "pnpm run x": ["pnpm x"],
    "bun add": ["bun a x"],
    "just deploy": ["just -f x deploy"],
    "git branch -D": ["git branch -d -f x"],
    "rm -rf": ["rm -fr a", "rm -r -f a", "rm -rf a"],
    "docker image rm": ["docker rmi x"],
    "pip install": ["uv pip install x", "pip3.11 install x", "python3 -m pip install x"],
    vitest: ["npx vitest"],
    pytest: ["python -m pytest"],
  };
}

function runners(): readonly string[] {
  return [
    "npx X",
    "npx -c 'X'",
    "npm exec -- X",
    "npm exec -c 'X'",
    "pnpm exec X",
    "pnpm dlx X",
    "yarn exec X",
    "yarn dlx X",
    "poetry run X",
    "uv run X",
    "pipenv run X",
    "bundle exec X",
    "rustup run stable X",
    "mise exec -- X",
    "nix develop -c X",
    "gdb --args X",
    "perf stat X",
    "valgrind X",
    "hyperfine 'X'",
    "concurrently 'X'",
    "nodemon --exec 'X'",
    "docker run IMG X",
    "docker run --rm -e A=1 IMG X",
    "docker exec c X",
    "docker compose exec app X",
    "npx -y poetry run X",
  ];
}
