// The five list methods. They differ only in the list.
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination

import type { Pages } from '../../catalog/compiled/lists/pages.ts'
import type { View } from '../../catalog/compiled/view.ts'
import { invalidCursor } from '../../platform/protocol/errors.ts'
import { Type } from '../../platform/schema/type.ts'
import { defineMethod, type Method, type MethodOptions } from '../pipeline/method.ts'

const params = Type.Object({ cursor: Type.Optional(Type.String()) })

interface ListMethodOptions extends Pick<MethodOptions<typeof params>, 'eras'> {
  /** Called for each request. */
  readonly onUse?: () => void
}

function defineListMethod (
  name: string, pagesOf: (view: View) => Pages, { onUse, ...options }: ListMethodOptions = {}
): Method {
  return defineMethod({
    ...options,
    name,
    params,
    open: ({ cursor }, { view }) => ({
      handle () {
        const page = pagesOf(view).page(cursor)
        onUse?.()
        if (page === undefined) throw invalidCursor()
        return page
      }
    })
  })
}

export const toolsList = defineListMethod('tools/list', (view) => view.tools)
export const promptsList = defineListMethod('prompts/list', (view) => view.prompts)

export interface ResourcesListDependencies {
  /** `noteUse` has a list made again whose time is over, in the background. */
  readonly lists: { noteUse (): void }
}

export function resourcesList ({ lists }: ResourcesListDependencies): Method {
  return defineListMethod('resources/list', (view) => view.resources, { onUse: () => lists.noteUse() })
}

export const resourcesTemplatesList = defineListMethod('resources/templates/list', (view) => view.templates)

/** https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#listing-skills */
export const skillsList = defineListMethod('skills/list', (view) => view.skills, { eras: ['modern'] })
