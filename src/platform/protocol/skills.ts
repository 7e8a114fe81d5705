// The extension io.modelcontextprotocol/skills: its capability, its limits, and skills as JSON.
// https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx

/** What a service declares that has skills. */
export const SKILLS_CAPABILITY = {
  extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } }
}

/** The file that each skill has. Its URI is that of the skill. */
export const SKILL_FILE = 'SKILL.md'

/** What every host accepts of one skill. */
export const MAX_SKILL_FILES = 512
export const MAX_SKILL_BYTES = 16_777_216

/** Keys of `metadata` that only extensions of the protocol define. */
export const RESERVED_METADATA_PREFIX = 'io.modelcontextprotocol/'

/** A file of a skill. */
export interface SkillResource {
  readonly uri: string
  /** The hash of its bytes: `sha256:` and 64 hexadecimal digits in lower case. */
  readonly digest: string
  /** The size in bytes. */
  readonly size: number
}

/**
 * A skill, as `skills/list` and `skills/get` have it.
 * https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#skill-entries
 */
export interface Skill {
  /** The URI of its SKILL.md. */
  readonly uri: string
  /** The front matter of SKILL.md, with all that its author wrote. */
  readonly frontmatter: {
    readonly name: string, readonly description: string, readonly [key: string]: unknown
  }
  /** All files, with those of the skills within this one. Trivet never sends `dynamic`: others may. */
  readonly resources: readonly SkillResource[] | 'dynamic'
}
