import { Type } from '../../platform/schema/type.ts'
import { defineMethod } from '../pipeline/method.ts'

export const serverEcho = defineMethod({
  name: 'server/echo',
  params: Type.Object({ text: Type.String() }),
  open: ({ text }, { snapshot }) => ({
    subject: 'echo',
    handle: () => snapshot.writer.write(`"text":${JSON.stringify(text)}`)
  })
})
