// The contents of a catalog folder: read, but not compiled.

import type { Readable } from 'node:stream'
import type { CommonOptions } from '../../platform/author/common-options.ts'
import type { DependencyDefinition } from '../../platform/author/define-dependency.ts'
import type { HandleDefinition } from '../../platform/author/define-handle.ts'
import type { PromptDefinition } from '../../platform/author/define-prompt.ts'
import type { ResourceDefinition, ResourceTemplateDefinition } from '../../platform/author/define-resource.ts'
import type { SettingsDefinition } from '../../platform/author/define-settings.ts'
import type { ToolDefinition } from '../../platform/author/define-tool.ts'
import type { UpstreamDefinition } from '../../platform/author/define-upstream.ts'
import type { CallLimitOptions, Unread } from '../../platform/limits/call-limits.ts'
import type { CacheScope, Implementation } from '../../platform/protocol/primitives.ts'
import type { Skill, SkillResource } from '../../platform/protocol/skills.ts'
import type { Problem } from './problem.ts'

/** A definition and its place, which every problem of the definition names. */
export interface Located<D> {
  readonly definition: D
  readonly file: string
  readonly place: string
}

/** A skill as its folder has it. Its files are among the resources of the catalog. */
export interface SkillDefinition
  extends Pick<Skill, 'uri' | 'frontmatter'>, Pick<CommonOptions, 'scopes' | 'whenMissing'> {
  readonly resources: readonly SkillResource[]
}

/** `fingerprint` is there for a tool with tasks whose file is known: it changes with the code of the tool. */
export interface LocatedTool extends Located<ToolDefinition> { readonly fingerprint?: string | undefined }

/** `bytes` is there for a resource that is a file. */
export interface LocatedResource extends Located<ResourceDefinition> { readonly bytes?: FileBytes }

/** A scope as the settings of a catalog describe it. */
export interface ScopeDefinition {
  readonly name: string
  /** For people. */
  readonly description?: string
  /** The scopes that a caller with this scope also holds, with those that they include in turn. */
  readonly includes?: readonly string[]
}

export interface ServerSettings {
  /** Every result has its name and version. */
  readonly info: Implementation
  readonly instructions: string | undefined
  /** How long clients may cache lists and the result of `server/discover`, in milliseconds. */
  readonly listTtlMs: number
  /** How long clients may cache the contents of a resource without a `ttlMs` of its own, in milliseconds. */
  readonly readTtlMs: number
  /**
   * The `cacheScope` of what every caller gets alike: lists, files and skills that no scope decides about.
   * Where callers need a token, a shared cache must not give it to strangers.
   */
  readonly openCacheScope: CacheScope
  /** The entries on one page of a list. `undefined`: the service's setting decides. */
  readonly pageSize: number | undefined
  readonly scopes: ReadonlyArray<Located<ScopeDefinition>>
  /**
   * What happens to a reload that breaks clients. `undefined`: what the catalog before it said; for a first
   * catalog `off`.
   */
  readonly guard?: 'off' | 'warn' | 'refuse' | undefined
  /**
   * Whether the service has a tool that continues calls, for clients without tasks. Otherwise such clients
   * cannot call tools whose calls go on.
   */
  readonly continuesCalls: boolean
  /**
   * Whether lists have schemas without references, where that is possible (`auto`), or as authors write them.
   */
  readonly schemas?: 'auto' | 'as-written' | undefined
  /** The names of clients that are served as plain, whatever they declare. None by default. */
  readonly plainClients?: readonly string[]
  /** Whether arguments are repaired. `undefined`: they are. A tool's own option wins. */
  readonly arguments?: 'repair' | 'strict' | undefined
  /** The limits of all calls. The service's settings come before them. */
  readonly limits: Unread<CallLimitOptions> | undefined
}

/** A file in the folders of a catalog that it is not made of. */
export interface PassedOver {
  /** Relative to the catalog folder. */
  readonly file: string
  /** Why, and what to do. */
  readonly reason: string
}

/** A screen, as tools name it. */
export interface CatalogApp {
  readonly uri: string
  /** What a caller needs to read it. */
  readonly scopes: readonly string[]
}

export interface CatalogContents {
  readonly server: ServerSettings
  readonly tools: readonly LocatedTool[]
  readonly prompts: ReadonlyArray<Located<PromptDefinition>>
  readonly resources: readonly LocatedResource[]
  /** Resources that can be read, but are not in the list. */
  readonly unlisted: ReadonlyArray<Located<ResourceDefinition>>
  readonly templates: ReadonlyArray<Located<ResourceTemplateDefinition>>
  readonly skills: ReadonlyArray<Located<SkillDefinition>>
  /** The screens that tools may name. They are among the resources too. */
  readonly apps: ReadonlyMap<string, CatalogApp>
  readonly handles: ReadonlyArray<Located<HandleDefinition>>
  readonly settings: ReadonlyArray<Located<SettingsDefinition>>
  readonly dependencies: ReadonlyArray<Located<DependencyDefinition>>
  readonly upstreams: ReadonlyArray<Located<UpstreamDefinition>>
  /** The modules that are as they were in the contents that are served, with all that they import. */
  readonly unchangedModules: ReadonlySet<string>
  /** For resources that are files, by URI: a text that changes whenever the file changes. */
  readonly stamps: ReadonlyMap<string, string>
  /**
   * A hash of the contents of all files of the source. The same on every replica with the same files: it has
   * no times and no absolute paths.
   */
  readonly digest: string
  /** The digest of each of these files, by its path in the source. */
  readonly fileDigests: ReadonlyMap<string, string>
  readonly passedOver: readonly PassedOver[]
  /** The files whose front matter has keys that nothing here reads. */
  readonly foreignKeys: readonly ForeignKeys[]
  /** The problems of skills that are not among `skills`. They keep nothing else from loading. */
  readonly leftOut: readonly Problem[]
  /** The problems that were found while reading. */
  readonly problems: readonly Problem[]
}

/** The keys of other tools in the front matter of a file, whose path is relative to the catalog folder. */
export interface ForeignKeys { readonly file: string, readonly keys: readonly string[] }

/** An open file. Close it unless `read` was called. */
export interface OpenedBytes {
  readonly size: number
  /** In milliseconds since 1970. */
  readonly modifiedMs: number
  read (range?: { readonly start: number, readonly end: number }): Readable
  close (): void
}

export interface FileBytes {
  /** When the catalog was loaded. */
  readonly size: number
  readonly name: string
  /** `undefined` if the file is gone. */
  open (): Promise<OpenedBytes | undefined>
}
