// The four list methods differ in their list alone.
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination

import { Type } from 'typebox'
import type { Pages } from '../catalog/pages.ts'
import type { View } from '../catalog/view.ts'
import { invalidParams } from '../protocol/errors.ts'
import { createParamsReader } from '../schema/params.ts'
import { defineMethod, type Method } from './method.ts'

const readParams = createParamsReader(Type.Object({ cursor: Type.Optional(Type.String()) }))

export function defineListMethod (name: string, pagesOf: (view: View) => Pages): Method {
  return defineMethod({
    name,
    readParams,
    handle ({ cursor }, { view }) {
      const page = pagesOf(view).page(cursor)
      if (page === undefined) throw invalidParams('cursor is not one that this list gave out; start again without it')
      return page
    }
  })
}
