// Compiles skills, and finds the directories that their files lie in.

import { DIRECTORY_TYPE } from '../../../base/media-types.ts'
import type { Skill } from '../../../platform/protocol/skills.ts'
import {
  compareListOrder, toCompiledPrimitive, type CompiledPrimitive, type CompiledSkill
} from '../compiled-primitive.ts'
import type { Located, SkillDefinition } from '../contents.ts'
import { maySee, type IsGranted } from '../scopes/access-rule.ts'

export function compileSkill (located: Located<SkillDefinition>): CompiledSkill {
  const { uri, frontmatter, resources } = located.definition
  const entry: Skill = { uri, frontmatter, resources }
  return { ...toCompiledPrimitive(uri, located, entry), files: resources.map((file) => file.uri) }
}

/**
 * Finds the directories of the skills that a caller sees, and those above them. Returns the entries directly
 * in each, in list order, by its URI without a slash at its end.
 * @param resources have all files of the skills.
 */
export function findSkillDirectories (
  skills: readonly CompiledSkill[], resources: readonly CompiledPrimitive[], isGranted: IsGranted
): ReadonlyMap<string, readonly CompiledPrimitive[]> {
  const files = new Set(skills.filter((skill) => maySee(skill, isGranted)).flatMap((skill) => skill.files))
  const directories = new Map<string, CompiledPrimitive[]>()
  function open (directory: string): CompiledPrimitive[] {
    const existing = directories.get(directory)
    if (existing !== undefined) return existing
    const entries: CompiledPrimitive[] = []
    directories.set(directory, entries)
    const above = parentOf(directory)
    if (isDirectory(above)) open(above).push(toDirectoryEntry(directory))
    return entries
  }
  for (const resource of resources) if (files.has(resource.key)) open(parentOf(resource.key)).push(resource)
  for (const entries of directories.values()) entries.sort(compareListOrder)
  return directories
}

function toDirectoryEntry (uri: string): CompiledPrimitive {
  const name = decodeURIComponent(uri.slice(uri.lastIndexOf('/') + 1))
  return toCompiledPrimitive(uri, { definition: {} }, { uri, name, mimeType: DIRECTORY_TYPE })
}

function parentOf (uri: string): string {
  return uri.slice(0, uri.lastIndexOf('/'))
}

/** `skill:/`, above the first segment, is none. */
function isDirectory (uri: string): boolean {
  return /^skill:\/\/[^/]/.test(uri)
}
