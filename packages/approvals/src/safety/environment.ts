import { cautioned, type Finding } from "../finding.ts";
import type { Places } from "../files/places.ts";
import type { Invocation } from "../shell/invocation.ts";
import { isUnknown, type Value } from "../shell/value.ts";

const INJECTS =
  /^(?:LD_PRELOAD|LD_AUDIT|LD_LIBRARY_PATH|DYLD_\w+|BASH_ENV|ENV|ZDOTDIR|PROMPT_COMMAND|PS4|SHELLOPTS|BASHOPTS|IFS|GIT_SSH|GIT_SSH_COMMAND|GIT_EXTERNAL_DIFF|GIT_ASKPASS|SSH_ASKPASS|GIT_PROXY_COMMAND|GIT_CONFIG_\w+|GIT_DIR|GIT_EXEC_PATH|PYTHONSTARTUP|PERL5OPT|PERL5DB|RUBYOPT|LESSOPEN|LESSCLOSE|BROWSER|npm_config_script_shell|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|MAKEFLAGS|MAKEFILES|JDK_JAVA_OPTIONS|PS[012]|CDPATH|MANOPT|MANROFFOPT|TAR_OPTIONS|GREP_OPTIONS|RSYNC_RSH|CVS_RSH|VIMINIT|EXINIT|INPUTRC|LESSKEY\w*|FZF_DEFAULT_COMMAND|RIPGREP_CONFIG_PATH|PYTHONHOME|PERL5LIB|RUBYLIB|GCONV_PATH|GIT_TEMPLATE_DIR|BUN_OPTIONS|CARGO_TARGET_\w+_(?:RUNNER|LINKER)|CMAKE_\w+_LAUNCHER|SUDO_ASKPASS|CARGO_BUILD_RUSTC_WRAPPER|RUSTC_WRAPPER)$/;

const RUNS =
  /^(?:(?:\w+_)?PAGER|(?:\w+_)?EDITOR|(?:\w+_)?BROWSER|GIT_PAGER|MANPAGER|EDITOR|VISUAL|GIT_EDITOR|GIT_SEQUENCE_EDITOR|TEST_SHELL|SHELL)$/;

const HARMLESS_PROGRAM =
  /^(?:|cat|true|false|:|less|more|vi|vim|nano|echo|\/bin\/(?:ba)?sh|\/bin\/true|sh|bash|code --wait)$/;

/** Variables that make an innocent program run something else. */
export function judgeEnvironment(
  { assignments, argv, name }: Invocation,
  places: Places,
): Finding | undefined {
  const all = [...assignments];
  if (/^(?:export|declare|typeset|readonly|local|env)$/.test(name)) {
    for (const value of argv.slice(1)) {
      const equals = value.text.indexOf("=");
      if (equals > 0)
        all.push({
          name: value.text.slice(0, equals),
          value: { ...value, text: value.text.slice(equals + 1) },
        });
    }
  }
  for (const { name: variable, value } of all) {
    const injects =
      (INJECTS.test(variable) && value.text !== "") ||
      (RUNS.test(variable) && !HARMLESS_PROGRAM.test(value.text)) ||
      (variable === "NODE_OPTIONS" &&
        /(?:-r|--require|--import|--loader|--experimental-loader|--inspect)\b/.test(value.text)) ||
      (variable === "NODE_OPTIONS" && isUnknown(value)) ||
      (variable === "GOFLAGS" && /-(?:toolexec|exec|vettool|overlay)/.test(value.text)) ||
      (variable === "PYTHONPATH" && isUnknown(value)) ||
      (variable === "PATH" && !isOwnPath(value, places));
    if (injects) return cautioned("environment-injection", `${variable} can make a program run other code`);
  }
  return undefined;
}

/** A search path whose folders belong to the system, to the workspace or to the user's own tools. */
function isOwnPath({ text }: Value, places: Places): boolean {
  return text.split(":").every((folder) => {
    if (folder === "\u0000") return true;
    if (folder.includes("\u0000")) return false;
    const path = places.absolute(folder, places.cwd);
    return (
      places.inWorkspace(path) ||
      /^\/(?:usr\/(?:local\/)?|opt\/[\w.-]+\/|snap\/)?s?bin$/.test(path) ||
      (path.startsWith(`${places.home}/`) && /\/s?bin$/.test(path))
    );
  });
}
