// The public interface for tests of a catalog: they import it as 'trivet/testing'.

export { openCatalog } from './testing/open-catalog.ts'
export { AnswerError, QuestionError, RequestError } from './testing/test-errors.ts'
export type { TestCaller, TestCatalog, TestDownload } from './testing/test-catalog.ts'
export type {
  AnswerOptions, TestCallOptions, TestClient, TestOptions, TestPrincipal
} from './testing/test-options.ts'
export type {
  CallResult, CatalogLists, LogMessage, PromptResult, ReadResult, Reported, ResourceChange
} from './testing/test-results.ts'
export type { TestTask, TestTaskState } from './testing/test-task.ts'
export type { TestAnswer, TestQuestion, TestUpload } from './testing/test-question.ts'
export { CatalogError } from './catalog/compiled/problem.ts'
export type { Problem } from './catalog/compiled/problem.ts'
export type { Completion } from './protocol/completion.ts'
export type { Progress } from './protocol/notifications.ts'
export type { Prompt, Resource, ResourceTemplate, Tool } from './protocol/primitives.ts'
export type { Skill, SkillResource } from './protocol/skills.ts'
