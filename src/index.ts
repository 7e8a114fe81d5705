// The public interface: catalogs and embedding programs import it as 'trivet'.

export { defineTool } from './author/define-tool.ts'
export type { ToolDefinition, ToolOptions } from './author/define-tool.ts'
export type { CallToolResult, ToolOutput } from './author/tool-result.ts'
export { toolResult } from './author/tool-result.ts'
export type { ToolResult, ToolResultOptions } from './author/tool-result.ts'
export { ToolError } from './author/tool-error.ts'
export type { ToolErrorOptions } from './author/tool-error.ts'
export { definePrompt } from './author/define-prompt.ts'
export type {
  PromptArgumentOptions, PromptDefinition, PromptOptions, PromptOutput
} from './author/define-prompt.ts'
export { defineResource, defineResourceTemplate } from './author/define-resource.ts'
export type {
  ListContext, ListedResource, OutputContents, ResourceDefinition, ResourceOptions, ResourceOutput,
  ResourceTemplateDefinition, ResourceTemplateOptions, TemplateVariables, VariablesOf
} from './author/define-resource.ts'
export { defineHandle } from './author/define-handle.ts'
export type { HandleDefinition, HandleOptions } from './author/define-handle.ts'
export { defineSettings } from './author/define-settings.ts'
export type { SettingOptions, SettingsDefinition, SettingsOf } from './author/define-settings.ts'
export { defineDependency } from './author/define-dependency.ts'
export type {
  DependencyDefinition, DependencyOptions, OpenContext
} from './author/define-dependency.ts'
export { defineUpstream } from './author/define-upstream.ts'
export type {
  UpstreamDefinition, UpstreamLimitOptions, UpstreamOptions, UpstreamRetryOptions
} from './author/define-upstream.ts'
export type {
  BasicAuth, ClaimsAuth, ExchangeAuth, FromSettings, NoAuth, SecretAuth, ServiceAuth, UpstreamAuth
} from './author/upstream-auth.ts'
export type { UpstreamInit, UpstreamQuery } from './author/upstream-fetch.ts'
export { UpstreamError } from './author/upstream-error.ts'
export type { UpstreamErrorCode } from './author/upstream-error.ts'
export type {
  Files, FileSource, PutOptions, UploadAnswer, UploadedFile, UploadOptions
} from './author/files.ts'
export { HandleError } from './author/handles.ts'
export type { Handles, NewHandle } from './author/handles.ts'
export { elicit, roots, sample } from './author/input-request.ts'
export type {
  AnswersOf, FormAnswer, InputRequest, RootsAnswer, SampleAnswer, SampledContent, SampleOptions,
  SamplingMessage, ToolUseContent, UrlAnswer
} from './author/input-request.ts'
export type { CompletionContext, CompletionFunction, CompletionSource } from './author/completion.ts'
export type { Context, ReadContext, SleepOptions, StepOptions, UndoContext } from './author/context.ts'
export type { Log } from './author/log.ts'
export type { CallLimitOptions } from './limits/call-limits.ts'
export type { Principal } from './access/principal.ts'
export type {
  Annotations, ContentBlock, EmbeddedResource, Icon, PromptMessage, ResourceContents, ResourceLink
} from './protocol/content.ts'
export { createApp } from './app.ts'
export type { AppOptions } from './app.ts'
export { AuthenticationError, AuthenticationUnavailable } from './access/authentication.ts'
export type { AuthenticationErrorCode } from './access/authentication.ts'
export type { Authenticator, TokenSender } from './access/authentication.ts'
export type { AppConfig } from './ops/config/config.ts'
