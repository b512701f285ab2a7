// The forms of questions and of MCP servers: the fields, and the buttons that send them.
export { ElicitationActions, QuestionActions } from "./answer-actions.tsx";
export { ElicitationBody } from "./elicitation-body.tsx";
export { QuestionBody } from "./question-body.tsx";
