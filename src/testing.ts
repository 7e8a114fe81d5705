// The public interface for tests of a catalog: they import it as 'trivet/testing'.

export { openCatalog } from './testing/open-catalog.ts'
export { AnswerError, QuestionError } from './testing/answered-rounds.ts'
export { RequestError } from './testing/exchange.ts'
export type { TestCaller, TestCatalog } from './testing/catalog.ts'
export type { TestDownload } from './testing/files.ts'
export type {
  AnswerOptions, TestCallOptions, TestCallerOptions, TestClient, TestOptions, TestPrincipal
} from './testing/options.ts'
export type {
  CallResult, CatalogLists, LogMessage, PromptResult, ReadResult, Reported, ResourceChange
} from './testing/results.ts'
export type { ReplayDifference, ReplayOptions, ReplayResult } from './testing/replay.ts'
export type { TestTask, TestTaskState } from './testing/task.ts'
export type {
  TestUpstream, UpstreamAnswerer, UpstreamAnswers, UpstreamRequest
} from './testing/upstreams.ts'
export type { TestAnswer, TestQuestion, TestUpload } from './testing/question.ts'
export { CatalogError } from './catalog/compiled/problem.ts'
export { RecordingError } from './tasks/recording.ts'
export type { Problem } from './catalog/compiled/problem.ts'
export type { Completion } from './protocol/completion.ts'
export type { Progress } from './protocol/notifications.ts'
export type { Prompt, Resource, ResourceTemplate, Tool } from './protocol/primitives.ts'
export type { Skill, SkillResource } from './protocol/skills.ts'
