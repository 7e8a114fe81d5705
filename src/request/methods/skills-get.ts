// https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#getting-a-skill

import { quote } from '../../base/words.ts'
import type { CompiledSkill } from '../../catalog/compiled/compiled-primitive.ts'
import { scopesToSee } from '../../catalog/compiled/scopes/access-rule.ts'
import type { Snapshot } from '../../catalog/compiled/snapshot.ts'
import { invalidParams } from '../../platform/protocol/errors.ts'
import { Type } from '../../platform/schema/type.ts'
import { defineMethod, type Method } from '../pipeline/method.ts'

/** The entry is that of the list, so that it is kept as long, and by the same caches. */
function serialise (skill: CompiledSkill, { writer, server }: Snapshot): Buffer {
  const { listTtlMs, openCacheScope } = server
  const cacheScope = scopesToSee(skill).length === 0 ? openCacheScope : 'private'
  return Buffer.from(writer.writeCacheable(`"skill":${skill.json}`, { ttlMs: listTtlMs, cacheScope }))
}

export function skillsGet (): Method {
  const results = new WeakMap<CompiledSkill, Buffer>()

  return defineMethod({
    name: 'skills/get',
    eras: ['modern'],
    params: Type.Object({ uri: Type.String() }),
    open ({ uri }, { view, snapshot }) {
      const skill = view.skill(uri)
      if (skill === undefined) throw invalidParams(`${quote(uri)} is the SKILL.md of no skill`)
      return {
        subject: skill.key,
        handle () {
          const result = results.get(skill) ?? serialise(skill, snapshot)
          results.set(skill, result)
          return result
        }
      }
    }
  })
}
