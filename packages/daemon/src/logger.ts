import { type DestinationStream, type Logger, pino } from "pino";

/** Members that may hold a secret, at any of the depths that the daemon logs. */
const SECRET_MEMBERS = [
  "token",
  "apiKey",
  "authorization",
  "cookie",
  "password",
  "env",
  "headers",
  "mcpServers",
  "environment",
  "setup",
];

/** Structured logs without secrets. Default destination: standard error. */
export function createLogger(level: string, destination: DestinationStream = pino.destination(2)): Logger {
  const paths = SECRET_MEMBERS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  return pino({ level, base: null, redact: { paths, censor: "[secret]" } }, destination);
}
