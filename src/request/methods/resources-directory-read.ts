// https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#reading-directories

import { quote } from '../../base/words.ts'
import { invalidCursor, invalidParams } from '../../protocol/errors.ts'
import { Type } from '../../schema/type.ts'
import { defineMethod, type Method } from '../pipeline/method.ts'

export const resourcesDirectoryRead: Method = defineMethod({
  name: 'resources/directory/read',
  eras: ['modern'],
  params: Type.Object({ uri: Type.String(), cursor: Type.Optional(Type.String()) }),
  open ({ uri, cursor }, { view }) {
    const directory = view.skillDirectory(uri)
    if (directory === undefined) throw invalidParams(`${quote(uri)} is no directory of a skill`)
    return {
      subject: uri,
      handle () {
        const page = directory.page(cursor)
        if (page === undefined) throw invalidCursor()
        return page
      }
    }
  }
})
