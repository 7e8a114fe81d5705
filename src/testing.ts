// The public interface for tests of a catalog: they import it as 'trivet/testing'.

export { openCatalog } from './programs/testing/open-catalog.ts'
export { AnswerError, QuestionError } from './programs/testing/answered-rounds.ts'
export { RequestError } from './programs/testing/exchange.ts'
export type { TestCaller, TestCatalog } from './programs/testing/catalog.ts'
export type { TestDownload } from './programs/testing/files.ts'
export type {
  AnswerOptions, TestCallOptions, TestCallerOptions, TestClient, TestOptions, TestPrincipal
} from './programs/testing/options.ts'
export type {
  CallResult, CatalogLists, LogMessage, PromptResult, ReadResult, Reported, ResourceChange
} from './programs/testing/results.ts'
export type { ReplayDifference, ReplayOptions, ReplayResult } from './programs/testing/replay.ts'
export type { TestTask, TestTaskState } from './programs/testing/task.ts'
export type {
  TestUpstream, UpstreamAnswerer, UpstreamAnswers, UpstreamRequest
} from './programs/testing/upstreams.ts'
export type { TestAnswer, TestQuestion, TestUpload } from './programs/testing/question.ts'
export { CatalogError } from './catalog/compiled/problem.ts'
export { RecordingError } from './features/tasks/journal/recording.ts'
export type { Problem } from './catalog/compiled/problem.ts'
export type { Completion } from './platform/protocol/completion.ts'
export type { Progress } from './platform/protocol/notifications.ts'
export type { Prompt, Resource, ResourceTemplate, Tool } from './platform/protocol/primitives.ts'
export type { Skill, SkillResource } from './platform/protocol/skills.ts'
