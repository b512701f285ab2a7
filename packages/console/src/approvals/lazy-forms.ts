import { lazy } from "solid-js";

/** Loaded with the first form, because few approvals have one. */
const load = async () => import("./answer-forms.ts");

export const ElicitationActions = lazy(async () => ({ default: (await load()).ElicitationActions }));
export const ElicitationBody = lazy(async () => ({ default: (await load()).ElicitationBody }));
export const QuestionActions = lazy(async () => ({ default: (await load()).QuestionActions }));
export const QuestionBody = lazy(async () => ({ default: (await load()).QuestionBody }));
