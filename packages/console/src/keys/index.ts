export { useKeys, type KeyBinding, type KeyScope } from "./use-keys.ts";
