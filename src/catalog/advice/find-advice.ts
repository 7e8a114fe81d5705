// Advice about a catalog that loads: what clients refuse, and what models handle badly.

import type { Prompt, Tool } from '../../protocol/primitives.ts'
import type { CatalogContents, Located } from '../compiled/contents.ts'
import type { Snapshot } from '../compiled/snapshot.ts'
import { adviseOnDescriptions, adviseOnLikeness } from './descriptions.ts'
import { adviseOnLength, adviseOnName } from './limits-of-clients.ts'
import type { CatalogAdvice, Advise, Listed } from './piece.ts'
import { adviseOnSchema } from './schemas.ts'

export function findAdvice (
  { tools, prompts, passedOver }: CatalogContents, { primitives, settings }: Snapshot
): CatalogAdvice[] {
  const unset = settings.facts.filter(({ isSet, isRequired }) => isRequired && !isSet)
  const pieces: CatalogAdvice[] = [
    ...unset.map(({ name, file, place }): CatalogAdvice => {
      return { name: 'missing-setting', file, place, rule: `${name} is not set here` }
    }),
    ...passedOver.map(({ file, reason }): CatalogAdvice => {
      return { name: 'passed-over', file, place: '', rule: reason }
    })
  ]

  function listed<T extends { readonly name: string }> (
    definitions: ReadonlyArray<Located<{ readonly name: string }>>, compiled: ReadonlyArray<{ json: string }>
  ): Array<Listed<T>> {
    const byName = new Map(definitions.map((located) => [located.definition.name, located]))
    return compiled.map(({ json }) => {
      const entry: T = JSON.parse(json)
      const { file = '', place = '' } = byName.get(entry.name) ?? {}
      const advise: Advise = (name, within, rule) => {
        pieces.push({ name, file, place: [place, within].filter((part) => part !== '').join('.'), rule })
      }
      return { entry, advise }
    })
  }

  const listedTools = listed<Tool>(tools, primitives.tools)
  const listedPrompts = listed<Prompt>(prompts, primitives.prompts)
  for (const { entry, advise } of listedTools) {
    adviseOnName(entry, advise)
    adviseOnDescriptions(entry, Object.entries(entry.inputSchema.properties ?? {}), advise)
    adviseOnSchema(entry.inputSchema, 'inputSchema', advise)
  }
  for (const { entry, advise } of listedPrompts) {
    adviseOnName(entry, advise)
    adviseOnDescriptions(entry, (entry.arguments ?? []).map((argument) => [argument.name, argument]), advise)
  }
  adviseOnLikeness(listedTools)
  adviseOnLength(listedTools)
  return pieces.toSorted((a, b) => a.file < b.file ? -1 : a.file > b.file ? 1 : 0)
}
