import { Type } from '../schema/type.ts'
import { defineMethod } from '../dispatch/method.ts'

export const serverEcho = defineMethod({
  name: 'server/echo',
  params: Type.Object({ text: Type.String() }),
  open: ({ text }, { snapshot }) => ({
    subject: 'echo',
    handle: () => snapshot.writer.write(`"text":${JSON.stringify(text)}`)
  })
})
