// The four list methods. They differ only in the list.
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination

import type { Pages } from '../catalog/pages.ts'
import type { View } from '../catalog/view.ts'
import { defineMethod, type Method } from '../dispatch/method.ts'
import { invalidParams } from '../protocol/errors.ts'
import { Type } from '../schema/type.ts'

const params = Type.Object({ cursor: Type.Optional(Type.String()) })

/** @param onUse called for each request. */
function defineListMethod (name: string, pagesOf: (view: View) => Pages, onUse?: () => void): Method {
  return defineMethod({
    name,
    params,
    open: ({ cursor }, { view }) => ({
      handle () {
        const page = pagesOf(view).page(cursor)
        onUse?.()
        if (page === undefined) {
          throw invalidParams('cursor is not a cursor of this list; start again without it')
        }
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
  return defineListMethod('resources/list', (view) => view.resources, () => lists.noteUse())
}

export const resourcesTemplatesList = defineListMethod('resources/templates/list', (view) => view.templates)
