// The public interface: catalogs and embedding programs import it as 'trivet'.

export { defineTool } from './platform/author/define-tool.ts'
export type { ToolDefinition, ToolOptions } from './platform/author/define-tool.ts'
export type { CallToolResult, ToolOutput } from './platform/author/tool-result.ts'
export { toolResult } from './platform/author/tool-result.ts'
export type { ToolResult, ToolResultOptions } from './platform/author/tool-result.ts'
export { ToolError } from './platform/author/tool-error.ts'
export type { ToolErrorOptions } from './platform/author/tool-error.ts'
export { definePrompt } from './platform/author/define-prompt.ts'
export type {
  PromptArgumentOptions, PromptDefinition, PromptOptions, PromptOutput
} from './platform/author/define-prompt.ts'
export { defineResource, defineResourceTemplate } from './platform/author/define-resource.ts'
export type {
  ListContext, ListedResource, OutputContents, ResourceDefinition, ResourceOptions, ResourceOutput,
  ResourceTemplateDefinition, ResourceTemplateOptions, TemplateVariables, VariablesOf
} from './platform/author/define-resource.ts'
export { defineHandle } from './platform/author/define-handle.ts'
export type { HandleDefinition, HandleOptions } from './platform/author/define-handle.ts'
export { defineSettings } from './platform/author/define-settings.ts'
export type { SettingOptions, SettingsDefinition, SettingsOf } from './platform/author/define-settings.ts'
export { defineDependency } from './platform/author/define-dependency.ts'
export type {
  DependencyDefinition, DependencyOptions, OpenContext
} from './platform/author/define-dependency.ts'
export { defineUpstream } from './platform/author/define-upstream.ts'
export type {
  UpstreamDefinition, UpstreamLimitOptions, UpstreamOptions, UpstreamRetryOptions
} from './platform/author/define-upstream.ts'
export type {
  BasicAuth, ClaimsAuth, ExchangeAuth, FromSettings, NoAuth, SecretAuth, ServiceAuth, UpstreamAuth
} from './platform/author/upstream-auth.ts'
export type { UpstreamInit, UpstreamQuery } from './platform/author/upstream-fetch.ts'
export { UpstreamError } from './platform/author/upstream-error.ts'
export type { UpstreamErrorCode } from './platform/author/upstream-error.ts'
export type {
  Files, FileSource, PutOptions, UploadAnswer, UploadedFile, UploadOptions
} from './platform/author/files.ts'
export { HandleError } from './platform/author/handles.ts'
export type { Handles, NewHandle } from './platform/author/handles.ts'
export { elicit, roots, sample } from './platform/author/input-request.ts'
export type {
  AnswersOf, FormAnswer, InputRequest, RootsAnswer, SampleAnswer, SampledContent, SampleOptions,
  SamplingMessage, ToolUseContent, UrlAnswer
} from './platform/author/input-request.ts'
export type {
  CompletionContext, CompletionFunction, CompletionSource
} from './platform/author/completion.ts'
export type {
  Context, ReadContext, SleepOptions, StepOptions, UndoContext
} from './platform/author/context.ts'
export type { Log } from './platform/author/log.ts'
export type { CallLimitOptions } from './platform/limits/call-limits.ts'
export type { Principal } from './platform/access/principal.ts'
export type {
  Annotations, ContentBlock, EmbeddedResource, Icon, PromptMessage, ResourceContents, ResourceLink
} from './platform/protocol/content.ts'
export { createApp } from './app/app.ts'
export type { AppOptions } from './app/app.ts'
export { AuthenticationError, AuthenticationUnavailable } from './platform/access/authentication.ts'
export type { AuthenticationErrorCode } from './platform/access/authentication.ts'
export type { Authenticator, TokenSender } from './platform/access/authentication.ts'
export type { AppConfig } from './ops/config/config.ts'
