// The four list methods. They differ only in the list.
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination

import type { Pages } from '../catalog/pages.ts'
import type { View } from '../catalog/view.ts'
import { defineMethod, type Method } from '../dispatch/method.ts'
import { invalidParams } from '../protocol/errors.ts'
import { Type } from '../schema/type.ts'

const params = Type.Object({ cursor: Type.Optional(Type.String()) })

function defineListMethod (name: string, pagesOf: (view: View) => Pages): Method {
  return defineMethod({
    name,
    params,
    open: ({ cursor }, { view }) => ({
      handle () {
        const page = pagesOf(view).page(cursor)
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
export const resourcesList = defineListMethod('resources/list', (view) => view.resources)
export const resourcesTemplatesList = defineListMethod('resources/templates/list', (view) => view.templates)
