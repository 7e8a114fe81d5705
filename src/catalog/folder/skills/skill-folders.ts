// Finds the skills below skills/: each folder with a SKILL.md is one, and all files below it are its files. A
// skill may lie in a folder that only sorts skills, and in another skill.
// https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#resource-mapping

import { posix } from 'node:path'
import { SKILL_FILE } from '../../../platform/protocol/skills.ts'
import { isNeverPart, isReadme } from '../catalog-parts.ts'
import { parentOf, type FolderFile } from '../files/folder-files.ts'

/** All paths are relative to skills/. */
export interface SkillFolder {
  readonly path: string
  /** Its SKILL.md. */
  readonly main: FolderFile
  /** All files, with those of the skills within it. */
  readonly files: readonly FolderFile[]
  /** The skill that it lies in, and that lies in no other one. It may be the skill itself. */
  readonly outermost: string
}

interface SkillListener {
  /** Called with each file that breaks a rule, and the outermost skill around it. */
  onProblem (path: string, rule: string, outermost: string | undefined): void
  /** Called with each file that is in no skill. */
  onPassedOver (path: string, reason: string): void
}

/** @param listed in the order of their paths. */
export function findSkillFolders (
  listed: readonly FolderFile[], { onProblem, onPassedOver }: SkillListener
): SkillFolder[] {
  const mains = listed.filter(({ path }) => posix.basename(path) === SKILL_FILE && path !== SKILL_FILE)
  const filesOf = new Map(mains.map(({ path }): [string, FolderFile[]] => [parentOf(path), []]))
  const skillsAround = (path: string) => foldersAround(path).filter((folder) => filesOf.has(folder))
  for (const file of listed) {
    const { path } = file
    const around = skillsAround(path)
    if (path === SKILL_FILE) {
      onProblem(path, `must be in a folder with the name of the skill: NAME/${SKILL_FILE}`, undefined)
    } else if (isMisspelt(path) && !filesOf.has(parentOf(path))) {
      onProblem(path, `must be named ${SKILL_FILE}`, around[0])
    } else if (path.split('/').some(isNeverPart)) {
      onPassedOver(path, 'is a database or a log: no file of a skill changes while it is used')
    } else if (around.length === 0) {
      if (!isReadme(path)) onPassedOver(path, `is in no skill: no folder around it has a ${SKILL_FILE}`)
    } else for (const folder of around) filesOf.get(folder)?.push(file)
  }
  return mains.map((main) => {
    const path = parentOf(main.path)
    return { path, main, files: filesOf.get(path) ?? [], outermost: skillsAround(main.path)[0] ?? path }
  })
}

function isMisspelt (path: string): boolean {
  return posix.basename(path).toLowerCase() === SKILL_FILE.toLowerCase()
}

/** The folders that a path lies in, the outermost first. */
function foldersAround (path: string): string[] {
  const segments = path.split('/').slice(0, -1)
  return segments.map((_, index) => segments.slice(0, index + 1).join('/'))
}
