/** How a program takes a password as an argument. */
interface PasswordOption {
  readonly option: string;
  /** Whether the password follows the option without a space. With a space, `mysql -p` asks for it instead. */
  readonly form: "separate" | "attached" | "either";
  /** A subcommand that must precede the option, because it has another meaning otherwise: `docker run -p 8080:80`. */
  readonly subcommand?: string;
  /** Whether the value is `user:password`. */
  readonly hasUser?: boolean;
}

const MYSQL: PasswordOption = { option: "-p", form: "attached" };
const MONGO: PasswordOption = { option: "-p", form: "separate" };
const REGISTRY: PasswordOption = { option: "-p", form: "separate", subcommand: "login" };

/** Short options that mean something else for most programs, such as `mkdir -p` and `ssh -p`. */
const PROGRAMS: ReadonlyMap<string, PasswordOption> = new Map([
  ["sshpass", { option: "-p", form: "either" }],
  ["redis-cli", { option: "-a", form: "separate" }],
  ["curl", { option: "-u", form: "either", hasUser: true }],
  ...["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump", "mariadb-admin"].map(
    (name) => [name, MYSQL] as const,
  ),
  ...["mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"].map(
    (name) => [name, MONGO] as const,
  ),
  ...["docker", "podman", "nerdctl", "buildah", "skopeo", "oras", "helm", "az"].map(
    (name) => [name, REGISTRY] as const,
  ),
]);

/** Ends of commands, including a newline in JSON, and words. Words don't include quotes and their escapes. */
const TOKENS = /[\n;|&]|\\n|[^\s;|&"'`\\(){}]+/g;
/** A value after an option and its quotes. Variables, placeholders and further options are not passwords. */
const VALUE = /[ \t]+\\*["']?([^\s"'\\;|&<>()$`-][^\s"'\\;|&<>()]{3,})/y;
const QUOTED = /\\*["']([^\s"'\\;|&<>()$`-][^\s"'\\;|&<>()]{3,})/y;
const SECRET_OPTION = /^--(?:[\w-]*-)?(?:password|passwd|passphrase|secret|token|api-?key|access-?key)$/;

/**
 * Finds passwords that are arguments of commands: `sshpass -p …`, and `--password …` of any program. The value of such a long
 * option is left out if it is a word, because texts about options contain them too. Takes linear time.
 */
export function* findCommandPasswords(
  text: string,
): Generator<{ readonly start: number; readonly end: number }> {
  let program: PasswordOption | undefined;
  let hasSubcommand = false;
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    const after = index + token.length;
    if (/^(?:[\n;|&]|\\n)$/.test(token)) {
      program = undefined;
    } else if (SECRET_OPTION.test(token)) {
      const value = valueAt(VALUE, text, after);
      if (value && /[^a-z.,:!?]/i.test(value.text))
        yield { start: value.start, end: value.start + value.text.length };
    } else if (!token.startsWith("-")) {
      const named = PROGRAMS.get(token.slice(token.lastIndexOf("/") + 1));
      if (named) hasSubcommand = false;
      program = named ?? program;
      hasSubcommand ||= token === program?.subcommand;
    } else if (program && token.startsWith(program.option) && (!program.subcommand || hasSubcommand)) {
      const { option, form, hasUser } = program;
      const attached =
        token.length > option.length
          ? { start: index + option.length, text: token.slice(option.length) }
          : valueAt(QUOTED, text, after);
      const separate = form !== "attached" && !attached ? valueAt(VALUE, text, after) : undefined;
      const value = form === "separate" ? separate : (attached ?? separate);
      if (!value) continue;
      const colon = value.text.indexOf(":");
      if (hasUser !== true || colon >= 0) {
        yield {
          start: value.start + (hasUser === true ? colon + 1 : 0),
          end: value.start + value.text.length,
        };
      }
      // What follows may be another command: `sshpass -p … ssh -p 2222`.
      program = undefined;
    }
  }
}

function valueAt(
  pattern: RegExp,
  text: string,
  at: number,
): { readonly start: number; readonly text: string } | undefined {
  pattern.lastIndex = at;
  const [whole = "", value] = pattern.exec(text) ?? [];
  return value === undefined ? undefined : { start: at + whole.length - value.length, text: value };
}
