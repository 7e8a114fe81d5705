import t from 'tap'
import { checkTexts } from '../../contracts/any-text-contract.ts'
import { makeFolder } from '../../helpers/folder.ts'

t.test('memory', async (t) => await checkTexts(t, 'memory:'))
t.test('LMDB', async (t) => await checkTexts(t, `file:${await makeFolder(t)}`))
