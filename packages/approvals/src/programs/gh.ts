import {
  declareProgram,
  flag,
  type CommandDeclaration,
  type OptionTable,
  value,
} from "./declaration/declaration.ts";
import { action } from "./declaration/effect.ts";
import { isDashed } from "./declaration/word.ts";

const COMMON: OptionTable = {
  "-A, --author": value("data"),
  "-B, --base": value("data"),
  "-H, --head": value("data"),
  "-L, --limit": value("number"),
  "-R, --repo": value("data"),
  "-S, --search": value("data"),
  "-a, --assignee": value("data"),
  "-b, --branch": value("data"),
  "-c, --comments": flag,
  "-e, --event": value("data"),
  "-j, --job": value("data"),
  "-l, --label": value("data"),
  "-q, --jq": value("data"),
  "-s, --state, --status": value("data"),
  "-u, --user": value("data"),
  "-w, --workflow": value("data"),
  "--commit": value("data"),
  "--exit-status": flag,
  "--interval, -i": value("number"),
  "--json": value("data"),
  "--log": flag,
  "--log-failed": flag,
  "--name-only": flag,
  "--patch": flag,
  "--required": flag,
  "--template, -t": value("data"),
  "--verbose, -v": flag,
  "--watch": flag,
};

const reads: CommandDeclaration = {
  options: COMMON,
  operands: { rest: "data" },
  effects: [action("remote-read")],
};

const changes: CommandDeclaration = {
  operands: { rest: "data", acceptsAnyWord: true },
  effects: [action("remote-write")],
};

/** Without a method or fields, `gh api` sends a GET request. */
const api: CommandDeclaration = {
  options: {
    "-i, --include": flag,
    "-q, --jq": value("data"),
    "--cache": value("data"),
    "--paginate": flag,
    "--slurp": flag,
    "-t, --template": value("data"),
  },
  operands: { first: [/^(?!https?:)[\w/?&=.{}:%+-]+$/], atLeast: 1 },
  effects: [action("remote-read")],
};

const list = { list: reads, view: reads, status: reads };

export const gh = declareProgram({
  names: ["gh"],
  options: { "-R, --repo": value("data"), "--version": flag },
  subcommands: {
    api,
    auth: { subcommands: { status: { effects: [action("remote-read")] } } },
    gist: { subcommands: { list: reads, view: reads, create: changes, delete: changes, edit: changes } },
    issue: {
      subcommands: {
        ...list,
        close: changes,
        comment: changes,
        create: changes,
        delete: changes,
        edit: changes,
        reopen: changes,
      },
    },
    label: { subcommands: { list: reads, create: changes, delete: changes, edit: changes } },
    pr: {
      subcommands: {
        ...list,
        checkout: {
          options: COMMON,
          operands: { rest: "data" },
          effects: [action("git-fetch"), action("git-local")],
        },
        checks: reads,
        close: changes,
        comment: changes,
        create: changes,
        diff: reads,
        edit: changes,
        merge: changes,
        ready: changes,
        reopen: changes,
        review: changes,
      },
    },
    release: {
      subcommands: {
        list: reads,
        view: reads,
        create: changes,
        delete: changes,
        edit: changes,
        upload: changes,
      },
    },
    repo: {
      subcommands: {
        archive: changes,
        clone: {
          operands: { first: [/^[\w.-]+(?:\/[\w.-]+)?$/, "write"], atLeast: 1 },
          effects: [action("git-fetch"), action("unpack")],
          examine: ({ operands: [name, folder] }) => {
            // Without a folder it is named after the repository.
            if (folder === undefined)
              return [{ kind: "write", path: { text: name?.text?.split("/").pop() ?? "" } }];
            return isDashed(folder.text) ? "what follows -- are options of git" : [];
          },
        },
        create: changes,
        delete: changes,
        edit: changes,
        fork: changes,
        list: reads,
        view: reads,
      },
    },
    run: {
      subcommands: {
        list: reads,
        view: reads,
        watch: reads,
        cancel: changes,
        delete: changes,
        rerun: changes,
      },
    },
    search: { subcommands: { code: reads, commits: reads, issues: reads, prs: reads, repos: reads } },
    secret: { subcommands: { list: reads, set: changes, delete: changes } },
    status: reads,
    workflow: { subcommands: { list: reads, view: reads, run: changes, disable: changes, enable: changes } },
  },
});
