/** Receives log records. Records never contain tokens, environment variables, arguments or file contents. */
export interface Logger {
  debug(message: string, fields: LogFields): void;
  info(message: string, fields: LogFields): void;
  warn(message: string, fields: LogFields): void;
  error(message: string, fields: LogFields): void;
}

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Logs JSON lines at and above a level. */
export function jsonLogger(level: LogLevel, write: (line: string) => void): Logger {
  const from = LOG_LEVELS.indexOf(level);
  const at =
    (name: Exclude<LogLevel, "silent">) =>
    (message: string, fields: LogFields): void => {
      if (LOG_LEVELS.indexOf(name) < from) return;
      write(`${JSON.stringify({ time: new Date().toISOString(), level: name, message, ...fields })}\n`);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

export const SILENT: Logger = jsonLogger("silent", () => {});
