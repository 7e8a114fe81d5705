// The public interface: catalogs and embedding programs import it as 'trivet'.

export { defineTool } from './authoring/define-tool.ts'
export type { ToolDefinition, ToolOptions } from './authoring/define-tool.ts'
export type { CallToolResult, ToolOutput } from './authoring/tool-output.ts'
export { toolResult } from './authoring/tool-result.ts'
export type { ToolResult, ToolResultOptions } from './authoring/tool-result.ts'
export { ToolError } from './authoring/tool-error.ts'
export type { ToolErrorOptions } from './authoring/tool-error.ts'
export { definePrompt } from './authoring/define-prompt.ts'
export type {
  PromptArgumentOptions, PromptDefinition, PromptOptions, PromptOutput
} from './authoring/define-prompt.ts'
export { defineResource, defineResourceTemplate } from './authoring/define-resource.ts'
export type {
  ListedResource, OutputContents, ResourceDefinition, ResourceOptions, ResourceOutput,
  ResourceTemplateDefinition, ResourceTemplateOptions, TemplateVariables, VariablesOf
} from './authoring/define-resource.ts'
export { defineHandle } from './authoring/define-handle.ts'
export type { HandleDefinition, HandleOptions } from './authoring/define-handle.ts'
export { defineSettings } from './authoring/define-settings.ts'
export type { SettingOptions, SettingsDefinition, SettingsOf } from './authoring/define-settings.ts'
export { defineDependency } from './authoring/define-dependency.ts'
export type {
  DependencyDefinition, DependencyOptions, OpenContext
} from './authoring/define-dependency.ts'
export type {
  Files, FileSource, PutOptions, UploadAnswer, UploadedFile, UploadOptions
} from './authoring/files.ts'
export { HandleError } from './authoring/handles.ts'
export type { Handles, NewHandle } from './authoring/handles.ts'
export { elicit, roots, sample } from './authoring/input-request.ts'
export type {
  AnswersOf, FormAnswer, InputRequest, RootsAnswer, SampleAnswer, SampledContent, SampleOptions,
  SamplingMessage, ToolUseContent, UrlAnswer
} from './authoring/input-request.ts'
export type { CompletionContext, CompletionFunction, CompletionSource } from './authoring/completion.ts'
export type { Context, ReadContext, StepOptions } from './authoring/context.ts'
export type { Log } from './authoring/log.ts'
export type { CallLimitOptions } from './access/call-limits.ts'
export type { Principal } from './access/principal.ts'
export type {
  Annotations, ContentBlock, EmbeddedResource, Icon, PromptMessage, ResourceContents, ResourceLink
} from './protocol/content.ts'
export { createApp } from './app.ts'
export type { AppOptions } from './app.ts'
export { AuthenticationError, AuthenticationUnavailable } from './access/authentication-error.ts'
export type { AuthenticationErrorCode } from './access/authentication-error.ts'
export type { Authenticator } from './access/authenticator.ts'
export type { AppConfig } from './config.ts'
