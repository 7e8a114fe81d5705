// A catalog as its source delivers it: definitions and settings, read but not yet compiled.

import type { HandleDefinition } from '../authoring/define-handle.ts'
import type { PromptDefinition } from '../authoring/define-prompt.ts'
import type { ResourceDefinition, ResourceTemplateDefinition } from '../authoring/define-resource.ts'
import type { ToolDefinition } from '../authoring/define-tool.ts'
import type { Implementation } from '../protocol/primitives.ts'
import type { Problem } from './problem.ts'

/** A definition and where it was found, for the problems that are reported about it. */
export interface Located<D> {
  readonly definition: D
  readonly file: string
  readonly place: string
}

export interface ServerSettings {
  /** Goes with every result. */
  readonly info: Implementation
  readonly instructions: string | undefined
  /** How long clients may keep lists and discovery, in milliseconds. */
  readonly listTtlMs: number
  /** How long clients may keep what they read of a resource that does not say, in milliseconds. */
  readonly readTtlMs: number
  /** How many entries one page of a list holds; `undefined`: as the service is configured. */
  readonly pageSize: number | undefined
}

export interface CatalogContents {
  readonly server: ServerSettings
  readonly tools: ReadonlyArray<Located<ToolDefinition>>
  readonly prompts: ReadonlyArray<Located<PromptDefinition>>
  readonly resources: ReadonlyArray<Located<ResourceDefinition>>
  readonly templates: ReadonlyArray<Located<ResourceTemplateDefinition>>
  readonly handles: ReadonlyArray<Located<HandleDefinition>>
  /** For resources that are files: what changes whenever the file does. By URI. */
  readonly stamps: ReadonlyMap<string, string>
  /** What already went wrong while reading. */
  readonly problems: readonly Problem[]
}
